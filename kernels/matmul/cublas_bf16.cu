// cuBLAS on tensor cores with bfloat16 inputs, products summed in float32.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "kernels/variant.h"

#if defined(__CUDACC__)
#include <cublas_v2.h>

void launch_bf16(const gpuexp::Launch& run) {
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
  cublasStatus_t status = cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH);
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, columns, rows, terms, &one, run.in<__nv_bfloat16>("B"),
                          CUDA_R_16BF, columns, run.in<__nv_bfloat16>("A"), CUDA_R_16BF, lda, &zero,
                          run.out<float>("C"), CUDA_R_32F, columns, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  }
  if (status != CUBLAS_STATUS_SUCCESS) run.failed("cublasGemmEx refused the call", static_cast<int>(status));
}
#else
constexpr void (*launch_bf16)(const gpuexp::Launch&) = nullptr;
#endif

GPUEXP_VARIANT("matmul/cublas_bf16") {
  variant.idea("the library on tensor cores with bfloat16 inputs: the fastest product at 8 bits of precision")
      .cuda_only("cuBLAS is a library for the GPU")
      .instance(launch_bf16, {{"dtype", "bfloat16"}});
}
