// The 32 lanes of a warp share one row of a CSR matrix and add their partial sums in a tree of five shuffles.
//
// A warp's load reads 32 neighbouring nonzeros: 8 times fewer sectors of the matrix than thread_per_row for float32.
// The price is instructions: five shuffles and their additions for every row, and of a row of 8 nonzeros 24 lanes read
// nothing. The gather of x stays as scattered as the columns are.
#include <cuda_runtime.h>

#include "kernels/variant.h"

template <class T, class Offset>
__global__ void spmv_warp_per_row(const Offset* row_ptr, const int* col_index, const T* data, const T* x, T* y,
                                  long long rows) {
  const long long row = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;  // all lanes of a warp have the same row
  const Offset begin = row_ptr[row];
  const Offset end = row_ptr[row + 1];
  T sum = 0;
  for (Offset i = begin + lane; i < end; i += 32) {
    const T value = data[i];
    const int column = col_index[i];
    const T gathered = x[column];
    sum += value * gathered;
  }
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane == 0) y[row] = sum;
}

template <class T, class Offset>
void launch_warp_per_row(const gpuexp::Launch& run) {
  const long long rows = run.param("rows"), threads = run.param("block");
  if (threads % 32 != 0) return run.unsupported("block must be a multiple of 32: a warp takes a row");
  run({{gpuexp::ceil_div(rows, threads / 32)}, {threads}}, spmv_warp_per_row<T, Offset>, run.in<Offset>("row_ptr"),
      run.in<int>("col_index"), run.in<T>("data"), run.in<T>("x"), run.out<T>("y"), rows);
}

GPUEXP_VARIANT("spmv/warp_per_row") {
  variant
      .idea("one warp per row of a CSR matrix: its nonzeros are read side by side, at the price of a tree of shuffles")
      .param("block", 256, "threads per block, a multiple of 32", 32, 1024)
      .instance(launch_warp_per_row<float, int>, {{"dtype", "float32"}, {"row_ptr", "int32"}})
      .instance(launch_warp_per_row<float, long long>, {{"dtype", "float32"}, {"row_ptr", "int64"}})
      .instance(launch_warp_per_row<double, int>, {{"dtype", "float64"}, {"row_ptr", "int32"}})
      .instance(launch_warp_per_row<double, long long>, {{"dtype", "float64"}, {"row_ptr", "int64"}});
}
