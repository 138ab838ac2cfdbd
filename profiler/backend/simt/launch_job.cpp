// The order of blocks and the reasons to stop a launch.
#include "profiler/backend/simt/launch_job.h"

#include <algorithm>
#include <functional>

namespace gpuexp::simt {

void LaunchJob::finish(std::uint64_t position) {
  const std::lock_guard lock(mutex_);
  finished_.push_back(position);
  std::push_heap(finished_.begin(), finished_.end(), std::greater<>());
  while (!finished_.empty() && finished_.front() == first_unfinished_) {
    std::pop_heap(finished_.begin(), finished_.end(), std::greater<>());
    finished_.pop_back();
    ++first_unfinished_;
  }
  progress_.notify_all();
}

bool LaunchJob::wait_for_earlier(std::uint64_t position) {
  std::unique_lock lock(mutex_);
  while (first_unfinished_ < position && !should_stop()) progress_.wait_for(lock, std::chrono::milliseconds(50));
  return stopped() == Stop::none;
}

bool LaunchJob::should_stop() {
  if (stopped() != Stop::none) return true;
  if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) stop(Stop::cancelled);
  if (std::chrono::steady_clock::now() > deadline) stop(Stop::timed_out);
  if (memory->over_limit()) stop(Stop::over_memory);
  return stopped() != Stop::none;
}

void LaunchJob::stop(Stop why) {
  int none = 0;
  stop_.compare_exchange_strong(none, static_cast<int>(why));
}

void LaunchJob::refuse(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (refusal_.empty() || what < refusal_) refusal_ = what;
  stop(Stop::refused);
}

}  // namespace gpuexp::simt
