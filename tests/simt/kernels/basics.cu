// Small kernels with counts that can be worked out by hand.
#include <cuda_runtime.h>

#include "kernels/variant.h"

// One coalesced load and store per thread.
__global__ void copy(const float* in, float* out, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
GPUEXP_VARIANT("engine/copy") {
  variant.idea("test").param("block", 128, "threads of a block", 1, 4096).instance(
      [](const gpuexp::Launch& run) {
        const long long n = run.param("n"), block = run.param("block");
        run({{gpuexp::ceil_div(n, block)}, {block}}, copy, run.in<float>("in"), run.out<float>("out"), n);
      },
      {});
}

// Takes pairs: right of a buffer of floats only as a vector type.
template <class Pair>
__global__ void copy_pairs(const Pair* in, Pair* out) {
  out[threadIdx.x] = in[threadIdx.x];
}
template <class Pair>
void launch_pairs(const gpuexp::Launch& run) {
  run({{1}, {run.param("n") / 2}}, copy_pairs<Pair>, run.in<Pair>("in"), run.out<Pair>("out"));
}
GPUEXP_VARIANT("engine/float2_of_floats") { variant.idea("test").instance(launch_pairs<float2>, {}); }
GPUEXP_VARIANT("engine/double_of_floats") { variant.idea("test").instance(launch_pairs<double>, {}); }
GPUEXP_VARIANT("engine/long_of_floats") { variant.idea("test").instance(launch_pairs<long long>, {}); }

// Every index of a 3-D grid of 3-D blocks, written once at its place.
__global__ void indices(int* out) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
  const unsigned width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
  out[(z * height + y) * width + x] = static_cast<int>(x + 100 * y + 10000 * z);
}
GPUEXP_VARIANT("engine/indices") {
  variant.idea("test").instance(
      [](const gpuexp::Launch& run) { run({{3, 2, 4}, {5, 3, 2}}, indices, run.out<int>("out")); }, {});
}

// Reverses each block's elements through shared memory.
__global__ void reverse_static(const float* in, float* out) {
  __shared__ float tile[128];
  const int t = threadIdx.x, base = blockIdx.x * 128;
  tile[t] = in[base + t];
  __syncthreads();
  out[base + t] = tile[127 - t];
}
GPUEXP_VARIANT("engine/reverse_static") {
  variant.idea("test").instance(
      [](const gpuexp::Launch& run) {
        run({{run.param("n") / 128}, {128}}, reverse_static, run.in<float>("in"), run.out<float>("out"));
      },
      {});
}

// The same with dynamic shared memory of two arrays.
__global__ void reverse_dynamic(const float* in, float* out) {
  extern __shared__ float memory[];
  float* tile = memory + blockDim.x;
  const int t = threadIdx.x, last = blockDim.x - 1, base = blockIdx.x * blockDim.x;
  tile[t] = in[base + t];
  __syncthreads();
  memory[t] = tile[last - t];
  out[base + t] = memory[t];
}
GPUEXP_VARIANT("engine/reverse_dynamic") {
  variant.idea("test").param("shared", 1024, "bytes", 0, 1 << 30).instance(
      [](const gpuexp::Launch& run) {
        run({{run.param("n") / 128}, {128}, run.param("shared")}, reverse_dynamic, run.in<float>("in"),
            run.out<float>("out"));
      },
      {});
}
