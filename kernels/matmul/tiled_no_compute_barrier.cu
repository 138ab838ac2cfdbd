// Broken on purpose: the tiled kernel without the barrier between reading the tiles and filling them again.
//
// A thread that is ahead overwrites values of this phase that others still have to read: wrong numbers, never a NaN.
// With k <= TILE there is one phase only, and nothing goes wrong; tests with one tile miss this bug.
#include <cuda_runtime.h>

#include "kernels/variant.h"

template <int TILE>
__global__ void matmul_no_compute_barrier(const float* A, const float* B, float* C, long long m, long long n,
                                          long long k) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const long long row = static_cast<long long>(blockIdx.y) * TILE + ty;
  const long long col = static_cast<long long>(blockIdx.x) * TILE + tx;
  float sum = 0.0f;
  const long long phases = (k + TILE - 1) / TILE;
  for (long long phase = 0; phase < phases; ++phase) {
    const long long a_col = phase * TILE + tx, b_row = phase * TILE + ty;
    float a = 0.0f, b = 0.0f;
    if (row < m && a_col < k) a = A[row * k + a_col];
    if (b_row < k && col < n) b = B[b_row * n + col];
    As[ty][tx] = a;
    Bs[ty][tx] = b;
    __syncthreads();
    for (int p = 0; p < TILE; ++p) {
      const float x = As[ty][p];
      const float y = Bs[p][tx];
      sum += x * y;
    }
    // broken: a __syncthreads() belongs here
  }
  if (row < m && col < n) C[row * n + col] = sum;
}

template <int TILE>
void launch_no_compute_barrier(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), k = run.param("k");
  const gpuexp::Extent grid{gpuexp::ceil_div(n, TILE), gpuexp::ceil_div(m, TILE)};
  run({grid, {TILE, TILE}}, matmul_no_compute_barrier<TILE>, run.in<float>("A"), run.in<float>("B"),
      run.out<float>("C"), m, n, k);
}

GPUEXP_VARIANT("matmul/tiled_no_compute_barrier") {
  variant.idea("broken on purpose: no barrier between reading the tiles and filling them again")
      .broken("race")
      .fixed("TILE", {"TILE", 8},
             "side of the square tiles and of the block; a block has 1,024 threads at most, so the largest is 32")
      .instance(launch_no_compute_barrier<2>, {{"TILE", 2}, {"dtype", "float32"}})
      .instance(launch_no_compute_barrier<4>, {{"TILE", 4}, {"dtype", "float32"}})
      .instance(launch_no_compute_barrier<8>, {{"TILE", 8}, {"dtype", "float32"}})
      .instance(launch_no_compute_barrier<16>, {{"TILE", 16}, {"dtype", "float32"}})
      .instance(launch_no_compute_barrier<32>, {{"TILE", 32}, {"dtype", "float32"}});
}
