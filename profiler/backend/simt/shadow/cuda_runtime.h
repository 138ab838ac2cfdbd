// The emulator's cuda_runtime.h: lets the host compiler read plain CUDA kernels. First on the include path of kernel
// files compiled for the emulator, and of nothing else.
//
// Everything is forced inline, so that a kernel is one function whose code addresses follow its source, and nothing
// here touches memory of its own, because every access in a kernel object is counted.
#pragma once

#include "gpuexp_simt.h"

#define __host__
#define __device__ __attribute__((always_inline))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__
#define __launch_bounds__(...)
#define __grid_constant__
#define __cluster_dims__(...)
#define __managed__
#define __restrict__ __restrict
#define __align__(n) __attribute__((aligned(n)))
#if defined(__clang__)
#define __global__ __attribute__((noinline, flatten))
#else
#define __global__ __attribute__((noipa, flatten))
#endif
// 256: every variable starts at bank 0, and an overflow meets padding (see tools/prepare_kernel_objects.cpp).
// constinit spares an extern array its initialisation check; clang 14 refuses it for trivial classes such as __half,
// and the build tool binds the check's function to one of the emulator's instead.
// `used` keeps the accesses of a variable that is only read or only written: compilers fold those, hooks and all.
#if defined(__clang__)
#define __shared__ __attribute__((aligned(256), used)) thread_local
#else
#define __shared__ constinit __attribute__((aligned(256), used)) thread_local
#endif
#define __constant__ __attribute__((section("gpuexp_constant")))

#include "vector_types.h"

// Reads a word of the emulator's thread-local state. Not volatile: the value is constant while a thread runs a kernel,
// so the compiler may keep it in a register, and no block of the kernel is split.
#define GPUEXP_READ_STATE(name, i)                                   \
  ([]() __attribute__((always_inline)) {                             \
    unsigned value;                                                  \
    __asm__("movl %%fs:" #name "+4*" #i "@tpoff, %0" : "=r"(value)); \
    return value;                                                    \
  }())

static GPUEXP_INLINE uint3 gpuexp_thread_index() noexcept {
  return {GPUEXP_READ_STATE(gpuexp_simt_thread, 0), GPUEXP_READ_STATE(gpuexp_simt_thread, 1),
          GPUEXP_READ_STATE(gpuexp_simt_thread, 2)};
}
static GPUEXP_INLINE uint3 gpuexp_block_index() noexcept {
  return {GPUEXP_READ_STATE(gpuexp_simt_block, 0), GPUEXP_READ_STATE(gpuexp_simt_block, 1),
          GPUEXP_READ_STATE(gpuexp_simt_block, 2)};
}
static GPUEXP_INLINE dim3 gpuexp_block_size() noexcept {
  return {GPUEXP_READ_STATE(gpuexp_simt_block_size, 0), GPUEXP_READ_STATE(gpuexp_simt_block_size, 1),
          GPUEXP_READ_STATE(gpuexp_simt_block_size, 2)};
}
static GPUEXP_INLINE dim3 gpuexp_grid_size() noexcept {
  return {GPUEXP_READ_STATE(gpuexp_simt_grid_size, 0), GPUEXP_READ_STATE(gpuexp_simt_grid_size, 1),
          GPUEXP_READ_STATE(gpuexp_simt_grid_size, 2)};
}
#define threadIdx (gpuexp_thread_index())
#define blockIdx (gpuexp_block_index())
#define blockDim (gpuexp_block_size())
#define gridDim (gpuexp_grid_size())
inline constexpr int warpSize = 32;

// Bits of a value of up to 8 bytes, zero-extended, and back.
template <class T>
GPUEXP_INLINE unsigned long long gpuexp_to_bits(T value) noexcept {
  if constexpr (sizeof(T) == 8) {
    return __builtin_bit_cast(unsigned long long, value);
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(unsigned, value);
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bit_cast(unsigned short, value);
  } else {
    static_assert(sizeof(T) == 1, "warp intrinsics and atomics take values of 1, 2, 4 or 8 bytes");
    return __builtin_bit_cast(unsigned char, value);
  }
}
template <class T>
GPUEXP_INLINE T gpuexp_from_bits(unsigned long long bits) noexcept {
  if constexpr (sizeof(T) == 8) {
    return __builtin_bit_cast(T, bits);
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, static_cast<unsigned>(bits));
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bit_cast(T, static_cast<unsigned short>(bits));
  } else {
    return __builtin_bit_cast(T, static_cast<unsigned char>(bits));
  }
}

// Barriers and fences. One thread runs at a time, in program order, so that a fence has nothing to do.
static GPUEXP_INLINE void __syncthreads() noexcept { gpuexp_simt_barrier(gpuexp_barrier_plain, 0); }
static GPUEXP_INLINE int __syncthreads_count(int predicate) noexcept {
  return gpuexp_simt_barrier(gpuexp_barrier_count, predicate != 0);
}
static GPUEXP_INLINE int __syncthreads_and(int predicate) noexcept {
  return gpuexp_simt_barrier(gpuexp_barrier_and, predicate != 0);
}
static GPUEXP_INLINE int __syncthreads_or(int predicate) noexcept {
  return gpuexp_simt_barrier(gpuexp_barrier_or, predicate != 0);
}
static GPUEXP_INLINE void __syncwarp(unsigned mask = 0xffffffffU) noexcept { gpuexp_simt_syncwarp(mask); }
static GPUEXP_INLINE void __threadfence() noexcept { __asm__ volatile("" ::: "memory"); }
static GPUEXP_INLINE void __threadfence_block() noexcept { __asm__ volatile("" ::: "memory"); }
static GPUEXP_INLINE void __threadfence_system() noexcept { __asm__ volatile("" ::: "memory"); }

// Warp intrinsics.
template <class T>
GPUEXP_INLINE T __shfl_sync(unsigned mask, T value, int source_lane, int width = 32) noexcept {
  return gpuexp_from_bits<T>(gpuexp_simt_shuffle(mask, gpuexp_to_bits(value), gpuexp_shuffle_index,
                                                 static_cast<unsigned>(source_lane), width));
}
template <class T>
GPUEXP_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) noexcept {
  return gpuexp_from_bits<T>(gpuexp_simt_shuffle(mask, gpuexp_to_bits(value), gpuexp_shuffle_up, delta, width));
}
template <class T>
GPUEXP_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) noexcept {
  return gpuexp_from_bits<T>(gpuexp_simt_shuffle(mask, gpuexp_to_bits(value), gpuexp_shuffle_down, delta, width));
}
template <class T>
GPUEXP_INLINE T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) noexcept {
  return gpuexp_from_bits<T>(
      gpuexp_simt_shuffle(mask, gpuexp_to_bits(value), gpuexp_shuffle_xor, static_cast<unsigned>(lane_mask), width));
}
static GPUEXP_INLINE unsigned __ballot_sync(unsigned mask, int predicate) noexcept {
  return gpuexp_simt_vote(mask, predicate != 0, gpuexp_vote_ballot);
}
static GPUEXP_INLINE int __any_sync(unsigned mask, int predicate) noexcept {
  return static_cast<int>(gpuexp_simt_vote(mask, predicate != 0, gpuexp_vote_any));
}
static GPUEXP_INLINE int __all_sync(unsigned mask, int predicate) noexcept {
  return static_cast<int>(gpuexp_simt_vote(mask, predicate != 0, gpuexp_vote_all));
}
static GPUEXP_INLINE unsigned __activemask() noexcept { return gpuexp_simt_activemask(); }

#define GPUEXP_REDUCE(name, type, operation, is_signed)                                                     \
  static GPUEXP_INLINE type name(unsigned mask, type value) noexcept {                                      \
    return static_cast<type>(gpuexp_simt_reduce(mask, static_cast<unsigned>(value), operation, is_signed)); \
  }
GPUEXP_REDUCE(__reduce_add_sync, unsigned, gpuexp_reduce_add, 0)
GPUEXP_REDUCE(__reduce_add_sync, int, gpuexp_reduce_add, 1)
GPUEXP_REDUCE(__reduce_min_sync, unsigned, gpuexp_reduce_min, 0)
GPUEXP_REDUCE(__reduce_min_sync, int, gpuexp_reduce_min, 1)
GPUEXP_REDUCE(__reduce_max_sync, unsigned, gpuexp_reduce_max, 0)
GPUEXP_REDUCE(__reduce_max_sync, int, gpuexp_reduce_max, 1)
GPUEXP_REDUCE(__reduce_and_sync, unsigned, gpuexp_reduce_and, 0)
GPUEXP_REDUCE(__reduce_or_sync, unsigned, gpuexp_reduce_or, 0)
GPUEXP_REDUCE(__reduce_xor_sync, unsigned, gpuexp_reduce_xor, 0)
#undef GPUEXP_REDUCE

template <class T>
GPUEXP_INLINE unsigned __match_any_sync(unsigned mask, T value) noexcept {
  return gpuexp_simt_match(mask, gpuexp_to_bits(value), 0);
}
template <class T>
GPUEXP_INLINE unsigned __match_all_sync(unsigned mask, T value, int* predicate) noexcept {
  const unsigned agreeing = gpuexp_simt_match(mask, gpuexp_to_bits(value), 1);
  *predicate = agreeing != 0;
  return agreeing;
}

// Atomics. The type code selects the arithmetic.
template <class T>
GPUEXP_INLINE T gpuexp_atomic(T* address, T operand, T compare, int operation, int type) noexcept {
  return gpuexp_from_bits<T>(
      gpuexp_simt_atomic(address, gpuexp_to_bits(operand), gpuexp_to_bits(compare), operation, type));
}
#define GPUEXP_ATOMIC(name, type, operation, code)                                                                   \
  static GPUEXP_INLINE type name(type* address, type value) noexcept {                                               \
    return gpuexp_atomic<type>(address, value, static_cast<type>(0), gpuexp_atomic_##operation, gpuexp_type_##code); \
  }                                                                                                                  \
  static GPUEXP_INLINE type name##_block(type* address, type value) noexcept { return name(address, value); }
GPUEXP_ATOMIC(atomicAdd, int, add, int32)
GPUEXP_ATOMIC(atomicAdd, unsigned, add, uint32)
GPUEXP_ATOMIC(atomicAdd, unsigned long long, add, uint64)
GPUEXP_ATOMIC(atomicAdd, float, add, float32)
GPUEXP_ATOMIC(atomicAdd, double, add, float64)
GPUEXP_ATOMIC(atomicMin, int, min, int32)
GPUEXP_ATOMIC(atomicMin, unsigned, min, uint32)
GPUEXP_ATOMIC(atomicMin, long long, min, int64)
GPUEXP_ATOMIC(atomicMin, unsigned long long, min, uint64)
GPUEXP_ATOMIC(atomicMax, int, max, int32)
GPUEXP_ATOMIC(atomicMax, unsigned, max, uint32)
GPUEXP_ATOMIC(atomicMax, long long, max, int64)
GPUEXP_ATOMIC(atomicMax, unsigned long long, max, uint64)
GPUEXP_ATOMIC(atomicAnd, int, and, int32)
GPUEXP_ATOMIC(atomicAnd, unsigned, and, uint32)
GPUEXP_ATOMIC(atomicAnd, unsigned long long, and, uint64)
GPUEXP_ATOMIC(atomicOr, int, or, int32)
GPUEXP_ATOMIC(atomicOr, unsigned, or, uint32)
GPUEXP_ATOMIC(atomicOr, unsigned long long, or, uint64)
GPUEXP_ATOMIC(atomicXor, int, xor, int32)
GPUEXP_ATOMIC(atomicXor, unsigned, xor, uint32)
GPUEXP_ATOMIC(atomicXor, unsigned long long, xor, uint64)
GPUEXP_ATOMIC(atomicExch, int, exchange, int32)
GPUEXP_ATOMIC(atomicExch, unsigned, exchange, uint32)
GPUEXP_ATOMIC(atomicExch, unsigned long long, exchange, uint64)
GPUEXP_ATOMIC(atomicExch, float, exchange, float32)
GPUEXP_ATOMIC(atomicInc, unsigned, increment, uint32)
GPUEXP_ATOMIC(atomicDec, unsigned, decrement, uint32)
#undef GPUEXP_ATOMIC
static GPUEXP_INLINE int atomicSub(int* address, int value) noexcept {
  return atomicAdd(address, static_cast<int>(0U - static_cast<unsigned>(value)));
}
static GPUEXP_INLINE unsigned atomicSub(unsigned* address, unsigned value) noexcept {
  return atomicAdd(address, 0U - value);
}
#define GPUEXP_COMPARE_AND_SWAP(type, code)                                                         \
  static GPUEXP_INLINE type atomicCAS(type* address, type compare, type value) noexcept {           \
    return gpuexp_atomic<type>(address, value, compare, gpuexp_atomic_compare, gpuexp_type_##code); \
  }
GPUEXP_COMPARE_AND_SWAP(int, int32)
GPUEXP_COMPARE_AND_SWAP(unsigned, uint32)
GPUEXP_COMPARE_AND_SWAP(unsigned long long, uint64)
GPUEXP_COMPARE_AND_SWAP(unsigned short, uint16)
#undef GPUEXP_COMPARE_AND_SWAP

// Cache hints do not change which sectors a request touches.
template <class T>
GPUEXP_INLINE T __ldg(const T* address) noexcept {
  return *address;
}
template <class T>
GPUEXP_INLINE T __ldcs(const T* address) noexcept {
  return *address;
}
template <class T>
GPUEXP_INLINE T __ldcg(const T* address) noexcept {
  return *address;
}
template <class T>
GPUEXP_INLINE T __ldca(const T* address) noexcept {
  return *address;
}
template <class T>
GPUEXP_INLINE T __ldcv(const T* address) noexcept {
  return *address;
}
template <class T>
GPUEXP_INLINE void __stcs(T* address, T value) noexcept {
  *address = value;
}
template <class T>
GPUEXP_INLINE void __stcg(T* address, T value) noexcept {
  *address = value;
}
template <class T>
GPUEXP_INLINE void __stwb(T* address, T value) noexcept {
  *address = value;
}
template <class T>
GPUEXP_INLINE void __stwt(T* address, T value) noexcept {
  *address = value;
}

#include "device_math.h"
