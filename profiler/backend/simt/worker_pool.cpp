// The emulator's OS threads.
#include "profiler/backend/simt/worker_pool.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <system_error>
#include <utility>

namespace gpuexp::simt {

WorkerPool::WorkerPool(int threads) {
  const int wanted = std::max(threads, 1);
  threads_.reserve(static_cast<std::size_t>(wanted));
  try {
    for (int i = 0; i < wanted; ++i) threads_.emplace_back([this, i] { serve(i); });
  } catch (const std::system_error&) {  // the system gives no more: counts do not depend on how many there are
    if (threads_.empty()) throw;
  }
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::run(int threads, const std::function<void(BlockRunner&, int)>& task) {
  std::unique_lock lock(mutex_);
  task_ = &task;
  wanted_ = running_ = std::clamp(threads, 1, size());
  ++generation_;
  wake_.notify_all();
  done_.wait(lock, [&] { return running_ == 0; });
  task_ = nullptr;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void WorkerPool::serve(int index) {
  std::optional<BlockRunner> runner;  // made by the first task, so that a lack of memory is that task's failure
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return quit_ || generation_ != seen; });
    if (quit_) return;
    seen = generation_;
    if (index >= wanted_) continue;
    const auto& task = *task_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      if (!runner) runner.emplace();
      task(*runner, index);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && !failure_) failure_ = failure;
    if (--running_ == 0) done_.notify_all();
  }
}

}  // namespace gpuexp::simt
