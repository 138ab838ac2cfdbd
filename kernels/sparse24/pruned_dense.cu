// The pruned weights as an ordinary dense float16 matrix, zeros and all: what packing is measured against.
//
// One warp per row, the plain mapping of gemv/warp_per_row: 16 bits a weight are read and half of the products are
// zero.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/variant.h"

__global__ void sparse24_pruned_dense(const __half* W, const float* x, float* y, long long m, long long n) {
  const long long row = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= m) return;  // all lanes of a warp have the same row
  const __half* row_w = W + row * n;
  float sum = 0.0f;
  for (long long col = lane; col < n; col += 32) {
    const float w = __half2float(row_w[col]);
    const float b = x[col];
    sum += w * b;
  }
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane == 0) y[row] = sum;
}

void launch_pruned_dense(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), threads = run.param("block");
  if (threads % 32 != 0) return run.unsupported("block must be a multiple of 32: a warp takes a row");
  run({{gpuexp::ceil_div(m, threads / 32)}, {threads}}, sparse24_pruned_dense, run.in<__half>("W"), run.in<float>("x"),
      run.out<float>("y"), m, n);
}

GPUEXP_VARIANT("sparse24/pruned_dense") {
  variant.problem("sparse24_dense")
      .idea("the pruned weights stored densely, zeros and all: the yardstick of the packed form")
      .param("block", 256, "threads per block, a multiple of 32", 32, 1024)
      .instance(launch_pruned_dense, {{"dtype", "float16"}});
}
