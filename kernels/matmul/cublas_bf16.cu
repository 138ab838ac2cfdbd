// cuBLAS on tensor cores with bfloat16 inputs, products summed in float32.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "kernels/variant.h"

#if defined(__CUDACC__)
#include "kernels/cublas.h"

void launch_bf16(const gpuexp::Launch& run) {
  gpuexp::cublas::multiply<__nv_bfloat16>(run, gpuexp::cublas::Math::bfloat16);
}
#else
constexpr void (*launch_bf16)(const gpuexp::Launch&) = nullptr;
#endif

GPUEXP_VARIANT("matmul/cublas_bf16") {
  variant.idea("the library on tensor cores with bfloat16 inputs: the fastest product at 8 bits of precision")
      .cuda_only("cuBLAS is a library for the GPU")
      .instance(launch_bf16, {{"dtype", "bfloat16"}});
}
