// The problem transpose: B[cols,rows] = A[rows,cols] transposed, row-major, of 4 or 2 bytes an element. No
// arithmetic: all of it is memory.
#include <fmt/format.h>

#include <cmath>

#include "kernels/problem.h"
#include "profiler/core/error.h"

namespace gpuexp {
namespace {

class TransposeWorkload final : public Workload {
 public:
  TransposeWorkload(std::int64_t rows, std::int64_t cols, DType dtype, std::uint64_t seed)
      : rows_(rows),
        cols_(cols),
        dtype_(dtype),
        seed_(seed),
        buffers_{{"A", dtype, rows * cols, Role::in}, {"B", dtype, rows * cols, Role::out}} {}

  [[nodiscard]] const std::vector<BufferSpec>& buffers() const override { return buffers_; }
  [[nodiscard]] double flops() const override { return 0.0; }
  [[nodiscard]] double input(std::size_t buffer, std::int64_t i) const override {
    return round_to(dtype_, uniform_input(seed_, buffer, static_cast<std::uint64_t>(i)));
  }
  [[nodiscard]] Expected expected(std::size_t /*buffer*/, std::int64_t i) const override {
    const std::int64_t row = i % rows_, col = i / rows_;  // of A
    const double value = input(0, row * cols_ + col);
    return {value, 0.0, 0};  // a copy is exact: what was rounded to the dtype once stays as it is
  }

 private:
  std::int64_t rows_, cols_;
  DType dtype_;
  std::uint64_t seed_;
  std::vector<BufferSpec> buffers_;
};

class Transpose final : public Problem {
 public:
  [[nodiscard]] std::string_view name() const override { return "transpose"; }
  [[nodiscard]] std::string_view description() const override {
    return "B = A transposed for a row-major matrix A[rows,cols]";
  }
  [[nodiscard]] std::vector<ParamSpec> params() const override {
    const std::int64_t largest = std::int64_t{1} << 40U;
    return {
        {"rows", "rows of A", std::int64_t{1024}, "", 0, largest, {}},
        {"cols", "columns of A", std::int64_t{0}, "rows", 0, largest, {}},
        {"dtype", "element type", std::string("float32"), "", 0, 0, {{"float32", "4 bytes"}, {"float16", "2 bytes"}}}};
  }
  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet& params, std::uint64_t seed) const override {
    const std::int64_t rows = params.integer("rows"), cols = params.integer("cols");
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(rows, cols, &bytes) || __builtin_mul_overflow(bytes, std::int64_t{4}, &bytes)) {
      throw Error(
          ExitCode::usage,
          fmt::format("transpose: parameters rows={} and cols={}: A would take 2^63 bytes or more", rows, cols));
    }
    return std::make_unique<TransposeWorkload>(rows, cols, dtype_from_text(params.word("dtype")), seed);
  }
};

const RegisterProblem<Transpose> registered;

}  // namespace
}  // namespace gpuexp
