// ELL: every row padded to the longest, slot after slot, so that one thread per row reads beside its neighbours.
//
// thread_per_row's simple loop with coalesced loads. It pays when rows are about as long as each other (stencils): one
// long row makes all others carry its padding. Padding has column -1 and reads no x.
#include <cuda_runtime.h>

#include "kernels/variant.h"

template <class T>
__global__ void spmv_ell(const int* col_index, const T* data, const T* x, T* y, long long rows, long long width) {
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  T sum = 0;
  for (long long k = 0; k < width; ++k) {
    const long long i = k * rows + row;
    const int column = col_index[i];
    if (column < 0) break;  // padding stands at the end of a row
    const T value = data[i];
    const T gathered = x[column];
    sum += value * gathered;
  }
  y[row] = sum;
}

template <class T>
void launch_ell(const gpuexp::Launch& run) {
  const long long rows = run.param("rows"), threads = run.param("block");
  run({{gpuexp::ceil_div(rows, threads)}, {threads}}, spmv_ell<T>, run.in<int>("col_index"), run.in<T>("data"),
      run.in<T>("x"), run.out<T>("y"), rows, run.value("width"));
}

GPUEXP_VARIANT("spmv/ell") {
  variant.problem("spmv_ell")
      .idea("rows padded to the longest and stored slot after slot: one thread per row, and every load coalesces")
      .param("block", 256, "threads per block", 1, 1024)
      .instance(launch_ell<float>, {{"dtype", "float32"}})
      .instance(launch_ell<double>, {{"dtype", "float64"}});
}
