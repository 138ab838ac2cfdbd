// The backends of this build. simt is always there; cuda registers itself when it was built, and is listed as
// unavailable otherwise.
#include "profiler/backend/backends.h"

#include <algorithm>
#include <vector>

#include "profiler/backend/simt/simt_backend.h"

namespace gpuexp {
namespace {

struct Registered {
  int rank;
  std::unique_ptr<Backend> (*make)();
};

// Function-local, because registrars of other files run in any order.
std::vector<Registered>& registered() {
  static std::vector<Registered> all;
  return all;
}

// Stands in the list for the cuda backend in a build that does not have it.
class MissingCuda final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] std::string_view description() const override {
    return "runs the kernel on an NVIDIA GPU and measures time and hardware counters";
  }
  [[nodiscard]] Availability availability() const override {
    return {false, "this build has no cuda backend",
            "install the CUDA toolkit, then configure again with -DGPUEXP_CUDA=ON and build"};
  }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment() const override { return {}; }
  PointResult run(const Point& point, const RunOptions& /*options*/) override {
    PointResult result;
    result.point = point;
    result.backend = "cuda";
    result.status = Status::unsupported;
    result.reason = availability().reason;
    result.verification.scope = result.reason;
    return result;
  }
};

std::unique_ptr<Backend> make_missing_cuda() { return std::make_unique<MissingCuda>(); }

}  // namespace

RegisterBackend::RegisterBackend(int rank, std::unique_ptr<Backend> (*make)()) { registered().push_back({rank, make}); }

std::vector<std::unique_ptr<Backend>> make_backends() {
  std::vector<Registered> makers = registered();
  makers.push_back({kSimtRank, make_simt_backend});
  const bool has_cuda =
      std::any_of(makers.begin(), makers.end(), [](const Registered& maker) { return maker.rank == kCudaRank; });
  if (!has_cuda) makers.push_back({kCudaRank, make_missing_cuda});
  std::stable_sort(makers.begin(), makers.end(),
                   [](const Registered& a, const Registered& b) { return a.rank < b.rank; });
  std::vector<std::unique_ptr<Backend>> backends;
  for (const Registered& maker : makers) backends.push_back(maker.make());
  return backends;
}

}  // namespace gpuexp
