// cuBLAS in float32: the yardstick for the float32 kernels here.
#include <cuda_runtime.h>

#include "kernels/variant.h"

#if defined(__CUDACC__)
#include <cublas_v2.h>

void launch_sgemv(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n");
  const long long most = 2147483647;  // cuBLAS sizes are int
  if (m > most || n > most) return run.unsupported("cuBLAS takes sizes below 2^31");
  auto* handle = static_cast<cublasHandle_t>(run.library("cublas"));
  if (handle == nullptr || m == 0) return;
  auto* stream = static_cast<cudaStream_t>(run.stream());
  float* y = run.out<float>("y");
  const auto bytes = static_cast<size_t>(m) * sizeof(float);
  // y = A x + beta y: a bias is what y holds before. Without one, y must not be read, for it is not initialised.
  const bool bias = run.param("bias") != 0;
  const cudaError_t prepared = bias ? cudaMemcpyAsync(y, run.in<float>("bias"), bytes, cudaMemcpyDeviceToDevice, stream)
                               : n == 0 ? cudaMemsetAsync(y, 0, bytes, stream)
                                        : cudaSuccess;
  if (prepared != cudaSuccess) return run.failed("y could not be prepared", static_cast<int>(prepared));
  if (n == 0) return;
  // cuBLAS reads matrices by columns: our row-major A[m,n] is its A^T[n,m] with columns of n elements, so it
  // transposes.
  const float one = 1.0f, beta = bias ? 1.0f : 0.0f;
  const int terms = static_cast<int>(n), rows = static_cast<int>(m);
  cublasStatus_t status = cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH);
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasSgemv(handle, CUBLAS_OP_T, terms, rows, &one, run.in<float>("A"), terms, run.in<float>("x"), 1,
                         &beta, y, 1);
  }
  if (status != CUBLAS_STATUS_SUCCESS) run.failed("cublasSgemv refused the call", static_cast<int>(status));
}
#else
constexpr void (*launch_sgemv)(const gpuexp::Launch&) = nullptr;
#endif

GPUEXP_VARIANT("gemv/cublas_sgemv") {
  variant.idea("the library in float32: the yardstick for every float32 variant")
      .cuda_only("cuBLAS is a library for the GPU")
      .instance(launch_sgemv, {{"dtype", "float32"}});
}
