// Conversions between sparse formats, and the figures of a matrix.
#include "profiler/matrix/sparse.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "profiler/core/error.h"

namespace gpuexp {
namespace {

// Orders the nonzeros of one row by column. Stable, so that entries at one place are summed in their order.
void sort_row(std::int32_t* cols, double* values, std::int64_t count,
              std::vector<std::pair<std::int32_t, double>>& room) {
  if (std::is_sorted(cols, cols + count)) return;
  room.resize(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) room[i] = {cols[i], values[i]};
  std::stable_sort(room.begin(), room.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::int64_t i = 0; i < count; ++i) std::tie(cols[i], values[i]) = room[i];
}

// Where each row starts when the entries are grouped by row.
std::vector<std::int64_t> row_starts(const Coo& matrix) {
  std::vector<std::int64_t> starts(static_cast<std::size_t>(matrix.rows) + 1, 0);
  for (const std::int32_t row : matrix.row) ++starts[static_cast<std::size_t>(row) + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  return starts;
}

// Sums neighbours of the same column and closes the gaps.
void merge_duplicates(Csr& matrix) {
  std::int64_t kept = 0;
  for (std::int64_t row = 0, i = 0; row < matrix.rows; ++row) {
    const std::int64_t end = matrix.row_ptr[row + 1], first = kept;
    for (; i < end; ++i) {
      if (kept > first && matrix.col[kept - 1] == matrix.col[i]) {
        matrix.value[kept - 1] += matrix.value[i];
      } else {
        matrix.col[kept] = matrix.col[i];
        matrix.value[kept++] = matrix.value[i];
      }
    }
    matrix.row_ptr[row + 1] = kept;
  }
  matrix.col.resize(static_cast<std::size_t>(kept));
  matrix.value.resize(static_cast<std::size_t>(kept));
}

// Rows by descending length within windows.
std::vector<std::int32_t> windowed_order(const Csr& matrix, std::int64_t window) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(matrix.rows));
  std::iota(order.begin(), order.end(), 0);
  if (window <= 1) return order;
  for (std::int64_t begin = 0; begin < matrix.rows; begin += window) {
    const std::int64_t end = std::min(matrix.rows, begin + window);
    std::stable_sort(order.begin() + begin, order.begin() + end,
                     [&](std::int32_t a, std::int32_t b) { return matrix.length(a) > matrix.length(b); });
  }
  return order;
}

}  // namespace

Csr to_csr(const Coo& matrix) {
  Csr csr;
  csr.rows = matrix.rows;
  csr.cols = matrix.cols;
  csr.row_ptr = row_starts(matrix);
  csr.col.resize(matrix.col.size());
  csr.value.resize(matrix.value.size());
  std::vector<std::int64_t> next(csr.row_ptr.begin(), csr.row_ptr.end() - 1);
  for (std::int64_t i = 0; i < matrix.nnz(); ++i) {
    const std::int64_t at = next[matrix.row[i]]++;
    csr.col[at] = matrix.col[i];
    csr.value[at] = matrix.value[i];
  }
  std::vector<std::pair<std::int32_t, double>> room;
  for (std::int64_t row = 0; row < csr.rows; ++row) {
    sort_row(csr.col.data() + csr.row_ptr[row], csr.value.data() + csr.row_ptr[row], csr.length(row), room);
  }
  merge_duplicates(csr);
  return csr;
}

Coo to_coo(const Csr& matrix) {
  Coo coo{matrix.rows, matrix.cols, {}, matrix.col, matrix.value};
  coo.row.reserve(matrix.col.size());
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    coo.row.insert(coo.row.end(), static_cast<std::size_t>(matrix.length(row)), static_cast<std::int32_t>(row));
  }
  return coo;
}

Ell to_ell(const Csr& matrix) {
  Ell ell{matrix.rows, matrix.cols, row_lengths(matrix).longest, {}, {}};
  const auto elements = static_cast<std::size_t>(ell.rows * ell.width);
  ell.col.assign(elements, -1);
  ell.value.assign(elements, 0.0);
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (std::int64_t k = 0; k < matrix.length(row); ++k) {
      ell.col[k * ell.rows + row] = matrix.col[matrix.row_ptr[row] + k];
      ell.value[k * ell.rows + row] = matrix.value[matrix.row_ptr[row] + k];
    }
  }
  return ell;
}

SlicedEll to_sliced_ell(const Csr& matrix, std::int64_t height, std::int64_t window) {
  SlicedEll sell;
  sell.rows = matrix.rows;
  sell.cols = matrix.cols;
  sell.height = height;
  sell.row_of = windowed_order(matrix, window);
  const std::int64_t slices = (matrix.rows + height - 1) / height;
  sell.row_of.resize(static_cast<std::size_t>(slices * height), -1);
  for (std::int64_t slice = 0; slice < slices; ++slice) {
    std::int64_t longest = 0;
    for (std::int64_t lane = 0; lane < height; ++lane) {
      const std::int32_t row = sell.row_of[slice * height + lane];
      if (row >= 0) longest = std::max(longest, matrix.length(row));
    }
    sell.slice_ptr.push_back(sell.slice_ptr.back() + longest * height);
  }
  sell.col.assign(static_cast<std::size_t>(sell.slice_ptr.back()), -1);
  sell.value.assign(sell.col.size(), 0.0);
  for (std::int64_t place = 0; place < slices * height; ++place) {
    const std::int32_t row = sell.row_of[place];
    if (row < 0) continue;
    const std::int64_t start = sell.slice_ptr[place / height] + place % height;
    for (std::int64_t k = 0; k < matrix.length(row); ++k) {
      sell.col[start + k * height] = matrix.col[matrix.row_ptr[row] + k];
      sell.value[start + k * height] = matrix.value[matrix.row_ptr[row] + k];
    }
  }
  return sell;
}

RowBins bin_rows(const Csr& matrix, const std::vector<std::int64_t>& bounds) {
  const auto bin_of = [&](std::int64_t row) {
    return static_cast<std::size_t>(std::upper_bound(bounds.begin(), bounds.end(), matrix.length(row)) -
                                    bounds.begin());
  };
  RowBins bins;
  bins.begin.assign(bounds.size() + 2, 0);
  for (std::int64_t row = 0; row < matrix.rows; ++row) ++bins.begin[bin_of(row) + 1];
  std::partial_sum(bins.begin.begin(), bins.begin.end(), bins.begin.begin());
  bins.rows.resize(static_cast<std::size_t>(matrix.rows));
  std::vector<std::int64_t> next = bins.begin;
  for (std::int64_t row = 0; row < matrix.rows; ++row) bins.rows[next[bin_of(row)]++] = static_cast<std::int32_t>(row);
  return bins;
}

RowPieces cut_rows(const Csr& matrix, std::int64_t most, std::int64_t longest) {
  RowPieces cut;
  const auto limit = [&](std::int64_t row) { return matrix.row_ptr[row] / 4 * 4 + most; };  // of a piece from `row` on
  const auto is_long = [&](std::int64_t row) { return matrix.row_ptr[row + 1] > limit(row); };
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const std::int64_t begin = matrix.row_ptr[row], end = matrix.row_ptr[row + 1];
    if (!is_long(row)) continue;
    if (end - begin <= longest) {
      cut.pieces.push_back({row, 1, begin, end});
    } else {
      cut.shared.push_back(static_cast<std::int32_t>(row));
      for (std::int64_t part = begin; part < end; part += longest) {
        cut.pieces.push_back({~row, 1, part, std::min(part + longest, end)});
      }
    }
  }
  for (std::int64_t row = 0; row < matrix.rows;) {
    const std::int64_t first = row;
    while (row < matrix.rows && row - first < most && matrix.row_ptr[row + 1] <= limit(first)) ++row;
    if (row == first) {
      ++row;  // a long one, which stands among the first pieces
    } else {
      cut.pieces.push_back({first, row - first, matrix.row_ptr[first], matrix.row_ptr[row]});
    }
  }
  return cut;
}

RowLengths row_lengths(const Csr& matrix) {
  RowLengths lengths;
  if (matrix.rows == 0) return lengths;
  std::vector<std::int64_t> sorted(static_cast<std::size_t>(matrix.rows));
  for (std::int64_t row = 0; row < matrix.rows; ++row) sorted[row] = matrix.length(row);
  lengths.empty = std::count(sorted.begin(), sorted.end(), 0);
  lengths.mean = static_cast<double>(matrix.nnz()) / static_cast<double>(matrix.rows);
  double squares = 0;
  for (const std::int64_t length : sorted) squares += std::pow(static_cast<double>(length) - lengths.mean, 2);
  lengths.deviation = std::sqrt(squares / static_cast<double>(matrix.rows));
  const auto [shortest, longest] = std::minmax_element(sorted.begin(), sorted.end());
  lengths.shortest = *shortest;
  lengths.longest = *longest;
  const auto middle = sorted.begin() + matrix.rows / 2;
  std::nth_element(sorted.begin(), middle, sorted.end());
  lengths.median = *middle;
  return lengths;
}

std::int64_t used_columns(const Csr& matrix) {
  std::vector<bool> used(static_cast<std::size_t>(matrix.cols), false);
  for (const std::int32_t col : matrix.col) used[col] = true;
  return std::count(used.begin(), used.end(), true);
}

double csr_bytes(double rows, double nnz, double value_bytes, double index_bytes, double pointer_bytes) {
  return nnz * (value_bytes + index_bytes) + (rows + 1) * pointer_bytes;
}
double coo_bytes(double nnz, double value_bytes, double index_bytes) { return nnz * (value_bytes + 2 * index_bytes); }
double dense_bytes(double rows, double cols, double value_bytes) { return rows * cols * value_bytes; }
double ell_elements(const Csr& matrix) {
  return static_cast<double>(matrix.rows) * static_cast<double>(row_lengths(matrix).longest);
}

void require_host_memory(double bytes, std::string_view what) {
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes <= 0.75 * memory) return;
  throw Error(ExitCode::usage, fmt::format("{} would take {:.1f} GB of memory; this machine has {:.1f} GB", what,
                                           bytes / 1e9, memory / 1e9));
}

}  // namespace gpuexp
