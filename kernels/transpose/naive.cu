// One thread moves one element: rows of A are read in order, columns of B are written.
//
// The loads coalesce (a warp reads 32 neighbours of one row: 4 sectors); the stores do not (they land `rows` elements
// apart: 32 sectors for 128 useful bytes). A matrix of more rows than the grid can hold on y is walked in strides.
#include <cuda_runtime.h>

#include "kernels/variant.h"

__global__ void transpose_naive(const float* A, float* B, long long rows, long long cols) {
  const long long col = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long first_row = static_cast<long long>(blockIdx.y) * blockDim.y + threadIdx.y;
  const long long stride = static_cast<long long>(gridDim.y) * blockDim.y;
  if (col >= cols) return;
  for (long long row = first_row; row < rows; row += stride) {
    const float value = A[row * cols + col];
    B[col * rows + row] = value;
  }
}

void launch_naive(const gpuexp::Launch& run) {
  const long long rows = run.param("rows"), cols = run.param("cols"), side = run.param("block");
  const long long most_blocks_on_y = 65535;
  const long long blocks_on_y = gpuexp::ceil_div(rows, side);
  const gpuexp::Extent grid{gpuexp::ceil_div(cols, side),
                            blocks_on_y < most_blocks_on_y ? blocks_on_y : most_blocks_on_y};
  run({grid, {side, side}}, transpose_naive, run.in<float>("A"), run.out<float>("B"), rows, cols);
}

GPUEXP_VARIANT("transpose/naive") {
  variant.idea("one thread per element: coalesced reads of rows, uncoalesced writes of columns")
      .alias("transpose/v1")
      .param("block", 32, "threads along each side of a block", 1, 32)
      .instance(launch_naive, {{"dtype", "float32"}});
}
