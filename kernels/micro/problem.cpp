// The problems of the microkernels: each exercises one part of a GPU and nothing else, so that the best time of its
// variants is a ceiling. What they compute is simple and checked like any other result.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/problem.h"
#include "profiler/core/error.h"
#include "profiler/core/random.h"

namespace gpuexp {
namespace {

ParamSpec integer_param(const char* name, const char* meaning, std::int64_t value, std::int64_t min, std::int64_t max) {
  return {name, meaning, value, "", min, max, {}};
}

// Refuses sizes that no buffer can have.
void check_bytes(std::string_view problem, std::string_view parameter, std::int64_t elements, std::int64_t bytes) {
  if (elements <= INT64_MAX / bytes) return;
  throw Error(ExitCode::usage,
              fmt::format("{}: parameter {}={}: a buffer would take 2^63 bytes or more", problem, parameter, elements));
}

// The 32-bit pattern of `bits` as the value that an int32 buffer holds.
double as_int32(std::uint64_t bits) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits)); }

// --- micro_read: sums of integers, modulo 2^32, so that any order of adding is exact ---

struct ReadSizes {
  std::int64_t n, chunk, passes, repeats;
};

class ReadWorkload final : public Workload {
 public:
  ReadWorkload(const ReadSizes& sizes, std::uint64_t seed)
      : sizes_(sizes),
        seed_(seed),
        buffers_{{"src", DType::int32, sizes.n, Role::in},
                 {"sums", DType::int32, (sizes.n + sizes.chunk - 1) / sizes.chunk, Role::out}} {}

  [[nodiscard]] const std::vector<BufferSpec>& buffers() const override { return buffers_; }
  [[nodiscard]] double flops() const override { return 0; }
  [[nodiscard]] double input(std::size_t /*buffer*/, std::int64_t i) const override { return as_int32(word(i)); }
  [[nodiscard]] Expected expected(std::size_t /*buffer*/, std::int64_t i) const override {
    const std::int64_t first = i * sizes_.chunk, last = std::min(first + sizes_.chunk, sizes_.n);
    std::uint32_t sum = 0;
    for (std::int64_t at = first; at < last; ++at) sum += word(at);
    return {as_int32(sum * static_cast<std::uint32_t>(sizes_.passes)), 0.0, last - first};
  }
  // Every repeat stores the same sums.
  [[nodiscard]] bool equal_stores() const override { return true; }
  [[nodiscard]] ParamSet facts() const override {
    ParamSet facts;
    facts.set("moved_bytes", 4 * sizes_.n * sizes_.passes * sizes_.repeats);
    facts.set("working_set_bytes", 4 * sizes_.n);
    return facts;
  }

 private:
  [[nodiscard]] std::uint32_t word(std::int64_t i) const {
    return static_cast<std::uint32_t>(random_bits(seed_, 0, static_cast<std::uint64_t>(i)));
  }

  ReadSizes sizes_;
  std::uint64_t seed_;
  std::vector<BufferSpec> buffers_;
};

class MicroRead final : public Problem {
 public:
  [[nodiscard]] std::string_view name() const override { return "micro_read"; }
  [[nodiscard]] std::string_view description() const override {
    return "sums[c] = passes times the sum of a chunk of src, modulo 2^32, all of it repeated";
  }
  [[nodiscard]] std::vector<ParamSpec> params() const override {
    return {integer_param("n", "int32 elements of the working set", std::int64_t{1} << 20U, 0, INT64_MAX),
            integer_param("chunk", "elements that one block reads, a multiple of 4", 16384, 4, std::int64_t{1} << 30U),
            integer_param("passes", "times a block reads its chunk", 1, 1, std::int64_t{1} << 20U),
            integer_param("repeats", "times the grid covers the working set", 1, 1, 65535)};
  }
  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet& params, std::uint64_t seed) const override {
    const ReadSizes sizes{params.integer("n"), params.integer("chunk"), params.integer("passes"),
                          params.integer("repeats")};
    check_bytes(name(), "n", sizes.n, 4 * sizes.passes * sizes.repeats);
    if (sizes.chunk % 4 != 0) {
      throw Error(ExitCode::usage, fmt::format("{}: parameter chunk={}: must be a multiple of 4", name(), sizes.chunk));
    }
    return std::make_unique<ReadWorkload>(sizes, seed);
  }
};

// --- micro_write ---

class WriteWorkload final : public Workload {
 public:
  explicit WriteWorkload(std::int64_t n) : buffers_{{"dst", DType::int32, n, Role::out}} {}

  [[nodiscard]] const std::vector<BufferSpec>& buffers() const override { return buffers_; }
  [[nodiscard]] double flops() const override { return 0; }
  [[nodiscard]] double input(std::size_t /*buffer*/, std::int64_t /*i*/) const override { return 0; }
  [[nodiscard]] Expected expected(std::size_t /*buffer*/, std::int64_t i) const override {
    return {as_int32(static_cast<std::uint64_t>(i)), 0.0, 0};
  }

 private:
  std::vector<BufferSpec> buffers_;
};

class MicroWrite final : public Problem {
 public:
  [[nodiscard]] std::string_view name() const override { return "micro_write"; }
  [[nodiscard]] std::string_view description() const override { return "dst[i] = i, modulo 2^32"; }
  [[nodiscard]] std::vector<ParamSpec> params() const override {
    return {integer_param("n", "int32 elements", std::int64_t{1} << 20U, 0, INT64_MAX)};
  }
  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet& params, std::uint64_t /*seed*/) const override {
    check_bytes(name(), "n", params.integer("n"), 4);
    return std::make_unique<WriteWorkload>(params.integer("n"));
  }
};

// --- micro_triad: STREAM's (McCalpin) ---

class TriadWorkload final : public Workload {
 public:
  TriadWorkload(std::int64_t n, std::uint64_t seed)
      : seed_(seed),
        buffers_{{"b", DType::float32, n, Role::in},
                 {"c", DType::float32, n, Role::in},
                 {"a", DType::float32, n, Role::out}} {}

  [[nodiscard]] const std::vector<BufferSpec>& buffers() const override { return buffers_; }
  [[nodiscard]] double flops() const override { return 2.0 * static_cast<double>(buffers_[0].elements); }
  [[nodiscard]] double input(std::size_t buffer, std::int64_t i) const override {
    return round_to(DType::float32, uniform_input(seed_, buffer, static_cast<std::uint64_t>(i)));
  }
  [[nodiscard]] Expected expected(std::size_t /*buffer*/, std::int64_t i) const override {
    const double b = input(0, i), c = 3 * input(1, i);
    return {b + c, std::abs(b) + std::abs(c), 2};
  }

 private:
  std::uint64_t seed_;
  std::vector<BufferSpec> buffers_;
};

class MicroTriad final : public Problem {
 public:
  [[nodiscard]] std::string_view name() const override { return "micro_triad"; }
  [[nodiscard]] std::string_view description() const override { return "a = b + 3 c for vectors of n elements"; }
  [[nodiscard]] std::vector<ParamSpec> params() const override {
    return {integer_param("n", "float32 elements of each vector", std::int64_t{1} << 20U, 0, INT64_MAX)};
  }
  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet& params, std::uint64_t seed) const override {
    check_bytes(name(), "n", params.integer("n"), 12);
    return std::make_unique<TriadWorkload>(params.integer("n"), seed);
  }
};

// --- micro_fma: chains of x = a x + b ---

struct FmaSizes {
  std::int64_t threads, steps, chains;
  DType dtype;
};

// The factor is just above -1, so that x changes sign at every step, neither grows nor settles, and rounding errors do
// not add up over more than some thousand steps.
constexpr double fma_factor = -(1 - 0x1p-11), fma_addend = 0.375;

class FmaWorkload final : public Workload {
 public:
  FmaWorkload(const FmaSizes& sizes, std::uint64_t seed)
      : sizes_(sizes),
        seed_(seed),
        power_(std::pow(fma_factor, static_cast<double>(sizes.steps))),
        buffers_{{"x", sizes.dtype, sizes.threads, Role::in}, {"y", sizes.dtype, sizes.threads, Role::out}} {}

  [[nodiscard]] const std::vector<BufferSpec>& buffers() const override { return buffers_; }
  [[nodiscard]] double flops() const override {
    return 2.0 * static_cast<double>(sizes_.chains) * static_cast<double>(sizes_.steps) *
           static_cast<double>(sizes_.threads);
  }
  [[nodiscard]] double input(std::size_t /*buffer*/, std::int64_t i) const override {
    return round_to(sizes_.dtype, uniform_input(seed_, 0, static_cast<std::uint64_t>(i)));
  }
  // The chains of thread i start at x[i], x[i] + 1, x[i] + 2, ... and are summed at the end.
  [[nodiscard]] Expected expected(std::size_t /*buffer*/, std::int64_t i) const override {
    const double limit = fma_addend / (1 - fma_factor);  // of the iteration
    double sum = 0, magnitude = 0;
    for (std::int64_t chain = 0; chain < sizes_.chains; ++chain) {
      const double start = input(0, i) + static_cast<double>(chain);
      sum += limit + power_ * (start - limit);
      magnitude += std::abs(start) + 2 * fma_addend;
    }
    const std::int64_t remembered = std::min<std::int64_t>(sizes_.steps, 1 << 11);  // steps whose rounding still counts
    return {sum, magnitude, remembered + sizes_.chains};
  }
  [[nodiscard]] ParamSet facts() const override {
    ParamSet facts;
    facts.set("chain_steps", sizes_.steps);
    return facts;
  }

 private:
  FmaSizes sizes_;
  std::uint64_t seed_;
  double power_;
  std::vector<BufferSpec> buffers_;
};

class MicroFma final : public Problem {
 public:
  [[nodiscard]] std::string_view name() const override { return "micro_fma"; }
  [[nodiscard]] std::string_view description() const override {
    return "each thread makes chains of steps x = a x + b, each step an FMA that needs the one before";
  }
  [[nodiscard]] std::vector<ParamSpec> params() const override {
    return {integer_param("threads", "threads", std::int64_t{1} << 14U, 0, std::int64_t{1} << 40U),
            integer_param("steps", "FMAs of a chain", 64, 1, std::int64_t{1} << 30U),
            integer_param("chains", "independent chains of a thread", 8, 1, 64),
            {"dtype",
             "type of the arithmetic",
             std::string("float32"),
             "",
             0,
             0,
             {{"float32", "4 bytes"}, {"float64", "8 bytes"}}}};
  }
  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet& params, std::uint64_t seed) const override {
    return std::make_unique<FmaWorkload>(FmaSizes{params.integer("threads"), params.integer("steps"),
                                                  params.integer("chains"), dtype_from_text(params.word("dtype"))},
                                         seed);
  }
};

// --- micro_chase: a ring of links in an order that no prefetcher follows ---

class ChaseWorkload final : public Workload {
 public:
  ChaseWorkload(std::int64_t nodes, std::int64_t stride, std::int64_t steps)
      : nodes_(static_cast<std::uint64_t>(nodes)),
        stride_(stride),
        steps_(steps),
        buffers_{{"links", DType::int64, nodes * stride / 8, Role::inout}, {"last", DType::int64, 1, Role::out}} {}

  [[nodiscard]] const std::vector<BufferSpec>& buffers() const override { return buffers_; }
  [[nodiscard]] double flops() const override { return 0; }
  // Offset in bytes of the next node; between nodes there is nothing of interest.
  [[nodiscard]] double input(std::size_t /*buffer*/, std::int64_t i) const override {
    if (i * 8 % stride_ != 0) return 0;
    return offset_of(multiplier * static_cast<std::uint64_t>(i * 8 / stride_) + increment);
  }
  [[nodiscard]] Expected expected(std::size_t buffer, std::int64_t i) const override {
    return {buffer == 0 ? input(0, i) : offset_of(after(steps_)), 0.0, 0};
  }
  [[nodiscard]] ParamSet facts() const override {
    ParamSet facts;
    facts.set("chain_steps", steps_);
    facts.set("working_set_bytes", static_cast<std::int64_t>(nodes_) * stride_);
    return facts;
  }

 private:
  // node -> multiplier * node + increment visits all nodes before it returns when their number is a power of two, the
  // multiplier is 1 modulo 4 and the increment is odd (Hull and Dobell, Random Number Generators, 1962).
  static constexpr std::uint64_t multiplier = 0xd1342543de82ef95U, increment = 0x9e3779b97f4a7c15U;
  static_assert(multiplier % 4 == 1 && increment % 2 == 1);

  [[nodiscard]] double offset_of(std::uint64_t node) const {
    return static_cast<double>(static_cast<std::int64_t>(node & (nodes_ - 1)) * stride_);
  }
  // Node after `steps` steps from node 0, by squaring the step.
  static std::uint64_t after(std::int64_t steps) {
    std::uint64_t node = 0, a = multiplier, c = increment;
    for (auto left = static_cast<std::uint64_t>(steps); left > 0; left >>= 1U) {
      if ((left & 1U) != 0) node = a * node + c;
      c = a * c + c;
      a = a * a;
    }
    return node;
  }

  std::uint64_t nodes_;
  std::int64_t stride_, steps_;
  std::vector<BufferSpec> buffers_;
};

class MicroChase final : public Problem {
 public:
  [[nodiscard]] std::string_view name() const override { return "micro_chase"; }
  [[nodiscard]] std::string_view description() const override {
    return "one thread follows links through a ring of nodes, each load needing the one before";
  }
  [[nodiscard]] std::vector<ParamSpec> params() const override {
    return {integer_param("nodes", "nodes of the ring, a power of two", 256, 1, std::int64_t{1} << 40U),
            integer_param("stride", "bytes from node to node, a multiple of 8", 128, 8, std::int64_t{1} << 20U),
            integer_param("steps", "links followed", 1024, 1, std::int64_t{1} << 40U)};
  }
  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet& params, std::uint64_t /*seed*/) const override {
    const std::int64_t nodes = params.integer("nodes"), stride = params.integer("stride");
    if (!std::has_single_bit(static_cast<std::uint64_t>(nodes))) {
      throw Error(ExitCode::usage, fmt::format("{}: parameter nodes={}: must be a power of two", name(), nodes));
    }
    if (stride % 8 != 0) {
      throw Error(ExitCode::usage, fmt::format("{}: parameter stride={}: must be a multiple of 8", name(), stride));
    }
    return std::make_unique<ChaseWorkload>(nodes, stride, params.integer("steps"));
  }
};

// --- micro_tile: one product of tiles, added up again and again ---

struct TileSizes {
  std::int64_t m, n, k, steps, tiles;
};

class TileWorkload final : public Workload {
 public:
  TileWorkload(const TileSizes& sizes, DType dtype, DType rounding, std::uint64_t seed)
      : sizes_(sizes),
        rounding_(rounding),
        seed_(seed),
        buffers_{{"A", dtype, sizes.m * sizes.k, Role::in},
                 {"B", dtype, sizes.n * sizes.k, Role::in},
                 {"D", DType::float32, sizes.tiles * sizes.m * sizes.n, Role::out}} {}

  [[nodiscard]] const std::vector<BufferSpec>& buffers() const override { return buffers_; }
  [[nodiscard]] double flops() const override {
    return 2.0 * static_cast<double>(sizes_.m * sizes_.n * sizes_.k) * static_cast<double>(sizes_.steps) *
           static_cast<double>(sizes_.tiles);
  }
  [[nodiscard]] double input(std::size_t buffer, std::int64_t i) const override {
    return round_to(rounding_, uniform_input(seed_, buffer, static_cast<std::uint64_t>(i)));
  }
  [[nodiscard]] Expected expected(std::size_t /*buffer*/, std::int64_t i) const override {
    const std::int64_t row = i / sizes_.n % sizes_.m, column = i % sizes_.n;
    double sum = 0, magnitude = 0;
    for (std::int64_t k = 0; k < sizes_.k; ++k) {
      const double term = input(0, row * sizes_.k + k) * input(1, column * sizes_.k + k);
      sum += term;
      magnitude += std::abs(term);
    }
    const auto steps = static_cast<double>(sizes_.steps);
    return {steps * sum, steps * magnitude, sizes_.k * sizes_.steps};
  }

 private:
  TileSizes sizes_;
  DType rounding_;
  std::uint64_t seed_;
  std::vector<BufferSpec> buffers_;
};

class MicroTile : public Problem {
 public:
  [[nodiscard]] std::string_view name() const override { return "micro_tile"; }
  [[nodiscard]] std::string_view description() const override {
    return "every tile of D = steps times A B^T, added up step by step in float32: tiles that a warp holds";
  }
  [[nodiscard]] std::vector<ParamSpec> params() const override {
    return {integer_param("m", "rows of a tile", shape().m, 1, 1024),
            integer_param("n", "columns of a tile", shape().n, 1, 1024),
            integer_param("k", "columns of A and of B", shape().k, 1, 1024),
            integer_param("steps", "products added to a tile", 16, 1, std::int64_t{1} << 20U),
            integer_param("tiles", "tiles", 64, 0, std::int64_t{1} << 30U),
            {"dtype",
             "element type of A and B",
             std::string("bfloat16"),
             "",
             0,
             0,
             {{"float16", "2 bytes"}, {"bfloat16", "2 bytes"}, {"tf32", "4 bytes, values that TF32 holds exactly"}}}};
  }
  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet& params, std::uint64_t seed) const override {
    const TileSizes sizes{params.integer("m"), params.integer("n"), params.integer("k"), params.integer("steps"),
                          params.integer("tiles")};
    check_bytes(name(), "tiles", sizes.tiles, 4 * sizes.m * sizes.n);
    const std::string& word = params.word("dtype");
    // Values between -1 and 1 that float16 holds, TF32 holds: as many significant bits, and a wider range.
    if (word == "tf32") return std::make_unique<TileWorkload>(sizes, DType::float32, DType::float16, seed);
    return std::make_unique<TileWorkload>(sizes, dtype_from_text(word), dtype_from_text(word), seed);
  }

 protected:
  struct Shape {
    std::int64_t m, n, k;
  };
  [[nodiscard]] virtual Shape shape() const { return {16, 64, 16}; }  // by default
};

class MicroWideTile final : public MicroTile {
 public:
  [[nodiscard]] std::string_view name() const override { return "micro_wide_tile"; }
  [[nodiscard]] std::string_view description() const override {
    return "every tile of D = steps times A B^T, added up step by step in float32: tiles that a warpgroup holds";
  }

 protected:
  [[nodiscard]] Shape shape() const override { return {64, 256, 64}; }
};

const RegisterProblem<MicroRead> registered_read;
const RegisterProblem<MicroWrite> registered_write;
const RegisterProblem<MicroTriad> registered_triad;
const RegisterProblem<MicroFma> registered_fma;
const RegisterProblem<MicroChase> registered_chase;
const RegisterProblem<MicroTile> registered_tile;
const RegisterProblem<MicroWideTile> registered_wide_tile;

}  // namespace
}  // namespace gpuexp
