// Measures the ceilings of the GPU present: runs the shipped experiment of microkernels and keeps what they reach.
#pragma once

#include <filesystem>
#include <string>

#include "profiler/device/device_spec.h"
#include "profiler/roofline/measured_ceilings.h"
#include "profiler/run/choose.h"
#include "profiler/run/progress.h"

namespace gpuexp {

struct MeasureSettings {
  std::filesystem::path results = "results/out";        // of the run's result files
  std::filesystem::path ceilings = "results/ceilings";  // of <device id>.json
  std::string run;                                      // a result file of an earlier run to take the points from
};

struct MeasuredFile {
  DeviceSpec device;
  MeasuredCeilings measured;
  std::filesystem::path path;
};

// Runs configs/ceilings.json on the GPU, finds the ceilings in its points and writes them. With `settings.run` nothing
// is run. Ceilings that could not be measured are null with their reasons, and no error. Throws Error(machine) when
// there is no GPU to measure, Error(usage) for a file that holds no such run, Error(cannot_write).
MeasuredFile measure_ceilings(const MeasureSettings& settings, Progress& progress);

}  // namespace gpuexp
