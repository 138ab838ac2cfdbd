// rows_in_registers with a block for its ROWS rows instead of a warp: many small pieces of work in turns, not one
//
//  A warp per row puts all rows on the GPU at once when there are fewer than some 8,000: every multiprocessor gets
// its share at the start and nothing after it, and those that are served faster idle at the end. A block of a few
// warps for the same rows holds each for a shorter time, so that blocks follow one another to the end. Price: a sum
// over the warps by shared memory and a barrier. Suits long rows; a short row leaves most of a block idle.
// Predicted: the time of a copy of as many bytes from a few thousand rows on. Measured on an H200, 8192 x 8192: 66.9
// to 63.3 us in float32 (copy: 63.5), 37.0 to 33.9 us in float16 (copy: 32.7).
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

template <class T, int VEC, int ROWS, int STEPS>
__global__ void gemv_vector_block(const T* A, const float* x, const float* bias, float* y, long long m, long long n) {
  using Word = typename Vector<T, VEC>::Word;
  __shared__ float warp_sums[ROWS][32];
  const long long first_row = static_cast<long long>(blockIdx.x) * ROWS;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = static_cast<int>(blockDim.x) / 32;
  const int rows = m - first_row < ROWS ? static_cast<int>(m - first_row) : ROWS;
  const long long vectors = n / VEC;
  const int step = static_cast<int>(blockDim.x);
  const Word* row_a = reinterpret_cast<const Word*>(A + first_row * n);
  float sums[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) sums[r] = 0.0f;
  for (long long first = threadIdx.x; first < vectors; first += static_cast<long long>(step) * STEPS) {
    Word a[STEPS][ROWS];
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        if (r < rows && first + s * step < vectors) a[s][r] = __ldcs(row_a + r * vectors + first + s * step);
      }
    }
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
      const long long i = first + s * step;
      if (i < vectors) {
        float of_x[VEC];
        load_x(x + i * VEC, of_x);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
          if (r < rows) {
            float weights[VEC];
            Vector<T, VEC>::unpack(a[s][r], weights);
#pragma unroll
            for (int e = 0; e < VEC; ++e) sums[r] += weights[e] * of_x[e];
          }
        }
      }
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    float sum = sums[r];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (lane == 0) warp_sums[r][warp] = sum;
  }
  __syncthreads();
  if (warp != 0) return;
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    float sum = 0.0f;
    if (lane < warps) sum = warp_sums[r][lane];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (lane == 0 && r < rows) {
      if (bias != nullptr) sum += bias[first_row + r];
      y[first_row + r] = sum;
    }
  }
}

template <class T, int VEC, int ROWS, int STEPS>
void launch_with(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), threads = run.param("block");
  if (threads % 32 != 0) return run.unsupported("block must be a multiple of 32: whole warps shuffle");
  const float* bias = run.param("bias") != 0 ? run.in<float>("bias") : nullptr;
  run({{gpuexp::ceil_div(m, ROWS)}, {threads}}, gemv_vector_block<T, VEC, ROWS, STEPS>, run.in<T>("A"),
      run.in<float>("x"), bias, run.out<float>("y"), m, n);
}

template <class T, int ROWS, int STEPS>
void launch_vector_block(const gpuexp::Launch& run) {
  constexpr int widest = 16 / sizeof(T);
  if (run.param("n") % widest == 0) {
    launch_with<T, widest, ROWS, STEPS>(run);
  } else {
    launch_with<T, 1, ROWS, STEPS>(run);
  }
}

template <int ROWS, int STEPS>
void add_rows(gpuexp::VariantBuilder& variant) {
  variant.instance(launch_vector_block<float, ROWS, STEPS>, {{"ROWS", ROWS}, {"STEPS", STEPS}, {"dtype", "float32"}})
      .instance(launch_vector_block<__half, ROWS, STEPS>, {{"ROWS", ROWS}, {"STEPS", STEPS}, {"dtype", "float16"}})
      .instance(launch_vector_block<__nv_bfloat16, ROWS, STEPS>,
                {{"ROWS", ROWS}, {"STEPS", STEPS}, {"dtype", "bfloat16"}});
}

GPUEXP_VARIANT("gemv/vector_block") {
  variant
      .idea(
          "a block of a few warps takes the rows of one warp: many small pieces of work keep the memory busy to the "
          "end")
      .param("block", 256, "threads per block, a multiple of 32", 32, 1024)
      .fixed("ROWS", {"ROWS", 2}, "rows that a block takes at once")
      .fixed("STEPS", {"STEPS", 1}, "vectors of each row that a lane has under way");
  add_rows<1, 1>(variant);
  add_rows<1, 2>(variant);
  add_rows<1, 4>(variant);
  add_rows<2, 1>(variant);
  add_rows<2, 2>(variant);
  add_rows<4, 1>(variant);
  add_rows<4, 2>(variant);
}
