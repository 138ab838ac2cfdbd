// Counts hardware events over a point's launches with CUPTI's range profiler: user ranges, user replay.
//
// The replay loop: for each pass the caller's work is queued again, between "range begins" and "range ends"; what is
// queued before the range (flushing, restoring buffers) is not counted. After the last pass the counter image is
// decoded and evaluated by metric name. The profiler stays enabled while the same metrics are counted, because enabling
// it takes longer than a pass; between passes it is stopped, and a stopped profiler leaves times as they are (a GPU
// test holds that).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "profiler/backend/cuda/gpu/metric_set.h"

namespace gpuexp::cuda {

class RangeProfiler {
 public:
  // For the calling thread's CUDA context on this device. Throws CuptiFailure when CUPTI or permission is missing.
  explicit RangeProfiler(int device);
  ~RangeProfiler();
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  [[nodiscard]] const std::string& chip() const;  // "GH100"
  // The set for these metrics; kept, as a sweep asks for the same one at every point.
  const MetricSet& metrics(const std::vector<std::string>& names);
  // Runs `prepare` and `launch` once per pass; both end synchronised with the device. Values by metric name.
  std::map<std::string, double> count(const MetricSet& set, const std::function<void()>& prepare,
                                      const std::function<void()>& launch);

 private:
  class Session;
  static std::map<std::string, double> replay(Session& session, const MetricSet& set,
                                              const std::function<void()>& prepare,
                                              const std::function<void()>& launch);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpuexp::cuda
