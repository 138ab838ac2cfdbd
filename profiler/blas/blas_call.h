// Arguments of BLAS calls from matrices and vectors as they lie in memory. Pure arithmetic: it needs no GPU and no
// library, so that what is told to cuBLAS can be checked anywhere.
//
// BLAS knows matrices by columns only. A row-major matrix read by columns is its transpose, with the row length as its
// leading dimension; so a row-major product C = A B is asked for as C^T = B^T A^T: the operands and m and n change
// places, and nothing is copied. Source of the calls' meaning: the reference BLAS (netlib), which cuBLAS follows.
#pragma once

#include <cstdint>

namespace gpuexp::blas {

enum class Op { none, transpose };
enum class Order { row_major, column_major };

// A matrix, or a part of a larger one. Element (i, j) lies offset + i * ld + j elements behind the pointer when
// row-major, offset + i + j * ld when column-major.
struct Matrix {
  std::int64_t rows = 0, cols = 0;
  std::int64_t ld = 1;  // leading dimension: elements from one row (row-major) or column (column-major) to the next
  Order order = Order::row_major;
  std::int64_t offset = 0;
};
// Whole matrices without gaps.
Matrix row_major(std::int64_t rows, std::int64_t cols);
Matrix column_major(std::int64_t rows, std::int64_t cols);
// The rows x cols part that begins at element (row, col). Throws Error(usage) when it reaches beyond the matrix.
Matrix part(const Matrix& whole, std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols);

// A vector: elements `increment` apart, from `offset` behind the pointer on. With a negative increment the last
// element lies there, and the first one furthest behind, as BLAS has it.
struct Vector {
  std::int64_t elements = 0, increment = 1, offset = 0;
};
Vector row_of(const Matrix& matrix, std::int64_t row);
Vector column_of(const Matrix& matrix, std::int64_t col);

// The arguments below are named as in BLAS and mean what they mean there: matrices by columns. Offsets are in elements,
// to be added to the pointers.

// C[m,n] = alpha op(A)[m,k] op(B)[k,n] + beta C.
struct GemmCall {
  Op transa = Op::none, transb = Op::none;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t lda = 1, ldb = 1, ldc = 1;
  std::int64_t a_offset = 0, b_offset = 0, c_offset = 0;
  bool swapped = false;  // the call's A is the request's B, and the other way round
};
// y = alpha op(A) x + beta y, with A[m,n].
struct GemvCall {
  Op trans = Op::none;
  std::int64_t m = 0, n = 0;
  std::int64_t lda = 1, incx = 1, incy = 1;
  std::int64_t a_offset = 0, x_offset = 0, y_offset = 0;
};
// The sum of x[i] y[i].
struct DotCall {
  std::int64_t n = 0, incx = 1, incy = 1;
  std::int64_t x_offset = 0, y_offset = 0;
};

// The calls for C = op(A) op(B), y = op(A) x and x . y, whatever the order of each matrix. Throws Error(usage) naming
// the matrix and the argument when shapes do not fit together, a leading dimension is too small, or check() refuses.
GemmCall gemm_call(Op op_a, const Matrix& a, Op op_b, const Matrix& b, const Matrix& c);
GemvCall gemv_call(Op op, const Matrix& a, const Vector& x, const Vector& y);
DotCall dot_call(const Vector& x, const Vector& y);

// Throws Error(usage) naming the argument, its value and what is accepted, where BLAS would answer with the number of a
// parameter or silently compute something else: negative sizes, leading dimensions shorter than a column, increments
// of 0, and anything beyond 32 bits, which cuBLAS's plain interface takes.
void check(const GemmCall& call);
void check(const GemvCall& call);
void check(const DotCall& call);

}  // namespace gpuexp::blas
