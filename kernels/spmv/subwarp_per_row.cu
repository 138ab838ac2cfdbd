// THREADS_PER_ROW neighbouring lanes share one row of a CSR matrix, so that a warp takes several rows at once.
//
// The middle way between thread_per_row and warp_per_row: with about as many lanes as a row has nonzeros few of them
// idle, and the tree of shuffles is only log2(THREADS_PER_ROW) deep. A warp still lasts as long as its longest row.
#include <cuda_runtime.h>

#include "kernels/variant.h"

template <class T, class Offset, int THREADS_PER_ROW>
__global__ void spmv_subwarp_per_row(const Offset* row_ptr, const int* col_index, const T* data, const T* x, T* y,
                                     long long rows) {
  const long long row = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / THREADS_PER_ROW;
  const int lane = threadIdx.x % THREADS_PER_ROW;
  // Lanes beyond the last row stay with an empty one: the shuffles need the whole warp.
  Offset begin = 0, end = 0;
  if (row < rows) {
    begin = row_ptr[row];
    end = row_ptr[row + 1];
  }
  T sum = 0;
  for (Offset i = begin + lane; i < end; i += THREADS_PER_ROW) {
    const T value = data[i];
    const int column = col_index[i];
    const T gathered = x[column];
    sum += value * gathered;
  }
  for (int distance = THREADS_PER_ROW / 2; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, distance, THREADS_PER_ROW);
  }
  if (lane == 0 && row < rows) y[row] = sum;
}

template <class T, class Offset, int THREADS_PER_ROW>
void launch_subwarp_per_row(const gpuexp::Launch& run) {
  const long long rows = run.param("rows"), threads = run.param("block");
  if (threads % 32 != 0) return run.unsupported("block must be a multiple of 32: whole warps shuffle");
  run({{gpuexp::ceil_div(rows, threads / THREADS_PER_ROW)}, {threads}},
      spmv_subwarp_per_row<T, Offset, THREADS_PER_ROW>, run.in<Offset>("row_ptr"), run.in<int>("col_index"),
      run.in<T>("data"), run.in<T>("x"), run.out<T>("y"), rows);
}

template <int N>
void add_threads_per_row(gpuexp::VariantBuilder& variant) {
  variant
      .instance(launch_subwarp_per_row<float, int, N>,
                {{"THREADS_PER_ROW", N}, {"dtype", "float32"}, {"row_ptr", "int32"}})
      .instance(launch_subwarp_per_row<float, long long, N>,
                {{"THREADS_PER_ROW", N}, {"dtype", "float32"}, {"row_ptr", "int64"}})
      .instance(launch_subwarp_per_row<double, int, N>,
                {{"THREADS_PER_ROW", N}, {"dtype", "float64"}, {"row_ptr", "int32"}})
      .instance(launch_subwarp_per_row<double, long long, N>,
                {{"THREADS_PER_ROW", N}, {"dtype", "float64"}, {"row_ptr", "int64"}});
}

GPUEXP_VARIANT("spmv/subwarp_per_row") {
  variant.idea("a few neighbouring lanes per row of a CSR matrix: as many as its rows have nonzeros, so that few idle")
      .fixed("THREADS_PER_ROW", {"THREADS_PER_ROW", 8}, "lanes that share a row")
      .param("block", 256, "threads per block, a multiple of 32", 32, 1024);
  add_threads_per_row<2>(variant);
  add_threads_per_row<4>(variant);
  add_threads_per_row<8>(variant);
  add_threads_per_row<16>(variant);
  add_threads_per_row<32>(variant);
}
