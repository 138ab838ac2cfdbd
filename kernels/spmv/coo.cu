// One thread per nonzero of a list of coordinates: the products are added to y by atomics.
//
// Perfectly balanced whatever the rows look like, and every load of the matrix coalesces; but a nonzero takes 12 bytes
// instead of 8, y has to be cleared first, and nonzeros of one row queue for the same address. The order of additions
// differs from run to run on a GPU.
#include <cuda_runtime.h>

#include "kernels/variant.h"

template <class T>
__global__ void spmv_coo_clear(T* y, long long rows) {
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row < rows) y[row] = 0;
}

template <class T>
__global__ void spmv_coo(const int* row_index, const int* col_index, const T* data, const T* x, T* y, long long nnz) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= nnz) return;
  const int row = row_index[i];
  const int column = col_index[i];
  const T value = data[i];
  const T gathered = x[column];
  atomicAdd(&y[row], value * gathered);
}

template <class T>
void launch_coo(const gpuexp::Launch& run) {
  const long long rows = run.param("rows"), nnz = run.value("nnz"), threads = run.param("block");
  run({{gpuexp::ceil_div(rows, threads)}, {threads}}, spmv_coo_clear<T>, run.out<T>("y"), rows);
  run({{gpuexp::ceil_div(nnz, threads)}, {threads}}, spmv_coo<T>, run.in<int>("row_index"), run.in<int>("col_index"),
      run.in<T>("data"), run.in<T>("x"), run.out<T>("y"), nnz);
}

GPUEXP_VARIANT("spmv/coo") {
  variant.problem("spmv_coo")
      .idea("one thread per nonzero, products added to y by atomics: balanced by construction, but atomics queue")
      .param("block", 256, "threads per block", 1, 1024)
      .instance(launch_coo<float>, {{"dtype", "float32"}})
      .instance(launch_coo<double>, {{"dtype", "float64"}});
}
