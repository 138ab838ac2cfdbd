// The mapping by row length, as libraries choose: a warp per row up to 64 elements, a block of 256 from 1,024 on.
//
// The lecture's rule. Short rows cannot feed a block, long ones keep too few of one warp's loads under way. Between the
// two bounds a block of 128 threads takes a row, so that a thread has at most 8 elements. Where the bounds really lie
// hangs on the number of rows and on the card: on an H200 with 4,096 rows a warp each is faster up to 16,384 elements
// and 1.6 times so at 1,024 (results/h200/gemv_rows.cuda.csv), for other warps hide a warp's waits. Both bounds are
// parameters, so that a sweep finds them: configs/gemv_rows.json has the rule and a warp for every row.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/variant.h"

__device__ inline float as_float(float v) { return v; }
__device__ inline float as_float(__half v) { return __half2float(v); }
__device__ inline float as_float(__nv_bfloat16 v) { return __bfloat162float(v); }

template <class T>
__global__ void gemv_auto_warp(const T* A, const float* x, const float* bias, float* y, long long m, long long n) {
  const long long row = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= m) return;
  const T* row_a = A + row * n;
  float sum = 0.0f;
  for (long long col = lane; col < n; col += 32) {
    const float a = as_float(row_a[col]);
    const float b = x[col];
    sum += a * b;
  }
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane != 0) return;
  if (bias != nullptr) sum += bias[row];
  y[row] = sum;
}

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
__global__ void gemv_auto_block(const T* A, const float* x, const float* bias, float* y, long long m, long long n) {
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
void launch_auto(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n");
  const T* A = run.in<T>("A");
  const float* x = run.in<float>("x");
  const float* bias = run.param("bias") != 0 ? run.in<float>("bias") : nullptr;
  float* y = run.out<float>("y");
  if (n <= run.param("warp_up_to")) {
    run({{gpuexp::ceil_div(m, 8)}, {256}}, gemv_auto_warp<T>, A, x, bias, y, m, n);
    return;
  }
  const long long threads = n >= run.param("block_from") ? 256 : 128;
  const long long most = 2147483647, blocks = m < most ? m : most;
  run({{blocks}, {threads}}, gemv_auto_block<T>, A, x, bias, y, m, n);
}

GPUEXP_VARIANT("gemv/auto") {
  variant.idea("a warp per row for short rows, a block per row for long ones: the better mapping by row length")
      .param("warp_up_to", 64, "longest row, in elements, that a warp takes; 64 is the lecture's", 0)
      .param("block_from", 1024,
             "shortest row that gets a block of 256 (1,024 is the lecture's); a block of 128 takes those between", 1)
      .instance(launch_auto<float>, {{"dtype", "float32"}})
      .instance(launch_auto<__half>, {{"dtype", "float16"}})
      .instance(launch_auto<__nv_bfloat16>, {{"dtype", "bfloat16"}});
}
