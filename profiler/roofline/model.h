// Intensities by arithmetic: what a kernel's loads come to per FLOP from its tile sizes and element size alone.
#pragma once

#include <string>
#include <vector>

#include "profiler/core/quantity.h"
#include "profiler/roofline/roofline.h"

namespace gpuexp {

// FLOPs of C(m x n) = A(m x k) B(k x n), an FMA counted as two.
double matmul_flops(double m, double n, double k);
// FLOP per byte loaded when a block computes a tile_m x tile_n tile of C from strips of A and B that it loads once:
// 2 tile_m tile_n / ((tile_m + tile_n) bytes). A 1 x 1 tile is the naive kernel. Independent of k.
double tile_intensity(double tile_m, double tile_n, double element_bytes);
// FLOP per compulsory byte of a matmul: every matrix moved once, as by an endless cache.
double matmul_intensity(double m, double n, double k, double element_bytes);

// A kernel to place under a roof: by arithmetic, or from a result file.
struct LabelledPoint {
  std::string label;    // "matmul, 16x16 tiles"
  std::string formula;  // how the intensity comes about; empty for counted points
  Basis basis = Basis::loaded;
  double intensity = 0;  // FLOP/byte
  Source source = Source::modelled;
};

// The kernels that the lectures place: element-wise, gemv and the matmul ladder, in elements of the given size.
std::vector<LabelledPoint> lecture_points(double element_bytes);

}  // namespace gpuexp
