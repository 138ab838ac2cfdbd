// Fibers and their stacks.
#include "profiler/backend/simt/fiber_pool.h"

#include <sys/mman.h>

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

// As if the first instruction of `main` had just called a function that switched away: the frame pointer and the place
// to go on at. The ABI wants the stack pointer 8 below a multiple of 16 on entry.
void FiberPool::prepare(Fiber& fiber) {
  auto* slot = reinterpret_cast<std::uint64_t*>(fiber.stack_low + stack_bytes_) - 3;
  slot[0] = 0;
  slot[1] = reinterpret_cast<std::uint64_t>(main_);
  slot[2] = 0;  // where `main` would return to
  fiber.context = slot;
}

}  // namespace gpuexp::simt
