// STREAM's triad, a = b + s c, 16 bytes per load and store: two loads for every store.
//
// What a kernel of mixed traffic can hope for; between what reading and what copying reach.
#include <cuda_runtime.h>

#include "kernels/variant.h"

template <int ITEMS>
__global__ void triad(const float4* b, const float4* c, float4* a, float factor, long long vectors) {
  const long long first = static_cast<long long>(blockIdx.x) * blockDim.x * ITEMS + threadIdx.x;
  float4 left[ITEMS], right[ITEMS];
  for (int item = 0; item < ITEMS; ++item) {
    const long long i = first + static_cast<long long>(item) * blockDim.x;
    if (i < vectors) {
      left[item] = b[i];
      right[item] = c[i];
    }
  }
  for (int item = 0; item < ITEMS; ++item) {
    const long long i = first + static_cast<long long>(item) * blockDim.x;
    if (i < vectors) {
      a[i] = make_float4(left[item].x + factor * right[item].x, left[item].y + factor * right[item].y,
                         left[item].z + factor * right[item].z, left[item].w + factor * right[item].w);
    }
  }
}

template <int ITEMS>
void launch_triad(const gpuexp::Launch& run) {
  const long long n = run.param("n"), threads = run.param("block");
  if (n % 4 != 0) return run.unsupported("n must be a multiple of 4: every load takes 4 elements");
  run({{gpuexp::ceil_div(n / 4, threads * ITEMS)}, {threads}}, triad<ITEMS>, run.in<float4>("b"), run.in<float4>("c"),
      run.out<float4>("a"), 3.0f, n / 4);
}

GPUEXP_VARIANT("micro/triad") {
  variant.problem("micro_triad")
      .idea("two loads and a store of 16 bytes: the bandwidth of DRAM for mixed traffic")
      .param("block", 256, "threads per block", 1, 1024)
      .fixed("ITEMS", {"ITEMS", 1}, "vectors of 4 elements per thread")
      .instance(launch_triad<1>, {{"ITEMS", 1}})
      .instance(launch_triad<2>, {{"ITEMS", 2}});
}
