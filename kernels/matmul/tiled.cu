// A block copies a TILE x TILE piece of A and of B to shared memory, uses each value TILE times, and moves on along k.
//
// Global loads fall to 1/TILE of the naive kernel's, so the intensity by loaded bytes grows to 0.25 x TILE FLOP/B. The
// sum runs over k in the same order as in naive, so the results agree bit for bit. Limits: TILE 32 makes a block of
// 1,024 threads, the most there is; below TILE 8 a row of the tile is shorter than a 32-byte sector and coalescing is
// lost.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/variant.h"

__device__ inline float as_float(float x) { return x; }
__device__ inline float as_float(__half x) { return __half2float(x); }

template <class T, int TILE>
__global__ void matmul_tiled(const T* A, const T* B, float* C, long long m, long long n, long long k) {
  __shared__ T As[TILE][TILE];
  __shared__ T Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const long long row = static_cast<long long>(blockIdx.y) * TILE + ty;
  const long long col = static_cast<long long>(blockIdx.x) * TILE + tx;
  float sum = 0.0f;
  const long long phases = (k + TILE - 1) / TILE;
  for (long long phase = 0; phase < phases; ++phase) {
    // Threads beyond the edge store a zero and stay: the barriers need every thread of the block.
    const long long a_col = phase * TILE + tx, b_row = phase * TILE + ty;
    T a = T(0.0f), b = T(0.0f);
    if (row < m && a_col < k) a = A[row * k + a_col];
    if (b_row < k && col < n) b = B[b_row * n + col];
    As[ty][tx] = a;
    Bs[ty][tx] = b;
    __syncthreads();  // nobody reads before everybody has written
    for (int p = 0; p < TILE; ++p) {
      const float x = as_float(As[ty][p]);
      const float y = as_float(Bs[p][tx]);
      sum += x * y;
    }
    __syncthreads();  // nobody writes the next tile before everybody has read this one
  }
  if (row < m && col < n) C[row * n + col] = sum;
}

template <class T, int TILE>
void launch_tiled(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), k = run.param("k");
  const gpuexp::Extent grid{gpuexp::ceil_div(n, TILE), gpuexp::ceil_div(m, TILE)};
  run({grid, {TILE, TILE}}, matmul_tiled<T, TILE>, run.in<T>("A"), run.in<T>("B"), run.out<float>("C"), m, n, k);
}

template <int TILE>
void add_tile(gpuexp::VariantBuilder& variant) {
  variant.instance(launch_tiled<float, TILE>, {{"TILE", TILE}, {"dtype", "float32"}})
      .instance(launch_tiled<__half, TILE>, {{"TILE", TILE}, {"dtype", "float16"}});
}

GPUEXP_VARIANT("matmul/tiled") {
  variant.idea("tiles of A and B in shared memory: each value loaded from global memory serves TILE threads")
      .fixed("TILE", {"TILE", 16},
             "side of the square tiles and of the block; a block has 1,024 threads at most, so the largest is 32");
  add_tile<1>(variant);
  add_tile<2>(variant);
  add_tile<4>(variant);
  add_tile<8>(variant);
  add_tile<16>(variant);
  add_tile<32>(variant);
}
