// Each block fills its shared memory from a chunk and reads it again and again: what the banks deliver.
//
// 16 bytes per lane, neighbouring lanes side by side, so that every wavefront moves the full 128 bytes without
// conflicts. Filling is read through the caches and costs as much as a few passes: take many.
#include <cuda_runtime.h>

#include "kernels/variant.h"

__device__ inline unsigned sum_of(const uint4& v) { return v.x + v.y + v.z + v.w; }

template <int ITEMS>
__global__ void shared_read(const uint4* src, unsigned* sums, long long vectors, int chunk, int passes) {
  extern __shared__ __align__(16) unsigned char storage[];
  uint4* slots = reinterpret_cast<uint4*>(storage);
  const long long first = static_cast<long long>(blockIdx.x) * chunk;
  const long long left = vectors - first;
  const int count = left < chunk ? static_cast<int>(left) : chunk;
  const int threads = blockDim.x;
  for (int i = threadIdx.x; i < count; i += threads) {
    const uint4 value = src[first + i];
    slots[i] = value;
  }
  __syncthreads();
  unsigned sum = 0;
  for (int pass = 0; pass < passes; ++pass) {
    int i = threadIdx.x;
    for (; i + (ITEMS - 1) * threads < count; i += ITEMS * threads) {
      uint4 held[ITEMS];
#pragma unroll
      for (int item = 0; item < ITEMS; ++item) held[item] = slots[i + item * threads];
#pragma unroll
      for (int item = 0; item < ITEMS; ++item) sum += sum_of(held[item]);
    }
    for (; i < count; i += threads) {
      const uint4 value = slots[i];
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

template <int ITEMS>
void launch_shared_read(const gpuexp::Launch& run) {
  const long long n = run.param("n"), chunk = run.param("chunk"), threads = run.param("block");
  if (n % 4 != 0) return run.unsupported("n must be a multiple of 4: every load takes 4 elements");
  if (threads % 32 != 0) return run.unsupported("block must be a multiple of 32: a warp adds its values up together");
  if (chunk > 48 * 1024) return run.unsupported("a chunk of more than 192 KiB does not fit into shared memory");
  run({{gpuexp::ceil_div(n, chunk), run.param("repeats")}, {threads}, chunk * 4}, shared_read<ITEMS>,
      run.in<uint4>("src"), run.out<unsigned>("sums"), n / 4, chunk / 4, run.param("passes"));
}

GPUEXP_VARIANT("micro/shared_read") {
  variant.problem("micro_read")
      .idea("16-byte loads from shared memory without bank conflicts: the bandwidth of its banks")
      .param("block", 256, "threads per block, a multiple of 32", 32, 1024)
      .fixed("ITEMS", {"ITEMS", 4}, "16-byte loads in flight per thread")
      .instance(launch_shared_read<4>, {{"ITEMS", 4}});
}
