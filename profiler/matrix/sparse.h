// Sparse matrices on the host: coordinate, CSR, ELL and sliced ELL, conversions between them, what they take in memory,
// and how their row lengths are spread.
//
// Indices are zero-based. Rows and columns are 32-bit (at most max_extent), offsets into the nonzeros 64-bit. Values
// are float64, as read or generated; a problem rounds them to its own element type.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace gpuexp {

inline constexpr std::int64_t max_extent = INT32_MAX;  // rows or columns of a matrix

// Entries in any order; the same place may occur several times.
struct Coo {
  std::int64_t rows = 0, cols = 0;
  std::vector<std::int32_t> row, col;
  std::vector<double> value;
  [[nodiscard]] std::int64_t nnz() const { return static_cast<std::int64_t>(value.size()); }
};

// Compressed sparse rows: the nonzeros of row r are col[row_ptr[r] .. row_ptr[r+1]-1], ascending and distinct.
struct Csr {
  std::int64_t rows = 0, cols = 0;
  std::vector<std::int64_t> row_ptr{0};  // rows + 1
  std::vector<std::int32_t> col;
  std::vector<double> value;
  [[nodiscard]] std::int64_t nnz() const { return static_cast<std::int64_t>(value.size()); }
  [[nodiscard]] std::int64_t length(std::int64_t row) const { return row_ptr[row + 1] - row_ptr[row]; }
};

// Every row padded to the longest: slot k of row r is element k * rows + r, so that neighbouring rows lie side by side.
// Padding has column -1 and value 0.
struct Ell {
  std::int64_t rows = 0, cols = 0;
  std::int64_t width = 0;  // slots of every row
  std::vector<std::int32_t> col;
  std::vector<double> value;
};

// Slices of `height` rows, each padded to its own longest row and laid out as an Ell of `height` rows. Rows may be
// sorted by length within windows, so that rows of one slice are about as long as each other (SELL-C-sigma: Kreutzer et
// al., A Unified Sparse Matrix Data Format, 2014).
struct SlicedEll {
  std::int64_t rows = 0, cols = 0;
  std::int64_t height = 32;
  std::vector<std::int64_t> slice_ptr{0};  // slices + 1: first element of each slice
  std::vector<std::int32_t> row_of;        // row that stands at each place; -1 beyond the last row. slices * height
  std::vector<std::int32_t> col;
  std::vector<double> value;
  [[nodiscard]] std::int64_t slices() const { return static_cast<std::int64_t>(slice_ptr.size()) - 1; }
};

// Sorts by row, then column. Entries at the same place are summed, in their order; explicit zeros are kept.
Csr to_csr(const Coo& matrix);
Coo to_coo(const Csr& matrix);
Ell to_ell(const Csr& matrix);
// `window`: rows are sorted by descending length within windows of so many rows; 1 keeps their order.
SlicedEll to_sliced_ell(const Csr& matrix, std::int64_t height, std::int64_t window);

// Rows grouped by length: bin b holds the rows of lengths bounds[b-1] <= length < bounds[b], the first bin from 0, the
// last one without an upper bound. Within a bin rows keep their order.
struct RowBins {
  std::vector<std::int32_t> rows;   // all rows, bin after bin
  std::vector<std::int64_t> begin;  // bounds.size() + 2 entries: where each bin starts in `rows`, and the end
};
RowBins bin_rows(const Csr& matrix, const std::vector<std::int64_t>& bounds);

// Consecutive rows cut into pieces for one block each: `rows` rows from `row` on, whose nonzeros are begin .. end-1. Of
// a row that is cut itself (it is among `shared`, ascending) each piece has the complement ~r of its number r as `row`.
// Rows that are longer than a piece stand first, so that no block starts late on one of them.
struct RowPiece {
  std::int64_t row, rows, begin, end;
};
struct RowPieces {
  std::vector<RowPiece> pieces;
  std::vector<std::int32_t> shared;
};
// A piece has at most `most` (4 or more) rows, and at most `most` nonzeros counted from the multiple of 4 at or before
// its first (where 16-byte loads begin). A longer row is a piece by itself; one of more than `longest` nonzeros is
// shared by pieces of `longest`.
RowPieces cut_rows(const Csr& matrix, std::int64_t most, std::int64_t longest);

// How the nonzeros are spread over the rows. All zero without rows.
struct RowLengths {
  std::int64_t shortest = 0, longest = 0, median = 0;
  std::int64_t empty = 0;  // rows without a nonzero
  double mean = 0, deviation = 0;
};
RowLengths row_lengths(const Csr& matrix);

// Columns with at least one nonzero: the elements of x that a product must read.
std::int64_t used_columns(const Csr& matrix);

// Bytes of each format for given element sizes.
double csr_bytes(double rows, double nnz, double value_bytes, double index_bytes, double pointer_bytes);
double coo_bytes(double nnz, double value_bytes, double index_bytes);
double dense_bytes(double rows, double cols, double value_bytes);
// Elements (padding included) that to_ell() and to_sliced_ell() would store, without building them.
double ell_elements(const Csr& matrix);

// Throws Error(usage) when `bytes` is more than this machine's memory can be expected to hold: three quarters of it.
// `what` starts the sentence: "matrix=uniform rows=...: the matrix".
void require_host_memory(double bytes, std::string_view what);

}  // namespace gpuexp
