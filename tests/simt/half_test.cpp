// Half precision and bfloat16 of the shadow headers, against references that share nothing with them: the sorted list
// of all values of a format, and exact sums in quadruple precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

// The headers are made for kernel objects, which are compiled without warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wunused-function"
#if defined(__clang__)
#pragma GCC diagnostic ignored "-Wpragma-clang-attribute"
#endif
#include "profiler/backend/simt/shadow/cuda_bf16.h"
#include "profiler/backend/simt/shadow/cuda_fp16.h"
#pragma GCC diagnostic pop

namespace {

__extension__ typedef __float128 Quad;

enum class Mode { nearest_even, to_zero, down, up };

std::uint16_t bits_of(__half h) { return h.__x; }
std::uint16_t bits_of(__nv_bfloat16 h) { return h.__x; }

// The reference: every non-negative value of a format in order. Its index is its bits; one past the largest stands the
// value at which rounding to nearest turns to infinity when half way.
class Format {
 public:
  Format(int exponent_bits, int fraction_bits) : infinity_(((1 << exponent_bits) - 1) << fraction_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    for (int bits = 0; bits <= infinity_; ++bits) {
      const int exponent = bits >> fraction_bits;
      const int fraction = bits & ((1 << fraction_bits) - 1);
      const int digits = exponent == 0 ? fraction : fraction + (1 << fraction_bits);
      values_.push_back(std::ldexp(digits, std::max(exponent, 1) - bias - fraction_bits));
    }
  }

  [[nodiscard]] std::uint16_t round(Quad x, bool negative_zero, Mode mode) const {
    const bool negative = x < 0 || (x == 0 && negative_zero);
    const Quad magnitude = negative ? -x : x;
    const std::uint16_t sign = negative ? 0x8000 : 0;
    const auto above = std::upper_bound(values_.begin(), values_.end(), magnitude,
                                        [](Quad a, double value) { return a < static_cast<Quad>(value); });
    const auto below = static_cast<int>(above - values_.begin()) - 1;  // the largest value not above x
    if (below >= infinity_) return static_cast<std::uint16_t>(sign | overflowed(negative, mode));
    const Quad low = static_cast<Quad>(values_[static_cast<std::size_t>(below)]);
    const Quad high = static_cast<Quad>(values_[static_cast<std::size_t>(below) + 1]);
    bool away = false;
    switch (mode) {
      case Mode::nearest_even:
        away = magnitude - low > high - magnitude || (magnitude - low == high - magnitude && below % 2 == 1);
        break;
      case Mode::to_zero:
        break;
      case Mode::down:
        away = negative && magnitude != low;
        break;
      case Mode::up:
        away = !negative && magnitude != low;
        break;
    }
    return static_cast<std::uint16_t>(sign | static_cast<unsigned>(below + (away ? 1 : 0)));
  }

  [[nodiscard]] double value(std::uint16_t bits) const {
    const int magnitude = bits & 0x7fff;
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (magnitude > infinity_) return std::numeric_limits<double>::quiet_NaN();
    if (magnitude == infinity_) return sign * std::numeric_limits<double>::infinity();
    return sign * values_[static_cast<std::size_t>(magnitude)];
  }

  [[nodiscard]] int infinity() const { return infinity_; }

 private:
  [[nodiscard]] int overflowed(bool negative, Mode mode) const {
    const bool to_infinity = mode == Mode::nearest_even || mode == (negative ? Mode::down : Mode::up);
    return to_infinity ? infinity_ : infinity_ - 1;
  }

  int infinity_;
  std::vector<double> values_;
};

const Format& format_of(__half) {
  static const Format format(5, 10);
  return format;
}
const Format& format_of(__nv_bfloat16) {
  static const Format format(8, 7);
  return format;
}

template <class H>
H from_bits(unsigned bits) {
  return H::from_bits(static_cast<unsigned short>(bits));
}

__half to_half(float x, Mode mode) {
  switch (mode) {
    case Mode::nearest_even:
      return __float2half_rn(x);
    case Mode::to_zero:
      return __float2half_rz(x);
    case Mode::down:
      return __float2half_rd(x);
    case Mode::up:
      return __float2half_ru(x);
  }
  return {};
}
__nv_bfloat16 to_bfloat16(float x, Mode mode) {
  switch (mode) {
    case Mode::nearest_even:
      return __float2bfloat16_rn(x);
    case Mode::to_zero:
      return __float2bfloat16_rz(x);
    case Mode::down:
      return __float2bfloat16_rd(x);
    case Mode::up:
      return __float2bfloat16_ru(x);
  }
  return {};
}
void convert(float x, Mode mode, __half& result) { result = to_half(x, mode); }
void convert(float x, Mode mode, __nv_bfloat16& result) { result = to_bfloat16(x, mode); }

constexpr Mode kModes[] = {Mode::nearest_even, Mode::to_zero, Mode::down, Mode::up};

template <class H>
class SmallFloat : public ::testing::Test {};
using Types = ::testing::Types<__half, __nv_bfloat16>;
TYPED_TEST_SUITE(SmallFloat, Types);

// ---- conversions ----

TYPED_TEST(SmallFloat, EveryValueSurvivesFloat) {
  const Format& format = format_of(TypeParam{});
  for (unsigned bits = 0; bits <= 0xffff; ++bits) {
    const TypeParam h = from_bits<TypeParam>(bits);
    const float value = static_cast<float>(h);
    const double expected = format.value(static_cast<std::uint16_t>(bits));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_EQ(bits_of(TypeParam(value)), 0x7fff) << bits;
      continue;
    }
    ASSERT_EQ(static_cast<double>(value), expected) << bits;
    ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
    for (const Mode mode : kModes) {
      TypeParam back;
      convert(value, mode, back);
      ASSERT_EQ(bits_of(back), bits);
    }
    ASSERT_EQ(bits_of(TypeParam(expected)), bits);
  }
}

TYPED_TEST(SmallFloat, FloatsAtEveryBoundary) {
  const Format& format = format_of(TypeParam{});
  for (int bits = 0; bits < format.infinity(); ++bits) {
    const double low = format.value(static_cast<std::uint16_t>(bits));
    const double high = bits + 1 < format.infinity() ? format.value(static_cast<std::uint16_t>(bits + 1))
                                                     : 2 * low - format.value(static_cast<std::uint16_t>(bits - 1));
    const auto middle = static_cast<float>((low + high) / 2);
    const float beside_low = static_cast<float>(low);
    for (const float magnitude : {middle, std::nextafterf(middle, 0.0F), std::nextafterf(middle, INFINITY),
                                  std::nextafterf(beside_low, 0.0F), std::nextafterf(beside_low, INFINITY)}) {
      if (std::isinf(magnitude)) continue;
      for (const float x : {magnitude, -magnitude}) {
        for (const Mode mode : kModes) {
          TypeParam result;
          convert(x, mode, result);
          ASSERT_EQ(bits_of(result), format.round(static_cast<Quad>(x), std::signbit(x), mode)) << x;
        }
      }
    }
  }
}

TYPED_TEST(SmallFloat, RandomFloats) {
  const Format& format = format_of(TypeParam{});
  std::mt19937_64 random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    const auto x = __builtin_bit_cast(float, static_cast<std::uint32_t>(random()));
    const Mode mode = kModes[random() % 4];
    TypeParam result;
    convert(x, mode, result);
    if (std::isnan(x))
      ASSERT_EQ(bits_of(result), 0x7fff);
    else if (std::isinf(x))
      ASSERT_EQ(bits_of(result), format.infinity() | (std::signbit(x) ? 0x8000 : 0));
    else
      ASSERT_EQ(bits_of(result), format.round(static_cast<Quad>(x), std::signbit(x), mode)) << x;
  }
}

// A double just beside a tie of the format rounds to a float on the tie: converting by way of float would be wrong.
TYPED_TEST(SmallFloat, DoublesAreRoundedOnce) {
  const Format& format = format_of(TypeParam{});
  for (int bits = 0; bits + 1 < format.infinity(); ++bits) {
    const double middle =
        (format.value(static_cast<std::uint16_t>(bits)) + format.value(static_cast<std::uint16_t>(bits + 1))) / 2;
    for (const double x : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, INFINITY), -middle})
      ASSERT_EQ(bits_of(TypeParam(x)), format.round(static_cast<Quad>(x), false, Mode::nearest_even)) << x;
  }
  EXPECT_EQ(bits_of(TypeParam(std::numeric_limits<double>::denorm_min())), 0);
  EXPECT_EQ(bits_of(TypeParam(-std::numeric_limits<double>::max())), 0x8000 | format.infinity());
}

// ---- arithmetic ----

template <class H>
H random_value(std::mt19937_64& random) {
  return from_bits<H>(static_cast<unsigned>(random() & 0xffff));
}
// Of a moderate exponent, so that sums in quadruple precision are exact and results seldom overflow.
template <class H>
H random_moderate(std::mt19937_64& random) {
  const double exponent = static_cast<double>(random() % 24) - 14;
  const double digits = 1 + static_cast<double>(random() % 1024) / 1024;
  return H(std::ldexp((random() & 1) != 0 ? digits : -digits, static_cast<int>(exponent)));
}

// Compares with the correctly rounded exact result; `exact` is what the reals say, `ieee` what doubles say of NaN,
// infinities and the sign of zero.
template <class H>
void expect_rounded(H result, Quad exact, double ieee, const char* what) {
  const Format& format = format_of(H{});
  if (std::isnan(ieee)) {
    ASSERT_EQ(bits_of(result), 0x7fff) << what;
  } else if (std::isinf(ieee)) {
    ASSERT_EQ(bits_of(result), format.infinity() | (std::signbit(ieee) ? 0x8000 : 0)) << what;
  } else {
    ASSERT_EQ(bits_of(result), format.round(exact, std::signbit(ieee), Mode::nearest_even)) << what;
  }
}

template <class H>
void check_operations(H a, H b, H c) {
  const double x = static_cast<double>(static_cast<float>(a));
  const double y = static_cast<double>(static_cast<float>(b));
  const double z = static_cast<double>(static_cast<float>(c));
  const Quad qx = x, qy = y, qz = z;
  expect_rounded(__hadd(a, b), qx + qy, x + y, "add");
  expect_rounded(__hsub(a, b), qx - qy, x - y, "subtract");
  expect_rounded(__hmul(a, b), qx * qy, x * y, "multiply");
  expect_rounded(__hdiv(a, b), y != 0 ? qx / qy : Quad(0), x / y, "divide");
  expect_rounded(__hfma(a, b, c), qx * qy + qz, std::fma(x, y, z), "fma");
  expect_rounded(hsqrt(a), static_cast<Quad>(std::sqrt(std::fabs(x))), std::sqrt(x), "sqrt");
}

TEST(Half, OperationsOnRandomBits) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 50'000; ++i)
    check_operations(random_value<__half>(random), random_value<__half>(random), random_value<__half>(random));
}

TYPED_TEST(SmallFloat, OperationsOnModerateValues) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 50'000; ++i)
    check_operations(random_moderate<TypeParam>(random), random_moderate<TypeParam>(random),
                     random_moderate<TypeParam>(random));
}

TYPED_TEST(SmallFloat, OperationsOnSpecialValues) {
  const unsigned infinity = static_cast<unsigned>(format_of(TypeParam{}).infinity());
  const std::vector<unsigned> specials{
      0, 1, infinity - 1, infinity, 0x7fff, bits_of(TypeParam(1.0F)), bits_of(TypeParam(1.5F))};
  std::vector<TypeParam> values;
  for (const unsigned bits : specials) {
    values.push_back(from_bits<TypeParam>(bits));
    values.push_back(from_bits<TypeParam>(bits | 0x8000U));
  }
  for (const TypeParam a : values) {
    for (const TypeParam b : values) {
      const double x = static_cast<double>(static_cast<float>(a));
      const double y = static_cast<double>(static_cast<float>(b));
      expect_rounded(__hadd(a, b), static_cast<Quad>(x) + static_cast<Quad>(y), x + y, "add");
      expect_rounded(__hmul(a, b), static_cast<Quad>(x) * static_cast<Quad>(y), x * y, "multiply");
      for (const TypeParam c : values) {
        const double z = static_cast<double>(static_cast<float>(c));
        const double fused = std::fma(x, y, z);
        if (std::isfinite(fused) && fused != 0) continue;
        expect_rounded(__hfma(a, b, c), static_cast<Quad>(0), fused, "fma");
      }
    }
  }
}

// The product is a tie, and an addend far below decides. Rounding the sum to double first loses it.
TYPED_TEST(SmallFloat, FusedRoundsOnce) {
  const int digits = std::is_same_v<TypeParam, __half> ? 10 : 7;
  // (1 + 2^-k)(1 + 2^-(digits+1-k)) has its last digit half a unit below the last of the format.
  const TypeParam a(1 + std::ldexp(1.0, -4));
  const TypeParam b(1 + std::ldexp(1.0, -(digits + 1 - 4)));
  const double product = static_cast<double>(static_cast<float>(a)) * static_cast<double>(static_cast<float>(b));
  const TypeParam tiny = from_bits<TypeParam>(1);
  const TypeParam above = __hfma(a, b, tiny);
  const TypeParam below = __hfma(a, b, __hneg(tiny));
  EXPECT_EQ(bits_of(above), bits_of(below) + 1);
  EXPECT_LT(static_cast<double>(static_cast<float>(below)), product);
  EXPECT_GT(static_cast<double>(static_cast<float>(above)), product);
  // Half: 2^-24 is 2^-24 below 1, within a double. A bfloat16 of 2^-133 is not.
  EXPECT_EQ(bits_of(__hfma(__hneg(a), b, tiny)), bits_of(below) | 0x8000);
}

TEST(Half, UnfusedRoundsTwice) {
  const __half a(1.0F + 0x1p-5F), b(1.0F + 0x1p-6F), c(-1.0F);
  const __half fused = __hfma(a, b, c);
  const __half twice = __hadd(__hmul(a, b), c);
  EXPECT_EQ(static_cast<float>(fused), static_cast<float>(__half((1.0 + 0x1p-5) * (1.0 + 0x1p-6) - 1.0)));
  EXPECT_NE(bits_of(fused), bits_of(twice));
}

TYPED_TEST(SmallFloat, SaturationAndRelu) {
  const auto of = [](float x) { return TypeParam(x); };
  const TypeParam nan = from_bits<TypeParam>(0x7fff);
  EXPECT_EQ(bits_of(__hadd_sat(of(0.75F), of(0.5F))), bits_of(of(1.0F)));
  EXPECT_EQ(bits_of(__hsub_sat(of(0.5F), of(0.75F))), 0);
  EXPECT_EQ(bits_of(__hmul_sat(of(0.5F), of(0.5F))), bits_of(of(0.25F)));
  EXPECT_EQ(bits_of(__hfma_sat(nan, of(0.5F), of(1.0F))), 0);
  EXPECT_EQ(bits_of(__hfma_relu(of(-1.0F), of(0.5F), of(0.25F))), 0);
  EXPECT_EQ(bits_of(__hfma_relu(of(1.0F), of(0.5F), of(0.25F))), bits_of(of(0.75F)));
  EXPECT_EQ(bits_of(__hfma_relu(nan, of(0.5F), of(1.0F))), 0x7fff);
}

// ---- comparisons ----

TYPED_TEST(SmallFloat, ComparisonsAreThoseOfTheValues) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 100'000; ++i) {
    const TypeParam a = random_value<TypeParam>(random);
    const TypeParam b = i % 4 == 0 ? a : random_value<TypeParam>(random);
    const double x = format_of(a).value(bits_of(a));
    const double y = format_of(b).value(bits_of(b));
    const bool unordered = std::isnan(x) || std::isnan(y);
    ASSERT_EQ(a == b, x == y);
    ASSERT_EQ(a != b, x != y);
    ASSERT_EQ(a < b, x < y);
    ASSERT_EQ(a <= b, x <= y);
    ASSERT_EQ(a > b, x > y);
    ASSERT_EQ(a >= b, x >= y);
    ASSERT_EQ(__hne(a, b), !unordered && x != y);
    ASSERT_EQ(__hequ(a, b), unordered || x == y);
    ASSERT_EQ(__hltu(a, b), unordered || x < y);
    ASSERT_EQ(__hisnan(a), std::isnan(x));
    ASSERT_EQ(__hisinf(a), std::isinf(x) ? (x > 0 ? 1 : -1) : 0);
  }
}

TYPED_TEST(SmallFloat, MinimumAndMaximum) {
  const TypeParam nan = from_bits<TypeParam>(0xffc0), one(1.0F), two(2.0F), zero(0.0F), minus_zero = __hneg(zero);
  ASSERT_TRUE(__hisnan(nan));
  EXPECT_EQ(bits_of(__hmax(one, two)), bits_of(two));
  EXPECT_EQ(bits_of(__hmin(one, two)), bits_of(one));
  EXPECT_EQ(bits_of(__hmax(nan, two)), bits_of(two));
  EXPECT_EQ(bits_of(__hmin(one, nan)), bits_of(one));
  EXPECT_EQ(bits_of(__hmin(nan, nan)), 0x7fff);
  EXPECT_EQ(bits_of(__hmax_nan(nan, two)), 0x7fff);
  EXPECT_EQ(bits_of(__hmax(minus_zero, zero)), 0);
  EXPECT_EQ(bits_of(__hmax(zero, minus_zero)), 0);
  EXPECT_EQ(bits_of(__hmin(zero, minus_zero)), 0x8000);
  EXPECT_EQ(bits_of(__hmin(minus_zero, zero)), 0x8000);
}

// ---- integers ----

TEST(Half, ToIntegersInEveryMode) {
  for (unsigned bits = 0; bits <= 0xffff; ++bits) {
    const __half h = from_bits<__half>(bits);
    const double x = format_of(h).value(static_cast<std::uint16_t>(bits));
    if (std::isnan(x)) {
      ASSERT_EQ(__half2int_rn(h), 0);
      ASSERT_EQ(__half2ushort_rz(h), 0);
      ASSERT_EQ(__half2ll_rd(h), std::numeric_limits<long long>::min());
      ASSERT_EQ(__half2ull_ru(h), 1ULL << 63);
      continue;
    }
    const auto clamp = [](double whole, double low, double high) { return std::min(std::max(whole, low), high); };
    ASSERT_EQ(__half2int_rz(h), static_cast<int>(clamp(std::trunc(x), INT32_MIN, INT32_MAX))) << x;
    ASSERT_EQ(__half2int_rn(h), static_cast<int>(clamp(std::nearbyint(x), INT32_MIN, INT32_MAX))) << x;
    ASSERT_EQ(__half2int_rd(h), static_cast<int>(clamp(std::floor(x), INT32_MIN, INT32_MAX))) << x;
    ASSERT_EQ(__half2int_ru(h), static_cast<int>(clamp(std::ceil(x), INT32_MIN, INT32_MAX))) << x;
    ASSERT_EQ(__half2uint_ru(h), static_cast<unsigned>(clamp(std::ceil(x), 0, UINT32_MAX))) << x;
    ASSERT_EQ(__half2short_rn(h), static_cast<short>(clamp(std::nearbyint(x), -32768, 32767))) << x;
    ASSERT_EQ(__half2ushort_rd(h), static_cast<unsigned short>(clamp(std::floor(x), 0, 65535))) << x;
    ASSERT_EQ(__half2char_rz(h), static_cast<signed char>(clamp(std::trunc(x), -128, 127))) << x;
    if (!std::isinf(x)) {
      ASSERT_EQ(__half2ll_rn(h), static_cast<long long>(std::nearbyint(x))) << x;
    }
  }
  EXPECT_EQ(__half2ll_rz(from_bits<__half>(0x7c00)), std::numeric_limits<long long>::max());
  EXPECT_EQ(__half2ull_rz(from_bits<__half>(0xfc00)), 0U);
}

TYPED_TEST(SmallFloat, FromIntegers) {
  const Format& format = format_of(TypeParam{});
  std::mt19937_64 random(5);
  for (int i = 0; i < 50'000; ++i) {
    const auto wide = static_cast<long long>(random() >> (random() % 64)) * ((random() & 1) != 0 ? 1 : -1);
    const auto narrow = static_cast<int>(wide);
    ASSERT_EQ(bits_of(TypeParam(wide)), format.round(static_cast<Quad>(wide), false, Mode::nearest_even)) << wide;
    ASSERT_EQ(bits_of(TypeParam(narrow)), format.round(static_cast<Quad>(narrow), false, Mode::nearest_even)) << narrow;
    const auto positive = static_cast<unsigned long long>(random());
    ASSERT_EQ(bits_of(TypeParam(positive)), format.round(static_cast<Quad>(positive), false, Mode::nearest_even));
  }
  EXPECT_EQ(bits_of(__int2half_rz(100000)), 0x7bff);
  EXPECT_EQ(bits_of(__int2half_ru(100000)), 0x7c00);
  EXPECT_EQ(bits_of(__int2half_rd(-100000)), 0xfc00);
  // 2^60 + 2^51 + 1: beside a tie of bfloat16 by less than a double can tell.
  EXPECT_EQ(bits_of(__ll2bfloat16_rn((1LL << 60) + (1LL << 52) + 1)),
            bits_of(__ll2bfloat16_rn((1LL << 60) + (1LL << 53))));
}

// ---- pairs ----

TEST(Half, Pairs) {
  const __half2 a = __floats2half2_rn(1.5F, -2.0F);
  EXPECT_EQ(__low2float(a), 1.5F);
  EXPECT_EQ(__high2float(a), -2.0F);
  const float2 f = __half22float2(__hfma2(a, a, __half2half2(__half(1.0F))));
  EXPECT_EQ(f.x, 3.25F);
  EXPECT_EQ(f.y, 5.0F);
  const __half2 swapped = __lowhigh2highlow(a);
  EXPECT_EQ(static_cast<float>(swapped.x), -2.0F);
  EXPECT_TRUE(__hbeq2(a, a));
  EXPECT_FALSE(a == swapped);
  EXPECT_EQ(__hgt2_mask(a, swapped), 0x0000ffffU);
  EXPECT_EQ(static_cast<float>(__hgt2(a, swapped).x), 1.0F);
  __half2 sum = a;
  sum += swapped;
  EXPECT_EQ(static_cast<float>(sum.x), -0.5F);
  EXPECT_EQ(static_cast<float>((-sum).y), 0.5F);
  // (1.5 - 2i)^2 = -1.75 - 6i
  const __half2 square = __hcmadd(a, a, __floats2half2_rn(0.0F, 0.0F));
  EXPECT_EQ(static_cast<float>(square.x), -1.75F);
  EXPECT_EQ(static_cast<float>(square.y), -6.0F);
  const float2 b = __bfloat1622float2(__float22bfloat162_rn(float2(1.0F + 0x1p-9F, 3.0F)));
  EXPECT_EQ(b.x, 1.0F);
  EXPECT_EQ(b.y, 3.0F);
}

TEST(Half, TypesAreTrivialWhereSharedMemoryNeedsIt) {
  EXPECT_TRUE(std::is_trivially_default_constructible_v<__half>);
  EXPECT_TRUE(std::is_trivially_copyable_v<__half>);
  EXPECT_TRUE(std::is_trivially_default_constructible_v<__half2>);
  EXPECT_TRUE(std::is_trivially_default_constructible_v<__nv_bfloat162>);
  EXPECT_TRUE(std::is_trivially_default_constructible_v<float4>);
  EXPECT_TRUE(std::is_trivially_destructible_v<float4>);
  EXPECT_EQ(alignof(__half2), 4U);
  EXPECT_EQ(sizeof(float3), 12U);
  EXPECT_EQ(alignof(float3), 4U);
  EXPECT_EQ(alignof(float2), 8U);
  EXPECT_EQ(alignof(double4), 16U);
  EXPECT_EQ(sizeof(double4), 32U);
  EXPECT_EQ(alignof(double4_32a), 32U);
  EXPECT_EQ(alignof(uchar4), 4U);
  EXPECT_EQ(alignof(short2), 4U);
}

TEST(Half, ConversionsBetweenTheTypes) {
  EXPECT_EQ(static_cast<float>(__nv_bfloat16(__half(0x1p-24F))), 0x1p-24F);
  EXPECT_EQ(bits_of(__half(__nv_bfloat16(1e30F))), 0x7c00);
  const int truncated = __half(-2.75F);
  EXPECT_EQ(truncated, -2);
  EXPECT_TRUE(static_cast<bool>(__half(0.5F)));
  EXPECT_FALSE(static_cast<bool>(__half(-0.0F)));
  __half counter(1.0F);
  EXPECT_EQ(static_cast<float>(counter++), 1.0F);
  EXPECT_EQ(static_cast<float>(--counter), 1.0F);
}

}  // namespace
