// What the emulator counts over a launch, as plain fields; the counter table (counters.h) names them.
#pragma once

#include <cstdint>

namespace gpuexp {

// One kind of global access (loads, stores or atomics).
struct GlobalTotals {
  std::uint64_t requests = 0;          // warp instructions with at least one active lane
  std::uint64_t lanes = 0;             // lane accesses
  std::uint64_t bytes = 0;             // requested: every lane's bytes, as if there were no cache
  std::uint64_t sectors = 0;           // distinct 32-byte sectors per request, summed
  std::uint64_t lines = 0;             // distinct 128-byte lines per request, summed
  std::uint64_t distinct_sectors = 0;  // over the whole launch, each once; only when every block was run
};

// One kind of shared access.
struct SharedTotals {
  std::uint64_t requests = 0;
  std::uint64_t lanes = 0;
  std::uint64_t bytes = 0;
  std::uint64_t wavefronts = 0;
  std::uint64_t bank_conflicts = 0;  // wavefronts beyond the ideal
};

struct SimtTotals {
  GlobalTotals global_load, global_store, global_atomic;
  SharedTotals shared_load, shared_store, shared_atomic;
  std::uint64_t memory_instructions = 0;       // issued per warp: all of the above, plus constant loads
  std::uint64_t memory_instruction_lanes = 0;  // active lanes summed over them
  std::uint64_t barriers = 0;                  // __syncthreads executed, per warp
  std::uint64_t warp_intrinsics = 0;           // shuffles, votes, reductions, __syncwarp, per warp
};

}  // namespace gpuexp
