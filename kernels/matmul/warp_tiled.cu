// double_buffered with a rectangle of 8 x 4 threads for each warp, in an order that shares every read of shared memory.
//
// There the 32 threads of a warp lie 16 side by side: for each k they read 2 groups of rows and 16 of columns. As 8
// x 4 they read 8 and 4, and a group of four costs half the wavefronts when neighbours (n, n ^ 1) share it, or (n, n
// ^ 2) do. So the lane's bit 0 picks a column and bit 1 a row: rows are shared by the former pairs, columns by the
// latter. That takes (TM + TN) / 2 wavefronts a k and warp instead of (TM + 2 TN) / 2, and a warp's rectangle of 8
// TM x 4 TN is compact. Predicted: a third fewer wavefronts of shared loads. Shapes of whole tiles take a kernel
// without guards. Measured on an H200, n = 4096: 3.39 to 3.09 ms, 1.10 times.
#include <cuda_runtime.h>

#include "kernels/variant.h"

// Four neighbours of row `row` of `matrix` (rows x cols, row-major) from column `col`, a multiple of 4; zeros beyond
// the edges. One access when the rows' length keeps them on a 16-byte boundary. EDGES false: all of it lies inside.
template <bool EDGES>
__device__ inline float4 load4(const float* matrix, long long rows, long long cols, long long row, long long col) {
  const float* from = matrix + row * cols + col;
  if constexpr (!EDGES) return *reinterpret_cast<const float4*>(from);
  float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (row >= rows) return v;
  if (cols % 4 == 0) {
    if (col < cols) v = *reinterpret_cast<const float4*>(from);
  } else {
    if (col < cols) v.x = from[0];
    if (col + 1 < cols) v.y = from[1];
    if (col + 2 < cols) v.z = from[2];
    if (col + 3 < cols) v.w = from[3];
  }
  return v;
}

template <bool EDGES>
__device__ inline void store4(float* matrix, long long rows, long long cols, long long row, long long col, float4 v) {
  if (EDGES && row >= rows) return;
  float* to = matrix + row * cols + col;
  if (!EDGES || cols % 4 == 0) {
    if (!EDGES || col < cols) *reinterpret_cast<float4*>(to) = v;
  } else {
    if (col < cols) to[0] = v.x;
    if (col + 1 < cols) to[1] = v.y;
    if (col + 2 < cols) to[2] = v.z;
    if (col + 3 < cols) to[3] = v.w;
  }
}

// Where row r of A's tile lies in line p of the turned tile: the exclusive or keeps groups of four together and puts
// the BK/4 pieces that a warp stores at once in different banks.
template <int BK>
__device__ inline int place(int p, int r) {
  return r ^ (p / 4 * (128 / BK));
}

// A thread's part of the tiles of A and B, on its way from global to shared memory.
template <int BM, int BN, int BK, int THREADS, bool EDGES>
struct Staged {
  static constexpr int OF_A = BM * BK / 4 / THREADS, OF_B = BK * BN / 4 / THREADS;
  static_assert(OF_A * THREADS * 4 == BM * BK && OF_B * THREADS * 4 == BK * BN, "each thread loads equally many");
  float4 a[OF_A], b[OF_B];

  __device__ void load(const float* A, const float* B, long long m, long long n, long long k, long long row0,
                       long long col0, long long k0, int thread) {
#pragma unroll
    for (int s = 0; s < OF_A; ++s) {
      const int i = thread + s * THREADS;
      a[s] = load4<EDGES>(A, m, k, row0 + i / (BK / 4), k0 + i % (BK / 4) * 4);
    }
#pragma unroll
    for (int s = 0; s < OF_B; ++s) {
      const int i = thread + s * THREADS;
      b[s] = load4<EDGES>(B, k, n, k0 + i / (BN / 4), col0 + i % (BN / 4) * 4);
    }
  }

  __device__ void store(float4 (&As)[BK][BM / 4], float4 (&Bs)[BK][BN / 4], int thread) const {
    float* turned = reinterpret_cast<float*>(As);
#pragma unroll
    for (int s = 0; s < OF_A; ++s) {
      const int i = thread + s * THREADS, r = i / (BK / 4), c = i % (BK / 4);
      float* to = turned + 4 * c * BM + place<BK>(4 * c, r);
      to[0] = a[s].x;
      to[BM] = a[s].y;
      to[2 * BM] = a[s].z;
      to[3 * BM] = a[s].w;
    }
#pragma unroll
    for (int s = 0; s < OF_B; ++s) {
      const int i = thread + s * THREADS;
      Bs[i / (BN / 4)][i % (BN / 4)] = b[s];
    }
  }
};

// Adds the products of one k: a thread's TM rows times its TN columns.
template <int TM, int TN>
__device__ inline void add_products(const float (&a)[TM], const float (&b)[TN], float (&sum)[TM][TN]) {
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) sum[i][j] += a[i] * b[j];
  }
}

// Groups of four from a row of shared memory, `step` vectors apart.
template <int COUNT>
__device__ inline void read_groups(const float4* row, int first, int step, float (&v)[COUNT]) {
#pragma unroll
  for (int g = 0; g < COUNT / 4; ++g) {
    const float4 four = row[first + g * step];
    v[4 * g] = four.x, v[4 * g + 1] = four.y, v[4 * g + 2] = four.z, v[4 * g + 3] = four.w;
  }
}

template <int BM, int BN, int BK, int TM, int TN, int RESIDENT, bool EDGES>
__global__ void __launch_bounds__(BM / TM * (BN / TN), RESIDENT)
    matmul_warp_tiled(const float* A, const float* B, float* C, long long m, long long n, long long k) {
  constexpr int threads = BM / TM * (BN / TN), warps_across = BN / (4 * TN);
  static_assert(BM % (8 * TM) == 0 && BN % (4 * TN) == 0, "warps take 8 x 4 threads");
  __shared__ float4 As[2][BK][BM / 4];  // turned: line p holds column p of A's tile
  __shared__ float4 Bs[2][BK][BN / 4];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  // The thread's first groups of four rows and columns in the tile; the others follow 8 and 4 groups further.
  const int row = warp / warps_across * (8 * TM / 4) + lane / 2 % 8;
  const int column = warp % warps_across * (4 * TN / 4) + (lane % 2 + lane / 16 * 2);
  const long long row0 = static_cast<long long>(blockIdx.y) * BM, col0 = static_cast<long long>(blockIdx.x) * BN;
  float sum[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) sum[i][j] = 0.0f;
  }
  Staged<BM, BN, BK, threads, EDGES> next;
  next.load(A, B, m, n, k, row0, col0, 0, thread);
  next.store(As[0], Bs[0], thread);
  __syncthreads();
  int current = 0;
  for (long long k0 = 0; k0 < k; k0 += BK) {
    const bool more = k0 + BK < k;
    if (more) next.load(A, B, m, n, k, row0, col0, k0 + BK, thread);
#pragma unroll
    for (int p = 0; p < BK; ++p) {
      float a[TM], b[TN];
      read_groups<TM>(As[current][p], place<BK>(p, 4 * row) / 4, 8, a);
      read_groups<TN>(Bs[current][p], column, 4, b);
      add_products<TM, TN>(a, b, sum);
    }
    current ^= 1;
    if (more) next.store(As[current], Bs[current], thread);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const long long row_of_c = row0 + 4 * (row + i / 4 * 8) + i % 4;
#pragma unroll
    for (int j = 0; j < TN / 4; ++j) {
      store4<EDGES>(C, m, n, row_of_c, col0 + 4 * (column + j * 4),
                    make_float4(sum[i][4 * j], sum[i][4 * j + 1], sum[i][4 * j + 2], sum[i][4 * j + 3]));
    }
  }
}

template <int BM, int BN, int BK, int TM, int TN, int RESIDENT>
void launch_warp_tiled(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), k = run.param("k");
  const gpuexp::LaunchConfig config{{gpuexp::ceil_div(n, BN), gpuexp::ceil_div(m, BM)}, {BM / TM * (BN / TN)}};
  const bool whole = m % BM == 0 && n % BN == 0 && k % BK == 0 && k > 0;
  run(config,
      whole ? matmul_warp_tiled<BM, BN, BK, TM, TN, RESIDENT, false>
            : matmul_warp_tiled<BM, BN, BK, TM, TN, RESIDENT, true>,
      run.in<float>("A"), run.in<float>("B"), run.out<float>("C"), m, n, k);
}

template <int BM, int BN, int BK, int TM, int TN, int RESIDENT>
void add_shape(gpuexp::VariantBuilder& variant) {
  variant.instance(
      launch_warp_tiled<BM, BN, BK, TM, TN, RESIDENT>,
      {{"BM", BM}, {"BN", BN}, {"BK", BK}, {"TM", TM}, {"TN", TN}, {"RESIDENT", RESIDENT}, {"dtype", "float32"}});
}

GPUEXP_VARIANT("matmul/warp_tiled") {
  variant
      .idea("each warp takes a rectangle of 8 x 4 threads in an order that halves the wavefronts of its shared reads")
      .fixed("BM", {"BM", 128}, "rows of C that a block computes")
      .fixed("BN", {"BN", 128}, "columns of C that a block computes")
      .fixed("BK", {"BK", 16}, "depth of the shared tiles along k")
      .fixed("TM", {"TM", 8}, "rows of C that a thread computes")
      .fixed("TN", {"TN", 8}, "columns of C that a thread computes")
      .fixed("RESIDENT", {"RESIDENT", 2}, "blocks of a multiprocessor that the registers are shared out for");
  add_shape<64, 64, 16, 8, 8, 4>(variant);
  add_shape<64, 128, 16, 8, 8, 3>(variant);
  add_shape<128, 128, 8, 8, 8, 2>(variant);
  add_shape<128, 128, 16, 8, 8, 1>(variant);
  add_shape<128, 128, 16, 8, 8, 2>(variant);
  add_shape<128, 128, 16, 8, 16, 2>(variant);
  add_shape<128, 256, 8, 8, 16, 1>(variant);
  add_shape<128, 256, 16, 8, 16, 1>(variant);
  add_shape<256, 128, 8, 16, 8, 1>(variant);
}
