// Running blocks: fibers, schedules, barriers and warp intrinsics.
#include "profiler/backend/simt/block_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "profiler/backend/simt/kernel_faults.h"
#include "profiler/backend/simt/shadow/gpuexp_simt.h"
#include "profiler/backend/simt/symbols.h"
#include "profiler/core/random.h"

// The state that kernels read (shadow/gpuexp_simt.h), and the block of shared memory behind every `extern __shared__`
// array: 227 KiB, the most that a kernel can have.
extern "C" {
thread_local unsigned gpuexp_simt_thread[3] = {};
thread_local unsigned gpuexp_simt_block[3] = {};
thread_local unsigned gpuexp_simt_block_size[3] = {};
thread_local unsigned gpuexp_simt_grid_size[3] = {};
alignas(256) thread_local char gpuexp_simt_dynamic_shared[228 * 1024];
// Called where a compiler reaches the block through a function (tools/prepare_kernel_objects.cpp).
void* gpuexp_simt_dynamic_shared_address() { return gpuexp_simt_dynamic_shared; }
}

namespace gpuexp::simt {
namespace {

constexpr std::uint64_t kFirstStack = 2 * 1024 * 1024;  // CUDA allows 512 KiB of local memory
constexpr std::uint64_t kLargeStack = 256 * 1024;
constexpr std::uint64_t kSmallStack = 16 * 1024;
constexpr std::uint64_t kTraceStride = kTraceEvents + 24;
constexpr std::uint64_t kPhasesPerCheck = 64;  // phases between barriers from one look at the clock to the next

std::string place(const void* pc) { return source_site(pc).to_text(); }

}  // namespace

void stop_lane(const Fault& fault) {
  detail_of(*hot.lane).fault = fault;
  switch_to_scheduler(LaneState::stopped);
  __builtin_unreachable();
}

// A fiber runs the kernel once per block, for ever.
void fiber_main() {
  while (true) {
    const LaunchJob& job = *hot.runner->job_;
    hot.lane->in_kernel = false;
    job.invoke_body(job.body);
    switch_to_scheduler(LaneState::exited);
  }
}

BlockRunner::BlockRunner()
    : first_stack_(1, kFirstStack, false, fiber_main),
      large_stacks_(kMaxBlockThreads, kLargeStack, false, fiber_main),
      small_stacks_(kMaxBlockThreads, kSmallStack, true, fiber_main),
      trace_memory_(kWarpLanes * kTraceStride * (sizeof(EventCode) + sizeof(std::uint64_t)) + 64),
      lanes_(kMaxBlockThreads),
      lane_details_(kMaxBlockThreads) {
  auto* addresses = reinterpret_cast<std::uint64_t*>(trace_memory_.data());
  auto* codes = reinterpret_cast<EventCode*>(addresses + kWarpLanes * kTraceStride);
  for (std::size_t i = 0; i < kWarpLanes; ++i) {
    traces_[i].addresses = addresses + i * kTraceStride;
    traces_[i].codes = codes + i * kTraceStride;
  }
  for (std::uint32_t i = 0; i < kMaxBlockThreads; ++i) {
    lanes_[i].thread = i;
  }
}

void BlockRunner::drop_fibers() {
  for (std::uint32_t i = 0; i < threads_; ++i) {
    Lane& lane = lanes_[i];
    if (lane.fiber != nullptr) lane.fiber->pool->give(lane.fiber, nullptr);
    lane.fiber = nullptr;
  }
}

void BlockRunner::begin_launch(LaunchJob& job) {
  contain_kernel_faults();
  job_ = &job;
  threads_ = static_cast<std::uint32_t>(job.block().count());
  warps_ = (threads_ + kWarpLanes - 1) / kWarpLanes;
  const TlsBlock tls = tls_block();
  tls_begin_ = reinterpret_cast<std::uint64_t>(tls.begin);
  hot = {};
  hot.runner = this;
  hot.details = lane_details_.data();
  hot.kernel = reinterpret_cast<std::uint64_t>(job.kernel);
  hot.shared_base = tls_begin_;
  hot.shared_size = tls.size;
  hot.shared_run = reinterpret_cast<const std::uint8_t*>(job.shared->run.data());
  hot.arena_base = job.memory->base();
  hot.arena_size = job.memory->size();
  hot.slots = job.memory->slots();
  hot.views = job.memory->views();
  entry_checked_ = false;
  stacks_ = &first_stack_;
  checker_.begin_launch(tls.size);
  counter_.begin_launch(*job.memory, job.shared->variables);
  counter_.set_shared_base(tls_begin_);
  findings_.clear();
  const Dim3& size = job.block();
  for (std::uint32_t i = 0; i < threads_; ++i) {
    const auto x = static_cast<std::uint32_t>(size.x), y = static_cast<std::uint32_t>(size.y);
    lanes_[i].index[0] = i % x;
    lanes_[i].index[1] = i / x % y;
    lanes_[i].index[2] = i / x / y;
  }
  const Dim3& grid = job.grid();
  const auto set = [](unsigned* to, const Dim3& from) {
    to[0] = static_cast<unsigned>(from.x);
    to[1] = static_cast<unsigned>(from.y);
    to[2] = static_cast<unsigned>(from.z);
  };
  set(gpuexp_simt_block_size, size);
  set(gpuexp_simt_grid_size, grid);
}

std::uint32_t BlockRunner::warp_size(std::uint32_t warp) const {
  return std::min<std::uint32_t>(kWarpLanes, threads_ - warp * kWarpLanes);
}

std::uint32_t BlockRunner::in_state(std::uint32_t warp, LaneState state) const {
  std::uint32_t mask = 0;
  for (std::uint32_t lane = 0; lane < warp_size(warp); ++lane) {
    mask |= static_cast<std::uint32_t>(lanes_[warp * kWarpLanes + lane].state == state) << lane;
  }
  return mask;
}

void BlockRunner::schedule(std::uint32_t count, std::uint64_t salt, std::vector<std::uint32_t>& order) const {
  order.resize(count);
  std::iota(order.begin(), order.end(), 0U);
  if (job_->schedule == Schedule::reverse) std::reverse(order.begin(), order.end());
  if (job_->schedule != Schedule::random) return;
  std::uint64_t state = splitmix64(job_->schedule_seed) ^ splitmix64(block_ * 4099 + phase_) ^ splitmix64(~salt);
  for (std::uint32_t i = count; i > 1; --i) {
    state = splitmix64(state);
    std::swap(order[i - 1], order[state % i]);
  }
}

void BlockRunner::refill_shared() {
  for (const SharedVariable& variable : job_->shared->variables) {
    std::memset(reinterpret_cast<void*>(tls_begin_ + variable.offset), 0xff, variable.size);  // NaN in every float type
    checker_.forget_written(variable.offset, variable.size);
  }
}

void BlockRunner::start_block(std::uint64_t block) {
  block_ = block;
  phase_ = 0;
  atomics_ordered_ = false;
  const auto x = static_cast<std::uint64_t>(job_->grid().x), y = static_cast<std::uint64_t>(job_->grid().y);
  gpuexp_simt_block[0] = static_cast<unsigned>(block % x);
  gpuexp_simt_block[1] = static_cast<unsigned>(block / x % y);
  gpuexp_simt_block[2] = static_cast<unsigned>(block / x / y);
  met_ = {};
  met_elsewhere_ = any_stopped_ = false;
  refill_shared();
  checker_.begin_block(block, tls_begin_, &findings_);
}

void BlockRunner::run_block(std::uint64_t block, std::uint64_t position) {
  position_ = position;
  start_block(block);
  do {
    schedule(warps_, 0, warp_order_);
    for (const std::uint32_t warp : warp_order_) {
      run_warp(warp);
      if (job_->stopped() != Stop::none) return abandon();
    }
    ++phase_;
    // An endless loop around a barrier never fills a trace, where run_warp looks at the clock.
    if (phase_ % kPhasesPerCheck == 0 && job_->should_stop()) return abandon();
  } while (release_barrier());
  checker_.end_interval();
  if (any_stopped_) drop_fibers();
  if (job_->should_stop()) abandon();
}

// Leaves the block as it is; its fibers will start afresh.
void BlockRunner::abandon() {
  checker_.end_interval();
  drop_fibers();
  for (Trace& trace : traces_) trace.code_count = trace.address_count = 0;
}

inline void BlockRunner::resume(Lane& lane, Trace& trace) {
  if (lane.fiber == nullptr) {
    lane.fiber = stacks_->take();
    lane.context = lane.fiber->context;
    lane.stack_low = lane.fiber->stack_low;
    lane.stack_bytes = static_cast<std::uint32_t>(lane.fiber->pool->stack_bytes());
  }
  hot.lane = &lane;
  hot.code_next = trace.codes + trace.code_count;
  hot.code_limit = trace.codes + kTraceEvents - kTraceSlack;
  hot.address_next = trace.addresses + trace.address_count;
  gpuexp_simt_thread[0] = lane.index[0];
  gpuexp_simt_thread[1] = lane.index[1];
  gpuexp_simt_thread[2] = lane.index[2];
  switch_context(&hot.scheduler, lane.context);
  trace.code_count = static_cast<std::uint32_t>(hot.code_next - trace.codes);
  trace.address_count = static_cast<std::uint32_t>(hot.address_next - trace.addresses);
  hot.code_next = hot.code_limit = nullptr;
  hot.lane = nullptr;
}

void BlockRunner::learn_entry() {
  entry_checked_ = true;
  stacks_ = &large_stacks_;
  const auto* entry = reinterpret_cast<const void*>(hot.entry_pc);
  if (entry == nullptr) return;
  const std::uint64_t needed = hot.frame_bytes + kStackReserve;
  if (needed <= small_stacks_.stack_bytes()) stacks_ = &small_stacks_;
  if (needed > large_stacks_.stack_bytes()) {
    job_->refuse(fmt::format("{}: {} needs {} bytes of local memory a thread; the emulator gives {}", place(entry),
                             kernel_name(entry), hot.frame_bytes, large_stacks_.stack_bytes() - kStackReserve));
  }
  if (mangled_function(entry) == job_->kernel_symbol) return;
  job_->refuse(fmt::format("{}: {} is called but was not inlined into the kernel; mark it __device__", place(entry),
                           kernel_name(entry)));
}

void BlockRunner::merge(std::uint32_t warp, std::uint32_t paused) {
  const std::uint32_t size = warp_size(warp);
  merger_.consume(traces_, size == kWarpLanes ? 0xffffffffU : (1U << size) - 1, paused, warp);
}

void BlockRunner::run_warp(std::uint32_t warp) {
  const std::uint32_t size = warp_size(warp);
  schedule(size, warp + 1, lane_order_);
  bool waited = false;  // for other lanes of the warp, or for room in its trace
  for (bool first = true;; first = false) {
    for (const std::uint32_t index : lane_order_) {
      Lane& lane = lane_of(warp, index);
      // The block has just begun, or the barrier that the lane waits at was let go.
      const bool released = first && (phase_ == 0 || lane.state == LaneState::barrier);
      if (!released && lane.state != LaneState::ready) continue;
      resume(lane, traces_[index]);
      if (!entry_checked_) learn_entry();
      switch (lane.state) {
        case LaneState::exited:
          lane.fiber->pool->give(lane.fiber, lane.context);
          lane.fiber = nullptr;
          break;
        case LaneState::barrier:
          meet(lane);
          break;
        case LaneState::stopped:
          any_stopped_ = true;
          report_fault(lane);
          break;
        default:
          waited = true;
      }
    }
    if (!waited) break;
    if (resolve_warp_ops(warp)) continue;
    const std::uint32_t full = in_state(warp, LaneState::trace_full);
    if (full != 0) {
      if (job_->should_stop()) return;
      merge(warp, full);
      for (std::uint32_t lane = 0; lane < size; ++lane) {
        const bool room = traces_[lane].code_count < kTraceEvents - kTraceSlack;
        if ((full >> lane & 1U) != 0 && room) lane_of(warp, lane).state = LaneState::ready;
      }
      continue;
    }
    if (resolve_active_mask(warp)) continue;
    if (in_state(warp, LaneState::warp_op) == 0) break;
    report_stuck(warp);
  }
  merge(warp, 0);
}

// Warp intrinsics
// ------------------------------------------------------------------------------------------------------

bool BlockRunner::resolve_warp_ops(std::uint32_t warp) {
  bool any = false;
  for (std::uint32_t lane = 0; lane < warp_size(warp); ++lane) any |= resolve_group(warp, lane);
  return any;
}

// An intrinsic happens once every lane that its mask names and that has not exited waits at one with the same mask.
bool BlockRunner::resolve_group(std::uint32_t warp, std::uint32_t lane) {
  const Lane& first = lane_of(warp, lane);
  if (first.state != LaneState::warp_op || detail_of(first).op.kind == WarpOpKind::active_mask) return false;
  std::uint32_t group = 0;
  for (std::uint32_t i = 0; i < warp_size(warp); ++i) {
    if ((detail_of(first).op.mask >> i & 1U) == 0) continue;
    const Lane& other = lane_of(warp, i);
    if (other.state == LaneState::exited || other.state == LaneState::stopped) continue;
    const bool joins = other.state == LaneState::warp_op && detail_of(other).op.kind == detail_of(first).op.kind &&
                       detail_of(other).op.detail == detail_of(first).op.detail &&
                       detail_of(other).op.mask == detail_of(first).op.mask;
    if (!joins) return false;
    group |= 1U << i;
  }
  compute(warp, group);
  for (std::uint32_t rest = group; rest != 0; rest &= rest - 1) {
    lane_of(warp, static_cast<std::uint32_t>(std::countr_zero(rest))).state = LaneState::ready;
  }
  return true;
}

// The lanes at one __activemask are those that run it together: all others wait elsewhere or have exited.
bool BlockRunner::resolve_active_mask(std::uint32_t warp) {
  EventCode lowest = 0;
  std::uint32_t group = 0;
  for (std::uint32_t i = 0; i < warp_size(warp); ++i) {
    const Lane& lane = lane_of(warp, i);
    if (lane.state != LaneState::warp_op || detail_of(lane).op.kind != WarpOpKind::active_mask) continue;
    if (group == 0 || lane.wait_code < lowest) {
      lowest = lane.wait_code;
      group = 0;
    }
    if (lane.wait_code == lowest) group |= 1U << i;
  }
  for (std::uint32_t rest = group; rest != 0; rest &= rest - 1) {
    Lane& lane = lane_of(warp, static_cast<std::uint32_t>(std::countr_zero(rest)));
    detail_of(lane).op.result = group;
    lane.state = LaneState::ready;
  }
  return group != 0;
}

namespace {

std::uint32_t reduce(int operation, bool is_signed, std::uint32_t a, std::uint32_t b) {
  const bool less = is_signed ? static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) : a < b;
  switch (operation) {
    case gpuexp_reduce_add:
      return a + b;
    case gpuexp_reduce_min:
      return less ? a : b;
    case gpuexp_reduce_max:
      return less ? b : a;
    case gpuexp_reduce_and:
      return a & b;
    case gpuexp_reduce_or:
      return a | b;
    default:
      return a ^ b;
  }
}

}  // namespace

void BlockRunner::compute(std::uint32_t warp, std::uint32_t group) {
  const auto op = [&](std::uint32_t lane) -> WarpOp& { return detail_of(lane_of(warp, lane)).op; };
  const auto first = static_cast<std::uint32_t>(std::countr_zero(group));
  const auto for_group = [&](auto&& visit) {
    for (std::uint32_t rest = group; rest != 0; rest &= rest - 1) {
      visit(static_cast<std::uint32_t>(std::countr_zero(rest)));
    }
  };
  const WarpOpKind kind = op(first).kind;
  const int detail = op(first).detail;
  if (kind == WarpOpKind::shuffle) {
    for_group([&](std::uint32_t lane) { shuffle(warp, lane, group); });
  } else if (kind == WarpOpKind::vote) {
    std::uint32_t ballot = 0;
    for_group([&](std::uint32_t lane) { ballot |= static_cast<std::uint32_t>(op(lane).bits) << lane; });
    std::uint64_t result = ballot;
    if (detail == gpuexp_vote_any) result = ballot != 0;
    if (detail == gpuexp_vote_all) result = ballot == group;
    for_group([&](std::uint32_t lane) { op(lane).result = result; });
  } else if (kind == WarpOpKind::reduce) {
    auto sum = static_cast<std::uint32_t>(op(first).bits);
    const bool is_signed = op(first).argument != 0;
    for_group([&](std::uint32_t lane) {
      if (lane != first) sum = reduce(detail, is_signed, sum, static_cast<std::uint32_t>(op(lane).bits));
    });
    for_group([&](std::uint32_t lane) { op(lane).result = sum; });
  } else if (kind == WarpOpKind::match) {
    for_group([&](std::uint32_t lane) {
      std::uint32_t same = 0;
      for_group([&](std::uint32_t other) {
        if (op(other).bits == op(lane).bits) same |= 1U << other;
      });
      op(lane).result = detail == 0 || same == group ? same : 0;
    });
  }
}

// Which lane is read: the PTX manual's shfl.sync, with the clamp and segment masks that CUDA's `width` stands for.
void BlockRunner::shuffle(std::uint32_t warp, std::uint32_t lane, std::uint32_t group) {
  Lane& self = lane_of(warp, lane);
  const auto width = static_cast<std::uint32_t>(detail_of(self).op.width);
  const std::uint32_t segment = ~(width - 1) & 31U;
  const std::uint32_t low = lane & segment;
  const std::uint32_t high = low | (~segment & 31U);
  const std::uint32_t b = detail_of(self).op.argument & 31U;
  std::uint32_t source = lane;
  switch (detail_of(self).op.detail) {
    case gpuexp_shuffle_up:
      source = lane >= low + b ? lane - b : lane;
      break;
    case gpuexp_shuffle_down:
      source = lane + b <= high ? lane + b : lane;
      break;
    case gpuexp_shuffle_xor:
      source = (lane ^ b) <= high ? lane ^ b : lane;
      break;
    default:
      source = low | (b & ~segment);
      break;
  }
  if ((group >> source & 1U) != 0) {
    detail_of(self).op.result = detail_of(lane_of(warp, source)).op.bits;
    return;
  }
  detail_of(self).op.result = ~std::uint64_t{0};
  const bool stopped = source < warp_size(warp) && lane_of(warp, source).state == LaneState::stopped;
  if (!stopped) report(FindingKind::inactive_lane, self, self.wait_code, 0, 0, source);
}

// No lane can run and an intrinsic still waits for one: on the hardware the warp hangs here.
void BlockRunner::report_stuck(std::uint32_t warp) {
  for (std::uint32_t i = 0; i < warp_size(warp); ++i) {
    Lane& lane = lane_of(warp, i);
    if (lane.state != LaneState::warp_op) continue;
    for (std::uint32_t j = 0; j < warp_size(warp); ++j) {
      const Lane& other = lane_of(warp, j);
      const bool missing = (detail_of(lane).op.mask >> j & 1U) != 0 &&
                           (other.state == LaneState::barrier ||
                            (other.state == LaneState::warp_op && other.wait_code != lane.wait_code));
      if (!missing && other.state != LaneState::warp_op) continue;
      if (!missing && j + 1 != warp_size(warp)) continue;
      const EventCode elsewhere = missing ? other.wait_code : EventCode{0};
      report(FindingKind::divergent_barrier, lane, lane.wait_code, elsewhere, 0, j);
      break;
    }
  }
  stop_all(LaneState::warp_op, warp * kWarpLanes, warp * kWarpLanes + warp_size(warp));
}

// Barriers
// -------------------------------------------------------------------------------------------------------------

void BlockRunner::meet(const Lane& lane) {
  if (met_.waiting == 0) met_code_ = lane.wait_code;
  met_elsewhere_ |= lane.wait_code != met_code_;
  ++met_.waiting;
  met_.count += lane.predicate ? 1 : 0;
}

bool BlockRunner::release_barrier() {
  hot.barrier = std::exchange(met_, {});
  const bool elsewhere = std::exchange(met_elsewhere_, false);
  if (hot.barrier.waiting == 0) return false;
  if (elsewhere && report_divergence()) return false;
  checker_.end_interval();
  return true;
}

// The threads wait at different places of the code. One barrier of the source may have become several there; if it is
// not that, those threads stop, and the answer is true.
bool BlockRunner::report_divergence() {
  const auto waits = [](const Lane& lane) { return lane.state == LaneState::barrier; };
  const auto end = lanes_.begin() + threads_;
  const Lane& first = *std::find_if(lanes_.begin(), end, waits);
  const Lane& odd = *std::find_if(lanes_.begin(), end,
                                  [&](const Lane& lane) { return waits(lane) && lane.wait_code != first.wait_code; });
  const auto place_of = [&](const Lane& lane) {
    return place(static_cast<const char*>(job_->kernel) + offset_of(lane.wait_code));
  };
  if (place_of(first) == place_of(odd)) return false;
  report(FindingKind::divergent_barrier, odd, odd.wait_code, first.wait_code, 0, first.thread);
  stop_all(LaneState::barrier, 0, threads_);
  return true;
}

void BlockRunner::stop_all(LaneState waiting, std::uint32_t begin, std::uint32_t end) {
  for (std::uint32_t i = begin; i < end; ++i) {
    if (lanes_[i].state == waiting) lanes_[i].state = LaneState::stopped;
  }
  any_stopped_ = true;
}

// Findings
// -------------------------------------------------------------------------------------------------------------

void BlockRunner::report(FindingKind kind, const Lane& lane, EventCode code, EventCode other, std::uint64_t address,
                         std::uint64_t extra) {
  if (other != 0 && other < code) std::swap(code, other);
  FindingRecord record;
  record.occurrences = 1;
  record.block = block_;
  record.thread = lane.thread;
  record.address = address;
  if (address - hot.shared_base < hot.shared_size) {
    record.shared = true;
    record.address = address - hot.shared_base;
  }
  record.extra = extra;
  findings_.add({kind, code, other}, record);
}

// A __shared__ variable of a __device__ function is not among the kernel's own: better no count than a wrong one.
bool BlockRunner::refuse_foreign_variable(const Fault& fault) {
  const std::uint64_t offset = fault.address - hot.shared_base;
  if (offset >= hot.shared_size) return false;
  for (const TlsVariable& variable : tls_variables()) {
    if (offset - variable.offset >= variable.size || variable.function == job_->kernel_symbol) continue;
    const auto* pc = static_cast<const char*>(job_->kernel) + offset_of(fault.code);
    job_->refuse(
        fmt::format("{}: {} touches the shared variable {} of another function; the emulator supports __shared__ "
                    "variables of the kernel itself and of the file",
                    place(pc), kernel_name(job_->kernel), variable.name));
    return true;
  }
  return false;
}

void BlockRunner::report_fault(Lane& lane) {
  const Fault fault = std::exchange(detail_of(lane).fault, {});
  switch (fault.kind) {
    case FaultKind::none:
      return;
    case FaultKind::out_of_bounds:
      if (refuse_foreign_variable(fault)) return;
      return report(FindingKind::out_of_bounds, lane, fault.code, 0, fault.address, 0);
    case FaultKind::misaligned:
      return report(FindingKind::misaligned, lane, fault.code, 0, fault.address, 0);
    case FaultKind::write_to_input:
      return report(FindingKind::write_to_input, lane, fault.code, 0, fault.address, 0);
    case FaultKind::inactive_lane:
      return report(FindingKind::inactive_lane, lane, fault.code, 0, 0, fault.address);
    case FaultKind::stopped:
      return;
    case FaultKind::refused: {
      const std::string where = place(fault.pc);
      if (source_site(fault.pc).line == 0) {  // a smashed stack returns anywhere
        job_->refuse(fmt::format("{} {}, at a place that is not known", kernel_name(job_->kernel), fault.what));
        return;
      }
      const bool nested = mangled_function(fault.pc) != job_->kernel_symbol;
      job_->refuse(
          fmt::format("{}: {} {}", where, nested ? kernel_name(fault.pc) : kernel_name(job_->kernel), fault.what));
      return;
    }
  }
}

void BlockRunner::order_atomics() {
  if (atomics_ordered_) return;
  if (!job_->whole) {
    job_->stop(Stop::needs_all_blocks);
    stop_lane({FaultKind::stopped, 0, 0, nullptr, nullptr});
  }
  if (!job_->wait_for_earlier(position_)) stop_lane({FaultKind::stopped, 0, 0, nullptr, nullptr});
  atomics_ordered_ = true;
}

}  // namespace gpuexp::simt
