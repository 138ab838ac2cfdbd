// Times a point with CUDA events: cold or warm L2, launch latency hidden, until the median is known well enough.
//
// Hazards and what is done about each:
// - The L2 still holds the last run's data: before each sample, twice the L2's size is read (not written: dirty lines
//   would be written back at the next kernel's cost), outside the timed interval.
// - The GPU waits for the host between the first event and the launch: a delay kernel keeps the stream busy while
//   events and launches are queued; when it ends too early, the sample is dropped and the delay doubled.
// - The GPU clocks down: clocks of one SM are read before and after; samples taken at a throttled clock are discarded.
// - The kernel is shorter than what events resolve: with a warm L2, launches are batched in a CUDA graph.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "profiler/backend/cuda/statistics.h"
#include "profiler/core/point.h"

namespace gpuexp::cuda {

// What is timed. Both queue work on the timer's stream and return at once.
struct Timed {
  std::function<void()> launch;
  std::function<void()> restore;  // puts in-out buffers back; may be empty
};

struct TimedPoint {
  Timing timing;
  std::vector<std::string> warnings;
  bool batched = false;  // several launches ran without a restore between them
};

class Timer {
 public:
  // `l2_bytes`: of the device; the buffer read before cold samples is twice as large.
  Timer(cudaStream_t stream, std::size_t l2_bytes);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Throws CudaFailure.
  TimedPoint time(const Timed& timed, bool cold_l2, SamplingGoal goal);
  // Queues what empties the L2 of anything else; also used before counting.
  void queue_flush();
  // What an empty kernel between two events measures, in microseconds: the floor of every single sample.
  [[nodiscard]] double floor_us() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpuexp::cuda
