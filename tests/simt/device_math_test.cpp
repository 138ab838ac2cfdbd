// Device math of the shadow headers: the intrinsics that are exact on the GPU are exact here.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <tuple>

// The header is made for kernel objects, which are compiled without warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#if defined(__clang__)
#pragma GCC diagnostic ignored "-Wpragma-clang-attribute"
#endif
#include "profiler/backend/simt/shadow/device_math.h"
#pragma GCC diagnostic pop

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(DeviceMath, BitIntrinsics) {
  EXPECT_EQ(__popc(0xf0f0f0f0U), 16);
  EXPECT_EQ(__popcll(~0ULL), 64);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__clz(-1), 0);
  EXPECT_EQ(__clzll(0), 64);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(__ffsll(1LL << 40), 41);
  EXPECT_EQ(__brev(1U), 0x80000000U);
  EXPECT_EQ(__brev(0x12345678U), 0x1e6a2c48U);
  EXPECT_EQ(__brevll(1ULL), 1ULL << 63);
  EXPECT_EQ(__byte_perm(0x33221100U, 0x77665544U, 0x7410U), 0x77441100U);
  EXPECT_EQ(__funnelshift_l(0x80000000U, 1U, 1U), 3U);
  EXPECT_EQ(__funnelshift_r(0x80000000U, 1U, 31U), 3U);
  EXPECT_EQ(__funnelshift_l(7U, 9U, 32U), 9U);
  EXPECT_EQ(__funnelshift_lc(7U, 9U, 40U), 7U);
  EXPECT_EQ(__funnelshift_rc(7U, 9U, 40U), 9U);
}

TEST(DeviceMath, IntegerProducts) {
  EXPECT_EQ(__mul24(-3, 5), -15);
  EXPECT_EQ(__mul24(0x01000002, 3), 6);
  EXPECT_EQ(__mul24(0x00ffffff, 2), -2);
  EXPECT_EQ(__umul24(0xff000003U, 4U), 12U);
  EXPECT_EQ(__mulhi(INT32_MIN, 2), -1);
  EXPECT_EQ(__umulhi(0x80000000U, 2U), 1U);
  EXPECT_EQ(__umul64hi(1ULL << 63, 4ULL), 2ULL);
  EXPECT_EQ(__mul64hi(-1LL, 1LL), -1LL);
  EXPECT_EQ(__sad(INT32_MIN, INT32_MAX, 1U), 0U);
  EXPECT_EQ(__hadd(INT32_MAX, INT32_MAX), INT32_MAX);
  EXPECT_EQ(__rhadd(1, 2), 2);
  EXPECT_EQ(__uhadd(UINT32_MAX, UINT32_MAX), UINT32_MAX);
  EXPECT_EQ(__dp4a(0x01ff0203, 0x01010101, 10), 10 + 1 - 1 + 2 + 3);
  EXPECT_EQ(__dp4a(0x01ff0203U, 0x01010101U, 10U), 10U + 1 + 255 + 2 + 3);
}

TEST(DeviceMath, MinimumAndMaximum) {
  EXPECT_EQ(min(-1, 1), -1);
  EXPECT_EQ(max(-1, 1U), UINT32_MAX);  // as on the GPU, a signed beside an unsigned is converted
  EXPECT_EQ(max(3LL, 5LL), 5LL);
  EXPECT_EQ(min(1.0F, kNan), 1.0F);
  EXPECT_EQ(max(kNan, 2.0), 2.0);
  EXPECT_EQ(max(1.0F, 2.0), 2.0);
}

TEST(DeviceMath, FloatsToIntegersSaturate) {
  EXPECT_EQ(__float2int_rn(2.5F), 2);
  EXPECT_EQ(__float2int_rn(3.5F), 4);
  EXPECT_EQ(__float2int_ru(-2.5F), -2);
  EXPECT_EQ(__float2int_rd(-2.5F), -3);
  EXPECT_EQ(__float2int_rz(-2.9F), -2);
  EXPECT_EQ(__float2int_rz(3e9F), INT32_MAX);
  EXPECT_EQ(__float2int_rz(-kInfinity), INT32_MIN);
  EXPECT_EQ(__float2int_rn(kNan), 0);
  EXPECT_EQ(__float2uint_rz(-1.0F), 0U);
  EXPECT_EQ(__float2uint_rz(5e9F), UINT32_MAX);
  EXPECT_EQ(__float2ll_rn(kNan), INT64_MIN);
  EXPECT_EQ(__float2ull_rz(kInfinity), UINT64_MAX);
  EXPECT_EQ(__double2int_rn(std::nan("")), INT32_MIN);
  EXPECT_EQ(__double2ll_rd(-0.5), -1);
}

TEST(DeviceMath, DirectedRounding) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const float a =
        std::ldexp(1.0F + static_cast<float>(random() % 8388608) / 8388608.0F, static_cast<int>(random() % 20));
    const float b =
        std::ldexp(1.0F + static_cast<float>(random() % 8388608) / 8388608.0F, static_cast<int>(random() % 20));
    const double sum = static_cast<double>(a) + b, product = static_cast<double>(a) * b;  // both exact
    for (const auto& [exact, down, up, zero, nearest] :
         {std::tuple{sum, __fadd_rd(a, b), __fadd_ru(a, b), __fadd_rz(a, b), __fadd_rn(a, b)},
          std::tuple{product, __fmul_rd(a, b), __fmul_ru(a, b), __fmul_rz(a, b), __fmul_rn(a, b)},
          std::tuple{-product, __fmul_rd(-a, b), __fmul_ru(-a, b), __fmul_rz(-a, b), __fmul_rn(-a, b)}}) {
      const float rounded = static_cast<float>(exact);
      ASSERT_EQ(nearest, rounded);
      ASSERT_EQ(down, rounded > exact ? std::nextafter(rounded, -kInfinity) : rounded);
      ASSERT_EQ(up, rounded < exact ? std::nextafter(rounded, kInfinity) : rounded);
      ASSERT_EQ(zero, exact < 0 ? up : down);
    }
  }
  EXPECT_LT(__frcp_rd(3.0F), __frcp_ru(3.0F));
  EXPECT_LT(__fsqrt_rd(2.0F), __fsqrt_ru(2.0F));
  EXPECT_LT(__dadd_rd(1.0, 0x1p-60), __dadd_ru(1.0, 0x1p-60));
  EXPECT_EQ(__fmaf_ru(1.0F, 1.0F, 0x1p-40F), std::nextafter(1.0F, 2.0F));
  EXPECT_EQ(__int2float_rd(INT32_MAX), 2147483520.0F);
  EXPECT_EQ(__int2float_ru(INT32_MAX), 2147483648.0F);
  EXPECT_EQ(__double2float_rz(1.0 + 0x1p-24), 1.0F);
  EXPECT_EQ(1.0F + 0x1p-24F, 1.0F) << "the rounding mode is put back";
}

TEST(DeviceMath, Bits) {
  EXPECT_EQ(__float_as_int(-0.0F), INT32_MIN);
  EXPECT_EQ(__uint_as_float(0x3f800000U), 1.0F);
  EXPECT_EQ(__hiloint2double(__double2hiint(-1.75), __double2loint(-1.75)), -1.75);
  EXPECT_EQ(__longlong_as_double(__double_as_longlong(0.1)), 0.1);
}

TEST(DeviceMath, Approximations) {
  EXPECT_EQ(rsqrtf(4.0F), 0.5F);
  EXPECT_EQ(__saturatef(-1.0F), 0.0F);
  EXPECT_EQ(__saturatef(2.0F), 1.0F);
  EXPECT_EQ(__saturatef(kNan), 0.0F);
  EXPECT_EQ(__fdividef(1.0F, 0x1p127F), 0.0F);  // the GPU's reciprocal underflows
  EXPECT_EQ(__fdividef(6.0F, 3.0F), 2.0F);
  EXPECT_EQ(sinpif(1e6F), 0.0F);
  EXPECT_NEAR(cospi(1.0 / 3), 0.5, 1e-15);
  EXPECT_NEAR(__powf(2.0F, 10.0F), 1024.0F, 1e-3F);
  EXPECT_NEAR(normcdff(0.0F), 0.5F, 1e-7F);
  EXPECT_EQ(norm3df(2.0F, 3.0F, 6.0F), 7.0F);
}

}  // namespace
