// Chains of dependent FMAs in registers: many chains show how many FMAs a GPU does, one alone how long an FMA takes.
//
// Each thread keeps `chains` values, so that an FMA need not wait for the one before it in its own chain; enough warps
// do the same. With one chain in one warp every FMA waits, and the time per step is the latency. The loop's own
// instructions are spread over many steps.
#include <cuda_runtime.h>

#include "kernels/variant.h"

__device__ inline float multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ inline double multiply_add(double a, double b, double c) { return __fma_rn(a, b, c); }

// Steps per turn of the loop. A lone chain cannot hide the branch at its end, so that one should be rare.
template <int CHAINS>
constexpr int unrolled = CHAINS == 1 ? 512 : 32;

template <class T, int CHAINS>
__global__ void fma_chains(const T* x, T* y, T factor, T addend, long long threads, int steps) {
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (thread >= threads) return;
  const T start = x[thread];
  T value[CHAINS];
#pragma unroll
  for (int chain = 0; chain < CHAINS; ++chain) value[chain] = start + chain;
#pragma unroll unrolled < CHAINS>
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int chain = 0; chain < CHAINS; ++chain) value[chain] = multiply_add(value[chain], factor, addend);
  }
  T sum = 0;
#pragma unroll
  for (int chain = 0; chain < CHAINS; ++chain) sum += value[chain];
  y[thread] = sum;
}

template <class T, int CHAINS>
void launch_fma(const gpuexp::Launch& run) {
  const long long threads = run.param("threads"), block = run.param("block");
  // As in kernels/micro/problem.cpp.
  const double factor = -(1 - 1.0 / 2048), addend = 0.375;
  run({{gpuexp::ceil_div(threads, block)}, {block}}, fma_chains<T, CHAINS>, run.in<T>("x"), run.out<T>("y"),
      static_cast<T>(factor), static_cast<T>(addend), threads, run.param("steps"));
}

GPUEXP_VARIANT("micro/fma") {
  variant.problem("micro_fma")
      .idea("FMAs on values in registers: the rate of the FMA units, or with one chain their latency")
      .param("block", 256, "threads per block", 1, 1024)
      .instance(launch_fma<float, 8>, {{"chains", 8}, {"dtype", "float32"}})
      .instance(launch_fma<float, 1>, {{"chains", 1}, {"dtype", "float32"}})
      .instance(launch_fma<double, 8>, {{"chains", 8}, {"dtype", "float64"}})
      .instance(launch_fma<double, 1>, {{"chains", 1}, {"dtype", "float64"}});
}
