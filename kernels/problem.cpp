// Element types, tolerances and generated inputs: what every problem shares.
#include "kernels/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "profiler/core/error.h"
#include "profiler/core/random.h"

namespace gpuexp {
namespace {

struct DTypeRow {
  DType type;
  std::string_view name;
  std::int64_t bytes;
  double unit_roundoff;
};

constexpr std::array<DTypeRow, 7> dtypes{{
    {DType::float64, "float64", 8, 0x1p-53},
    {DType::float32, "float32", 4, 0x1p-24},
    {DType::float16, "float16", 2, 0x1p-11},
    {DType::bfloat16, "bfloat16", 2, 0x1p-8},
    {DType::int64, "int64", 8, 0.0},
    {DType::int32, "int32", 4, 0.0},
    {DType::uint8, "uint8", 1, 0.0},
}};

const DTypeRow& row_of(DType type) {
  return *std::find_if(dtypes.begin(), dtypes.end(), [&](const DTypeRow& row) { return row.type == type; });
}

// Nearest value, ties to even, of a binary format with `precision` significant bits, least normal exponent
// `min_exponent` and greatest finite value `largest`.
double round_to_format(double value, int precision, int min_exponent, double largest) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), min_exponent);
  const double quantum = std::ldexp(1.0, exponent - precision + 1);
  const double rounded = std::nearbyint(value / quantum) * quantum;  // both exact: quantum is a power of two
  return std::abs(rounded) > largest ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded;
}

template <class Integer>
double round_to_integer(double value) {
  if (std::isnan(value)) return value;
  return std::clamp(std::nearbyint(value), static_cast<double>(std::numeric_limits<Integer>::min()),
                    static_cast<double>(std::numeric_limits<Integer>::max()));
}

std::uint64_t sum_of_bytes(const std::vector<BufferSpec>& buffers, Role not_this) {
  std::uint64_t total = 0;
  for (const BufferSpec& buffer : buffers) {
    if (buffer.role != not_this) total += static_cast<std::uint64_t>(buffer.elements * size_bytes(buffer.dtype));
  }
  return total;
}

}  // namespace

std::int64_t size_bytes(DType type) { return row_of(type).bytes; }
std::string_view to_text(DType type) { return row_of(type).name; }
double unit_roundoff(DType type) { return row_of(type).unit_roundoff; }

DType dtype_from_text(std::string_view text) {
  std::string accepted;
  for (const DTypeRow& row : dtypes) {
    if (row.name == text) return row.type;
    accepted += fmt::format("{}{}", accepted.empty() ? "" : ", ", row.name);
  }
  throw Error(ExitCode::usage, fmt::format("unknown dtype '{}'; accepted: {}", text, accepted));
}

double round_to(DType type, double value) {
  switch (type) {
    case DType::float64:
      return value;
    case DType::float32:
      return static_cast<double>(static_cast<float>(value));
    case DType::float16:
      return round_to_format(value, 11, -14, 65504.0);
    case DType::bfloat16:
      return round_to_format(value, 8, -126, 0x1.fep127);
    case DType::int64:
      return round_to_integer<std::int64_t>(value);
    case DType::int32:
      return round_to_integer<std::int32_t>(value);
    case DType::uint8:
      return round_to_integer<std::uint8_t>(value);
  }
  return value;
}

std::uint64_t Workload::compulsory_load_bytes() const { return sum_of_bytes(buffers(), Role::out); }
std::uint64_t Workload::compulsory_store_bytes() const { return sum_of_bytes(buffers(), Role::in); }

std::int64_t Workload::host_value(std::string_view list, std::int64_t index) const {
  throw Error(ExitCode::usage, fmt::format("the problem has no list '{}' (entry {} was asked for)", list, index));
}

DType Workload::accumulator() const {
  for (const BufferSpec& buffer : buffers()) {
    if (buffer.role != Role::in && buffer.dtype == DType::float64) return DType::float64;
  }
  return DType::float32;
}

double tolerance(const Expected& expected, DType accumulator, DType output) {
  return static_cast<double>(expected.terms + 2) * unit_roundoff(accumulator) * expected.magnitude +
         unit_roundoff(output) * std::abs(expected.value);
}

double uniform_input(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return 2.0 * random_unit(random_bits(seed, stream, index)) - 1.0;
}

}  // namespace gpuexp
