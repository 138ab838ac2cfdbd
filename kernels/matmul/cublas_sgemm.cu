// cuBLAS in float32 on CUDA cores (no TF32): the yardstick for the float32 kernels here.
//
// cuBLAS reads matrices by columns, and a row-major matrix read by columns is its transpose. So it is asked for
// C^T = B^T A^T: the sizes as (n, m, k), B first, and as leading dimensions the row lengths: n of B, k of A, n of C.
// profiler/blas works that out for all calls.
#include <cuda_runtime.h>

#include "kernels/variant.h"

#if defined(__CUDACC__)
#include "kernels/cublas.h"

void launch_sgemm(const gpuexp::Launch& run) { gpuexp::cublas::multiply<float>(run, gpuexp::cublas::Math::float32); }
#else
constexpr void (*launch_sgemm)(const gpuexp::Launch&) = nullptr;
#endif

GPUEXP_VARIANT("matmul/cublas_sgemm") {
  variant.idea("the library in float32, without tensor cores: the yardstick for every float32 variant")
      .cuda_only("cuBLAS is a library for the GPU")
      .instance(launch_sgemm, {{"dtype", "float32"}});
}
