// Fibers and their stacks.
#include "profiler/backend/simt/fiber_pool.h"

#include <sys/mman.h>

// The jump is indirect because a return would be predicted by the stack that was left.
__asm__(R"(
  .text
  .globl gpuexp_simt_switch
  .type gpuexp_simt_switch, @function
  .p2align 4
gpuexp_simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmp *%rcx
  .size gpuexp_simt_switch, .-gpuexp_simt_switch
)");

namespace gpuexp::simt {
namespace {
constexpr std::uint64_t kLargePage = std::uint64_t{2} << 20U;
// Tops of neighbouring stacks differ by an odd number of cache lines, so that their frames use different cache sets.
constexpr std::uint64_t kCacheLine = 64;
}  // namespace

FiberPool::FiberPool(std::uint32_t count, std::uint64_t stack_bytes, bool dense, Main main)
    : stack_bytes_(stack_bytes / kCacheLine * kCacheLine),
      main_(main),
      stacks_(count * (stack_bytes_ + 9 * kCacheLine) + kLargePage),
      fibers_(count) {
  const auto begin = reinterpret_cast<std::uint64_t>(stacks_.data());
  const std::uint64_t first = (begin + kLargePage - 1) / kLargePage * kLargePage;
  if (dense) madvise(reinterpret_cast<void*>(first), stacks_.size() - (first - begin), MADV_HUGEPAGE);
  for (std::uint32_t i = count; i-- > 0;) {
    fibers_[i].stack_low = first + i * (stack_bytes_ + 9 * kCacheLine);
    fibers_[i].pool = this;
    free_.push_back(&fibers_[i]);
  }
}

Fiber* FiberPool::take() {
  Fiber* fiber = free_.back();
  free_.pop_back();
  if (fiber->context == nullptr) {
    // As if `main` had called the switch in its first instruction: six saved registers, then its address. The ABI wants
    // the stack pointer 8 below a multiple of 16 on entry.
    constexpr std::size_t saved = 6;
    auto* slot = reinterpret_cast<std::uint64_t*>(fiber->stack_low + stack_bytes_) - 1 - saved - 1;
    for (std::size_t i = 0; i < saved; ++i) slot[i] = 0;
    slot[saved] = reinterpret_cast<std::uint64_t>(main_);
    slot[saved + 1] = 0;  // where `main` would return to
    fiber->context = slot;
  }
  return fiber;
}

void FiberPool::give(Fiber* fiber, Context context) {
  fiber->context = context;
  free_.push_back(fiber);
}

}  // namespace gpuexp::simt
