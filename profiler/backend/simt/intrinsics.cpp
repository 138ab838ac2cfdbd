// Barriers, warp intrinsics and atomics as kernels call them (shadow/gpuexp_simt.h). They run on the calling lane's
// fiber and note what the lane wants; the block runner decides when it happens.
#include <bit>
#include <cstdint>
#include <cstring>

#include "profiler/backend/simt/block_runner.h"
#include "profiler/backend/simt/lane.h"
#include "profiler/backend/simt/shadow/gpuexp_simt.h"

namespace gpuexp::simt {

void record_access(const void* pointer, const void* return_address, AccessKind op, int width);  // hooks.cpp

namespace {

EventCode code_at(const void* return_address, std::uint32_t kind) {
  return static_cast<EventCode>((reinterpret_cast<std::uint64_t>(return_address) - hot.kernel) << kKindBits) | kind;
}

// Waits for the runner to let the lane go, then records the event: lanes that go together issue together.
inline __attribute__((always_inline)) void wait(LaneState why, EventCode code) {
  Lane& lane = *hot.lane;
  lane.wait_code = code;
  switch_to_scheduler(why);
  if (hot.code_next >= hot.code_limit + kTraceSlack - 1) switch_to_scheduler(LaneState::trace_full);
  *hot.code_next++ = code;
  if (has_address(code)) *hot.address_next++ = detail_of(lane).op.mask;
}

std::uint64_t warp_op(const WarpOp& op, const void* return_address) {
  if (hot.lane == nullptr) return 0;
  Lane& lane = *hot.lane;
  const EventCode code = code_at(return_address, op.kind == WarpOpKind::sync ? kSyncWarpEvent : kWarpEvent);
  const std::uint32_t self = lane.thread % kWarpLanes;
  if (op.kind != WarpOpKind::active_mask && (op.mask >> self & 1U) == 0) {
    stop_lane({FaultKind::inactive_lane, code, self, nullptr, return_address});
  }
  detail_of(lane).op = op;
  wait(LaneState::warp_op, code);
  return detail_of(lane).op.result;
}

// IEEE binary16 and bfloat16 as float and back, to nearest even; kernels' own half types live in kernel objects.
float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16U;
  std::uint32_t exponent = (half >> 10U) & 0x1fU;
  std::uint32_t mantissa = half & 0x3ffU;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000U | mantissa << 13U);
  if (exponent == 0) {
    const float value = static_cast<float>(mantissa) * 0x1p-24F;
    return sign != 0 ? -value : value;
  }
  exponent += 112;
  return std::bit_cast<float>(sign | exponent << 23U | mantissa << 13U);
}

std::uint16_t float_to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16U & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7fffU);
  if (magnitude >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (magnitude < 0x38800000U) {  // subnormal: adding 0.5 leaves the rounded mantissa in the low bits
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000U));
  }
  const std::uint32_t rounded = magnitude + 0xfffU + (magnitude >> 13U & 1U) - (112U << 23U);
  return static_cast<std::uint16_t>(sign | rounded >> 13U);
}

float bfloat_to_float(std::uint16_t value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16U); }

std::uint16_t float_to_bfloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return 0x7fff;
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U);
}

// The operation on integers of one width.
template <class T>
T combine(int operation, T old, T operand, T compare) {
  switch (operation) {
    case gpuexp_atomic_add:
      return static_cast<T>(static_cast<std::uint64_t>(old) + static_cast<std::uint64_t>(operand));
    case gpuexp_atomic_min:
      return operand < old ? operand : old;
    case gpuexp_atomic_max:
      return old < operand ? operand : old;
    case gpuexp_atomic_and:
      return old & operand;
    case gpuexp_atomic_or:
      return old | operand;
    case gpuexp_atomic_xor:
      return old ^ operand;
    case gpuexp_atomic_compare:
      return old == compare ? operand : old;
    case gpuexp_atomic_increment:
      return old >= operand ? T{0} : static_cast<T>(old + 1);
    case gpuexp_atomic_decrement:
      return old == 0 || old > operand ? operand : static_cast<T>(old - 1);
    default:
      return operand;  // exchange
  }
}

template <class T>
std::uint64_t on_integers(int operation, std::uint64_t old, std::uint64_t operand, std::uint64_t compare) {
  const T result = combine(operation, static_cast<T>(old), static_cast<T>(operand), static_cast<T>(compare));
  return static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<T>>(result));
}

// One addition, or an exchange, of 16-bit floating-point values.
std::uint16_t on_half(int operation, std::uint16_t old, std::uint16_t operand, bool brain) {
  if (operation != gpuexp_atomic_add) return operand;
  return brain ? float_to_bfloat(bfloat_to_float(old) + bfloat_to_float(operand))
               : float_to_half(half_to_float(old) + half_to_float(operand));
}

std::uint64_t on_pair(int operation, std::uint64_t old, std::uint64_t operand, bool brain) {
  const std::uint16_t low =
      on_half(operation, static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(operand), brain);
  const std::uint16_t high =
      on_half(operation, static_cast<std::uint16_t>(old >> 16U), static_cast<std::uint16_t>(operand >> 16U), brain);
  return static_cast<std::uint64_t>(high) << 16U | low;
}

std::uint64_t updated(int operation, int type, std::uint64_t old, std::uint64_t operand, std::uint64_t compare) {
  const bool adds = operation == gpuexp_atomic_add;
  switch (type) {
    case gpuexp_type_int32:
      return on_integers<std::int32_t>(operation, old, operand, compare);
    case gpuexp_type_uint32:
      return on_integers<std::uint32_t>(operation, old, operand, compare);
    case gpuexp_type_int64:
      return on_integers<std::int64_t>(operation, old, operand, compare);
    case gpuexp_type_uint16:
      return on_integers<std::uint16_t>(operation, old, operand, compare);
    case gpuexp_type_float32:
      if (!adds) return operand;
      return std::bit_cast<std::uint32_t>(std::bit_cast<float>(static_cast<std::uint32_t>(old)) +
                                          std::bit_cast<float>(static_cast<std::uint32_t>(operand)));
    case gpuexp_type_float64:
      if (!adds) return operand;
      return std::bit_cast<std::uint64_t>(std::bit_cast<double>(old) + std::bit_cast<double>(operand));
    case gpuexp_type_float16:
      return on_half(operation, static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(operand), false);
    case gpuexp_type_bfloat16:
      return on_half(operation, static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(operand), true);
    case gpuexp_type_float16x2:
      return on_pair(operation, old, operand, false);
    case gpuexp_type_bfloat16x2:
      return on_pair(operation, old, operand, true);
    default:
      return on_integers<std::uint64_t>(operation, old, operand, compare);
  }
}

int width_of_type(int type) {
  switch (type) {
    case gpuexp_type_int64:
    case gpuexp_type_uint64:
    case gpuexp_type_float64:
      return 8;
    case gpuexp_type_uint16:
    case gpuexp_type_float16:
    case gpuexp_type_bfloat16:
      return 2;
    default:
      return 4;
  }
}

}  // namespace
}  // namespace gpuexp::simt

extern "C" {

using namespace gpuexp::simt;  // NOLINT(google-build-using-namespace): these functions are of that namespace but for
                               // their names

int gpuexp_simt_barrier(int kind, int predicate) noexcept {
  if (hot.lane == nullptr) return 0;
  hot.lane->predicate = predicate != 0;
  wait(LaneState::barrier, code_at(__builtin_return_address(0), kBarrierEvent));
  switch (kind) {
    case gpuexp_barrier_count:
      return hot.barrier.count;
    case gpuexp_barrier_and:
      return hot.barrier.count == hot.barrier.waiting ? 1 : 0;
    case gpuexp_barrier_or:
      return hot.barrier.count != 0 ? 1 : 0;
    default:
      return 0;
  }
}

unsigned long long gpuexp_simt_shuffle(unsigned mask, unsigned long long bits, int kind, unsigned argument,
                                       int width) noexcept {
  const void* pc = __builtin_return_address(0);
  const bool valid = width >= 1 && width <= kWarpLanes && (width & (width - 1)) == 0;
  if (!valid && hot.lane != nullptr) {
    stop_lane({FaultKind::refused, 0, 0, "shuffles with a width that is not 1, 2, 4, 8, 16 or 32", pc});
  }
  return warp_op({WarpOpKind::shuffle, kind, mask, bits, argument, width, 0}, pc);
}

unsigned gpuexp_simt_vote(unsigned mask, int predicate, int kind) noexcept {
  const auto bit = static_cast<std::uint64_t>(predicate != 0);
  return static_cast<unsigned>(
      warp_op({WarpOpKind::vote, kind, mask, bit, 0, kWarpLanes, 0}, __builtin_return_address(0)));
}

unsigned gpuexp_simt_reduce(unsigned mask, unsigned bits, int operation, int is_signed) noexcept {
  return static_cast<unsigned>(
      warp_op({WarpOpKind::reduce, operation, mask, bits, static_cast<std::uint32_t>(is_signed), kWarpLanes, 0},
              __builtin_return_address(0)));
}

unsigned gpuexp_simt_match(unsigned mask, unsigned long long bits, int all) noexcept {
  return static_cast<unsigned>(
      warp_op({WarpOpKind::match, all, mask, bits, 0, kWarpLanes, 0}, __builtin_return_address(0)));
}

unsigned gpuexp_simt_activemask() noexcept {
  return static_cast<unsigned>(
      warp_op({WarpOpKind::active_mask, 0, 0, 0, 0, kWarpLanes, 0}, __builtin_return_address(0)));
}

void gpuexp_simt_syncwarp(unsigned mask) noexcept {
  warp_op({WarpOpKind::sync, 0, mask, 0, 0, kWarpLanes, 0}, __builtin_return_address(0));
}

unsigned long long gpuexp_simt_atomic(void* address, unsigned long long operand, unsigned long long compare,
                                      int operation, int type) noexcept {
  if (hot.lane == nullptr) return 0;
  const int width = width_of_type(type);
  record_access(address, __builtin_return_address(0), AccessKind::atomic, width);
  if (reinterpret_cast<std::uint64_t>(address) - hot.arena_base < hot.arena_size) hot.runner->order_atomics();
  std::uint64_t old = 0;
  std::memcpy(&old, address, static_cast<std::size_t>(width));  // the host is little-endian
  const std::uint64_t result = updated(operation, type, old, operand, compare);
  std::memcpy(address, &result, static_cast<std::size_t>(width));
  return old;
}

}  // extern "C"
