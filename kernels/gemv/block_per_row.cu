// A block computes one element of y: the lecture's kernel. Threads stride along the row, then the block adds their
// sums.
//
// All loads of A and x coalesce, and a row of thousands of elements keeps a whole block's loads under way. The block's
// sum costs shuffles, shared memory and two barriers a row; a row shorter than the block leaves threads idle. More rows
// than blocks (max_blocks) are taken in turns.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/variant.h"

__device__ inline float as_float(float v) { return v; }
__device__ inline float as_float(__half v) { return __half2float(v); }
__device__ inline float as_float(__nv_bfloat16 v) { return __bfloat162float(v); }

// The sum of `value` over the block, valid in thread 0. Warps add in shuffles, then the first warp adds their sums.
// Every thread of the block must call it; warp_sums may be used again after the call.
__device__ inline float block_sum(float value, float* warp_sums) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffffu, value, distance);
  if (lane == 0) warp_sums[warp] = value;
  __syncthreads();
  float total = 0.0f;
  if (warp == 0) {
    const int warps = static_cast<int>(blockDim.x) / 32;
    if (lane < warps) total = warp_sums[lane];
    for (int distance = 16; distance > 0; distance /= 2) total += __shfl_down_sync(0xffffffffu, total, distance);
  }
  __syncthreads();  // nobody writes warp_sums for the next row before the first warp has read them
  return total;
}

template <class T>
__global__ void gemv_block_per_row(const T* A, const float* x, const float* bias, float* y, long long m, long long n) {
  __shared__ float warp_sums[32];
  for (long long row = blockIdx.x; row < m; row += gridDim.x) {
    const T* row_a = A + row * n;
    float local_sum = 0.0f;
    for (long long col = threadIdx.x; col < n; col += blockDim.x) {
      const float a = as_float(row_a[col]);
      const float b = x[col];
      local_sum += a * b;
    }
    float sum = block_sum(local_sum, warp_sums);
    if (threadIdx.x == 0) {
      if (bias != nullptr) sum += bias[row];
      y[row] = sum;
    }
  }
}

template <class T>
void launch_block_per_row(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), threads = run.param("block");
  const long long most = run.param("max_blocks"), blocks = m < most ? m : most;
  if (threads % 32 != 0) return run.unsupported("block must be a multiple of 32: whole warps shuffle");
  const float* bias = run.param("bias") != 0 ? run.in<float>("bias") : nullptr;
  run({{blocks}, {threads}}, gemv_block_per_row<T>, run.in<T>("A"), run.in<float>("x"), bias, run.out<float>("y"), m,
      n);
}

GPUEXP_VARIANT("gemv/block_per_row") {
  variant.idea("one block per row: coalesced loads, many of them under way, and a sum in shuffles and shared memory")
      .param("block", 256, "threads per block, a multiple of 32", 32, 1024)
      .param("max_blocks", 2147483647, "blocks at most; they take further rows in turns", 1, 2147483647)
      .instance(launch_block_per_row<float>, {{"dtype", "float32"}})
      .instance(launch_block_per_row<__half>, {{"dtype", "float16"}})
      .instance(launch_block_per_row<__nv_bfloat16>, {{"dtype", "bfloat16"}});
}
