// CUPTI, opened at run time: the functions the backend uses, by their own names and types.
#pragma once

#include <cuda_runtime_api.h>

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <stdexcept>
#include <string>

#include "profiler/backend/cuda/counter_errors.h"

namespace gpuexp::cuda {

// A CUPTI call that failed, in plain words.
class CuptiFailure : public std::runtime_error {
 public:
  explicit CuptiFailure(const CounterError& error) : std::runtime_error(error.to_text()) {}
};

struct Cupti {
  std::string path;      // of the library; empty when it could not be opened
  std::string problem;   // why it cannot be used, with the remedy; empty when it can
  unsigned version = 0;  // 130001 for 13.0 update 1

  decltype(&cuptiGetVersion) get_version = nullptr;
  decltype(&cuptiDeviceGetChipName) device_get_chip_name = nullptr;
  decltype(&cuptiProfilerInitialize) profiler_initialize = nullptr;
  decltype(&cuptiProfilerGetCounterAvailability) get_counter_availability = nullptr;
  decltype(&cuptiProfilerHostGetSupportedChips) host_get_supported_chips = nullptr;
  decltype(&cuptiProfilerHostInitialize) host_initialize = nullptr;
  decltype(&cuptiProfilerHostDeinitialize) host_deinitialize = nullptr;
  decltype(&cuptiProfilerHostConfigAddMetrics) host_config_add_metrics = nullptr;
  decltype(&cuptiProfilerHostGetConfigImageSize) host_get_config_image_size = nullptr;
  decltype(&cuptiProfilerHostGetConfigImage) host_get_config_image = nullptr;
  decltype(&cuptiProfilerHostGetNumOfPasses) host_get_num_of_passes = nullptr;
  decltype(&cuptiProfilerHostEvaluateToGpuValues) host_evaluate = nullptr;
  decltype(&cuptiRangeProfilerEnable) range_enable = nullptr;
  decltype(&cuptiRangeProfilerDisable) range_disable = nullptr;
  decltype(&cuptiRangeProfilerSetConfig) range_set_config = nullptr;
  decltype(&cuptiRangeProfilerStart) range_start = nullptr;
  decltype(&cuptiRangeProfilerStop) range_stop = nullptr;
  decltype(&cuptiRangeProfilerPushRange) range_push = nullptr;
  decltype(&cuptiRangeProfilerPopRange) range_pop = nullptr;
  decltype(&cuptiRangeProfilerDecodeData) range_decode = nullptr;
  decltype(&cuptiRangeProfilerGetCounterDataSize) range_get_counter_data_size = nullptr;
  decltype(&cuptiRangeProfilerCounterDataImageInitialize) range_counter_data_initialize = nullptr;
};

// The library of this process, opened on first use.
const Cupti& cupti();

// What the words for an error depend on, filled in for this machine. Does not initialise CUDA.
CounterErrorContext counter_error_context();

// Throws CuptiFailure unless the call succeeded.
void check_cupti(CUptiResult result, const char* call);

}  // namespace gpuexp::cuda
