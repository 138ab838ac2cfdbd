// The events of a lane's trace: every basic block it enters, every memory access, barrier and warp intrinsic, as one
// 32-bit code each. Codes of one kernel sort by place in its machine code, which is what merging lanes needs.
#pragma once

#include <cstdint>

#include "profiler/backend/simt/memory_model.h"

namespace gpuexp::simt {

// code = (address of the hook's return - address of the kernel) << kKindBits | kind.
using EventCode = std::uint32_t;
inline constexpr int kKindBits = 6;
inline constexpr std::uint64_t kMaxKernelBytes = std::uint64_t{1} << (32 - kKindBits);

// Kinds 1 to 15 are accesses: load, store, atomic, each of 1, 2, 4, 8, 16 bytes.
inline constexpr std::uint32_t kBlockEvent = 0;
inline constexpr std::uint32_t kFirstAccess = 1;
inline constexpr std::uint32_t kLastAccess = 15;
inline constexpr std::uint32_t kBarrierEvent = 16;
inline constexpr std::uint32_t kWarpEvent = 17;      // shuffle, vote, reduction, match, active mask
inline constexpr std::uint32_t kSyncWarpEvent = 18;  // __syncwarp: orders its lanes
inline constexpr std::uint32_t kWidths = 5;

constexpr std::uint32_t access_kind(AccessKind op, int width_log2) {
  return kFirstAccess + static_cast<std::uint32_t>(op) * kWidths + static_cast<std::uint32_t>(width_log2);
}
constexpr std::uint32_t kind_of(EventCode code) { return code & ((1U << kKindBits) - 1); }
constexpr std::uint64_t offset_of(EventCode code) { return code >> kKindBits; }
constexpr bool is_access(EventCode code) { return kind_of(code) - kFirstAccess <= kLastAccess - kFirstAccess; }
// Events with an entry among the trace's addresses: accesses, and __syncwarp, whose entry is its mask.
constexpr bool has_address(EventCode code) { return is_access(code) || kind_of(code) == kSyncWarpEvent; }
constexpr AccessKind op_of(EventCode code) { return static_cast<AccessKind>((kind_of(code) - kFirstAccess) / kWidths); }
constexpr int width_of(EventCode code) { return 1 << ((kind_of(code) - kFirstAccess) % kWidths); }

}  // namespace gpuexp::simt
