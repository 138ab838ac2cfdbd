// Break-even densities, batch sizes at the ridge, and crossings of two curves.
#include "profiler/roofline/crossover.h"

#include <cmath>

#include "profiler/roofline/model.h"

namespace gpuexp {

double storage_break_even_density(const ElementBytes& bytes) { return bytes.value / (bytes.value + bytes.index); }

double csr_product_bytes(double rows, double cols, double density, const ElementBytes& bytes, double gather) {
  const double nonzeros = rows * cols * density;
  const double x = gather > 0 ? nonzeros * gather : cols * bytes.value;
  return nonzeros * (bytes.value + bytes.index) + (rows + 1) * bytes.pointer + x + rows * bytes.value;
}

double dense_product_bytes(double rows, double cols, double value_bytes) {
  return (rows * cols + cols + rows) * value_bytes;
}

double product_break_even_density(double rows, double cols, const ElementBytes& bytes, double gather) {
  // CSR's bytes grow linearly with the density.
  const double at_none = csr_product_bytes(rows, cols, 0.0, bytes, gather);
  const double slope = csr_product_bytes(rows, cols, 1.0, bytes, gather) - at_none;
  const double room = dense_product_bytes(rows, cols, bytes.value) - at_none;
  return slope > 0 && room > 0 ? std::fmin(room / slope, 1.0) : 0.0;
}

double batch_intensity(double m, double k, double batch, double element_bytes) {
  return matmul_intensity(m, batch, k, element_bytes);
}

std::optional<std::int64_t> batch_at_ridge(double m, double k, double element_bytes, double ridge) {
  // 2 m k B >= ridge e (m k + k B + m B), solved for B.
  const double gain = 2 * m * k - ridge * element_bytes * (m + k);
  if (!(gain > 0)) return std::nullopt;
  const double batch = std::ceil(ridge * element_bytes * m * k / gain);
  if (!(batch < 0x1p62)) return std::nullopt;
  return static_cast<std::int64_t>(batch);
}

double gemv_intensity(double m, double n, double weight_bytes, bool bias) {
  const double vectors = 4.0 * (n + (bias ? 2 : 1) * m);
  return (2 * m * n + (bias ? m : 0)) / (m * n * weight_bytes + vectors);
}

std::optional<double> intensity_crossing(const IntensityPoint* points, std::int64_t count, double ridge) {
  std::int64_t at = 0;
  while (at < count && !(points[at].intensity >= ridge)) ++at;
  if (at == 0 || at == count) return std::nullopt;
  const IntensityPoint &before = points[at - 1], &after = points[at];
  if (!(before.x > 0) || !(before.intensity > 0)) return after.x;
  const double share = (1 / before.intensity - 1 / ridge) / (1 / before.intensity - 1 / after.intensity);
  return 1 / (1 / before.x + share * (1 / after.x - 1 / before.x));
}

std::optional<double> crossing(const CurvePoint* points, std::int64_t count) {
  std::int64_t first = count;  // of the points from which a stays below b
  while (first > 0 && points[first - 1].a < points[first - 1].b) --first;
  if (first == count || first == 0) return std::nullopt;
  const CurvePoint &before = points[first - 1], &after = points[first];
  const double gap_before = std::log(before.a / before.b), gap_after = std::log(after.a / after.b);
  const double share = gap_before / (gap_before - gap_after);
  if (!std::isfinite(share) || !(before.x > 0)) return after.x;
  return before.x * std::pow(after.x / before.x, share);
}

}  // namespace gpuexp
