// Forwards the cuBLAS functions that variants use to the library, which is opened on first use.
#include "profiler/backend/cuda/gpu/cublas.h"

#include <cublas_v2.h>
#include <fmt/format.h>

#include <stdexcept>

#include "profiler/backend/cuda/gpu/library.h"

namespace gpuexp::cuda {
namespace {

const Library& cublas_library() {
  static const Library opened({fmt::format("libcublas.so.{}", CUDART_VERSION / 1000), "libcublas.so"});
  return opened;
}

// Calls the library's own function of this name; a missing library reads as "not initialised".
template <class... A>
cublasStatus_t forward(const char* name, A... arguments) {
  const auto function = reinterpret_cast<cublasStatus_t (*)(A...)>(cublas_library().symbol(name));
  return function == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : function(arguments...);
}

}  // namespace

CublasHandle::CublasHandle(cudaStream_t stream) {
  if (!cublas_library().open()) throw std::runtime_error("cuBLAS is not there: " + cublas_library().problem());
  cublasHandle_t handle = nullptr;
  cublasStatus_t status = cublasCreate_v2(&handle);
  if (status == CUBLAS_STATUS_SUCCESS) status = cublasSetStream_v2(handle, stream);
  handle_ = handle;
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error(
        fmt::format("cuBLAS ({}) could not start: status {}", cublas_library().path(), static_cast<int>(status)));
  }
}

CublasHandle::~CublasHandle() {
  if (handle_ != nullptr) cublasDestroy_v2(static_cast<cublasHandle_t>(handle_));
}

}  // namespace gpuexp::cuda

// Defined here under the library's names; a call from a kernel file lands here. A variant that calls another function
// of cuBLAS adds it to this list (else the program does not link).
extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) { return gpuexp::cuda::forward("cublasCreate_v2", handle); }
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) { return gpuexp::cuda::forward("cublasDestroy_v2", handle); }
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return gpuexp::cuda::forward("cublasSetStream_v2", handle, stream);
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return gpuexp::cuda::forward("cublasSetMathMode", handle, mode);
}
cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                              int k, const float* alpha, const float* A, int lda, const float* B, int ldb,
                              const float* beta, float* C, int ldc) {
  return gpuexp::cuda::forward("cublasSgemm_v2", handle, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
cublasStatus_t cublasSgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const float* alpha,
                              const float* A, int lda, const float* x, int incx, const float* beta, float* y,
                              int incy) {
  return gpuexp::cuda::forward("cublasSgemv_v2", handle, trans, m, n, alpha, A, lda, x, incx, beta, y, incy);
}
cublasStatus_t cublasSdot_v2(cublasHandle_t handle, int n, const float* x, int incx, const float* y, int incy,
                             float* result) {
  return gpuexp::cuda::forward("cublasSdot_v2", handle, n, x, incx, y, incy, result);
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void* alpha, const void* A, cudaDataType Atype, int lda, const void* B,
                            cudaDataType Btype, int ldb, const void* beta, void* C, cudaDataType Ctype, int ldc,
                            cublasComputeType_t computeType, cublasGemmAlgo_t algo) {
  return gpuexp::cuda::forward("cublasGemmEx", handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb,
                               beta, C, Ctype, ldc, computeType, algo);
}
}
