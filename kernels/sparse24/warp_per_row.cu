// One warp per row of packed 2:4 weights: a lane takes a group of four columns, two values and their positions.
//
// 9 bits a weight instead of float16's 16 are read, and half of the products are done. The lanes' pairs of values lie
// side by side, eight lanes share a word of positions, and x is read four elements at a time, so that every load
// coalesces; which two of the four a lane multiplies is chosen in registers. No tensor core is needed.
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

__global__ void sparse24_warp_per_row(const unsigned* pairs, const unsigned* positions, const float4* x, float* y,
                                      long long m, long long words) {
  const long long row = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= m) return;  // all lanes of a warp have the same row
  const unsigned* row_pairs = pairs + row * words * 8;
  const unsigned* row_positions = positions + row * words;
  float sum = 0.0f;
  for (long long group = lane; group < words * 8; group += 32) {
    const unsigned pair = row_pairs[group];
    const unsigned word = row_positions[group / 8];
    const float4 four = x[group];
    const unsigned code = word >> (4 * (group % 8));
    sum += half_bits(pair & 0xffffu) * pick(four, code & 3u);
    sum += half_bits(pair >> 16) * pick(four, code >> 2 & 3u);
  }
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane == 0) y[row] = sum;
}

void launch_warp_per_row(const gpuexp::Launch& run) {
  const long long m = run.param("m"), words = gpuexp::ceil_div(run.param("n"), 32), threads = run.param("block");
  if (threads % 32 != 0) return run.unsupported("block must be a multiple of 32: a warp takes a row");
  const unsigned* pairs = reinterpret_cast<const unsigned*>(run.in<__half2>("values"));
  run({{gpuexp::ceil_div(m, threads / 32)}, {threads}}, sparse24_warp_per_row, pairs, run.in<unsigned>("positions"),
      run.in<float4>("x"), run.out<float>("y"), m, words);
}

GPUEXP_VARIANT("sparse24/warp_per_row") {
  variant.idea("packed 2:4 weights, a group of four columns per lane: 9 bits a weight are read, not 16")
      .param("block", 256, "threads per block, a multiple of 32", 32, 1024)
      .instance(launch_warp_per_row, {{"dtype", "float16"}});
}
