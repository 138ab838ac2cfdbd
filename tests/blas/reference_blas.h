// The reference that BLAS calls are checked against: column-major loops, written as the definitions read. Sums are
// float64; the pointers are those of the request, so that a call's swap and offsets are part of what is checked.
#pragma once

#include "profiler/blas/blas_call.h"

namespace gpuexp::reference {

// Element (i, j) of op(X), X being stored by columns.
template <class T>
double element(const T* x, blas::Op op, std::int64_t ld, std::int64_t i, std::int64_t j) {
  return static_cast<double>(op == blas::Op::none ? x[i + j * ld] : x[j + i * ld]);
}

// Element i of a vector of n. With a negative increment the last one lies first.
template <class T>
T& entry(T* x, std::int64_t n, std::int64_t inc, std::int64_t i) {
  return x[inc > 0 ? i * inc : (i - n + 1) * inc];
}

// beta == 0 does not read what was there, which may be NaN.
template <class T>
void update(T& target, double alpha, double sum, double beta) {
  target = static_cast<T>(alpha * sum + (beta == 0 ? 0.0 : beta * static_cast<double>(target)));
}

template <class T>
void gemm(const blas::GemmCall& call, double alpha, const T* request_a, const T* request_b, double beta, T* request_c) {
  const T* a = (call.swapped ? request_b : request_a) + call.a_offset;
  const T* b = (call.swapped ? request_a : request_b) + call.b_offset;
  T* c = request_c + call.c_offset;
  for (std::int64_t j = 0; j < call.n; ++j) {
    for (std::int64_t i = 0; i < call.m; ++i) {
      double sum = 0;
      for (std::int64_t p = 0; p < call.k; ++p)
        sum += element(a, call.transa, call.lda, i, p) * element(b, call.transb, call.ldb, p, j);
      update(c[i + j * call.ldc], alpha, sum, beta);
    }
  }
}

template <class T>
void gemv(const blas::GemvCall& call, double alpha, const T* a, const T* x, double beta, T* y) {
  const bool plain = call.trans == blas::Op::none;
  const std::int64_t rows = plain ? call.m : call.n, terms = plain ? call.n : call.m;
  for (std::int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::int64_t p = 0; p < terms; ++p)
      sum += element(a + call.a_offset, call.trans, call.lda, i, p) *
             static_cast<double>(entry(x + call.x_offset, terms, call.incx, p));
    update(entry(y + call.y_offset, rows, call.incy, i), alpha, sum, beta);
  }
}

template <class T>
double dot(const blas::DotCall& call, const T* x, const T* y) {
  double sum = 0;
  for (std::int64_t i = 0; i < call.n; ++i)
    sum += static_cast<double>(entry(x + call.x_offset, call.n, call.incx, i)) *
           static_cast<double>(entry(y + call.y_offset, call.n, call.incy, i));
  return sum;
}

}  // namespace gpuexp::reference
