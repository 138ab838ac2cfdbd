// The memory model: distinct sectors and lines, and the fullest bank of each phase.
#include "profiler/backend/simt/memory_model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace gpuexp::simt {
namespace {

constexpr std::uint32_t kAllLanes = 0xffffffff;

// The active lanes' addresses, side by side; where the order of lanes does not matter, gaps do not either.
struct Packed {
  std::array<std::uint64_t, kWarpLanes> storage;
  const std::uint64_t* first;
  int count;
};

void pack(LaneAddresses addresses, std::uint32_t active, Packed& packed) {
  if (active == kAllLanes) {
    packed.first = addresses.data();
    packed.count = kWarpLanes;
    return;
  }
  packed.first = packed.storage.data();
  packed.count = 0;
  for (std::uint32_t rest = active; rest != 0; rest &= rest - 1)
    packed.storage[static_cast<std::size_t>(packed.count++)] =
        addresses[static_cast<std::size_t>(std::countr_zero(rest))];
}

// True when every address is the one before plus `stride` (modulo 2^64). Without an exit in the loop it vectorises.
bool has_constant_stride(const std::uint64_t* address, int count, std::uint64_t stride) {
  std::uint64_t difference = 0;
  for (int i = 1; i < count; ++i) difference |= (address[i] - address[i - 1]) ^ stride;
  return difference == 0;
}

std::uint32_t ideal_sectors(std::uint32_t distinct_addresses, int width_bytes) {
  const auto bytes = distinct_addresses * static_cast<std::uint32_t>(width_bytes);
  return (bytes + kSectorBytes - 1) / kSectorBytes;
}

// Strides beyond it take the general path: below it, 31 steps are far from wrapping around.
constexpr std::uint64_t kMaxFastStride = std::uint64_t{1} << 40;

// Addresses first, first + stride, ..., last; stride > 0. While a step is shorter than a unit, no unit is left out.
std::uint32_t units_of_stride(std::uint64_t first, std::uint64_t last, int count, std::uint64_t stride, int unit) {
  const auto size = static_cast<std::uint64_t>(unit);
  if (stride >= size) return static_cast<std::uint32_t>(count);
  return static_cast<std::uint32_t>(last / size - first / size + 1);
}

// One pass over the addresses: how often each differs from the one before it, by more than what units of a size hide.
// These are the counts of distinct units when the addresses are sorted.
struct Steps {
  std::uint32_t addresses = 1, sectors = 1, lines = 1;
  bool sorted = true;
};

Steps count_steps(const std::uint64_t* address, int count) {
  Steps steps;
  for (int i = 1; i < count; ++i) {
    const std::uint64_t changed = address[i] ^ address[i - 1];
    steps.addresses += changed != 0;
    steps.sectors += changed >= kSectorBytes;  // a bit above those within a sector
    steps.lines += changed >= kLineBytes;
    steps.sorted &= address[i - 1] <= address[i];
  }
  return steps;
}

// gcd(stride, 32).
std::uint32_t gcd_with_banks(std::uint64_t stride_words) {
  return 1U << std::min(std::countr_zero(stride_words), std::countr_zero(static_cast<unsigned>(kBanks)));
}

// Even lanes of the warp, resp. lanes 0, 1, 4, 5, ...: the lower lanes of the pairs (n, n^1), resp. (n, n^2).
constexpr std::uint32_t kLowerOfPairs1 = 0x55555555;
constexpr std::uint32_t kLowerOfPairs2 = 0x33333333;

bool pairs_agree(LaneAddresses addresses, std::uint32_t active, int distance, std::uint32_t lower) {
  // Pairs with an inactive lane agree anyway.
  for (std::uint32_t both = active & (active >> distance) & lower; both != 0; both &= both - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(both));
    if (addresses[lane] != addresses[lane + static_cast<std::size_t>(distance)]) return false;
  }
  return true;
}

bool merges(LaneAddresses addresses, std::uint32_t active) {
  return pairs_agree(addresses, active, 1, kLowerOfPairs1) || pairs_agree(addresses, active, 2, kLowerOfPairs2);
}

// The units that a phase's lanes access, in order of lanes, each run of equal ones once. A unit is what one lane
// accesses, but at least one bank's word.
struct Units {
  std::array<std::uint64_t, kWarpLanes> unit;
  std::uint32_t count;
};

void collect_units(LaneAddresses addresses, std::uint32_t lanes, int unit_shift, Units& units) {
  std::uint32_t count = 0;
  std::uint64_t previous = ~std::uint64_t{0};  // no unit: a unit is an address without its low bits
  const auto add = [&](std::uint64_t address) {
    const std::uint64_t unit = address >> unit_shift;
    count += unit != previous;
    units.unit[count - 1] = unit;
    previous = unit;
  };
  if (lanes == kAllLanes) {
    for (const std::uint64_t address : addresses) add(address);
  } else {
    for (; lanes != 0; lanes &= lanes - 1) add(addresses[static_cast<std::size_t>(std::countr_zero(lanes))]);
  }
  units.count = count;
}

// Distinct units in the fullest group of banks. There are `groups` units in a row of all banks, so unit u lies in group
// u % groups, and, being aligned, two units of one group meet in every bank of it.
std::uint32_t fullest_group(const Units& units, std::uint32_t groups) {
  std::uint32_t used = 0;
  for (std::uint32_t i = 0; i < units.count; ++i) used |= 1U << (units.unit[i] & (groups - 1));
  if (static_cast<std::uint32_t>(std::popcount(used)) == units.count) return 1;  // every unit has a group of its own

  std::array<std::uint8_t, kBanks> fill{};
  std::array<std::uint8_t, kBanks> newest{};      // per group: index of its last unit
  std::array<std::uint8_t, kWarpLanes> before{};  // per unit: the one before it in its group
  std::uint8_t fullest = 0;
  for (std::uint8_t i = 0; i < units.count; ++i) {
    const auto group = static_cast<std::size_t>(units.unit[i] & (groups - 1));
    std::uint8_t at = newest[group];
    std::uint8_t left = fill[group];
    while (left != 0 && units.unit[at] != units.unit[i]) {
      at = before[at];
      --left;
    }
    if (left != 0) continue;  // another lane of the phase has it: a broadcast
    before[i] = newest[group];
    newest[group] = i;
    fullest = std::max(fullest, ++fill[group]);
  }
  return fullest;
}

}  // namespace

GlobalCost global_cost(LaneAddresses addresses, std::uint32_t active, int width_bytes) {
  if (active == 0) return {};
  Packed packed;
  pack(addresses, active, packed);
  const std::uint64_t* address = packed.first;
  const int count = packed.count;

  std::uint64_t first = address[0];
  std::uint64_t last = address[count - 1];
  std::uint64_t stride = count > 1 ? address[1] - first : 0;
  if (has_constant_stride(address, count, stride)) {
    if (stride == 0) return {1, 1, 1};
    if (first > last) {  // downwards, or wrapped around
      std::swap(first, last);
      stride = 0 - stride;
    }
    if (stride < kMaxFastStride)
      return {units_of_stride(first, last, count, stride, kSectorBytes),
              units_of_stride(first, last, count, stride, kLineBytes),
              ideal_sectors(static_cast<std::uint32_t>(count), width_bytes)};
  }

  Steps steps = count_steps(address, count);
  if (!steps.sorted) {
    std::array<std::uint64_t, kWarpLanes> sorted;
    std::copy_n(address, count, sorted.begin());
    std::sort(sorted.begin(), sorted.begin() + count);
    steps = count_steps(sorted.data(), count);
  }
  return {steps.sectors, steps.lines, ideal_sectors(steps.addresses, width_bytes)};
}

SharedCost shared_cost(LaneAddresses addresses, std::uint32_t active, int width_bytes, AccessKind kind) {
  if (active == 0) return {};
  const int unit_bytes = std::max(width_bytes, kBankBytes);
  const auto words = static_cast<std::uint32_t>(unit_bytes / kBankBytes);

  if (active == kAllLanes) {
    const std::uint64_t stride = addresses[1] - addresses[0];
    const bool whole_words = stride % kBankBytes == 0 && addresses[0] % kBankBytes == 0;
    const bool moderate = stride + kMaxFastStride < 2 * kMaxFastStride;  // in either direction
    if (whole_words && moderate && has_constant_stride(addresses.data(), kWarpLanes, stride)) {
      if (stride == 0) {
        const std::uint32_t phases = kind == AccessKind::load ? std::max(words / 2, 1U) : words;
        return {phases, phases};
      }
      // All words differ, so loads do not merge, and stride s words leaves 32 / gcd(s, 32) banks in use.
      return {std::max(words, gcd_with_banks(stride / kBankBytes)), words};
    }
  }

  std::uint32_t lanes_per_phase = kWarpLanes / words;
  if (words > 1 && kind == AccessKind::load && merges(addresses, active)) lanes_per_phase *= 2;
  const std::uint32_t groups = kBanks / words;
  const int unit_shift = std::countr_zero(static_cast<unsigned>(unit_bytes));
  SharedCost cost;
  Units units;
  for (std::uint32_t begin = 0; begin < kWarpLanes; begin += lanes_per_phase) {
    const std::uint32_t lanes =
        active & ((lanes_per_phase == kWarpLanes ? kAllLanes : (1U << lanes_per_phase) - 1) << begin);
    if (lanes == 0) continue;
    ++cost.ideal;
    collect_units(addresses, lanes, unit_shift, units);
    cost.wavefronts += fullest_group(units, groups);
  }
  return cost;
}

}  // namespace gpuexp::simt
