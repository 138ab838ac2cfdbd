// A block turns a TILE x TILE piece in shared memory: rows of A are read in order, rows of B are written in order.
//
// Both global accesses coalesce; the access by columns happens in shared memory instead, when the tile is filled. Its
// price: with TILE 32 the 32 lanes of that store fall into one bank, 32 wavefronts for one request.
#include <cuda_runtime.h>

#include "kernels/variant.h"

template <int TILE>
__global__ void transpose_smem(const float* A, float* B, long long rows, long long cols) {
  __shared__ float tile[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const long long tile_col = static_cast<long long>(blockIdx.x) * TILE;
  const long long stride = static_cast<long long>(gridDim.y) * TILE;
  // More than one round only when there are more tiles along the rows than blocks fit on the grid's y axis.
  for (long long tile_row = static_cast<long long>(blockIdx.y) * TILE; tile_row < rows; tile_row += stride) {
    if (tile_row + ty < rows && tile_col + tx < cols) {
      const float value = A[(tile_row + ty) * cols + tile_col + tx];
      tile[tx][ty] = value;  // a column: with TILE 32, all in one bank
    }
    __syncthreads();
    if (tile_col + ty < cols && tile_row + tx < rows) {
      const float value = tile[ty][tx];
      B[(tile_col + ty) * rows + tile_row + tx] = value;
    }
    __syncthreads();
  }
}

template <int TILE>
void launch_smem(const gpuexp::Launch& run) {
  const long long rows = run.param("rows"), cols = run.param("cols");
  const long long most_blocks_on_y = 65535;
  const long long blocks_on_y = gpuexp::ceil_div(rows, TILE);
  const gpuexp::Extent grid{gpuexp::ceil_div(cols, TILE),
                            blocks_on_y < most_blocks_on_y ? blocks_on_y : most_blocks_on_y};
  run({grid, {TILE, TILE}}, transpose_smem<TILE>, run.in<float>("A"), run.out<float>("B"), rows, cols);
}

GPUEXP_VARIANT("transpose/smem") {
  variant.idea("a tile in shared memory takes the column access, so that global reads and writes both coalesce")
      .alias("transpose/v2")
      .fixed("TILE", {"TILE", 32}, "side of the square tile and of the block")
      .instance(launch_smem<8>, {{"TILE", 8}, {"dtype", "float32"}})
      .instance(launch_smem<16>, {{"TILE", 16}, {"dtype", "float32"}})
      .instance(launch_smem<32>, {{"TILE", 32}, {"dtype", "float32"}});
}
