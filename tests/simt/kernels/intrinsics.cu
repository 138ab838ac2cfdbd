// Warp intrinsics and atomics: each thread writes what it got.
#include <cuda_runtime.h>

#include "kernels/variant.h"

#define ENGINE_KERNEL(name, type, blocks, threads)                                      \
  GPUEXP_VARIANT("engine/" #name) {                                                     \
    variant.idea("test").instance(                                                      \
        [](const gpuexp::Launch& run) {                                                 \
          run({{blocks}, {threads}}, name, run.in<type>("in"), run.out<type>("out"));   \
        },                                                                              \
        {});                                                                            \
  }

// Row r of 32 results: one shuffle each.
template <class T>
__device__ void all_shuffles(const T* in, T* out) {
  const int t = threadIdx.x;
  const T v = in[t];
  out[0 * 32 + t] = __shfl_sync(0xffffffffu, v, 5);
  out[1 * 32 + t] = __shfl_sync(0xffffffffu, v, t + 3, 8);
  out[2 * 32 + t] = __shfl_up_sync(0xffffffffu, v, 3);
  out[3 * 32 + t] = __shfl_up_sync(0xffffffffu, v, 1, 4);
  out[4 * 32 + t] = __shfl_down_sync(0xffffffffu, v, 10);
  out[5 * 32 + t] = __shfl_down_sync(0xffffffffu, v, 2, 16);
  out[6 * 32 + t] = __shfl_xor_sync(0xffffffffu, v, 21);
  out[7 * 32 + t] = __shfl_xor_sync(0xffffffffu, v, 6, 4);
}
__global__ void shuffles_float(const float* in, float* out) { all_shuffles(in, out); }
ENGINE_KERNEL(shuffles_float, float, 1, 32)
__global__ void shuffles_double(const double* in, double* out) { all_shuffles(in, out); }
ENGINE_KERNEL(shuffles_double, double, 1, 32)
__global__ void shuffles_long(const long long* in, long long* out) { all_shuffles(in, out); }
ENGINE_KERNEL(shuffles_long, long long, 1, 32)

__global__ void votes(const int* in, int* out) {
  const int t = threadIdx.x;
  const int odd = in[t] & 1;
  out[0 * 32 + t] = static_cast<int>(__ballot_sync(0xffffffffu, odd));
  out[1 * 32 + t] = __any_sync(0xffffffffu, t == 7);
  out[2 * 32 + t] = __all_sync(0xffffffffu, t != 7);
  int part = 0;
  if (t < 12) part = static_cast<int>(__ballot_sync(0x00000fffu, 1));
  out[3 * 32 + t] = part;
  out[4 * 32 + t] = __reduce_add_sync(0xffffffffu, in[t]);
  out[5 * 32 + t] = __reduce_min_sync(0xffffffffu, -in[t]);
  out[6 * 32 + t] = static_cast<int>(__reduce_max_sync(0xffffffffu, static_cast<unsigned>(in[t])));
  out[7 * 32 + t] = static_cast<int>(__match_any_sync(0xffffffffu, in[t] % 3));
  int agree = 0;
  out[8 * 32 + t] = static_cast<int>(__match_all_sync(0xffffffffu, in[t] < 100, &agree)) + agree;
  int active = 0;
  if (t % 4 == 1) active = static_cast<int>(__activemask());
  out[9 * 32 + t] = active;
}
ENGINE_KERNEL(votes, int, 1, 32)

__global__ void block_votes(const int* in, int* out) {
  const int t = threadIdx.x;
  out[t] = __syncthreads_count(in[t] % 3 == 0);
  out[96 + t] = __syncthreads_and(t < 96);
  out[192 + t] = __syncthreads_or(t == 95);
}
ENGINE_KERNEL(block_votes, int, 1, 96)

// A block smaller than a warp: the mask names lanes that never were.
__global__ void small_block_sum(const float* in, float* out) {
  float v = in[threadIdx.x];
  for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d, 8);
  if (threadIdx.x == 0) out[0] = v;
}
ENGINE_KERNEL(small_block_sum, float, 1, 8)

// Each block takes a ticket: in block order, whatever the number of OS threads.
__global__ void tickets(const int* in, int* out) {
  if (threadIdx.x == 0) {
    int work = 0;
    for (int i = 0; i < (blockIdx.x % 3) * 100; ++i) work += in[i];
    const int ticket = atomicAdd(&out[0], 1);
    out[1 + blockIdx.x] = ticket + 0 * work;
  }
}
ENGINE_KERNEL(tickets, int, 200, 32)

__global__ void all_atomics(const int* in, int* out) {
  const int t = threadIdx.x;
  atomicAdd(&out[0], in[t]);
  atomicSub(&out[1], in[t]);
  atomicMin(&out[2], -in[t]);
  atomicMax(&out[3], in[t]);
  atomicAnd(&out[4], ~in[t]);
  atomicOr(&out[5], in[t]);
  atomicXor(&out[6], in[t]);
  atomicExch(&out[7], 17);
  atomicCAS(&out[8], 0, 42);
  atomicInc(reinterpret_cast<unsigned*>(&out[9]), 9);
  atomicDec(reinterpret_cast<unsigned*>(&out[10]), 5);
  atomicAdd(reinterpret_cast<float*>(&out[11]), 0.5f);
  atomicAdd(reinterpret_cast<unsigned long long*>(&out[12]), 0x80000000ull);
}
ENGINE_KERNEL(all_atomics, int, 1, 32)
