// The problem matmul: C[m,n] = A[m,k] B[k,n], row-major, inputs of 4 or 2 bytes, float32 accumulation and output.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

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

double larger_or_nan(double a, double b) { return std::isnan(a) || a > b ? a : b; }

// How the elements of A and B are kept, and what they are rounded to.
struct Storage {
  DType dtype;
  bool tf32 = false;  // float32 values that TF32 (10 fraction bits) holds exactly
};

// Nearest value with 11 significant bits, ties to even; the exponents of TF32 are those of float32.
double round_to_tf32(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 11)), exponent - 11);
}

class MatmulWorkload final : public Workload {
 public:
  MatmulWorkload(std::int64_t m, std::int64_t n, std::int64_t k, Storage storage, std::uint64_t seed)
      : n_(n),
        k_(k),
        flops_(2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k)),
        storage_(storage),
        seed_(seed),
        buffers_{{"A", storage.dtype, elements_of("A", "m", m, "k", k), Role::in},
                 {"B", storage.dtype, elements_of("B", "k", k, "n", n), Role::in},
                 {"C", DType::float32, elements_of("C", "m", m, "n", n), Role::out}} {
    if (k > 0 && buffers_[a_index].elements <= kept_elements && buffers_[b_index].elements <= kept_elements) keep();
  }

  [[nodiscard]] const std::vector<BufferSpec>& buffers() const override { return buffers_; }
  [[nodiscard]] double flops() const override { return flops_; }

  [[nodiscard]] double input(std::size_t buffer, std::int64_t i) const override {
    const double value = uniform_input(seed_, buffer, static_cast<std::uint64_t>(i));
    return storage_.tf32 ? round_to_tf32(value) : round_to(storage_.dtype, value);
  }

  [[nodiscard]] Expected expected(std::size_t /*buffer*/, std::int64_t i) const override {
    const std::int64_t row = i / n_, column = i % n_;
    Expected sum;
    sum.terms = k_;
    for (std::int64_t t = 0; t < k_; ++t) {
      const double term = a_value(row, t) * b_value(t, column);
      sum.value += term;
      sum.magnitude += std::abs(term);
    }
    return sum;
  }

  // Freivalds' check, row by row: C x = A (B x) for random vectors x of +1 and -1, in O(mn + mk + kn) operations. A
  // wrong element escapes one vector with probability 1/2 at most, unless it is smaller than what rounding may add up
  // to in its row. Source: R. Freivalds, Probabilistic machines can use less running time, IFIP Congress 1977.
  [[nodiscard]] std::optional<WholeCheck> check_whole(std::size_t buffer, const ElementReader& read) const override {
    WholeCheck check;
    check.method = fmt::format("Freivalds' check of all rows ({} random vectors)", freivalds_vectors);
    if (n_ == 0) return check;
    const std::vector<SignedRow> of_b = signed_sums_of_b();
    const std::int64_t m = buffers_[buffer].elements / n_;
    std::vector<double> row_of_c(static_cast<std::size_t>(n_));
    for (std::int64_t row = 0; row < m; ++row) {
      read(row * n_, n_, row_of_c.data());
      const double error = row_error(row, row_of_c, of_b);
      if (!(error <= 1.0) && check.first_wrong < 0) check.first_wrong = row * n_;
      check.max_error = larger_or_nan(check.max_error, error);
    }
    return check;
  }

 private:
  static constexpr int freivalds_vectors = 2;
  // One row of a matrix against the random vectors, and its sum of magnitudes.
  struct SignedRow {
    std::array<double, freivalds_vectors> sums{};
    double magnitude = 0;
    void add(double value, std::uint64_t signs) {
      for (std::size_t v = 0; v < sums.size(); ++v) sums[v] += (signs >> v & 1U) != 0 ? value : -value;
      magnitude += std::abs(value);
    }
  };
  // Bit v is the sign of entry j of random vector v.
  [[nodiscard]] std::uint64_t signs(std::int64_t j) const {
    return static_cast<std::uint64_t>((uniform_input(seed_, 1000, static_cast<std::uint64_t>(j)) + 1.0) * 0x1p20);
  }
  [[nodiscard]] std::vector<SignedRow> signed_sums_of_b() const {
    std::vector<SignedRow> rows(static_cast<std::size_t>(k_));
    for (std::int64_t j = 0; j < n_; ++j) {
      const std::uint64_t bits = signs(j);
      for (std::int64_t p = 0; p < k_; ++p) rows[static_cast<std::size_t>(p)].add(b_value(p, j), bits);
    }
    return rows;
  }
  // Largest difference over its tolerance, which is the sum of the elements' tolerances.
  [[nodiscard]] double row_error(std::int64_t row, const std::vector<double>& row_of_c,
                                 const std::vector<SignedRow>& of_b) const {
    SignedRow got;
    for (std::int64_t j = 0; j < n_; ++j) got.add(row_of_c[static_cast<std::size_t>(j)], signs(j));
    std::array<double, freivalds_vectors> wanted{};
    Expected sum{0, 0, k_};
    for (std::int64_t p = 0; p < k_; ++p) {
      const double a = a_value(row, p);
      const SignedRow& b = of_b[static_cast<std::size_t>(p)];
      for (std::size_t v = 0; v < wanted.size(); ++v) wanted[v] += a * b.sums[v];
      sum.magnitude += std::abs(a) * b.magnitude;
    }
    sum.value = sum.magnitude;  // bounds the sum of the elements' own roundings
    const double allowed = tolerance(sum, accumulator(), DType::float32);
    double worst = 0;
    for (std::size_t v = 0; v < wanted.size(); ++v) {
      const double difference = std::abs(got.sums[v] - wanted[v]);
      const double error = difference == 0 ? 0 : difference / allowed;
      worst = larger_or_nan(worst, error);
    }
    return worst;
  }

  [[nodiscard]] double a_value(std::int64_t row, std::int64_t p) const {
    return kept_ ? static_cast<double>(a_rows_[static_cast<std::size_t>(row * k_ + p)]) : input(a_index, row * k_ + p);
  }
  [[nodiscard]] double b_value(std::int64_t p, std::int64_t column) const {
    return kept_ ? static_cast<double>(b_columns_[static_cast<std::size_t>(column * k_ + p)])
                 : input(b_index, p * n_ + column);
  }

  // Matrices up to this size are generated once: verifying every element would otherwise generate each input n times.
  static constexpr std::int64_t kept_elements = std::int64_t{1} << 22U;

  // A by rows and B by columns, so that expected() walks both in memory order. Exact: every dtype fits a float.
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
  Storage storage_;
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
             {{"float32", "4 bytes"},
              {"float16", "2 bytes; sums and C stay float32"},
              {"bfloat16", "2 bytes; sums and C stay float32"},
              {"tf32", "4 bytes, values that TF32 holds exactly"}}}};
  }
  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet& params, std::uint64_t seed) const override {
    const std::string& word = params.word("dtype");
    const Storage storage = word == "tf32" ? Storage{DType::float32, true} : Storage{dtype_from_text(word)};
    return std::make_unique<MatmulWorkload>(params.integer("m"), params.integer("n"), params.integer("k"), storage,
                                            seed);
  }
};

const RegisterProblem<Matmul> registered;

}  // namespace
}  // namespace gpuexp
