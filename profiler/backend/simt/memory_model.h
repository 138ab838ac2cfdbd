// What one warp instruction costs the memory system: sectors and lines in global memory, wavefronts in shared memory.
//
// Pure functions of the lanes' addresses. Reproduces every measured row of configs/patterns/h200_access_patterns.csv.
// Sources: CUDA C++ Programming Guide, "Shared Memory" of compute capability 5.x to 9.x (32 banks of 4 bytes) and
// "Device Memory Accesses" (32-byte transactions); Nsight Compute documentation, metrics structure (128-byte lines of
// four sectors); the split into phases and the merging of loads: measured on an H200 (compute capability 9.0), where
// wavefronts, conflicts and sectors of 813 further, random patterns of loads and stores came out equal too.
#pragma once

#include <cstdint>
#include <span>

namespace gpuexp::simt {

inline constexpr int kWarpLanes = 32;
inline constexpr int kSectorBytes = 32;         // unit of a transfer between L1 and L2
inline constexpr int kLineBytes = 128;          // unit of an L1 tag: four sectors
inline constexpr int kBanks = 32;               // of shared memory
inline constexpr int kBankBytes = 4;            // served by one bank in one wavefront
inline constexpr int kMaxLaneAccessBytes = 16;  // of one lane in one instruction

enum class AccessKind : std::uint8_t { load, store, atomic };

// True for the widths a lane can access in one instruction: 1, 2, 4, 8, 16 bytes.
constexpr bool is_lane_width(int bytes) {
  return bytes >= 1 && bytes <= kMaxLaneAccessBytes && (bytes & (bytes - 1)) == 0;
}

// One address per lane; lane i is bit i of `active`, and the addresses of inactive lanes are never looked at.
using LaneAddresses = std::span<const std::uint64_t, kWarpLanes>;

struct GlobalCost {
  std::uint32_t sectors = 0;        // distinct 32-byte sectors
  std::uint32_t lines = 0;          // distinct 128-byte lines
  std::uint32_t ideal_sectors = 0;  // sectors if the distinct bytes lay packed and aligned
  friend bool operator==(const GlobalCost&, const GlobalCost&) = default;
};

// Preconditions: is_lane_width(width_bytes), active addresses are multiples of it. No active lane costs nothing.
// Atomics are counted like stores; hardware counts a sector again for each further lane that updates the same word.
// The result does not change when every address moves by the same multiple of kLineBytes.
GlobalCost global_cost(LaneAddresses addresses, std::uint32_t active, int width_bytes);

struct SharedCost {
  std::uint32_t wavefronts = 0;  // passes over the banks
  std::uint32_t ideal = 0;       // passes if no two words shared a bank: the phases with an active lane
  [[nodiscard]] std::uint32_t bank_conflicts() const { return wavefronts - ideal; }
  friend bool operator==(const SharedCost&, const SharedCost&) = default;
};

// Preconditions as above. Addresses may be offsets into shared memory or pointers to a 128-byte aligned copy of it: the
// result does not change when every address moves by the same multiple of kBanks * kBankBytes.
// Rules: accesses of up to 4 bytes take one phase of 32 lanes, 8 bytes two of 16, 16 bytes four of 8; a phase takes as
// many wavefronts as the fullest bank has distinct words. Loads of 8 and 16 bytes take half as many phases, of twice as
// many lanes, when over the whole warp all pairs of lanes (n, n^1) agree, or all pairs (n, n^2) do; two lanes agree
// when they read the same address or one of them is inactive. Atomics are counted by the rule of stores: the repeats by
// which hardware resolves several lanes updating one word are not part of it.
SharedCost shared_cost(LaneAddresses addresses, std::uint32_t active, int width_bytes, AccessKind kind);

}  // namespace gpuexp::simt
