// A block takes 8 ROWS rows and keeps a piece of x in shared memory, so that each element of x is loaded once for all.
//
// In block_per_row every row asks for all of x again, as many bytes as its row of float32 weights. Here a warp takes
// ROWS rows at once: an element of x goes from shared memory to a register once and serves ROWS products, and ROWS
// loads of A are under way together. Needs enough rows to fill the GPU with blocks of 8 ROWS rows each.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/variant.h"

__device__ inline float as_float(float v) { return v; }
__device__ inline float as_float(__half v) { return __half2float(v); }
__device__ inline float as_float(__nv_bfloat16 v) { return __bfloat162float(v); }

constexpr int WARPS = 8, PIECE = 1024;  // warps of a block; elements of x in shared memory at once

template <class T, int ROWS>
__global__ void gemv_multi_row(const T* A, const float* x, const float* bias, float* y, long long m, long long n) {
  __shared__ float piece[PIECE];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long first_row = (static_cast<long long>(blockIdx.x) * WARPS + warp) * ROWS;
  float sums[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) sums[r] = 0.0f;
  for (long long start = 0; start < n; start += PIECE) {
    const int count = n - start < PIECE ? static_cast<int>(n - start) : PIECE;
    for (int i = threadIdx.x; i < count; i += WARPS * 32) {
      const float value = x[start + i];
      piece[i] = value;
    }
    __syncthreads();  // nobody reads before everybody has written
    for (int i = lane; i < count; i += 32) {
      const float b = piece[i];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        if (first_row + r < m) {
          const float a = as_float(A[(first_row + r) * n + start + i]);
          sums[r] += a * b;
        }
      }
    }
    __syncthreads();  // nobody writes the next piece before everybody has read this one
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    float sum = sums[r];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (lane == 0 && first_row + r < m) {
      if (bias != nullptr) sum += bias[first_row + r];
      y[first_row + r] = sum;
    }
  }
}

template <class T, int ROWS>
void launch_multi_row(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n");
  const float* bias = run.param("bias") != 0 ? run.in<float>("bias") : nullptr;
  run({{gpuexp::ceil_div(m, WARPS * ROWS)}, {WARPS * 32}}, gemv_multi_row<T, ROWS>, run.in<T>("A"), run.in<float>("x"),
      bias, run.out<float>("y"), m, n);
}

template <int ROWS>
void add_rows(gpuexp::VariantBuilder& variant) {
  variant.instance(launch_multi_row<float, ROWS>, {{"ROWS", ROWS}, {"dtype", "float32"}})
      .instance(launch_multi_row<__half, ROWS>, {{"ROWS", ROWS}, {"dtype", "float16"}})
      .instance(launch_multi_row<__nv_bfloat16, ROWS>, {{"ROWS", ROWS}, {"dtype", "bfloat16"}});
}

GPUEXP_VARIANT("gemv/multi_row") {
  variant.idea("x staged in shared memory for 8 warps of ROWS rows each: an element of x serves all of them")
      .fixed("ROWS", {"ROWS", 4}, "rows that a warp takes at once");
  add_rows<1>(variant);
  add_rows<2>(variant);
  add_rows<4>(variant);
  add_rows<8>(variant);
}
