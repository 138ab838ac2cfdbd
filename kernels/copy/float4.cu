// Each thread copies ITEMS float4 values, a block's width apart: every warp request moves 512 contiguous bytes.
//
// The widest load there is needs a quarter of the requests that float needs. With ITEMS above 1 several loads of a
// thread are in flight before its first store waits for one; on GPUs that hold enough threads, 1 does as well. This is
// about the best a kernel gets out of the memory. The last elements, when n is no multiple of 4, go one by one.
#include <cuda_runtime.h>

#include "kernels/variant.h"

template <int ITEMS>
__global__ void copy_float4(const float4* src, float4* dst, long long whole, const float* src_tail, float* dst_tail,
                            int tail) {
  const long long first = static_cast<long long>(blockIdx.x) * blockDim.x * ITEMS + threadIdx.x;
  float4 held[ITEMS];
  for (int item = 0; item < ITEMS; ++item) {
    const long long i = first + static_cast<long long>(item) * blockDim.x;
    if (i < whole) held[item] = src[i];
  }
  for (int item = 0; item < ITEMS; ++item) {
    const long long i = first + static_cast<long long>(item) * blockDim.x;
    if (i < whole) dst[i] = held[item];
  }
  if (blockIdx.x == 0 && threadIdx.x < tail) dst_tail[threadIdx.x] = src_tail[threadIdx.x];
}

template <int ITEMS>
void launch_float4(const gpuexp::Launch& run) {
  const long long n = run.param("n"), threads = run.param("block"), whole = n / 4;
  const float* src = run.in<float>("src");
  float* dst = run.out<float>("dst");
  const long long blocks = gpuexp::ceil_div(whole, threads * ITEMS);
  const long long at_least_one = n > 0 && blocks == 0 ? 1 : blocks;  // a tail alone needs a block too
  run({{at_least_one}, {threads}}, copy_float4<ITEMS>, run.in<float4>("src"), run.out<float4>("dst"), whole,
      src + whole * 4, dst + whole * 4, static_cast<int>(n % 4));
}

GPUEXP_VARIANT("copy/float4") {
  variant.idea("16 bytes per load and store, coalesced: the copy bandwidth that other kernels are measured by")
      .param("block", 256, "threads per block", 4, 1024)
      .fixed("ITEMS", {"ITEMS", 1}, "float4 values per thread")
      .instance(launch_float4<1>, {{"ITEMS", 1}, {"dtype", "float32"}})
      .instance(launch_float4<2>, {{"ITEMS", 2}, {"dtype", "float32"}})
      .instance(launch_float4<4>, {{"ITEMS", 4}, {"dtype", "float32"}});
}
