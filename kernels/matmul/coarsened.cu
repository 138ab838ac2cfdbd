// A block computes COARSE tiles of C that lie side by side, so the tile of A is copied once per phase for all of them.
//
// Loads of A fall to 1/COARSE of the tiled kernel's, and each value of A read from shared memory serves COARSE
// products. The price is COARSE accumulators a thread and fewer blocks: it pays while there are blocks to spare. The
// sum runs over k in the same order as in naive and tiled, so the results agree bit for bit.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/variant.h"

__device__ inline float as_float(float x) { return x; }
__device__ inline float as_float(__half x) { return __half2float(x); }

template <class T, int TILE, int COARSE>
__global__ void matmul_coarsened(const T* A, const T* B, float* C, long long m, long long n, long long k) {
  __shared__ T As[TILE][TILE];
  __shared__ T Bs[COARSE][TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const long long row = static_cast<long long>(blockIdx.y) * TILE + ty;
  const long long first_col = static_cast<long long>(blockIdx.x) * TILE * COARSE + tx;
  float sum[COARSE];
  for (int c = 0; c < COARSE; ++c) sum[c] = 0.0f;
  const long long phases = (k + TILE - 1) / TILE;
  for (long long phase = 0; phase < phases; ++phase) {
    const long long a_col = phase * TILE + tx, b_row = phase * TILE + ty;
    T a = T(0.0f);
    if (row < m && a_col < k) a = A[row * k + a_col];
    As[ty][tx] = a;
    for (int c = 0; c < COARSE; ++c) {
      const long long col = first_col + c * TILE;
      T b = T(0.0f);
      if (b_row < k && col < n) b = B[b_row * n + col];
      Bs[c][ty][tx] = b;
    }
    __syncthreads();
    for (int p = 0; p < TILE; ++p) {
      const float x = as_float(As[ty][p]);
      for (int c = 0; c < COARSE; ++c) {
        const float y = as_float(Bs[c][p][tx]);
        sum[c] += x * y;
      }
    }
    __syncthreads();
  }
  for (int c = 0; c < COARSE; ++c) {
    const long long col = first_col + c * TILE;
    if (row < m && col < n) C[row * n + col] = sum[c];
  }
}

template <class T, int TILE, int COARSE>
void launch_coarsened(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), k = run.param("k");
  const gpuexp::Extent grid{gpuexp::ceil_div(n, TILE * COARSE), gpuexp::ceil_div(m, TILE)};
  run({grid, {TILE, TILE}}, matmul_coarsened<T, TILE, COARSE>, run.in<T>("A"), run.in<T>("B"), run.out<float>("C"), m,
      n, k);
}

template <int TILE, int COARSE>
void add_point(gpuexp::VariantBuilder& variant) {
  variant.instance(launch_coarsened<float, TILE, COARSE>, {{"TILE", TILE}, {"COARSE", COARSE}, {"dtype", "float32"}})
      .instance(launch_coarsened<__half, TILE, COARSE>, {{"TILE", TILE}, {"COARSE", COARSE}, {"dtype", "float16"}});
}

template <int TILE>
void add_tile(gpuexp::VariantBuilder& variant) {
  add_point<TILE, 1>(variant);
  add_point<TILE, 2>(variant);
  add_point<TILE, 4>(variant);
}

GPUEXP_VARIANT("matmul/coarsened") {
  variant.idea("a block computes COARSE neighbouring tiles of C and copies the tile of A only once for all of them")
      .fixed("TILE", {"TILE", 16},
             "side of the square tiles and of the block; a block has 1,024 threads at most, so the largest is 32")
      .fixed("COARSE", {"COARSE", 2}, "tiles of C, side by side, that one block computes");
  add_tile<8>(variant);
  add_tile<16>(variant);
  add_tile<32>(variant);
}
