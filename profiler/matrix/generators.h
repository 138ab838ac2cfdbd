// Generated sparse matrices: pure functions of their parameters and the seed, each the usual picture of one kind of
// sparsity. Values are uniform in [-1, 1) except for the stencils, which have their textbook values.
#pragma once

#include <cstdint>

#include "profiler/matrix/sparse.h"

namespace gpuexp {

// Every place is a nonzero with probability `density` (0..1), independently of the others.
Csr uniform_matrix(std::int64_t rows, std::int64_t cols, double density, std::uint64_t seed);
// `per_row` nonzeros in every row (all columns if there are fewer), at distinct columns drawn uniformly.
Csr fixed_matrix(std::int64_t rows, std::int64_t cols, std::int64_t per_row, std::uint64_t seed);
// All places with |row - column| <= half_width.
Csr banded_matrix(std::int64_t rows, std::int64_t cols, std::int64_t half_width, std::uint64_t seed);
// Row lengths fall off as rank^-exponent around a mean of `per_row`, clamped to 1..cols; ranks are shuffled over the
// rows, columns are uniform. Exponent 0 is fixed_matrix.
Csr power_law_matrix(std::int64_t rows, std::int64_t cols, std::int64_t per_row, double exponent, std::uint64_t seed);
// Rows of `per_row` nonzeros, except that rows 0, every, 2 every, ... have `long_row`: one long row in each warp's rows
// when `every` is 32.
Csr long_rows_matrix(std::int64_t rows, std::int64_t cols, std::int64_t per_row, std::int64_t long_row,
                     std::int64_t every, std::uint64_t seed);
// Rows of `per_row` nonzeros, except that the middle row is full.
Csr one_dense_row_matrix(std::int64_t rows, std::int64_t cols, std::int64_t per_row, std::uint64_t seed);
// The 5-point Laplacian on side x side points and the 7-point one on side^3: 4 (6) on the diagonal, -1 per neighbour.
Csr poisson2d_matrix(std::int64_t side);
Csr poisson3d_matrix(std::int64_t side);

}  // namespace gpuexp
