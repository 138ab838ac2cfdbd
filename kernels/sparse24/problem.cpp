// The problem sparse24: y = W x for float16 weights W[m,n] pruned to 2:4 structured sparsity, packed as
// profiler/matrix/sparse24.h says; sparse24_dense is the same pruned product with W stored densely, zeros and all. x,
// sums and y are float32. Both have the pruned dense product in float64 as their reference.
#include <fmt/format.h>

#include <cmath>

#include "kernels/problem.h"
#include "profiler/core/error.h"
#include "profiler/matrix/sparse24.h"

namespace gpuexp {
namespace {

constexpr std::uint64_t weight_stream = 0, x_stream = 1;  // of the generated inputs

// Weights are functions of their index, so that nothing is stored: a value of the packed form generates its group anew.
class PrunedWeights : public Workload {
 public:
  PrunedWeights(std::int64_t m, std::int64_t n, std::uint64_t seed) : m_(m), n_(n), seed_(seed) {}

  [[nodiscard]] const std::vector<BufferSpec>& buffers() const final { return buffers_; }
  // Of the weights that are kept; what a dense kernel does with the zeros is of no use.
  [[nodiscard]] double flops() const final {
    return 2.0 * static_cast<double>(m_) * static_cast<double>(n_ / 4 * 2 + std::min<std::int64_t>(n_ % 4, 2));
  }
  [[nodiscard]] Expected expected(std::size_t /*buffer*/, std::int64_t row) const final {
    Expected sum;
    for (std::int64_t group = 0; 4 * group < n_; ++group) {
      const Kept kept = kept_of(row, group);
      for (int i = 0; i < 2; ++i) {
        const double term = kept.values[i] * x(4 * group + kept.positions[i]);
        sum.value += term;
        sum.magnitude += std::abs(term);
      }
    }
    sum.terms = n_ / 2 + 2;
    return sum;
  }
  [[nodiscard]] ParamSet facts() const final {
    const double weights = static_cast<double>(m_) * static_cast<double>(n_);
    const double packed = sparse24_bytes(static_cast<double>(m_), n_, 2.0);
    ParamSet facts;
    facts.set("dense_bytes", 2.0 * weights);
    facts.set("packed_bytes", packed);
    facts.set("packed_bits_per_weight", weights > 0 ? 8.0 * packed / weights : 0.0);
    facts.set("packed_percent_of_dense", weights > 0 ? 50.0 * packed / weights : 0.0);
    return facts;
  }

 protected:
  struct Kept {
    std::array<int, 2> positions;
    std::array<double, 2> values;
  };
  [[nodiscard]] double weight(std::int64_t row, std::int64_t col) const {
    if (col >= n_) return 0.0;
    return round_to(DType::float16, uniform_input(seed_, weight_stream, static_cast<std::uint64_t>(row * n_ + col)));
  }
  [[nodiscard]] Kept kept_of(std::int64_t row, std::int64_t group) const {
    std::array<double, 4> weights{};
    for (int i = 0; i < 4; ++i) weights[i] = weight(row, 4 * group + i);
    const std::array<int, 2> positions = kept_of_four(weights);
    return {positions, {weights[positions[0]], weights[positions[1]]}};
  }
  // Zero beyond the last column: the packed form reads whole groups.
  [[nodiscard]] double x(std::int64_t i) const {
    return i < n_ ? round_to(DType::float32, uniform_input(seed_, x_stream, static_cast<std::uint64_t>(i))) : 0.0;
  }

  std::int64_t m_, n_;
  std::uint64_t seed_;
  std::vector<BufferSpec> buffers_;
};

class PackedWorkload final : public PrunedWeights {
 public:
  PackedWorkload(std::int64_t m, std::int64_t n, std::uint64_t seed) : PrunedWeights(m, n, seed) {
    const std::int64_t words = sparse24_words(n);
    buffers_ = {{"values", DType::float16, m * words * 16, Role::in},
                {"positions", DType::int32, m * words, Role::in},
                {"x", DType::float32, words * sparse24_columns_per_word, Role::in},
                {"y", DType::float32, m, Role::out}};
  }
  [[nodiscard]] double input(std::size_t buffer, std::int64_t i) const override {
    const std::int64_t words = sparse24_words(n_), groups = words * 8;
    if (buffer == 0) return kept_of(i / 2 / groups, i / 2 % groups).values[i % 2];
    if (buffer == 2) return x(i);
    std::uint32_t word = 0;
    for (int group = 0; group < 8; ++group) {
      word |= position_code(kept_of(i / words, i % words * 8 + group).positions) << static_cast<unsigned>(4 * group);
    }
    return static_cast<std::int32_t>(word);
  }
};

class PrunedDenseWorkload final : public PrunedWeights {
 public:
  PrunedDenseWorkload(std::int64_t m, std::int64_t n, std::uint64_t seed) : PrunedWeights(m, n, seed) {
    buffers_ = {{"W", DType::float16, m * n, Role::in},
                {"x", DType::float32, n, Role::in},
                {"y", DType::float32, m, Role::out}};
  }
  [[nodiscard]] double input(std::size_t buffer, std::int64_t i) const override {
    if (buffer == 1) return x(i);
    const std::int64_t row = i / n_, col = i % n_;
    const auto position = static_cast<int>(col % 4);
    const Kept kept = kept_of(row, col / 4);
    return kept.positions[0] == position ? kept.values[0] : kept.positions[1] == position ? kept.values[1] : 0.0;
  }
};

template <class Storage>
class Sparse24Problem : public Problem {
 public:
  Sparse24Problem(const char* name, const char* description) : name_(name), description_(description) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string_view description() const override { return description_; }
  [[nodiscard]] std::vector<ParamSpec> params() const override {
    const std::int64_t largest = std::int64_t{1} << 40U;
    return {{"n", "columns of W", std::int64_t{4096}, "", 0, largest, {}},
            {"m", "rows of W, elements of y", std::int64_t{0}, "n", 0, largest, {}},
            {"dtype",
             "element type of W",
             std::string("float16"),
             "",
             0,
             0,
             {{"float16", "2 bytes; x, sums and y are float32"}}}};
  }
  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet& params, std::uint64_t seed) const override {
    const std::int64_t m = params.integer("m"), n = params.integer("n");
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(m, sparse24_words(n) * 64, &bytes)) {
      throw Error(ExitCode::usage,
                  fmt::format("{}: parameters m={} and n={}: W would take 2^63 bytes or more", name_, m, n));
    }
    return std::make_unique<Storage>(m, n, seed);
  }

 private:
  const char* name_;
  const char* description_;
};

struct Packed final : Sparse24Problem<PackedWorkload> {
  Packed() : Sparse24Problem("sparse24", "y = W x for float16 weights W[m,n] pruned to 2 of 4 and packed") {}
};
struct PrunedDense final : Sparse24Problem<PrunedDenseWorkload> {
  PrunedDense()
      : Sparse24Problem("sparse24_dense", "y = W x for float16 weights W[m,n] pruned to 2 of 4, stored densely") {}
};

const RegisterProblem<Packed> registered_packed;
const RegisterProblem<PrunedDense> registered_dense;

}  // namespace
}  // namespace gpuexp
