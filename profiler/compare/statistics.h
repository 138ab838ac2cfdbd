// Whether two samples of times differ: a rank test, an interval for the ratio, and the correction for many points.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace gpuexp {

// Median of the values; NaN when there are none.
double median_of(std::span<const double> values);

// Two-sided p-value of the Mann-Whitney rank test: how likely samples of one distribution differ in their ranks by as
// much as these. Up to 40 values together it is exact, ties included (all ways to deal out the pooled values are
// counted); beyond that it is the normal approximation with corrections for ties and continuity. 1 for an empty sample.
double rank_test_p(std::span<const double> a, std::span<const double> b);

// Distribution-free confidence interval of the factor between the two distributions (b over a, all values positive), by
// inverting the rank test over the pairwise ratios. Samples of more than 500 values are thinned to 500 of their
// quantiles. `alpha` is the probability that the factor lies outside.
std::pair<double, double> ratio_interval(std::span<const double> a, std::span<const double> b, double alpha);

// One sample lies wholly beyond the other, with a gap wider than both samples' ranges together. No rank test can say
// more than its floor (1e-5 for 10 against 10 values), which a correction for thousands of points exceeds; such samples
// need no test. At least 10 values on each side: a
// fair coin between two modes would separate 5 against 5 in one case of 500.
bool beyond_doubt(std::span<const double> a, std::span<const double> b);

// Two-sided p-value of a standard normal deviate.
double normal_p(double z);

// Holm's correction: p-values in, adjusted ones out, in the same order. `family` is the number of tests made, at least
// the number of p-values; the others count as 1. Rejecting where the adjusted value is at most alpha keeps the
// probability of any false alarm within alpha.
std::vector<double> holm_adjusted(std::span<const double> p_values, std::size_t family);

}  // namespace gpuexp
