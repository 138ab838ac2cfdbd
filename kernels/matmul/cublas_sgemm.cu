// cuBLAS in float32 on CUDA cores (no TF32): the yardstick for the float32 kernels here.
#include <cuda_runtime.h>

#include "kernels/variant.h"

#if defined(__CUDACC__)
#include <cublas_v2.h>

void launch_sgemm(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), k = run.param("k");
  const long long most = 2147483647;  // cuBLAS sizes are int
  if (m > most || n > most || k > most) return run.unsupported("cuBLAS takes sizes below 2^31");
  auto* handle = static_cast<cublasHandle_t>(run.library("cublas"));
  if (handle == nullptr || m == 0 || n == 0) return;
  const float one = 1.0f, zero = 0.0f;
  // cuBLAS reads matrices by columns, and a row-major matrix read by columns is its transpose. So we ask for
  // C^T = B^T A^T: the sizes as (n, m, k), B first, and as leading dimensions the row lengths: n of B, k of A, n of C.
  const int columns = static_cast<int>(n), rows = static_cast<int>(m), terms = static_cast<int>(k);
  const int lda = terms > 0 ? terms : 1;
  // Plain float32: not even TF32 by default, whatever the environment asks (NVIDIA_TF32_OVERRIDE).
  cublasStatus_t status = cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH);
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, columns, rows, terms, &one, run.in<float>("B"), columns,
                         run.in<float>("A"), lda, &zero, run.out<float>("C"), columns);
  }
  if (status != CUBLAS_STATUS_SUCCESS) run.failed("cublasSgemm refused the call", static_cast<int>(status));
}
#else
constexpr void (*launch_sgemm)(const gpuexp::Launch&) = nullptr;
#endif

GPUEXP_VARIANT("matmul/cublas_sgemm") {
  variant.idea("the library in float32, without tensor cores: the yardstick for every float32 variant")
      .cuda_only("cuBLAS is a library for the GPU")
      .instance(launch_sgemm, {{"dtype", "float32"}});
}
