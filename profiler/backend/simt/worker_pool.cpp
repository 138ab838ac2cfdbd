// The emulator's OS threads.
#include "profiler/backend/simt/worker_pool.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace gpuexp::simt {

WorkerPool::WorkerPool(int threads) {
  for (int i = 0; i < std::max(threads, 1); ++i) threads_.emplace_back([this, i] { serve(i); });
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
  BlockRunner runner;
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
      task(runner, index);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && !failure_) failure_ = failure;
    if (--running_ == 0) done_.notify_all();
  }
}

}  // namespace gpuexp::simt
