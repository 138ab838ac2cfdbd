// Runs the blocks of a launch on one OS thread: every thread of a block is a fiber, warps run one after another, and a
// warp's traces are merged and counted whenever all its lanes wait.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/backend/simt/checker.h"
#include "profiler/backend/simt/fiber_pool.h"
#include "profiler/backend/simt/lane.h"
#include "profiler/backend/simt/launch_job.h"
#include "profiler/backend/simt/merge.h"
#include "profiler/backend/simt/site_counter.h"

namespace gpuexp::simt {

inline constexpr std::uint32_t kMaxBlockThreads = 1024;

// Belongs to one OS thread for its whole life, because fibers and shared memory do.
class BlockRunner {
 public:
  BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;
  ~BlockRunner() = default;

  void begin_launch(LaunchJob& job);
  // Runs block `block` (linear index); `position` is its place among the blocks that this launch runs.
  void run_block(std::uint64_t block, std::uint64_t position);
  [[nodiscard]] SiteCounter& counter() { return counter_; }
  [[nodiscard]] Findings& findings() { return findings_; }

  // For hooks and intrinsics, on the running lane's fiber.
  void fill(const BufferView& view, std::uint64_t offset) { job_->memory->fill(view, offset); }
  // Before a global atomic: waits for all earlier blocks, so that atomics happen in block order.
  void order_atomics();

 private:
  friend void fiber_main();

  // Takes the fibers of lanes that stay within the kernel for good.
  void drop_fibers();
  void start_block(std::uint64_t block);
  void refill_shared();
  void run_warp(std::uint32_t warp);
  void resume(Lane& lane, Trace& trace);
  // After the launch's first lane has run: was its function the kernel, and which stacks will do?
  void learn_entry();
  void merge(std::uint32_t warp, std::uint32_t paused);
  // Lets go every group of lanes whose intrinsic can happen; true when there was one.
  bool resolve_warp_ops(std::uint32_t warp);
  bool resolve_group(std::uint32_t warp, std::uint32_t lane);
  bool resolve_active_mask(std::uint32_t warp);
  void compute(std::uint32_t warp, std::uint32_t group);
  void shuffle(std::uint32_t warp, std::uint32_t lane, std::uint32_t group);
  void report_stuck(std::uint32_t warp);
  // Notes that a lane has reached a barrier.
  void meet(const Lane& lane);
  // Lets the barrier go when all threads have reached it; false when nobody waits.
  bool release_barrier();
  bool report_divergence();
  // Stops the lanes from `begin` to `end` that wait so.
  void stop_all(LaneState waiting, std::uint32_t begin, std::uint32_t end);
  void report_fault(Lane& lane);
  bool refuse_foreign_variable(const Fault& fault);
  void report(FindingKind kind, const Lane& lane, EventCode code, EventCode other, std::uint64_t address,
              std::uint64_t extra);
  void abandon();
  [[nodiscard]] std::uint32_t warp_size(std::uint32_t warp) const;
  [[nodiscard]] Lane& lane_of(std::uint32_t warp, std::uint32_t lane) { return lanes_[warp * kWarpLanes + lane]; }
  // Lanes of the warp in one of two states, as a mask.
  [[nodiscard]] std::uint32_t in_state(std::uint32_t warp, LaneState state) const;
  // Order of `count` things under the launch's schedule.
  void schedule(std::uint32_t count, std::uint64_t salt, std::vector<std::uint32_t>& order) const;

  LaunchJob* job_ = nullptr;
  // A launch's first lane runs on a stack that is large enough for any kernel and shows how much it needs: little, for
  // nearly all.
  FiberPool first_stack_, large_stacks_, small_stacks_;
  FiberPool* stacks_ = nullptr;  // of the running launch
  Mapping trace_memory_;
  std::vector<Lane> lanes_;
  std::vector<LaneDetail> lane_details_;
  std::array<Trace, kWarpLanes> traces_;
  Checker checker_;
  SiteCounter counter_;
  WarpMerger merger_{counter_, checker_};
  Findings findings_;
  std::uint32_t threads_ = 0, warps_ = 0;
  std::uint64_t block_ = 0, position_ = 0;
  std::uint64_t tls_begin_ = 0;
  std::uint32_t phase_ = 0;     // intervals of the block so far
  BarrierSums met_;             // at the barrier of this phase so far,
  EventCode met_code_ = 0;      // where its first thread waits,
  bool met_elsewhere_ = false;  // and whether another waits elsewhere
  bool any_stopped_ = false;
  bool atomics_ordered_ = false;
  bool entry_checked_ = false;
  std::vector<std::uint32_t> warp_order_, lane_order_;
};

}  // namespace gpuexp::simt
