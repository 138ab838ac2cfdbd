// The problem matmul: C[m,n] = A[m,k] B[k,n], row-major, float32 or float16 inputs, float32 accumulation and output.
#include <fmt/format.h>

#include <cmath>

#include "kernels/problem.h"
#include "profiler/core/error.h"

namespace gpuexp {
namespace {

constexpr std::size_t a_index = 0, b_index = 1;  // positions in buffers(); C is 2

// rows * columns, or Error naming both when the matrix would not fit 2^63 bytes.
std::int64_t elements_of(const char* matrix, std::string_view row_name, std::int64_t rows, std::string_view column_name,
                         std::int64_t columns) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(rows, columns, &bytes) || __builtin_mul_overflow(bytes, std::int64_t{4}, &bytes)) {
    throw Error(ExitCode::usage, fmt::format("matmul: parameters {}={} and {}={}: {} would take 2^63 bytes or more",
                                             row_name, rows, column_name, columns, matrix));
  }
  return rows * columns;
}

class MatmulWorkload final : public Workload {
 public:
  MatmulWorkload(std::int64_t m, std::int64_t n, std::int64_t k, DType dtype, std::uint64_t seed)
      : n_(n),
        k_(k),
        flops_(2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k)),
        dtype_(dtype),
        seed_(seed),
        buffers_{{"A", dtype, elements_of("A", "m", m, "k", k), Role::in},
                 {"B", dtype, elements_of("B", "k", k, "n", n), Role::in},
                 {"C", DType::float32, elements_of("C", "m", m, "n", n), Role::out}} {
    if (k > 0 && buffers_[a_index].elements <= kept_elements && buffers_[b_index].elements <= kept_elements) keep();
  }

  [[nodiscard]] const std::vector<BufferSpec>& buffers() const override { return buffers_; }
  [[nodiscard]] double flops() const override { return flops_; }

  [[nodiscard]] double input(std::size_t buffer, std::int64_t i) const override {
    return round_to(dtype_, uniform_input(seed_, buffer, static_cast<std::uint64_t>(i)));
  }

  [[nodiscard]] Expected expected(std::size_t /*buffer*/, std::int64_t i) const override {
    const std::int64_t row = i / n_, column = i % n_;
    Expected sum;
    sum.terms = k_;
    for (std::int64_t t = 0; t < k_; ++t) {
      const double term =
          kept_ ? static_cast<double>(a_rows_[row * k_ + t]) * static_cast<double>(b_columns_[column * k_ + t])
                : input(a_index, row * k_ + t) * input(b_index, t * n_ + column);
      sum.value += term;
      sum.magnitude += std::abs(term);
    }
    return sum;
  }

 private:
  // Matrices up to this size are generated once: verifying every element would otherwise generate each input n times.
  static constexpr std::int64_t kept_elements = std::int64_t{1} << 22U;

  // A by rows and B by columns, so that expected() walks both in memory order. Exact: both dtypes fit a float.
  void keep() {
    const std::int64_t a_size = buffers_[a_index].elements, b_size = buffers_[b_index].elements;
    a_rows_.resize(static_cast<std::size_t>(a_size));
    b_columns_.resize(static_cast<std::size_t>(b_size));
    for (std::int64_t i = 0; i < a_size; ++i) a_rows_[i] = static_cast<float>(input(a_index, i));
    for (std::int64_t i = 0; i < b_size; ++i)
      b_columns_[(i % n_) * k_ + i / n_] = static_cast<float>(input(b_index, i));
    kept_ = true;
  }

  std::int64_t n_, k_;
  double flops_;
  DType dtype_;
  std::uint64_t seed_;
  std::vector<BufferSpec> buffers_;
  bool kept_ = false;
  std::vector<float> a_rows_, b_columns_;
};

class Matmul final : public Problem {
 public:
  [[nodiscard]] std::string_view name() const override { return "matmul"; }
  [[nodiscard]] std::string_view description() const override {
    return "C = A B for row-major matrices A[m,k] and B[k,n]; float32 accumulation and output";
  }
  [[nodiscard]] std::vector<ParamSpec> params() const override {
    const std::int64_t largest = std::int64_t{1} << 40U;
    return {{"n", "columns of B and C", std::int64_t{1024}, "", 0, largest, {}},
            {"m", "rows of A and C", std::int64_t{0}, "n", 0, largest, {}},
            {"k", "columns of A and rows of B: the terms of each sum", std::int64_t{0}, "n", 0, largest, {}},
            {"dtype",
             "element type of A and B",
             std::string("float32"),
             "",
             0,
             0,
             {{"float32", "4 bytes"}, {"float16", "2 bytes; sums and C stay float32"}}}};
  }
  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet& params, std::uint64_t seed) const override {
    return std::make_unique<MatmulWorkload>(params.integer("m"), params.integer("n"), params.integer("k"),
                                            dtype_from_text(params.word("dtype")), seed);
  }
};

const RegisterProblem<Matmul> registered;

}  // namespace
}  // namespace gpuexp
