// The problems vector_add (z = x + y) and vector_axpy (y = a x + y), float32: the lowest rungs of the roofline, 1/12
// and 1/6 FLOP per byte.
#include <fmt/format.h>

#include <cmath>

#include "kernels/problem.h"
#include "profiler/core/error.h"

namespace gpuexp {
namespace {

// Elements of a vector, refused when their bytes overflow.
std::int64_t checked_length(const ParamSet& params, std::string_view problem) {
  const std::int64_t n = params.integer("n");
  if (n > INT64_MAX / size_bytes(DType::float32)) {
    throw Error(ExitCode::usage, fmt::format("{}: parameter n={}: a vector would take 2^63 bytes or more", problem, n));
  }
  return n;
}

std::vector<ParamSpec> length_and_type() {
  return {{"n", "elements of each vector", std::int64_t{1} << 20U, "", 0, INT64_MAX, {}},
          {"dtype", "element type", std::string("float32"), "", 0, 0, {{"float32", "4 bytes"}}}};
}

class VectorWorkload : public Workload {
 public:
  VectorWorkload(std::vector<BufferSpec> buffers, double flops, std::uint64_t seed)
      : buffers_(std::move(buffers)), flops_(flops), seed_(seed) {}

  [[nodiscard]] const std::vector<BufferSpec>& buffers() const final { return buffers_; }
  [[nodiscard]] double flops() const final { return flops_; }
  [[nodiscard]] double input(std::size_t buffer, std::int64_t i) const final {
    return round_to(DType::float32, uniform_input(seed_, buffer, static_cast<std::uint64_t>(i)));
  }

 private:
  std::vector<BufferSpec> buffers_;
  double flops_;
  std::uint64_t seed_;
};

class AddWorkload final : public VectorWorkload {
 public:
  AddWorkload(std::int64_t n, std::uint64_t seed)
      : VectorWorkload({{"x", DType::float32, n, Role::in},
                        {"y", DType::float32, n, Role::in},
                        {"z", DType::float32, n, Role::out}},
                       static_cast<double>(n), seed) {}
  [[nodiscard]] Expected expected(std::size_t /*buffer*/, std::int64_t i) const override {
    const double x = input(0, i), y = input(1, i);
    return {x + y, std::abs(x) + std::abs(y), 1};
  }
};

class AxpyWorkload final : public VectorWorkload {
 public:
  AxpyWorkload(std::int64_t n, std::int64_t a, std::uint64_t seed)
      : VectorWorkload({{"x", DType::float32, n, Role::in}, {"y", DType::float32, n, Role::inout}},
                       2.0 * static_cast<double>(n), seed),
        a_(static_cast<double>(a)) {}
  [[nodiscard]] Expected expected(std::size_t /*buffer*/, std::int64_t i) const override {
    const double x = input(0, i), y = input(1, i);
    return {a_ * x + y, std::abs(a_ * x) + std::abs(y), 2};
  }

 private:
  double a_;
};

class VectorAdd final : public Problem {
 public:
  [[nodiscard]] std::string_view name() const override { return "vector_add"; }
  [[nodiscard]] std::string_view description() const override { return "z = x + y for vectors of n elements"; }
  [[nodiscard]] std::vector<ParamSpec> params() const override { return length_and_type(); }
  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet& params, std::uint64_t seed) const override {
    return std::make_unique<AddWorkload>(checked_length(params, name()), seed);
  }
};

class VectorAxpy final : public Problem {
 public:
  [[nodiscard]] std::string_view name() const override { return "vector_axpy"; }
  [[nodiscard]] std::string_view description() const override { return "y = a x + y for vectors of n elements"; }
  [[nodiscard]] std::vector<ParamSpec> params() const override {
    std::vector<ParamSpec> specs = length_and_type();
    specs.push_back({"a", "the factor of x", std::int64_t{2}, "", -1024, 1024, {}});
    return specs;
  }
  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet& params, std::uint64_t seed) const override {
    return std::make_unique<AxpyWorkload>(checked_length(params, name()), params.integer("a"), seed);
  }
};

const RegisterProblem<VectorAdd> registered_add;
const RegisterProblem<VectorAxpy> registered_axpy;

}  // namespace
}  // namespace gpuexp
