// Generated matrices. Random choices are functions of (seed, purpose, place), so that a matrix does not depend on the
// order in which it was made.
#include "profiler/matrix/generators.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "profiler/core/random.h"

namespace gpuexp {
namespace {

// Streams of random numbers of one seed.
enum Purpose : std::uint64_t { values = 100, columns = 101, gaps = 102, shuffle = 103 };

void fill_values(Csr& matrix, std::uint64_t seed) {
  matrix.value.resize(matrix.col.size());
  for (std::size_t i = 0; i < matrix.value.size(); ++i) {
    matrix.value[i] = 2.0 * random_unit(random_bits(seed, values, i)) - 1.0;
  }
}

// `count` distinct columns of 0 .. cols-1, ascending, drawn uniformly; count <= cols. `row` picks the random numbers.
void append_distinct(std::vector<std::int32_t>& out, std::int64_t count, std::int64_t cols, std::uint64_t seed,
                     std::int64_t row) {
  const std::uint64_t stream = random_bits(seed, columns, static_cast<std::uint64_t>(row));
  if (2 * count > cols) {
    // Many of them: walk over the columns, taking each with the probability that is left (Knuth, TAOCP 2, 3.4.2 S).
    for (std::int64_t col = 0; count > 0; ++col) {
      const std::uint64_t draw = random_below(random_bits(seed, stream, static_cast<std::uint64_t>(col)),
                                              static_cast<std::uint64_t>(cols - col));
      if (draw >= static_cast<std::uint64_t>(count)) continue;
      out.push_back(static_cast<std::int32_t>(col));
      --count;
    }
    return;
  }
  const auto begin = static_cast<std::ptrdiff_t>(out.size());
  std::uint64_t drawn = 0;
  while (static_cast<std::ptrdiff_t>(out.size()) - begin < count) {
    while (static_cast<std::ptrdiff_t>(out.size()) - begin < count) {
      out.push_back(static_cast<std::int32_t>(
          random_below(random_bits(seed, stream, drawn++), static_cast<std::uint64_t>(cols))));
    }
    std::sort(out.begin() + begin, out.end());
    out.erase(std::unique(out.begin() + begin, out.end()), out.end());
  }
}

// Rows of the lengths that `length_of` gives, at random columns.
Csr matrix_of_lengths(std::int64_t rows, std::int64_t cols, const std::function<std::int64_t(std::int64_t)>& length_of,
                      std::uint64_t seed) {
  Csr matrix;
  matrix.rows = rows;
  matrix.cols = cols;
  matrix.row_ptr.reserve(static_cast<std::size_t>(rows) + 1);
  for (std::int64_t row = 0; row < rows; ++row) {
    append_distinct(matrix.col, std::min(length_of(row), cols), cols, seed, row);
    matrix.row_ptr.push_back(static_cast<std::int64_t>(matrix.col.size()));
  }
  fill_values(matrix, seed);
  return matrix;
}

// A stencil on side^dimensions points: `centre` on the diagonal and -1 for each neighbour along each axis.
Csr stencil(std::int64_t side, int dimensions, double centre) {
  Csr matrix;
  matrix.rows = 1;
  for (int d = 0; d < dimensions; ++d) matrix.rows *= side;
  matrix.cols = matrix.rows;
  matrix.row_ptr.reserve(static_cast<std::size_t>(matrix.rows) + 1);
  for (std::int64_t point = 0; point < matrix.rows; ++point) {
    const auto add = [&](std::int64_t col, double value) {
      matrix.col.push_back(static_cast<std::int32_t>(col));
      matrix.value.push_back(value);
    };
    // Neighbours below in order of column: the longest stride first; then the point; then those above.
    const std::int64_t longest = matrix.rows / std::max<std::int64_t>(side, 1);
    for (std::int64_t stride = longest; stride >= 1; stride /= side) {
      if (point / stride % side > 0) add(point - stride, -1.0);
      if (side == 1) break;
    }
    add(point, centre);
    std::int64_t stride = 1;
    for (int d = 0; d < dimensions; ++d, stride *= side) {
      if (point / stride % side < side - 1) add(point + stride, -1.0);
    }
    matrix.row_ptr.push_back(static_cast<std::int64_t>(matrix.col.size()));
  }
  return matrix;
}

}  // namespace

Csr uniform_matrix(std::int64_t rows, std::int64_t cols, double density, std::uint64_t seed) {
  Csr matrix;
  matrix.rows = rows;
  matrix.cols = cols;
  matrix.row_ptr.assign(static_cast<std::size_t>(rows) + 1, 0);
  const std::int64_t places = rows * cols;
  const double log_miss = std::log1p(-density);  // of the probability that a place is zero; -inf for density 1
  // The number of zeros before the next nonzero is geometrically distributed.
  std::uint64_t draw = 0;
  for (std::int64_t place = -1; density > 0;) {
    const double gap = std::floor(std::log1p(-random_unit(random_bits(seed, gaps, draw++))) / log_miss);
    if (!(gap < static_cast<double>(places - place - 1))) break;
    place += 1 + static_cast<std::int64_t>(gap);
    if (place >= places) break;
    matrix.col.push_back(static_cast<std::int32_t>(place % cols));
    ++matrix.row_ptr[place / cols + 1];
  }
  std::partial_sum(matrix.row_ptr.begin(), matrix.row_ptr.end(), matrix.row_ptr.begin());
  fill_values(matrix, seed);
  return matrix;
}

Csr fixed_matrix(std::int64_t rows, std::int64_t cols, std::int64_t per_row, std::uint64_t seed) {
  return matrix_of_lengths(
      rows, cols, [&](std::int64_t) { return per_row; }, seed);
}

Csr banded_matrix(std::int64_t rows, std::int64_t cols, std::int64_t half_width, std::uint64_t seed) {
  Csr matrix;
  matrix.rows = rows;
  matrix.cols = cols;
  matrix.row_ptr.reserve(static_cast<std::size_t>(rows) + 1);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t last = std::min(cols - 1, row + half_width);
    for (std::int64_t col = std::max<std::int64_t>(0, row - half_width); col <= last; ++col) {
      matrix.col.push_back(static_cast<std::int32_t>(col));
    }
    matrix.row_ptr.push_back(static_cast<std::int64_t>(matrix.col.size()));
  }
  fill_values(matrix, seed);
  return matrix;
}

Csr power_law_matrix(std::int64_t rows, std::int64_t cols, std::int64_t per_row, double exponent, std::uint64_t seed) {
  if (rows == 0) return matrix_of_lengths(0, cols, {}, seed);
  std::vector<double> weights(static_cast<std::size_t>(rows));
  for (std::int64_t rank = 0; rank < rows; ++rank) weights[rank] = std::pow(static_cast<double>(rank + 1), -exponent);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const double scale = static_cast<double>(per_row) * static_cast<double>(rows) / sum;
  std::vector<std::int64_t> lengths(weights.size());
  const double most = static_cast<double>(std::max<std::int64_t>(cols, 1));
  std::transform(weights.begin(), weights.end(), lengths.begin(), [&](double weight) {
    return static_cast<std::int64_t>(std::clamp(std::round(weight * scale), 1.0, most));
  });
  for (std::size_t i = lengths.size(); i > 1; --i) {
    std::swap(lengths[i - 1], lengths[random_below(random_bits(seed, shuffle, i), i)]);
  }
  return matrix_of_lengths(
      rows, cols, [&](std::int64_t row) { return lengths[row]; }, seed);
}

Csr long_rows_matrix(std::int64_t rows, std::int64_t cols, std::int64_t per_row, std::int64_t long_row,
                     std::int64_t every, std::uint64_t seed) {
  return matrix_of_lengths(
      rows, cols, [&](std::int64_t row) { return row % every == 0 ? long_row : per_row; }, seed);
}

Csr one_dense_row_matrix(std::int64_t rows, std::int64_t cols, std::int64_t per_row, std::uint64_t seed) {
  return matrix_of_lengths(
      rows, cols, [&](std::int64_t row) { return row == rows / 2 ? cols : per_row; }, seed);
}

Csr poisson2d_matrix(std::int64_t side) { return stencil(side, 2, 4.0); }
Csr poisson3d_matrix(std::int64_t side) { return stencil(side, 3, 6.0); }

}  // namespace gpuexp
