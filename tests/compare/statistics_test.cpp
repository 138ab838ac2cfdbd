// The statistics against exact values, and their promises on synthetic samples: few false alarms, small changes found.
#include "profiler/compare/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace gpuexp {
namespace {

using testing::Each;
using testing::Lt;

std::vector<double> counting(int first, int last) {
  std::vector<double> values;
  for (int i = first; i <= last; ++i) values.push_back(i);
  return values;
}

TEST(RankTest, ExactValues) {
  // Complete separation: 2 of the C(n+m, n) ways are as extreme.
  EXPECT_NEAR(rank_test_p(counting(1, 3), counting(4, 6)), 2.0 / 20, 1e-12);
  EXPECT_NEAR(rank_test_p(counting(1, 10), counting(11, 20)), 2.0 / 184756, 1e-12);
  EXPECT_NEAR(rank_test_p(counting(1, 4), counting(5, 10)), 2.0 / 210, 1e-12);
  // Mann and Whitney's table: n = m = 4, U = 1: P(U <= 1) = 2/70.
  EXPECT_NEAR(rank_test_p(std::vector<double>{1, 2, 3, 5}, std::vector<double>{4, 6, 7, 8}), 4.0 / 70, 1e-12);
}

TEST(RankTest, Ties) {
  EXPECT_EQ(rank_test_p(std::vector<double>(7, 5.0), std::vector<double>(9, 5.0)), 1);
  // {1,1} against {1,2}: of the 6 ways to choose two of the midranks 2,2,2,4 three give 4 and three give 6.
  EXPECT_EQ(rank_test_p(std::vector<double>{1, 1}, std::vector<double>{1, 2}), 1);
  // {1,1,1} against {2,2,2}: 2 of 20.
  EXPECT_NEAR(rank_test_p(std::vector<double>{1, 1, 1}, std::vector<double>{2, 2, 2}), 0.1, 1e-12);
}

TEST(RankTest, SymmetricAndOrderFree) {
  const std::vector<double> a{3, 1, 4, 1, 5, 9, 2, 6}, b{5, 3, 5, 8, 9, 7, 9};
  EXPECT_DOUBLE_EQ(rank_test_p(a, b), rank_test_p(b, a));
  const std::vector<double> reversed(a.rbegin(), a.rend());
  EXPECT_DOUBLE_EQ(rank_test_p(a, b), rank_test_p(reversed, b));
}

TEST(RankTest, NormalApproximationMeetsTheExactOne) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(100, 1);
  std::vector<double> a, b;
  for (int i = 0; i < 20; ++i) a.push_back(noise(random));
  for (int i = 0; i < 20; ++i) b.push_back(noise(random) + 0.6);
  const double exact = rank_test_p(a, b);
  b.push_back(100.3);  // one more value: beyond the exact limit
  EXPECT_NEAR(rank_test_p(a, b), exact, 0.05);
  EXPECT_EQ(rank_test_p(std::vector<double>(30, 1.0), std::vector<double>(30, 1.0)), 1);
}

TEST(RankTest, EmptySamples) {
  EXPECT_EQ(rank_test_p({}, counting(1, 5)), 1);
  EXPECT_EQ(rank_test_p(counting(1, 5), {}), 1);
  EXPECT_TRUE(std::isnan(median_of({})));
}

TEST(RatioInterval, CoversTheTrueFactor) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> noise(100, 2);
  int covered = 0;
  constexpr int runs = 1000;
  for (int run = 0; run < runs; ++run) {
    std::vector<double> a, b;
    for (int i = 0; i < 12; ++i) a.push_back(noise(random));
    for (int i = 0; i < 15; ++i) b.push_back(1.03 * noise(random));
    const auto [low, high] = ratio_interval(a, b, 0.05);
    covered += low <= 1.03 && 1.03 <= high ? 1 : 0;
  }
  EXPECT_GT(covered, 0.93 * runs);
}

TEST(Holm, StepsDown) {
  const std::vector<double> adjusted = holm_adjusted(std::vector<double>{0.01, 0.04, 0.03, 0.005}, 4);
  EXPECT_THAT(adjusted, testing::ElementsAre(testing::DoubleEq(0.03), testing::DoubleEq(0.06), testing::DoubleEq(0.06),
                                             testing::DoubleEq(0.02)));
  EXPECT_DOUBLE_EQ(holm_adjusted(std::vector<double>{0.001}, 100).front(), 0.1);  // 99 more tests were made
  EXPECT_DOUBLE_EQ(holm_adjusted(std::vector<double>{0.5}, 100).front(), 1);
}

TEST(BeyondDoubt, NeedsAWideGapAndEnoughValues) {
  EXPECT_TRUE(beyond_doubt(counting(1, 10), counting(100, 110)));
  EXPECT_TRUE(beyond_doubt(counting(100, 110), counting(1, 10)));
  EXPECT_FALSE(beyond_doubt(counting(1, 10), counting(12, 22)));  // apart, by less than the ranges
  EXPECT_FALSE(beyond_doubt(counting(1, 9), counting(100, 110)));
  EXPECT_FALSE(beyond_doubt(counting(1, 10), counting(5, 15)));
}

// --- promises, decided as compare() decides: relevant, and significant after the correction ---

struct Noise {
  const char* name;
  double (*draw)(std::mt19937_64&);
};
constexpr Noise noises[] = {
    {"normal, 10 %", [](std::mt19937_64& r) { return 100 * (1 + std::normal_distribution<double>(0, 0.1)(r)); }},
    {"skewed", [](std::mt19937_64& r) { return 100 * (1 + std::exponential_distribution<double>(8)(r)); }},
    {"two modes", [](std::mt19937_64& r) { return std::bernoulli_distribution(0.5)(r) ? 100.0 : 108.0; }},
    {"quantised", [](std::mt19937_64& r) { return std::round(std::normal_distribution<double>(20, 1)(r)); }},
};

bool alarm(const std::vector<double>& a, const std::vector<double>& b, double alpha) {
  if (std::abs(median_of(b) / median_of(a) - 1) <= 0.02) return false;
  return beyond_doubt(a, b) || rank_test_p(a, b) <= alpha;
}

TEST(Promise, FalseAlarmsStayWithinTheBound) {
  constexpr int comparisons = 3000;
  constexpr double alpha = 0.01;
  for (const Noise& noise : noises) {
    std::mt19937_64 random(2026);
    int alarms = 0;
    for (int i = 0; i < comparisons; ++i) {
      std::vector<double> a, b;
      for (int k = 0; k < 10; ++k) a.push_back(noise.draw(random));
      for (int k = 0; k < 10; ++k) b.push_back(noise.draw(random));
      alarms += alarm(a, b, alpha) ? 1 : 0;
    }
    // Three standard deviations of a binomial count above the promise.
    EXPECT_LE(alarms, comparisons * alpha + 3 * std::sqrt(comparisons * alpha)) << noise.name;
    // The test is not idle: with 10 % of noise it does err, about as often as promised.
    if (&noise == noises) {
      EXPECT_GE(alarms, comparisons * alpha / 4);
    }
  }
}

TEST(Promise, ASlowdownOf3PercentUnderHalfAPercentOfNoiseIsFoundAmong30Points) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(0, 0.005);
  for (int run = 0; run < 200; ++run) {
    std::vector<double> a, b;
    for (int k = 0; k < 10; ++k) a.push_back(250 * (1 + noise(random)));
    for (int k = 0; k < 10; ++k) b.push_back(250 * 1.03 * (1 + noise(random)));
    EXPECT_TRUE(alarm(a, b, 0.01 / 30)) << median_of(b) / median_of(a) << " p " << rank_test_p(a, b);
  }
}

}  // namespace
}  // namespace gpuexp
