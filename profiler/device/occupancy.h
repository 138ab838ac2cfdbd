// Occupancy: how many blocks of a launch fit on one SM at once, and what stops more, by the rules of CUDA's calculator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/core/point.h"
#include "profiler/device/device_spec.h"

namespace gpuexp {

struct BlockShape {
  std::int64_t threads = 0;                 // per block
  std::int64_t static_shared_bytes = 0;     // per block
  std::int64_t dynamic_shared_bytes = 0;    // per block
  std::optional<int> registers_per_thread;  // as ptxas allocates; unknown unless a GPU ran it
};

struct Occupancy {
  std::int64_t blocks_per_sm = 0;  // 0: the block cannot run on this device; `impossible` says why
  std::int64_t warps_per_block = 0;
  std::int64_t active_warps = 0;  // per SM
  double fraction = 0;            // active warps / most the SM holds, 0..1
  // Blocks each resource alone would allow; nullopt = it sets no limit (no shared memory used, registers unknown).
  std::optional<std::int64_t> limit_warps, limit_blocks, limit_registers, limit_shared;
  std::vector<std::string> limiters;  // those equal to blocks_per_sm: "warps" "blocks" "registers" "shared memory"
  std::int64_t shared_bytes_allocated = 0;  // per block: with the driver's share, rounded to the granularity
  bool registers_known = false;             // false: the figures are an upper bound
  int max_registers_to_launch = 0;          // registers a thread may use for one such block to run at all
  int max_registers_for_blocks = 0;         // ... for blocks_per_sm to stay what it is
  std::string impossible;                   // why blocks_per_sm is 0, else empty
  std::vector<std::string> notes;           // "registers unknown: ...", "needs opt-in beyond 48 KiB of shared memory"
};

// Assumes the largest shared-memory carve-out, as CUDA's calculator does by default.
Occupancy occupancy(const DeviceSpec& spec, const BlockShape& block);
Occupancy occupancy(const DeviceSpec& spec, const LaunchInfo& launch);

}  // namespace gpuexp
