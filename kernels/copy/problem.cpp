// The problem copy: dst = src for n float32 elements. What any kernel that moves data is measured against.
#include <fmt/format.h>

#include "kernels/problem.h"
#include "profiler/core/error.h"

namespace gpuexp {
namespace {

class CopyWorkload final : public Workload {
 public:
  CopyWorkload(std::int64_t n, std::uint64_t seed)
      : seed_(seed), buffers_{{"src", DType::float32, n, Role::in}, {"dst", DType::float32, n, Role::out}} {}

  [[nodiscard]] const std::vector<BufferSpec>& buffers() const override { return buffers_; }
  [[nodiscard]] double flops() const override { return 0.0; }
  [[nodiscard]] double input(std::size_t buffer, std::int64_t i) const override {
    return round_to(DType::float32, uniform_input(seed_, buffer, static_cast<std::uint64_t>(i)));
  }
  [[nodiscard]] Expected expected(std::size_t /*buffer*/, std::int64_t i) const override {
    return {input(0, i), 0.0, 0};  // exact: a copy rounds nothing
  }

 private:
  std::uint64_t seed_;
  std::vector<BufferSpec> buffers_;
};

class Copy final : public Problem {
 public:
  [[nodiscard]] std::string_view name() const override { return "copy"; }
  [[nodiscard]] std::string_view description() const override { return "dst = src for vectors of n elements"; }
  [[nodiscard]] std::vector<ParamSpec> params() const override {
    return {{"n", "elements", std::int64_t{1} << 20U, "", 0, INT64_MAX, {}},
            {"dtype", "element type", std::string("float32"), "", 0, 0, {{"float32", "4 bytes"}}}};
  }
  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet& params, std::uint64_t seed) const override {
    const std::int64_t n = params.integer("n");
    if (n > INT64_MAX / size_bytes(DType::float32)) {
      throw Error(ExitCode::usage, fmt::format("copy: parameter n={}: a vector would take 2^63 bytes or more", n));
    }
    return std::make_unique<CopyWorkload>(n, seed);
  }
};

const RegisterProblem<Copy> registered;

}  // namespace
}  // namespace gpuexp
