// The emulator's cuda_fp16.h: IEEE 754 half precision in software, bit for bit what the GPU computes.
//
// Bit-exact: conversions in all rounding modes, add, subtract, multiply, divide, fused multiply-add, square root,
// comparisons, minimum and maximum. The transcendental functions are rounded correctly, the GPU's to within a unit.
#pragma once

#if defined(GPUEXP_SIMT)
#include "cuda_runtime.h"
#endif
#include "small_float.h"
#include "vector_types.h"

struct __half_raw {
  unsigned short x;
};
struct alignas(4) __half2_raw {
  unsigned short x, y;
};
struct __nv_bfloat16;

// The scalar: one access of 2 bytes. Conversions to integers round towards zero and saturate.
struct __half {
  unsigned short __x;
  __half() = default;
  GPUEXP_SHADOW_INLINE constexpr __half(const __half_raw& raw) noexcept : __x(raw.x) {}
  GPUEXP_SHADOW_INLINE __half(float v) noexcept : __x(gpuexp_shadow::round_to<gpuexp_shadow::Binary16>(double(v))) {}
  GPUEXP_SHADOW_INLINE __half(double v) noexcept : __x(gpuexp_shadow::round_to<gpuexp_shadow::Binary16>(v)) {}
#define GPUEXP_FROM_INTEGER(Int, Wide)                                                                      \
  GPUEXP_SHADOW_INLINE __half(Int v) noexcept                                                               \
      : __x(gpuexp_shadow::from_integer<gpuexp_shadow::Binary16>(static_cast<Wide>(v),                      \
                                                                 gpuexp_shadow::Rounding::nearest_even)) {} \
  GPUEXP_SHADOW_INLINE __half& operator=(Int v) noexcept { return *this = __half(v); }                      \
  GPUEXP_TO_INTEGER(Int)
#define GPUEXP_TO_INTEGER(Int)                                                             \
  GPUEXP_SHADOW_INLINE operator Int() const noexcept {                                     \
    return gpuexp_shadow::to_integer<Int>(float(*this), gpuexp_shadow::Rounding::to_zero); \
  }
  GPUEXP_FROM_INTEGER(short, long long)
  GPUEXP_FROM_INTEGER(unsigned short, long long)
  GPUEXP_FROM_INTEGER(int, long long)
  GPUEXP_FROM_INTEGER(unsigned int, long long)
  GPUEXP_FROM_INTEGER(long, long long)
  GPUEXP_FROM_INTEGER(unsigned long, unsigned long long)
  GPUEXP_FROM_INTEGER(long long, long long)
  GPUEXP_FROM_INTEGER(unsigned long long, unsigned long long)
  GPUEXP_TO_INTEGER(char)
  GPUEXP_TO_INTEGER(signed char)
  GPUEXP_TO_INTEGER(unsigned char)
#undef GPUEXP_FROM_INTEGER
#undef GPUEXP_TO_INTEGER
  GPUEXP_SHADOW_INLINE __half& operator=(float v) noexcept { return *this = __half(v); }
  GPUEXP_SHADOW_INLINE __half& operator=(double v) noexcept { return *this = __half(v); }
  GPUEXP_SHADOW_INLINE operator float() const noexcept {
    return gpuexp_shadow::value_of(gpuexp_shadow::Binary16{}, __x);
  }
  GPUEXP_SHADOW_INLINE constexpr operator bool() const noexcept { return (__x & 0x7fffU) != 0; }
  GPUEXP_SHADOW_INLINE operator __half_raw() const noexcept { return {__x}; }
  GPUEXP_SHADOW_INLINE static constexpr __half from_bits(unsigned short bits) noexcept { return __half_raw{bits}; }
  GPUEXP_SHADOW_INLINE explicit __half(const __nv_bfloat16& v) noexcept;  // cuda_bf16.h
};

// The pair: one access of 4 bytes, x in the low half.
struct alignas(4) __half2 {
  __half x, y;
  __half2() = default;
  GPUEXP_SHADOW_INLINE __half2(const __half2& o) noexcept { gpuexp_shadow::copy_whole<sizeof(__half2)>(this, &o); }
  GPUEXP_SHADOW_INLINE constexpr __half2(const __half& a, const __half& b) noexcept : x(a), y(b) {}
  GPUEXP_SHADOW_INLINE __half2(const __half2_raw& raw) noexcept : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
  GPUEXP_SHADOW_INLINE __half2& operator=(const __half2& o) noexcept {
    gpuexp_shadow::copy_whole<sizeof(__half2)>(this, &o);
    return *this;
  }
  GPUEXP_SHADOW_INLINE operator __half2_raw() const noexcept { return {x.__x, y.__x}; }
};
static_assert(sizeof(__half) == 2 && sizeof(__half2) == 4);

using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;

#define GPUEXP_H __half
#define GPUEXP_H2 __half2
#define GPUEXP_FORMAT Binary16
#define GPUEXP_FROM __half2
#define GPUEXP_TO 2half
#define GPUEXP_NAME half
#define GPUEXP_TYPE gpuexp_type_float16
#include "small_float_api.h"
