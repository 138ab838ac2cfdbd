// The driver's own copy within the device, cudaMemcpyAsync: the yardstick for kernels that only move data.
#include <cuda_runtime.h>

#include "kernels/variant.h"

#if defined(__CUDACC__)
void launch_memcpy(const gpuexp::Launch& run) {
  const cudaError_t error =
      cudaMemcpyAsync(run.out<float>("dst"), run.in<float>("src"), sizeof(float) * static_cast<size_t>(run.param("n")),
                      cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(run.stream()));
  if (error != cudaSuccess) run.failed(cudaGetErrorString(error), static_cast<int>(error));
}
#else
constexpr void (*launch_memcpy)(const gpuexp::Launch&) = nullptr;
#endif

GPUEXP_VARIANT("copy/memcpy") {
  variant.idea("cudaMemcpyAsync within the device: what the driver makes of it")
      .cuda_only("the copy is the driver's")
      .instance(launch_memcpy, {{"dtype", "float32"}});
}
