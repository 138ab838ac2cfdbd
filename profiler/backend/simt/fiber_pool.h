// Fibers and their stacks, handed out again last in, first out, so that a new thread finds a stack that is still
// cached.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/backend/simt/device_memory.h"

namespace gpuexp::simt {

class FiberPool;

// Where a fiber stands: its stack pointer, with what must survive a call saved there.
using Context = void*;

// Saves the running fiber's place in `*from` and goes on at `to`; returns when somebody switches back (x86-64, System V
// ABI). Expanded in place, as no call is made, the processor's stack of return addresses stays that of code which all
// lanes run alike, and its guesses stay right. The floating-point control words are left alone: no kernel changes them.
inline __attribute__((always_inline)) void switch_context(Context* from, Context to) {
  __asm__ volatile(
      "leaq -128(%%rsp), %%rsp\n\t"  // the red zone
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "pushq %%rbp\n\t"
      "movq %%rsp, (%[from])\n\t"
      "movq %[to], %%rsp\n\t"
      "popq %%rbp\n\t"
      "popq %%rcx\n\t"
      "jmp *%%rcx\n"
      "1:\n\t"
      "leaq 128(%%rsp), %%rsp"
      : [from] "+D"(from), [to] "+S"(to)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2",
        "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
        "cc", "memory");
}

struct Fiber {
  Context context = nullptr;  // while nobody has it; null: to be started
  std::uint64_t stack_low = 0;
  FiberPool* pool = nullptr;
};

class FiberPool {
 public:
  using Main = void (*)();

  // `count` fibers that start in `main`, which must not return. `dense`: all stacks will be used, so that large pages
  // pay.
  FiberPool(std::uint32_t count, std::uint64_t stack_bytes, bool dense, Main main);
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;

  [[nodiscard]] std::uint64_t stack_bytes() const { return stack_bytes_; }
  // One that stands at the start of `main` or where it was given back. There must be one left.
  Fiber* take() {
    Fiber* fiber = free_.back();
    free_.pop_back();
    if (fiber->context == nullptr) prepare(*fiber);
    return fiber;
  }
  // `context`: where it stands; null when it is stuck within a kernel, to start afresh.
  void give(Fiber* fiber, Context context) {
    fiber->context = context;
    free_.push_back(fiber);
  }

 private:
  void prepare(Fiber& fiber);

  std::uint64_t stack_bytes_;
  Main main_;
  Mapping stacks_;
  std::vector<Fiber> fibers_;
  std::vector<Fiber*> free_;
};

}  // namespace gpuexp::simt
