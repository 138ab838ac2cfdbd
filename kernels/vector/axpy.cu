// One thread updates one element: y[i] = a x[i] + y[i].
//
// 2 FLOP for 12 bytes: twice the intensity of vector/add, and as firmly bound by memory.
#include <cuda_runtime.h>

#include "kernels/variant.h"

__global__ void vector_axpy(float a, const float* x, float* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float old = y[i];
  const float addend = x[i];
  y[i] = a * addend + old;
}

void launch_axpy(const gpuexp::Launch& run) {
  const long long n = run.param("n"), threads = run.param("block");
  run({{gpuexp::ceil_div(n, threads)}, {threads}}, vector_axpy, static_cast<float>(run.param("a")), run.in<float>("x"),
      run.out<float>("y"), n);
}

GPUEXP_VARIANT("vector/axpy") {
  variant.problem("vector_axpy")
      .idea("one thread per element, coalesced, y updated in place: 2 FLOP for 12 bytes")
      .param("block", 256, "threads per block", 1, 1024)
      .instance(launch_axpy, {{"dtype", "float32"}});
}
