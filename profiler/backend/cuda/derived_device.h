// The roof of a GPU that is not in the device list, or of a MIG slice: arithmetic on what the driver says of it.
#pragma once

#include "profiler/backend/cuda/gpu_part.h"
#include "profiler/device/device_spec.h"

namespace gpuexp::cuda {

// The device list's entry when it describes this GPU (same name, as many SMs, no MIG slice); else ceilings derived from
// the GPU's attributes, with provenance `derived` (modelled): FP32 and FP64 by FMA lanes per SM x SMs x clock x 2, DRAM
// by bus width x memory clock x 2. Throws Error(machine) when the driver says too little (no clocks).
DeviceSpec roof_of(const Gpu& gpu);
DeviceSpec derive_device(const Gpu& gpu);

}  // namespace gpuexp::cuda
