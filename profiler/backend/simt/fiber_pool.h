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

extern "C" {
// Saves the running fiber's place in `*from` and goes on at `to`; returns when somebody switches back. Unlike
// Boost.Context's jump it leaves the floating-point control words alone, which no kernel changes and which take longer
// than all the rest (x86-64, System V ABI).
void gpuexp_simt_switch(Context* from, Context to) noexcept;
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
  Fiber* take();
  // `context`: where it stands; null when it is stuck within a kernel, to start afresh.
  void give(Fiber* fiber, Context context);

 private:
  std::uint64_t stack_bytes_;
  Main main_;
  Mapping stacks_;
  std::vector<Fiber> fibers_;
  std::vector<Fiber*> free_;
};

}  // namespace gpuexp::simt
