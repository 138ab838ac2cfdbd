// One thread multiplies one row of a CSR matrix: the lecture's kernel.
//
// Neighbouring threads read nonzeros that lie a whole row apart, so that a warp's load touches up to 32 sectors and
// uses one element of each; and a warp lasts as long as its longest row, while the lanes of shorter rows idle. Good for
// very short rows of even length. Any matrix; an empty row's loop does not run.
#include <cuda_runtime.h>

#include "kernels/variant.h"

template <class T, class Offset>
__global__ void spmv_thread_per_row(const Offset* row_ptr, const int* col_index, const T* data, const T* x, T* y,
                                    long long rows) {
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const Offset begin = row_ptr[row];
  const Offset end = row_ptr[row + 1];
  T sum = 0;
  for (Offset i = begin; i < end; ++i) {
    const T value = data[i];
    const int column = col_index[i];
    const T gathered = x[column];
    sum += value * gathered;
  }
  y[row] = sum;
}

template <class T, class Offset>
void launch_thread_per_row(const gpuexp::Launch& run) {
  const long long rows = run.param("rows"), threads = run.param("block");
  run({{gpuexp::ceil_div(rows, threads)}, {threads}}, spmv_thread_per_row<T, Offset>, run.in<Offset>("row_ptr"),
      run.in<int>("col_index"), run.in<T>("data"), run.in<T>("x"), run.out<T>("y"), rows);
}

GPUEXP_VARIANT("spmv/thread_per_row") {
  variant.idea("one thread per row of a CSR matrix: nothing to reduce, but loads scatter and short rows wait for long")
      .param("block", 256, "threads per block", 1, 1024)
      .instance(launch_thread_per_row<float, int>, {{"dtype", "float32"}, {"row_ptr", "int32"}})
      .instance(launch_thread_per_row<float, long long>, {{"dtype", "float32"}, {"row_ptr", "int64"}})
      .instance(launch_thread_per_row<double, int>, {{"dtype", "float64"}, {"row_ptr", "int32"}})
      .instance(launch_thread_per_row<double, long long>, {{"dtype", "float64"}, {"row_ptr", "int64"}});
}
