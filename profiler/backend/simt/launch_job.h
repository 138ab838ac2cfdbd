// One kernel launch as the workers see it: what to run, where shared memory lies, which blocks are done, when to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "profiler/backend/backend.h"
#include "profiler/backend/simt/device_memory.h"
#include "profiler/backend/simt/findings.h"
#include "profiler/backend/simt/site_counter.h"

namespace gpuexp::simt {

enum class Stop : int {
  none,
  cancelled,
  timed_out,
  over_memory,
  refused,          // the kernel does what the emulator does not; LaunchJob::refusal() says what
  needs_all_blocks  // a sampled launch turned out to use global atomics
};

// Shared memory of one kernel and one size of its dynamic block.
struct SharedLayout {
  std::vector<SharedVariable> variables;  // static ones, then the dynamic block if there is one
  std::uint64_t static_bytes = 0;
  std::uint64_t segment_bytes = 0;  // of the TLS segment
  Mapping run;                      // per byte of the segment: bytes left of its variable, at most 16
};

// Positions among the blocks that a launch runs.
struct BlockRange {
  std::uint64_t begin = 0, end = 0;
};

class LaunchJob {
 public:
  LaunchJob(Dim3 grid, Dim3 block) : grid_(grid), block_(block) {}

  // Set before the job is run.
  const void* kernel = nullptr;
  std::string kernel_symbol;
  void (*invoke_body)(const void*) = nullptr;
  const void* body = nullptr;
  const SharedLayout* shared = nullptr;
  DeviceMemory* memory = nullptr;
  Schedule schedule = Schedule::forward;
  std::uint64_t schedule_seed = 1;
  const std::atomic<bool>* cancel = nullptr;
  std::chrono::steady_clock::time_point deadline{};
  bool whole = true;  // every block is run, so global atomics are possible

  [[nodiscard]] const Dim3& grid() const { return grid_; }
  [[nodiscard]] const Dim3& block() const { return block_; }

  // `threads` will run `count` blocks.
  void begin_round(std::uint64_t count, int threads);
  // The next blocks for one thread, in ascending order; empty when there are none. Neighbouring blocks share cache
  // lines of the emulator's maps, so a thread takes several, unless they would wait for each other's atomics.
  BlockRange take() {
    const std::uint64_t wanted = ordered_.load(std::memory_order_relaxed) ? 1 : most_at_once_;
    const std::uint64_t begin = std::min(next_.fetch_add(wanted), count_);
    return {begin, std::min(begin + wanted, count_)};
  }
  void finish(std::uint64_t position);
  // Waits until all blocks before `position` are finished. False when the launch has been stopped.
  bool wait_for_earlier(std::uint64_t position);

  // Checks the clock, the cancel flag and the memory; cheap enough for every few thousand events.
  bool should_stop();
  void stop(Stop why);
  void refuse(const std::string& what);
  [[nodiscard]] Stop stopped() const { return static_cast<Stop>(stop_.load(std::memory_order_relaxed)); }
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  Dim3 grid_, block_;
  std::uint64_t count_ = 0, most_at_once_ = 1;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<bool> ordered_{false};  // blocks wait for earlier ones
  std::atomic<int> stop_{0};
  std::mutex mutex_;
  std::condition_variable progress_;
  std::vector<std::uint64_t> finished_;  // beyond first_unfinished_, a heap
  std::uint64_t first_unfinished_ = 0;
  std::string refusal_;
};

}  // namespace gpuexp::simt
