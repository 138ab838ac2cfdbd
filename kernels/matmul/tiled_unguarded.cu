// Broken on purpose: the lecture's tiled kernel, which is right only when TILE divides m, n and k.
//
// The number of phases is rounded down, so the last k % TILE terms of each sum are missed, and nothing stops the
// threads beyond the edges, which read and write outside the matrices.
#include <cuda_runtime.h>

#include "kernels/variant.h"

template <int TILE>
__global__ void matmul_unguarded(const float* A, const float* B, float* C, long long n, long long k) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const long long row = static_cast<long long>(blockIdx.y) * TILE + ty;
  const long long col = static_cast<long long>(blockIdx.x) * TILE + tx;
  float sum = 0.0f;
  const long long phases = k / TILE;  // broken: rounds down
  for (long long phase = 0; phase < phases; ++phase) {
    const float a = A[row * k + phase * TILE + tx];    // broken: row may be beyond m
    const float b = B[(phase * TILE + ty) * n + col];  // broken: col may be beyond n
    As[ty][tx] = a;
    Bs[ty][tx] = b;
    __syncthreads();
    for (int p = 0; p < TILE; ++p) {
      const float x = As[ty][p];
      const float y = Bs[p][tx];
      sum += x * y;
    }
    __syncthreads();
  }
  C[row * n + col] = sum;  // broken: row and col may be beyond m and n
}

template <int TILE>
void launch_unguarded(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), k = run.param("k");
  const gpuexp::Extent grid{gpuexp::ceil_div(n, TILE), gpuexp::ceil_div(m, TILE)};
  run({grid, {TILE, TILE}}, matmul_unguarded<TILE>, run.in<float>("A"), run.in<float>("B"), run.out<float>("C"), n, k);
}

GPUEXP_VARIANT("matmul/tiled_unguarded") {
  variant.idea("broken on purpose: no bounds checks, and the phases rounded down")
      .broken("out_of_bounds")
      .fixed("TILE", {"TILE", 4},
             "side of the square tiles and of the block; a block has 1,024 threads at most, so the largest is 32")
      .instance(launch_unguarded<2>, {{"TILE", 2}, {"dtype", "float32"}})
      .instance(launch_unguarded<4>, {{"TILE", 4}, {"dtype", "float32"}})
      .instance(launch_unguarded<8>, {{"TILE", 8}, {"dtype", "float32"}})
      .instance(launch_unguarded<16>, {{"TILE", 16}, {"dtype", "float32"}})
      .instance(launch_unguarded<32>, {{"TILE", 32}, {"dtype", "float32"}});
}
