// Opens CUPTI and looks up its functions.
#include "profiler/backend/cuda/gpu/cupti.h"

#include <fmt/format.h>

#include "profiler/backend/cuda/gpu/library.h"
#include "profiler/backend/cuda/machine_facts.h"

namespace gpuexp::cuda {
namespace {

template <class Function>
void look_up(const Library& library, const char* name, Function& function, Cupti& into) {
  function = reinterpret_cast<Function>(library.symbol(name));
  if (function == nullptr && into.problem.empty()) {
    into.problem = fmt::format("{} has no {}: it is older than this build needs; install CUDA {}.{} or newer",
                               library.path(), name, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
  }
}

Cupti open_cupti() {
  Cupti c;
  // CUPTI opens this one itself, by a bare name that the search path may not find; once open here, it is found.
  static const Library metrics({"libnvperf_host.so"});
  static const Library library({fmt::format("libcupti.so.{}", CUDART_VERSION / 1000), "libcupti.so"});
  c.path = library.path();
  if (!library.open()) {
    c.problem = library.problem();
    return c;
  }
  look_up(library, "cuptiGetVersion", c.get_version, c);
  look_up(library, "cuptiDeviceGetChipName", c.device_get_chip_name, c);
  look_up(library, "cuptiProfilerInitialize", c.profiler_initialize, c);
  look_up(library, "cuptiProfilerGetCounterAvailability", c.get_counter_availability, c);
  look_up(library, "cuptiProfilerHostGetSupportedChips", c.host_get_supported_chips, c);
  look_up(library, "cuptiProfilerHostInitialize", c.host_initialize, c);
  look_up(library, "cuptiProfilerHostDeinitialize", c.host_deinitialize, c);
  look_up(library, "cuptiProfilerHostConfigAddMetrics", c.host_config_add_metrics, c);
  look_up(library, "cuptiProfilerHostGetConfigImageSize", c.host_get_config_image_size, c);
  look_up(library, "cuptiProfilerHostGetConfigImage", c.host_get_config_image, c);
  look_up(library, "cuptiProfilerHostGetNumOfPasses", c.host_get_num_of_passes, c);
  look_up(library, "cuptiProfilerHostEvaluateToGpuValues", c.host_evaluate, c);
  look_up(library, "cuptiRangeProfilerEnable", c.range_enable, c);
  look_up(library, "cuptiRangeProfilerDisable", c.range_disable, c);
  look_up(library, "cuptiRangeProfilerSetConfig", c.range_set_config, c);
  look_up(library, "cuptiRangeProfilerStart", c.range_start, c);
  look_up(library, "cuptiRangeProfilerStop", c.range_stop, c);
  look_up(library, "cuptiRangeProfilerPushRange", c.range_push, c);
  look_up(library, "cuptiRangeProfilerPopRange", c.range_pop, c);
  look_up(library, "cuptiRangeProfilerDecodeData", c.range_decode, c);
  look_up(library, "cuptiRangeProfilerGetCounterDataSize", c.range_get_counter_data_size, c);
  look_up(library, "cuptiRangeProfilerCounterDataImageInitialize", c.range_counter_data_initialize, c);
  if (c.problem.empty()) c.get_version(&c.version);
  return c;
}

}  // namespace

const Cupti& cupti() {
  static const Cupti opened = open_cupti();
  return opened;
}

CounterErrorContext counter_error_context() {
  return {running_in_wsl(), running_in_container(), driver().cuda_version, static_cast<int>(cupti().version / 10)};
}

void check_cupti(CUptiResult result, const char* call) {
  if (result != CUPTI_SUCCESS) throw CuptiFailure(explain_cupti(result, call, counter_error_context()));
}

}  // namespace gpuexp::cuda
