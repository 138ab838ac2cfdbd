// The entry points that the compiler's instrumentation calls in kernel objects: one per memory access (thread
// sanitizer) and one per basic block (coverage). Each checks the access before it happens and appends it to the lane's
// trace.
//
// Nothing of the sanitizer's runtime is linked: these are the only definitions. They run on the lane's fiber, hundreds
// of millions of times per second, so they are small, take no lock and touch one thread-local structure.
#include <bit>
#include <cstddef>
#include <cstring>

#include "profiler/backend/simt/block_runner.h"
#include "profiler/backend/simt/lane.h"

#define GPUEXP_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define GPUEXP_ALWAYS_INLINE inline __attribute__((always_inline))
#define GPUEXP_OUT_OF_LINE __attribute__((noinline, cold))

// Linker-provided bounds of the __constant__ section (shadow/cuda_runtime.h) and of the program's own data.
extern "C" {
extern char __start_gpuexp_constant[] __attribute__((weak, visibility("hidden")));
extern char __stop_gpuexp_constant[] __attribute__((weak, visibility("hidden")));
extern char __executable_start[] __attribute__((visibility("hidden")));
extern char _end[] __attribute__((visibility("hidden")));
}

namespace gpuexp::simt {

thread_local constinit Hot hot __attribute__((tls_model("local-exec")));

namespace {

enum class Verdict { count, skip };

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

EventCode event_code(std::uint64_t pc, std::uint32_t kind) {
  return static_cast<EventCode>((pc - hot.kernel) << kKindBits) | kind;
}

[[noreturn]] GPUEXP_OUT_OF_LINE void fault(FaultKind kind, std::uint64_t address, std::uint64_t pc,
                                           std::uint32_t event_kind) {
  stop_lane({kind, event_code(pc, event_kind), address, nullptr, reinterpret_cast<const void*>(pc)});
}

[[noreturn]] GPUEXP_OUT_OF_LINE void refuse(const char* what, std::uint64_t pc) {
  stop_lane({FaultKind::refused, 0, 0, what, reinterpret_cast<const void*>(pc)});
}

// The trace is full, or no lane runs (false).
GPUEXP_OUT_OF_LINE bool make_room() {
  if (hot.lane == nullptr) return false;
  switch_to_scheduler(LaneState::trace_full);
  return true;
}

// An address that is neither shared, global nor on the stack.
GPUEXP_OUT_OF_LINE Verdict elsewhere(std::uint64_t address, std::uint64_t pc, std::uint32_t kind) {
  const bool program = address >= address_of(__executable_start) && address < address_of(_end);
  if (!program) fault(FaultKind::out_of_bounds, address, pc, kind);
  if (op_of(kind) == AccessKind::load) return Verdict::count;  // __constant__, or a constant table of the program
  refuse("writes to a __device__ or static variable; the emulator has only the problem's buffers and shared memory",
         pc);
}

GPUEXP_ALWAYS_INLINE Verdict check_global(std::uint64_t address, std::uint64_t pc, std::uint32_t kind, int width) {
  const std::uint16_t slot = hot.slots[(address - hot.arena_base) >> kSlotShift];
  if (GPUEXP_UNLIKELY(slot == 0)) fault(FaultKind::out_of_bounds, address, pc, kind);
  const BufferView& view = hot.views[slot - 1U];
  const std::uint64_t offset = address - view.begin;
  if (GPUEXP_UNLIKELY(offset + static_cast<unsigned>(width) > view.size)) {
    fault(FaultKind::out_of_bounds, address, pc, kind);
  }
  if (GPUEXP_UNLIKELY((address & static_cast<unsigned>(width - 1)) != 0)) {
    fault(FaultKind::misaligned, address, pc, kind);
  }
  if (op_of(kind) != AccessKind::load && GPUEXP_UNLIKELY(!view.writable)) {
    fault(FaultKind::write_to_input, address, pc, kind);
  }
  if (GPUEXP_UNLIKELY(__atomic_load_n(&view.granules[offset >> kGranuleShift], __ATOMIC_ACQUIRE) != kReady)) {
    hot.runner->fill(view, offset);
  }
  return Verdict::count;
}

GPUEXP_ALWAYS_INLINE Verdict check(std::uint64_t address, std::uint64_t pc, std::uint32_t kind, int width) {
  const std::uint64_t shared = address - hot.shared_base;
  if (shared < hot.shared_size) {
    if (GPUEXP_UNLIKELY(hot.shared_run[shared] < width)) fault(FaultKind::out_of_bounds, address, pc, kind);
    if (GPUEXP_UNLIKELY((address & static_cast<unsigned>(width - 1)) != 0)) {
      fault(FaultKind::misaligned, address, pc, kind);
    }
    return Verdict::count;
  }
  if (address - hot.arena_base < hot.arena_size) return check_global(address, pc, kind, width);
  if (hot.lane->on_stack(address)) return Verdict::skip;  // a local array: registers
  return elsewhere(address, pc, kind);
}

GPUEXP_ALWAYS_INLINE void record(const void* pointer, const void* return_address, AccessKind op, int width) {
  if (GPUEXP_UNLIKELY(hot.code_next >= hot.code_limit) && !make_room()) return;
  const std::uint64_t address = address_of(pointer);
  const std::uint64_t pc = address_of(return_address);
  const std::uint32_t kind = access_kind(op, std::countr_zero(static_cast<unsigned>(width)));
  if (check(address, pc, kind, width) == Verdict::skip) return;
  *hot.address_next++ = address;
  *hot.code_next++ = event_code(pc, kind);
}

// A copy of a whole object, split by the alignment that its size allows, as the GPU's compiler splits it.
GPUEXP_OUT_OF_LINE void record_range(const void* pointer, std::size_t size, const void* return_address, AccessKind op) {
  // clang copies large arguments by a call of memcpy, before the kernel begins.
  if (hot.lane == nullptr || !hot.lane->in_kernel || size == 0) return;
  const std::uint64_t address = address_of(pointer);
  if (hot.lane->on_stack(address)) return;
  // The largest power of two that divides the size. An object of 8 or 16 bytes that could be copied in one piece would
  // have been.
  std::uint64_t unit = size & (~size + 1);
  if (size == 8 || size == 16) unit = 4;
  if (unit > 4) {
    refuse("copies a struct as a whole whose alignment the emulator cannot see; copy its members",
           address_of(return_address));
  }
  const auto* bytes = static_cast<const char*>(pointer);
  for (std::size_t at = 0; at < size; at += unit) {
    switch (unit) {
      case 1:
        record(bytes + at, return_address, op, 1);
        break;
      case 2:
        record(bytes + at, return_address, op, 2);
        break;
      default:
        record(bytes + at, return_address, op, 4);
        break;
    }
  }
}

// A function that is not inlined would run under the same code addresses from every caller, so lanes could not be
// merged.
GPUEXP_OUT_OF_LINE void enter_function(const void* return_address) {
  const std::uint64_t pc = address_of(return_address);
  if (hot.entry_pc == 0) {  // the runner checks that this was the kernel
    hot.entry_pc = pc;
    return;
  }
  refuse("is called but was not inlined into the kernel; mark it __device__, and avoid recursion and function pointers",
         pc);
}

}  // namespace

// Called on an access from within the emulator (atomics): the same checks, and the event.
void record_access(const void* pointer, const void* return_address, AccessKind op, int width) {
  switch (width) {
    case 1:
      return record(pointer, return_address, op, 1);
    case 2:
      return record(pointer, return_address, op, 2);
    case 4:
      return record(pointer, return_address, op, 4);
    case 8:
      return record(pointer, return_address, op, 8);
    default:
      return record(pointer, return_address, op, 16);
  }
}

}  // namespace gpuexp::simt

using gpuexp::simt::AccessKind;

// The names are the compiler's, reserved as they are.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {

void __sanitizer_cov_trace_pc() {
  using namespace gpuexp::simt;
  if (GPUEXP_UNLIKELY(hot.code_next >= hot.code_limit) && !make_room()) return;
  *hot.code_next++ = event_code(address_of(__builtin_return_address(0)), kBlockEvent);
}

#define GPUEXP_HOOK(name, op, width) \
  void name(void* address) { gpuexp::simt::record(address, __builtin_return_address(0), AccessKind::op, width); }
#define GPUEXP_HOOKS(width)                    \
  GPUEXP_HOOK(__tsan_read##width, load, width) \
  GPUEXP_HOOK(__tsan_write##width, store, width)
GPUEXP_HOOKS(1)
GPUEXP_HOOKS(2)
GPUEXP_HOOKS(4)
GPUEXP_HOOKS(8)
GPUEXP_HOOKS(16)

// Of objects whose type promises less alignment than their size: a GPU accesses them in parts.
#define GPUEXP_UNALIGNED_HOOKS(width)                                                           \
  void __tsan_unaligned_read##width(void* address) {                                            \
    gpuexp::simt::record_range(address, width, __builtin_return_address(0), AccessKind::load);  \
  }                                                                                             \
  void __tsan_unaligned_write##width(void* address) {                                           \
    gpuexp::simt::record_range(address, width, __builtin_return_address(0), AccessKind::store); \
  }
GPUEXP_UNALIGNED_HOOKS(2)
GPUEXP_UNALIGNED_HOOKS(4)
GPUEXP_UNALIGNED_HOOKS(8)
GPUEXP_UNALIGNED_HOOKS(16)

void __tsan_read_range(void* address, std::size_t size) {
  gpuexp::simt::record_range(address, size, __builtin_return_address(0), AccessKind::load);
  gpuexp::simt::hot.counted_read = address;
}
void __tsan_write_range(void* address, std::size_t size) {
  gpuexp::simt::record_range(address, size, __builtin_return_address(0), AccessKind::store);
  gpuexp::simt::hot.counted_write = address;
}

void __tsan_func_entry(void* /*caller*/) {
  using gpuexp::simt::hot;
  if (hot.lane == nullptr) return;
  hot.lane->in_kernel = true;
  const void* pc = __builtin_return_address(0);
  if (GPUEXP_UNLIKELY(gpuexp::simt::address_of(pc) != hot.entry_pc)) {
    gpuexp::simt::enter_function(pc);
    // The kernel's frame exists by now.
    hot.frame_bytes =
        hot.lane->stack_low + hot.lane->stack_bytes - gpuexp::simt::address_of(__builtin_frame_address(0));
  }
}
void __tsan_func_exit() {}
void __tsan_init() {}
void __tsan_vptr_update(void* /*object*/, void* /*value*/) {}
void __tsan_vptr_read(void* /*object*/) {}

// Copies of memory left to a function (tools/prepare_kernel_objects.cpp binds the C library's names to these). g++ has
// counted a struct's copy before it calls memcpy for it.
void* gpuexp_simt_memmove(void* to, const void* from, std::size_t size) {
  using gpuexp::simt::hot;
  const auto* pc = static_cast<const char*>(__builtin_return_address(0));
  if (hot.counted_read != from) gpuexp::simt::record_range(from, size, pc, AccessKind::load);
  if (hot.counted_write != to) gpuexp::simt::record_range(to, size, pc + 1, AccessKind::store);
  hot.counted_read = hot.counted_write = nullptr;
  return std::memmove(to, from, size);
}
void* gpuexp_simt_memcpy(void* to, const void* from, std::size_t size) __attribute__((alias("gpuexp_simt_memmove")));
void* gpuexp_simt_memset(void* to, int value, std::size_t size) {
  using gpuexp::simt::hot;
  if (hot.counted_write != to) {
    gpuexp::simt::record_range(to, size, __builtin_return_address(0), AccessKind::store);
  }
  hot.counted_write = nullptr;
  return std::memset(to, value, size);
}
void* __tsan_memcpy(void* to, const void* from, std::size_t size) __attribute__((alias("gpuexp_simt_memmove")));
void* __tsan_memmove(void* to, const void* from, std::size_t size) __attribute__((alias("gpuexp_simt_memmove")));
void* __tsan_memset(void* to, int value, std::size_t size) __attribute__((alias("gpuexp_simt_memset")));

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
