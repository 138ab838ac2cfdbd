// The order of blocks and the reasons to stop a launch.
#include "profiler/backend/simt/launch_job.h"

#include <algorithm>
#include <functional>

namespace gpuexp::simt {

void LaunchJob::begin_round(std::uint64_t count, int threads) {
  constexpr std::uint64_t cache_line_of_sectors = 16;  // blocks of 32 floats in a row
  constexpr std::uint64_t turns = 8;                   // at least, of each thread, so that all end together
  const auto shares = static_cast<std::uint64_t>(std::max(threads, 1)) * turns;
  most_at_once_ = std::clamp(count / shares, std::uint64_t{1}, cache_line_of_sectors);
  count_ = count;
  next_ = 0;
  ordered_ = false;
  finished_.clear();
  first_unfinished_ = 0;
}

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
  ordered_.store(true, std::memory_order_relaxed);
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
