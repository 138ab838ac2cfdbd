// CUDA's vector types for emulated kernels: char1 .. double4, dim3, and their make_ functions.
//
// A copy of a 2- or 4-component vector is one access per 16 bytes, as it is on the GPU, and a copy of a 3-component
// vector one access per component. The instrumentation sees what the compiler emits, so these copies are spelled out:
// whole vectors go through one machine word of their size, which the compiler cannot take apart.
// Sizes and alignments: CUDA C++ Programming Guide, "Built-in Vector Types", table of alignment requirements.
//
// This header is compiled into kernel objects: it includes nothing, and everything in it is inlined.
#pragma once

#define GPUEXP_SHADOW_INLINE __attribute__((always_inline)) inline

namespace gpuexp_shadow {

// What moves a vector of `Bytes` bytes in one access, whatever its declared type.
template <int Bytes>
struct Word;
template <>
struct Word<2> {
  typedef unsigned short type __attribute__((may_alias));
};
template <>
struct Word<4> {
  typedef unsigned int type __attribute__((may_alias));
};
template <>
struct Word<8> {
  typedef unsigned long long type __attribute__((may_alias));
};
template <>
struct Word<16> {
  typedef unsigned long long type __attribute__((vector_size(16), may_alias));
};

// Copies Bytes bytes as one access, or as two halves of 16. The empty asm hides from the compiler that only some
// components are used later; else it would load these alone.
template <int Bytes>
GPUEXP_SHADOW_INLINE void copy_whole(void* to, const void* from) noexcept {
  if constexpr (Bytes <= 16) {
    using T = typename Word<Bytes>::type;
    T word = *static_cast<const T*>(from);
    if constexpr (Bytes == 16)
      __asm__("" : "+x"(word));
    else
      __asm__("" : "+r"(word));
    *static_cast<T*>(to) = word;
  } else {
    copy_whole<Bytes / 2>(to, from);
    copy_whole<Bytes / 2>(static_cast<char*>(to) + Bytes / 2, static_cast<const char*>(from) + Bytes / 2);
  }
}

}  // namespace gpuexp_shadow

// A vector copied as a whole. The default constructor stays trivial: a __shared__ array of vectors runs no code.
#define GPUEXP_WHOLE_COPY(name)                                                                            \
  name() = default;                                                                                        \
  GPUEXP_SHADOW_INLINE name(const name& o) noexcept { gpuexp_shadow::copy_whole<sizeof(name)>(this, &o); } \
  GPUEXP_SHADOW_INLINE name& operator=(const name& o) noexcept {                                           \
    gpuexp_shadow::copy_whole<sizeof(name)>(this, &o);                                                     \
    return *this;                                                                                          \
  }

#define GPUEXP_VECTOR1(T, base)                                            \
  struct base##1 {                                                         \
    T x;                                                                   \
    base##1() = default;                                                   \
    GPUEXP_SHADOW_INLINE base##1(T v) noexcept : x(v) {}                   \
    GPUEXP_SHADOW_INLINE base##1(const base##1 & o) noexcept : x(o.x) {}   \
    GPUEXP_SHADOW_INLINE base##1 & operator=(const base##1 & o) noexcept { \
      x = o.x;                                                             \
      return *this;                                                        \
    }                                                                      \
  };                                                                       \
  GPUEXP_SHADOW_INLINE base##1 make_##base##1(T x) noexcept { return {x}; }

#define GPUEXP_VECTOR2(T, base, alignment)                                        \
  struct alignas(alignment) base##2 {                                             \
    T x, y;                                                                       \
    GPUEXP_WHOLE_COPY(base##2)                                                    \
    GPUEXP_SHADOW_INLINE constexpr base##2(T a, T b = 0) noexcept : x(a), y(b) {} \
  };                                                                              \
  GPUEXP_SHADOW_INLINE base##2 make_##base##2(T x, T y) noexcept { return {x, y}; }

#define GPUEXP_VECTOR3(T, base)                                                                  \
  struct base##3 {                                                                               \
    T x, y, z;                                                                                   \
    base##3() = default;                                                                         \
    GPUEXP_SHADOW_INLINE base##3(const base##3 & o) noexcept : x(o.x), y(o.y), z(o.z) {}         \
    GPUEXP_SHADOW_INLINE constexpr base##3(T a, T b = 0, T c = 0) noexcept : x(a), y(b), z(c) {} \
    GPUEXP_SHADOW_INLINE base##3 & operator=(const base##3 & o) noexcept {                       \
      const T a = o.x, b = o.y, c = o.z;                                                         \
      x = a;                                                                                     \
      y = b;                                                                                     \
      z = c;                                                                                     \
      return *this;                                                                              \
    }                                                                                            \
  };                                                                                             \
  GPUEXP_SHADOW_INLINE base##3 make_##base##3(T x, T y, T z) noexcept { return {x, y, z}; }

#define GPUEXP_VECTOR4_AS(T, name, alignment)                                                                \
  struct alignas(alignment) name {                                                                           \
    T x, y, z, w;                                                                                            \
    GPUEXP_WHOLE_COPY(name)                                                                                  \
    GPUEXP_SHADOW_INLINE constexpr name(T a, T b = 0, T c = 0, T d = 0) noexcept : x(a), y(b), z(c), w(d) {} \
  };                                                                                                         \
  GPUEXP_SHADOW_INLINE name make_##name(T x, T y, T z, T w) noexcept { return {x, y, z, w}; }
#define GPUEXP_VECTOR4(T, base, alignment) GPUEXP_VECTOR4_AS(T, base##4, alignment)

#define GPUEXP_VECTORS(T, base, alignment2, alignment4) \
  GPUEXP_VECTOR1(T, base)                               \
  GPUEXP_VECTOR2(T, base, alignment2)                   \
  GPUEXP_VECTOR3(T, base)                               \
  GPUEXP_VECTOR4(T, base, alignment4)

GPUEXP_VECTORS(signed char, char, 2, 4)
GPUEXP_VECTORS(unsigned char, uchar, 2, 4)
GPUEXP_VECTORS(short, short, 4, 8)
GPUEXP_VECTORS(unsigned short, ushort, 4, 8)
GPUEXP_VECTORS(int, int, 8, 16)
GPUEXP_VECTORS(unsigned int, uint, 8, 16)
GPUEXP_VECTORS(long, long, 16, 16)
GPUEXP_VECTORS(unsigned long, ulong, 16, 16)
GPUEXP_VECTORS(long long, longlong, 16, 16)
GPUEXP_VECTORS(unsigned long long, ulonglong, 16, 16)
GPUEXP_VECTORS(float, float, 8, 16)
GPUEXP_VECTORS(double, double, 16, 16)

// The two alignments that CUDA 13 tells apart for vectors of 32 bytes.
GPUEXP_VECTOR4_AS(long, long4_16a, 16)
GPUEXP_VECTOR4_AS(long, long4_32a, 32)
GPUEXP_VECTOR4_AS(unsigned long, ulong4_16a, 16)
GPUEXP_VECTOR4_AS(unsigned long, ulong4_32a, 32)
GPUEXP_VECTOR4_AS(long long, longlong4_16a, 16)
GPUEXP_VECTOR4_AS(long long, longlong4_32a, 32)
GPUEXP_VECTOR4_AS(unsigned long long, ulonglong4_16a, 16)
GPUEXP_VECTOR4_AS(unsigned long long, ulonglong4_32a, 32)
GPUEXP_VECTOR4_AS(double, double4_16a, 16)
GPUEXP_VECTOR4_AS(double, double4_32a, 32)

struct dim3 {
  unsigned int x, y, z;
  GPUEXP_SHADOW_INLINE constexpr dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1) noexcept
      : x(a), y(b), z(c) {}
  GPUEXP_SHADOW_INLINE dim3(const uint3& v) noexcept : x(v.x), y(v.y), z(v.z) {}
  GPUEXP_SHADOW_INLINE operator uint3() const noexcept { return {x, y, z}; }
};

#undef GPUEXP_VECTORS
#undef GPUEXP_VECTOR4
#undef GPUEXP_VECTOR4_AS
#undef GPUEXP_VECTOR3
#undef GPUEXP_VECTOR2
#undef GPUEXP_VECTOR1
#undef GPUEXP_WHOLE_COPY
