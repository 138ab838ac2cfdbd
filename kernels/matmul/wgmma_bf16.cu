// Hopper's own way to its tensor cores, bfloat16: wgmma multiplies tiles in shared memory, TMA brings them there.
//
// mma.sync reaches two thirds of Hopper's rate, and its operands pass through registers. With wgmma a warpgroup of 128
// threads starts a product of 64 x 256 x 16 with one instruction, and the tensor cores read both operands from shared
// memory. One thread of a warpgroup of its own (the producer) starts the copies: a box of the matrix an instruction, no
// address arithmetic, zeros beyond the edges, swizzled as wgmma wants it. Two more warpgroups (the consumers) multiply
// 64 rows each and keep the sums in registers that the producer gave up. A ring of STAGES tiles lies between them; each
// has a barrier that counts arriving bytes (full) and one that counts warps that are through with it (empty). B lies
// with its columns together, which wgmma takes as it is (its bit "transpose").
//
// Predicted for an H200: micro/wgmma makes 934 TFLOP/s where micro/mma_sync makes 647, so 1.44 times mma_bf16 or more.
// Measured, n = 4096: 292 to 188 us, 1.55 times; 0.97 of cuBLAS.
//
// CUDA architectures: 90a-real
#include <cuda_runtime.h>

#include "kernels/variant.h"

#if defined(__CUDACC__)
#include <cuda.h>

#include "kernels/matmul/bands.h"
#include "kernels/matmul/wgmma_tiles.h"
#include "kernels/ptx.h"

namespace bands = gpuexp::bands;
namespace ptx = gpuexp::ptx;
using namespace gpuexp::wgmma_tiles;

template <int BN, int STAGES>
__global__ void __launch_bounds__(threads, 1)
    wgmma_bf16(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, float* C, int m,
               int n, int k, int tile_rows, int group) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto* stages = reinterpret_cast<Stage<BN>*>(memory);
  __shared__ ptx::Barrier full[STAGES], empty[STAGES];
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) ptx::init(full[s], 1), ptx::init(empty[s], consumers * 4);
    ptx::publish_inits();
  }
  __syncthreads();
  const auto [row, column] = bands::corner<BM, BN, int>(blockIdx.x, tile_rows, gridDim.x / tile_rows, group);
  const int warpgroup = threadIdx.x / 128;
  Place<STAGES> at;
  if (warpgroup == 0) {
    ptx::shrink_registers<40>();
    if (threadIdx.x == 0) {
      for (int k0 = 0; k0 < k; k0 += BK) {
        Stage<BN>& to = stages[at.stage];
        ptx::wait(empty[at.stage], at.parity ^ 1);
        ptx::arrive_expecting(full[at.stage], sizeof to);
        ptx::copy_box(to.a, a_map, row, k0, full[at.stage]);
        for (int j = 0; j < BN / box; ++j) ptx::copy_box(to.b[j], b_map, k0, column + j * box, full[at.stage]);
        at.advance();
      }
    }
  } else {
    ptx::grow_registers<232>();
    float sum[BN / 2] = {};
    int k0 = 0;
    do {
      const Stage<BN>& from = stages[at.stage];
      ptx::wait(full[at.stage], at.parity);
      const unsigned long long a = ptx::descriptor(from.a + (warpgroup - 1) * 64 * BK);
      const unsigned long long b = ptx::descriptor(from.b, sizeof from.b[0]);
      ptx::wgmma_fence();
#pragma unroll
      for (int p = 0; p < BK / 16; ++p)
        ptx::wgmma_bf16<BN, true>(sum, a + p * 2, b + p * 128);  // 32 bytes; 16 rows of 128
      ptx::wgmma_commit();
      ptx::wgmma_wait<1>();  // those of the stage before are done
      if (k0 > 0 && threadIdx.x % 32 == 0) ptx::arrive(empty[at.before()]);
      at.advance();
    } while ((k0 += BK) < k);
    ptx::wgmma_wait<0>();
    store<BN>(sum, C, m, n, row + (warpgroup - 1) * 64, column);
  }
}

template <int BN, int STAGES>
void launch_wgmma_bf16(const gpuexp::Launch& run) {
  CUtensorMap a_map, b_map;
  if (!describe_operands(run, a_map, b_map)) return;
  const long long m = run.param("m"), n = run.param("n"), k = run.param("k"), tile_rows = gpuexp::ceil_div(m, BM);
  const gpuexp::LaunchConfig config{
      {tile_rows * gpuexp::ceil_div(n, BN)}, {threads}, STAGES * static_cast<long long>(sizeof(Stage<BN>))};
  run(config, wgmma_bf16<BN, STAGES>, a_map, b_map, run.out<float>("C"), m, n, k, tile_rows,
      bands::group(run, tile_rows));
}
#else
template <int BN, int STAGES>
constexpr void (*launch_wgmma_bf16)(const gpuexp::Launch&) = nullptr;
#endif

template <int BN, int STAGES>
void add_shape(gpuexp::VariantBuilder& variant) {
  variant.instance(launch_wgmma_bf16<BN, STAGES>, {{"BN", BN}, {"STAGES", STAGES}, {"dtype", "bfloat16"}});
}

GPUEXP_VARIANT("matmul/wgmma_bf16") {
  variant.idea("wgmma multiplies tiles in shared memory, which one thread has TMA bring: nothing passes registers")
      .cuda_only("it uses tensor cores")
      .param("GROUP", 8, "rows of tiles in a band that blocks take column by column", 1, 1024)
      .fixed("BN", {"BN", 256}, "columns of C that a block computes; its rows are 128")
      .fixed("STAGES", {"STAGES", 4}, "tiles of 64 k in shared memory");
  add_shape<128, 4>(variant);
  add_shape<128, 6>(variant);
  add_shape<256, 3>(variant);
  add_shape<256, 4>(variant);
}
