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

#include "kernels/ptx.h"

namespace ptx = gpuexp::ptx;

constexpr int part = 4;  // elements of 16 bytes

// One tile of A and one of B, in parts of 16 bytes; element (row, p) of A, (p, column) of B.
template <int BM, int BN, int BK>
struct Tiles {
  uint4 a[BM][BK / part];
  uint4 b[BK][BN / part];
};

// Where part `column` of row `row` lies within the row. Of A one part of 8 rows is read together, of B two neighbours
// of 4 rows: they meet different banks.
struct PlaceOfA {
  static constexpr int period = 8;  // rows
  template <int PARTS>
  static __device__ int at(int row, int column) {
    if constexpr (PARTS >= 8)
      return column ^ row % 8;
    else
      return column ^ row / (8 / PARTS) % PARTS;  // 128 bytes hold several rows
  }
};
struct PlaceOfB {
  static constexpr int period = 4;
  template <int PARTS>
  static __device__ int at(int row, int column) {
    return column ^ row % 4 * 2;
  }
};

// What one thread copies of each tile of a matrix: one part in each STEP-th row. EDGES false: all tiles lie inside.
template <class Place, int ROWS, int PARTS, int THREADS, bool EDGES>
class Copies {
 public:
  // Beginning with the tile at (row0, column0).
  __device__ Copies(const float* matrix, long long rows, long long columns, long long row0, long long column0)
      : pitch_(columns), to_(thread_row() * PARTS + Place::template at<PARTS>(thread_row(), thread_part())) {
    const long long row = row0 + thread_row(), column = column0 + thread_part() * part;
    from_ = matrix + row * columns + column;
    if (EDGES) rows_ = rows - row, columns_ = columns - column;
  }
  __device__ void start(uint4* tile) const {
    static_assert(THREADS % PARTS == 0 && step % Place::period == 0 && ROWS % step == 0,
                  "the places of all rows are alike");
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

  __device__ void copy(uint4* to, const float* from, int row) const {
    if (!EDGES) return __pipeline_memcpy_async(to, from, 16);
    const long long inside = row < rows_ ? columns_ : 0;
    if (pitch_ % part == 0) return __pipeline_memcpy_async(to, from, 16, inside > 0 ? 0 : 16);
    for (int e = 0; e < part; ++e) {
      __pipeline_memcpy_async(reinterpret_cast<float*>(to) + e, from + e, 4, e < inside ? 0 : 4);
    }
  }

  const float* from_;
  long long pitch_;
  int to_;
  long long rows_ = 0, columns_ = 0;  // left from there to the edges
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
    a_ = (row_of_a * a_parts + PlaceOfA::at<a_parts>(row_of_a, lane / 8 % 2)) * 16;
    b_ = (member * b_parts + PlaceOfB::at<b_parts>(member, column / part + group / 2)) * 2 + group % 2;
  }
  // The p-th 8 k. Tiles begin at multiples of 128 bytes, so a part further along a row of A is one xor away.
  __device__ void read(Fragment<TM, TN>& to, const Tiles<BM, BN, BK>& tiles, int p) const {
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
  static constexpr int a_parts = BK / part, b_parts = BN / part;
  unsigned a_;  // bytes from the tile's begin
  int b_;       // pairs of elements from there
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
    mma_tf32(const float* A, const float* B, float* C, long long m, long long n, long long k, int tile_rows,
             int group) {
  constexpr int threads = 32 * (BM / TM) * (BN / TN);
  constexpr int steps = BK / 8;
  static_assert(steps % 2 == 0);
  extern __shared__ __align__(128) unsigned char memory[];
  auto* stages = reinterpret_cast<Tiles<BM, BN, BK>*>(memory);
  const int block = blockIdx.x, tile_columns = gridDim.x / tile_rows;
  const int band = block / (group * tile_columns) * group, rows_in_band = min(group, tile_rows - band);
  const int in_band = block - band * tile_columns;
  const long long row0 = static_cast<long long>(band + in_band % rows_in_band) * BM;
  const long long column0 = static_cast<long long>(in_band / rows_in_band) * BN;
  const int warp = threadIdx.x / 32, row = warp / (BN / TN) * TM, column = warp % (BN / TN) * TN;

  Copies<PlaceOfA, BM, BK / part, threads, EDGES> copies_of_a(A, m, k, row0, 0);
  Copies<PlaceOfB, BK, BN / part, threads, EDGES> copies_of_b(B, k, n, 0, column0);
  const auto start_copies = [&](Tiles<BM, BN, BK>& tiles) {
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
                                    STAGES * static_cast<long long>(sizeof(Tiles<BM, BN, BK>))};
  const bool whole = m % BM == 0 && n % BN == 0 && k % BK == 0 && k >= STAGES * BK;
  run(config, whole ? mma_tf32<BM, BN, BK, TM, TN, STAGES, false> : mma_tf32<BM, BN, BK, TM, TN, STAGES, true>,
      run.in<float>("A"), run.in<float>("B"), run.out<float>("C"), m, n, k, tile_rows,
      run.param("GROUP") < tile_rows ? run.param("GROUP") : tile_rows);
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
