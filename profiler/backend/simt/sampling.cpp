// Stratified sampling of a grid's blocks.
#include "profiler/backend/simt/sampling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

namespace gpuexp::simt {
namespace {

__extension__ typedef unsigned __int128 Wide;  // products of two 64-bit counts

// First, interior and last blocks of an axis, as far as it has them.
std::vector<std::pair<std::int64_t, std::int64_t>> parts_of(std::int64_t extent) {
  if (extent == 1) return {{0, 1}};
  if (extent == 2) return {{0, 1}, {1, 1}};
  return {{0, 1}, {1, extent - 2}, {extent - 1, 1}};
}

std::uint64_t linear(const Stratum& stratum, const Dim3& grid, std::uint64_t i) {
  const auto x = static_cast<std::uint64_t>(stratum.extent[0]), y = static_cast<std::uint64_t>(stratum.extent[1]);
  const std::uint64_t at_x = static_cast<std::uint64_t>(stratum.begin[0]) + i % x;
  const std::uint64_t at_y = static_cast<std::uint64_t>(stratum.begin[1]) + i / x % y;
  const std::uint64_t at_z = static_cast<std::uint64_t>(stratum.begin[2]) + i / x / y;
  return (at_z * static_cast<std::uint64_t>(grid.y) + at_y) * static_cast<std::uint64_t>(grid.x) + at_x;
}

}  // namespace

std::vector<Stratum> strata_of(const Dim3& grid) {
  std::vector<Stratum> strata;
  for (const auto& z : parts_of(grid.z)) {
    for (const auto& y : parts_of(grid.y)) {
      for (const auto& x : parts_of(grid.x)) {
        strata.push_back({{x.first, y.first, z.first}, {x.second, y.second, z.second}});
      }
    }
  }
  return strata;
}

std::vector<std::uint64_t> sample(const Stratum& stratum, const Dim3& grid, std::uint64_t count) {
  const std::uint64_t blocks = stratum.blocks();
  std::vector<std::uint64_t> chosen;
  if (count >= blocks) {
    for (std::uint64_t i = 0; i < blocks; ++i) chosen.push_back(linear(stratum, grid, i));
    return chosen;
  }
  std::unordered_set<std::uint64_t> seen;
  const auto choose = [&](std::uint64_t i) {
    if (chosen.size() < count && seen.insert(i).second) chosen.push_back(linear(stratum, grid, i));
  };
  choose(0);
  choose(blocks - 1);
  // Multiples of the golden ratio fall evenly at every count, and into every residue class.
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
  for (std::uint64_t i = 1; chosen.size() < count; ++i) {
    choose(static_cast<std::uint64_t>((static_cast<Wide>(golden * i) * blocks) >> 64U));
    if (i > 64 * count) break;  // of nearly all blocks the last ones are hard to hit
  }
  for (std::uint64_t i = 0; chosen.size() < count; ++i) choose(i);
  return chosen;
}

std::vector<SampledBlock> plan_sample(const Dim3& grid, std::uint64_t blocks) {
  constexpr std::uint64_t least = 2;
  const std::vector<Stratum> strata = strata_of(grid);
  std::uint64_t all = 0, base = 0;
  for (const Stratum& stratum : strata) {
    all += stratum.blocks();
    base += std::min(least, stratum.blocks());
  }
  const std::uint64_t extra = blocks > base ? blocks - base : 0;
  std::vector<SampledBlock> plan;
  for (std::size_t s = 0; s < strata.size(); ++s) {
    const auto share = static_cast<std::uint64_t>(static_cast<Wide>(extra) * strata[s].blocks() / all);
    for (const std::uint64_t block : sample(strata[s], grid, least + share)) plan.push_back({block, s});
  }
  std::sort(plan.begin(), plan.end(), [](const auto& a, const auto& b) { return a.block < b.block; });
  return plan;
}

Scaled scale(const std::vector<std::uint64_t>& values, std::uint64_t blocks) {
  const auto n = static_cast<std::uint64_t>(values.size());
  if (n == 0) return {};
  const bool agree = std::all_of(values.begin(), values.end(), [&](std::uint64_t v) { return v == values.front(); });
  if (agree) return {values.front() * blocks, false, 0};
  Wide sum = 0;
  for (const std::uint64_t v : values) sum += v;
  if (n == blocks) return {static_cast<std::uint64_t>(sum), false, 0};
  const double mean = static_cast<double>(sum) / static_cast<double>(n);
  double squares = 0;
  for (const std::uint64_t v : values) squares += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean);
  const double spread = squares / static_cast<double>(n - 1);
  const auto all = static_cast<double>(blocks);
  const double variance = all * all * spread / static_cast<double>(n) * (1 - static_cast<double>(n) / all);
  const auto value = static_cast<std::uint64_t>((sum * blocks + n / 2) / n);
  return {value, true, variance};
}

SimtTotals totals_of(const BlockCounts& counts) {
  SimtTotals totals;
  GlobalTotals* const global[] = {&totals.global_load, &totals.global_store, &totals.global_atomic};
  SharedTotals* const shared[] = {&totals.shared_load, &totals.shared_store, &totals.shared_atomic};
  for (const auto& [key, c] : counts.sites) {
    const auto op = static_cast<std::size_t>(op_of(key.code));
    const std::uint64_t bytes = c[kLanes] * static_cast<std::uint64_t>(width_of(key.code));
    totals.memory_instructions += c[kRequests];
    totals.memory_instruction_lanes += c[kLanes];
    if (key.space == Space::global) {
      GlobalTotals& to = *global[op];
      to.requests += c[kRequests];
      to.lanes += c[kLanes];
      to.bytes += bytes;
      to.sectors += c[kSectors];
      to.lines += c[kLines];
    } else if (key.space == Space::shared) {
      SharedTotals& to = *shared[op];
      to.requests += c[kRequests];
      to.lanes += c[kLanes];
      to.bytes += bytes;
      to.wavefronts += c[kWavefronts];
      to.bank_conflicts += c[kBankConflicts];
    }
  }
  totals.barriers = counts.barriers;
  totals.warp_intrinsics = counts.warp_intrinsics;
  return totals;
}

}  // namespace gpuexp::simt
