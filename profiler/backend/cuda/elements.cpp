// Conversions between float64 and the bits of each element type, and loops over them.
#include "profiler/backend/cuda/elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace gpuexp::cuda {
namespace {

template <class T>
void put(std::byte* buffer, std::int64_t i, T value) {
  std::memcpy(buffer + i * static_cast<std::int64_t>(sizeof value), &value, sizeof value);
}

template <class T>
T get(const std::byte* buffer, std::int64_t i) {
  T value;
  std::memcpy(&value, buffer + i * static_cast<std::int64_t>(sizeof value), sizeof value);
  return value;
}

// bfloat16 is the upper half of a float32.
std::uint16_t bfloat16_bits(double value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16U);
}
double from_bfloat16(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U));
}

// IEEE binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits.
std::uint16_t float16_bits(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000U : 0U);
  const double size = std::abs(value);
  if (std::isnan(value)) return 0x7e00U;
  if (std::isinf(size)) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (size == 0) return sign;
  constexpr int bias = 15, fraction_bits = 10, least_normal = -14;
  const int exponent = std::max(std::ilogb(size), least_normal);
  // Units of the last place; the implicit bit adds one to the exponent field, and is absent below the normals.
  const auto units = static_cast<std::uint32_t>(std::lround(std::ldexp(size, fraction_bits - exponent)));
  const std::uint32_t field = static_cast<std::uint32_t>(exponent + bias - 1) << static_cast<unsigned>(fraction_bits);
  return static_cast<std::uint16_t>(sign | (field + units));
}
double from_float16(std::uint16_t bits) {
  const unsigned exponent = (bits >> 10U) & 0x1fU, fraction = bits & 0x3ffU;
  double size = 0;
  if (exponent == 0x1fU) {
    size = fraction == 0 ? HUGE_VAL : std::nan("");
  } else if (exponent == 0) {
    size = std::ldexp(fraction, -24);
  } else {
    size = std::ldexp(1024U + fraction, static_cast<int>(exponent) - 25);
  }
  return (bits & 0x8000U) != 0 ? -size : size;
}

}  // namespace

void store_element(DType type, std::byte* buffer, std::int64_t i, double value) {
  switch (type) {
    case DType::float64:
      return put(buffer, i, value);
    case DType::float32:
      return put(buffer, i, static_cast<float>(value));
    case DType::float16:
      return put(buffer, i, float16_bits(value));
    case DType::bfloat16:
      return put(buffer, i, bfloat16_bits(value));
    case DType::int64:
      return put(buffer, i, static_cast<std::int64_t>(value));
    case DType::int32:
      return put(buffer, i, static_cast<std::int32_t>(value));
    case DType::uint8:
      return put(buffer, i, static_cast<std::uint8_t>(value));
  }
}

double load_element(DType type, const std::byte* buffer, std::int64_t i) {
  switch (type) {
    case DType::float64:
      return get<double>(buffer, i);
    case DType::float32:
      return static_cast<double>(get<float>(buffer, i));
    case DType::float16:
      return from_float16(get<std::uint16_t>(buffer, i));
    case DType::bfloat16:
      return from_bfloat16(get<std::uint16_t>(buffer, i));
    case DType::int64:
      return static_cast<double>(get<std::int64_t>(buffer, i));
    case DType::int32:
      return static_cast<double>(get<std::int32_t>(buffer, i));
    case DType::uint8:
      return static_cast<double>(get<std::uint8_t>(buffer, i));
  }
  return std::nan("");
}

void in_parallel(std::int64_t count, int threads, const std::function<void(std::int64_t, std::int64_t)>& work) {
  constexpr std::int64_t least_per_thread = 4096;  // below it a thread costs more than it saves
  const std::int64_t parts = std::clamp<std::int64_t>(count / least_per_thread, 1, std::max(threads, 1));
  if (parts == 1) return work(0, count);
  std::exception_ptr failure;
  std::mutex guard;
  {
    std::vector<std::jthread> running;
    const std::int64_t size = count / parts, more = count % parts;  // the first `more` parts have one element more
    std::int64_t first = 0;
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t last = first + size + (part < more ? 1 : 0);
      running.emplace_back([&, first, last] {
        try {
          work(first, last);
        } catch (...) {
          const std::scoped_lock lock(guard);
          failure = std::current_exception();
        }
      });
      first = last;
    }
  }
  if (failure) std::rethrow_exception(failure);
}

void fill_input(const Workload& workload, std::size_t buffer, std::span<std::byte> bytes, int threads) {
  const BufferSpec& spec = workload.buffers()[buffer];
  in_parallel(spec.elements, threads, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) store_element(spec.dtype, bytes.data(), i, workload.input(buffer, i));
  });
}

}  // namespace gpuexp::cuda
