// Blocks read chunks of a working set and add the values up: what memory, L2 cache and L1 cache deliver to loads.
//
// Several loads of 16 bytes are in flight before the first value is used. A working set far above the L2 cache, read
// once, shows DRAM; one below it that the grid covers again and again shows the L2 cache (LOAD cg passes the L1 caches
// by); one chunk below the L1 cache that every block reads in many passes shows the L1 caches. Limits: the additions
// take issue slots, too few to matter on the GPUs known here.
#include <cuda_runtime.h>

#include "kernels/variant.h"

struct Cached {
  static __device__ inline uint4 load(const uint4* address) { return *address; }
};
struct PastL1 {
  static __device__ inline uint4 load(const uint4* address) { return __ldcg(address); }
};

__device__ inline unsigned sum_of(const uint4& v) { return v.x + v.y + v.z + v.w; }

template <class Load, int ITEMS>
__global__ void read_chunks(const uint4* src, unsigned* sums, long long vectors, int chunk, int passes) {
  const long long first = static_cast<long long>(blockIdx.x) * chunk;
  const long long left = vectors - first;
  const int count = left < chunk ? static_cast<int>(left) : chunk;
  const int threads = blockDim.x;
  unsigned sum = 0;
  for (int pass = 0; pass < passes; ++pass) {
    int i = threadIdx.x;
    for (; i + (ITEMS - 1) * threads < count; i += ITEMS * threads) {
      uint4 held[ITEMS];
#pragma unroll
      for (int item = 0; item < ITEMS; ++item) held[item] = Load::load(src + first + i + item * threads);
#pragma unroll
      for (int item = 0; item < ITEMS; ++item) sum += sum_of(held[item]);
    }
    for (; i < count; i += threads) {
      const uint4 value = Load::load(src + first + i);
      sum += sum_of(value);
    }
  }
  __shared__ unsigned of_warp[32];
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  unsigned total = 0;
  for (int warp = 0; warp < threads / 32; ++warp) total += of_warp[warp];
  sums[blockIdx.x] = total;
}

template <class Load, int ITEMS>
void launch_read(const gpuexp::Launch& run) {
  const long long n = run.param("n"), chunk = run.param("chunk"), threads = run.param("block");
  if (n % 4 != 0) return run.unsupported("n must be a multiple of 4: every load takes 4 elements");
  if (threads % 32 != 0) return run.unsupported("block must be a multiple of 32: a warp adds its values up together");
  run({{gpuexp::ceil_div(n, chunk), run.param("repeats")}, {threads}}, read_chunks<Load, ITEMS>, run.in<uint4>("src"),
      run.out<unsigned>("sums"), n / 4, chunk / 4, run.param("passes"));
}

GPUEXP_VARIANT("micro/read") {
  variant.problem("micro_read")
      .idea("many 16-byte loads in flight and hardly anything else: the bandwidth of DRAM, L2 or L1")
      .param("block", 256, "threads per block, a multiple of 32", 32, 1024)
      .fixed("LOAD", {"LOAD", "ca"}, "ca: through the L1 cache; cg: past it")
      .fixed("ITEMS", {"ITEMS", 4}, "16-byte loads in flight per thread")
      .instance(launch_read<Cached, 4>, {{"LOAD", "ca"}, {"ITEMS", 4}})
      .instance(launch_read<PastL1, 4>, {{"LOAD", "cg"}, {"ITEMS", 4}})
      .instance(launch_read<Cached, 8>, {{"LOAD", "ca"}, {"ITEMS", 8}})
      .instance(launch_read<PastL1, 8>, {{"LOAD", "cg"}, {"ITEMS", 8}});
}
