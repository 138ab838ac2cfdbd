// Merging the lanes of a warp on control flow.
#include "profiler/backend/simt/merge.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gpuexp::simt {
namespace {
constexpr EventCode kNoEvent = 0xffffffff;

// Mostly a handful, for which a call would cost more than the comparison.
inline bool same_codes(const EventCode* a, const EventCode* b, std::uint32_t count) {
  if (count > 32) return std::memcmp(a, b, count * sizeof(EventCode)) == 0;
  EventCode difference = 0;
  for (std::uint32_t i = 0; i < count; ++i) difference |= a[i] ^ b[i];
  return difference == 0;
}
}  // namespace

bool WarpMerger::in_lockstep(const std::array<Trace, kWarpLanes>& traces, std::uint32_t lanes) const {
  const Trace& first = traces[static_cast<std::size_t>(std::countr_zero(lanes))];
  for (std::uint32_t rest = lanes & (lanes - 1); rest != 0; rest &= rest - 1) {
    const Trace& other = traces[static_cast<std::size_t>(std::countr_zero(rest))];
    if (other.code_count != first.code_count) return false;
    if (!same_codes(other.codes, first.codes, first.code_count)) return false;
  }
  return true;
}

// Lanes that issue one __syncwarp together may name different masks; each mask orders its own lanes.
void WarpMerger::sync_warp(std::uint32_t lanes, std::uint32_t warp) {
  while (lanes != 0) {
    const auto mask = static_cast<std::uint32_t>(address_[static_cast<std::size_t>(std::countr_zero(lanes))]);
    std::uint32_t group = 0;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      if (address_[static_cast<std::size_t>(std::countr_zero(rest))] == mask) group |= rest & (~rest + 1);
    }
    checker_.sync_warp(warp, group);
    lanes &= ~group;
  }
}

void WarpMerger::issue(EventCode code, std::uint32_t mask, std::uint32_t warp) {
  if (is_access(code)) return counter_.access(code, mask, warp, address_.data(), checker_);
  switch (kind_of(code)) {
    case kBarrierEvent:
      return counter_.barrier();
    case kSyncWarpEvent:
      sync_warp(mask, warp);
      [[fallthrough]];
    case kWarpEvent:
      return counter_.warp_intrinsic();
    default:
      return;
  }
}

void WarpMerger::consume_lockstep(std::array<Trace, kWarpLanes>& traces, std::uint32_t lanes, std::uint32_t warp) {
  const Trace& first = traces[static_cast<std::size_t>(std::countr_zero(lanes))];
  std::array<const std::uint64_t*, kWarpLanes> addresses;
  for (std::size_t lane = 0; lane < kWarpLanes; ++lane) {
    addresses[lane] = (lanes >> lane & 1U) != 0 ? traces[lane].addresses : first.addresses;
  }
  std::uint32_t access = 0;
  for (std::uint32_t i = 0; i < first.code_count; ++i) {
    const EventCode code = first.codes[i];
    if (kind_of(code) == kBlockEvent) continue;
    if (has_address(code)) {
      for (std::size_t lane = 0; lane < kWarpLanes; ++lane) address_[lane] = addresses[lane][access];
      ++access;
    }
    issue(code, lanes, warp);
  }
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    Trace& trace = traces[static_cast<std::size_t>(std::countr_zero(rest))];
    trace.code_count = trace.address_count = 0;
  }
}

void WarpMerger::consume(std::array<Trace, kWarpLanes>& traces, std::uint32_t lanes, std::uint32_t paused,
                         std::uint32_t warp) {
  // A lane without events is not there, unless it may still say something.
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (traces[static_cast<std::size_t>(lane)].code_count == 0 && (paused >> lane & 1U) == 0) lanes &= ~(1U << lane);
  }
  if (lanes == 0) return;
  if (in_lockstep(traces, lanes)) return consume_lockstep(traces, lanes, warp);

  std::array<std::uint32_t, kWarpLanes> code_at{};
  std::array<std::uint32_t, kWarpLanes> address_at{};
  alignas(64) std::array<EventCode, kWarpLanes> next;
  next.fill(kNoEvent);
  bool blocked = false;
  const auto advance = [&](std::size_t lane) {
    const Trace& trace = traces[lane];
    if (code_at[lane] < trace.code_count) {
      next[lane] = trace.codes[code_at[lane]];
    } else {
      next[lane] = kNoEvent;
      if ((paused >> lane & 1U) != 0) blocked = true;
    }
  };
  for (std::size_t lane = 0; lane < kWarpLanes; ++lane) {
    if ((lanes >> lane & 1U) != 0) advance(lane);
  }
  while (!blocked) {
    EventCode code = kNoEvent;
    for (const EventCode candidate : next) code = std::min(code, candidate);
    if (code == kNoEvent) break;
    std::uint32_t mask = 0;
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane)
      mask |= static_cast<std::uint32_t>(next[lane] == code) << lane;
    const bool takes_address = has_address(code);
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
      if (takes_address) address_[lane] = traces[lane].addresses[address_at[lane]++];
      ++code_at[lane];
      advance(lane);
    }
    issue(code, mask, warp);
  }
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    Trace& trace = traces[lane];
    trace.code_count -= code_at[lane];
    trace.address_count -= address_at[lane];
    std::memmove(trace.codes, trace.codes + code_at[lane], trace.code_count * sizeof(EventCode));
    std::memmove(trace.addresses, trace.addresses + address_at[lane], trace.address_count * sizeof(std::uint64_t));
  }
}

}  // namespace gpuexp::simt
