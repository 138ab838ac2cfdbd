// Broken on purpose: the tiled kernel without the barrier between filling the tiles and reading them.
//
// A thread reads elements that its neighbours have not written yet. The checker names a race between the store and the
// load of each tile; on a GPU the same bug comes and goes, because a warp that runs late finds the tiles filled.
#include <cuda_runtime.h>

#include "kernels/variant.h"

template <int TILE>
__global__ void matmul_no_load_barrier(const float* A, const float* B, float* C, long long m, long long n,
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
    // broken: a __syncthreads() belongs here
    for (int p = 0; p < TILE; ++p) {
      const float x = As[ty][p];
      const float y = Bs[p][tx];
      sum += x * y;
    }
    __syncthreads();
  }
  if (row < m && col < n) C[row * n + col] = sum;
}

template <int TILE>
void launch_no_load_barrier(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), k = run.param("k");
  const gpuexp::Extent grid{gpuexp::ceil_div(n, TILE), gpuexp::ceil_div(m, TILE)};
  run({grid, {TILE, TILE}}, matmul_no_load_barrier<TILE>, run.in<float>("A"), run.in<float>("B"), run.out<float>("C"),
      m, n, k);
}

GPUEXP_VARIANT("matmul/tiled_no_load_barrier") {
  variant.idea("broken on purpose: no barrier between filling the tiles and reading them")
      .broken("race")
      .fixed("TILE", {"TILE", 8},
             "side of the square tiles and of the block; a block has 1,024 threads at most, so the largest is 32")
      .instance(launch_no_load_barrier<2>, {{"TILE", 2}, {"dtype", "float32"}})
      .instance(launch_no_load_barrier<4>, {{"TILE", 4}, {"dtype", "float32"}})
      .instance(launch_no_load_barrier<8>, {{"TILE", 8}, {"dtype", "float32"}})
      .instance(launch_no_load_barrier<16>, {{"TILE", 16}, {"dtype", "float32"}})
      .instance(launch_no_load_barrier<32>, {{"TILE", 32}, {"dtype", "float32"}});
}
