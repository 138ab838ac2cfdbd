// Products on the tensor cores with mma.sync, bfloat16: a warp's tile of sums in registers, fed by ldmatrix.
//
// A multiply-add on CUDA cores makes one product an instruction and lane; mma.sync makes 64. It takes operands in an
// order of its own: ldmatrix brings four 8 x 8 matrices from shared memory in that order with one instruction, turned
// where they lie across k, as B's do. Tiles come by cp.async in parts of 16 bytes, STAGES deep; the parts of a row are
// permuted by its number (xor), so that the 8 rows of a matrix meet different banks with no padding. The fragments of
// the next 16 k are loaded while those at hand are multiplied; a row of products goes right and the next one left, so
// that each instruction shares an operand with the one before. Blocks take tiles in bands of GROUP rows of tiles, so
// that those that run side by side share what they read.
//
// Predicted for an H200: 16 k of a 128 x 256 tile are 256 instructions, 387 cycles at the rate of micro/mma_sync, and
// 352 wavefronts of shared memory; so at best that rate, 647 TFLOP/s, 0.86 of cuBLAS. Measured, n = 4096: 292 us, 0.63
// of cuBLAS.
#include <cuda_runtime.h>

#include "kernels/variant.h"

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_pipeline.h>

#include "kernels/matmul/bands.h"
#include "kernels/matmul/mma_tiles.h"
#include "kernels/ptx.h"

namespace bands = gpuexp::bands;
namespace ptx = gpuexp::ptx;
using namespace gpuexp::mma_tiles;

using Element = __nv_bfloat16;

// A warp's operands of 16 k: TM rows of A by 16, TN columns of B by 8.
template <int TM, int TN>
struct Fragment {
  unsigned a[TM / 16][4], b[TN / 8][2];
};

// Reads fragments of the warp's tile, which begins at this row and column of the block's tile.
template <int BM, int BN, int BK, int TM, int TN>
class Reader {
 public:
  __device__ Reader(int row, int column) {
    const int low = threadIdx.x % 16, high = threadIdx.x % 32 / 16;
    a_ = ((row + low) * a_parts + PlaceOfEight::at<a_parts>(row + low, high)) * 16;
    b_ = (low * b_parts + PlaceOfEight::at<b_parts>(low, column / part<Element> + high)) * 16;
  }
  // The p-th 16 k. Tiles begin at multiples of 128 bytes, so a part further along a row is one xor away.
  __device__ void read(Fragment<TM, TN>& to, const Tiles<Element, BM, BN, BK>& tiles, int p) const {
    const unsigned a = ptx::shared_address(tiles.a) + a_, b = ptx::shared_address(tiles.b) + b_;
#pragma unroll
    for (int i = 0; i < TM / 16; ++i) ptx::ldmatrix(to.a[i], (a ^ p * 32) + i * 16 * a_parts * 16);
#pragma unroll
    for (int j = 0; j < TN / 8; j += 2) {
      unsigned both[4];
      ptx::ldmatrix_turned(both, (b ^ j * 16) + p * 16 * b_parts * 16);
      to.b[j][0] = both[0], to.b[j][1] = both[1], to.b[j + 1][0] = both[2], to.b[j + 1][1] = both[3];
    }
  }

 private:
  static constexpr int a_parts = BK / part<Element>, b_parts = BN / part<Element>;
  static_assert(TM % 16 == 0 && (TN == 32 || TN == 64), "column / part + high + j is one bit field after the other");
  unsigned a_, b_;  // bytes from the tile's begin
};

template <int BM, int BN, int BK, int TM, int TN, int STAGES, bool EDGES>
__global__ void __launch_bounds__(32 * (BM / TM) * (BN / TN))
    mma_bf16(const Element* A, const Element* B, float* C, long long m, long long n, long long k, int tile_rows,
             int group) {
  constexpr int threads = 32 * (BM / TM) * (BN / TN);
  constexpr int steps = BK / 16;
  static_assert(steps % 2 == 0);
  extern __shared__ __align__(128) unsigned char memory[];
  auto* stages = reinterpret_cast<Tiles<Element, BM, BN, BK>*>(memory);
  const auto [row0, column0] = bands::corner<BM, BN, long long>(blockIdx.x, tile_rows, gridDim.x / tile_rows, group);
  const int warp = threadIdx.x / 32, row = warp / (BN / TN) * TM, column = warp % (BN / TN) * TN;

  Copies<Element, PlaceOfEight, BM, BK / part<Element>, threads, EDGES> copies_of_a(A, m, k, row0, 0);
  Copies<Element, PlaceOfEight, BK, BN / part<Element>, threads, EDGES> copies_of_b(B, k, n, 0, column0);
  const auto start_copies = [&](Tiles<Element, BM, BN, BK>& tiles) {
    copies_of_a.start(tiles.a[0]), copies_of_b.start(tiles.b[0]);
    copies_of_a.advance(0, BK), copies_of_b.advance(BK, 0);
  };
  const Reader<BM, BN, BK, TM, TN> reader(row, column);
  float sum[TM / 16][TN / 8][4] = {};
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    start_copies(stages[s]);
    __pipeline_commit();
  }
  Fragment<TM, TN> fragments[2];
  __pipeline_wait_prior(STAGES - 2);  // the first tile's copies of this thread
  __syncthreads();                    // of every thread
  reader.read(fragments[0], stages[0], 0);
  int current = 0, filling = STAGES - 1;
  for (long long k0 = 0; k0 < k; k0 += BK) {
#pragma unroll
    for (int p = 0; p < steps; ++p) {
      if (p == steps - 1) {
        current = current + 1 == STAGES ? 0 : current + 1;
        __pipeline_wait_prior(STAGES - 2);  // the next tile's copies of this thread
        __syncthreads();                    // of every thread; and nobody reads this tile any more
      }
      reader.read(fragments[(p + 1) % 2], stages[current], (p + 1) % steps);
      if (p == 0) {
        if (k0 + (STAGES - 1) * BK < k) start_copies(stages[filling]);
        __pipeline_commit();  // empty ones too, so that the count of those to wait for stays
        filling = filling + 1 == STAGES ? 0 : filling + 1;
      }
#pragma unroll
      for (int i = 0; i < TM / 16; ++i) {
#pragma unroll
        for (int turn = 0; turn < TN / 8; ++turn) {
          const int j = i % 2 == 0 ? turn : TN / 8 - 1 - turn;
          ptx::mma_bf16(sum[i][j], fragments[p % 2].a[i], fragments[p % 2].b[j]);
        }
      }
    }
  }
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < TM / 16; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const long long row_of_c = row0 + row + i * 16 + half * 8 + lane / 4;
#pragma unroll
      for (int j = 0; j < TN / 8; ++j) {
        store2<EDGES>(C, m, n, row_of_c, column0 + column + j * 8 + lane % 4 * 2, sum[i][j][half * 2],
                      sum[i][j][half * 2 + 1]);
      }
    }
  }
}

template <int BM, int BN, int BK, int TM, int TN, int STAGES>
void launch_mma_bf16(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), k = run.param("k");
  const long long tile_rows = gpuexp::ceil_div(m, BM);
  const gpuexp::LaunchConfig config{{tile_rows * gpuexp::ceil_div(n, BN)},
                                    {32 * (BM / TM) * (BN / TN)},
                                    STAGES * static_cast<long long>(sizeof(Tiles<Element, BM, BN, BK>))};
  const bool whole = m % BM == 0 && n % BN == 0 && k % BK == 0 && k >= STAGES * BK;
  run(config, whole ? mma_bf16<BM, BN, BK, TM, TN, STAGES, false> : mma_bf16<BM, BN, BK, TM, TN, STAGES, true>,
      run.in<Element>("A"), run.in<Element>("B"), run.out<float>("C"), m, n, k, tile_rows,
      bands::group(run, tile_rows));
}
#else
template <int BM, int BN, int BK, int TM, int TN, int STAGES>
constexpr void (*launch_mma_bf16)(const gpuexp::Launch&) = nullptr;
#endif

template <int BM, int BN, int BK, int TM, int TN, int STAGES>
void add_shape(gpuexp::VariantBuilder& variant) {
  variant.instance(
      launch_mma_bf16<BM, BN, BK, TM, TN, STAGES>,
      {{"BM", BM}, {"BN", BN}, {"BK", BK}, {"TM", TM}, {"TN", TN}, {"STAGES", STAGES}, {"dtype", "bfloat16"}});
}

GPUEXP_VARIANT("matmul/mma_bf16") {
  variant.idea("tensor cores by mma.sync, whose operands ldmatrix brings in their own order from swizzled tiles")
      .cuda_only("it uses tensor cores")
      .param("GROUP", 8, "rows of tiles in a band that blocks take column by column", 1, 1024)
      .fixed("BM", {"BM", 128}, "rows of C that a block computes")
      .fixed("BN", {"BN", 256}, "columns of C that a block computes")
      .fixed("BK", {"BK", 64}, "depth of the shared tiles along k")
      .fixed("TM", {"TM", 64}, "rows of C that a warp computes")
      .fixed("TN", {"TN", 64}, "columns of C that a warp computes")
      .fixed("STAGES", {"STAGES", 3}, "tiles in shared memory, all but one of them under way");
  add_shape<128, 128, 64, 64, 64, 3>(variant);
  add_shape<128, 256, 32, 64, 64, 4>(variant);
  add_shape<128, 256, 32, 64, 64, 6>(variant);
  add_shape<128, 256, 64, 64, 64, 3>(variant);
  add_shape<128, 256, 64, 64, 64, 4>(variant);
  add_shape<256, 128, 64, 64, 64, 4>(variant);
}
