// Requests in any order and shape become calls that a column-major BLAS answers rightly; wrong ones are refused by the
// name of the argument.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

#include "profiler/core/error.h"
#include "reference_blas.h"

namespace gpuexp::blas {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Different small whole numbers, so that sums are exact and no two layouts agree by accident.
std::vector<double> numbers(std::int64_t count, int seed) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>((i * 37 + static_cast<std::size_t>(seed) * 101) % 53) - 26;
  return values;
}

std::int64_t place(const Matrix& matrix, std::int64_t i, std::int64_t j) {
  return matrix.offset + (matrix.order == Order::row_major ? i * matrix.ld + j : i + j * matrix.ld);
}
double at(const Matrix& matrix, const std::vector<double>& data, Op op, std::int64_t i, std::int64_t j) {
  return data[static_cast<std::size_t>(op == Op::none ? place(matrix, i, j) : place(matrix, j, i))];
}

// A part of a larger matrix: gaps on all sides.
Matrix inner(Order order, std::int64_t rows, std::int64_t cols) {
  const Matrix whole = order == Order::row_major ? row_major(rows + 3, cols + 5) : column_major(rows + 3, cols + 5);
  return part(whole, 1, 2, rows, cols);
}
constexpr std::int64_t storage = 400;

template <class Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "accepted";
}

TEST(Gemm, RowMajorProductSwapsItsOperands) {
  const std::int64_t m = 5, n = 7, k = 3;
  const GemmCall call = gemm_call(Op::none, row_major(m, k), Op::none, row_major(k, n), row_major(m, n));
  EXPECT_TRUE(call.swapped);
  EXPECT_EQ(call.transa, Op::none);
  EXPECT_EQ(call.transb, Op::none);
  EXPECT_THAT((std::vector{call.m, call.n, call.k}), ElementsAre(n, m, k));
  EXPECT_THAT((std::vector{call.lda, call.ldb, call.ldc}), ElementsAre(n, k, n));  // B first, then A
}

// Exercise 12: A[M,K] and B[N,K] row-major, C = A B^T row-major.
TEST(Gemm, ProductWithATransposedRowMajorMatrix) {
  const std::int64_t m = 5, n = 7, k = 3;
  const GemmCall call = gemm_call(Op::none, row_major(m, k), Op::transpose, row_major(n, k), row_major(m, n));
  EXPECT_TRUE(call.swapped);
  EXPECT_EQ(call.transa, Op::transpose);
  EXPECT_EQ(call.transb, Op::none);
  EXPECT_THAT((std::vector{call.m, call.n, call.k}), ElementsAre(n, m, k));
  EXPECT_THAT((std::vector{call.lda, call.ldb, call.ldc}), ElementsAre(k, k, n));

  const std::vector<double> a = numbers(m * k, 1), b = numbers(n * k, 2);
  std::vector<double> c(static_cast<std::size_t>(m * n), nan);
  reference::gemm(call, 1, a.data(), b.data(), 0, c.data());
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < k; ++p) sum += a[i * k + p] * b[j * k + p];
      EXPECT_EQ(c[i * n + j], sum) << i << "," << j;
    }
}

TEST(Gemm, ColumnMajorRequestsAreCallsAsTheyAre) {
  const GemmCall call = gemm_call(Op::transpose, column_major(3, 5), Op::none, column_major(3, 7), column_major(5, 7));
  EXPECT_FALSE(call.swapped);
  EXPECT_EQ(call.transa, Op::transpose);
  EXPECT_EQ(call.transb, Op::none);
  EXPECT_THAT((std::vector{call.m, call.n, call.k, call.lda, call.ldb, call.ldc}), ElementsAre(5, 7, 3, 3, 3, 5));
}

// One buffer, read by rows or by columns: 1 2 3 4 5 6 is [1 2 3; 4 5 6], or [1 4; 2 5; 3 6] transposed.
TEST(Gemm, ARowMajorMatrixReadByColumnsIsItsTranspose) {
  const std::vector<double> buffer{1, 2, 3, 4, 5, 6};
  const Matrix by_rows = row_major(2, 3), by_columns = column_major(3, 2);
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 3; ++j)
      EXPECT_EQ(at(by_rows, buffer, Op::none, i, j), at(by_columns, buffer, Op::transpose, i, j));
}

// Every op and order of each matrix, in parts of larger ones, with alpha and beta.
TEST(Gemm, EveryCombinationOfOpsOrdersAndViews) {
  int combinations = 0;
  for (const auto& [m, n, k] :
       {std::array<std::int64_t, 3>{4, 6, 3}, {1, 5, 7}, {6, 1, 2}, {3, 3, 3}, {2, 4, 0}, {0, 3, 2}})
    for (const Op op_a : {Op::none, Op::transpose})
      for (const Op op_b : {Op::none, Op::transpose})
        for (const int orders : {0, 1, 2, 3, 4, 5, 6, 7}) {
          const auto order = [&](int bit) { return (orders >> bit & 1) != 0 ? Order::column_major : Order::row_major; };
          const Matrix a = inner(order(0), op_a == Op::none ? m : k, op_a == Op::none ? k : m);
          const Matrix b = inner(order(1), op_b == Op::none ? k : n, op_b == Op::none ? n : k);
          const Matrix c = inner(order(2), m, n);
          const std::vector<double> in_a = numbers(storage, 1), in_b = numbers(storage, 2),
                                    before = numbers(storage, 3);
          std::vector<double> wanted = before, got = before;
          for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j < n; ++j) {
              double sum = 0;
              for (std::int64_t p = 0; p < k; ++p) sum += at(a, in_a, op_a, i, p) * at(b, in_b, op_b, p, j);
              double& target = wanted[static_cast<std::size_t>(place(c, i, j))];
              target = 2 * sum - 3 * target;
            }
          reference::gemm(gemm_call(op_a, a, op_b, b, c), 2, in_a.data(), in_b.data(), -3, got.data());
          EXPECT_EQ(got, wanted) << "orders " << orders << ", sizes " << m << " " << n << " " << k;
          ++combinations;
        }
  EXPECT_EQ(combinations, 6 * 4 * 8);
}

// What the lecture warns of: the same pointers and sizes without the swap.
TEST(Gemm, TheCallWithoutTheSwapComesOutWrong) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{4, 6, 3}, {3, 3, 3}}) {
    const std::vector<double> a = numbers(m * k, 1), b = numbers(k * n, 2);
    std::vector<double> right(static_cast<std::size_t>(m * n), nan), wrong = right;
    reference::gemm(gemm_call(Op::none, row_major(m, k), Op::none, row_major(k, n), row_major(m, n)), 1, a.data(),
                    b.data(), 0, right.data());
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
        EXPECT_EQ(right[i * n + j], sum);
      }
    GemmCall unswapped;
    unswapped.m = m;
    unswapped.n = n;
    unswapped.k = k;
    unswapped.lda = m;
    unswapped.ldb = k;
    unswapped.ldc = m;
    check(unswapped);  // BLAS has nothing against it: that is why it goes unseen
    reference::gemm(unswapped, 1, a.data(), b.data(), 0, wrong.data());
    EXPECT_NE(wrong, right);
  }
}

// The lecture's view: 3 x 2 from (1, 1) of a column-major 5 x 4 matrix.
TEST(Views, OffsetAndLeadingDimension) {
  const Matrix view = part(column_major(5, 4), 1, 1, 3, 2);
  EXPECT_EQ(view.offset, 6);
  EXPECT_EQ(view.ld, 5);
  const Matrix by_rows = part(row_major(5, 4), 1, 1, 3, 2);
  EXPECT_EQ(by_rows.offset, 5);
  EXPECT_EQ(by_rows.ld, 4);
  EXPECT_EQ(part(view, 1, 1, 2, 1).offset, 6 + 1 + 5);  // a part of a part
  EXPECT_EQ(column_of(by_rows, 1).increment, 4);
  EXPECT_EQ(column_of(by_rows, 1).offset, 6);
  EXPECT_EQ(row_of(by_rows, 2).increment, 1);
  EXPECT_EQ(row_of(by_rows, 2).offset, 5 + 2 * 4);
  EXPECT_EQ(row_of(view, 2).increment, 5);
  EXPECT_THAT(refusal([] { part(column_major(5, 4), 3, 1, 3, 2); }),
              AllOf(HasSubstr("3 x 2 part at (3, 1)"), HasSubstr("5 x 4")));
  EXPECT_THAT(refusal([] { part(row_major(5, 4), 0, -1, 1, 1); }), HasSubstr("(0, -1)"));
  EXPECT_THAT(refusal([] { part(row_major(5, 4), 0, 1, 1, INT64_MAX); }), HasSubstr("reaches beyond"));
}

TEST(Gemv, RowMajorMatricesAreTransposedInTheCall) {
  const GemvCall call = gemv_call(Op::none, row_major(3, 2), {2}, {3});
  EXPECT_EQ(call.trans, Op::transpose);
  EXPECT_THAT((std::vector{call.m, call.n, call.lda}), ElementsAre(2, 3, 2));
  const std::vector<double> a{1, 2, 3, 4, 5, 6}, x{1, 2};
  std::vector<double> y(3, nan);
  reference::gemv(call, 1, a.data(), x.data(), 0, y.data());
  EXPECT_THAT(y, ElementsAre(5, 11, 17));
}

TEST(Gemv, EveryOpOrderAndIncrement) {
  for (const Op op : {Op::none, Op::transpose})
    for (const Order order : {Order::row_major, Order::column_major})
      for (const std::int64_t incx : {1, 2, -1, -3})
        for (const std::int64_t incy : {1, 3, -2}) {
          const Matrix a = inner(order, 4, 3);
          const std::int64_t rows = op == Op::none ? 4 : 3, terms = op == Op::none ? 3 : 4;
          const Vector x{terms, incx, 5}, y{rows, incy, 7};
          const std::vector<double> in_a = numbers(storage, 1), in_x = numbers(40, 2), before = numbers(40, 3);
          // Elements in memory order for an increment above 0, in reverse below.
          const auto nth = [](const Vector& v, std::int64_t i) {
            return static_cast<std::size_t>(v.offset +
                                            (v.increment > 0 ? i : v.elements - 1 - i) * std::abs(v.increment));
          };
          std::vector<double> wanted = before, got = before;
          for (std::int64_t i = 0; i < rows; ++i) {
            double sum = 0;
            for (std::int64_t p = 0; p < terms; ++p) sum += at(a, in_a, op, i, p) * in_x[nth(x, p)];
            wanted[nth(y, i)] = 2 * sum + 5 * before[nth(y, i)];
          }
          reference::gemv(gemv_call(op, a, x, y), 2, in_a.data(), in_x.data(), 5, got.data());
          EXPECT_EQ(got, wanted) << "increments " << incx << " " << incy;
        }
}

TEST(Dot, IncrementsAndOffsets) {
  const std::vector<double> x{1, 2, 3, 4, 5, 6, 7}, y{10, 20, 30, 40};
  EXPECT_EQ(reference::dot(dot_call({3, 2, 0}, {3, 1, 1}), x.data(), y.data()), 1 * 20 + 3 * 30 + 5 * 40);
  EXPECT_EQ(reference::dot(dot_call({3, -2, 0}, {3, 1, 0}), x.data(), y.data()), 5 * 10 + 3 * 20 + 1 * 30);
  EXPECT_EQ(reference::dot(dot_call({0}, {0}), x.data(), y.data()), 0);
}

TEST(Refusals, AWrongLeadingDimensionIsNamed) {
  Matrix narrow = row_major(4, 6);
  narrow.ld = 5;
  EXPECT_THAT(refusal([&] { gemm_call(Op::none, narrow, Op::none, row_major(6, 3), row_major(4, 3)); }),
              AllOf(HasSubstr("gemm"), HasSubstr("row-major A[4,6] is 5 (argument ldb)"), HasSubstr("6 or more")));
  EXPECT_THAT(refusal([&] { gemm_call(Op::none, row_major(3, 4), Op::none, narrow, row_major(3, 6)); }),
              HasSubstr("row-major B[4,6] is 5 (argument lda)"));
  EXPECT_THAT(refusal([&] { gemm_call(Op::none, row_major(4, 2), Op::none, row_major(2, 6), narrow); }),
              HasSubstr("row-major C[4,6] is 5 (argument ldc)"));
  EXPECT_THAT(refusal([&] { gemv_call(Op::none, narrow, {6}, {4}); }), HasSubstr("(argument lda)"));
  // Raw calls as well, by BLAS's own rules: what a column holds depends on the op.
  GemmCall call = gemm_call(Op::none, column_major(4, 3), Op::transpose, column_major(5, 3), column_major(4, 5));
  EXPECT_NO_THROW(check(call));
  const auto refused_with = [](GemmCall wrong) { return refusal([&] { check(wrong); }); };
  GemmCall wrong = call;
  wrong.lda = 3;
  EXPECT_THAT(refused_with(wrong), AllOf(HasSubstr("lda = 3"), HasSubstr("accepted: 4")));
  wrong = call;
  wrong.ldb = 3;  // enough without the transpose
  EXPECT_THAT(refused_with(wrong), AllOf(HasSubstr("ldb = 3"), HasSubstr("accepted: 5")));
  wrong = call;
  wrong.ldc = 0;
  EXPECT_THAT(refused_with(wrong), HasSubstr("ldc = 0"));
  wrong = call;
  wrong.k = -1;
  EXPECT_THAT(refused_with(wrong), HasSubstr("k = -1"));
  wrong = call;
  wrong.m = 1LL << 31;
  EXPECT_THAT(refused_with(wrong), HasSubstr("m = 2147483648"));
}

TEST(Refusals, ShapesAndIncrementsThatDoNotFit) {
  EXPECT_THAT(refusal([] { gemm_call(Op::none, row_major(4, 3), Op::none, row_major(4, 2), row_major(4, 2)); }),
              AllOf(HasSubstr("op(A), in columns, has 3"), HasSubstr("op(B), in rows, has 4")));
  EXPECT_THAT(refusal([] { gemm_call(Op::none, row_major(4, 3), Op::none, row_major(3, 2), row_major(2, 4)); }),
              HasSubstr("C, in rows, has 2"));
  EXPECT_THAT(refusal([] { gemv_call(Op::transpose, row_major(4, 3), {3}, {4}); }), HasSubstr("x, in elements, has 3"));
  EXPECT_THAT(refusal([] { gemv_call(Op::none, row_major(4, 3), {3, 0}, {4}); }), HasSubstr("incx = 0"));
  EXPECT_THAT(refusal([] { dot_call({3}, {4}); }), HasSubstr("y, in elements, has 4"));
  EXPECT_THAT(refusal([] { dot_call({3}, {3, 0}); }), HasSubstr("incy = 0"));
  EXPECT_THAT(refusal([] { gemv_call(Op::none, row_major(-1, 3), {3}, {-1}); }), HasSubstr("negative"));
}

}  // namespace
}  // namespace gpuexp::blas
