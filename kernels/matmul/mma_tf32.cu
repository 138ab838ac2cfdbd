// mma_bf16 with float32 inputs that the tensor cores take as TF32: 8 exponent and 10 fraction bits.
//
// Half the products an instruction and twice the bytes an element. There is no turning load for 4-byte elements, and an
// operand's registers must be neighbours, while the values that one column needs lie in different rows of B and would
// have to be moved together. So the roles are exchanged (C turned = B turned * A turned): B gives the operand of four
// registers, two of which are two columns of one k, and which columns is free as long as C's are the same. A lane takes
// neighbours, with one access of 8 bytes that lands where the instruction wants it. The inputs of dtype tf32 are values
// that TF32 holds exactly; of others the tensor cores would drop the low bits.
//
// Predicted for an H200: the rate of micro/mma_sync at best, 325 TFLOP/s, 0.80 of cuBLAS. Measured, n = 4096: 550 us,
// 0.62 of cuBLAS; without the exchange of roles 663 us.
#include <cuda_runtime.h>

#include "kernels/variant.h"

#if defined(__CUDACC__)
#include <cuda_pipeline.h>

#include "kernels/matmul/bands.h"
#include "kernels/matmul/mma_tiles.h"
#include "kernels/ptx.h"

namespace bands = gpuexp::bands;
namespace ptx = gpuexp::ptx;
using namespace gpuexp::mma_tiles;

using Element = float;

// Where part `column` of row `row` of B lies within the row: two neighbours of each of 4 rows are read together.
struct PlaceOfB {
  static constexpr int period = 4;
  template <int PARTS>
  static __device__ int at(int row, int column) {
    return column ^ row % 4 * 2;
  }
};

// A warp's operands of 8 k: TN columns of B by 16, TM rows of A by 8.
template <int TM, int TN>
struct Fragment {
  unsigned b[TN / 16][4], a[TM / 8][2];
};

// Reads fragments of the warp's tile, which begins at this row and column of the block's tile.
template <int BM, int BN, int BK, int TM, int TN>
class Reader {
 public:
  __device__ Reader(int row, int column) {
    const int lane = threadIdx.x % 32, group = lane / 4, member = lane % 4;
    const int row_of_a = row + lane / 16 * 8 + lane % 8;
    a_ = (row_of_a * a_parts + PlaceOfEight::at<a_parts>(row_of_a, lane / 8 % 2)) * 16;
    b_ = (member * b_parts + PlaceOfB::at<b_parts>(member, column / part<Element> + group / 2)) * 2 + group % 2;
  }
  // The p-th 8 k. Tiles begin at multiples of 128 bytes, so a part further along a row of A is one xor away.
  __device__ void read(Fragment<TM, TN>& to, const Tiles<Element, BM, BN, BK>& tiles, int p) const {
    const unsigned a = ptx::shared_address(tiles.a) + a_;
#pragma unroll
    for (int i = 0; i < TM / 8; i += 2) {
      unsigned both[4];
      ptx::ldmatrix(both, (a ^ p * 32) + i * 8 * a_parts * 16);
      to.a[i][0] = both[0], to.a[i][1] = both[1], to.a[i + 1][0] = both[2], to.a[i + 1][1] = both[3];
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const auto* b = reinterpret_cast<const uint2*>(tiles.b[p * 8 + half * 4]);
#pragma unroll
      for (int j = 0; j < TN / 16; ++j) {
        const uint2 v = b[(b_ ^ j % 2 * 8) + j / 2 * 16];  // the permutation reaches the lowest bit of j
        to.b[j][half * 2] = v.x, to.b[j][half * 2 + 1] = v.y;
      }
    }
  }

 private:
  static constexpr int a_parts = BK / part<Element>, b_parts = BN / part<Element>;
  unsigned a_;  // bytes from the tile's begin
  int b_;       // pairs of elements from there
};

template <int BM, int BN, int BK, int TM, int TN, int STAGES, bool EDGES>
__global__ void __launch_bounds__(32 * (BM / TM) * (BN / TN))
    mma_tf32(const Element* A, const Element* B, float* C, long long m, long long n, long long k, int tile_rows,
             int group) {
  constexpr int threads = 32 * (BM / TM) * (BN / TN);
  constexpr int steps = BK / 8;
  static_assert(steps % 2 == 0);
  extern __shared__ __align__(128) unsigned char memory[];
  auto* stages = reinterpret_cast<Tiles<Element, BM, BN, BK>*>(memory);
  const auto [row0, column0] = bands::corner<BM, BN, long long>(blockIdx.x, tile_rows, gridDim.x / tile_rows, group);
  const int warp = threadIdx.x / 32, row = warp / (BN / TN) * TM, column = warp % (BN / TN) * TN;

  Copies<Element, PlaceOfEight, BM, BK / part<Element>, threads, EDGES> copies_of_a(A, m, k, row0, 0);
  Copies<Element, PlaceOfB, BK, BN / part<Element>, threads, EDGES> copies_of_b(B, k, n, 0, column0);
  const auto start_copies = [&](Tiles<Element, BM, BN, BK>& tiles) {
    copies_of_a.start(tiles.a[0]), copies_of_b.start(tiles.b[0]);
    copies_of_a.advance(0, BK), copies_of_b.advance(BK, 0);
  };
  const Reader<BM, BN, BK, TM, TN> reader(row, column);
  float sum[TN / 16][TM / 8][4] = {};
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
      for (int j = 0; j < TN / 16; ++j) {
#pragma unroll
        for (int turn = 0; turn < TM / 8; ++turn) {
          const int i = j % 2 == 0 ? turn : TM / 8 - 1 - turn;
          ptx::mma_tf32(sum[j][i], fragments[p % 2].b[j], fragments[p % 2].a[i]);
        }
      }
    }
  }
  // Rows group and group + 8 of a product are columns 2 group and 2 group + 1 of C.
  const int group_of_lane = threadIdx.x % 32 / 4, member = threadIdx.x % 4;
#pragma unroll
  for (int i = 0; i < TM / 8; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const long long row_of_c = row0 + row + i * 8 + member * 2 + half;
#pragma unroll
      for (int j = 0; j < TN / 16; ++j) {
        store2<EDGES>(C, m, n, row_of_c, column0 + column + j * 16 + group_of_lane * 2, sum[j][i][half],
                      sum[j][i][2 + half]);
      }
    }
  }
}

template <int BM, int BN, int BK, int TM, int TN, int STAGES>
void launch_mma_tf32(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), k = run.param("k");
  const long long tile_rows = gpuexp::ceil_div(m, BM);
  const gpuexp::LaunchConfig config{{tile_rows * gpuexp::ceil_div(n, BN)},
                                    {32 * (BM / TM) * (BN / TN)},
                                    STAGES * static_cast<long long>(sizeof(Tiles<Element, BM, BN, BK>))};
  const bool whole = m % BM == 0 && n % BN == 0 && k % BK == 0 && k >= STAGES * BK;
  run(config, whole ? mma_tf32<BM, BN, BK, TM, TN, STAGES, false> : mma_tf32<BM, BN, BK, TM, TN, STAGES, true>,
      run.in<Element>("A"), run.in<Element>("B"), run.out<float>("C"), m, n, k, tile_rows,
      bands::group(run, tile_rows));
}
#else
template <int BM, int BN, int BK, int TM, int TN, int STAGES>
constexpr void (*launch_mma_tf32)(const gpuexp::Launch&) = nullptr;
#endif

template <int BM, int BN, int BK, int TM, int TN, int STAGES>
void add_shape(gpuexp::VariantBuilder& variant) {
  variant.instance(launch_mma_tf32<BM, BN, BK, TM, TN, STAGES>,
                   {{"BM", BM}, {"BN", BN}, {"BK", BK}, {"TM", TM}, {"TN", TN}, {"STAGES", STAGES}, {"dtype", "tf32"}});
}

GPUEXP_VARIANT("matmul/mma_tf32") {
  variant.idea("tensor cores by mma.sync in TF32; columns dealt to lanes so that B and C move in accesses of 16 bytes")
      .cuda_only("it uses tensor cores")
      .param("GROUP", 8, "rows of tiles in a band that blocks take column by column", 1, 1024)
      .fixed("BM", {"BM", 128}, "rows of C that a block computes")
      .fixed("BN", {"BN", 256}, "columns of C that a block computes")
      .fixed("BK", {"BK", 16}, "depth of the shared tiles along k")
      .fixed("TM", {"TM", 64}, "rows of C that a warp computes")
      .fixed("TN", {"TN", 64}, "columns of C that a warp computes")
      .fixed("STAGES", {"STAGES", 4}, "tiles in shared memory, all but one of them under way");
  add_shape<128, 128, 32, 64, 64, 3>(variant);
  add_shape<128, 256, 16, 64, 64, 4>(variant);
  add_shape<128, 256, 16, 64, 64, 6>(variant);
  add_shape<128, 256, 32, 64, 64, 3>(variant);
  add_shape<128, 256, 32, 64, 64, 4>(variant);
  add_shape<256, 128, 32, 64, 64, 4>(variant);
}
