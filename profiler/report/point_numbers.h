// Internal to profiler/report: numbers of a point that tables and sentences share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/report/result_file.h"

namespace gpuexp {

// A counter of the run; null when it was not counted or could not be had.
const Quantity* counter_of(const PointRecord& point, const std::string& id);
// The emulated value of a counter: the run's own with the simt backend, else the prediction beside it.
const Quantity* emulated_counter(const PointRecord& point, const std::string& id);

// A counter that the inputs state a value for (fact "expected:<counter>"), as access patterns with measured counts do.
struct Expectation {
  std::string counter;
  std::int64_t expected = 0;
  const Quantity* counted = nullptr;  // the prediction, else what the run counted; null when nobody did
  [[nodiscard]] bool holds() const;
};
std::vector<Expectation> expectations_of(const PointRecord& point);
// Whether all of them hold; nothing when nothing is stated, or nothing of it was counted.
std::optional<bool> as_expected(const PointRecord& point);

// Sum of those counters of the run that are there; nothing when none is.
std::optional<Quantity> total_of(const PointRecord& point, const std::vector<std::string>& ids);

// Whether the point ran, is right, and is meant to be: what comparisons are made with.
bool is_comparable(const PointRecord& point);

// Points of one warp or so: no bound on their time means anything, only the counts do.
bool counts_alone_matter(const std::vector<const PointRecord*>& points);

// Whether a variant calls a vendor's library (by its name): the yardstick of its problem.
bool is_library(const PointRecord& point);
// Whether both have the same value of every parameter that both take.
bool same_case(const PointRecord& a, const PointRecord& b);

// Shares of what else was measured in the same run, in percent; nothing without it. Only what is bound by memory is
// compared with a copy.
std::optional<double> percent_of_library(const PointRecord& point, const ResultFile& results);
std::optional<double> percent_of_copy(const PointRecord& point, const ResultFile& results);

}  // namespace gpuexp
