// One thread follows links through global memory: the time per step is the latency of the level that holds the ring.
//
// A link must be an address, or computing one would count as latency; but the input cannot know addresses. So a kernel
// before the chase adds the buffer's address to every link, and one after it takes it away again. What they and the
// launches cost is the same for any number of steps: the difference of two runs is the chase alone. __ldca says that
// the address is one of global memory, which the compiler cannot see, and loads through L1 as any load does.
#include <cuda_runtime.h>

#include "kernels/variant.h"

__global__ void relocate(long long* links, long long nodes, int stride, long long sign) {
  const long long node = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (node >= nodes) return;
  const long long link = links[node * stride];
  links[node * stride] = link + sign * reinterpret_cast<long long>(links);
}

__global__ void chase(const long long* links, long long* last, long long steps) {
  long long at = reinterpret_cast<long long>(links);
#pragma unroll 16
  for (long long step = 0; step < steps; ++step) at = __ldca(reinterpret_cast<const long long*>(at));
  *last = at - reinterpret_cast<long long>(links);
}

void launch_chase(const gpuexp::Launch& run) {
  const long long nodes = run.param("nodes"), stride = run.param("stride") / 8, threads = 256;
  long long* links = run.out<long long>("links");
  const gpuexp::LaunchConfig all{{gpuexp::ceil_div(nodes, threads)}, {threads}};
  run(all, relocate, links, nodes, stride, 1LL);
  run({{1}, {1}}, chase, links, run.out<long long>("last"), run.param("steps"));
  run(all, relocate, links, nodes, stride, -1LL);
}

GPUEXP_VARIANT("micro/chase") {
  variant.problem("micro_chase")
      .idea("each load's address is the value of the load before: nothing hides the latency of L1, L2 or DRAM")
      .instance(launch_chase, {});
}
