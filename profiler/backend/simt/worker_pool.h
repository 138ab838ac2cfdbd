// The emulator's OS threads. Each keeps its fibers and shared memory from launch to launch.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "profiler/backend/simt/block_runner.h"

namespace gpuexp::simt {

class WorkerPool {
 public:
  explicit WorkerPool(int threads);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();

  [[nodiscard]] int size() const { return static_cast<int>(threads_.size()); }
  // Calls task(runner, index of the thread) on the first `threads` of them and waits for all. What the first of them
  // throws is thrown here.
  void run(int threads, const std::function<void(BlockRunner&, int)>& task);

 private:
  void serve(int index);

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(BlockRunner&, int)>* task_ = nullptr;
  std::uint64_t generation_ = 0;
  int wanted_ = 0, running_ = 0;
  bool quit_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace gpuexp::simt
