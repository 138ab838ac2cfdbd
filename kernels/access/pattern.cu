// One warp makes the access that a row of a CSV file describes: any lanes, any offsets, loads, stores or atomics.
//
// The offsets travel as a kernel argument and stored values are computed in registers, so in each launch the counters
// of the pattern's own kind (global or shared, load, store or atomic) count the pattern and nothing else; what is
// needed to set it up and to verify it shows as other kinds, at sites of its own. The same kernel measures the table on
// a GPU.
#include <cuda_runtime.h>

#include "kernels/variant.h"

struct Pattern {
  long long offset[32];  // bytes
  unsigned mask;         // of active lanes
};

// What lies at a byte address: words that are a function of their index (pattern_byte() in problem.cpp).
__device__ inline unsigned word_at(long long address) {
  return static_cast<unsigned>(address / 4) * 2654435761u + 12345u;
}
__device__ inline void set_value(unsigned char& v, long long address) {
  v = static_cast<unsigned char>(word_at(address) >> (8 * (address % 4)));
}
__device__ inline void set_value(unsigned short& v, long long address) {
  v = static_cast<unsigned short>(word_at(address) >> (8 * (address % 4)));
}
__device__ inline void set_value(unsigned& v, long long address) { v = word_at(address); }
__device__ inline void set_value(uint2& v, long long address) {
  v = make_uint2(word_at(address), word_at(address + 4));
}
__device__ inline void set_value(uint4& v, long long address) {
  v = make_uint4(word_at(address), word_at(address + 4), word_at(address + 8), word_at(address + 12));
}

__device__ inline bool is_active(const Pattern& pattern, int lane) { return (pattern.mask >> lane & 1u) != 0; }

template <class T>
__global__ void global_load(const unsigned char* memory, T* out, Pattern pattern) {
  const int lane = threadIdx.x;
  T value = {};
  if (is_active(pattern, lane)) value = *reinterpret_cast<const T*>(memory + pattern.offset[lane]);
  out[lane] = value;
}

template <class T>
__global__ void global_store(unsigned char* memory, Pattern pattern) {
  const int lane = threadIdx.x;
  if (!is_active(pattern, lane)) return;
  T value;
  set_value(value, pattern.offset[lane]);
  *reinterpret_cast<T*>(memory + pattern.offset[lane]) = value;
}

template <class T>
__global__ void global_atomic(unsigned char* memory, Pattern pattern) {
  const int lane = threadIdx.x;
  if (!is_active(pattern, lane)) return;
  atomicAdd(reinterpret_cast<T*>(memory + pattern.offset[lane]), T(1));
}

template <class T>
__global__ void shared_load(T* out, Pattern pattern, int bytes) {
  extern __shared__ __align__(16) unsigned char storage[];
  const int lane = threadIdx.x;
  for (int i = lane; i < bytes / 4; i += 32) reinterpret_cast<unsigned*>(storage)[i] = word_at(4LL * i);
  __syncthreads();
  T value = {};
  if (is_active(pattern, lane)) value = *reinterpret_cast<const T*>(storage + pattern.offset[lane]);
  out[lane] = value;
}

template <class T>
__global__ void shared_store(T* out, Pattern pattern) {
  extern __shared__ __align__(16) unsigned char storage[];
  const int lane = threadIdx.x;
  T value = {};
  if (is_active(pattern, lane)) {
    set_value(value, pattern.offset[lane]);
    *reinterpret_cast<T*>(storage + pattern.offset[lane]) = value;
  }
  __syncthreads();
  T found = {};
  if (is_active(pattern, lane)) found = *reinterpret_cast<const T*>(storage + pattern.offset[lane]);
  out[lane] = found;
}

template <class T>
__global__ void shared_atomic(T* out, Pattern pattern, int bytes) {
  extern __shared__ __align__(16) unsigned char storage[];
  const int lane = threadIdx.x;
  for (int i = lane; i < bytes / 4; i += 32) reinterpret_cast<unsigned*>(storage)[i] = 0u;
  __syncthreads();
  if (is_active(pattern, lane)) atomicAdd(reinterpret_cast<T*>(storage + pattern.offset[lane]), T(1));
  __syncthreads();
  T found = {};
  if (is_active(pattern, lane)) found = *reinterpret_cast<const T*>(storage + pattern.offset[lane]);
  out[lane] = found;
}

enum Operation { load = 0, store = 1, atomic = 2 };  // as PatternWorkload::host_value() numbers them

template <class T>
void launch_access(const gpuexp::Launch& run, const Pattern& pattern) {
  const bool loads = run.value("operation") == load;
  const int bytes = static_cast<int>(run.value("shared_bytes"));
  if (run.value("shared") != 0) {
    const gpuexp::LaunchConfig config{{1}, {32}, bytes};
    if (loads) return run(config, shared_load<T>, run.out<T>("out"), pattern, bytes);
    return run(config, shared_store<T>, run.out<T>("out"), pattern);
  }
  const gpuexp::LaunchConfig config{{1}, {32}};
  if (loads) return run(config, global_load<T>, run.in<unsigned char>("memory"), run.out<T>("out"), pattern);
  run(config, global_store<T>, run.out<unsigned char>("memory"), pattern);
}

template <class T>
void launch_atomic(const gpuexp::Launch& run, const Pattern& pattern) {
  const int bytes = static_cast<int>(run.value("shared_bytes"));
  if (run.value("shared") != 0) {
    return run({{1}, {32}, bytes}, shared_atomic<T>, run.out<T>("out"), pattern, bytes);
  }
  run({{1}, {32}}, global_atomic<T>, run.out<unsigned char>("memory"), pattern);
}

void launch_pattern(const gpuexp::Launch& run) {
  Pattern pattern;
  for (int lane = 0; lane < 32; ++lane) pattern.offset[lane] = run.value("offset", lane);
  pattern.mask = static_cast<unsigned>(run.value("mask"));
  const long long width = run.value("width");
  if (run.value("shared_bytes") > 227 * 1024) return run.unsupported("a shared offset lies beyond 227 KiB");
  if (run.value("operation") == atomic) {
    if (width == 4) return launch_atomic<unsigned>(run, pattern);
    if (width == 8) return launch_atomic<unsigned long long>(run, pattern);
    return run.unsupported("integer atomics are 4 or 8 bytes wide");
  }
  if (width == 1) return launch_access<unsigned char>(run, pattern);
  if (width == 2) return launch_access<unsigned short>(run, pattern);
  if (width == 4) return launch_access<unsigned>(run, pattern);
  if (width == 8) return launch_access<uint2>(run, pattern);
  launch_access<uint4>(run, pattern);
}

GPUEXP_VARIANT("access/pattern") {
  variant.problem("access_pattern")
      .idea("any access of one warp, from a CSV file: requests, sectors, wavefronts and conflicts per row")
      .instance(launch_pattern, {});
}
