// Grids to be refused, sampled or run in parts.
#include <cuda_runtime.h>

#include "kernels/variant.h"

__global__ void fill(float* out, long long n) {
  const long long i = (static_cast<long long>(blockIdx.y) * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 1.0f;
}
GPUEXP_VARIANT("engine/any_grid") {
  variant.idea("test")
      .param("gx", 1, "grid", -1)
      .param("gy", 1, "grid", -1)
      .param("gz", 1, "grid", -1)
      .param("bx", 32, "block", -1)
      .param("by", 1, "block", -1)
      .param("bz", 1, "block", -1)
      .param("shared", 0, "bytes", -1)
      .instance(
          [](const gpuexp::Launch& run) {
            run({{run.param("gx"), run.param("gy"), run.param("gz")},
                 {run.param("bx"), run.param("by"), run.param("bz")},
                 run.param("shared")},
                fill, run.out<float>("out"), run.param("n"));
          },
          {});
}

// A guarded 2-D copy of rows x 1000 elements: edge blocks have fewer lanes.
__global__ void copy_2d(const float* in, float* out, long long rows, long long columns) {
  const long long x = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long y = static_cast<long long>(blockIdx.y) * blockDim.y + threadIdx.y;
  if (x < columns && y < rows) out[y * columns + x] = in[y * columns + x];
}
GPUEXP_VARIANT("engine/copy_2d") {
  variant.idea("test").param("rows", 1000, "rows").param("columns", 1000, "columns").instance(
      [](const gpuexp::Launch& run) {
        const long long rows = run.param("rows"), columns = run.param("columns");
        run({{gpuexp::ceil_div(columns, 32), gpuexp::ceil_div(rows, 8)}, {32, 8}}, copy_2d, run.in<float>("in"),
            run.out<float>("out"), rows, columns);
      },
      {});
}

// Work that differs from block to block.
__global__ void uneven(const float* in, float* out) {
  float sum = 0;
  for (unsigned i = 0; i < blockIdx.x % 7; ++i) sum += in[i];
  out[blockIdx.x * 32 + threadIdx.x] = sum;
}
GPUEXP_VARIANT("engine/uneven") {
  variant.idea("test").instance(
      [](const gpuexp::Launch& run) {
        run({{run.param("n") / 32}, {32}}, uneven, run.in<float>("in"), run.out<float>("out"));
      },
      {});
}

// Two launches, of which the second needs what the first wrote.
__global__ void add_one(const float* from, float* to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i] + 1.0f;
}
GPUEXP_VARIANT("engine/two_launches") {
  variant.idea("test").instance(
      [](const gpuexp::Launch& run) {
        const long long n = run.param("n");
        run({{n / 32}, {32}}, add_one, run.in<float>("in"), run.out<float>("out"));
        run({{n / 32}, {32}}, add_one, static_cast<const float*>(run.out<float>("out")), run.out<float>("out"));
      },
      {});
}

// Only the last block uses an atomic.
__global__ void late_atomic(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
  if (blockIdx.x == gridDim.x - 1) atomicAdd(&out[i], 1.0f);
}
GPUEXP_VARIANT("engine/late_atomic") {
  variant.idea("test").instance(
      [](const gpuexp::Launch& run) {
        run({{run.param("n") / 32}, {32}}, late_atomic, run.in<float>("in"), run.out<float>("out"));
      },
      {});
}

// One element beyond 2^31.
__global__ void scale_far(const float* in, float* out, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * in[i];
}
GPUEXP_VARIANT("engine/scale_far") {
  variant.idea("test").instance(
      [](const gpuexp::Launch& run) {
        const long long n = run.param("n");
        run({{gpuexp::ceil_div(n, 256)}, {256}}, scale_far, run.in<float>("in"), run.out<float>("out"), n);
      },
      {});
}

GPUEXP_VARIANT("engine/wrong_buffer") {
  variant.idea("test").instance(
      [](const gpuexp::Launch& run) { run({{1}, {32}}, fill, run.out<float>("oud"), 32LL); }, {});
}
GPUEXP_VARIANT("engine/refuses") {
  variant.idea("test").instance(
      [](const gpuexp::Launch& run) { run.unsupported("only on Tuesdays"); }, {});
}
