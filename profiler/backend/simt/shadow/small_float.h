// Arithmetic of the 16-bit floating-point formats in software: one rounding per operation, as on the GPU.
//
// Formats: IEEE 754 binary16 (__half) and bfloat16. Every operation is computed in double so that one rounding to the
// format is the correct one: sums, products, quotients and roots of 11-bit numbers are innocuously double-rounded (53
// is at least 2 * 11 + 2 bits; Figueroa, When is double rounding innocuous?, 1995), and the fused operations first
// round to odd (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008). A NaN result is the canonical
// one, 0x7fff (PTX ISA, half precision floating point instructions).
//
// The functions are neither inlined nor instrumented: lanes pass through them without leaving their basic block.
#pragma once

#include "device_math.h"

#if defined(__clang__)
#define GPUEXP_SHADOW_CALL __attribute__((noinline, no_sanitize("thread", "coverage"))) static
#else
#define GPUEXP_SHADOW_CALL __attribute__((noinline, no_sanitize("thread"), no_sanitize_coverage)) static
#endif

namespace gpuexp_shadow {

enum class Rounding { nearest_even, to_zero, down, up };

struct Binary16 {
  static constexpr int exponent_bits = 5;
  static constexpr int fraction_bits = 10;
};
struct Bfloat16 {
  static constexpr int exponent_bits = 8;
  static constexpr int fraction_bits = 7;
};

template <class Format>
constexpr unsigned kInfinity = ((1U << Format::exponent_bits) - 1) << Format::fraction_bits;
constexpr unsigned kCanonicalNan = 0x7fff;
constexpr unsigned kSignBit = 0x8000;

constexpr bool is_nan(unsigned bits, unsigned infinity) { return (bits & ~kSignBit) > infinity; }

// Whether cutting `rest` (of `half` per half unit) off a magnitude ending in an odd or even digit rounds it away from
// zero.
GPUEXP_SHADOW_INLINE bool rounds_away(Rounding rounding, bool negative, bool odd, unsigned long long rest,
                                      unsigned long long half) noexcept {
  switch (rounding) {
    case Rounding::nearest_even:
      return rest > half || (rest == half && odd);
    case Rounding::to_zero:
      return false;
    case Rounding::down:
      return negative && rest != 0;
    case Rounding::up:
      return !negative && rest != 0;
  }
  return false;
}

// The bits of `value` rounded once to the format.
template <class Format>
GPUEXP_SHADOW_CALL unsigned short round_to(double value, Rounding rounding = Rounding::nearest_even) noexcept {
  constexpr int fraction_bits = Format::fraction_bits;
  constexpr int bias = (1 << (Format::exponent_bits - 1)) - 1;
  constexpr unsigned infinity = kInfinity<Format>;
  constexpr int double_fraction_bits = 52, double_bias = 1023, double_max_exponent = 2047;

  const auto bits = bits_of<unsigned long long>(value);
  const bool negative = bits >> 63 != 0;
  const unsigned sign = negative ? kSignBit : 0;
  const int exponent = static_cast<int>(bits >> double_fraction_bits) & double_max_exponent;
  unsigned long long significand = bits & ((1ULL << double_fraction_bits) - 1);
  if (exponent == double_max_exponent)
    return static_cast<unsigned short>(significand != 0 ? kCanonicalNan : infinity | sign);
  if (exponent != 0) significand |= 1ULL << double_fraction_bits;

  // Exponent field of the result; below 1 it is subnormal and loses more digits (beyond 54 they are all in the rest).
  const int field = (exponent != 0 ? exponent : 1) - double_bias + bias;
  int shift = double_fraction_bits - fraction_bits + (field < 1 ? 1 - field : 0);
  if (shift > 60) shift = 60;
  const unsigned long long kept = significand >> shift;
  const unsigned long long rest = significand & ((1ULL << shift) - 1);
  const bool away = rounds_away(rounding, negative, (kept & 1) != 0, rest, 1ULL << (shift - 1));
  // The leading digit of a normal number, and a carry out of the fraction, add one to the exponent field.
  const unsigned long long magnitude =
      (field < 1 ? 0 : static_cast<unsigned long long>(field - 1) << fraction_bits) + kept + (away ? 1 : 0);
  if (magnitude < infinity) return static_cast<unsigned short>(static_cast<unsigned>(magnitude) | sign);
  const bool to_infinity = rounding == Rounding::nearest_even || rounding == (negative ? Rounding::down : Rounding::up);
  return static_cast<unsigned short>((to_infinity ? infinity : infinity - 1) | sign);
}

// The value of the bits; exact. NaNs: any NaN of binary16 gives the canonical one, of bfloat16 the one of the same
// bits.
GPUEXP_SHADOW_CALL float value_of(Binary16, unsigned short bits) noexcept {
  constexpr unsigned infinity = kInfinity<Binary16>;
  const unsigned magnitude = bits & ~kSignBit;
  const unsigned sign = (bits & kSignBit) << 16;
  if (magnitude > infinity) return bits_of<float>(0x7fffffffU);
  if (magnitude == infinity) return bits_of<float>(sign | 0x7f800000U);
  // Put into float's fields, the number is too small by the difference of the biases (127 - 15); scaling is exact.
  return bits_of<float>(bits_of<unsigned>(bits_of<float>(magnitude << 13) * 0x1p112f) | sign);
}
GPUEXP_SHADOW_INLINE float value_of(Bfloat16, unsigned short bits) noexcept {
  return bits_of<float>(static_cast<unsigned>(bits) << 16);
}

// a + b rounded to odd: the neighbour with odd last digit when inexact, so that a later rounding sees what was cut off.
GPUEXP_SHADOW_INLINE double sum_to_odd(double a, double b) noexcept {
  const double sum = a + b;
  const double part_of_b = sum - a;
  const double error = (a - (sum - part_of_b)) + (b - part_of_b);
  const auto bits = bits_of<unsigned long long>(sum);
  // `error` is NaN when sum is infinite or NaN.
  if (!(error < 0 || error > 0) || (bits & 1) != 0) return sum;
  return bits_of<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

template <class Format>
GPUEXP_SHADOW_CALL unsigned short add(unsigned short a, unsigned short b) noexcept {
  return round_to<Format>(double(value_of(Format{}, a)) + double(value_of(Format{}, b)));
}
template <class Format>
GPUEXP_SHADOW_CALL unsigned short subtract(unsigned short a, unsigned short b) noexcept {
  return round_to<Format>(double(value_of(Format{}, a)) - double(value_of(Format{}, b)));
}
template <class Format>
GPUEXP_SHADOW_CALL unsigned short multiply(unsigned short a, unsigned short b) noexcept {
  return round_to<Format>(double(value_of(Format{}, a)) * double(value_of(Format{}, b)));
}
template <class Format>
GPUEXP_SHADOW_CALL unsigned short divide(unsigned short a, unsigned short b) noexcept {
  return round_to<Format>(double(value_of(Format{}, a)) / double(value_of(Format{}, b)));
}
// a * b + c, rounded once; the product of two such numbers is exact in double.
template <class Format>
GPUEXP_SHADOW_CALL unsigned short fused_multiply_add(unsigned short a, unsigned short b, unsigned short c) noexcept {
  return round_to<Format>(
      sum_to_odd(double(value_of(Format{}, a)) * double(value_of(Format{}, b)), double(value_of(Format{}, c))));
}
// Of a number and a NaN the number; -0 is less than +0.
template <class Format>
GPUEXP_SHADOW_CALL unsigned short lesser_of(unsigned short a, unsigned short b) noexcept {
  constexpr unsigned infinity = kInfinity<Format>;
  if (is_nan(a, infinity)) return static_cast<unsigned short>(is_nan(b, infinity) ? kCanonicalNan : unsigned{b});
  if (is_nan(b, infinity)) return a;
  const float x = value_of(Format{}, a), y = value_of(Format{}, b);
  if (x < y || (a & kSignBit) > (b & kSignBit)) return a;
  return b;
}
template <class Format>
GPUEXP_SHADOW_CALL unsigned short greater_of(unsigned short a, unsigned short b) noexcept {
  constexpr unsigned infinity = kInfinity<Format>;
  if (is_nan(a, infinity)) return static_cast<unsigned short>(is_nan(b, infinity) ? kCanonicalNan : unsigned{b});
  if (is_nan(b, infinity)) return a;
  const float x = value_of(Format{}, a), y = value_of(Format{}, b);
  if (x > y || (a & kSignBit) < (b & kSignBit)) return a;
  return b;
}
template <class Format>
GPUEXP_SHADOW_CALL unsigned short from_integer(long long value, Rounding rounding) noexcept {
  const double high = double(value >> 32) * 0x1p32;  // both halves are exact
  return round_to<Format>(sum_to_odd(high, double(value & 0xffffffffLL)), rounding);
}
template <class Format>
GPUEXP_SHADOW_CALL unsigned short from_integer(unsigned long long value, Rounding rounding) noexcept {
  const double high = double(value >> 32) * 0x1p32;
  return round_to<Format>(sum_to_odd(high, double(value & 0xffffffffULL)), rounding);
}
template <class Int>
GPUEXP_SHADOW_CALL Int to_integer(float value, Rounding rounding) noexcept {
  switch (rounding) {
    case Rounding::nearest_even:
      return saturate_to<Int>(to_even(value));
    case Rounding::to_zero:
      return saturate_to<Int>(to_zero(value));
    case Rounding::down:
      return saturate_to<Int>(downwards(value));
    case Rounding::up:
      return saturate_to<Int>(upwards(value));
  }
  return Int(0);
}
// Clamped to [0, 1]; NaN gives +0.
template <class Format>
GPUEXP_SHADOW_CALL unsigned short saturated(unsigned short a) noexcept {
  const float x = value_of(Format{}, a);
  return x > 0.0f ? (x < 1.0f ? a : round_to<Format>(1.0)) : static_cast<unsigned short>(0);
}

}  // namespace gpuexp_shadow
