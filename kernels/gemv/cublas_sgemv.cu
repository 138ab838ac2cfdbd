// cuBLAS in float32: the yardstick for the float32 kernels here.
#include <cuda_runtime.h>

#include "kernels/variant.h"

#if defined(__CUDACC__)
#include "kernels/cublas.h"

void launch_sgemv(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n");
  const float *a = run.in<float>("A"), *x = run.in<float>("x");
  float* y = run.out<float>("y");
  if (m == 0) return;
  auto* stream = static_cast<cudaStream_t>(run.stream());
  const auto bytes = static_cast<size_t>(m) * sizeof(float);
  // y = A x + beta y: a bias is what y holds before. Without one, y must not be read, for it is not initialised.
  const bool bias = run.param("bias") != 0;
  const cudaError_t prepared = bias ? cudaMemcpyAsync(y, run.in<float>("bias"), bytes, cudaMemcpyDeviceToDevice, stream)
                               : n == 0 ? cudaMemsetAsync(y, 0, bytes, stream)
                                        : cudaSuccess;
  if (prepared != cudaSuccess) return run.failed("y could not be prepared", static_cast<int>(prepared));
  if (n == 0) return;
  gpuexp::cublas::submit(run, "cublasSgemv refused the call", [&](cublasHandle_t handle) {
    using namespace gpuexp::blas;
    return gpuexp::cublas::gemv(handle, gemv_call(Op::none, row_major(m, n), {n}, {m}), 1.0f, a, x, bias ? 1.0f : 0.0f,
                                y);
  });
}
#else
constexpr void (*launch_sgemv)(const gpuexp::Launch&) = nullptr;
#endif

GPUEXP_VARIANT("gemv/cublas_sgemv") {
  variant.idea("the library in float32: the yardstick for every float32 variant")
      .cuda_only("cuBLAS is a library for the GPU")
      .instance(launch_sgemv, {{"dtype", "float32"}});
}
