// wgmma_bf16 with blocks that stay, one for each multiprocessor.
//
// There a multiprocessor holds one block, and its tensor cores rest from the last product of a tile until the next
// block has started, set up its barriers and waited for its first tiles. Here a block takes tile after tile. Its
// producer is a ring ahead, so the first tiles of the next one are there before the sums of this one are stored, and
// only the storing is left in the way.
//
// Predicted for an H200: some 2 us less for each of the 4 tiles of a block at n = 4096, 1.04 times. Measured: 188.3 to
// 184.2 us, 1.02 times; 3 % fewer cycles at a clock that is 1 % lower, for power bounds it. 0.99 of cuBLAS.
//
// CUDA architectures: 90a-real
#include <cuda_runtime.h>

#include "kernels/variant.h"

#if defined(__CUDACC__)
#include <cuda.h>
#include <cuda_bf16.h>

#include "kernels/ptx.h"

namespace ptx = gpuexp::ptx;

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

// First row and column of a tile of C. Bands of `group` rows of tiles are taken column by column, so that blocks that
// run side by side share what they read.
struct Tile {
  int row, column;
};
template <int BN>
__device__ inline Tile tile_of(int number, int tile_rows, int tile_columns, int group) {
  const int band = number / (group * tile_columns) * group, rows_in_band = min(group, tile_rows - band);
  const int in_band = number - band * tile_columns;
  return {(band + in_band % rows_in_band) * BM, in_band / rows_in_band * BN};
}

template <int BN, int STAGES>
__global__ void __launch_bounds__(threads, 1)
    wgmma_persistent(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, float* C,
                     int m, int n, int k, int tile_rows, int tile_columns, int group) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto* stages = reinterpret_cast<Stage<BN>*>(memory);
  __shared__ ptx::Barrier full[STAGES], empty[STAGES];
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) ptx::init(full[s], 1), ptx::init(empty[s], consumers * 4);
    ptx::publish_inits();
  }
  __syncthreads();
  const int tiles = tile_rows * tile_columns, warpgroup = threadIdx.x / 128;
  Place<STAGES> at;
  if (warpgroup == 0) {
    ptx::shrink_registers<40>();
    if (threadIdx.x == 0) {
      for (int number = blockIdx.x; number < tiles; number += gridDim.x) {
        const Tile tile = tile_of<BN>(number, tile_rows, tile_columns, group);
        for (int k0 = 0; k0 < k; k0 += BK) {
          Stage<BN>& to = stages[at.stage];
          ptx::wait(empty[at.stage], at.parity ^ 1);
          ptx::arrive_expecting(full[at.stage], sizeof to);
          ptx::copy_box(to.a, a_map, tile.row, k0, full[at.stage]);
          for (int j = 0; j < BN / box; ++j) {
            ptx::copy_box(to.b[j], b_map, k0, tile.column + j * box, full[at.stage]);
          }
          at.advance();
        }
      }
    }
  } else {
    ptx::grow_registers<232>();
    const int lane = threadIdx.x % 32;
    for (int number = blockIdx.x; number < tiles; number += gridDim.x) {
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
        if (k0 > 0 && lane == 0) ptx::arrive(empty[at.before()]);
        at.advance();
      } while ((k0 += BK) < k);
      ptx::wgmma_wait<0>();
      if (lane == 0) ptx::arrive(empty[at.before()]);
      const Tile tile = tile_of<BN>(number, tile_rows, tile_columns, group);
      store<BN>(sum, C, m, n, tile.row + (warpgroup - 1) * 64, tile.column);
    }
  }
}

template <int BN, int STAGES>
void launch_wgmma_persistent(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), k = run.param("k");
  const auto *A = run.in<__nv_bfloat16>("A"), *B = run.in<__nv_bfloat16>("B");
  float* C = run.out<float>("C");
  if (!ptx::is_hopper(run)) return;
  if (k % 8 != 0 || n % 8 != 0) return run.unsupported("k and n must be multiples of 8: TMA takes rows of 16 bytes");
  if (m > 1 << 30 || n > 1 << 30 || k > 1 << 30) return run.unsupported("m, n and k must be 2^30 at most");
  const long long tile_rows = gpuexp::ceil_div(m, BM), tile_columns = gpuexp::ceil_div(n, BN);
  const long long tiles = tile_rows * tile_columns, most = ptx::multiprocessors(run);
  if (tiles > 1 << 30) return run.unsupported("C must have 2^30 tiles at most");
  const gpuexp::LaunchConfig config{
      {tiles < most ? tiles : most}, {threads}, STAGES * static_cast<long long>(sizeof(Stage<BN>))};
  if (m == 0 || n == 0) return;
  if (k == 0) {  // a matrix without elements cannot be described; sums without terms are zero
    const cudaError_t error = cudaMemsetAsync(C, 0, m * n * sizeof *C, static_cast<cudaStream_t>(run.stream()));
    if (error != cudaSuccess) run.failed(cudaGetErrorString(error), static_cast<int>(error));
    return;
  }
  CUtensorMap a_map, b_map;
  if (!ptx::describe(run, a_map, A, m, k, BM) || !ptx::describe(run, b_map, B, k, n, BK)) return;
  run(config, wgmma_persistent<BN, STAGES>, a_map, b_map, C, m, n, k, tile_rows, tile_columns,
      run.param("GROUP") < tile_rows ? run.param("GROUP") : tile_rows);
}
#else
template <int BN, int STAGES>
constexpr void (*launch_wgmma_persistent)(const gpuexp::Launch&) = nullptr;
#endif

template <int BN, int STAGES>
void add_shape(gpuexp::VariantBuilder& variant) {
  variant.instance(launch_wgmma_persistent<BN, STAGES>, {{"BN", BN}, {"STAGES", STAGES}, {"dtype", "bfloat16"}});
}

GPUEXP_VARIANT("matmul/wgmma_persistent") {
  variant.idea("blocks that stay, one a multiprocessor: the next tile is copied while the sums of this one are stored")
      .cuda_only("it uses tensor cores")
      .param("GROUP", 8, "rows of tiles in a band that blocks take column by column", 1, 1024)
      .fixed("BN", {"BN", 256}, "columns of C that a block computes; its rows are 128")
      .fixed("STAGES", {"STAGES", 4}, "tiles of 64 k in shared memory");
  add_shape<128, 4>(variant);
  add_shape<128, 6>(variant);
  add_shape<256, 3>(variant);
  add_shape<256, 4>(variant);
}
