// The 32 lanes of a warp share one row of A and add their partial sums in a tree of five shuffles.
//
// Loads of A and x coalesce: 4 sectors per request for float32, all of their bytes used. The reduction costs five
// shuffles a row and no barrier, which suits short rows; in rows below 32 elements lanes idle.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/variant.h"

__device__ inline float as_float(float v) { return v; }
__device__ inline float as_float(__half v) { return __half2float(v); }
__device__ inline float as_float(__nv_bfloat16 v) { return __bfloat162float(v); }

template <class T>
__global__ void gemv_warp_per_row(const T* A, const float* x, const float* bias, float* y, long long m, long long n) {
  const long long row = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= m) return;  // all lanes of a warp have the same row
  const T* row_a = A + row * n;
  float sum = 0.0f;
  for (long long col = lane; col < n; col += 32) {
    const float a = as_float(row_a[col]);
    const float b = x[col];
    sum += a * b;
  }
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane != 0) return;
  if (bias != nullptr) sum += bias[row];
  y[row] = sum;
}

template <class T>
void launch_warp_per_row(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), threads = run.param("block");
  if (threads % 32 != 0) return run.unsupported("block must be a multiple of 32: a warp takes a row");
  const float* bias = run.param("bias") != 0 ? run.in<float>("bias") : nullptr;
  run({{gpuexp::ceil_div(m, threads / 32)}, {threads}}, gemv_warp_per_row<T>, run.in<T>("A"), run.in<float>("x"), bias,
      run.out<float>("y"), m, n);
}

GPUEXP_VARIANT("gemv/warp_per_row") {
  variant.idea("one warp per row: loads of A coalesce, and five shuffles add the lanes' sums without a barrier")
      .param("block", 256, "threads per block, a multiple of 32", 32, 1024)
      .instance(launch_warp_per_row<float>, {{"dtype", "float32"}})
      .instance(launch_warp_per_row<__half>, {{"dtype", "float16"}})
      .instance(launch_warp_per_row<__nv_bfloat16>, {{"dtype", "bfloat16"}});
}
