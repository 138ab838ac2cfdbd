// The checks of `gpuexp doctor`: what the cuda backend needs of this machine, each with its remedy when it is missing.
#pragma once

#include <string>
#include <vector>

#include "profiler/backend/backend.h"
#include "profiler/backend/cuda/gpu_part.h"

namespace gpuexp::cuda {

// What the checks look at, gathered by diagnose() and given by tests.
struct Surroundings {
  bool toolkit = false;        // this build has GPU code
  bool driver = false;         // libcuda could be opened
  std::string driver_problem;  // why not
  Machine machine;             // as the worker found it
  std::vector<LibraryFound> libraries;
  bool wsl = false, container = false, root = false;
  int profiling_admin_only = -1;  // RmProfilingAdminOnly of the driver; -1 = it does not say
  bool dcgm = false;              // DCGM or its exporter runs
  std::string injected;           // of CUDA_INJECTION64_PATH or a profiler's LD_PRELOAD; empty = none
};
Surroundings look_around(const Machine& machine);
std::vector<Check> checks_of(const Surroundings& around);

// RmProfilingAdminOnly in the text of /proc/driver/nvidia/params: 1 = administrators only, 0 = everyone, -1 = unsaid.
int profiling_admin_only(const std::string& params_text);

}  // namespace gpuexp::cuda
