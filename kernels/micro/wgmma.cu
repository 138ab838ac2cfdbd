// Warpgroups multiply one pair of tiles in shared memory again and again with wgmma: the full rate of Hopper's tensor
// cores.
//
// One instruction makes a 64 x 256 tile from operands that the tensor cores read from shared memory themselves; a
// second warpgroup keeps them busy while the first waits. Rows of 128 bytes in the 128-byte swizzle, as library kernels
// hold them. The instructions exist for sm_90a alone, so this file is compiled for that:
//
// CUDA architectures: 90a-real
#include <cuda_runtime.h>

#include "kernels/variant.h"

#if defined(__CUDACC__)
#include "kernels/ptx.h"

namespace ptx = gpuexp::ptx;

constexpr int tile_rows = 64, tile_columns = 256, row_bytes = 128, warpgroups = 2;
constexpr int a_bytes = tile_rows * row_bytes, b_bytes = tile_columns * row_bytes;

struct Bf16 {
  static __device__ inline void multiply(float (&d)[128], unsigned long long a, unsigned long long b) {
    ptx::wgmma_bf16<tile_columns, false>(d, a, b);
  }
};
struct Fp16 {
  static __device__ inline void multiply(float (&d)[128], unsigned long long a, unsigned long long b) {
    ptx::wgmma_fp16(d, a, b);
  }
};
struct Tf32 {
  static __device__ inline void multiply(float (&d)[128], unsigned long long a, unsigned long long b) {
    ptx::wgmma_tf32(d, a, b);
  }
};

// Copies rows of 128 bytes, the 16-byte parts of each permuted by the row's number: the 128-byte swizzle.
__device__ inline void fill_swizzled(unsigned char* to, const uint4* from, int rows) {
  for (int i = threadIdx.x; i < rows * 8; i += blockDim.x) {
    const int row = i / 8, part = i % 8;
    *reinterpret_cast<uint4*>(to + row * row_bytes + (part ^ row % 8) * 16) = from[i];
  }
}

template <class Type>
__global__ void __launch_bounds__(128 * warpgroups)
    wgmma(const uint4* a_tile, const uint4* b_tile, float* d_tiles, long long tiles, int steps) {
  extern __shared__ __align__(1024) unsigned char storage[];
  fill_swizzled(storage, a_tile, tile_rows);
  fill_swizzled(storage + a_bytes, b_tile, tile_columns);
  ptx::publish_shared();
  __syncthreads();
  const long long tile = static_cast<long long>(blockIdx.x) * warpgroups + threadIdx.x / 128;
  if (tile >= tiles) return;  // all threads of a warpgroup alike
  const unsigned long long a = ptx::descriptor(storage), b = ptx::descriptor(storage + a_bytes);
  float d[128] = {};
  for (int step = 0; step < steps; ++step) {
    ptx::wgmma_fence();
#pragma unroll
    for (int part = 0; part < 4; ++part) Type::multiply(d, a + 2 * part, b + 2 * part);  // 32 bytes of each row
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
  }
  // Which thread holds which element: PTX ISA, "Matrix fragments for wgmma.mma_async.m64nNk16".
  const int warp = threadIdx.x % 128 / 32, group = threadIdx.x % 32 / 4, member = threadIdx.x % 4;
  float* out = d_tiles + (tile * tile_rows + warp * 16) * tile_columns;
#pragma unroll
  for (int block = 0; block < tile_columns / 8; ++block)
    for (int half = 0; half < 2; ++half)
      *reinterpret_cast<float2*>(out + (group + half * 8) * tile_columns + block * 8 + member * 2) =
          make_float2(d[block * 4 + half * 2], d[block * 4 + half * 2 + 1]);
}

template <class Type>
void launch_wgmma(const gpuexp::Launch& run) {
  if (!ptx::is_hopper(run)) return;
  const long long tiles = run.param("tiles");
  run({{gpuexp::ceil_div(tiles, warpgroups)}, {128 * warpgroups}, a_bytes + b_bytes}, wgmma<Type>, run.in<uint4>("A"),
      run.in<uint4>("B"), run.out<float>("D"), tiles, run.param("steps"));
}
constexpr auto launch_bf16 = launch_wgmma<Bf16>, launch_fp16 = launch_wgmma<Fp16>, launch_tf32 = launch_wgmma<Tf32>;
#else
constexpr void (*launch_bf16)(const gpuexp::Launch&) = nullptr;
constexpr void (*launch_fp16)(const gpuexp::Launch&) = nullptr;
constexpr void (*launch_tf32)(const gpuexp::Launch&) = nullptr;
#endif

GPUEXP_VARIANT("micro/wgmma") {
  variant.problem("micro_wide_tile")
      .idea("wgmma on operands in shared memory: the rate of Hopper's tensor cores, which mma.sync does not reach")
      .cuda_only("it uses tensor cores")
      .instance(launch_bf16, {{"m", 64}, {"n", 256}, {"k", 64}, {"dtype", "bfloat16"}})
      .instance(launch_fp16, {{"m", 64}, {"n", 256}, {"k", 64}, {"dtype", "float16"}})
      .instance(launch_tf32, {{"m", 64}, {"n", 256}, {"k", 32}, {"dtype", "tf32"}});
}
