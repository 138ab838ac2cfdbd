// For kernel files that multiply bfloat16 with wgmma, in their part for the GPU: a ring of tiles in shared memory,
// stores of sums, and the operands' descriptions for TMA. Includers are compiled for sm_90a, see kernels/ptx.h.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "kernels/ptx.h"
#include "kernels/variant.h"

namespace gpuexp::wgmma_tiles {

constexpr int consumers = 2, BM = 64 * consumers, BK = 64, box = 64;  // box: columns of a copy, 128 bytes
constexpr int threads = 128 * (1 + consumers);

template <int BN>
struct Stage {
  __nv_bfloat16 a[BM * BK];             // rows along k
  __nv_bfloat16 b[BN / box][BK * box];  // rows along the columns of B, 64 of them each
};

// Which stage of the ring is next, and the parity of its phase.
template <int STAGES>
struct Place {
  int stage = 0;
  unsigned parity = 0;
  __device__ void advance() {
    if (++stage == STAGES) stage = 0, parity ^= 1;
  }
  __device__ int before() const { return (stage == 0 ? STAGES : stage) - 1; }
};

// The sums of a warpgroup to memory, whose rows begin at `row` and columns at `column`. Two lanes that hold two
// neighbours each of a row, in two blocks of 8 columns, exchange one block: then each has four of one, and stores 16
// bytes. n is a multiple of 4.
template <int BN>
__device__ inline void store(const float (&sum)[BN / 2], float* C, int m, int n, int row, int column) {
  const int lane = threadIdx.x % 32, first = row + threadIdx.x % 128 / 32 * 16 + lane / 4;
  const bool odd = lane % 2 != 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float* to = C + static_cast<long long>(first + half * 8) * n;
#pragma unroll
    for (int j = 0; j < BN / 8; j += 2) {
      const float2 even_block = make_float2(sum[j * 4 + half * 2], sum[j * 4 + half * 2 + 1]);
      const float2 odd_block = make_float2(sum[j * 4 + 4 + half * 2], sum[j * 4 + 5 + half * 2]);
      const float x = __shfl_xor_sync(0xffffffffu, odd ? even_block.x : odd_block.x, 1);
      const float y = __shfl_xor_sync(0xffffffffu, odd ? even_block.y : odd_block.y, 1);
      const float4 v =
          odd ? make_float4(x, y, odd_block.x, odd_block.y) : make_float4(even_block.x, even_block.y, x, y);
      const int c = column + j * 8 + (odd ? 8 : 0) + lane % 4 / 2 * 4;
      if (first + half * 8 < m && c < n) *reinterpret_cast<float4*>(to + c) = v;
    }
  }
}

// On the host: describes A and B for TMA. False when the kernel is not to be launched: there is nothing left to
// compute (for k = 0 C is then zero), or this GPU or shape is none for it, with the reason recorded.
inline bool describe_operands(const Launch& run, CUtensorMap& a_map, CUtensorMap& b_map) {
  const long long m = run.param("m"), n = run.param("n"), k = run.param("k");
  const auto *A = run.in<__nv_bfloat16>("A"), *B = run.in<__nv_bfloat16>("B");
  float* C = run.out<float>("C");
  if (!ptx::is_hopper(run)) return false;
  if (k % 8 != 0 || n % 8 != 0) {
    run.unsupported("k and n must be multiples of 8: TMA takes rows of 16 bytes");
    return false;
  }
  if (m > 1 << 30 || n > 1 << 30 || k > 1 << 30) {
    run.unsupported("m, n and k must be 2^30 at most");
    return false;
  }
  if (m == 0 || n == 0) return false;
  if (k == 0) {  // a matrix without elements cannot be described; sums without terms are zero
    const cudaError_t error = cudaMemsetAsync(C, 0, m * n * sizeof *C, static_cast<cudaStream_t>(run.stream()));
    if (error != cudaSuccess) run.failed(cudaGetErrorString(error), static_cast<int>(error));
    return false;
  }
  return ptx::describe(run, a_map, A, m, k, BM) && ptx::describe(run, b_map, B, k, n, BK);
}

}  // namespace gpuexp::wgmma_tiles
