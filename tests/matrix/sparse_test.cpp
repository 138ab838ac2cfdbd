// Formats and their conversions, generators, and the figures of a matrix.
#include "profiler/matrix/sparse.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "profiler/core/error.h"
#include "profiler/core/random.h"
#include "profiler/matrix/generators.h"

namespace gpuexp {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// [3 0 1 0; 0 0 0 0; 0 2 4 1; 1 0 0 1]
Csr lecture() { return {4, 4, {0, 2, 2, 5, 7}, {0, 2, 1, 2, 3, 0, 3}, {3, 1, 2, 4, 1, 1, 1}}; }

// y = A x, straight from the definition.
std::vector<double> product(const Csr& a, const std::vector<double>& x) {
  std::vector<double> y(static_cast<std::size_t>(a.rows), 0.0);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i) y[row] += a.value[i] * x[a.col[i]];
  }
  return y;
}
std::vector<double> product(const Ell& a, const std::vector<double>& x) {
  std::vector<double> y(static_cast<std::size_t>(a.rows), 0.0);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(a.col.size()); ++i) {
    if (a.col[i] >= 0) y[i % a.rows] += a.value[i] * x[a.col[i]];
  }
  return y;
}
std::vector<double> product(const SlicedEll& a, const std::vector<double>& x) {
  std::vector<double> y(static_cast<std::size_t>(a.rows), 0.0);
  for (std::int64_t slice = 0; slice < a.slices(); ++slice) {
    for (std::int64_t i = a.slice_ptr[slice]; i < a.slice_ptr[slice + 1]; ++i) {
      if (a.col[i] >= 0)
        y[a.row_of[slice * a.height + (i - a.slice_ptr[slice]) % a.height]] += a.value[i] * x[a.col[i]];
    }
  }
  return y;
}

// Rows ascending and distinct, offsets consistent.
void expect_well_formed(const Csr& a) {
  ASSERT_EQ(a.row_ptr.size(), static_cast<std::size_t>(a.rows) + 1);
  ASSERT_EQ(a.row_ptr.front(), 0);
  ASSERT_EQ(a.row_ptr.back(), a.nnz());
  ASSERT_EQ(a.col.size(), a.value.size());
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i) {
      ASSERT_GE(a.col[i], 0);
      ASSERT_LT(a.col[i], a.cols);
      if (i > a.row_ptr[row]) {
        ASSERT_LT(a.col[i - 1], a.col[i]);
      }
    }
  }
}

TEST(Formats, LectureMatrixGivesTheLecturesProduct) {
  const std::vector<double> x{1, 2, 3, 4};
  EXPECT_THAT(product(lecture(), x), ElementsAre(6, 0, 20, 5));
  EXPECT_THAT(product(to_ell(lecture()), x), ElementsAre(6, 0, 20, 5));
  EXPECT_THAT(product(to_sliced_ell(lecture(), 2, 4), x), ElementsAre(6, 0, 20, 5));
  EXPECT_THAT(product(to_csr(to_coo(lecture())), x), ElementsAre(6, 0, 20, 5));
}

TEST(Formats, EllPadsToTheLongestRow) {
  const Ell ell = to_ell(lecture());
  EXPECT_EQ(ell.width, 3);
  EXPECT_THAT(ell.col, ElementsAre(0, -1, 1, 0, 2, -1, 2, 3, -1, -1, 3, -1));
  EXPECT_THAT(ell.value, ElementsAre(3, 0, 2, 1, 1, 0, 4, 1, 0, 0, 1, 0));
  EXPECT_EQ(ell_elements(lecture()), 12.0);
}

TEST(Formats, SlicesPadToTheirOwnLongestRow) {
  const SlicedEll sell = to_sliced_ell(lecture(), 2, 1);
  EXPECT_THAT(sell.slice_ptr, ElementsAre(0, 4, 10));  // widths 2 and 3
  EXPECT_THAT(sell.row_of, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(to_sliced_ell(lecture(), 2, 4).row_of, ElementsAre(2, 0, 3, 1));
  EXPECT_THAT(to_sliced_ell(lecture(), 2, 4).slice_ptr, ElementsAre(0, 6, 10));
  EXPECT_THAT(to_sliced_ell(lecture(), 3, 1).row_of, ElementsAre(0, 1, 2, 3, -1, -1));
}

TEST(Formats, AllAgreeOnRandomMatrices) {
  for (const Csr& a : {uniform_matrix(37, 53, 0.1, 1), power_law_matrix(100, 80, 5, 1.2, 2),
                       one_dense_row_matrix(33, 40, 2, 3), banded_matrix(20, 31, 3, 4), fixed_matrix(64, 7, 7, 5)}) {
    std::vector<double> x(static_cast<std::size_t>(a.cols));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 13) - 6.0;
    const std::vector<double> y = product(a, x);
    const auto expect_same = [&](const std::vector<double>& other) {
      ASSERT_EQ(other.size(), y.size());
      for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(other[i], y[i], 1e-12);
    };
    expect_same(product(to_ell(a), x));
    expect_same(product(to_sliced_ell(a, 32, 1), x));
    expect_same(product(to_sliced_ell(a, 32, 64), x));
    const Csr again = to_csr(to_coo(a));
    EXPECT_EQ(again.row_ptr, a.row_ptr);
    EXPECT_EQ(again.col, a.col);
    EXPECT_EQ(again.value, a.value);
  }
}

TEST(Formats, SortingAndSummingDoNotDependOnTheOrderOfEntries) {
  const Csr a = uniform_matrix(20, 20, 0.3, 9);
  Coo coo = to_coo(a);
  for (std::size_t i = coo.row.size(); i > 1; --i) {
    const std::size_t j = random_below(random_bits(1, 2, i), i);
    std::swap(coo.row[i - 1], coo.row[j]);
    std::swap(coo.col[i - 1], coo.col[j]);
    std::swap(coo.value[i - 1], coo.value[j]);
  }
  const Csr sorted = to_csr(coo);
  EXPECT_EQ(sorted.col, a.col);
  EXPECT_EQ(sorted.value, a.value);
}

TEST(Formats, EmptyMatrices) {
  for (const Csr& a : {Csr{}, Csr{3, 0, {0, 0, 0, 0}, {}, {}}, Csr{0, 3, {0}, {}, {}}}) {
    EXPECT_TRUE(to_ell(a).col.empty());
    EXPECT_TRUE(to_sliced_ell(a, 32, 8).col.empty());
    EXPECT_TRUE(to_coo(a).row.empty());
    EXPECT_EQ(to_csr(to_coo(a)).row_ptr, a.row_ptr);
    EXPECT_EQ(row_lengths(a).longest, 0);
    EXPECT_EQ(used_columns(a), 0);
    EXPECT_EQ(bin_rows(a, {1, 4}).begin.back(), a.rows);
  }
}

TEST(Formats, BinsHoldEveryRowOnce) {
  const RowBins bins = bin_rows(lecture(), {1, 2, 3});  // empty | 1 | 2 | 3 and more
  EXPECT_THAT(bins.begin, ElementsAre(0, 1, 1, 3, 4));
  EXPECT_THAT(bins.rows, ElementsAre(1, 0, 3, 2));
}

std::vector<std::array<std::int64_t, 4>> listed(const RowPieces& cut) {
  std::vector<std::array<std::int64_t, 4>> list;
  for (const RowPiece& piece : cut.pieces) list.push_back({piece.row, piece.rows, piece.begin, piece.end});
  return list;
}

TEST(Formats, PiecesHoldWholeRowsAndLongRowsStandFirst) {
  using Piece = std::array<std::int64_t, 4>;
  Csr a;
  a.rows = 6, a.cols = 20;
  a.row_ptr = {0, 3, 3, 8, 18, 20, 21};  // lengths 3, 0, 5, 10, 2, 1
  a.col.resize(21), a.value.resize(21);
  // 8 nonzeros from a multiple of 4: rows 0 to 2 are full, row 3 is too long, row 4 begins at 18, so from 16.
  EXPECT_THAT(listed(cut_rows(a, 8, 16)), ElementsAre(Piece{3, 1, 8, 18}, Piece{0, 3, 0, 8}, Piece{4, 2, 18, 21}));
  EXPECT_TRUE(cut_rows(a, 8, 16).shared.empty());
  const RowPieces parted = cut_rows(a, 8, 4);
  EXPECT_THAT(listed(parted), ElementsAre(Piece{~3, 1, 8, 12}, Piece{~3, 1, 12, 16}, Piece{~3, 1, 16, 18},
                                          Piece{0, 3, 0, 8}, Piece{4, 2, 18, 21}));
  EXPECT_THAT(parted.shared, ElementsAre(3));
  EXPECT_THAT(listed(cut_rows(a, 4, 100)), ElementsAre(Piece{2, 1, 3, 8}, Piece{3, 1, 8, 18}, Piece{0, 2, 0, 3},
                                                       Piece{4, 1, 18, 20}, Piece{5, 1, 20, 21}));
  Csr empty_rows;
  empty_rows.rows = 5, empty_rows.row_ptr = {0, 0, 0, 0, 0, 0};
  EXPECT_THAT(listed(cut_rows(empty_rows, 4, 8)), ElementsAre(Piece{0, 4, 0, 0}, Piece{4, 1, 0, 0}));
  EXPECT_TRUE(listed(cut_rows({}, 8, 8)).empty());
}

TEST(Figures, RowLengthsAndUsedColumns) {
  const RowLengths lengths = row_lengths(lecture());
  EXPECT_EQ(lengths.shortest, 0);
  EXPECT_EQ(lengths.longest, 3);
  EXPECT_EQ(lengths.median, 2);
  EXPECT_EQ(lengths.empty, 1);
  EXPECT_DOUBLE_EQ(lengths.mean, 1.75);
  EXPECT_DOUBLE_EQ(lengths.deviation, std::sqrt((0.0625 + 3.0625 + 1.5625 + 0.0625) / 4));
  EXPECT_EQ(used_columns(lecture()), 4);
  EXPECT_EQ(used_columns({2, 9, {0, 1, 2}, {4, 4}, {1, 1}}), 1);
}

TEST(Figures, BytesOfFormats) {
  EXPECT_EQ(csr_bytes(4, 7, 4, 4, 4), 7 * 8 + 5 * 4);
  EXPECT_EQ(coo_bytes(7, 4, 4), 84);
  EXPECT_EQ(dense_bytes(4, 4, 4), 64);
}

TEST(Figures, MemoryBeyondTheMachineIsRefused) {
  EXPECT_NO_THROW(require_host_memory(1e6, "x"));
  try {
    require_host_memory(1e18, "matrix=fixed: the matrix");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("matrix=fixed: the matrix would take 1000000000.0 GB"));
  }
}

TEST(Generators, FixedRowsHaveExactlySoManyDistinctColumns) {
  for (const std::int64_t per_row : {0, 1, 8, 64, 600, 1024, 5000}) {
    const Csr a = fixed_matrix(40, 1024, per_row, 1);
    expect_well_formed(a);
    for (std::int64_t row = 0; row < a.rows; ++row) EXPECT_EQ(a.length(row), std::min<std::int64_t>(per_row, 1024));
  }
  // Columns are spread: the mean of 64 x 256 of them is near the middle.
  const Csr a = fixed_matrix(256, 1024, 64, 1);
  double sum = 0;
  for (const std::int32_t col : a.col) sum += col;
  EXPECT_NEAR(sum / static_cast<double>(a.nnz()), 511.5, 8.0);
  EXPECT_GT(used_columns(a), 1020);
}

TEST(Generators, UniformHitsItsDensity) {
  for (const double density : {0.001, 0.1, 0.5, 0.97}) {
    const Csr a = uniform_matrix(400, 500, density, 3);
    expect_well_formed(a);
    const double places = 200000, mean = places * density, deviation = std::sqrt(mean * (1 - density));
    EXPECT_NEAR(static_cast<double>(a.nnz()), mean, 5 * deviation) << density;
  }
  EXPECT_EQ(uniform_matrix(7, 9, 0.0, 1).nnz(), 0);
  EXPECT_EQ(uniform_matrix(7, 9, 1.0, 1).nnz(), 63);
  EXPECT_EQ(uniform_matrix(0, 9, 0.5, 1).nnz(), 0);
  EXPECT_EQ(uniform_matrix(9, 0, 0.5, 1).nnz(), 0);
  expect_well_formed(uniform_matrix(9, 0, 0.5, 1));
}

TEST(Generators, AreFunctionsOfTheirSeed) {
  EXPECT_EQ(fixed_matrix(20, 100, 5, 7).col, fixed_matrix(20, 100, 5, 7).col);
  EXPECT_NE(fixed_matrix(20, 100, 5, 7).col, fixed_matrix(20, 100, 5, 8).col);
  EXPECT_NE(uniform_matrix(20, 100, 0.1, 7).value, uniform_matrix(20, 100, 0.1, 8).value);
}

TEST(Generators, BandsAndStencils) {
  const Csr band = banded_matrix(5, 4, 1, 1);
  EXPECT_THAT(band.col, ElementsAre(0, 1, 0, 1, 2, 1, 2, 3, 2, 3, 3));
  EXPECT_THAT(band.row_ptr, ElementsAre(0, 2, 5, 8, 10, 11));

  const Csr poisson = poisson2d_matrix(3);
  expect_well_formed(poisson);
  EXPECT_EQ(poisson.rows, 9);
  EXPECT_EQ(poisson.nnz(), 9 + 2 * 12);
  std::vector<double> middle(poisson.value.begin() + poisson.row_ptr[4], poisson.value.begin() + poisson.row_ptr[5]);
  EXPECT_THAT(middle, ElementsAre(-1, -1, 4, -1, -1));

  const Csr cube = poisson3d_matrix(4);
  expect_well_formed(cube);
  EXPECT_EQ(cube.rows, 64);
  EXPECT_EQ(cube.nnz(), 64 + 2 * 3 * 48);
  // Laplacians are symmetric: the product with ones is the number of missing neighbours, 0 inside.
  const std::vector<double> sums = product(cube, std::vector<double>(64, 1.0));
  EXPECT_EQ(sums[21], 0.0);
  EXPECT_EQ(sums[0], 3.0);
  EXPECT_EQ(poisson2d_matrix(1).nnz(), 1);
  EXPECT_EQ(poisson2d_matrix(0).rows, 0);
  EXPECT_EQ(poisson3d_matrix(2).nnz(), 8 * 4);
  expect_well_formed(poisson3d_matrix(2));
}

TEST(Generators, LongRowsStandWhereTheyShould) {
  const Csr a = long_rows_matrix(256, 1024, 22, 310, 32, 1);
  expect_well_formed(a);
  for (std::int64_t row = 0; row < 256; ++row) EXPECT_EQ(a.length(row), row % 32 == 0 ? 310 : 22);
  const Csr dense = one_dense_row_matrix(100, 300, 3, 1);
  expect_well_formed(dense);
  EXPECT_EQ(dense.length(50), 300);
  EXPECT_EQ(dense.nnz(), 300 + 99 * 3);
}

TEST(Generators, PowerLawHasItsMeanAndAFewLongRows) {
  const Csr a = power_law_matrix(2000, 2000, 16, 0.8, 1);
  expect_well_formed(a);
  const RowLengths lengths = row_lengths(a);
  EXPECT_NEAR(lengths.mean, 16, 1.0);
  EXPECT_GE(lengths.shortest, 1);
  EXPECT_GT(lengths.longest, 20 * lengths.median);
  EXPECT_EQ(row_lengths(power_law_matrix(50, 90, 4, 0.0, 1)).deviation, 0.0);
  EXPECT_EQ(power_law_matrix(0, 5, 4, 1.0, 1).nnz(), 0);
  EXPECT_EQ(power_law_matrix(5, 0, 4, 1.0, 1).nnz(), 0);
}

}  // namespace
}  // namespace gpuexp
