// Variants of vector_add that go wrong on a GPU in ways the backend must contain. Only the GPU tests link them.
#include <cuda_runtime.h>

#include "kernels/variant.h"

__global__ void fault_illegal_address(const float* x, float* z) { z[1LL << 40] = x[0]; }

// Ends only when the other thread has ended, and so does that one.
__global__ void fault_endless(const float* x, volatile float* z) {
  while (z[0] != x[0] + 1e30f) {
  }
}

__global__ void fault_nothing(const float* x, float* z) {
  if (x == nullptr) z[0] = 0.0f;
}

// Right until its twentieth run, which a timer reaches and a single run does not.
__device__ int runs_so_far = 0;
__global__ void fault_later(const float* x, const float* y, float* z, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
  if (i == 0 && ++runs_so_far > 20) z[0] = 12345.0f;
}

__global__ void fault_writes_input(float* x, const float* y, float* z, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  z[i] = x[i] + y[i];
  if (i == n - 1) x[i] = 7.0f;
}

// Atomics of both kinds by some lanes only; their sums are nobody's.
__global__ void fault_atomics(const float* x, float* z, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n / 2) return;
  if (i % 3 != 0) atomicAdd(&z[i % 7], x[i]);
  if (i % 5 != 0) z[i] = atomicAdd(&z[n / 2 + i % 7], x[i]);
}

#if defined(__CUDACC__)
void launch_illegal(const gpuexp::Launch& run) {
  run({{1}, {1}}, fault_illegal_address, run.in<float>("x"), run.out<float>("z"));
}
void launch_endless(const gpuexp::Launch& run) {
  run({{1}, {1}}, fault_endless, run.in<float>("x"), run.out<float>("z"));
}
void launch_nothing(const gpuexp::Launch& run) {
  run({{1}, {1}}, fault_nothing, run.in<float>("x"), run.out<float>("z"));
}
void launch_later(const gpuexp::Launch& run) {
  const long long n = run.param("n");
  run({{gpuexp::ceil_div(n, 256)}, {256}}, fault_later, run.in<float>("x"), run.in<float>("y"), run.out<float>("z"), n);
}
void launch_writes_input(const gpuexp::Launch& run) {
  const long long n = run.param("n");
  run({{gpuexp::ceil_div(n, 256)}, {256}}, fault_writes_input, const_cast<float*>(run.in<float>("x")),
      run.in<float>("y"), run.out<float>("z"), n);
}
void launch_atomics(const gpuexp::Launch& run) {
  const long long n = run.param("n");
  run({{gpuexp::ceil_div(n, 256)}, {256}}, fault_atomics, run.in<float>("x"), run.out<float>("z"), n);
}
void launch_too_large(const gpuexp::Launch& run) {
  run({{1, 65536}, {1}}, fault_nothing, run.in<float>("x"), run.out<float>("z"));
}
#else
constexpr void (*launch_illegal)(const gpuexp::Launch&) = nullptr;
constexpr void (*launch_endless)(const gpuexp::Launch&) = nullptr;
constexpr void (*launch_nothing)(const gpuexp::Launch&) = nullptr;
constexpr void (*launch_later)(const gpuexp::Launch&) = nullptr;
constexpr void (*launch_writes_input)(const gpuexp::Launch&) = nullptr;
constexpr void (*launch_atomics)(const gpuexp::Launch&) = nullptr;
constexpr void (*launch_too_large)(const gpuexp::Launch&) = nullptr;
#endif

#define FAULT(name, launch)                               \
  GPUEXP_VARIANT("fault/" name) {                         \
    variant.problem("vector_add")                         \
        .idea("goes wrong on purpose, for the GPU tests") \
        .cuda_only("it shows what a GPU does")            \
        .instance(launch, {{"dtype", "float32"}});        \
  }

FAULT("illegal_address", launch_illegal)
FAULT("endless", launch_endless)
FAULT("nothing", launch_nothing)
FAULT("later", launch_later)
FAULT("writes_input", launch_writes_input)
FAULT("too_large", launch_too_large)
FAULT("atomics", launch_atomics)
