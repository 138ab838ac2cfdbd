// What cuda_fp16.h and cuda_bf16.h have in common; each includes this file once, with these macros set:
// GPUEXP_H, GPUEXP_H2 (the types), GPUEXP_FORMAT, GPUEXP_FROM (__half2: of __half2int_rn), GPUEXP_TO (2half: of
// __int2half_rn), GPUEXP_NAME (half: of __halves2half2), GPUEXP_TYPE (the emulator's type code: gpuexp_type_float16).
// No include guard, on purpose.

#define GPUEXP_JOIN_(a, b) a##b
#define GPUEXP_JOIN(a, b) GPUEXP_JOIN_(a, b)
#define GPUEXP_JOIN3(a, b, c) GPUEXP_JOIN(GPUEXP_JOIN(a, b), c)
#define GPUEXP_FN GPUEXP_SHADOW_INLINE
#define GPUEXP_NAME2 GPUEXP_JOIN(GPUEXP_NAME, 2)

// ---- conversions ----

GPUEXP_FN float GPUEXP_JOIN(GPUEXP_FROM, float)(GPUEXP_H a) noexcept {
  return gpuexp_shadow::value_of(gpuexp_shadow::GPUEXP_FORMAT{}, a.__x);
}
GPUEXP_FN GPUEXP_H GPUEXP_JOIN(__double, GPUEXP_TO)(double a) noexcept { return a; }
GPUEXP_FN GPUEXP_H GPUEXP_JOIN(__float, GPUEXP_TO)(float a) noexcept { return a; }

#define GPUEXP_ROUNDED(suffix, mode)                                                                      \
  GPUEXP_FN GPUEXP_H GPUEXP_JOIN3(__float, GPUEXP_TO, suffix)(float a) noexcept {                         \
    return GPUEXP_H::from_bits(                                                                           \
        gpuexp_shadow::round_to<gpuexp_shadow::GPUEXP_FORMAT>(double(a), gpuexp_shadow::Rounding::mode)); \
  }                                                                                                       \
  GPUEXP_INTEGER(short, short, long long, suffix, mode)                                                   \
  GPUEXP_INTEGER(unsigned short, ushort, long long, suffix, mode)                                         \
  GPUEXP_INTEGER(int, int, long long, suffix, mode)                                                       \
  GPUEXP_INTEGER(unsigned int, uint, long long, suffix, mode)                                             \
  GPUEXP_INTEGER(long long, ll, long long, suffix, mode)                                                  \
  GPUEXP_INTEGER(unsigned long long, ull, unsigned long long, suffix, mode)
#define GPUEXP_INTEGER(Int, name, Wide, suffix, mode)                                     \
  GPUEXP_FN Int GPUEXP_JOIN3(GPUEXP_FROM, name, suffix)(GPUEXP_H a) noexcept {            \
    return gpuexp_shadow::to_integer<Int>(float(a), gpuexp_shadow::Rounding::mode);       \
  }                                                                                       \
  GPUEXP_FN GPUEXP_H GPUEXP_JOIN3(__##name, GPUEXP_TO, suffix)(Int a) noexcept {          \
    return GPUEXP_H::from_bits(gpuexp_shadow::from_integer<gpuexp_shadow::GPUEXP_FORMAT>( \
        static_cast<Wide>(a), gpuexp_shadow::Rounding::mode));                            \
  }
GPUEXP_ROUNDED(_rn, nearest_even)
GPUEXP_ROUNDED(_rz, to_zero)
GPUEXP_ROUNDED(_rd, down)
GPUEXP_ROUNDED(_ru, up)
#undef GPUEXP_ROUNDED
#undef GPUEXP_INTEGER
GPUEXP_FN signed char GPUEXP_JOIN(GPUEXP_FROM, char_rz)(GPUEXP_H a) noexcept {
  return gpuexp_shadow::to_integer<signed char>(float(a), gpuexp_shadow::Rounding::to_zero);
}
GPUEXP_FN unsigned char GPUEXP_JOIN(GPUEXP_FROM, uchar_rz)(GPUEXP_H a) noexcept {
  return gpuexp_shadow::to_integer<unsigned char>(float(a), gpuexp_shadow::Rounding::to_zero);
}
GPUEXP_FN short GPUEXP_JOIN3(__, GPUEXP_NAME, _as_short)(GPUEXP_H a) noexcept { return static_cast<short>(a.__x); }
GPUEXP_FN unsigned short GPUEXP_JOIN3(__, GPUEXP_NAME, _as_ushort)(GPUEXP_H a) noexcept { return a.__x; }
GPUEXP_FN GPUEXP_H GPUEXP_JOIN(__short_as_, GPUEXP_NAME)(short bits) noexcept {
  return GPUEXP_H::from_bits(static_cast<unsigned short>(bits));
}
GPUEXP_FN GPUEXP_H GPUEXP_JOIN(__ushort_as_, GPUEXP_NAME)(unsigned short bits) noexcept {
  return GPUEXP_H::from_bits(bits);
}

// ---- pairs ----

GPUEXP_FN GPUEXP_H2 GPUEXP_JOIN(make_, GPUEXP_NAME2)(GPUEXP_H x, GPUEXP_H y) noexcept { return {x, y}; }
GPUEXP_FN GPUEXP_H2 GPUEXP_JOIN(__halves2, GPUEXP_NAME2)(GPUEXP_H a, GPUEXP_H b) noexcept { return {a, b}; }
GPUEXP_FN GPUEXP_H2 GPUEXP_JOIN3(GPUEXP_FROM, GPUEXP_NAME, 2)(GPUEXP_H a) noexcept { return {a, a}; }
GPUEXP_FN GPUEXP_H2 GPUEXP_JOIN3(__float, GPUEXP_TO, 2_rn)(float a) noexcept { return {a, a}; }
GPUEXP_FN GPUEXP_H2 GPUEXP_JOIN3(__floats, GPUEXP_TO, 2_rn)(float a, float b) noexcept { return {a, b}; }
GPUEXP_FN GPUEXP_H2 GPUEXP_JOIN3(__float2, GPUEXP_TO, 2_rn)(float2 a) noexcept { return {a.x, a.y}; }
GPUEXP_FN float2 GPUEXP_JOIN3(__, GPUEXP_NAME2, 2float2)(GPUEXP_H2 a) noexcept { return {float(a.x), float(a.y)}; }
GPUEXP_FN float __low2float(GPUEXP_H2 a) noexcept { return float(a.x); }
GPUEXP_FN float __high2float(GPUEXP_H2 a) noexcept { return float(a.y); }
GPUEXP_FN GPUEXP_H GPUEXP_JOIN(__low2, GPUEXP_NAME)(GPUEXP_H2 a) noexcept { return a.x; }
GPUEXP_FN GPUEXP_H GPUEXP_JOIN(__high2, GPUEXP_NAME)(GPUEXP_H2 a) noexcept { return a.y; }
GPUEXP_FN GPUEXP_H2 GPUEXP_JOIN(__low2, GPUEXP_NAME2)(GPUEXP_H2 a) noexcept { return {a.x, a.x}; }
GPUEXP_FN GPUEXP_H2 GPUEXP_JOIN(__high2, GPUEXP_NAME2)(GPUEXP_H2 a) noexcept { return {a.y, a.y}; }
GPUEXP_FN GPUEXP_H2 GPUEXP_JOIN(__lows2, GPUEXP_NAME2)(GPUEXP_H2 a, GPUEXP_H2 b) noexcept { return {a.x, b.x}; }
GPUEXP_FN GPUEXP_H2 GPUEXP_JOIN(__highs2, GPUEXP_NAME2)(GPUEXP_H2 a, GPUEXP_H2 b) noexcept { return {a.y, b.y}; }
GPUEXP_FN GPUEXP_H2 __lowhigh2highlow(GPUEXP_H2 a) noexcept { return {a.y, a.x}; }

// ---- arithmetic ----

// The _rn forms are those that the compiler may not fuse into an fma; nothing is fused here.
#define GPUEXP_ARITHMETIC(name, pair, function)                                                      \
  GPUEXP_FN GPUEXP_H name(GPUEXP_H a, GPUEXP_H b) noexcept {                                         \
    return GPUEXP_H::from_bits(gpuexp_shadow::function<gpuexp_shadow::GPUEXP_FORMAT>(a.__x, b.__x)); \
  }                                                                                                  \
  GPUEXP_FN GPUEXP_H2 pair(GPUEXP_H2 a, GPUEXP_H2 b) noexcept { return {name(a.x, b.x), name(a.y, b.y)}; }
GPUEXP_ARITHMETIC(__hadd, __hadd2, add)
GPUEXP_ARITHMETIC(__hsub, __hsub2, subtract)
GPUEXP_ARITHMETIC(__hmul, __hmul2, multiply)
GPUEXP_ARITHMETIC(__hdiv, __h2div, divide)
GPUEXP_ARITHMETIC(__hadd_rn, __hadd2_rn, add)
GPUEXP_ARITHMETIC(__hsub_rn, __hsub2_rn, subtract)
GPUEXP_ARITHMETIC(__hmul_rn, __hmul2_rn, multiply)
GPUEXP_ARITHMETIC(__hmin, __hmin2, lesser_of)
GPUEXP_ARITHMETIC(__hmax, __hmax2, greater_of)
#undef GPUEXP_ARITHMETIC

GPUEXP_FN bool __hisnan(GPUEXP_H a) noexcept {
  return gpuexp_shadow::is_nan(a.__x, gpuexp_shadow::kInfinity<gpuexp_shadow::GPUEXP_FORMAT>);
}
GPUEXP_FN int __hisinf(GPUEXP_H a) noexcept {
  const unsigned infinity = gpuexp_shadow::kInfinity<gpuexp_shadow::GPUEXP_FORMAT>;
  return (a.__x & ~gpuexp_shadow::kSignBit) != infinity ? 0 : a.__x == infinity ? 1 : -1;
}
GPUEXP_FN GPUEXP_H __habs(GPUEXP_H a) noexcept {
  return GPUEXP_H::from_bits(
      static_cast<unsigned short>(__hisnan(a) ? gpuexp_shadow::kCanonicalNan : a.__x & ~gpuexp_shadow::kSignBit));
}
GPUEXP_FN GPUEXP_H __hneg(GPUEXP_H a) noexcept {
  return GPUEXP_H::from_bits(
      static_cast<unsigned short>(__hisnan(a) ? gpuexp_shadow::kCanonicalNan : a.__x ^ gpuexp_shadow::kSignBit));
}
GPUEXP_FN GPUEXP_H __hfma(GPUEXP_H a, GPUEXP_H b, GPUEXP_H c) noexcept {
  return GPUEXP_H::from_bits(gpuexp_shadow::fused_multiply_add<gpuexp_shadow::GPUEXP_FORMAT>(a.__x, b.__x, c.__x));
}
GPUEXP_FN GPUEXP_H __hfma_relu(GPUEXP_H a, GPUEXP_H b, GPUEXP_H c) noexcept {
  const GPUEXP_H sum = __hfma(a, b, c);
  return !__hisnan(sum) && (sum.__x & gpuexp_shadow::kSignBit) != 0 ? GPUEXP_H::from_bits(0) : sum;
}
GPUEXP_FN GPUEXP_H __hmin_nan(GPUEXP_H a, GPUEXP_H b) noexcept {
  return __hisnan(a) || __hisnan(b) ? GPUEXP_H::from_bits(gpuexp_shadow::kCanonicalNan) : __hmin(a, b);
}
GPUEXP_FN GPUEXP_H __hmax_nan(GPUEXP_H a, GPUEXP_H b) noexcept {
  return __hisnan(a) || __hisnan(b) ? GPUEXP_H::from_bits(gpuexp_shadow::kCanonicalNan) : __hmax(a, b);
}
#define GPUEXP_SATURATED(name, pair, of)                                                              \
  GPUEXP_FN GPUEXP_H name(GPUEXP_H a, GPUEXP_H b) noexcept {                                          \
    return GPUEXP_H::from_bits(gpuexp_shadow::saturated<gpuexp_shadow::GPUEXP_FORMAT>(of(a, b).__x)); \
  }                                                                                                   \
  GPUEXP_FN GPUEXP_H2 pair(GPUEXP_H2 a, GPUEXP_H2 b) noexcept { return {name(a.x, b.x), name(a.y, b.y)}; }
GPUEXP_SATURATED(__hadd_sat, __hadd2_sat, __hadd)
GPUEXP_SATURATED(__hsub_sat, __hsub2_sat, __hsub)
GPUEXP_SATURATED(__hmul_sat, __hmul2_sat, __hmul)
#undef GPUEXP_SATURATED
GPUEXP_FN GPUEXP_H __hfma_sat(GPUEXP_H a, GPUEXP_H b, GPUEXP_H c) noexcept {
  return GPUEXP_H::from_bits(gpuexp_shadow::saturated<gpuexp_shadow::GPUEXP_FORMAT>(__hfma(a, b, c).__x));
}

GPUEXP_FN GPUEXP_H2 __habs2(GPUEXP_H2 a) noexcept { return {__habs(a.x), __habs(a.y)}; }
GPUEXP_FN GPUEXP_H2 __hneg2(GPUEXP_H2 a) noexcept { return {__hneg(a.x), __hneg(a.y)}; }
GPUEXP_FN GPUEXP_H2 __hmin2_nan(GPUEXP_H2 a, GPUEXP_H2 b) noexcept {
  return {__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)};
}
GPUEXP_FN GPUEXP_H2 __hmax2_nan(GPUEXP_H2 a, GPUEXP_H2 b) noexcept {
  return {__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)};
}
GPUEXP_FN GPUEXP_H2 __hfma2(GPUEXP_H2 a, GPUEXP_H2 b, GPUEXP_H2 c) noexcept {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
GPUEXP_FN GPUEXP_H2 __hfma2_sat(GPUEXP_H2 a, GPUEXP_H2 b, GPUEXP_H2 c) noexcept {
  return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)};
}
GPUEXP_FN GPUEXP_H2 __hfma2_relu(GPUEXP_H2 a, GPUEXP_H2 b, GPUEXP_H2 c) noexcept {
  return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};
}
// Complex a * b + c, real part first.
GPUEXP_FN GPUEXP_H2 __hcmadd(GPUEXP_H2 a, GPUEXP_H2 b, GPUEXP_H2 c) noexcept {
  return {__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
}

// ---- comparisons: ordered, and (u) true also when one side is NaN ----

#define GPUEXP_COMPARISON(name, op)                              \
  GPUEXP_FN bool __h##name(GPUEXP_H a, GPUEXP_H b) noexcept {    \
    return !__hisnan(a) && !__hisnan(b) && float(a) op float(b); \
  }                                                              \
  GPUEXP_FN bool __h##name##u(GPUEXP_H a, GPUEXP_H b) noexcept { \
    return __hisnan(a) || __hisnan(b) || float(a) op float(b);   \
  }                                                              \
  GPUEXP_COMPARISON2(name)                                       \
  GPUEXP_COMPARISON2(name##u)
#define GPUEXP_COMPARISON2(name)                                                            \
  GPUEXP_FN bool __hb##name##2(GPUEXP_H2 a, GPUEXP_H2 b) noexcept {                         \
    return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                      \
  }                                                                                         \
  GPUEXP_FN GPUEXP_H2 __h##name##2(GPUEXP_H2 a, GPUEXP_H2 b) noexcept {                     \
    return {float(__h##name(a.x, b.x)), float(__h##name(a.y, b.y))};                        \
  }                                                                                         \
  GPUEXP_FN unsigned int __h##name##2_mask(GPUEXP_H2 a, GPUEXP_H2 b) noexcept {             \
    return (__h##name(a.x, b.x) ? 0xffffU : 0U) | (__h##name(a.y, b.y) ? 0xffff0000U : 0U); \
  }
GPUEXP_COMPARISON(eq, ==)
GPUEXP_COMPARISON(ne, !=)
GPUEXP_COMPARISON(lt, <)
GPUEXP_COMPARISON(le, <=)
GPUEXP_COMPARISON(gt, >)
GPUEXP_COMPARISON(ge, >=)
#undef GPUEXP_COMPARISON
#undef GPUEXP_COMPARISON2
GPUEXP_FN GPUEXP_H2 __hisnan2(GPUEXP_H2 a) noexcept { return {float(__hisnan(a.x)), float(__hisnan(a.y))}; }

// ---- operators ----

#define GPUEXP_OPERATOR(op, scalar, pair)                                                                  \
  GPUEXP_FN GPUEXP_H operator op(const GPUEXP_H& a, const GPUEXP_H& b) noexcept { return scalar(a, b); }   \
  GPUEXP_FN GPUEXP_H& operator op##=(GPUEXP_H& a, const GPUEXP_H& b) noexcept { return a = scalar(a, b); } \
  GPUEXP_FN GPUEXP_H2 operator op(const GPUEXP_H2& a, const GPUEXP_H2& b) noexcept { return pair(a, b); }  \
  GPUEXP_FN GPUEXP_H2& operator op##=(GPUEXP_H2& a, const GPUEXP_H2& b) noexcept { return a = pair(a, b); }
GPUEXP_OPERATOR(+, __hadd, __hadd2)
GPUEXP_OPERATOR(-, __hsub, __hsub2)
GPUEXP_OPERATOR(*, __hmul, __hmul2)
GPUEXP_OPERATOR(/, __hdiv, __h2div)
#undef GPUEXP_OPERATOR
#define GPUEXP_OPERATOR(op, scalar, pair)                                                            \
  GPUEXP_FN bool operator op(const GPUEXP_H& a, const GPUEXP_H& b) noexcept { return scalar(a, b); } \
  GPUEXP_FN bool operator op(const GPUEXP_H2& a, const GPUEXP_H2& b) noexcept { return pair(a, b); }
GPUEXP_OPERATOR(==, __heq, __hbeq2)
GPUEXP_OPERATOR(!=, __hneu, __hbneu2)
GPUEXP_OPERATOR(<, __hlt, __hblt2)
GPUEXP_OPERATOR(<=, __hle, __hble2)
GPUEXP_OPERATOR(>, __hgt, __hbgt2)
GPUEXP_OPERATOR(>=, __hge, __hbge2)
#undef GPUEXP_OPERATOR
GPUEXP_FN GPUEXP_H operator+(const GPUEXP_H& a) noexcept { return a; }
GPUEXP_FN GPUEXP_H operator-(const GPUEXP_H& a) noexcept { return __hneg(a); }
GPUEXP_FN GPUEXP_H2 operator+(const GPUEXP_H2& a) noexcept { return a; }
GPUEXP_FN GPUEXP_H2 operator-(const GPUEXP_H2& a) noexcept { return __hneg2(a); }
GPUEXP_FN GPUEXP_H& operator++(GPUEXP_H& a) noexcept { return a += GPUEXP_H(1.0f); }
GPUEXP_FN GPUEXP_H& operator--(GPUEXP_H& a) noexcept { return a -= GPUEXP_H(1.0f); }
GPUEXP_FN GPUEXP_H operator++(GPUEXP_H& a, int) noexcept {
  const GPUEXP_H before = a;
  ++a;
  return before;
}
GPUEXP_FN GPUEXP_H operator--(GPUEXP_H& a, int) noexcept {
  const GPUEXP_H before = a;
  --a;
  return before;
}

// ---- functions: computed in double and rounded once, so within one unit of the GPU's approximations ----

#define GPUEXP_FUNCTION(name, expression)           \
  GPUEXP_FN GPUEXP_H h##name(GPUEXP_H a) noexcept { \
    const double x = double(float(a));              \
    return GPUEXP_H(expression);                    \
  }                                                 \
  GPUEXP_FN GPUEXP_H2 h2##name(GPUEXP_H2 a) noexcept { return {h##name(a.x), h##name(a.y)}; }
GPUEXP_FUNCTION(sqrt, ::sqrt(x))
GPUEXP_FUNCTION(rsqrt, 1.0 / ::sqrt(x))
GPUEXP_FUNCTION(rcp, 1.0 / x)
GPUEXP_FUNCTION(log, ::log(x))
GPUEXP_FUNCTION(log2, ::log2(x))
GPUEXP_FUNCTION(log10, ::log10(x))
GPUEXP_FUNCTION(exp, ::exp(x))
GPUEXP_FUNCTION(exp2, ::exp2(x))
GPUEXP_FUNCTION(exp10, ::exp10(x))
GPUEXP_FUNCTION(sin, ::sin(x))
GPUEXP_FUNCTION(cos, ::cos(x))
GPUEXP_FUNCTION(tanh, ::tanh(x))
GPUEXP_FUNCTION(tanh_approx, ::tanh(x))
GPUEXP_FUNCTION(trunc, ::trunc(x))
GPUEXP_FUNCTION(ceil, ::ceil(x))
GPUEXP_FUNCTION(floor, ::floor(x))
GPUEXP_FUNCTION(rint, ::nearbyint(x))
#undef GPUEXP_FUNCTION

// ---- shuffles and atomics, in kernels ----

#if defined(GPUEXP_SIMT)
GPUEXP_FN unsigned int GPUEXP_JOIN(gpuexp_bits_of_, GPUEXP_NAME2)(GPUEXP_H2 a) noexcept {
  return a.x.__x | static_cast<unsigned int>(a.y.__x) << 16;
}
GPUEXP_FN GPUEXP_H2 GPUEXP_JOIN3(gpuexp_, GPUEXP_NAME2, _of_bits)(unsigned int bits) noexcept {
  return {GPUEXP_H::from_bits(static_cast<unsigned short>(bits)),
          GPUEXP_H::from_bits(static_cast<unsigned short>(bits >> 16))};
}
// A pair is copied by code of its own, so the general templates cannot take its bits.
#define GPUEXP_SHUFFLE(name, Argument)                                                                         \
  GPUEXP_FN GPUEXP_H2 name(unsigned int mask, GPUEXP_H2 a, Argument argument, int width = 32) noexcept {       \
    return GPUEXP_JOIN3(gpuexp_, GPUEXP_NAME2,                                                                 \
                        _of_bits)(name(mask, GPUEXP_JOIN(gpuexp_bits_of_, GPUEXP_NAME2)(a), argument, width)); \
  }
GPUEXP_SHUFFLE(__shfl_sync, int)
GPUEXP_SHUFFLE(__shfl_up_sync, unsigned int)
GPUEXP_SHUFFLE(__shfl_down_sync, unsigned int)
GPUEXP_SHUFFLE(__shfl_xor_sync, int)
#undef GPUEXP_SHUFFLE
GPUEXP_FN GPUEXP_H atomicAdd(GPUEXP_H* address, GPUEXP_H value) noexcept {
  return GPUEXP_H::from_bits(
      static_cast<unsigned short>(gpuexp_simt_atomic(address, value.__x, 0, gpuexp_atomic_add, GPUEXP_TYPE)));
}
GPUEXP_FN GPUEXP_H2 atomicAdd(GPUEXP_H2* address, GPUEXP_H2 value) noexcept {
  return GPUEXP_JOIN3(gpuexp_, GPUEXP_NAME2, _of_bits)(static_cast<unsigned int>(gpuexp_simt_atomic(
      address, GPUEXP_JOIN(gpuexp_bits_of_, GPUEXP_NAME2)(value), 0, gpuexp_atomic_add, GPUEXP_JOIN(GPUEXP_TYPE, x2))));
}
#endif

#undef GPUEXP_NAME2
#undef GPUEXP_FN
#undef GPUEXP_JOIN3
#undef GPUEXP_JOIN
#undef GPUEXP_JOIN_
#undef GPUEXP_H
#undef GPUEXP_H2
#undef GPUEXP_FORMAT
#undef GPUEXP_FROM
#undef GPUEXP_TO
#undef GPUEXP_NAME
#undef GPUEXP_TYPE
