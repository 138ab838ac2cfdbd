// async_copy whose warps read the first fragments of the next tile before the last products of this one.
//
// There every warp meets the barrier between two tiles with nothing left to compute: it waits for the slowest warp,
// and then for its first reads of shared memory. Here a thread holds two fragments (TM rows and TN columns of one
// k): while it multiplies one it reads the next, and the barrier comes before the last products of a tile, which
// cover both waits. Price: TM + TN registers. Measured on an H200, n = 4096, same tiles: 64 x 128 from 2.96 to 2.92
// ms, 1.02 times; 128 x 256 from 2.89 to 2.93 ms, for there the registers are used up and the products meet more of
// them in one bank (see register_banks).
#include <cuda_runtime.h>

#include "kernels/variant.h"

#if defined(__CUDACC__)
#include <cuda_pipeline.h>

#include "kernels/matmul/async_tiles.h"

using namespace gpuexp::async_tiles;

template <int BM, int BN, int BK, int TM, int TN, int STAGES, bool EDGES>
__global__ void __launch_bounds__(BM / TM * (BN / TN))
    matmul_overlapped(const float* A, const float* B, float* C, long long m, long long n, long long k) {
  constexpr int threads = BM / TM * (BN / TN);
  extern __shared__ float4 memory[];
  auto* stages = reinterpret_cast<Tiles<BM, BN, BK>*>(memory);
  const int thread = threadIdx.x;
  const auto [row, column] = corner<BM, BN, TM, TN>();
  const long long row0 = static_cast<long long>(blockIdx.y) * BM, col0 = static_cast<long long>(blockIdx.x) * BN;
  float sum[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) sum[i][j] = 0.0f;
  }
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    start_copies<BM, BN, BK, threads, EDGES>(stages[s], A, B, m, n, k, row0, col0, s * BK, thread);
    __pipeline_commit();
  }
  Fragment<TM, TN> fragments[2];
  __pipeline_wait_prior(STAGES - 2);  // the first tile's copies of this thread
  __syncthreads();                    // of every thread
  fragments[0].read(stages[0], 0, row, column);
  int current = 0, filling = STAGES - 1;
  for (long long k0 = 0; k0 < k; k0 += BK) {
#pragma unroll
    for (int p = 0; p < BK; ++p) {
      if (p == BK - 1) {
        current = current + 1 == STAGES ? 0 : current + 1;
        __pipeline_wait_prior(STAGES - 2);  // the next tile's copies of this thread
        __syncthreads();                    // of every thread; and nobody reads this tile any more
      }
      fragments[(p + 1) % 2].read(stages[current], (p + 1) % BK, row, column);
      if (p == 0) {
        if (k0 + (STAGES - 1) * BK < k) {
          start_copies<BM, BN, BK, threads, EDGES>(stages[filling], A, B, m, n, k, row0, col0, k0 + (STAGES - 1) * BK,
                                                   thread);
        }
        __pipeline_commit();  // empty ones too, so that the count of those to wait for stays
        filling = filling + 1 == STAGES ? 0 : filling + 1;
      }
#pragma unroll
      for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] += fragments[p % 2].a[i] * fragments[p % 2].b[j];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const long long row_of_c = row0 + row + i / 4 * 32 + i % 4;
#pragma unroll
    for (int j = 0; j < TN / 4; ++j) {
      store4<EDGES>(C, m, n, row_of_c, col0 + column + j * 16,
                    make_float4(sum[i][4 * j], sum[i][4 * j + 1], sum[i][4 * j + 2], sum[i][4 * j + 3]));
    }
  }
}

template <int BM, int BN, int BK, int TM, int TN, int STAGES>
void launch_overlapped(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), k = run.param("k");
  const long long shared_bytes = STAGES * sizeof(Tiles<BM, BN, BK>);
  const gpuexp::LaunchConfig config{
      {gpuexp::ceil_div(n, BN), gpuexp::ceil_div(m, BM)}, {BM / TM * (BN / TN)}, shared_bytes};
  const bool whole = m % BM == 0 && n % BN == 0 && k % BK == 0 && k > 0;
  run(config,
      whole ? matmul_overlapped<BM, BN, BK, TM, TN, STAGES, false>
            : matmul_overlapped<BM, BN, BK, TM, TN, STAGES, true>,
      run.in<float>("A"), run.in<float>("B"), run.out<float>("C"), m, n, k);
}
#else
template <int BM, int BN, int BK, int TM, int TN, int STAGES>
constexpr void (*launch_overlapped)(const gpuexp::Launch&) = nullptr;
#endif

template <int BM, int BN, int BK, int TM, int TN, int STAGES>
void add_shape(gpuexp::VariantBuilder& variant) {
  variant.instance(
      launch_overlapped<BM, BN, BK, TM, TN, STAGES>,
      {{"BM", BM}, {"BN", BN}, {"BK", BK}, {"TM", TM}, {"TN", TN}, {"STAGES", STAGES}, {"dtype", "float32"}});
}

GPUEXP_VARIANT("matmul/overlapped") {
  variant
      .idea("the barrier between tiles and the first reads of the next tile hide behind the last products of this one")
      .cuda_only("cp.async writes shared memory by itself, which the emulator does not do")
      .fixed("BM", {"BM", 64}, "rows of C that a block computes")
      .fixed("BN", {"BN", 128}, "columns of C that a block computes")
      .fixed("BK", {"BK", 16}, "depth of the shared tiles along k")
      .fixed("TM", {"TM", 8}, "rows of C that a thread computes")
      .fixed("TN", {"TN", 8}, "columns of C that a thread computes")
      .fixed("STAGES", {"STAGES", 3}, "tiles in shared memory, all but one of them under way");
  add_shape<64, 128, 16, 8, 8, 3>(variant);
  add_shape<128, 128, 16, 8, 8, 4>(variant);
  add_shape<64, 256, 16, 8, 16, 3>(variant);
  add_shape<128, 256, 16, 8, 16, 3>(variant);
}
