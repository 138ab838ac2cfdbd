// How kernel files call cuBLAS, in their part for the GPU: BLAS calls with the arguments that profiler/blas works out
// from matrices as they lie in memory. Beside variant.h the only header of ours that a kernel file may include.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include "kernels/variant.h"
#include "profiler/blas/blas_call.h"
#include "profiler/core/error.h"

namespace gpuexp::cublas {

// What products are formed in. Sums and C are float32 throughout.
enum class Math {
  float32,   // CUDA cores; not even TF32 by default, whatever the environment asks (NVIDIA_TF32_OVERRIDE)
  tf32,      // tensor cores, float32 inputs rounded to TF32
  bfloat16,  // tensor cores, bfloat16 inputs
};

inline cublasOperation_t operation(blas::Op op) { return op == blas::Op::none ? CUBLAS_OP_N : CUBLAS_OP_T; }

// The wrappers: column-major, with the pointers of the request (of its A, B, C, whichever comes first in the call).
// Each refuses wrong arguments before the call, by throwing what blas::check throws.

// C = alpha op(A) op(B) + beta C. A and B point to elements of the type that `math` takes.
inline cublasStatus_t gemm(cublasHandle_t handle, Math math, const blas::GemmCall& call, float alpha, const void* a,
                           const void* b, float beta, float* c) {
  blas::check(call);
  const size_t element = math == Math::bfloat16 ? 2 : 4;
  const char* first = static_cast<const char*>(call.swapped ? b : a) + static_cast<size_t>(call.a_offset) * element;
  const char* second = static_cast<const char*>(call.swapped ? a : b) + static_cast<size_t>(call.b_offset) * element;
  const int m = static_cast<int>(call.m), n = static_cast<int>(call.n), k = static_cast<int>(call.k);
  const int lda = static_cast<int>(call.lda), ldb = static_cast<int>(call.ldb), ldc = static_cast<int>(call.ldc);
  const cublasOperation_t transa = operation(call.transa), transb = operation(call.transb);
  const cublasStatus_t set = cublasSetMathMode(handle, math == Math::float32 ? CUBLAS_PEDANTIC_MATH
                                                       : math == Math::tf32  ? CUBLAS_TF32_TENSOR_OP_MATH
                                                                             : CUBLAS_DEFAULT_MATH);
  if (set != CUBLAS_STATUS_SUCCESS) return set;
  if (math == Math::float32) {
    return cublasSgemm(handle, transa, transb, m, n, k, &alpha, reinterpret_cast<const float*>(first), lda,
                       reinterpret_cast<const float*>(second), ldb, &beta, c + call.c_offset, ldc);
  }
  const cudaDataType_t input = math == Math::bfloat16 ? CUDA_R_16BF : CUDA_R_32F;
  const cublasComputeType_t compute = math == Math::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  return cublasGemmEx(handle, transa, transb, m, n, k, &alpha, first, input, lda, second, input, ldb, &beta,
                      c + call.c_offset, CUDA_R_32F, ldc, compute, CUBLAS_GEMM_DEFAULT);
}

// y = alpha op(A) x + beta y.
inline cublasStatus_t gemv(cublasHandle_t handle, const blas::GemvCall& call, float alpha, const float* a,
                           const float* x, float beta, float* y) {
  blas::check(call);
  const cublasStatus_t set = cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH);
  if (set != CUBLAS_STATUS_SUCCESS) return set;
  return cublasSgemv(handle, operation(call.trans), static_cast<int>(call.m), static_cast<int>(call.n), &alpha,
                     a + call.a_offset, static_cast<int>(call.lda), x + call.x_offset, static_cast<int>(call.incx),
                     &beta, y + call.y_offset, static_cast<int>(call.incy));
}

// *result = x . y; `result` lies on the host, and the call waits for it.
inline cublasStatus_t dot(cublasHandle_t handle, const blas::DotCall& call, const float* x, const float* y,
                          float* result) {
  blas::check(call);
  return cublasSdot(handle, static_cast<int>(call.n), x + call.x_offset, static_cast<int>(call.incx), y + call.y_offset,
                    static_cast<int>(call.incy), result);
}

// Calls `work(handle)`, which returns a status of cuBLAS. What the library or blas::check refuses ends the point.
template <class Work>
void submit(const Launch& run, const char* function, const Work& work) {
  auto* handle = static_cast<cublasHandle_t>(run.library("cublas"));
  if (handle == nullptr) return;
  try {
    const cublasStatus_t status = work(handle);
    if (status != CUBLAS_STATUS_SUCCESS) run.failed(function, static_cast<int>(status));
  } catch (const Error& error) {
    run.unsupported(error.what());
  }
}

// The product of the problem matmul: C[m,n] = A[m,k] B[k,n], all row-major. T: the element type that `math` takes.
template <class T>
void multiply(const Launch& run, Math math) {
  const long long m = run.param("m"), n = run.param("n"), k = run.param("k");
  const T *a = run.in<T>("A"), *b = run.in<T>("B");
  float* c = run.out<float>("C");
  if (m == 0 || n == 0) return;
  submit(run, "cuBLAS refused the product", [&](cublasHandle_t handle) {
    const blas::GemmCall call = blas::gemm_call(blas::Op::none, blas::row_major(m, k), blas::Op::none,
                                                blas::row_major(k, n), blas::row_major(m, n));
    return gemm(handle, math, call, 1.0f, a, b, 0.0f, c);
  });
}

}  // namespace gpuexp::cublas
