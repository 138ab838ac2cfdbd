// Turning signals of kernel code into faults of lanes (x86-64, as the switch of fibers).
#include "profiler/backend/simt/kernel_faults.h"

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <ucontext.h>

#include "profiler/backend/simt/lane.h"

namespace gpuexp::simt {
namespace {

struct Handled {
  int signal;
  const char* what;  // ends the sentence "<kernel> ..."
  struct sigaction before;
};

constexpr const char* kBadMemory =
    "touches memory beyond the emulator's checks, as a call through a null pointer or an overrun local array does";

Handled handled[] = {
    {SIGFPE, "divides an integer by zero, or the least integer by -1: CUDA leaves the result undefined", {}},
    {SIGILL, "runs into a trap", {}},
    {SIGTRAP, "runs into a trap", {}},
    {SIGSEGV, kBadMemory, {}},
    {SIGBUS, kBadMemory, {}},
};

// Where a faulty lane goes on: it leaves for the scheduler and is never resumed.
[[noreturn]] void leave_lane() {
  switch_to_scheduler(LaneState::stopped);
  __builtin_unreachable();
}

void on_signal(int signal, siginfo_t* info, void* context) {
  Handled* entry = handled;
  while (entry->signal != signal) ++entry;
  if (hot.lane == nullptr || info->si_code <= 0) {  // not of a kernel, or sent by a process
    sigaction(signal, &entry->before, nullptr);
    if (info->si_code <= 0) raise(signal);
    return;  // what faulted faults again
  }
  greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  auto pc = static_cast<std::uint64_t>(registers[REG_RIP]);
  auto stack = static_cast<std::uint64_t>(registers[REG_RSP]);
  const bool on_stack = hot.lane->on_stack(stack) && hot.lane->on_stack(stack + sizeof(void*));
  if (signal == SIGSEGV && reinterpret_cast<std::uint64_t>(info->si_addr) == pc && on_stack) {
    pc = *reinterpret_cast<const std::uint64_t*>(stack);  // a call to nowhere: its place is where it would return
  } else {
    ++pc;  // places are looked up by return address
  }
  detail_of(*hot.lane).fault = {FaultKind::refused, 0, 0, entry->what, reinterpret_cast<const void*>(pc)};
  stack = (hot.lane->stack_low + hot.lane->stack_bytes / 2) &
          ~std::uint64_t{15};                                       // nothing on the lane's stack is needed again
  registers[REG_RSP] = static_cast<greg_t>(stack - sizeof(void*));  // aligned as after a call
  registers[REG_RIP] = reinterpret_cast<greg_t>(&leave_lane);
}

// The signal stack of a thread: a kernel's own stack may be what is broken. One that is there already is kept.
class SignalStack {
 public:
  SignalStack() {
    stack_t present{};
    sigaltstack(nullptr, &present);
    if ((present.ss_flags & SS_DISABLE) == 0) return;
    memory_ = std::make_unique<std::byte[]>(kBytes);
    stack_t mine{};
    mine.ss_sp = memory_.get();
    mine.ss_size = kBytes;
    sigaltstack(&mine, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  ~SignalStack() {
    if (memory_ == nullptr) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{64} * 1024;  // a signal's frame holds all vector registers
  std::unique_ptr<std::byte[]> memory_;
};

bool install() {
  for (Handled& entry : handled) {
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(entry.signal, &action, &entry.before);
  }
  return true;
}

}  // namespace

void contain_kernel_faults() {
  static const bool installed = install();
  static_cast<void>(installed);
  thread_local const SignalStack stack;
  static_cast<void>(stack);
}

}  // namespace gpuexp::simt
