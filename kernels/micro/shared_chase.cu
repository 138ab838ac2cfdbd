// One thread follows links through shared memory: the time per step is its latency.
//
// Links are offsets, which a load from shared memory takes as they are. Filling costs the same for any number of steps:
// the difference of two runs is the chase alone. At most 48 KiB.
#include <cuda_runtime.h>

#include "kernels/variant.h"

__global__ void shared_chase(const long long* links, long long* last, int elements, long long steps) {
  extern __shared__ __align__(16) unsigned char storage[];
  for (int i = threadIdx.x; i < elements; i += blockDim.x) {
    const long long link = links[i];
    *reinterpret_cast<int*>(storage + 8 * i) = static_cast<int>(link);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  int at = 0;
#pragma unroll 16
  for (long long step = 0; step < steps; ++step) at = *reinterpret_cast<const int*>(storage + at);
  *last = at;
}

void launch_shared_chase(const gpuexp::Launch& run) {
  const long long bytes = run.param("nodes") * run.param("stride");
  if (bytes > 48 * 1024) return run.unsupported("nodes x stride needs more than 48 KiB of shared memory");
  run({{1}, {128}, bytes}, shared_chase, run.out<long long>("links"), run.out<long long>("last"), bytes / 8,
      run.param("steps"));
}

GPUEXP_VARIANT("micro/shared_chase") {
  variant.problem("micro_chase")
      .idea("each load's offset is the value of the load before: nothing hides the latency of shared memory")
      .instance(launch_shared_chase, {});
}
