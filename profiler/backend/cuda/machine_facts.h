// What can be known of the machine without initialising CUDA, and which of its GPUs a user means.
#pragma once

#include <string>

#include "profiler/backend/cuda/gpu_part.h"

namespace gpuexp::cuda {

// The driver library, opened but not initialised: forked processes may still use CUDA.
struct Driver {
  bool present = false;
  std::string problem;   // why it could not be opened; empty when present
  int cuda_version = 0;  // newest CUDA it supports: 13000 for 13.0
};
const Driver& driver();

// "580.159.04", from the kernel module; empty where it does not say (WSL).
std::string driver_release();

// The GPU that an index ("0") or UUID ("GPU-...", "MIG-...", or the start of one) means; empty = the first. Throws
// Error(machine) listing what there is.
const Gpu& choose_gpu(const Machine& machine, const std::string& index_or_uuid);

}  // namespace gpuexp::cuda
