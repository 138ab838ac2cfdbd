// Medians, their confidence, and throttled samples.
#include "profiler/backend/cuda/statistics.h"

#include <algorithm>
#include <cmath>

namespace gpuexp::cuda {
namespace {

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

double median_of_sorted(const std::vector<double>& values) {
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

}  // namespace

std::optional<double> median(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  return median_of_sorted(sorted(values));
}

std::optional<double> median_noise(std::span<const double> values) {
  constexpr std::size_t fewest = 6;
  if (values.size() < fewest) return std::nullopt;
  const std::vector<double> ordered = sorted(values);
  const double middle = median_of_sorted(ordered);
  if (!(middle > 0)) return std::nullopt;
  const auto n = static_cast<double>(ordered.size());
  const double reach = 0.98 * std::sqrt(n);
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(n / 2 - reach)));
  const auto high = std::min(ordered.size() - 1, static_cast<std::size_t>(std::ceil(n / 2 + reach)));
  return (ordered[high] - ordered[low]) / 2 / middle;
}

KeptSamples discard_throttled(std::span<const Sample> samples) {
  std::vector<double> clocks;
  for (const Sample& sample : samples)
    if (sample.sm_clock_mhz > 0) clocks.push_back(sample.sm_clock_mhz);
  const double usual = median(clocks).value_or(0);
  const auto throttled = [&](const Sample& s) { return s.sm_clock_mhz > 0 && s.sm_clock_mhz < 0.95 * usual; };
  const auto slow = static_cast<std::size_t>(std::count_if(samples.begin(), samples.end(), throttled));
  KeptSamples kept;
  kept.unsteady = slow * 3 > samples.size();
  std::vector<double> kept_clocks;
  for (const Sample& sample : samples) {
    if (throttled(sample) && !kept.unsteady) {
      ++kept.discarded;
      continue;
    }
    kept.times_us.push_back(sample.time_us);
    if (sample.sm_clock_mhz > 0) kept_clocks.push_back(sample.sm_clock_mhz);
  }
  kept.sm_clock_mhz = median(kept_clocks);
  return kept;
}

bool enough_samples(std::span<const Sample> samples, double spent_s, const SamplingGoal& goal) {
  if (samples.empty()) return false;
  if (spent_s >= goal.max_time_s) return true;
  const KeptSamples kept = discard_throttled(samples);
  if (kept.times_us.size() < static_cast<std::size_t>(std::max(goal.min_samples, 1))) return false;
  const std::optional<double> noise = median_noise(kept.times_us);
  return noise && (*noise <= goal.max_noise || *noise * *median(kept.times_us) <= goal.resolution_us);
}

}  // namespace gpuexp::cuda
