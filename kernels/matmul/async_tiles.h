// For kernel files that multiply float32 from a ring of tiles filled by cp.async, in their part for the GPU: the copies
// to shared memory, a thread's reads from there, and stores of its sums. async_copy.cu says why A's tile is turned.
#pragma once

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

namespace gpuexp::async_tiles {

// Where row r of A's tile lies in line p of the turned tile; groups of four rows stay together.
__device__ inline int place(int p, int r) { return r ^ (p % 8 * 4); }

// One tile of A, turned, and one of B.
template <int BM, int BN, int BK>
struct Tiles {
  float a[BK][BM];
  float b[BK][BN];
};

// Starts the copies of the tiles at k0; zeros beyond the edges. EDGES false: all of it lies inside.
template <int BM, int BN, int BK, int THREADS, bool EDGES>
__device__ inline void start_copies(Tiles<BM, BN, BK>& tiles, const float* A, const float* B, long long m, long long n,
                                    long long k, long long row0, long long col0, long long k0, int thread) {
  static_assert(BK % 8 == 0 && THREADS * 8 <= BM * 64 && BM * BK % THREADS == 0 && BK * BN % (4 * THREADS) == 0);
#pragma unroll
  for (int s = 0; s < BM * BK / THREADS; ++s) {
    const int i = thread + s * THREADS, p = i % 8 + i / (8 * BM) * 8, r = i / 8 % BM;
    const float* from = A + (row0 + r) * k + k0 + p;
    const bool inside = !EDGES || (row0 + r < m && k0 + p < k);
    __pipeline_memcpy_async(&tiles.a[p][place(p, r)], inside ? from : A, 4, inside ? 0 : 4);
  }
#pragma unroll
  for (int s = 0; s < BK * BN / 4 / THREADS; ++s) {
    const int i = thread + s * THREADS, p = i / (BN / 4), c = i % (BN / 4) * 4;
    const float* from = B + (k0 + p) * n + col0 + c;
    if (!EDGES || n % 4 == 0) {
      const bool inside = !EDGES || (k0 + p < k && col0 + c < n);
      __pipeline_memcpy_async(&tiles.b[p][c], inside ? from : B, 16, inside ? 0 : 16);
    } else {
      for (int e = 0; e < 4; ++e) {
        const bool inside = k0 + p < k && col0 + c + e < n;
        __pipeline_memcpy_async(&tiles.b[p][c + e], inside ? from + e : B, 4, inside ? 0 : 4);
      }
    }
  }
}

// First row and column of this thread in the block's tile. Groups of four; the others follow 8 and 4 groups further.
struct Corner {
  int row, column;
};
template <int BM, int BN, int TM, int TN>
__device__ inline Corner corner() {
  static_assert(BM % (8 * TM) == 0 && BN % (4 * TN) == 0, "warps take 8 x 4 threads");
  constexpr int warps_across = BN / (4 * TN);
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  return {4 * (warp / warps_across * (8 * TM / 4) + lane / 2 % 8),
          4 * (warp % warps_across * (4 * TN / 4) + (lane % 2 + lane / 16 * 2))};
}

// Groups of four, `step` words apart.
template <int COUNT>
__device__ inline void read_groups(const float* from, int step, float (&v)[COUNT]) {
#pragma unroll
  for (int g = 0; g < COUNT / 4; ++g) {
    const float4 four = *reinterpret_cast<const float4*>(from + g * step);
    v[4 * g] = four.x, v[4 * g + 1] = four.y, v[4 * g + 2] = four.z, v[4 * g + 3] = four.w;
  }
}

// A thread's rows and columns of one k.
template <int TM, int TN>
struct Fragment {
  float a[TM], b[TN];

  template <int BM, int BN, int BK>
  __device__ void read(const Tiles<BM, BN, BK>& tiles, int p, int row, int column) {
    read_groups<TM>(&tiles.a[p][place(p, row)], 32, a);
    read_groups<TN>(&tiles.b[p][column], 16, b);
  }
};

// Four neighbours of a row of C to memory, in one access where the rows' length keeps them on a boundary.
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

}  // namespace gpuexp::async_tiles
