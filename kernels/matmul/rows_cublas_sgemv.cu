// The rows of C one by one, each a product of a row of A and B by cuBLAS: a batch of m vectors that is not batched.
//
// The matrix B is read m times, from the L2 cache where it fits.
#include <cuda_runtime.h>

#include "kernels/variant.h"

#if defined(__CUDACC__)
#include "kernels/cublas.h"

void launch_rows_sgemv(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), k = run.param("k");
  const float *a = run.in<float>("A"), *b = run.in<float>("B");
  float* c = run.out<float>("C");
  if (m == 0 || n == 0) return;
  if (k == 0) return run.unsupported("BLAS leaves y as it is when the matrix has no columns");
  gpuexp::cublas::submit(run, "cublasSgemv refused the call", [&](cublasHandle_t handle) {
    using namespace gpuexp::blas;
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    for (long long row = 0; row < m && status == CUBLAS_STATUS_SUCCESS; ++row) {
      const GemvCall call =
          gemv_call(Op::transpose, row_major(k, n), row_of(row_major(m, k), row), row_of(row_major(m, n), row));
      status = gpuexp::cublas::gemv(handle, call, 1.0f, b, a, 0.0f, c);
    }
    return status;
  });
}
#else
constexpr void (*launch_rows_sgemv)(const gpuexp::Launch&) = nullptr;
#endif

GPUEXP_VARIANT("matmul/rows_cublas_sgemv") {
  variant.idea("m vector-matrix products by the library, one per row of A: what one matrix product must beat")
      .cuda_only("cuBLAS is a library for the GPU")
      .instance(launch_rows_sgemv, {{"dtype", "float32"}});
}
