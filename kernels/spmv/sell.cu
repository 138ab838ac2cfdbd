// Sliced ELL: 32 rows form a slice, padded to the longest of the slice alone, slot after slot; one thread per row.
//
// The loads coalesce as in ELL, and a long row costs its own slice only. Rows sorted by length within windows before
// they are sliced (parameter window) need hardly any padding; then y is written to scattered places.
#include <cuda_runtime.h>

#include "kernels/variant.h"

template <class T>
__global__ void spmv_sell(const long long* slice_ptr, const int* rows, const int* col_index, const T* data, const T* x,
                          T* y, long long slices) {
  const long long place = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long slice = place / 32;
  if (slice >= slices) return;
  const long long begin = slice_ptr[slice];
  const long long end = slice_ptr[slice + 1];
  const int row = rows[place];
  if (row < 0) return;  // beyond the last row
  T sum = 0;
  for (long long i = begin + place % 32; i < end; i += 32) {
    const int column = col_index[i];
    if (column < 0) break;  // padding stands at the end of a row
    const T value = data[i];
    const T gathered = x[column];
    sum += value * gathered;
  }
  y[row] = sum;
}

template <class T>
void launch_sell(const gpuexp::Launch& run) {
  const long long slices = gpuexp::ceil_div(run.param("rows"), 32), threads = run.param("block");
  if (threads % 32 != 0) return run.unsupported("block must be a multiple of 32: a warp takes a slice");
  run({{gpuexp::ceil_div(slices, threads / 32)}, {threads}}, spmv_sell<T>, run.in<long long>("slice_ptr"),
      run.in<int>("rows"), run.in<int>("col_index"), run.in<T>("data"), run.in<T>("x"), run.out<T>("y"), slices);
}

GPUEXP_VARIANT("spmv/sell") {
  variant.problem("spmv_sell")
      .idea("slices of 32 rows of about the same length, padded to their longest: ELL's loads without its padding")
      .param("block", 256, "threads per block, a multiple of 32", 32, 1024)
      .instance(launch_sell<float>, {{"dtype", "float32"}})
      .instance(launch_sell<double>, {{"dtype", "float64"}});
}
