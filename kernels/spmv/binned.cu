// Rows grouped by length, one launch per group, each with as many lanes per row as its rows can use.
//
// What libraries do with uneven matrices: rows of a warp are about as long as each other, so that no lane waits for a
// long neighbour, and a row of thousands of nonzeros gets a whole block. The host groups the rows beforehand (problem
// spmv_binned); a list of row numbers is the price, 4 bytes a row, and rows of one warp no longer lie side by side.
// Groups: empty rows; 1-3 nonzeros: 1 lane; 4-7: 2; 8-15: 4; 16-31: 8; 32-63: 16; 64-1023: a warp; more: a block.
#include <cuda_runtime.h>

#include "kernels/variant.h"

template <class T>
__global__ void spmv_binned_empty(const int* rows, T* y, long long count) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int row = rows[i];
  y[row] = 0;
}

template <class T, class Offset, int LANES>
__global__ void spmv_binned_lanes(const int* rows, const Offset* row_ptr, const int* col_index, const T* data,
                                  const T* x, T* y, long long count) {
  const long long place = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / LANES;
  const int lane = threadIdx.x % LANES;
  int row = 0;
  Offset begin = 0, end = 0;
  if (place < count) {
    row = rows[place];
    begin = row_ptr[row];
    end = row_ptr[row + 1];
  }
  T sum = 0;
  for (Offset i = begin + lane; i < end; i += LANES) {
    const T value = data[i];
    const int column = col_index[i];
    const T gathered = x[column];
    sum += value * gathered;
  }
  for (int distance = LANES / 2; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, distance, LANES);
  }
  if (lane == 0 && place < count) y[row] = sum;
}

template <class T, class Offset>
__global__ void spmv_binned_block(const int* rows, const Offset* row_ptr, const int* col_index, const T* data,
                                  const T* x, T* y) {
  __shared__ T warp_sums[32];
  const int row = rows[blockIdx.x];
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

// One group: rows[begin .. end-1].
template <class T, class Offset, int LANES>
void launch_group(const gpuexp::Launch& run, long long group, long long threads) {
  const long long begin = run.value("bin_begin", group), count = run.value("bin_begin", group + 1) - begin;
  run({{gpuexp::ceil_div(count, threads / LANES)}, {threads}}, spmv_binned_lanes<T, Offset, LANES>,
      run.in<int>("rows") + begin, run.in<Offset>("row_ptr"), run.in<int>("col_index"), run.in<T>("data"),
      run.in<T>("x"), run.out<T>("y"), count);
}

template <class T, class Offset>
void launch_binned(const gpuexp::Launch& run) {
  const long long threads = run.param("block");
  if (threads % 32 != 0) return run.unsupported("block must be a multiple of 32: whole warps shuffle");
  const long long empty = run.value("bin_begin", 1);
  run({{gpuexp::ceil_div(empty, threads)}, {threads}}, spmv_binned_empty<T>, run.in<int>("rows"), run.out<T>("y"),
      empty);
  launch_group<T, Offset, 1>(run, 1, threads);
  launch_group<T, Offset, 2>(run, 2, threads);
  launch_group<T, Offset, 4>(run, 3, threads);
  launch_group<T, Offset, 8>(run, 4, threads);
  launch_group<T, Offset, 16>(run, 5, threads);
  launch_group<T, Offset, 32>(run, 6, threads);
  const long long begin = run.value("bin_begin", 7), longest = run.value("bin_begin", 8) - begin;
  run({{longest}, {threads}}, spmv_binned_block<T, Offset>, run.in<int>("rows") + begin, run.in<Offset>("row_ptr"),
      run.in<int>("col_index"), run.in<T>("data"), run.in<T>("x"), run.out<T>("y"));
}

GPUEXP_VARIANT("spmv/binned") {
  variant.problem("spmv_binned")
      .idea("rows grouped by length on the host, one launch per group with as many lanes per row as it can use")
      .param("block", 256, "threads per block, a multiple of 32", 32, 1024)
      .instance(launch_binned<float, int>, {{"dtype", "float32"}, {"row_ptr", "int32"}})
      .instance(launch_binned<float, long long>, {{"dtype", "float32"}, {"row_ptr", "int64"}})
      .instance(launch_binned<double, int>, {{"dtype", "float64"}, {"row_ptr", "int32"}})
      .instance(launch_binned<double, long long>, {{"dtype", "float64"}, {"row_ptr", "int64"}});
}
