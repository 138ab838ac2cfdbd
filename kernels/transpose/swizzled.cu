// rows_per_thread with a swizzle instead of the padding: row c of the tile keeps its word r in place r ^ (c % 32).
//
// A column of the tile then spreads over all 32 banks, as with padding, and a row still does, for the exclusive or
// permutes the words of 32 neighbours. No word is left unused, and each row starts on a 128-byte boundary, which
// vector accesses need and padding denies them. By itself it should gain little: 3 % of the shared memory. Measured
// on an H200 (8192 x 8192): 143 to 154 us, 7 % slower. The exclusive or of each item is an instruction, where the
// padded index is an offset within the access. The next rung needs it once per thread.
#include <cuda_runtime.h>

#include "kernels/variant.h"

template <int TILE, int ITEMS>
__global__ void transpose_swizzled(const float* A, float* B, long long rows, long long cols) {
  constexpr int STEP = TILE / ITEMS;  // rows between the items of a thread
  __shared__ float tile[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  // The grid's y axis ends at 65,535 blocks; z carries on.
  const long long tile_row = (static_cast<long long>(blockIdx.z) * gridDim.y + blockIdx.y) * TILE;
  const long long tile_col = static_cast<long long>(blockIdx.x) * TILE;
  float held[ITEMS];
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const long long row = tile_row + item * STEP + ty;
    if (row < rows && tile_col + tx < cols) held[item] = A[row * cols + tile_col + tx];
  }
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    if (tile_row + item * STEP + ty < rows && tile_col + tx < cols)
      tile[tx][(item * STEP + ty) ^ (tx % 32)] = held[item];
  }
  __syncthreads();
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const long long col = tile_col + item * STEP + ty;
    if (col < cols && tile_row + tx < rows) {
      const int line = item * STEP + ty;
      const float value = tile[line][tx ^ (line % 32)];
      B[col * rows + tile_row + tx] = value;
    }
  }
}

template <int TILE, int ITEMS>
void launch_swizzled(const gpuexp::Launch& run) {
  const long long rows = run.param("rows"), cols = run.param("cols"), most = 65535;
  const long long down = gpuexp::ceil_div(rows, TILE), on_y = down < most ? down : most;
  const long long on_z = on_y == 0 ? 0 : gpuexp::ceil_div(down, on_y);
  run({{gpuexp::ceil_div(cols, TILE), on_y, on_z}, {TILE, TILE / ITEMS}}, transpose_swizzled<TILE, ITEMS>,
      run.in<float>("A"), run.out<float>("B"), rows, cols);
}

GPUEXP_VARIANT("transpose/swizzled") {
  variant.idea("an exclusive or instead of padding keeps columns of the tile off one bank, and its rows aligned")
      .fixed("TILE", {"TILE", 64}, "side of the square tile")
      .fixed("ITEMS", {"ITEMS", 16}, "elements that a thread moves, TILE/ITEMS rows apart")
      .instance(launch_swizzled<32, 2>, {{"TILE", 32}, {"ITEMS", 2}, {"dtype", "float32"}})
      .instance(launch_swizzled<32, 4>, {{"TILE", 32}, {"ITEMS", 4}, {"dtype", "float32"}})
      .instance(launch_swizzled<32, 8>, {{"TILE", 32}, {"ITEMS", 8}, {"dtype", "float32"}})
      .instance(launch_swizzled<64, 8>, {{"TILE", 64}, {"ITEMS", 8}, {"dtype", "float32"}})
      .instance(launch_swizzled<64, 16>, {{"TILE", 64}, {"ITEMS", 16}, {"dtype", "float32"}});
}
