// Kernels that are wrong on purpose, each in one way that the checkers must name, and twins that are right.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/variant.h"

#define ENGINE_KERNEL(name, blocks, threads)                                              \
  GPUEXP_VARIANT("engine/" #name) {                                                       \
    variant.idea("test").instance(                                                        \
        [](const gpuexp::Launch& run) {                                                   \
          run({{blocks}, {threads}}, name, run.in<float>("in"), run.out<float>("out"));   \
        },                                                                                \
        {});                                                                              \
  }

__global__ void missing_barrier(const float* in, float* out) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t] = in[t];  // races as writer
  out[t] = tile[63 - t];  // races as reader
}
ENGINE_KERNEL(missing_barrier, 1, 64)

__global__ void same_word(const float* in, float* out) {
  __shared__ float total;
  total = in[threadIdx.x];  // all write one word
  __syncthreads();
  out[threadIdx.x] = total;
}
ENGINE_KERNEL(same_word, 2, 64)

__global__ void own_word(const float* in, float* out) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t] = in[t];
  tile[t] += 1.0f;
  out[t] = tile[t];
}
ENGINE_KERNEL(own_word, 1, 64)

__global__ void neighbouring_bytes(const float* in, float* out) {
  __shared__ unsigned char bytes[64];
  const int t = threadIdx.x;
  bytes[t] = static_cast<unsigned char>(t);
  out[t] = in[t] + static_cast<float>(bytes[t]);
}
ENGINE_KERNEL(neighbouring_bytes, 1, 64)

__global__ void shared_byte(const float* in, float* out) {
  __shared__ unsigned char bytes[64];
  const int t = threadIdx.x;
  bytes[t / 2] = static_cast<unsigned char>(t);  // two threads per byte
  __syncthreads();
  out[t] = in[t] + static_cast<float>(bytes[t / 2]);
}
ENGINE_KERNEL(shared_byte, 1, 64)

// The warp-synchronous end of a sum: right with __syncwarp ...
__global__ void warp_tail(const float* in, float* out) {
  __shared__ float tile[32];
  const int t = threadIdx.x;
  tile[t] = in[t];
  __syncwarp();
  for (int d = 16; d > 0; d /= 2) {
    float other = 0;
    if (t < d) other = tile[t + d];
    __syncwarp();
    if (t < d) tile[t] += other;
    __syncwarp();
  }
  if (t == 0) out[0] = tile[0];
}
ENGINE_KERNEL(warp_tail, 1, 32)

// ... and a race without.
__global__ void warp_tail_unordered(const float* in, float* out) {
  __shared__ float tile[32];
  const int t = threadIdx.x;
  tile[t] = in[t];
  __syncwarp();
  for (int d = 16; d > 0; d /= 2) {
    if (t < d) tile[t] += tile[t + d];  // unordered sum
  }
  if (t == 0) out[0] = tile[0];
}
ENGINE_KERNEL(warp_tail_unordered, 1, 32)

// Each half of the warp is ordered, but not with the other half.
__global__ void half_synced(const float* in, float* out) {
  __shared__ float tile[32];
  const int t = threadIdx.x;
  tile[t] = in[t];  // before the half's barrier
  __syncwarp(t < 16 ? 0x0000ffffu : 0xffff0000u);
  out[t] = tile[31 - t];  // reads the other half
}
ENGINE_KERNEL(half_synced, 1, 32)

__global__ void half_synced_right(const float* in, float* out) {
  __shared__ float tile[32];
  const int t = threadIdx.x;
  tile[t] = in[t];
  __syncwarp(t < 16 ? 0x0000ffffu : 0xffff0000u);
  out[t] = tile[t ^ 15];
}
ENGINE_KERNEL(half_synced_right, 1, 32)

// A shuffle waits for its lanes but orders nothing.
__global__ void shuffle_is_no_barrier(const float* in, float* out) {
  __shared__ float tile[32];
  const int t = threadIdx.x;
  tile[t] = in[t];
  const float sum = __shfl_xor_sync(0xffffffffu, in[t], 1);
  out[t] = tile[31 - t] + 0.0f * sum;
}
ENGINE_KERNEL(shuffle_is_no_barrier, 1, 32)

__global__ void global_race(const float* in, float* out) {
  out[threadIdx.x / 2] = in[threadIdx.x];  // two threads per element
}
ENGINE_KERNEL(global_race, 1, 64)

__global__ void shared_atomics(const float* in, float* out) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = sum;
}
ENGINE_KERNEL(shared_atomics, 1, 64)

__global__ void beyond_global(const float* in, float* out) {
  const int t = threadIdx.x;
  out[t] = in[t + 70];  // last ones beyond
}
ENGINE_KERNEL(beyond_global, 1, 64)

__global__ void before_global(const float* in, float* out) {
  const int t = threadIdx.x;
  out[t] = in[t - 1];  // first one before
}
ENGINE_KERNEL(before_global, 1, 64)

__global__ void beyond_shared(const float* in, float* out) {
  __shared__ float first[64];
  __shared__ float second[64];
  const int t = threadIdx.x;
  first[t] = in[t];
  second[t] = in[t];
  __syncthreads();
  float* start = first;
  out[t] = start[t + 1] + second[t];  // last thread overflows
}
ENGINE_KERNEL(beyond_shared, 1, 64)

__global__ void null_pointer(const float* in, float* out) {
  const float* nothing = in + 0 * threadIdx.x;
  if (threadIdx.x == 5) nothing = nullptr;
  out[threadIdx.x] = nothing[0];  // dereferences null
}
ENGINE_KERNEL(null_pointer, 1, 64)

__global__ void misaligned(const float* in, float* out) {
  const float* odd = reinterpret_cast<const float*>(reinterpret_cast<const char*>(in) + (threadIdx.x == 3 ? 2 : 0));
  out[threadIdx.x] = *odd;  // reads across words
}
ENGINE_KERNEL(misaligned, 1, 64)

__global__ void writes_input(const float* in, float* out) {
  const_cast<float*>(in)[threadIdx.x] = 1.0f;  // writes to in
  out[threadIdx.x] = 1.0f;
}
ENGINE_KERNEL(writes_input, 1, 64)

__global__ void uninitialised_shared(const float* in, float* out) {
  __shared__ float tile[65];
  const int t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  out[t] = tile[t + 1];  // reads the last one
}
ENGINE_KERNEL(uninitialised_shared, 1, 64)

__global__ void uninitialised_global(const float* in, float* out) {
  out[threadIdx.x] += in[threadIdx.x];  // adds to nothing
}
ENGINE_KERNEL(uninitialised_global, 1, 64)

__global__ void divergent_barrier(const float* in, float* out) {
  const int t = threadIdx.x;
  if (t < 32) {
    __syncthreads();  // one barrier
  } else {
    __syncthreads();  // another barrier
  }
  out[t] = in[t];
}
ENGINE_KERNEL(divergent_barrier, 1, 64)

__global__ void exits_before_barrier(const float* in, float* out) {
  const int t = threadIdx.x;
  out[t] = in[t];
  if (t >= 40) return;
  __syncthreads();
  out[t] += 1.0f;
}
ENGINE_KERNEL(exits_before_barrier, 1, 64)

__global__ void shuffle_from_exited(const float* in, float* out) {
  const int t = threadIdx.x;
  if (t >= 16) return;
  out[t] = __shfl_down_sync(0xffffffffu, in[t], 8);  // lane 8 reads lane 16
}
ENGINE_KERNEL(shuffle_from_exited, 1, 32)

__global__ void shuffle_not_in_mask(const float* in, float* out) {
  const int t = threadIdx.x;
  out[t] = __shfl_sync(0x0000ffffu, in[t], 0);  // half of the lanes are not named
}
ENGINE_KERNEL(shuffle_not_in_mask, 1, 32)

__global__ void shuffle_against_barrier(const float* in, float* out) {
  const int t = threadIdx.x;
  float value = in[t];
  if (t < 16) {
    value = __shfl_sync(0xffffffffu, value, 0);  // waits for all lanes
  } else {
    __syncthreads();  // where the others are
  }
  out[t] = value;
}
ENGINE_KERNEL(shuffle_against_barrier, 1, 32)

__global__ void endless(const float* in, float* out) {
  volatile const float* source = in;
  while (source[threadIdx.x] >= 0) {
  }
  out[threadIdx.x] = 1;
}
ENGINE_KERNEL(endless, 4, 64)

__global__ void endless_barrier(const float* in, float* out) {
  while (true) __syncthreads();
}
ENGINE_KERNEL(endless_barrier, 1, 64)

// Faults of the processor, each of thread 5 alone.
__global__ void divides_by_zero(const float* in, float* out) {
  volatile int zero = 0;
  const int t = threadIdx.x;
  out[t] = in[t];
  if (t == 5) out[t] = static_cast<float>(t / zero);  // divides by zero
}
ENGINE_KERNEL(divides_by_zero, 1, 64)

__global__ void traps(const float* in, float* out) {
  const int t = threadIdx.x;
  out[t] = in[t];
  if (t == 5) __builtin_trap();  // traps
}
ENGINE_KERNEL(traps, 1, 64)

__global__ void calls_null(const float* in, float* out) {
  float (*volatile nowhere)(float) = nullptr;
  const int t = threadIdx.x;
  out[t] = in[t];
  if (t == 5) out[t] = nowhere(1.0f);  // calls nowhere
}
ENGINE_KERNEL(calls_null, 1, 64)

__global__ void returns_nowhere(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];
  asm volatile("pushq $0; pushq $16; ret" ::: "memory");  // as through an overwritten return address
}
ENGINE_KERNEL(returns_nowhere, 1, 64)

// Compilers know that nobody writes, or reads, these arrays.
__global__ void only_reads_shared(const float* in, float* out) {
  __shared__ float unwritten[64];
  out[threadIdx.x] = in[threadIdx.x] + (unwritten[threadIdx.x] > 1.0f ? 1.0f : 0.0f);  // reads what nobody wrote
}
ENGINE_KERNEL(only_reads_shared, 1, 64)

__global__ void only_writes_shared(const float* in, float* out) {
  __shared__ float unread[64];
  unread[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = in[threadIdx.x];
}
ENGINE_KERNEL(only_writes_shared, 1, 64)

__global__ void endless_silent(const float* in, float* out) {
  int i = static_cast<int>(in[0]);
  while (i >= 0) {
    i ^= 1;
    __threadfence();
  }
  out[threadIdx.x] = 1;
}
ENGINE_KERNEL(endless_silent, 1, 32)

__attribute__((noinline)) float not_inlined(const float* in, int i) { return in[i] * 2; }
__global__ void calls_function(const float* in, float* out) {
  out[threadIdx.x] = not_inlined(in, threadIdx.x);
}
ENGINE_KERNEL(calls_function, 1, 32)

__device__ float through_device_variable(float value) {
  __shared__ float helper[32];
  helper[threadIdx.x] = value;  // not the kernel's own
  __syncthreads();
  return helper[31 - threadIdx.x];
}
__global__ void device_function_shared(const float* in, float* out) {
  out[threadIdx.x] = through_device_variable(in[threadIdx.x]);
}
ENGINE_KERNEL(device_function_shared, 1, 32)

__shared__ float file_scope[32];
__global__ void file_scope_shared(const float* in, float* out) {
  file_scope[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = file_scope[31 - threadIdx.x];
}
ENGINE_KERNEL(file_scope_shared, 1, 32)

__constant__ float weights[4] = {1.0f, 2.0f, 3.0f, 4.0f};
__global__ void reads_constant(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x] * weights[threadIdx.x % 4];  // constant load
}
ENGINE_KERNEL(reads_constant, 1, 32)

struct Triple {
  float x, y, z;
};
__global__ void copies_struct(const float* in, float* out) {
  const int t = threadIdx.x;
  if (t < 10) reinterpret_cast<Triple*>(out)[t] = reinterpret_cast<const Triple*>(in)[t];  // three words each
}
ENGINE_KERNEL(copies_struct, 1, 32)

__global__ void copies_float3(const float* in, float* out) {
  const int t = threadIdx.x;
  if (t < 10) reinterpret_cast<float3*>(out)[t] = reinterpret_cast<const float3*>(in)[t];  // three components each
}
ENGINE_KERNEL(copies_float3, 1, 32)

__global__ void copies_float4(const float* in, float* out) {
  const int t = threadIdx.x;
  reinterpret_cast<float4*>(out)[t] = reinterpret_cast<const float4*>(in)[t];  // 16 bytes each
}
ENGINE_KERNEL(copies_float4, 1, 32)

struct Pair {
  float x, y;
};
__global__ void copies_pair(const float* in, float* out) {
  const int t = threadIdx.x;
  if (t < 15) reinterpret_cast<Pair*>(out)[t] = reinterpret_cast<const Pair*>(in)[t];  // two words each
}
ENGINE_KERNEL(copies_pair, 1, 32)

extern "C" void* memcpy(void*, const void*, unsigned long);
__global__ void copies_memory(const float* in, float* out) {
  const int t = threadIdx.x;
  if (t < 10) memcpy(out + 3 * t, in + 3 * t, 12);  // three words each
}
ENGINE_KERNEL(copies_memory, 1, 32)

__global__ void copies_half(const float* in, float* out) {
  const int t = threadIdx.x;
  if (t < 30) reinterpret_cast<__half*>(out)[t] = reinterpret_cast<const __half*>(in)[t];  // two bytes each
}
ENGINE_KERNEL(copies_half, 1, 32)

template <int N>
__device__ float through_local(const float* in, int t) {
  float local[N];
  for (int i = t; i < N; i += 32) local[i] = in[i % 32];
  return local[t + N / 32 / 2 * 32];
}
__global__ void large_local(const float* in, float* out) { out[threadIdx.x] = through_local<8192>(in, threadIdx.x); }
ENGINE_KERNEL(large_local, 2, 32)
__global__ void huge_local(const float* in, float* out) { out[threadIdx.x] = through_local<98304>(in, threadIdx.x); }
ENGINE_KERNEL(huge_local, 2, 32)
