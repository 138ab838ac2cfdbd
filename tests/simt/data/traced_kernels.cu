// Kernels whose accesses symbols_test.cpp looks at one by one. Its expectations name lines by the markers at their ends.
// The fences keep the compiler from forwarding what was stored to the load behind it.
#include <cuda_runtime.h>

struct Particle {
  float4 position;
  float3 velocity;
  float mass;
};

__device__ int scale = 3;
__constant__ float coefficients[8];

__device__ inline float square(float x) { return x * x; }
__device__ inline float first_of(const float* p) { return p[0]; }  // @first_of

template <int N>
__global__ void tile(const float* in, float* out, int i) {
  __shared__ float As[N][N + 1];
  As[i][0] = in[i];  // @tile_store
  __threadfence_block();
  out[i] = square(As[i][0]);  // @tile_load
}

namespace {
template <class T, int N>
__global__ void local_name(T* p, int i) {
  __shared__ T As[N];
  As[i] = p[i];  // @local_name
  __threadfence_block();
  p[i + 1] = As[i];
}
}  // namespace

__global__ void dynamic(float* p, int i) {
  extern __shared__ float pool[];
  pool[i] = p[i];  // @dynamic
  __threadfence_block();
  p[i + 1] = pool[i] * scale + coefficients[i];
}

__global__ void hints(const float* in, float* out, int i) {
  out[i] = __ldg(&in[i])           // @ldg
           + __ldcs(in + i + 1);   // @ldcs
  __stcs(&out[i + 2], 1.0F);       // @stcs
}

__global__ void called(const float* in, float* out) { out[0] = first_of(in); }  // @called

// One function per way to move a vector. Members are used, because that is what tempts compilers to split.
__global__ void f1_copy(const float1* p, float1* q) { q[1] = p[0]; }
__global__ void f2_copy(const float2* p, float2* q) { q[1] = p[0]; }
__global__ void f2_sum(const float2* p, float* q) {
  float2 v = p[0];
  q[8] = v.x + v.y;
}
__global__ void f2_first(const float2* p, float* q) {
  float2 v = p[0];
  q[8] = v.x;
}
__global__ void f2_make(float2* q, float x) { q[0] = make_float2(x, x + 1); }
__global__ void f2_component(const float2* p, float* q) { q[8] = p[0].y; }
__global__ void f3_copy(const float3* p, float3* q) { q[1] = p[0]; }
__global__ void f3_sum(const float3* p, float* q) {
  float3 v = p[0];
  q[8] = v.x + v.y + v.z;
}
__global__ void f4_copy(const float4* p, float4* q) { q[1] = p[0]; }
__global__ void f4_sum(const float4* p, float* q) {
  float4 v = p[0];
  q[8] = v.x * v.y + v.z * v.w;
}
__global__ void f4_cast(const float* p, float* q) {
  float4 v = *reinterpret_cast<const float4*>(p);
  q[8] = v.x + v.w;
}
__global__ void f4_scale(float4* p) {
  float4 v = p[0];
  v.x *= 2;
  v.y *= 3;
  p[1] = v;
}
__global__ void f4_make(float4* q, float x) { q[0] = make_float4(x, x, x + 1, x); }
__global__ void f4_ldg(const float4* p, float4* q) { q[1] = __ldg(p); }
__global__ void f4_loop(const float4* p, float* q, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    float4 v = p[i];
    sum += v.x + v.y * v.z + v.w;
  }
  q[31] = sum;
}
__global__ void f4_shared(const float4* p, float4* q, int i) {
  __shared__ float4 rows[4][5];
  rows[i][1] = p[0];
  __threadfence_block();
  q[1] = rows[i][1];
}
__global__ void d2_sum(const double2* p, double* q) {
  double2 v = p[0];
  q[8] = v.x + v.y;
}
__global__ void d3_copy(const double3* p, double3* q) { q[1] = p[0]; }
__global__ void d4_copy(const double4* p, double4* q) { q[1] = p[0]; }
__global__ void d4_sum(const double4* p, double* q) {
  double4 v = p[0];
  q[8] = v.x + v.y + v.z + v.w;
}
__global__ void uc2_sum(const uchar2* p, int* q) {
  uchar2 v = p[0];
  q[8] = v.x + v.y;
}
__global__ void uc4_copy(const uchar4* p, uchar4* q) { q[1] = p[0]; }
__global__ void uc4_sum(const uchar4* p, int* q) {
  uchar4 v = p[0];
  q[8] = v.x + v.y + v.z + v.w;
}
__global__ void s4_sum(const short4* p, int* q) {
  short4 v = p[0];
  q[8] = v.x + v.y + v.z + v.w;
}
__global__ void i4_copy(const int4* p, int4* q) { q[1] = p[0]; }
__global__ void ll2_sum(const longlong2* p, long long* q) {
  longlong2 v = p[0];
  q[8] = v.x + v.y;
}
__global__ void half_add(const half* p, half* q) { q[1] = p[0] + p[1]; }
__global__ void half2_sum(const half2* p, half* q) {
  half2 v = p[0];
  q[8] = v.x + v.y;
}
__global__ void half2_fma(const half2* p, half2* q) { q[1] = __hfma2(p[0], p[0], p[0]); }
__global__ void bf162_float(const nv_bfloat162* p, float2* q) { q[1] = __bfloat1622float2(p[0]); }
__global__ void half_shared(const half* p, half* q, int i) {
  __shared__ half rows[8][9];
  rows[i][0] = p[0];
  __threadfence_block();
  q[1] = rows[i][0];
}
__global__ void particle(const Particle* p, Particle* q) { q[1].position = p[0].position; }
__global__ void particle_velocity(const Particle* p, Particle* q) { q[1].velocity = p[0].velocity; }

// Math with branches inside: none of it may touch memory or call what other objects could share.
__global__ void math(float* p, int* n) {
  p[1] = sqrtf(fabsf(p[0])) + __fmaf_rn(2.0F, 3.0F, 1.0F) + fmaxf(1.0F, 2.0F) + rsqrtf(4.0F) + __saturatef(2.0F) +
         min(1.0F, 2.0F) + abs(-1.0F) + __fadd_rz(1.0F, 0x1p-30F) + floor(1.5F) + __expf(0.0F);
  n[1] = __popc(n[0]) + __clz(1) + __ffs(8) + static_cast<int>(__brev(1U) >> 31) + max(1, 2) +
         __float2int_rn(2.5F) + static_cast<int>(__umulhi(1U << 31, 2U));
}

// What main() calls and asks about.
struct Entry {
  const char* name;
  const void* kernel;
  void (*run)(char* in, char* out);
};
template <class T>
T* as(char* bytes) {
  return reinterpret_cast<T*>(bytes);
}
#define RUN(kernel, ...) {#kernel, reinterpret_cast<const void*>(&kernel), [](char* in, char* out) { kernel(__VA_ARGS__); }}
#define COPY(kernel, T) RUN(kernel, as<const T>(in), as<T>(out))
#define INTO(kernel, T, Result) RUN(kernel, as<const T>(in), as<Result>(out))
extern const Entry entries[] = {
    RUN(tile<16>, as<float>(in), as<float>(out), 3),
    RUN(tile<8>, as<float>(in), as<float>(out), 3),
    {"local_name<double, 4>", reinterpret_cast<const void*>(&local_name<double, 4>),
     [](char* in, char*) { local_name<double, 4>(as<double>(in), 2); }},
    RUN(dynamic, as<float>(in), 2),
    RUN(hints, as<float>(in), as<float>(out), 3),
    RUN(called, as<float>(in), as<float>(out)),
    COPY(f1_copy, float1),
    COPY(f2_copy, float2),
    INTO(f2_sum, float2, float),
    INTO(f2_first, float2, float),
    RUN(f2_make, as<float2>(out), 1.0F),
    INTO(f2_component, float2, float),
    COPY(f3_copy, float3),
    INTO(f3_sum, float3, float),
    COPY(f4_copy, float4),
    INTO(f4_sum, float4, float),
    INTO(f4_cast, float, float),
    RUN(f4_scale, as<float4>(out)),
    RUN(f4_make, as<float4>(out), 1.0F),
    COPY(f4_ldg, float4),
    RUN(f4_loop, as<float4>(in), as<float>(out), 2),
    RUN(f4_shared, as<float4>(in), as<float4>(out), 2),
    INTO(d2_sum, double2, double),
    COPY(d3_copy, double3),
    COPY(d4_copy, double4),
    INTO(d4_sum, double4, double),
    INTO(uc2_sum, uchar2, int),
    COPY(uc4_copy, uchar4),
    INTO(uc4_sum, uchar4, int),
    INTO(s4_sum, short4, int),
    COPY(i4_copy, int4),
    INTO(ll2_sum, longlong2, long long),
    COPY(half_add, half),
    INTO(half2_sum, half2, half),
    COPY(half2_fma, half2),
    INTO(bf162_float, nv_bfloat162, float2),
    RUN(half_shared, as<half>(in), as<half>(out), 2),
    COPY(particle, Particle),
    COPY(particle_velocity, Particle),
    RUN(math, as<float>(out), as<int>(in)),
};
extern const int entry_count = sizeof entries / sizeof entries[0];
