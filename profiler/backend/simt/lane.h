// One emulated thread: its fiber, its trace and what it waits for; and the state that the hooks of the running lane
// use.
#pragma once

#include <cstdint>

#include "profiler/backend/simt/device_memory.h"
#include "profiler/backend/simt/events.h"
#include "profiler/backend/simt/fiber_pool.h"

namespace gpuexp::simt {

class BlockRunner;

// A lane's trace between two consumptions: the codes of all events in program order, and the addresses of the accesses
// among them. Of fixed size; a lane whose trace is full pauses until the merge has consumed it.
inline constexpr std::uint32_t kTraceEvents = 1536;
// Events that may be added without a check between two switches of fibers: the intrinsics'.
inline constexpr std::uint32_t kTraceSlack = 8;

struct Trace {
  EventCode* codes = nullptr;
  std::uint64_t* addresses = nullptr;
  std::uint32_t code_count = 0, address_count = 0;
};

enum class LaneState : std::uint8_t { ready, trace_full, barrier, warp_op, exited, stopped };

enum class WarpOpKind : std::uint8_t { shuffle, vote, reduce, match, active_mask, sync };
struct WarpOp {
  WarpOpKind kind = WarpOpKind::sync;
  int detail = 0;  // of the kind: which shuffle, vote, reduction
  std::uint32_t mask = 0;
  std::uint64_t bits = 0;
  std::uint32_t argument = 0;
  int width = 32;
  std::uint64_t result = 0;
};

// What the threads that met at a barrier brought.
struct BarrierSums {
  int waiting = 0;  // threads
  int count = 0;    // of them, those whose predicate holds
};

// Why a lane was stopped by a hook; the runner turns it into a finding.
enum class FaultKind : std::uint8_t {
  none,
  out_of_bounds,
  misaligned,
  write_to_input,
  inactive_lane,  // `address` is the lane
  stopped,        // the launch is being stopped: no finding
  refused,        // the emulator does not do this; `what` says what
};
struct Fault {
  FaultKind kind = FaultKind::none;
  EventCode code = 0;
  std::uint64_t address = 0;
  const char* what = nullptr;
  const void* pc = nullptr;
};

// What a lane seldom needs; indexed as the lanes are.
struct LaneDetail {
  WarpOp op;
  Fault fault;
};

// What every switch needs: one cache line.
struct alignas(64) Lane {
  Fiber* fiber = nullptr;  // while it is within the kernel; where it stands then, and that fiber's stack
  Context context = nullptr;
  std::uint64_t stack_low = 0;
  std::uint32_t stack_bytes = 0;
  std::uint32_t thread = 0;     // linear index in the block
  std::uint32_t index[3] = {};  // threadIdx
  EventCode wait_code = 0;      // of the barrier or intrinsic that it waits at
  bool predicate = false;       // at the barrier
  LaneState state = LaneState::ready;
  bool in_kernel = false;  // past the launch code, which copies the arguments
  [[nodiscard]] bool on_stack(std::uint64_t address) const { return address - stack_low < stack_bytes; }
};
static_assert(sizeof(Lane) == 64);

// What hooks and intrinsics need of a stack below the kernel's frame.
inline constexpr std::uint64_t kStackReserve = 8192;

// State of the running lane, read by every hook. All null when no lane runs: then a hook returns at once.
struct Hot {
  EventCode* code_next = nullptr;
  EventCode* code_limit = nullptr;
  std::uint64_t* address_next = nullptr;
  std::uint64_t kernel = 0;  // address of the kernel's first instruction
  std::uint64_t shared_base = 0, shared_size = 0;
  const std::uint8_t* shared_run = nullptr;  // per byte: bytes left of its variable, at most 16
  std::uint64_t arena_base = 0, arena_size = 0;
  const std::uint16_t* slots = nullptr;
  const BufferView* views = nullptr;
  std::uint64_t entry_pc = 0;     // where the kernel itself calls __tsan_func_entry
  std::uint64_t frame_bytes = 0;  // of stack taken by then
  // What range hooks have just counted of a copy whose call follows.
  const void* counted_read = nullptr;
  const void* counted_write = nullptr;
  Lane* lane = nullptr;
  LaneDetail* details = nullptr;  // of all lanes
  BarrierSums barrier;            // the last one that was let go
  BlockRunner* runner = nullptr;
  Context scheduler = nullptr;
};
extern thread_local constinit Hot hot __attribute__((tls_model("local-exec")));

inline LaneDetail& detail_of(const Lane& lane) { return hot.details[lane.thread]; }

// Leaves the running lane for the scheduler; returns when the lane is resumed.
inline __attribute__((always_inline)) void switch_to_scheduler(LaneState why) {
  hot.lane->state = why;
  switch_context(&hot.lane->context, hot.scheduler);
}
// Ends the running lane with a fault; does not return.
[[noreturn]] void stop_lane(const Fault& fault);

}  // namespace gpuexp::simt
