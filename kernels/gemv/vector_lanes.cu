// A group of lanes shares a row, 16 bytes per load, and each lane has LOADS of them under way before it adds the first.
//
// warp_per_row loads 4 bytes (of float32) per lane and request and waits for them a few at a time. Here a request
// moves 512 bytes, and a warp asks for LOADS times that before it waits, which covers the latency of the memory with
// few warps. Short rows get as many lanes as they have vectors, so that none idles. A is read once and marked so: it
// does not push x out of the L1 cache. Limits: rows whose length is no multiple of the vector start off the
// boundary, so these matrices go element by element; few long rows leave the GPU without warps. Predicted: the time
// of a copy of as many bytes. Measured on an H200, 4096 x 4096 in float32: 21.8 to 20.6 us (copy: 18.0); 8192 x
// 8192: 66.2 us (copy: 63.5). In float16 one load under way is best (LOADS 1): 47.0 to 36.7 us (copy: 32.4).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/variant.h"

__device__ inline float as_float(float v) { return v; }
__device__ inline float as_float(__half v) { return __half2float(v); }
__device__ inline float as_float(__nv_bfloat16 v) { return __bfloat162float(v); }

// VEC elements as one access, and as float32 values.
template <class T, int VEC>
struct Vector;
template <class T>
struct Vector<T, 1> {
  using Word = T;
  static __device__ void unpack(T w, float (&v)[1]) { v[0] = as_float(w); }
};
template <>
struct Vector<float, 4> {
  using Word = float4;
  static __device__ void unpack(float4 w, float (&v)[4]) { v[0] = w.x, v[1] = w.y, v[2] = w.z, v[3] = w.w; }
};
__device__ inline void unpack_pair(unsigned bits, float& low, float& high, __half) {
  low = __half2float(__ushort_as_half(static_cast<unsigned short>(bits & 0xffffu)));
  high = __half2float(__ushort_as_half(static_cast<unsigned short>(bits >> 16)));
}
__device__ inline void unpack_pair(unsigned bits, float& low, float& high, __nv_bfloat16) {
  low = __uint_as_float(bits << 16);  // a bfloat16 is the upper half of a float
  high = __uint_as_float(bits & 0xffff0000u);
}
template <class T>
struct Vector<T, 8> {
  using Word = uint4;
  static __device__ void unpack(uint4 w, float (&v)[8]) {
    unpack_pair(w.x, v[0], v[1], T());
    unpack_pair(w.y, v[2], v[3], T());
    unpack_pair(w.z, v[4], v[5], T());
    unpack_pair(w.w, v[6], v[7], T());
  }
};

// VEC neighbours of x; for VEC above 1 they lie on a 16-byte boundary.
__device__ inline void load_x(const float* x, float (&v)[1]) { v[0] = *x; }
template <int VEC>
__device__ inline void load_x(const float* x, float (&v)[VEC]) {
#pragma unroll
  for (int i = 0; i < VEC; i += 4) {
    const float4 four = *reinterpret_cast<const float4*>(x + i);
    v[i] = four.x, v[i + 1] = four.y, v[i + 2] = four.z, v[i + 3] = four.w;
  }
}

template <class T, int VEC, int LOADS>
__global__ void gemv_vector_lanes(const T* A, const float* x, const float* bias, float* y, long long m, long long n,
                                  int lanes) {
  using Word = typename Vector<T, VEC>::Word;
  const long long row = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / lanes;
  const int lane = threadIdx.x % lanes;
  const long long vectors = row < m ? n / VEC : 0;  // rows behind the last only take part in the shuffles
  const Word* row_a = reinterpret_cast<const Word*>(A + row * n);
  float sums[LOADS];
#pragma unroll
  for (int u = 0; u < LOADS; ++u) sums[u] = 0.0f;
  for (long long first = lane; first < vectors; first += static_cast<long long>(lanes) * LOADS) {
    Word a[LOADS];
#pragma unroll
    for (int u = 0; u < LOADS; ++u) {
      const long long i = first + u * lanes;
      if (i < vectors) a[u] = __ldcs(row_a + i);
    }
#pragma unroll
    for (int u = 0; u < LOADS; ++u) {
      const long long i = first + u * lanes;
      if (i < vectors) {
        float weights[VEC], of_x[VEC];
        Vector<T, VEC>::unpack(a[u], weights);
        load_x(x + i * VEC, of_x);
#pragma unroll
        for (int e = 0; e < VEC; ++e) sums[u] += weights[e] * of_x[e];
      }
    }
  }
  float sum = sums[0];
#pragma unroll
  for (int u = 1; u < LOADS; ++u) sum += sums[u];
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, distance, lanes);
  if (lane != 0 || row >= m) return;
  if (bias != nullptr) sum += bias[row];
  y[row] = sum;
}

// As many lanes as a row has vectors, in powers of 2 up to a warp.
long long lanes_for(long long vectors) {
  long long lanes = 1;
  while (lanes < 32 && lanes < vectors) lanes *= 2;
  return lanes;
}

template <class T, int VEC, int LOADS>
void launch_with(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), threads = run.param("block"), asked = run.param("lanes");
  if (threads % 32 != 0) return run.unsupported("block must be a multiple of 32: whole warps shuffle");
  if ((asked & (asked - 1)) != 0) return run.unsupported("lanes must be a power of 2, or 0 for as many as a row needs");
  const long long lanes = asked != 0 ? asked : lanes_for(n / VEC);
  const float* bias = run.param("bias") != 0 ? run.in<float>("bias") : nullptr;
  run({{gpuexp::ceil_div(m, threads / lanes)}, {threads}}, gemv_vector_lanes<T, VEC, LOADS>, run.in<T>("A"),
      run.in<float>("x"), bias, run.out<float>("y"), m, n, static_cast<int>(lanes));
}

template <class T, int LOADS>
void launch_vector_lanes(const gpuexp::Launch& run) {
  constexpr int widest = 16 / sizeof(T);
  if (run.param("n") % widest == 0) {
    launch_with<T, widest, LOADS>(run);
  } else {
    launch_with<T, 1, LOADS>(run);
  }
}

template <int LOADS>
void add_loads(gpuexp::VariantBuilder& variant) {
  variant.instance(launch_vector_lanes<float, LOADS>, {{"LOADS", LOADS}, {"dtype", "float32"}})
      .instance(launch_vector_lanes<__half, LOADS>, {{"LOADS", LOADS}, {"dtype", "float16"}})
      .instance(launch_vector_lanes<__nv_bfloat16, LOADS>, {{"LOADS", LOADS}, {"dtype", "bfloat16"}});
}

GPUEXP_VARIANT("gemv/vector_lanes") {
  variant.idea("16 bytes per load and several loads of a lane under way: few warps keep the memory busy")
      .param("block", 256, "threads per block, a multiple of 32", 32, 1024)
      .param("lanes", 0, "lanes that share a row, a power of 2; 0: as many as it has vectors, 32 at most", 0, 32)
      .fixed("LOADS", {"LOADS", 4}, "loads of 16 bytes that a lane has under way");
  add_loads<1>(variant);
  add_loads<2>(variant);
  add_loads<4>(variant);
  add_loads<8>(variant);
}
