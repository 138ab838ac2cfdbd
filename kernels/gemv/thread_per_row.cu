// One thread computes one element of y, walking along its row of A.
//
// The 32 lanes of a warp read 32 rows at once, a whole row apart: 32 sectors per request, of which each gives 4 of its
// 32 bytes (12.5 %). The next 7 elements of a sector are wanted soon after, so that a cache can help; with long rows
// and many warps it does not. x is the same address for all lanes.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/variant.h"

__device__ inline float as_float(float v) { return v; }
__device__ inline float as_float(__half v) { return __half2float(v); }
__device__ inline float as_float(__nv_bfloat16 v) { return __bfloat162float(v); }

template <class T>
__global__ void gemv_thread_per_row(const T* A, const float* x, const float* bias, float* y, long long m, long long n) {
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= m) return;
  const T* row_a = A + row * n;
  float sum = 0.0f;
  for (long long col = 0; col < n; ++col) {
    const float a = as_float(row_a[col]);
    const float b = x[col];
    sum += a * b;
  }
  if (bias != nullptr) sum += bias[row];
  y[row] = sum;
}

template <class T>
void launch_thread_per_row(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), threads = run.param("block");
  const float* bias = run.param("bias") != 0 ? run.in<float>("bias") : nullptr;
  run({{gpuexp::ceil_div(m, threads)}, {threads}}, gemv_thread_per_row<T>, run.in<T>("A"), run.in<float>("x"), bias,
      run.out<float>("y"), m, n);
}

GPUEXP_VARIANT("gemv/thread_per_row") {
  variant
      .idea("one thread per row: no reduction, but a warp's loads of A lie a row apart and use 12.5 % of each sector")
      .param("block", 256, "threads per block", 1, 1024)
      .instance(launch_thread_per_row<float>, {{"dtype", "float32"}})
      .instance(launch_thread_per_row<__half>, {{"dtype", "float16"}})
      .instance(launch_thread_per_row<__nv_bfloat16>, {{"dtype", "bfloat16"}});
}
