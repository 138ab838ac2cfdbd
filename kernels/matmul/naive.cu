// One thread computes one element of C, reading a row of A and a column of B from global memory.
//
// The rung that the others are measured against: 2 FLOP for every 8 bytes a thread loads (0.25 FLOP/B), and each
// element of A is asked for n times, each element of B m times. The loads of B coalesce along threadIdx.x; those of A
// are the same address for a whole row of the block. Any m, n, k.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/variant.h"

__device__ inline float as_float(float x) { return x; }
__device__ inline float as_float(__half x) { return __half2float(x); }

template <class T>
__global__ void matmul_naive(const T* A, const T* B, float* C, long long m, long long n, long long k) {
  const long long row = static_cast<long long>(blockIdx.y) * blockDim.y + threadIdx.y;
  const long long col = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (long long p = 0; p < k; ++p) {
    const float a = as_float(A[row * k + p]);
    const float b = as_float(B[p * n + col]);
    sum += a * b;
  }
  C[row * n + col] = sum;
}

template <class T>
void launch_naive(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), k = run.param("k"), side = run.param("block");
  const gpuexp::Extent grid{gpuexp::ceil_div(n, side), gpuexp::ceil_div(m, side)};
  run({grid, {side, side}}, matmul_naive<T>, run.in<T>("A"), run.in<T>("B"), run.out<float>("C"), m, n, k);
}

GPUEXP_VARIANT("matmul/naive") {
  variant.idea("one thread per element of C, everything from global memory")
      .param("block", 16, "threads along each side of a square block, which has 1,024 at most", 1, 32)
      .instance(launch_naive<float>, {{"dtype", "float32"}})
      .instance(launch_naive<__half>, {{"dtype", "float16"}});
}
