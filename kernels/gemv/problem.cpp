// The problem gemv: y = A x (+ bias) for a row-major A[m,n] in float32, float16 or bfloat16; x, bias, sums and y are
// float32.
#include <fmt/format.h>

#include <cmath>

#include "kernels/problem.h"
#include "profiler/core/error.h"

namespace gpuexp {
namespace {

constexpr std::size_t a_index = 0, x_index = 1, bias_index = 2;  // streams of the generated inputs

enum class Inputs { random, counting };

std::int64_t weights_of(std::int64_t m, std::int64_t n) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(m, n, &bytes) || __builtin_mul_overflow(bytes, std::int64_t{4}, &bytes)) {
    throw Error(ExitCode::usage, fmt::format("gemv: parameters m={} and n={}: A would take 2^63 bytes or more", m, n));
  }
  return m * n;
}

class GemvWorkload final : public Workload {
 public:
  struct Shape {
    std::int64_t m, n;
    bool bias;
    DType dtype;
    Inputs inputs;
  };

  GemvWorkload(const Shape& shape, std::uint64_t seed)
      : shape_(shape),
        seed_(seed),
        buffers_{{"A", shape.dtype, weights_of(shape.m, shape.n), Role::in}, {"x", DType::float32, shape.n, Role::in}} {
    if (shape.bias) buffers_.push_back({"bias", DType::float32, shape.m, Role::in});
    buffers_.push_back({"y", DType::float32, shape.m, Role::out});
    if (shape.m > 1 && shape.n <= kept_elements) {
      x_.resize(static_cast<std::size_t>(shape.n));
      for (std::int64_t i = 0; i < shape.n; ++i) x_[i] = input(x_index, i);
    }
  }

  [[nodiscard]] const std::vector<BufferSpec>& buffers() const override { return buffers_; }
  // The bias, where there is one, is an addition per row.
  [[nodiscard]] double flops() const override {
    const auto rows = static_cast<double>(shape_.m);
    return 2.0 * rows * static_cast<double>(shape_.n) + (shape_.bias ? rows : 0.0);
  }

  [[nodiscard]] double input(std::size_t buffer, std::int64_t i) const override {
    const double value = shape_.inputs == Inputs::counting
                             ? static_cast<double>(i % 97 + 1)
                             : uniform_input(seed_, buffer, static_cast<std::uint64_t>(i));
    return round_to(buffer == a_index ? shape_.dtype : DType::float32, value);
  }

  [[nodiscard]] Expected expected(std::size_t /*buffer*/, std::int64_t row) const override {
    Expected sum;
    sum.terms = shape_.n + (shape_.bias ? 1 : 0);
    const auto add = [&](double term) {
      sum.value += term;
      sum.magnitude += std::abs(term);
    };
    for (std::int64_t i = 0; i < shape_.n; ++i) {
      add(input(a_index, row * shape_.n + i) * (x_.empty() ? input(x_index, i) : x_[i]));
    }
    if (shape_.bias) add(input(bias_index, row));
    return sum;
  }

 private:
  static constexpr std::int64_t kept_elements = std::int64_t{1} << 22U;  // x is generated once, not once a row

  Shape shape_;
  std::uint64_t seed_;
  std::vector<BufferSpec> buffers_;
  std::vector<double> x_;
};

class Gemv final : public Problem {
 public:
  [[nodiscard]] std::string_view name() const override { return "gemv"; }
  [[nodiscard]] std::string_view description() const override {
    return "y = A x + bias for a row-major matrix A[m,n]; float32 accumulation and output";
  }
  [[nodiscard]] std::vector<ParamSpec> params() const override {
    const std::int64_t largest = std::int64_t{1} << 40U;
    return {
        {"n", "columns of A: the terms of each sum", std::int64_t{4096}, "", 0, largest, {}},
        {"m", "rows of A, elements of y", std::int64_t{0}, "n", 0, largest, {}},
        {"bias", "1 adds a bias vector, 0 passes none", std::int64_t{0}, "", 0, 1, {}},
        {"inputs",
         "elements of A, x and bias",
         std::string("random"),
         "",
         0,
         0,
         {{"random", "uniform in [-1, 1)"}, {"counting", "1, 2, 3, ... 97, 1, ..."}}},
        {"dtype",
         "element type of A",
         std::string("float32"),
         "",
         0,
         0,
         {{"float32", "4 bytes"}, {"float16", "2 bytes; all else stays float32"}, {"bfloat16", "2 bytes; likewise"}}}};
  }
  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet& params, std::uint64_t seed) const override {
    const Inputs inputs = params.word("inputs") == "counting" ? Inputs::counting : Inputs::random;
    return std::make_unique<GemvWorkload>(
        GemvWorkload::Shape{params.integer("m"), params.integer("n"), params.integer("bias") != 0,
                            dtype_from_text(params.word("dtype")), inputs},
        seed);
  }
};

const RegisterProblem<Gemv> registered;

}  // namespace
}  // namespace gpuexp
