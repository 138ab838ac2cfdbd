// cuSPARSE on CSR: the yardstick for every variant here.
//
// The library looks at the matrix once (cusparseSpMV_preprocess) and keeps what it found in a work area; products with
// the same matrix then use it. That is prepared before the timed runs and not part of them, as grouping, padding and
// slicing are not for the other variants; the report says how long it took.
#include <cuda_runtime.h>

#include "kernels/variant.h"

#if defined(__CUDACC__)
#include <cusparse.h>

struct Product {
  cusparseHandle_t library = nullptr;
  cusparseConstSpMatDescr_t matrix = nullptr;
  cusparseConstDnVecDescr_t x = nullptr;
  cusparseDnVecDescr_t y = nullptr;
  void* work_area = nullptr;
};

template <class T>
constexpr cudaDataType value_type = sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_64F;
template <class Offset>
constexpr cusparseIndexType_t offset_type = sizeof(Offset) == 4 ? CUSPARSE_INDEX_32I : CUSPARSE_INDEX_64I;
constexpr cusparseSpMVAlg_t algorithm = CUSPARSE_SPMV_ALG_DEFAULT;

void destroy_product(void* state) {
  auto* product = static_cast<Product*>(state);
  if (product->matrix != nullptr) cusparseDestroySpMat(product->matrix);
  if (product->x != nullptr) cusparseDestroyDnVec(product->x);
  if (product->y != nullptr) cusparseDestroyDnVec(product->y);
  if (product->work_area != nullptr) cudaFree(product->work_area);
  delete product;
}

void refused(const gpuexp::Launch& run, const char* what, cusparseStatus_t status) {
  if (status == CUSPARSE_STATUS_NOT_SUPPORTED) return run.unsupported("cuSPARSE does not support these types");
  run.failed(what, static_cast<int>(status));
}

template <class T, class Offset>
void* make_product(const gpuexp::Launch& run) {
  auto* handle = static_cast<cusparseHandle_t>(run.library("cusparse"));
  if (handle == nullptr) return nullptr;
  const long long rows = run.param("rows"), cols = run.param("cols"), nonzeros = run.value("nnz");
  const T one = 1, zero = 0;
  auto* product = new Product;
  product->library = handle;
  size_t bytes = 0;
  cusparseStatus_t status = cusparseCreateConstCsr(&product->matrix, rows, cols, nonzeros, run.in<Offset>("row_ptr"),
                                                   run.in<int>("col_index"), run.in<T>("data"), offset_type<Offset>,
                                                   CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, value_type<T>);
  if (status == CUSPARSE_STATUS_SUCCESS)
    status = cusparseCreateConstDnVec(&product->x, cols, run.in<T>("x"), value_type<T>);
  if (status == CUSPARSE_STATUS_SUCCESS)
    status = cusparseCreateDnVec(&product->y, rows, run.out<T>("y"), value_type<T>);
  if (status == CUSPARSE_STATUS_SUCCESS)
    status = cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, product->matrix, product->x, &zero,
                                     product->y, value_type<T>, algorithm, &bytes);
  const bool sized = status == CUSPARSE_STATUS_SUCCESS;
  const cudaError_t allocated = sized && bytes > 0 ? cudaMalloc(&product->work_area, bytes) : cudaSuccess;
  if (sized && allocated == cudaSuccess)
    status = cusparseSpMV_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, product->matrix, product->x, &zero,
                                     product->y, value_type<T>, algorithm, product->work_area);
  if (status == CUSPARSE_STATUS_SUCCESS && allocated == cudaSuccess) return product;
  if (allocated != cudaSuccess) {
    run.failed("no memory for cuSPARSE's work area", static_cast<int>(allocated));
  } else {
    refused(run, "cuSPARSE refused to prepare the product", status);
  }
  destroy_product(product);
  return nullptr;
}

template <class T, class Offset>
void launch_cusparse(const gpuexp::Launch& run) {
  const long long rows = run.param("rows");
  T* y = run.out<T>("y");
  if (rows == 0) return;
  if (run.value("nnz") == 0) {  // nothing that the library would have to look at
    const cudaError_t cleared =
        cudaMemsetAsync(y, 0, static_cast<size_t>(rows) * sizeof(T), static_cast<cudaStream_t>(run.stream()));
    if (cleared != cudaSuccess) run.failed("y could not be cleared", static_cast<int>(cleared));
    return;
  }
  const auto* product = static_cast<const Product*>(run.prepared(make_product<T, Offset>, destroy_product));
  if (product == nullptr) return;
  const T one = 1, zero = 0;
  const cusparseStatus_t status =
      cusparseSpMV(product->library, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, product->matrix, product->x, &zero,
                   product->y, value_type<T>, algorithm, product->work_area);
  if (status != CUSPARSE_STATUS_SUCCESS) refused(run, "cusparseSpMV refused the call", status);
}
#else
template <class T, class Offset>
constexpr void (*launch_cusparse)(const gpuexp::Launch&) = nullptr;
#endif

GPUEXP_VARIANT("spmv/cusparse") {
  variant.idea("the library on CSR, prepared for the matrix beforehand: the yardstick for every variant")
      .cuda_only("cuSPARSE is a library for the GPU")
      .instance(launch_cusparse<float, int>, {{"dtype", "float32"}, {"row_ptr", "int32"}})
      .instance(launch_cusparse<float, long long>, {{"dtype", "float32"}, {"row_ptr", "int64"}})
      .instance(launch_cusparse<double, int>, {{"dtype", "float64"}, {"row_ptr", "int32"}})
      .instance(launch_cusparse<double, long long>, {{"dtype", "float64"}, {"row_ptr", "int64"}});
}
