// Where one way of computing overtakes another, by bytes and FLOPs alone: how sparse a matrix must be for CSR to pay,
// and how many vectors must share a matrix before its product is bound by arithmetic. All modelled.
#pragma once

#include <cstdint>
#include <optional>

namespace gpuexp {

// What CSR and a dense matrix take for one element.
struct ElementBytes {
  double value = 4;    // of a nonzero or a dense element
  double index = 4;    // of a nonzero's column
  double pointer = 4;  // of a row's offset
};

// Density below which CSR's nonzeros take fewer bytes than the dense matrix, row offsets left aside: value / (value +
// index). 0.5 for float32 with 32-bit columns, 2/3 for float64.
double storage_break_even_density(const ElementBytes& bytes);

// Bytes moved by y = A x with A in CSR. `gather` bytes are moved for each element of x that a nonzero asks for: 0 when
// x stays in a cache (it is then read once), 32 when every gather misses and moves a sector.
double csr_product_bytes(double rows, double cols, double density, const ElementBytes& bytes, double gather);
// With A dense, x read once.
double dense_product_bytes(double rows, double cols, double value_bytes);
// Density at which both move the same bytes, so that a product bound by memory takes as long: below it CSR is faster.
// 0 when CSR never is.
double product_break_even_density(double rows, double cols, const ElementBytes& bytes, double gather);

// FLOP per compulsory byte of A[m,k] times `batch` vectors: every matrix moved once.
double batch_intensity(double m, double k, double batch, double element_bytes);
// Smallest whole batch whose intensity reaches `ridge` FLOP/byte, so that it is bound by arithmetic and no longer by
// memory. Nothing when no batch does: the intensity never exceeds 2 m k / ((m + k) element_bytes).
std::optional<std::int64_t> batch_at_ridge(double m, double k, double element_bytes, double ridge);

// FLOP per byte of y = A x (+ bias): A, x, bias and y moved once.
double gemv_intensity(double m, double n, double weight_bytes, bool bias);

// Where the intensity reaches `ridge`, along a size x: the points are in ascending order of x. Between two of them
// 1 / intensity is taken as linear in 1 / x, which is exact where FLOPs grow in proportion to x and bytes by as much
// for each. Nothing when the first point is there already or none gets there.
struct IntensityPoint {
  double x = 0, intensity = 0;
};
std::optional<double> intensity_crossing(const IntensityPoint* points, std::int64_t count, double ridge);

// Where two measured or modelled curves over the same x cross: the first x, interpolated linearly in log x, from which
// `a` is below `b` for good. Nothing when it is below nowhere at the end, or everywhere from the start.
struct CurvePoint {
  double x = 0, a = 0, b = 0;
};
std::optional<double> crossing(const CurvePoint* points, std::int64_t count);

}  // namespace gpuexp
