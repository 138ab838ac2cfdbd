// CUDA's device math for emulated kernels: what math.h lacks of it, and the intrinsics.
//
// Exact where the GPU is exact: integer and bit intrinsics, conversions (saturation and NaN by the PTX ISA, "cvt"), and
// the correctly rounded operations (__fadd_rn .. __dsqrt_ru, fma). The approximate ones (__expf, __sinf, rsqrtf, ...)
// are computed to about float accuracy by the host's math library: at least as accurate as on the GPU, not the same
// bits.
//
// This header is compiled into kernel objects. Everything in it is inlined, so that no function compiled with the
// instrumentation can stand in for one of the same name elsewhere in the program.
#pragma once

#if defined(__clang__)
// The overloads for float and double that math.h adds are inlined by g++ at -O1, by clang only when told so.
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#endif
#include <math.h>
#include <stdlib.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif
#include <fenv.h>
#include <stdint.h>

#include "vector_types.h"

namespace gpuexp_shadow {

template <class To, class From>
GPUEXP_SHADOW_INLINE To bits_of(From value) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, value);
}

// A value the compiler cannot compute ahead or move: the operation on it happens here, in the rounding mode set here.
template <class T>
GPUEXP_SHADOW_INLINE T pinned(T value) noexcept {
  if constexpr (static_cast<T>(0.5) != T(0))
    __asm__ volatile("" : "+x"(value) : : "memory");
  else
    __asm__ volatile("" : "+r"(value) : : "memory");
  return value;
}

class RoundingMode {
 public:
  GPUEXP_SHADOW_INLINE explicit RoundingMode(int mode) noexcept : saved_(fegetround()) { fesetround(mode); }
  GPUEXP_SHADOW_INLINE ~RoundingMode() { fesetround(saved_); }

 private:
  int saved_;
};

// Float to integer as `cvt` does it: out of range saturates; NaN gives 0, or, when source or destination has 64 bits,
// the integer with only its top bit set.
template <class Int, class Float>
GPUEXP_SHADOW_INLINE Int saturate_to(Float whole) noexcept {
  constexpr int bits = 8 * sizeof(Int);
  constexpr bool is_signed = Int(-1) < Int(0);
  constexpr Int lowest = is_signed ? Int(1ULL << (bits - 1)) : Int(0);
  constexpr Int highest = Int(~lowest);
  constexpr Float limit = is_signed ? Float(1ULL << (bits - 1)) : Float(1ULL << (bits - 1)) * 2;
  if (whole != whole) return sizeof(Float) == 8 || bits == 64 ? Int(1ULL << (bits - 1)) : Int(0);
  if (whole >= limit) return highest;
  if (whole <= (is_signed ? -limit : Float(0))) return lowest;
  return Int(whole);
}

template <class T>
GPUEXP_SHADOW_INLINE T lesser(T a, T b) noexcept {
  return a < b ? a : b;
}
template <class T>
GPUEXP_SHADOW_INLINE T greater(T a, T b) noexcept {
  return a < b ? b : a;
}

GPUEXP_SHADOW_INLINE float to_even(float x) noexcept { return nearbyintf(x); }
GPUEXP_SHADOW_INLINE double to_even(double x) noexcept { return nearbyint(x); }
GPUEXP_SHADOW_INLINE float to_zero(float x) noexcept { return truncf(x); }
GPUEXP_SHADOW_INLINE double to_zero(double x) noexcept { return trunc(x); }
GPUEXP_SHADOW_INLINE float upwards(float x) noexcept { return ceilf(x); }
GPUEXP_SHADOW_INLINE double upwards(double x) noexcept { return ceil(x); }
GPUEXP_SHADOW_INLINE float downwards(float x) noexcept { return floorf(x); }
GPUEXP_SHADOW_INLINE double downwards(double x) noexcept { return floor(x); }

}  // namespace gpuexp_shadow

// ---- min and max: CUDA has them in the global namespace; of a number and a NaN they give the number ----

#define GPUEXP_MIN_MAX(R, A, B)                                                            \
  GPUEXP_SHADOW_INLINE R min(A a, B b) noexcept { return gpuexp_shadow::lesser<R>(a, b); } \
  GPUEXP_SHADOW_INLINE R max(A a, B b) noexcept { return gpuexp_shadow::greater<R>(a, b); }
GPUEXP_MIN_MAX(int, int, int)
GPUEXP_MIN_MAX(unsigned int, unsigned int, unsigned int)
GPUEXP_MIN_MAX(unsigned int, int, unsigned int)
GPUEXP_MIN_MAX(unsigned int, unsigned int, int)
GPUEXP_MIN_MAX(long, long, long)
GPUEXP_MIN_MAX(unsigned long, unsigned long, unsigned long)
GPUEXP_MIN_MAX(unsigned long, long, unsigned long)
GPUEXP_MIN_MAX(unsigned long, unsigned long, long)
GPUEXP_MIN_MAX(long long, long long, long long)
GPUEXP_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
GPUEXP_MIN_MAX(unsigned long long, long long, unsigned long long)
GPUEXP_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef GPUEXP_MIN_MAX
GPUEXP_SHADOW_INLINE float min(float a, float b) noexcept { return fminf(a, b); }
GPUEXP_SHADOW_INLINE float max(float a, float b) noexcept { return fmaxf(a, b); }
GPUEXP_SHADOW_INLINE double min(double a, double b) noexcept { return fmin(a, b); }
GPUEXP_SHADOW_INLINE double max(double a, double b) noexcept { return fmax(a, b); }
GPUEXP_SHADOW_INLINE double min(float a, double b) noexcept { return fmin(double(a), b); }
GPUEXP_SHADOW_INLINE double max(float a, double b) noexcept { return fmax(double(a), b); }
GPUEXP_SHADOW_INLINE double min(double a, float b) noexcept { return fmin(a, double(b)); }
GPUEXP_SHADOW_INLINE double max(double a, float b) noexcept { return fmax(a, double(b)); }
GPUEXP_SHADOW_INLINE unsigned int umin(unsigned int a, unsigned int b) noexcept { return min(a, b); }
GPUEXP_SHADOW_INLINE unsigned int umax(unsigned int a, unsigned int b) noexcept { return max(a, b); }
GPUEXP_SHADOW_INLINE long long llmin(long long a, long long b) noexcept { return min(a, b); }
GPUEXP_SHADOW_INLINE long long llmax(long long a, long long b) noexcept { return max(a, b); }
GPUEXP_SHADOW_INLINE unsigned long long ullmin(unsigned long long a, unsigned long long b) noexcept {
  return min(a, b);
}
GPUEXP_SHADOW_INLINE unsigned long long ullmax(unsigned long long a, unsigned long long b) noexcept {
  return max(a, b);
}

// ---- functions that math.h lacks ----

GPUEXP_SHADOW_INLINE float rsqrtf(float x) noexcept { return float(1.0 / ::sqrt(double(x))); }
GPUEXP_SHADOW_INLINE double rsqrt(double x) noexcept { return 1.0 / ::sqrt(x); }
GPUEXP_SHADOW_INLINE float rsqrt(float x) noexcept { return rsqrtf(x); }
GPUEXP_SHADOW_INLINE float rcbrtf(float x) noexcept { return 1.0f / cbrtf(x); }
GPUEXP_SHADOW_INLINE double rcbrt(double x) noexcept { return 1.0 / ::cbrt(x); }
GPUEXP_SHADOW_INLINE float fdividef(float a, float b) noexcept { return a / b; }
GPUEXP_SHADOW_INLINE float rhypotf(float a, float b) noexcept { return 1.0f / hypotf(a, b); }
GPUEXP_SHADOW_INLINE double rhypot(double a, double b) noexcept { return 1.0 / ::hypot(a, b); }
GPUEXP_SHADOW_INLINE float norm3df(float a, float b, float c) noexcept {
  return float(::sqrt(double(a) * a + double(b) * b + double(c) * c));
}
GPUEXP_SHADOW_INLINE float rnorm3df(float a, float b, float c) noexcept {
  return float(1.0 / ::sqrt(double(a) * a + double(b) * b + double(c) * c));
}
GPUEXP_SHADOW_INLINE float norm4df(float a, float b, float c, float d) noexcept {
  return float(::sqrt(double(a) * a + double(b) * b + double(c) * c + double(d) * d));
}
// remainder() by 2 is exact, so the argument keeps its accuracy however large it is.
GPUEXP_SHADOW_INLINE double sinpi(double x) noexcept { return ::sin(M_PI * ::remainder(x, 2.0)); }
GPUEXP_SHADOW_INLINE double cospi(double x) noexcept { return ::cos(M_PI * ::remainder(x, 2.0)); }
GPUEXP_SHADOW_INLINE float sinpif(float x) noexcept { return float(sinpi(double(x))); }
GPUEXP_SHADOW_INLINE float cospif(float x) noexcept { return float(cospi(double(x))); }
GPUEXP_SHADOW_INLINE float normcdff(float x) noexcept { return float(0.5 * ::erfc(-double(x) * M_SQRT1_2)); }
GPUEXP_SHADOW_INLINE double normcdf(double x) noexcept { return 0.5 * ::erfc(-x * M_SQRT1_2); }
GPUEXP_SHADOW_INLINE float __saturatef(float x) noexcept { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

// ---- fast approximations ----

GPUEXP_SHADOW_INLINE float __expf(float x) noexcept { return expf(x); }
GPUEXP_SHADOW_INLINE float __exp10f(float x) noexcept { return exp10f(x); }
GPUEXP_SHADOW_INLINE float __logf(float x) noexcept { return logf(x); }
GPUEXP_SHADOW_INLINE float __log2f(float x) noexcept { return log2f(x); }
GPUEXP_SHADOW_INLINE float __log10f(float x) noexcept { return log10f(x); }
GPUEXP_SHADOW_INLINE float __sinf(float x) noexcept { return sinf(x); }
GPUEXP_SHADOW_INLINE float __cosf(float x) noexcept { return cosf(x); }
GPUEXP_SHADOW_INLINE float __tanf(float x) noexcept { return tanf(x); }
GPUEXP_SHADOW_INLINE float __tanhf(float x) noexcept { return tanhf(x); }
GPUEXP_SHADOW_INLINE void __sincosf(float x, float* s, float* c) noexcept {
  *s = sinf(x);
  *c = cosf(x);
}
GPUEXP_SHADOW_INLINE float __powf(float x, float y) noexcept { return exp2f(y * log2f(x)); }
// Beyond 2^126 the GPU's reciprocal underflows: CUDA C++ Programming Guide, "Intrinsic Functions".
GPUEXP_SHADOW_INLINE float __fdividef(float a, float b) noexcept { return fabsf(b) > 0x1p126f ? a * 0.0f : a / b; }

// ---- operations rounded to nearest even (rn), towards zero (rz), up (ru), down (rd) ----

#define GPUEXP_ROUNDED_BINARY(T, name, op)                               \
  GPUEXP_SHADOW_INLINE T name##_rn(T a, T b) noexcept { return a op b; } \
  GPUEXP_ROUNDED_BINARY_AS(T, name##_rz, op, FE_TOWARDZERO)              \
  GPUEXP_ROUNDED_BINARY_AS(T, name##_ru, op, FE_UPWARD)                  \
  GPUEXP_ROUNDED_BINARY_AS(T, name##_rd, op, FE_DOWNWARD)
#define GPUEXP_ROUNDED_BINARY_AS(T, name, op, mode)                                     \
  GPUEXP_SHADOW_INLINE T name(T a, T b) noexcept {                                      \
    const gpuexp_shadow::RoundingMode rounding(mode);                                   \
    return gpuexp_shadow::pinned(gpuexp_shadow::pinned(a) op gpuexp_shadow::pinned(b)); \
  }
GPUEXP_ROUNDED_BINARY(float, __fadd, +)
GPUEXP_ROUNDED_BINARY(float, __fsub, -)
GPUEXP_ROUNDED_BINARY(float, __fmul, *)
GPUEXP_ROUNDED_BINARY(float, __fdiv, /)
GPUEXP_ROUNDED_BINARY(double, __dadd, +)
GPUEXP_ROUNDED_BINARY(double, __dsub, -)
GPUEXP_ROUNDED_BINARY(double, __dmul, *)
GPUEXP_ROUNDED_BINARY(double, __ddiv, /)
#undef GPUEXP_ROUNDED_BINARY
#undef GPUEXP_ROUNDED_BINARY_AS

#define GPUEXP_ROUNDED_UNARY(T, name, call)                  \
  GPUEXP_ROUNDED_UNARY_AS(T, name##_rn, call, FE_TONEAREST)  \
  GPUEXP_ROUNDED_UNARY_AS(T, name##_rz, call, FE_TOWARDZERO) \
  GPUEXP_ROUNDED_UNARY_AS(T, name##_ru, call, FE_UPWARD)     \
  GPUEXP_ROUNDED_UNARY_AS(T, name##_rd, call, FE_DOWNWARD)
#define GPUEXP_ROUNDED_UNARY_AS(T, name, call, mode)  \
  GPUEXP_SHADOW_INLINE T name(T x) noexcept {         \
    const gpuexp_shadow::RoundingMode rounding(mode); \
    const T a = gpuexp_shadow::pinned(x);             \
    return gpuexp_shadow::pinned(call);               \
  }
GPUEXP_ROUNDED_UNARY(float, __frcp, 1.0f / a)
GPUEXP_ROUNDED_UNARY(float, __fsqrt, sqrtf(a))
GPUEXP_ROUNDED_UNARY(double, __drcp, 1.0 / a)
GPUEXP_ROUNDED_UNARY(double, __dsqrt, ::sqrt(a))
#undef GPUEXP_ROUNDED_UNARY
#undef GPUEXP_ROUNDED_UNARY_AS
// A double quotient of a double root is far more accurate than half a unit of the float result.
GPUEXP_SHADOW_INLINE float __frsqrt_rn(float x) noexcept { return rsqrtf(x); }

#define GPUEXP_ROUNDED_FMA(T, name, fused)                                            \
  GPUEXP_SHADOW_INLINE T name##_rn(T a, T b, T c) noexcept { return fused(a, b, c); } \
  GPUEXP_ROUNDED_FMA_AS(T, name##_rz, fused, FE_TOWARDZERO)                           \
  GPUEXP_ROUNDED_FMA_AS(T, name##_ru, fused, FE_UPWARD)                               \
  GPUEXP_ROUNDED_FMA_AS(T, name##_rd, fused, FE_DOWNWARD)
#define GPUEXP_ROUNDED_FMA_AS(T, name, fused, mode)                                                                    \
  GPUEXP_SHADOW_INLINE T name(T a, T b, T c) noexcept {                                                                \
    const gpuexp_shadow::RoundingMode rounding(mode);                                                                  \
    return gpuexp_shadow::pinned(fused(gpuexp_shadow::pinned(a), gpuexp_shadow::pinned(b), gpuexp_shadow::pinned(c))); \
  }
GPUEXP_ROUNDED_FMA(float, __fmaf, fmaf)
GPUEXP_ROUNDED_FMA(double, __fma, ::fma)
#undef GPUEXP_ROUNDED_FMA
#undef GPUEXP_ROUNDED_FMA_AS

// ---- conversions ----

#define GPUEXP_TO_INT(Float, Int, name)                                  \
  GPUEXP_SHADOW_INLINE Int name##_rn(Float x) noexcept {                 \
    return gpuexp_shadow::saturate_to<Int>(gpuexp_shadow::to_even(x));   \
  }                                                                      \
  GPUEXP_SHADOW_INLINE Int name##_rz(Float x) noexcept {                 \
    return gpuexp_shadow::saturate_to<Int>(gpuexp_shadow::to_zero(x));   \
  }                                                                      \
  GPUEXP_SHADOW_INLINE Int name##_ru(Float x) noexcept {                 \
    return gpuexp_shadow::saturate_to<Int>(gpuexp_shadow::upwards(x));   \
  }                                                                      \
  GPUEXP_SHADOW_INLINE Int name##_rd(Float x) noexcept {                 \
    return gpuexp_shadow::saturate_to<Int>(gpuexp_shadow::downwards(x)); \
  }
GPUEXP_TO_INT(float, int, __float2int)
GPUEXP_TO_INT(float, unsigned int, __float2uint)
GPUEXP_TO_INT(float, long long, __float2ll)
GPUEXP_TO_INT(float, unsigned long long, __float2ull)
GPUEXP_TO_INT(double, int, __double2int)
GPUEXP_TO_INT(double, unsigned int, __double2uint)
GPUEXP_TO_INT(double, long long, __double2ll)
GPUEXP_TO_INT(double, unsigned long long, __double2ull)
#undef GPUEXP_TO_INT

#define GPUEXP_TO_FLOAT(From, To, name)                  \
  GPUEXP_TO_FLOAT_AS(From, To, name##_rn, FE_TONEAREST)  \
  GPUEXP_TO_FLOAT_AS(From, To, name##_rz, FE_TOWARDZERO) \
  GPUEXP_TO_FLOAT_AS(From, To, name##_ru, FE_UPWARD)     \
  GPUEXP_TO_FLOAT_AS(From, To, name##_rd, FE_DOWNWARD)
#define GPUEXP_TO_FLOAT_AS(From, To, name, mode)                \
  GPUEXP_SHADOW_INLINE To name(From x) noexcept {               \
    const gpuexp_shadow::RoundingMode rounding(mode);           \
    return gpuexp_shadow::pinned(To(gpuexp_shadow::pinned(x))); \
  }
GPUEXP_TO_FLOAT(int, float, __int2float)
GPUEXP_TO_FLOAT(unsigned int, float, __uint2float)
GPUEXP_TO_FLOAT(long long, float, __ll2float)
GPUEXP_TO_FLOAT(long long, double, __ll2double)
GPUEXP_TO_FLOAT(double, float, __double2float)
#undef GPUEXP_TO_FLOAT
#undef GPUEXP_TO_FLOAT_AS
GPUEXP_SHADOW_INLINE float __ull2float_rn(unsigned long long x) noexcept { return float(x); }
GPUEXP_SHADOW_INLINE double __ull2double_rn(unsigned long long x) noexcept { return double(x); }
GPUEXP_SHADOW_INLINE double __int2double_rn(int x) noexcept { return double(x); }
GPUEXP_SHADOW_INLINE double __uint2double_rn(unsigned int x) noexcept { return double(x); }

GPUEXP_SHADOW_INLINE int __float_as_int(float x) noexcept { return gpuexp_shadow::bits_of<int>(x); }
GPUEXP_SHADOW_INLINE unsigned int __float_as_uint(float x) noexcept { return gpuexp_shadow::bits_of<unsigned int>(x); }
GPUEXP_SHADOW_INLINE float __int_as_float(int x) noexcept { return gpuexp_shadow::bits_of<float>(x); }
GPUEXP_SHADOW_INLINE float __uint_as_float(unsigned int x) noexcept { return gpuexp_shadow::bits_of<float>(x); }
GPUEXP_SHADOW_INLINE long long __double_as_longlong(double x) noexcept { return gpuexp_shadow::bits_of<long long>(x); }
GPUEXP_SHADOW_INLINE double __longlong_as_double(long long x) noexcept { return gpuexp_shadow::bits_of<double>(x); }
GPUEXP_SHADOW_INLINE int __double2hiint(double x) noexcept { return int(__double_as_longlong(x) >> 32); }
GPUEXP_SHADOW_INLINE int __double2loint(double x) noexcept { return int(__double_as_longlong(x)); }
GPUEXP_SHADOW_INLINE double __hiloint2double(int high, int low) noexcept {
  return __longlong_as_double((long long)((unsigned long long)(unsigned int)high << 32 | (unsigned int)low));
}

// ---- integers ----

GPUEXP_SHADOW_INLINE int __popc(unsigned int x) noexcept { return __builtin_popcount(x); }
GPUEXP_SHADOW_INLINE int __popcll(unsigned long long x) noexcept { return __builtin_popcountll(x); }
GPUEXP_SHADOW_INLINE int __clz(int x) noexcept { return x == 0 ? 32 : __builtin_clz((unsigned int)x); }
GPUEXP_SHADOW_INLINE int __clzll(long long x) noexcept { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
GPUEXP_SHADOW_INLINE int __ffs(int x) noexcept { return x == 0 ? 0 : __builtin_ctz((unsigned int)x) + 1; }
GPUEXP_SHADOW_INLINE int __ffsll(long long x) noexcept {
  return x == 0 ? 0 : __builtin_ctzll((unsigned long long)x) + 1;
}
GPUEXP_SHADOW_INLINE unsigned int __brev(unsigned int x) noexcept {
  x = (x >> 1 & 0x55555555U) | (x & 0x55555555U) << 1;
  x = (x >> 2 & 0x33333333U) | (x & 0x33333333U) << 2;
  x = (x >> 4 & 0x0f0f0f0fU) | (x & 0x0f0f0f0fU) << 4;
  return __builtin_bswap32(x);
}
GPUEXP_SHADOW_INLINE unsigned long long __brevll(unsigned long long x) noexcept {
  return (unsigned long long)__brev((unsigned int)x) << 32 | __brev((unsigned int)(x >> 32));
}
GPUEXP_SHADOW_INLINE int __mul24(int a, int b) noexcept {  // low 32 bits of the product of the low 24, sign-extended
  const int low_a = int((unsigned int)a << 8) >> 8, low_b = int((unsigned int)b << 8) >> 8;
  return int((unsigned int)((long long)low_a * low_b));
}
GPUEXP_SHADOW_INLINE unsigned int __umul24(unsigned int a, unsigned int b) noexcept {
  return (a & 0xffffffU) * (b & 0xffffffU);
}
GPUEXP_SHADOW_INLINE int __mulhi(int a, int b) noexcept { return int((long long)a * b >> 32); }
GPUEXP_SHADOW_INLINE unsigned int __umulhi(unsigned int a, unsigned int b) noexcept {
  return (unsigned int)((unsigned long long)a * b >> 32);
}
GPUEXP_SHADOW_INLINE long long __mul64hi(long long a, long long b) noexcept {
  return (long long)((__extension__(__int128) a * b) >> 64);
}
GPUEXP_SHADOW_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) noexcept {
  return (unsigned long long)((__extension__(unsigned __int128) a * b) >> 64);
}
GPUEXP_SHADOW_INLINE unsigned int __sad(int a, int b, unsigned int c) noexcept {
  return c + (a < b ? (unsigned int)b - (unsigned int)a : (unsigned int)a - (unsigned int)b);
}
GPUEXP_SHADOW_INLINE unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) noexcept {
  return c + (a < b ? b - a : a - b);
}
GPUEXP_SHADOW_INLINE int __hadd(int a, int b) noexcept { return int(((long long)a + b) >> 1); }
GPUEXP_SHADOW_INLINE int __rhadd(int a, int b) noexcept { return int(((long long)a + b + 1) >> 1); }
GPUEXP_SHADOW_INLINE unsigned int __uhadd(unsigned int a, unsigned int b) noexcept {
  return (unsigned int)(((unsigned long long)a + b) >> 1);
}
GPUEXP_SHADOW_INLINE unsigned int __urhadd(unsigned int a, unsigned int b) noexcept {
  return (unsigned int)(((unsigned long long)a + b + 1) >> 1);
}
GPUEXP_SHADOW_INLINE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) noexcept {
  const unsigned long long bytes = (unsigned long long)y << 32 | x;
  unsigned int result = 0;
  for (int i = 0; i < 4; ++i) result |= (unsigned int)(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
  return result;
}
// Funnel shifts: by the amount modulo 32, or (c) clamped to 32.
GPUEXP_SHADOW_INLINE unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int shift) noexcept {
  return (unsigned int)(((unsigned long long)hi << 32 | lo) << (shift & 31) >> 32);
}
GPUEXP_SHADOW_INLINE unsigned int __funnelshift_lc(unsigned int lo, unsigned int hi, unsigned int shift) noexcept {
  return (unsigned int)(((unsigned long long)hi << 32 | lo) << (shift < 32 ? shift : 32) >> 32);
}
GPUEXP_SHADOW_INLINE unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int shift) noexcept {
  return (unsigned int)(((unsigned long long)hi << 32 | lo) >> (shift & 31));
}
GPUEXP_SHADOW_INLINE unsigned int __funnelshift_rc(unsigned int lo, unsigned int hi, unsigned int shift) noexcept {
  return (unsigned int)(((unsigned long long)hi << 32 | lo) >> (shift < 32 ? shift : 32));
}
GPUEXP_SHADOW_INLINE int __dp4a(int a, int b, int c) noexcept {
  unsigned int sum = (unsigned int)c;
  for (int i = 0; i < 32; i += 8) sum += (unsigned int)((int)(signed char)(a >> i) * (int)(signed char)(b >> i));
  return (int)sum;
}
GPUEXP_SHADOW_INLINE unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) noexcept {
  for (int i = 0; i < 32; i += 8) c += (a >> i & 0xff) * (b >> i & 0xff);
  return c;
}
