// A whole block shares one row of a CSR matrix: warps add their sums in shuffles, then through shared memory.
//
// For rows of thousands of nonzeros, of which one warp alone would keep too few loads under way. On short rows nearly
// all threads idle, and every row pays two barriers.
#include <cuda_runtime.h>

#include "kernels/variant.h"

template <class T, class Offset>
__global__ void spmv_block_per_row(const Offset* row_ptr, const int* col_index, const T* data, const T* x, T* y) {
  __shared__ T warp_sums[32];
  const long long row = blockIdx.x;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Offset begin = row_ptr[row];
  const Offset end = row_ptr[row + 1];
  T sum = 0;
  for (Offset i = begin + static_cast<Offset>(threadIdx.x); i < end; i += static_cast<Offset>(blockDim.x)) {
    const T value = data[i];
    const int column = col_index[i];
    const T gathered = x[column];
    sum += value * gathered;
  }
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane == 0) warp_sums[warp] = sum;
  __syncthreads();
  if (warp != 0) return;
  const int warps = static_cast<int>(blockDim.x) / 32;
  T total = 0;
  if (lane < warps) total = warp_sums[lane];
  for (int distance = 16; distance > 0; distance /= 2) total += __shfl_down_sync(0xffffffffu, total, distance);
  if (lane == 0) y[row] = total;
}

template <class T, class Offset>
void launch_block_per_row(const gpuexp::Launch& run) {
  const long long rows = run.param("rows"), threads = run.param("block");
  if (threads % 32 != 0) return run.unsupported("block must be a multiple of 32: whole warps shuffle");
  run({{rows}, {threads}}, spmv_block_per_row<T, Offset>, run.in<Offset>("row_ptr"), run.in<int>("col_index"),
      run.in<T>("data"), run.in<T>("x"), run.out<T>("y"));
}

GPUEXP_VARIANT("spmv/block_per_row") {
  variant.idea("one block per row of a CSR matrix: for rows so long that one warp keeps too few loads under way")
      .param("block", 256, "threads per block, a multiple of 32", 32, 1024)
      .instance(launch_block_per_row<float, int>, {{"dtype", "float32"}, {"row_ptr", "int32"}})
      .instance(launch_block_per_row<float, long long>, {{"dtype", "float32"}, {"row_ptr", "int64"}})
      .instance(launch_block_per_row<double, int>, {{"dtype", "float64"}, {"row_ptr", "int32"}})
      .instance(launch_block_per_row<double, long long>, {{"dtype", "float64"}, {"row_ptr", "int64"}});
}
