// block_per_row with four elements per load: a quarter of the load instructions for the same bytes.
//
// A float4 must lie on a 16-byte boundary. Row r starts at element r n, so with n not a multiple of 4 most rows start
// off the boundary: up to 3 elements before the first boundary and after the last are then taken one by one, and x,
// whose elements do not line up with the row's boundaries, too. Any n, any m.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/variant.h"

__device__ inline float as_float(float v) { return v; }
__device__ inline float as_float(__half v) { return __half2float(v); }
__device__ inline float as_float(__nv_bfloat16 v) { return __bfloat162float(v); }

// Four neighbouring elements in one load; `p` lies on a boundary of four elements.
__device__ inline float4 load4(const float* p) { return *reinterpret_cast<const float4*>(p); }
__device__ inline float half_bits(unsigned bits) {
  return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
}
__device__ inline float4 load4(const __half* p) {
  const uint2 pairs = *reinterpret_cast<const uint2*>(p);
  return make_float4(half_bits(pairs.x & 0xffffu), half_bits(pairs.x >> 16), half_bits(pairs.y & 0xffffu),
                     half_bits(pairs.y >> 16));
}
// A bfloat16 is the upper half of a float.
__device__ inline float4 load4(const __nv_bfloat16* p) {
  const uint2 pairs = *reinterpret_cast<const uint2*>(p);
  return make_float4(__uint_as_float(pairs.x << 16), __uint_as_float(pairs.x & 0xffff0000u),
                     __uint_as_float(pairs.y << 16), __uint_as_float(pairs.y & 0xffff0000u));
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
__global__ void gemv_block_per_row_float4(const T* A, const float* x, const float* bias, float* y, long long m,
                                          long long n) {
  __shared__ float warp_sums[32];
  for (long long row = blockIdx.x; row < m; row += gridDim.x) {
    const T* row_a = A + row * n;
    const long long off = row * n % 4;  // elements behind a boundary
    long long head = off == 0 ? 0 : 4 - off;
    if (head > n) head = n;
    const long long fours = (n - head) / 4;
    const long long tail = head + fours * 4;
    float sum = 0.0f;
    if (threadIdx.x < head) {
      const float a = as_float(row_a[threadIdx.x]);
      const float b = x[threadIdx.x];
      sum += a * b;
    }
    if (head == 0) {
      for (long long i = threadIdx.x; i < fours; i += blockDim.x) {
        const float4 a = load4(row_a + 4 * i);
        const float4 b = load4(x + 4 * i);
        sum += a.x * b.x;
        sum += a.y * b.y;
        sum += a.z * b.z;
        sum += a.w * b.w;
      }
    } else {
      for (long long i = threadIdx.x; i < fours; i += blockDim.x) {
        const long long col = head + 4 * i;
        const float4 a = load4(row_a + col);
        const float b0 = x[col];
        const float b1 = x[col + 1];
        const float b2 = x[col + 2];
        const float b3 = x[col + 3];
        sum += a.x * b0;
        sum += a.y * b1;
        sum += a.z * b2;
        sum += a.w * b3;
      }
    }
    if (tail + threadIdx.x < n) {
      const float a = as_float(row_a[tail + threadIdx.x]);
      const float b = x[tail + threadIdx.x];
      sum += a * b;
    }
    float total = block_sum(sum, warp_sums);
    if (threadIdx.x == 0) {
      if (bias != nullptr) total += bias[row];
      y[row] = total;
    }
  }
}

template <class T>
void launch_block_per_row_float4(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), threads = run.param("block");
  const long long most = run.param("max_blocks"), blocks = m < most ? m : most;
  if (threads % 32 != 0) return run.unsupported("block must be a multiple of 32: whole warps shuffle");
  const float* bias = run.param("bias") != 0 ? run.in<float>("bias") : nullptr;
  run({{blocks}, {threads}}, gemv_block_per_row_float4<T>, run.in<T>("A"), run.in<float>("x"), bias,
      run.out<float>("y"), m, n);
}

GPUEXP_VARIANT("gemv/block_per_row_float4") {
  variant.idea("one block per row, four elements per load: a quarter of the load instructions for the same bytes")
      .param("block", 256, "threads per block, a multiple of 32", 32, 1024)
      .param("max_blocks", 2147483647, "blocks at most; they take further rows in turns", 1, 2147483647)
      .instance(launch_block_per_row_float4<float>, {{"dtype", "float32"}})
      .instance(launch_block_per_row_float4<__half>, {{"dtype", "float16"}})
      .instance(launch_block_per_row_float4<__nv_bfloat16>, {{"dtype", "bfloat16"}});
}
