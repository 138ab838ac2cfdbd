// The occupancy rules: registers are given to whole warps in each sub-partition, shared memory to whole blocks.
#include "profiler/device/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace gpuexp {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t round_up(std::int64_t a, std::int64_t unit) { return ceil_div(a, unit) * unit; }

// Registers a warp is given when each of its threads uses `per_thread`.
std::int64_t warp_registers(const SmLimits& sm, std::int64_t per_thread) {
  return round_up(per_thread * sm.warp_size, sm.register_unit_per_warp);
}

// Blocks the register file holds; 0 when not even one fits.
std::int64_t register_blocks(const SmLimits& sm, std::int64_t warps_per_block, std::int64_t per_thread) {
  const std::int64_t per_warp = warp_registers(sm, per_thread);
  if (per_thread > sm.max_registers_per_thread) return 0;
  // The launch check takes the block's warps as spread evenly over the sub-partitions.
  if (per_warp * round_up(warps_per_block, sm.sub_partitions) > sm.registers_per_block) return 0;
  const std::int64_t warps_per_partition = sm.registers / sm.sub_partitions / per_warp;
  return warps_per_partition * sm.sub_partitions / warps_per_block;
}

// Most registers a thread may use so that `blocks` blocks still fit.
int most_registers(const SmLimits& sm, std::int64_t warps_per_block, std::int64_t blocks) {
  int most = 0;
  for (int n = 1; n <= sm.max_registers_per_thread; ++n)
    if (register_blocks(sm, warps_per_block, n) >= blocks) most = n;
  return most;
}

// Why the block can run on no SM of this kind, or "".
std::string why_impossible(const DeviceSpec& spec, const BlockShape& block) {
  const SmLimits& sm = spec.sm;
  if (block.threads < 1) return fmt::format("a block of {} threads", block.threads);
  if (block.threads > sm.max_threads_per_block)
    return fmt::format("a block of {} threads; {} allows {}", block.threads, spec.name, sm.max_threads_per_block);
  if (block.static_shared_bytes < 0 || block.dynamic_shared_bytes < 0) return "a negative size of shared memory";
  if (block.static_shared_bytes > sm.shared_bytes_static)
    return fmt::format("{} bytes of static shared memory per block; CUDA allows {} (use dynamic shared memory)",
                       block.static_shared_bytes, sm.shared_bytes_static);
  if (block.dynamic_shared_bytes > sm.shared_bytes_per_block - block.static_shared_bytes)
    return fmt::format("{} bytes of static and {} of dynamic shared memory per block; {} allows {}",
                       block.static_shared_bytes, block.dynamic_shared_bytes, spec.name, sm.shared_bytes_per_block);
  if (!block.registers_per_thread) return {};
  const int registers = *block.registers_per_thread;
  if (registers < 0) return fmt::format("{} registers per thread", registers);
  if (registers > sm.max_registers_per_thread)
    return fmt::format("{} registers per thread; {} allows {}", registers, spec.name, sm.max_registers_per_thread);
  const std::int64_t warps = ceil_div(block.threads, sm.warp_size);
  if (registers > 0 && register_blocks(sm, warps, registers) == 0)
    return fmt::format("{} threads of {} registers; a block of that size may use {} per thread on {}", block.threads,
                       registers, most_registers(sm, warps, 1), spec.name);
  return {};
}

// Blocks that shared memory holds; nullopt when a block takes none, 0 when one block wants more than it may have.
std::optional<std::int64_t> shared_blocks(const SmLimits& sm, const BlockShape& block, std::int64_t allocated) {
  if (block.static_shared_bytes > sm.shared_bytes_static ||
      block.dynamic_shared_bytes > sm.shared_bytes_per_block - block.static_shared_bytes)
    return 0;
  if (allocated == 0) return std::nullopt;
  return sm.shared_bytes / allocated;
}

void set_blocks(Occupancy& result) {
  const std::pair<const std::optional<std::int64_t>&, const char*> limits[] = {{result.limit_warps, "warps"},
                                                                               {result.limit_blocks, "blocks"},
                                                                               {result.limit_registers, "registers"},
                                                                               {result.limit_shared, "shared memory"}};
  result.blocks_per_sm = std::numeric_limits<std::int64_t>::max();
  for (const auto& [limit, name] : limits)
    if (limit) result.blocks_per_sm = std::min(result.blocks_per_sm, *limit);
  for (const auto& [limit, name] : limits)
    if (limit == result.blocks_per_sm) result.limiters.emplace_back(name);
}

void add_notes(Occupancy& result, const SmLimits& sm, std::int64_t shared_bytes) {
  if (!result.registers_known)
    result.notes.push_back(
        fmt::format("registers unknown, as only a run on a GPU reads them: an upper bound, which holds up to {} "
                    "registers per thread",
                    result.max_registers_for_blocks));
  if (shared_bytes > sm.shared_bytes_static)
    result.notes.push_back(fmt::format(
        "{} bytes of shared memory: beyond {} the launch must opt in (cudaFuncAttributeMaxDynamicSharedMemorySize)",
        shared_bytes, sm.shared_bytes_static));
}

}  // namespace

Occupancy occupancy(const DeviceSpec& spec, const BlockShape& block) {
  const SmLimits& sm = spec.sm;
  Occupancy result;
  result.registers_known = block.registers_per_thread.has_value();
  result.impossible = why_impossible(spec, block);
  // Sizes beyond any device leave nothing to compute with (and the sums below might overflow).
  constexpr std::int64_t absurd = std::int64_t{1} << 40;
  if (block.threads < 1 || block.threads > absurd || block.static_shared_bytes < 0 || block.dynamic_shared_bytes < 0 ||
      block.static_shared_bytes > absurd || block.dynamic_shared_bytes > absurd ||
      block.registers_per_thread.value_or(0) < 0)
    return result;

  const std::int64_t shared_bytes = block.static_shared_bytes + block.dynamic_shared_bytes;
  result.shared_bytes_allocated = round_up(shared_bytes + sm.shared_reserved_bytes, sm.shared_unit_bytes);
  result.warps_per_block = ceil_div(block.threads, sm.warp_size);
  result.limit_warps = block.threads > sm.max_threads_per_block ? 0 : sm.max_warps / result.warps_per_block;
  result.limit_blocks = sm.max_blocks;
  if (block.registers_per_thread.value_or(0) > 0)
    result.limit_registers = register_blocks(sm, result.warps_per_block, *block.registers_per_thread);
  result.limit_shared = shared_blocks(sm, block, result.shared_bytes_allocated);
  set_blocks(result);

  result.active_warps = result.blocks_per_sm * result.warps_per_block;
  result.fraction = static_cast<double>(result.active_warps) / sm.max_warps;
  result.max_registers_to_launch = most_registers(sm, result.warps_per_block, 1);
  if (result.blocks_per_sm == 0) return result;
  result.max_registers_for_blocks = most_registers(sm, result.warps_per_block, result.blocks_per_sm);
  add_notes(result, sm, shared_bytes);
  return result;
}

Occupancy occupancy(const DeviceSpec& spec, const LaunchInfo& launch) {
  return occupancy(spec, {launch.block.count(), launch.static_shared_bytes, launch.dynamic_shared_bytes,
                          launch.registers_per_thread});
}

}  // namespace gpuexp
