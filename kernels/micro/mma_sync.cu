// Each warp multiplies one pair of tiles in registers again and again with mma.sync: the tensor cores as a warp drives
// them, with nothing to load.
//
// A warp keeps a 16 x 64 tile of sums, so eight independent products are in flight. On A100 that is the full rate. On
// Hopper mma.sync reaches only part of it: the full rate takes wgmma (kernels/micro/wgmma.cu).
#include <cuda_runtime.h>

#include "kernels/variant.h"

#if defined(__CUDACC__)
#include "kernels/ptx.h"

namespace ptx = gpuexp::ptx;

constexpr int column_blocks = 8, row_words = 8;  // of 8 columns; of 32 bits: 16 elements of 2 bytes, 8 of 4

struct Bf16 {
  static __device__ inline void multiply(float* d, const unsigned* a, const unsigned* b) { ptx::mma_bf16(d, a, b); }
};
struct Fp16 {
  static __device__ inline void multiply(float* d, const unsigned* a, const unsigned* b) { ptx::mma_fp16(d, a, b); }
};
struct Tf32 {
  static __device__ inline void multiply(float* d, const unsigned* a, const unsigned* b) { ptx::mma_tf32(d, a, b); }
};

// Which lane holds which element: PTX ISA, "Matrix fragments for mma.m16n8k16" and "... m16n8k8". Counted in words of
// 32 bits the layouts of the three types are one.
template <class Type>
__global__ void mma_sync(const unsigned* a_tile, const unsigned* b_tile, float* d_tiles, long long tiles, int steps) {
  const long long tile = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  if (tile >= tiles) return;  // all lanes of a warp alike
  const int group = threadIdx.x % 32 / 4, member = threadIdx.x % 4;
  unsigned a[4], b[column_blocks][2];
  float d[column_blocks][4] = {};
  for (int part = 0; part < 4; ++part) a[part] = a_tile[(group + part % 2 * 8) * row_words + member + part / 2 * 4];
#pragma unroll
  for (int block = 0; block < column_blocks; ++block)
    for (int part = 0; part < 2; ++part) b[block][part] = b_tile[(block * 8 + group) * row_words + member + part * 4];
#pragma unroll 4
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int block = 0; block < column_blocks; ++block) Type::multiply(d[block], a, b[block]);
  }
  float* out = d_tiles + tile * 16 * column_blocks * 8;
#pragma unroll
  for (int block = 0; block < column_blocks; ++block)
    for (int half = 0; half < 2; ++half)
      *reinterpret_cast<float2*>(out + (group + half * 8) * column_blocks * 8 + block * 8 + member * 2) =
          make_float2(d[block][half * 2], d[block][half * 2 + 1]);
}

template <class Type>
void launch_mma_sync(const gpuexp::Launch& run) {
  const long long tiles = run.param("tiles"), threads = run.param("block");
  if (threads % 32 != 0) return run.unsupported("block must be a multiple of 32: a warp takes a tile");
  run({{gpuexp::ceil_div(tiles, threads / 32)}, {threads}}, mma_sync<Type>, run.in<unsigned>("A"),
      run.in<unsigned>("B"), run.out<float>("D"), tiles, run.param("steps"));
}
constexpr auto launch_bf16 = launch_mma_sync<Bf16>, launch_fp16 = launch_mma_sync<Fp16>,
               launch_tf32 = launch_mma_sync<Tf32>;
#else
constexpr void (*launch_bf16)(const gpuexp::Launch&) = nullptr;
constexpr void (*launch_fp16)(const gpuexp::Launch&) = nullptr;
constexpr void (*launch_tf32)(const gpuexp::Launch&) = nullptr;
#endif

GPUEXP_VARIANT("micro/mma_sync") {
  variant.problem("micro_tile")
      .idea("mma.sync on operands in registers: the rate of the tensor cores as one warp drives them")
      .cuda_only("it uses tensor cores")
      .param("block", 256, "threads per block, a multiple of 32", 32, 1024)
      .instance(launch_bf16, {{"m", 16}, {"n", 64}, {"k", 16}, {"dtype", "bfloat16"}})
      .instance(launch_fp16, {{"m", 16}, {"n", 64}, {"k", 16}, {"dtype", "float16"}})
      .instance(launch_tf32, {{"m", 16}, {"n", 64}, {"k", 8}, {"dtype", "tf32"}});
}
