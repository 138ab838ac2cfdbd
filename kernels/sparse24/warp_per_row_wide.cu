// warp_per_row with four groups per lane: 16 bytes of values per load, a quarter of the load instructions for weights.
//
// More bytes under way per lane, as float4 loads give in gemv. The price: neighbouring lanes' elements of x lie 64
// bytes apart, so that each load of x spreads over more sectors than it uses and leans on the cache.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/variant.h"

__device__ inline float half_bits(unsigned bits) {
  return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
}

// Element `position` (0..3).
__device__ inline float pick(float4 v, unsigned position) {
  const float low = position == 0 ? v.x : v.y;
  const float high = position == 2 ? v.z : v.w;
  return position < 2 ? low : high;
}

// The two products of a group: its pair of values, its four elements of x and its code of positions.
__device__ inline float group_product(unsigned pair, float4 four, unsigned code) {
  const float first = half_bits(pair & 0xffffu) * pick(four, code & 3u);
  return first + half_bits(pair >> 16) * pick(four, code >> 2 & 3u);
}

__global__ void sparse24_warp_per_row_wide(const uint4* pairs, const unsigned short* positions, const float4* x,
                                           float* y, long long m, long long words) {
  const long long row = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= m) return;  // all lanes of a warp have the same row
  const uint4* row_pairs = pairs + row * words * 2;
  const unsigned short* row_positions = positions + row * words * 2;
  float sum = 0.0f;
  for (long long i = lane; i < words * 2; i += 32) {
    const uint4 four_pairs = row_pairs[i];
    const unsigned codes = row_positions[i];
    const float4 x0 = x[4 * i];
    const float4 x1 = x[4 * i + 1];
    const float4 x2 = x[4 * i + 2];
    const float4 x3 = x[4 * i + 3];
    sum += group_product(four_pairs.x, x0, codes);
    sum += group_product(four_pairs.y, x1, codes >> 4);
    sum += group_product(four_pairs.z, x2, codes >> 8);
    sum += group_product(four_pairs.w, x3, codes >> 12);
  }
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane == 0) y[row] = sum;
}

void launch_warp_per_row_wide(const gpuexp::Launch& run) {
  const long long m = run.param("m"), words = gpuexp::ceil_div(run.param("n"), 32), threads = run.param("block");
  if (threads % 32 != 0) return run.unsupported("block must be a multiple of 32: a warp takes a row");
  run({{gpuexp::ceil_div(m, threads / 32)}, {threads}}, sparse24_warp_per_row_wide, run.in<uint4>("values"),
      reinterpret_cast<const unsigned short*>(run.in<unsigned>("positions")), run.in<float4>("x"), run.out<float>("y"),
      m, words);
}

GPUEXP_VARIANT("sparse24/warp_per_row_wide") {
  variant.idea("packed 2:4 weights, four groups per lane: 16 bytes of values per load")
      .param("block", 256, "threads per block, a multiple of 32", 32, 1024)
      .instance(launch_warp_per_row_wide, {{"dtype", "float16"}});
}
