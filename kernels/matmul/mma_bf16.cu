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

#include "kernels/ptx.h"

namespace ptx = gpuexp::ptx;

constexpr int part = 8;  // elements of 16 bytes

// One tile of A and one of B, in parts of 16 bytes; element (row, p) of A, (p, column) of B.
template <int BM, int BN, int BK>
struct Tiles {
  uint4 a[BM][BK / part];
  uint4 b[BK][BN / part];
};

// Where part `column` of row `row` lies within the row: 8 rows that are read together meet different banks.
template <int PARTS>
__device__ inline int place(int row, int column) {
  if constexpr (PARTS >= 8)
    return column ^ row % 8;
  else
    return column ^ row / (8 / PARTS) % PARTS;  // 128 bytes hold several rows
}

// What one thread copies of each tile of a matrix: one part in each STEP-th row. EDGES false: all tiles lie inside.
template <int ROWS, int PARTS, int THREADS, bool EDGES>
class Copies {
 public:
  // Beginning with the tile at (row0, column0).
  __device__ Copies(const __nv_bfloat16* matrix, long long rows, long long columns, long long row0, long long column0)
      : pitch_(columns), to_(thread_row() * PARTS + place<PARTS>(thread_row(), thread_part())) {
    const long long row = row0 + thread_row(), column = column0 + thread_part() * part;
    from_ = matrix + row * columns + column;
    if (EDGES) rows_ = rows - row, columns_ = columns - column;
  }
  __device__ void start(uint4* tile) const {
    static_assert(THREADS % PARTS == 0 && step % 8 == 0 && ROWS % step == 0, "the places of all rows are alike");
#pragma unroll
    for (int s = 0; s < ROWS; s += step) copy(tile + to_ + s * PARTS, from_ + s * pitch_, s);
  }
  // To the tile this much further.
  __device__ void advance(int rows, int columns) {
    from_ += rows * pitch_ + columns;
    if (EDGES) rows_ -= rows, columns_ -= columns;
  }

 private:
  static constexpr int step = THREADS / PARTS;
  static __device__ int thread_row() { return threadIdx.x / PARTS; }
  static __device__ int thread_part() { return threadIdx.x % PARTS; }

  __device__ void copy(uint4* to, const __nv_bfloat16* from, int row) const {
    if (!EDGES) return __pipeline_memcpy_async(to, from, 16);
    const long long inside = row < rows_ ? columns_ : 0;
    if (pitch_ % part == 0) return __pipeline_memcpy_async(to, from, 16, inside > 0 ? 0 : 16);
    auto* elements = reinterpret_cast<__nv_bfloat16*>(to);  // rows begin anywhere: cp.async cannot bring them
    for (int e = 0; e < part; ++e) elements[e] = e < inside ? from[e] : __float2bfloat16(0.0f);
  }

  const __nv_bfloat16* from_;
  long long pitch_;
  int to_;
  long long rows_ = 0, columns_ = 0;  // left from there to the edges
};

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
    a_ = ((row + low) * a_parts + place<a_parts>(row + low, high)) * 16;
    b_ = (low * b_parts + place<b_parts>(low, column / part + high)) * 16;
  }
  // The p-th 16 k. Tiles begin at multiples of 128 bytes, so a part further along a row is one xor away.
  __device__ void read(Fragment<TM, TN>& to, const Tiles<BM, BN, BK>& tiles, int p) const {
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
  static constexpr int a_parts = BK / part, b_parts = BN / part;
  static_assert(TM % 16 == 0 && (TN == 32 || TN == 64), "column / part + high + j is one bit field after the other");
  unsigned a_, b_;  // bytes from the tile's begin
};

// Two neighbours of a row of C to memory.
template <bool EDGES>
__device__ inline void store2(float* matrix, long long rows, long long columns, long long row, long long column,
                              float x, float y) {
  if (EDGES && row >= rows) return;
  float* to = matrix + row * columns + column;
  if (!EDGES || columns % 2 == 0) {
    if (!EDGES || column < columns) *reinterpret_cast<float2*>(to) = make_float2(x, y);
  } else {
    if (column < columns) to[0] = x;
    if (column + 1 < columns) to[1] = y;
  }
}

template <int BM, int BN, int BK, int TM, int TN, int STAGES, bool EDGES>
__global__ void __launch_bounds__(32 * (BM / TM) * (BN / TN))
    mma_bf16(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, long long m, long long n, long long k,
             int tile_rows, int group) {
  constexpr int threads = 32 * (BM / TM) * (BN / TN);
  constexpr int steps = BK / 16;
  static_assert(steps % 2 == 0);
  extern __shared__ __align__(128) unsigned char memory[];
  auto* stages = reinterpret_cast<Tiles<BM, BN, BK>*>(memory);
  const int block = blockIdx.x, tile_columns = gridDim.x / tile_rows;
  const int band = block / (group * tile_columns) * group, rows_in_band = min(group, tile_rows - band);
  const int in_band = block - band * tile_columns;
  const long long row0 = static_cast<long long>(band + in_band % rows_in_band) * BM;
  const long long column0 = static_cast<long long>(in_band / rows_in_band) * BN;
  const int warp = threadIdx.x / 32, row = warp / (BN / TN) * TM, column = warp % (BN / TN) * TN;

  Copies<BM, BK / part, threads, EDGES> copies_of_a(A, m, k, row0, 0);
  Copies<BK, BN / part, threads, EDGES> copies_of_b(B, k, n, 0, column0);
  const auto start_copies = [&](Tiles<BM, BN, BK>& tiles) {
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
                                    STAGES * static_cast<long long>(sizeof(Tiles<BM, BN, BK>))};
  const bool whole = m % BM == 0 && n % BN == 0 && k % BK == 0 && k >= STAGES * BK;
  run(config, whole ? mma_bf16<BM, BN, BK, TM, TN, STAGES, false> : mma_bf16<BM, BN, BK, TM, TN, STAGES, true>,
      run.in<__nv_bfloat16>("A"), run.in<__nv_bfloat16>("B"), run.out<float>("C"), m, n, k, tile_rows,
      run.param("GROUP") < tile_rows ? run.param("GROUP") : tile_rows);
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
