// cuBLAS on tensor cores with TF32 inputs: 8 exponent and 10 fraction bits, products summed in float32.
//
// The inputs of dtype tf32 are float32 values that TF32 holds exactly, so that the result can be checked as tightly as
// that of float32.
#include <cuda_runtime.h>

#include "kernels/variant.h"

#if defined(__CUDACC__)
#include "kernels/cublas.h"

void launch_tf32(const gpuexp::Launch& run) { gpuexp::cublas::multiply<float>(run, gpuexp::cublas::Math::tf32); }
#else
constexpr void (*launch_tf32)(const gpuexp::Launch&) = nullptr;
#endif

GPUEXP_VARIANT("matmul/cublas_tf32") {
  variant.idea("the library on tensor cores, inputs rounded to TF32: what float32 data can reach at best")
      .cuda_only("cuBLAS is a library for the GPU")
      .instance(launch_tf32, {{"dtype", "tf32"}});
}
