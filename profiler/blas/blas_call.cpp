// Shapes, orders and leading dimensions turned into BLAS arguments, and their refusal.
#include "profiler/blas/blas_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "profiler/core/error.h"

namespace gpuexp::blas {
namespace {

constexpr std::int64_t largest = 2147483647;

[[noreturn]] void refuse(const std::string& what) { throw Error(ExitCode::usage, what); }

Op flipped(Op op) { return op == Op::none ? Op::transpose : Op::none; }

std::string text_of(const char* name, const Matrix& matrix) {
  return fmt::format("{} {}[{},{}]", matrix.order == Order::row_major ? "row-major" : "column-major", name, matrix.rows,
                     matrix.cols);
}

// The length of a row of a row-major matrix, of a column of a column-major one.
std::int64_t stored_length(const Matrix& matrix) {
  return matrix.order == Order::row_major ? matrix.cols : matrix.rows;
}

// `argument`: what BLAS calls the matrix's leading dimension in this call.
void check_matrix(const char* routine, const char* name, const Matrix& matrix, const char* argument) {
  if (matrix.rows < 0 || matrix.cols < 0)
    refuse(fmt::format("{}: {} has a negative size", routine, text_of(name, matrix)));
  const std::int64_t least = std::max<std::int64_t>(1, stored_length(matrix));
  if (matrix.ld >= least) return;
  refuse(fmt::format("{}: the leading dimension of {} is {} (argument {}); accepted: {} or more, the length of its {}",
                     routine, text_of(name, matrix), matrix.ld, argument, least,
                     matrix.order == Order::row_major ? "rows" : "columns"));
}

std::int64_t rows_of(Op op, const Matrix& matrix) { return op == Op::none ? matrix.rows : matrix.cols; }
std::int64_t cols_of(Op op, const Matrix& matrix) { return op == Op::none ? matrix.cols : matrix.rows; }

void must_equal(const char* routine, const char* what, std::int64_t a, const char* other, std::int64_t b) {
  if (a != b) refuse(fmt::format("{}: {} has {} and {} has {}; they must be equal", routine, what, a, other, b));
}

// Checks of arguments as BLAS names them.
struct Arguments {
  const char* routine;

  void size(const char* name, std::int64_t value) const {
    if (value >= 0 && value <= largest) return;
    refuse(fmt::format("{}: {} = {}; accepted: 0 to {}", routine, name, value, largest));
  }
  // A leading dimension, and the length of a column of its matrix as stored.
  void leading(const char* name, std::int64_t value, const char* matrix, std::int64_t column) const {
    const std::int64_t least = std::max<std::int64_t>(1, column);
    if (value >= least && value <= largest) return;
    refuse(
        fmt::format("{}: {} = {}; accepted: {} (a column of {}) to {}", routine, name, value, least, matrix, largest));
  }
  void increment(const char* name, std::int64_t value) const {
    if (value != 0 && value >= -largest && value <= largest) return;
    refuse(fmt::format("{}: {} = {}; accepted: anything but 0, up to {} either way", routine, name, value, largest));
  }
};

}  // namespace

Matrix row_major(std::int64_t rows, std::int64_t cols) {
  return {rows, cols, std::max<std::int64_t>(1, cols), Order::row_major, 0};
}
Matrix column_major(std::int64_t rows, std::int64_t cols) {
  return {rows, cols, std::max<std::int64_t>(1, rows), Order::column_major, 0};
}

Matrix part(const Matrix& whole, std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols) {
  const auto within = [](std::int64_t first, std::int64_t count, std::int64_t all) {
    return first >= 0 && count >= 0 && first <= all && count <= all - first;
  };
  if (!within(row, rows, whole.rows) || !within(col, cols, whole.cols)) {
    refuse(fmt::format("the {} x {} part at ({}, {}) reaches beyond the {} x {} matrix", rows, cols, row, col,
                       whole.rows, whole.cols));
  }
  Matrix view = whole;
  view.rows = rows;
  view.cols = cols;
  view.offset += whole.order == Order::row_major ? row * whole.ld + col : row + col * whole.ld;
  return view;
}

Vector row_of(const Matrix& matrix, std::int64_t row) {
  const Matrix view = part(matrix, row, 0, 1, matrix.cols);
  return {matrix.cols, matrix.order == Order::row_major ? 1 : matrix.ld, view.offset};
}
Vector column_of(const Matrix& matrix, std::int64_t col) {
  const Matrix view = part(matrix, 0, col, matrix.rows, 1);
  return {matrix.rows, matrix.order == Order::row_major ? matrix.ld : 1, view.offset};
}

GemmCall gemm_call(Op op_a, const Matrix& a, Op op_b, const Matrix& b, const Matrix& c) {
  // BLAS writes C by columns. A row-major C is written as C^T = op(B)^T op(A)^T.
  const bool swapped = c.order == Order::row_major;
  check_matrix("gemm", "A", a, swapped ? "ldb" : "lda");
  check_matrix("gemm", "B", b, swapped ? "lda" : "ldb");
  check_matrix("gemm", "C", c, "ldc");
  must_equal("gemm", "op(A), in columns,", cols_of(op_a, a), "op(B), in rows,", rows_of(op_b, b));
  must_equal("gemm", "op(A), in rows,", rows_of(op_a, a), "C, in rows,", c.rows);
  must_equal("gemm", "op(B), in columns,", cols_of(op_b, b), "C, in columns,", c.cols);
  // An operand in C's order is read as the request means it: both are seen transposed, or neither is.
  const Op seen_a = a.order == c.order ? op_a : flipped(op_a);
  const Op seen_b = b.order == c.order ? op_b : flipped(op_b);
  GemmCall call{seen_a, seen_b, c.rows,   c.cols,   cols_of(op_a, a), a.ld,
                b.ld,   c.ld,   a.offset, b.offset, c.offset,         swapped};
  if (swapped) {
    std::swap(call.transa, call.transb);
    std::swap(call.m, call.n);
    std::swap(call.lda, call.ldb);
    std::swap(call.a_offset, call.b_offset);
  }
  check(call);
  return call;
}

GemvCall gemv_call(Op op, const Matrix& a, const Vector& x, const Vector& y) {
  check_matrix("gemv", "A", a, "lda");
  must_equal("gemv", "op(A), in columns,", cols_of(op, a), "x, in elements,", x.elements);
  must_equal("gemv", "op(A), in rows,", rows_of(op, a), "y, in elements,", y.elements);
  const bool by_rows = a.order == Order::row_major;  // BLAS sees A^T
  const GemvCall call{by_rows ? flipped(op) : op,
                      by_rows ? a.cols : a.rows,
                      by_rows ? a.rows : a.cols,
                      a.ld,
                      x.increment,
                      y.increment,
                      a.offset,
                      x.offset,
                      y.offset};
  check(call);
  return call;
}

DotCall dot_call(const Vector& x, const Vector& y) {
  must_equal("dot", "x, in elements,", x.elements, "y, in elements,", y.elements);
  const DotCall call{x.elements, x.increment, y.increment, x.offset, y.offset};
  check(call);
  return call;
}

void check(const GemmCall& call) {
  const Arguments arguments{"gemm"};
  arguments.size("m", call.m);
  arguments.size("n", call.n);
  arguments.size("k", call.k);
  arguments.leading("lda", call.lda, "A", call.transa == Op::none ? call.m : call.k);
  arguments.leading("ldb", call.ldb, "B", call.transb == Op::none ? call.k : call.n);
  arguments.leading("ldc", call.ldc, "C", call.m);
}

void check(const GemvCall& call) {
  const Arguments arguments{"gemv"};
  arguments.size("m", call.m);
  arguments.size("n", call.n);
  arguments.leading("lda", call.lda, "A", call.m);
  arguments.increment("incx", call.incx);
  arguments.increment("incy", call.incy);
}

void check(const DotCall& call) {
  const Arguments arguments{"dot"};
  arguments.size("n", call.n);
  arguments.increment("incx", call.incx);
  arguments.increment("incy", call.incy);
}

}  // namespace gpuexp::blas
