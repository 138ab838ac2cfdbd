// What decides when enough time samples are taken, and which of them count.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace gpuexp::cuda {

// Median of the values; nothing when there are none.
std::optional<double> median(std::span<const double> values);

// Half the width of the distribution-free 95 % confidence interval of the median (order statistics, ranks
// n/2 -+ 0.98 sqrt(n)), relative to the median. It shrinks as samples are added, whatever their distribution, and says
// how well the reported median is known. Nothing below six samples, where no such interval exists, or for a median of
// 0.
std::optional<double> median_noise(std::span<const double> values);

// One timed launch and the mean SM clock while it ran (0 = not measured).
struct Sample {
  double time_us = 0;
  double sm_clock_mhz = 0;
};

struct KeptSamples {
  std::vector<double> times_us;        // in the order taken
  int discarded = 0;                   // taken while the GPU was throttled
  std::optional<double> sm_clock_mhz;  // median over the kept ones
  bool unsteady = false;               // throttled so often that nothing was discarded
};
// Discards samples whose clock was more than 5 % below the median clock. When that would be over a third of them the
// clock is a trait of the run, not an accident: all are kept, and `unsteady` is set.
KeptSamples discard_throttled(std::span<const Sample> samples);

// When to stop sampling.
struct SamplingGoal {
  double max_noise = 0.005;
  double max_time_s = 2.0;
  int min_samples = 10;
  double resolution_us = 0;  // of the clock: a median known to within it cannot be known better
};
// `spent_s`: wall time since sampling began. At the time cap it stops with what it has, once there is one sample.
bool enough_samples(std::span<const Sample> samples, double spent_s, const SamplingGoal& goal);

}  // namespace gpuexp::cuda
