// conflict_free with two copies of the tiles: the next one is loaded while the block computes with this one.
//
// conflict_free waits for the memory at every tile: loads, barrier, products, barrier. Here the loads of the next
// tile are issued before the products of this one and go to registers; after the products they are stored to the
// other copy, and one barrier a tile is enough. The latency of the loads hides behind BK TM TN products per thread.
// Price: twice the shared memory and (BM + BN) BK / threads registers. Predicted: up to 1.5 times, the share of time
// in which the products waited. Measured on an H200, n = 4096: 4.22 to 3.39 ms, 1.24 times.
#include <cuda_runtime.h>

#include "kernels/variant.h"

// Four neighbours of row `row` of `matrix` (rows x cols, row-major) from column `col`, a multiple of 4; zeros beyond
// the edges. One access when the rows' length keeps them on a 16-byte boundary.
__device__ inline float4 load4(const float* matrix, long long rows, long long cols, long long row, long long col) {
  float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (row >= rows) return v;
  const float* from = matrix + row * cols + col;
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

__device__ inline void store4(float* matrix, long long rows, long long cols, long long row, long long col, float4 v) {
  if (row >= rows) return;
  float* to = matrix + row * cols + col;
  if (cols % 4 == 0) {
    // Of `*reinterpret_cast<float4*>(to) = v` nvcc makes four stores here.
    if (col < cols) reinterpret_cast<float4*>(matrix)[(row * cols + col) / 4] = v;
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
template <int BM, int BN, int BK, int THREADS>
struct Staged {
  static constexpr int OF_A = BM * BK / 4 / THREADS, OF_B = BK * BN / 4 / THREADS;
  static_assert(OF_A * THREADS * 4 == BM * BK && OF_B * THREADS * 4 == BK * BN, "each thread loads equally many");
  float4 a[OF_A], b[OF_B];

  __device__ void load(const float* A, const float* B, long long m, long long n, long long k, long long row0,
                       long long col0, long long k0, int thread) {
#pragma unroll
    for (int s = 0; s < OF_A; ++s) {
      const int i = thread + s * THREADS;
      a[s] = load4(A, m, k, row0 + i / (BK / 4), k0 + i % (BK / 4) * 4);
    }
#pragma unroll
    for (int s = 0; s < OF_B; ++s) {
      const int i = thread + s * THREADS;
      b[s] = load4(B, k, n, k0 + i / (BN / 4), col0 + i % (BN / 4) * 4);
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

template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(BM / TM * (BN / TN))
    matmul_double_buffered(const float* A, const float* B, float* C, long long m, long long n, long long k) {
  constexpr int down = BM / TM, across = BN / TN, threads = down * across;  // threads of the block
  __shared__ float4 As[2][BK][BM / 4];                                      // turned: line p holds column p of A's tile
  __shared__ float4 Bs[2][BK][BN / 4];
  const int thread = threadIdx.x, tx = thread % across, ty = thread / across;
  const long long row0 = static_cast<long long>(blockIdx.y) * BM, col0 = static_cast<long long>(blockIdx.x) * BN;
  float sum[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) sum[i][j] = 0.0f;
  }
  Staged<BM, BN, BK, threads> next;
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
      read_groups<TM>(As[current][p], place<BK>(p, 4 * ty) / 4, down, a);
      read_groups<TN>(Bs[current][p], tx, across, b);
      add_products<TM, TN>(a, b, sum);
    }
    current ^= 1;
    if (more) next.store(As[current], Bs[current], thread);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const long long row = row0 + i / 4 * (4 * down) + 4 * ty + i % 4;
#pragma unroll
    for (int j = 0; j < TN / 4; ++j) {
      store4(C, m, n, row, col0 + (j * across + tx) * 4,
             make_float4(sum[i][4 * j], sum[i][4 * j + 1], sum[i][4 * j + 2], sum[i][4 * j + 3]));
    }
  }
}

template <int BM, int BN, int BK, int TM, int TN>
void launch_double_buffered(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), k = run.param("k");
  run({{gpuexp::ceil_div(n, BN), gpuexp::ceil_div(m, BM)}, {BM / TM * (BN / TN)}},
      matmul_double_buffered<BM, BN, BK, TM, TN>, run.in<float>("A"), run.in<float>("B"), run.out<float>("C"), m, n, k);
}

template <int BM, int BN, int BK, int TM, int TN>
void add_shape(gpuexp::VariantBuilder& variant) {
  variant.instance(launch_double_buffered<BM, BN, BK, TM, TN>,
                   {{"BM", BM}, {"BN", BN}, {"BK", BK}, {"TM", TM}, {"TN", TN}, {"dtype", "float32"}});
}

GPUEXP_VARIANT("matmul/double_buffered") {
  variant
      .idea(
          "the next tiles are loaded to registers while this one is computed with, and stored to a second copy: one "
          "barrier a tile")
      .fixed("BM", {"BM", 128}, "rows of C that a block computes")
      .fixed("BN", {"BN", 128}, "columns of C that a block computes")
      .fixed("BK", {"BK", 8}, "depth of the shared tiles along k")
      .fixed("TM", {"TM", 8}, "rows of C that a thread computes")
      .fixed("TN", {"TN", 8}, "columns of C that a thread computes");
  add_shape<64, 64, 16, 8, 8>(variant);
  add_shape<128, 128, 8, 8, 8>(variant);
  add_shape<128, 128, 16, 8, 8>(variant);
}
