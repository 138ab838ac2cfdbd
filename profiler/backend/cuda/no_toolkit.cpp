// The seam's answers in a build without a CUDA toolkit.
#if !defined(GPUEXP_WITH_CUDA)

#include "profiler/backend/cuda/gpu_part.h"
#include "profiler/backend/cuda/machine_facts.h"
#include "profiler/core/error.h"

namespace gpuexp::cuda {
namespace {

constexpr const char* reason = "this build has no GPU code";
constexpr const char* remedy = "install the CUDA toolkit and configure again with -DGPUEXP_CUDA=ON";

}  // namespace

int toolkit_version() { return 0; }

Machine inspect_machine() { return {reason, remedy, driver().cuda_version, 0, driver_release(), {}}; }

std::unique_ptr<PointMeasurer> open_gpu(const std::string& /*gpu*/) {
  throw Error(ExitCode::machine, std::string(reason) + "; " + remedy);
}

MetricPlan plan_metrics(const std::string& /*chip*/, const std::vector<std::string>& /*metrics*/) {
  return {std::string(reason) + ", so it cannot ask CUPTI; " + remedy, {}, 0};
}

std::vector<std::string> metric_chips() { return {}; }

std::vector<LibraryFound> find_libraries() {
  return {{"CUPTI", "", std::string(reason)}, {"cuBLAS", "", std::string(reason)}};
}

}  // namespace gpuexp::cuda

#endif
