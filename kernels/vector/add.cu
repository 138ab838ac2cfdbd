// One thread adds one pair of elements: z[i] = x[i] + y[i].
//
// 1 FLOP for 12 bytes: bound by memory on every GPU, and fully coalesced, so it shows what plain streaming attains.
#include <cuda_runtime.h>

#include "kernels/variant.h"

__global__ void vector_add(const float* x, const float* y, float* z, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float a = x[i];
  const float b = y[i];
  z[i] = a + b;
}

void launch_add(const gpuexp::Launch& run) {
  const long long n = run.param("n"), threads = run.param("block");
  run({{gpuexp::ceil_div(n, threads)}, {threads}}, vector_add, run.in<float>("x"), run.in<float>("y"),
      run.out<float>("z"), n);
}

GPUEXP_VARIANT("vector/add") {
  variant.problem("vector_add")
      .idea("one thread per element, coalesced: 1 FLOP for 12 bytes")
      .param("block", 256, "threads per block", 1, 1024)
      .instance(launch_add, {{"dtype", "float32"}});
}
