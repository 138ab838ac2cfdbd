// The rows of C one by one, each a vector times the matrix B: a batch of m vectors that is not batched.
//
// Every row of C reads all of B again: never more than 0.25 FLOP per loaded byte, however many rows there are. A warp
// takes 32 neighbouring columns, so that loads of B coalesce; the warps of a block share the terms of the sums among
// them. The blocks of one row come before those of the next, as with m launches but without their overhead.
#include <cuda_runtime.h>

#include "kernels/variant.h"

constexpr int COLUMNS = 32;

__global__ void matmul_rows_gemv(const float* A, const float* B, float* C, long long n, long long k) {
  __shared__ float sums[32][COLUMNS];
  const long long row = blockIdx.y, column = static_cast<long long>(blockIdx.x) * COLUMNS + threadIdx.x;
  const int warps = static_cast<int>(blockDim.y);
  const float* x = A + row * k;
  float sum = 0.0f;
  if (column < n) {
    for (long long i = threadIdx.y; i < k; i += warps) {
      const float a = x[i];
      const float b = B[i * n + column];
      sum += a * b;
    }
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= n) return;
  float total = 0.0f;
  for (int warp = 0; warp < warps; ++warp) total += sums[warp][threadIdx.x];
  C[row * n + column] = total;
}

void launch_rows_gemv(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n");
  if (m > 65535) return run.unsupported("rows lie along the grid's y: 65,535 at most");
  run({{gpuexp::ceil_div(n, COLUMNS), m}, {COLUMNS, run.param("warps")}}, matmul_rows_gemv, run.in<float>("A"),
      run.in<float>("B"), run.out<float>("C"), n, run.param("k"));
}

GPUEXP_VARIANT("matmul/rows_gemv") {
  variant.idea("m vector-matrix products, one per row of A: every one reads the whole of B")
      .param("warps", 32, "warps per block, which share the terms of 32 sums", 1, 32)
      .instance(launch_rows_gemv, {{"dtype", "float32"}});
}
