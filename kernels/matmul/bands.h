// The order in which blocks take the tiles of C: in bands of several rows of tiles, column by column within a band, so
// that blocks that run side by side share what they read. For kernel files, in their part for the GPU.
#pragma once

#include <cuda_runtime.h>

#include "kernels/variant.h"

namespace gpuexp::bands {

// First row and column of a tile.
template <class Index>
struct Corner {
  Index row, column;
};
// Of the tile of BM rows and BN columns whose turn is `number`. `group`: rows of tiles in a band, tile_rows at most.
template <int BM, int BN, class Index>
__device__ inline Corner<Index> corner(int number, int tile_rows, int tile_columns, int group) {
  const int band = number / (group * tile_columns) * group, rows_in_band = min(group, tile_rows - band);
  const int in_band = number - band * tile_columns;
  return {static_cast<Index>(band + in_band % rows_in_band) * BM, static_cast<Index>(in_band / rows_in_band) * BN};
}

// On the host: the parameter GROUP as the kernel takes it.
inline long long group(const Launch& run, long long tile_rows) {
  return run.param("GROUP") < tile_rows ? run.param("GROUP") : tile_rows;
}

}  // namespace gpuexp::bands
