// The emulator's cuda_bf16.h: bfloat16 in software, bit for bit what the GPU computes (see cuda_fp16.h).
#pragma once

#include "cuda_fp16.h"

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct alignas(4) __nv_bfloat162_raw {
  unsigned short x, y;
};

// The scalar: one access of 2 bytes. Conversions to integers round towards zero and saturate.
struct __nv_bfloat16 {
  unsigned short __x;
  __nv_bfloat16() = default;
  GPUEXP_SHADOW_INLINE constexpr __nv_bfloat16(const __nv_bfloat16_raw& raw) noexcept : __x(raw.x) {}
  GPUEXP_SHADOW_INLINE __nv_bfloat16(float v) noexcept
      : __x(gpuexp_shadow::round_to<gpuexp_shadow::Bfloat16>(double(v))) {}
  GPUEXP_SHADOW_INLINE __nv_bfloat16(double v) noexcept : __x(gpuexp_shadow::round_to<gpuexp_shadow::Bfloat16>(v)) {}
#define GPUEXP_FROM_INTEGER(Int, Wide)                                                                      \
  GPUEXP_SHADOW_INLINE __nv_bfloat16(Int v) noexcept                                                        \
      : __x(gpuexp_shadow::from_integer<gpuexp_shadow::Bfloat16>(static_cast<Wide>(v),                      \
                                                                 gpuexp_shadow::Rounding::nearest_even)) {} \
  GPUEXP_SHADOW_INLINE __nv_bfloat16& operator=(Int v) noexcept { return *this = __nv_bfloat16(v); }        \
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
  GPUEXP_SHADOW_INLINE __nv_bfloat16& operator=(float v) noexcept { return *this = __nv_bfloat16(v); }
  GPUEXP_SHADOW_INLINE __nv_bfloat16& operator=(double v) noexcept { return *this = __nv_bfloat16(v); }
  GPUEXP_SHADOW_INLINE operator float() const noexcept {
    return gpuexp_shadow::value_of(gpuexp_shadow::Bfloat16{}, __x);
  }
  GPUEXP_SHADOW_INLINE constexpr operator bool() const noexcept { return (__x & 0x7fffU) != 0; }
  GPUEXP_SHADOW_INLINE operator __nv_bfloat16_raw() const noexcept { return {__x}; }
  GPUEXP_SHADOW_INLINE static constexpr __nv_bfloat16 from_bits(unsigned short bits) noexcept {
    return __nv_bfloat16_raw{bits};
  }
  GPUEXP_SHADOW_INLINE explicit __nv_bfloat16(const __half& v) noexcept : __nv_bfloat16(float(v)) {}
};

// The pair: one access of 4 bytes, x in the low half.
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  GPUEXP_SHADOW_INLINE __nv_bfloat162(const __nv_bfloat162& o) noexcept {
    gpuexp_shadow::copy_whole<sizeof(__nv_bfloat162)>(this, &o);
  }
  GPUEXP_SHADOW_INLINE constexpr __nv_bfloat162(const __nv_bfloat16& a, const __nv_bfloat16& b) noexcept : x(a), y(b) {}
  GPUEXP_SHADOW_INLINE __nv_bfloat162(const __nv_bfloat162_raw& raw) noexcept
      : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
  GPUEXP_SHADOW_INLINE __nv_bfloat162& operator=(const __nv_bfloat162& o) noexcept {
    gpuexp_shadow::copy_whole<sizeof(__nv_bfloat162)>(this, &o);
    return *this;
  }
  GPUEXP_SHADOW_INLINE operator __nv_bfloat162_raw() const noexcept { return {x.__x, y.__x}; }
};
static_assert(sizeof(__nv_bfloat16) == 2 && sizeof(__nv_bfloat162) == 4);

GPUEXP_SHADOW_INLINE __half::__half(const __nv_bfloat16& v) noexcept : __half(float(v)) {}

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

#define GPUEXP_H __nv_bfloat16
#define GPUEXP_H2 __nv_bfloat162
#define GPUEXP_FORMAT Bfloat16
#define GPUEXP_FROM __bfloat162
#define GPUEXP_TO 2bfloat16
#define GPUEXP_NAME bfloat16
#define GPUEXP_TYPE gpuexp_type_bfloat16
#include "small_float_api.h"
