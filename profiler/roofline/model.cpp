// The arithmetic of the lectures' kernels.
#include "profiler/roofline/model.h"

#include <fmt/format.h>

#include "profiler/core/text.h"

namespace gpuexp {
namespace {

LabelledPoint matmul_point(std::string label, int tile_m, int tile_n, double element_bytes) {
  return {std::move(label), fmt::format("2*{0}*{1} / (({0}+{1}) * {2} B)", tile_m, tile_n, number_text(element_bytes)),
          Basis::loaded, tile_intensity(tile_m, tile_n, element_bytes), Source::modelled};
}

LabelledPoint streaming_point(std::string label, double flops, double elements, double element_bytes, Basis basis) {
  return {std::move(label),
          fmt::format("{} / ({} * {} B)", number_text(flops), number_text(elements), number_text(element_bytes)), basis,
          flops / (elements * element_bytes), Source::modelled};
}

}  // namespace

double matmul_flops(double m, double n, double k) { return 2 * m * n * k; }

double tile_intensity(double tile_m, double tile_n, double element_bytes) {
  return 2 * tile_m * tile_n / ((tile_m + tile_n) * element_bytes);
}

double matmul_intensity(double m, double n, double k, double element_bytes) {
  return matmul_flops(m, n, k) / (element_bytes * (m * k + k * n + m * n));
}

std::vector<LabelledPoint> lecture_points(double element_bytes) {
  const double b = element_bytes;
  return {
      streaming_point("vector add", 1, 3, b, Basis::requested),           // two loads and a store
      streaming_point("axpy", 2, 3, b, Basis::requested),                 // two loads and a store
      streaming_point("gemv, matrix read once", 2, 1, b, Basis::loaded),  // the vector's reuse is left to the caches
      matmul_point("matmul naive", 1, 1, b),
      matmul_point("matmul tiled, TILE=8", 8, 8, b),
      matmul_point("matmul tiled, TILE=16", 16, 16, b),
      matmul_point("matmul tiled, TILE=32", 32, 32, b),
      matmul_point("matmul, block tile 64x64", 64, 64, b),
      matmul_point("matmul, block tile 128x128", 128, 128, b),
      matmul_point("matmul, block tile 128x256", 128, 256, b),
  };
}

}  // namespace gpuexp
