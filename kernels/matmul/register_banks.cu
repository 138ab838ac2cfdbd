// overlapped with the operands of each product in different register banks, and every second one fetched once for two.
//
// A multiply-add fetches its operands from two banks of registers, the even and the odd ones, and is slower when two
// that it fetches are in one bank; an operand that the next instruction uses in the same place again is not fetched
// anew. Two things stood in the way. (1) A vector store of C needs sums in four consecutive registers, which puts
// them in the banks of the four values that one vector load brings. Here the sums are multiplied by an argument that
// is always 1 before they are stored: the store then has registers of its own, and the compiler is free to choose
// those of the sums. (2) A column of products now goes down and the next one up, so that the turning point keeps its
// row's value. In the machine code of the 64 x 256 tile 144 of 2048 multiply-adds fetch two operands from one bank;
// in that of overlapped, 1529. Measured on an H200, n = 4096, same tile, STAGES 3: 2.97 to 2.81 ms, 1.06 times; 0.95 of
// cuBLAS. Two tiles in shared memory instead of three (STAGES 2): 2.81 ms too, and 0.955 instead of 0.948 of cuBLAS at
// m = 8192, n = 1024, k = 4096.
#include <cuda_runtime.h>

#include "kernels/variant.h"

#if defined(__CUDACC__)
#include <cuda_pipeline.h>

#include "kernels/matmul/async_tiles.h"

using namespace gpuexp::async_tiles;

template <int BM, int BN, int BK, int TM, int TN, int STAGES, bool EDGES>
__global__ void __launch_bounds__(BM / TM * (BN / TN))
    matmul_register_banks(const float* A, const float* B, float* C, long long m, long long n, long long k, float one) {
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
      for (int j = 0; j < TN; ++j) {
#pragma unroll
        for (int turn = 0; turn < TM; ++turn) {
          const int i = j % 2 == 0 ? turn : TM - 1 - turn;
          sum[i][j] += fragments[p % 2].a[i] * fragments[p % 2].b[j];
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const long long row_of_c = row0 + row + i / 4 * 32 + i % 4;
#pragma unroll
    for (int j = 0; j < TN / 4; ++j) {
      store4<EDGES>(
          C, m, n, row_of_c, col0 + column + j * 16,
          make_float4(one * sum[i][4 * j], one * sum[i][4 * j + 1], one * sum[i][4 * j + 2], one * sum[i][4 * j + 3]));
    }
  }
}

template <int BM, int BN, int BK, int TM, int TN, int STAGES>
void launch_register_banks(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), k = run.param("k");
  const long long shared_bytes = STAGES * sizeof(Tiles<BM, BN, BK>);
  const gpuexp::LaunchConfig config{
      {gpuexp::ceil_div(n, BN), gpuexp::ceil_div(m, BM)}, {BM / TM * (BN / TN)}, shared_bytes};
  const bool whole = m % BM == 0 && n % BN == 0 && k % BK == 0 && k > 0;
  run(config,
      whole ? matmul_register_banks<BM, BN, BK, TM, TN, STAGES, false>
            : matmul_register_banks<BM, BN, BK, TM, TN, STAGES, true>,
      run.in<float>("A"), run.in<float>("B"), run.out<float>("C"), m, n, k, 1.0f);
}
#else
template <int BM, int BN, int BK, int TM, int TN, int STAGES>
constexpr void (*launch_register_banks)(const gpuexp::Launch&) = nullptr;
#endif

template <int BM, int BN, int BK, int TM, int TN, int STAGES>
void add_shape(gpuexp::VariantBuilder& variant) {
  variant.instance(
      launch_register_banks<BM, BN, BK, TM, TN, STAGES>,
      {{"BM", BM}, {"BN", BN}, {"BK", BK}, {"TM", TM}, {"TN", TN}, {"STAGES", STAGES}, {"dtype", "float32"}});
}

GPUEXP_VARIANT("matmul/register_banks") {
  variant
      .idea("the operands of a product in different register banks, and every second one fetched once for two products")
      .cuda_only("cp.async writes shared memory by itself, which the emulator does not do")
      .fixed("BM", {"BM", 64}, "rows of C that a block computes")
      .fixed("BN", {"BN", 256}, "columns of C that a block computes")
      .fixed("BK", {"BK", 16}, "depth of the shared tiles along k")
      .fixed("TM", {"TM", 8}, "rows of C that a thread computes")
      .fixed("TN", {"TN", 16}, "columns of C that a thread computes")
      .fixed("STAGES", {"STAGES", 2}, "tiles in shared memory, all but one of them under way");
  add_shape<64, 128, 16, 8, 8, 3>(variant);
  add_shape<64, 256, 16, 8, 16, 2>(variant);
  add_shape<64, 256, 16, 8, 16, 3>(variant);
  add_shape<64, 256, 16, 8, 16, 4>(variant);
  add_shape<128, 256, 16, 8, 16, 3>(variant);
}
