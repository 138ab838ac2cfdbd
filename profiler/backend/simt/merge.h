// Merges the traces of a warp's lanes into what a SIMT machine would issue: at each step the lanes whose next event
// lies lowest in the machine code issue together, so that lanes wait for each other where control flow joins.
#pragma once

#include <array>
#include <cstdint>

#include "profiler/backend/simt/checker.h"
#include "profiler/backend/simt/lane.h"
#include "profiler/backend/simt/site_counter.h"

namespace gpuexp::simt {

class WarpMerger {
 public:
  WarpMerger(SiteCounter& counter, Checker& checker) : counter_(counter), checker_(checker) {}

  // Consumes the traces of all lanes. `paused`: lanes that have more to say (their traces were full); merging stops
  // when what such a lane does next would matter. What is left stays in the traces.
  void consume(std::array<Trace, kWarpLanes>& traces, std::uint32_t lanes, std::uint32_t paused, std::uint32_t warp);

 private:
  bool in_lockstep(const std::array<Trace, kWarpLanes>& traces, std::uint32_t lanes) const;
  void consume_lockstep(std::array<Trace, kWarpLanes>& traces, std::uint32_t lanes, std::uint32_t warp);
  void sync_warp(std::uint32_t lanes, std::uint32_t warp);
  void issue(EventCode code, std::uint32_t mask, std::uint32_t warp);

  SiteCounter& counter_;
  Checker& checker_;
  alignas(64) std::array<std::uint64_t, kWarpLanes> address_{};
};

}  // namespace gpuexp::simt
