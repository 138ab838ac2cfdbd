// cuBLAS on tensor cores with TF32 inputs: 8 exponent and 10 fraction bits, products summed in float32.
//
// The inputs of dtype tf32 are float32 values that TF32 holds exactly, so that the result can be checked as tightly as
// that of float32.
#include <cuda_runtime.h>

#include "kernels/variant.h"

#if defined(__CUDACC__)
#include <cublas_v2.h>

void launch_tf32(const gpuexp::Launch& run) {
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
  cublasStatus_t status = cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, columns, rows, terms, &one, run.in<float>("B"), CUDA_R_32F,
                          columns, run.in<float>("A"), CUDA_R_32F, lda, &zero, run.out<float>("C"), CUDA_R_32F, columns,
                          CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT);
  }
  if (status != CUBLAS_STATUS_SUCCESS) run.failed("cublasGemmEx refused the call", static_cast<int>(status));
}
#else
constexpr void (*launch_tf32)(const gpuexp::Launch&) = nullptr;
#endif

GPUEXP_VARIANT("matmul/cublas_tf32") {
  variant.idea("the library on tensor cores, inputs rounded to TF32: what float32 data can reach at best")
      .cuda_only("cuBLAS is a library for the GPU")
      .instance(launch_tf32, {{"dtype", "tf32"}});
}
