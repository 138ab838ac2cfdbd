// Rank statistics without assumptions on the distribution: GPU times are skewed, quantised and often have two modes.
#include "profiler/compare/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

namespace gpuexp {
namespace {

constexpr std::size_t largest_exact = 40;    // values of both samples: some 1e6 additions
constexpr std::size_t largest_sample = 500;  // for the pairwise ratios

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::ranges::sort(copy);
  return copy;
}

struct Ranks {
  std::vector<std::uint32_t> doubled;  // of all values, sorted: twice the midrank, hence whole numbers
  std::uint64_t sum_a = 0;             // of the first sample's doubled ranks
  double tie_term = 0;                 // sum of t^3 - t over groups of t equal values
};

Ranks rank(std::span<const double> a, std::span<const double> b) {
  struct Value {
    double value;
    bool in_a;
  };
  std::vector<Value> pooled;
  for (const double value : a) pooled.push_back({value, true});
  for (const double value : b) pooled.push_back({value, false});
  std::ranges::sort(pooled, {}, &Value::value);
  Ranks ranks;
  for (std::size_t first = 0, end = 0; first < pooled.size(); first = end) {
    while (end < pooled.size() && pooled[end].value == pooled[first].value) ++end;
    const auto doubled = static_cast<std::uint32_t>(first + 1 + end);  // the ranks first + 1 ... end, averaged
    const auto ties = static_cast<double>(end - first);
    ranks.tie_term += ties * ties * ties - ties;
    for (std::size_t i = first; i < end; ++i) {
      ranks.doubled.push_back(doubled);
      if (pooled[i].in_a) ranks.sum_a += doubled;
    }
  }
  return ranks;
}

// Of all ways to choose `count` of the ranks: the share whose sum is as far from the mean as `observed`, or farther.
double exact_p(const std::vector<std::uint32_t>& doubled, std::size_t count, std::uint64_t observed) {
  const auto total = std::accumulate(doubled.begin(), doubled.end(), std::uint64_t{0});
  // ways[c][s]: choices of c ranks with the sum s among those seen so far.
  std::vector<std::vector<double>> ways(count + 1, std::vector<double>(total + 1, 0.0));
  ways[0][0] = 1;
  for (const std::uint32_t value : doubled)
    for (std::size_t c = count; c-- > 0;)
      for (std::uint64_t s = total - value + 1; s-- > 0;)
        if (ways[c][s] != 0) ways[c + 1][s + value] += ways[c][s];
  const double mean = static_cast<double>(count) * static_cast<double>(total) / static_cast<double>(doubled.size());
  const double distance = std::abs(static_cast<double>(observed) - mean) - 1e-6;  // whole numbers; the mean is rounded
  double all = 0, extreme = 0;
  for (std::uint64_t s = 0; s <= total; ++s) {
    all += ways[count][s];
    if (std::abs(static_cast<double>(s) - mean) >= distance) extreme += ways[count][s];
  }
  return std::min(1.0, extreme / all);
}

double rank_deviation(std::size_t size_a, std::size_t size_b, double tie_term) {
  const auto n = static_cast<double>(size_a), m = static_cast<double>(size_b), both = n + m;
  return std::sqrt(n * m / 12 * (both + 1 - tie_term / (both * (both - 1))));
}

std::vector<double> thinned(std::span<const double> values) {
  std::vector<double> all = sorted(values);
  if (all.size() <= largest_sample) return all;
  std::vector<double> some;
  for (std::size_t i = 0; i < largest_sample; ++i) some.push_back(all[(2 * i + 1) * all.size() / (2 * largest_sample)]);
  return some;
}

// z with a two-sided tail of alpha, by bisection of normal_p.
double normal_quantile(double alpha) {
  double low = 0, high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (normal_p(middle) > alpha ? low : high) = middle;
  }
  return high;
}

}  // namespace

double median_of(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> all = sorted(values);
  const std::size_t n = all.size();
  return n % 2 == 1 ? all[n / 2] : (all[n / 2 - 1] + all[n / 2]) / 2;
}

double normal_p(double z) { return std::erfc(std::abs(z) / std::sqrt(2.0)); }

double rank_test_p(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return 1;
  const Ranks ranks = rank(a, b);
  if (a.size() + b.size() <= largest_exact) return exact_p(ranks.doubled, a.size(), ranks.sum_a);
  const double deviation = rank_deviation(a.size(), b.size(), ranks.tie_term);
  if (!(deviation > 0)) return 1;  // all values are equal
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  const double distance = std::abs(static_cast<double>(ranks.sum_a) / 2 - n * (n + m + 1) / 2);
  return normal_p(std::max(0.0, distance - 0.5) / deviation);
}

std::pair<double, double> ratio_interval(std::span<const double> a, std::span<const double> b, double alpha) {
  const std::vector<double> from = thinned(a), to = thinned(b);
  std::vector<double> ratios;
  ratios.reserve(from.size() * to.size());
  for (const double x : from)
    for (const double y : to) ratios.push_back(y / x);
  if (ratios.empty()) return {0, std::numeric_limits<double>::infinity()};
  std::ranges::sort(ratios);
  const auto pairs = static_cast<double>(ratios.size());
  const double reach = normal_quantile(alpha) * rank_deviation(from.size(), to.size(), 0);
  const auto outside = static_cast<std::size_t>(std::clamp(std::floor(pairs / 2 - reach), 0.0, (pairs - 1) / 2));
  return {ratios[outside], ratios[ratios.size() - 1 - outside]};
}

bool beyond_doubt(std::span<const double> a, std::span<const double> b) {
  constexpr std::size_t fewest = 10;
  if (a.size() < fewest || b.size() < fewest) return false;
  const auto [low_a, high_a] = std::ranges::minmax(a);
  const auto [low_b, high_b] = std::ranges::minmax(b);
  const double gap = std::max(low_b - high_a, low_a - high_b);
  return gap > 0 && gap > (high_a - low_a) + (high_b - low_b);
}

std::vector<double> holm_adjusted(std::span<const double> p_values, std::size_t family) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return p_values[i]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto remaining = static_cast<double>(std::max(family, p_values.size()) - i);
    largest = std::max(largest, std::min(1.0, remaining * p_values[order[i]]));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

}  // namespace gpuexp
