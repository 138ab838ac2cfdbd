// When enough samples are taken, and which of them count.
#include "profiler/backend/cuda/statistics.h"

#include <gtest/gtest.h>

namespace gpuexp::cuda {
namespace {

TEST(Statistics, MedianOfNoneOddAndEven) {
  EXPECT_FALSE(median({}).has_value());
  EXPECT_EQ(median(std::vector{3.0}), 3.0);
  EXPECT_EQ(median(std::vector{9.0, 1.0, 5.0}), 5.0);
  EXPECT_EQ(median(std::vector{4.0, 1.0, 2.0, 9.0}), 3.0);
}

TEST(Statistics, NoiseNeedsSixSamplesAndAPositiveMedian) {
  EXPECT_FALSE(median_noise(std::vector(5, 1.0)).has_value());
  EXPECT_FALSE(median_noise(std::vector(8, 0.0)).has_value());
  EXPECT_EQ(median_noise(std::vector(6, 1.0)), 0.0);
}

TEST(Statistics, NoiseIsTheIntervalOfTheMedianAndIgnoresOneOutlier) {
  // n = 16: ranks 8 -+ 3.92, so the 5th and the 13th value (from 0: 4 and 12) of 100, 101, ..., 115.
  std::vector<double> values;
  for (int i = 0; i < 16; ++i) values.push_back(100 + i);
  EXPECT_DOUBLE_EQ(*median_noise(values), (112.0 - 104.0) / 2 / 107.5);
  values.back() = 1e9;
  EXPECT_DOUBLE_EQ(*median_noise(values), (112.0 - 104.0) / 2 / 107.5);
}

TEST(Statistics, NoiseShrinksWithSamples) {
  std::vector<double> few, many;
  for (int i = 0; i < 10; ++i) few.push_back(100 + i % 5);
  for (int i = 0; i < 1000; ++i) many.push_back(100 + i % 5);
  EXPECT_LT(*median_noise(many), *median_noise(few));
}

TEST(Statistics, SlowClockedSamplesAreDiscardedAndCounted) {
  const std::vector<Sample> samples{{10, 1980}, {11, 1975}, {30, 1200}, {10, 1980}, {12, 0}};
  const KeptSamples kept = discard_throttled(samples);
  EXPECT_EQ(kept.times_us, (std::vector{10.0, 11.0, 10.0, 12.0}));  // no clock: no reason to discard
  EXPECT_EQ(kept.discarded, 1);
  EXPECT_EQ(kept.sm_clock_mhz, 1980);
  EXPECT_FALSE(kept.unsteady);
}

TEST(Statistics, AClockThatVariesAllTheTimeDiscardsNothing) {
  const std::vector<Sample> samples{{10, 1980}, {20, 1000}, {10, 1980}, {20, 1000}, {10, 1980}};
  const KeptSamples kept = discard_throttled(samples);
  EXPECT_EQ(kept.times_us.size(), 5U);
  EXPECT_EQ(kept.discarded, 0);
  EXPECT_TRUE(kept.unsteady);
}

TEST(Statistics, SamplingStopsAtGoalCapOrResolution) {
  const std::vector<Sample> steady(10, Sample{100, 1980});
  const std::vector<Sample> nine(9, Sample{100, 1980});
  const SamplingGoal goal{0.005, 2.0, 10, 0};
  EXPECT_FALSE(enough_samples({}, 100, goal)) << "at least one sample, however long it takes";
  EXPECT_TRUE(enough_samples(std::vector<Sample>(1, Sample{1, 0}), 2.0, goal)) << "time cap";
  EXPECT_FALSE(enough_samples(nine, 0.1, goal));
  EXPECT_TRUE(enough_samples(steady, 0.1, goal));
  std::vector<Sample> coarse;  // two neighbouring ticks of a 0.032 us clock: 0.9 % of the median
  for (int i = 0; i < 100; ++i) coarse.push_back({i % 2 == 0 ? 3.456 : 3.488, 1980});
  EXPECT_TRUE(enough_samples(coarse, 0.1, {0.001, 2.0, 10, 0.032}));
  EXPECT_FALSE(enough_samples(coarse, 0.1, {0.001, 2.0, 10, 0.0}));
}

}  // namespace
}  // namespace gpuexp::cuda
