// Forwards the cuSPARSE functions that variants use to the library, which is opened on first use.
#include "profiler/backend/cuda/gpu/cusparse.h"

#include <cusparse.h>
#include <fmt/format.h>

#include <stdexcept>

namespace gpuexp::cuda {
namespace {

// Calls the library's own function of this name; a missing library reads as "not initialised".
template <class... A>
cusparseStatus_t forward(const char* name, A... arguments) {
  const auto function = reinterpret_cast<cusparseStatus_t (*)(A...)>(cusparse_library().symbol(name));
  return function == nullptr ? CUSPARSE_STATUS_NOT_INITIALIZED : function(arguments...);
}

}  // namespace

const Library& cusparse_library() {
  // Its version is its own: CUDA 13 comes with cuSPARSE 12.
  static const Library opened({fmt::format("libcusparse.so.{}", CUSPARSE_VER_MAJOR), "libcusparse.so"});
  return opened;
}

CusparseHandle::CusparseHandle(cudaStream_t stream) {
  if (!cusparse_library().open()) throw std::runtime_error("cuSPARSE is not there: " + cusparse_library().problem());
  cusparseHandle_t handle = nullptr;
  cusparseStatus_t status = cusparseCreate(&handle);
  if (status == CUSPARSE_STATUS_SUCCESS) status = cusparseSetStream(handle, stream);
  handle_ = handle;
  if (status != CUSPARSE_STATUS_SUCCESS) {
    throw std::runtime_error(
        fmt::format("cuSPARSE ({}) could not start: status {}", cusparse_library().path(), static_cast<int>(status)));
  }
}

CusparseHandle::~CusparseHandle() {
  if (handle_ != nullptr) cusparseDestroy(static_cast<cusparseHandle_t>(handle_));
}

}  // namespace gpuexp::cuda

// Defined here under the library's names; a call from a kernel file lands here. A variant that calls another function
// of cuSPARSE adds it to this list (else the program does not link).
extern "C" {

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) { return gpuexp::cuda::forward("cusparseCreate", handle); }
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) { return gpuexp::cuda::forward("cusparseDestroy", handle); }
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
  return gpuexp::cuda::forward("cusparseSetStream", handle, stream);
}
cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t* matrix, int64_t rows, int64_t cols, int64_t nnz,
                                        const void* row_offsets, const void* columns, const void* values,
                                        cusparseIndexType_t offset_type, cusparseIndexType_t column_type,
                                        cusparseIndexBase_t base, cudaDataType value_type) {
  return gpuexp::cuda::forward("cusparseCreateConstCsr", matrix, rows, cols, nnz, row_offsets, columns, values,
                               offset_type, column_type, base, value_type);
}
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix) {
  return gpuexp::cuda::forward("cusparseDestroySpMat", matrix);
}
cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t* vector, int64_t size, const void* values,
                                          cudaDataType type) {
  return gpuexp::cuda::forward("cusparseCreateConstDnVec", vector, size, values, type);
}
cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* vector, int64_t size, void* values, cudaDataType type) {
  return gpuexp::cuda::forward("cusparseCreateDnVec", vector, size, values, type);
}
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector) {
  return gpuexp::cuda::forward("cusparseDestroyDnVec", vector);
}
cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                         cusparseConstSpMatDescr_t matrix, cusparseConstDnVecDescr_t x,
                                         const void* beta, cusparseDnVecDescr_t y, cudaDataType compute,
                                         cusparseSpMVAlg_t algorithm, size_t* bytes) {
  return gpuexp::cuda::forward("cusparseSpMV_bufferSize", handle, op, alpha, matrix, x, beta, y, compute, algorithm,
                               bytes);
}
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                         cusparseConstSpMatDescr_t matrix, cusparseConstDnVecDescr_t x,
                                         const void* beta, cusparseDnVecDescr_t y, cudaDataType compute,
                                         cusparseSpMVAlg_t algorithm, void* buffer) {
  return gpuexp::cuda::forward("cusparseSpMV_preprocess", handle, op, alpha, matrix, x, beta, y, compute, algorithm,
                               buffer);
}
cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                              cusparseConstSpMatDescr_t matrix, cusparseConstDnVecDescr_t x, const void* beta,
                              cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t algorithm, void* buffer) {
  return gpuexp::cuda::forward("cusparseSpMV", handle, op, alpha, matrix, x, beta, y, compute, algorithm, buffer);
}
}
