// Problems that show one memory access at a time: strided_access and shared_strided_access, the lecture's tables of
// coalescing and of bank conflicts, and access_pattern, which makes any access that a row of a CSV file describes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "kernels/problem.h"
#include "profiler/backend/simt/access_pattern.h"
#include "profiler/core/embedded.h"
#include "profiler/core/error.h"
#include "profiler/core/glob.h"
#include "profiler/core/nearest.h"

namespace gpuexp {
namespace {

constexpr std::int64_t warp_lanes = 32;

// What a lane's access of `width` bytes is made of: elements that verification can compare.
struct LaneType {
  DType dtype;
  std::int64_t elements;
};
LaneType lane_type(std::int64_t width) {
  switch (width) {
    case 1:
      return {DType::uint8, 1};
    case 2:
      return {DType::float16, 1};
    default:
      return {DType::float32, width / 4};
  }
}

ParamSpec width_spec() {
  return {"width", "bytes that a lane accesses in one instruction", std::int64_t{4}, "", 1, 16, {}};
}

// Uniform over the dtype's usual inputs; bytes take all of their values.
double generated(DType dtype, std::uint64_t seed, std::uint64_t stream, std::int64_t i) {
  const double value = uniform_input(seed, stream, static_cast<std::uint64_t>(i));
  return dtype == DType::uint8 ? std::floor((value + 1.0) * 128.0) : round_to(dtype, value);
}

// Lane i reads element offset + i * stride of `in` and writes what it read to element i of `out`.
class StridedWorkload final : public Workload {
 public:
  struct Shape {
    std::int64_t stride, offset, count, width;
  };

  StridedWorkload(const Shape& shape, std::uint64_t seed)
      : shape_(shape),
        type_(lane_type(shape.width)),
        seed_(seed),
        buffers_{{"in", type_.dtype, 0, Role::in}, {"out", type_.dtype, 0, Role::out}} {
    const std::int64_t reach = shape.count == 0 ? 0 : shape.offset + (shape.count - 1) * shape.stride + 1;
    buffers_[0].elements = reach * type_.elements;
    buffers_[1].elements = shape.count * type_.elements;
  }

  [[nodiscard]] const std::vector<BufferSpec>& buffers() const override { return buffers_; }
  [[nodiscard]] double flops() const override { return 0.0; }
  [[nodiscard]] double input(std::size_t buffer, std::int64_t i) const override {
    return generated(type_.dtype, seed_, buffer, i);
  }
  [[nodiscard]] Expected expected(std::size_t /*buffer*/, std::int64_t i) const override {
    const std::int64_t lane = i / type_.elements, part = i % type_.elements;
    return {input(0, (shape_.offset + lane * shape_.stride) * type_.elements + part), 0.0, 0};
  }
  // Only what the lanes ask for: the elements that a stride skips are nobody's need.
  [[nodiscard]] std::uint64_t compulsory_load_bytes() const override {
    const std::int64_t distinct = shape_.stride == 0 ? std::min<std::int64_t>(shape_.count, 1) : shape_.count;
    return static_cast<std::uint64_t>(distinct * shape_.width);
  }

 private:
  Shape shape_;
  LaneType type_;
  std::uint64_t seed_;
  std::vector<BufferSpec> buffers_;
};

// Refuses strides that reach beyond 2^63 bytes.
std::unique_ptr<Workload> make_strided(std::string_view problem, const StridedWorkload::Shape& shape,
                                       std::uint64_t seed) {
  std::int64_t reach = 0;
  const bool overflows = __builtin_mul_overflow(shape.count, shape.stride, &reach) ||
                         __builtin_add_overflow(reach, shape.offset + 1, &reach) ||
                         __builtin_mul_overflow(reach, shape.width, &reach);
  if (overflows) {
    throw Error(ExitCode::usage,
                fmt::format("{}: parameters stride={}, offset={}, count={}: the input would take 2^63 bytes or more",
                            problem, shape.stride, shape.offset, shape.count));
  }
  return std::make_unique<StridedWorkload>(shape, seed);
}

class StridedAccess final : public Problem {
 public:
  [[nodiscard]] std::string_view name() const override { return "strided_access"; }
  [[nodiscard]] std::string_view description() const override {
    return "out[i] = in[offset + i * stride]: what a stride costs in 32-byte sectors";
  }
  [[nodiscard]] std::vector<ParamSpec> params() const override {
    const std::int64_t largest = std::int64_t{1} << 40U;
    return {{"stride",
             "elements between the accesses of neighbouring lanes; 0 = all read the same",
             std::int64_t{1},
             "",
             0,
             largest,
             {}},
            {"offset", "element that lane 0 reads", std::int64_t{0}, "", 0, largest, {}},
            {"count", "elements read, one per thread", warp_lanes, "", 0, largest, {}},
            width_spec()};
  }
  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet& params, std::uint64_t seed) const override {
    return make_strided(
        name(), {params.integer("stride"), params.integer("offset"), params.integer("count"), params.integer("width")},
        seed);
  }
};

class SharedStridedAccess final : public Problem {
 public:
  [[nodiscard]] std::string_view name() const override { return "shared_strided_access"; }
  [[nodiscard]] std::string_view description() const override {
    return "out[i] = s[i * stride] for one warp and s in shared memory: what a stride costs in bank conflicts";
  }
  [[nodiscard]] std::vector<ParamSpec> params() const override {
    return {{"stride",
             "elements between the accesses of neighbouring lanes; 0 = all read the same",
             std::int64_t{1},
             "",
             0,
             4096,
             {}},
            width_spec()};
  }
  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet& params, std::uint64_t seed) const override {
    return make_strided(name(), {params.integer("stride"), 0, warp_lanes, params.integer("width")}, seed);
  }
};

// The value that a pattern's kernel leaves at a byte address: byte (address % 4) of a word that is a function of its
// index. kernels/access/pattern.cu computes the same words in registers, so that nothing but the pattern loads.
std::uint8_t pattern_byte(std::uint64_t address) {
  const auto word = static_cast<std::uint32_t>(address / 4) * 2654435761U + 12345U;
  return static_cast<std::uint8_t>(word >> (8 * (address % 4)));
}

// One warp makes the access of a pattern; what it loaded, or what is there afterwards, is the output.
//   global load:    memory (in)    -> out
//   global store:   memory (inout) holds pattern_byte() wherever a lane stored
//   global atomic:  memory (inout) starts as zeros and counts the lanes per address
//   shared:         out holds what each lane finds in its place afterwards
class PatternWorkload final : public Workload {
 public:
  explicit PatternWorkload(simt::AccessPattern pattern) : pattern_(std::move(pattern)) {
    for (int lane = 0; lane < simt::kWarpLanes; ++lane) {
      if (active(lane)) ++lanes_at_[pattern_.byte_offsets[lane]];
    }
    const std::uint64_t end = lanes_at_.empty() ? 0 : lanes_at_.rbegin()->first + width();
    if (global()) {
      // Up to a whole 16 bytes, so that the buffer can be addressed by vectors of any width.
      const auto bytes = static_cast<std::int64_t>((end + 15) / 16 * 16);
      buffers_.push_back({"memory", DType::uint8, bytes, loads() ? Role::in : Role::inout});
    }
    if (loads() || !global())
      buffers_.push_back({"out", DType::uint8, simt::kWarpLanes * pattern_.width_bytes, Role::out});
    shared_bytes_ = global() ? 0 : static_cast<std::int64_t>((end + 15) / 16 * 16);
  }

  [[nodiscard]] const std::vector<BufferSpec>& buffers() const override { return buffers_; }
  [[nodiscard]] double flops() const override { return 0.0; }

  [[nodiscard]] double input(std::size_t /*buffer*/, std::int64_t i) const override {
    return atomic() ? 0.0 : pattern_byte(static_cast<std::uint64_t>(i));
  }

  [[nodiscard]] Expected expected(std::size_t buffer, std::int64_t i) const override {
    if (buffers_[buffer].name == "out") {
      const auto lane = static_cast<int>(i / pattern_.width_bytes);
      const auto byte = static_cast<std::uint64_t>(i % pattern_.width_bytes);
      return {active(lane) ? value_at(pattern_.byte_offsets[lane], byte) : 0.0, 0.0, 0};
    }
    const auto address = static_cast<std::uint64_t>(i);
    const std::uint64_t start = address / width() * width();
    return {lanes_at_.contains(start) ? value_at(start, address - start) : input(buffer, i), 0.0, 0};
  }

  // What the file expects of the counters, which reports compare with the prediction.
  [[nodiscard]] ParamSet facts() const override {
    ParamSet facts;
    const auto expect = [&](std::string_view what, const std::optional<std::uint64_t>& count) {
      if (count)
        facts.set(fmt::format("expected:{}_{}_{}", simt::to_text(pattern_.space), simt::to_text(pattern_.kind), what),
                  static_cast<std::int64_t>(*count));
    };
    expect("requests", pattern_.expected.requests);
    expect("sectors", pattern_.expected.sectors);
    expect("wavefronts", pattern_.expected.wavefronts);
    expect("bank_conflicts", pattern_.expected.bank_conflicts);
    return facts;
  }

  // Lanes that share an address store the same value: pattern_byte() of it.
  [[nodiscard]] bool equal_stores() const override { return true; }

  [[nodiscard]] std::int64_t host_value(std::string_view list, std::int64_t index) const override {
    if (list == "offset" && index >= 0 && index < simt::kWarpLanes) {
      return static_cast<std::int64_t>(pattern_.byte_offsets[static_cast<std::size_t>(index)]);
    }
    if (list == "mask") return pattern_.active_mask;
    if (list == "width") return pattern_.width_bytes;
    if (list == "shared") return global() ? 0 : 1;
    if (list == "shared_bytes") return shared_bytes_;
    if (list == "operation") return loads() ? 0 : atomic() ? 2 : 1;  // as in kernels/access/pattern.cu
    return Workload::host_value(list, index);
  }

  [[nodiscard]] std::uint64_t compulsory_load_bytes() const override {
    return global() && (loads() || atomic()) ? lanes_at_.size() * width() : 0;
  }
  [[nodiscard]] std::uint64_t compulsory_store_bytes() const override {
    if (global() && !loads()) return lanes_at_.size() * width();
    return static_cast<std::uint64_t>(buffers_.back().elements);
  }

 private:
  [[nodiscard]] bool global() const { return pattern_.space == simt::MemorySpace::global; }
  [[nodiscard]] bool loads() const { return pattern_.kind == simt::AccessKind::load; }
  [[nodiscard]] bool atomic() const { return pattern_.kind == simt::AccessKind::atomic; }
  [[nodiscard]] std::uint64_t width() const { return static_cast<std::uint64_t>(pattern_.width_bytes); }
  [[nodiscard]] bool active(int lane) const { return (pattern_.active_mask >> static_cast<unsigned>(lane) & 1U) != 0; }

  // Byte `byte` of what lies at `start` after the access.
  [[nodiscard]] double value_at(std::uint64_t start, std::uint64_t byte) const {
    if (!atomic()) return pattern_byte(start + byte);
    return byte == 0 ? lanes_at_.at(start) : 0;  // at most 32 lanes: the count fits the lowest byte
  }

  simt::AccessPattern pattern_;
  std::map<std::uint64_t, int> lanes_at_;  // offset -> active lanes there
  std::vector<BufferSpec> buffers_;
  std::int64_t shared_bytes_ = 0;
};

struct NamedPattern {
  std::string label;  // "s4_stride2/load": unique in its file
  simt::AccessPattern pattern;
};

// A path when a file of that name exists, or when it holds a '/' or ends in ".csv"; else the name of a shipped file.
std::vector<simt::AccessPattern> read_patterns(const std::string& file) {
  if (std::filesystem::exists(file) || file.find('/') != std::string::npos || file.ends_with(".csv")) {
    return simt::read_access_patterns(file);
  }
  std::vector<std::string> shipped;
  for (const EmbeddedFile& embedded : embedded_patterns()) {
    if (embedded.name == file) return simt::parse_access_patterns(embedded.text, file + " (shipped)");
    shipped.emplace_back(embedded.name);
  }
  throw Error(
      ExitCode::usage,
      fmt::format("access/pattern: no file '{}'; give the path of a CSV file, relative to the working directory, or a "
                  "shipped one: {}{}",
                  file, list_names(shipped), did_you_mean(file, shipped)));
}

// The buffer must be of a size that can be reserved; alignment is the reader's to check.
void check_reach(const std::string& file, const simt::AccessPattern& pattern) {
  constexpr std::uint64_t furthest = std::uint64_t{1} << 40U;
  const std::uint64_t reach = *std::max_element(pattern.byte_offsets.begin(), pattern.byte_offsets.end());
  if (reach <= furthest) return;
  throw Error(ExitCode::usage, fmt::format("{}:{}: column byte_offset_per_lane: {} is too far; at most 2^40", file,
                                           pattern.line, reach));
}

std::vector<NamedPattern> labelled_patterns(const std::string& file) {
  std::vector<NamedPattern> labelled;
  std::map<std::string, int> seen;
  for (simt::AccessPattern& pattern : read_patterns(file)) {
    check_reach(file, pattern);
    std::string label = fmt::format("{}/{}", pattern.name, simt::to_text(pattern.kind));
    if (const int before = seen[label]++; before > 0) label += fmt::format("#{}", before + 1);
    labelled.push_back({std::move(label), std::move(pattern)});
  }
  return labelled;
}

class AccessPatternProblem final : public Problem {
 public:
  [[nodiscard]] std::string_view name() const override { return "access_pattern"; }
  [[nodiscard]] std::string_view description() const override {
    return "one access of one warp, as a row of a CSV file describes it";
  }
  [[nodiscard]] std::vector<ParamSpec> params() const override {
    return {{"file",
             "CSV file of access patterns (a path from the working directory), or the name of a shipped one",
             std::string("h200_access_patterns"),
             "",
             0,
             0,
             {}},
            {"pattern",
             "row of the file, as name/load, name/store or name/atomic; a glob means every row that fits",
             std::string("*"),
             "",
             0,
             0,
             {}}};
  }

  // One point per row that `pattern` names.
  [[nodiscard]] std::vector<ParamSet> expand(const ParamSet& params) const override {
    const std::string& file = params.word("file");
    const std::string& wanted = params.word("pattern");
    std::vector<ParamSet> points;
    std::vector<std::string> labels;
    for (const NamedPattern& row : labelled_patterns(file)) {
      labels.push_back(row.label);
      // A label may hold '*' or '?' itself, so the exact name counts first.
      if (row.label != wanted && !glob_matches(wanted, row.label)) continue;
      ParamSet point = params;
      point.set("pattern", row.label);
      points.push_back(std::move(point));
    }
    if (points.empty()) refuse_label(file, wanted, labels);
    return points;
  }

  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet& params, std::uint64_t /*seed*/) const override {
    const std::string& wanted = params.word("pattern");
    std::vector<std::string> labels;
    for (NamedPattern& row : labelled_patterns(params.word("file"))) {
      if (row.label == wanted) return std::make_unique<PatternWorkload>(std::move(row.pattern));
      labels.push_back(row.label);
    }
    refuse_label(params.word("file"), wanted, labels);
  }

 private:
  [[noreturn]] static void refuse_label(const std::string& file, const std::string& wanted,
                                        const std::vector<std::string>& labels) {
    throw Error(ExitCode::usage, fmt::format("parameter pattern of access/pattern: {} has no row '{}'; it has: {}{}",
                                             file, wanted, list_names(labels), did_you_mean(wanted, labels)));
  }
};

const RegisterProblem<StridedAccess> registered_strided;
const RegisterProblem<SharedStridedAccess> registered_shared_strided;
const RegisterProblem<AccessPatternProblem> registered_pattern;

}  // namespace
}  // namespace gpuexp
