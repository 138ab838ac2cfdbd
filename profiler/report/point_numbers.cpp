// Counters by name, sums of them, and yardsticks within a run.
#include "profiler/report/point_numbers.h"

#include <algorithm>
#include <cmath>

#include "profiler/report/wording.h"

namespace gpuexp {
namespace {

const Quantity* found_in(const std::map<std::string, Quantity>& counters, const std::string& id) {
  const auto found = counters.find(id);
  return found == counters.end() || !found->second.has_value() ? nullptr : &found->second;
}

// A library on tensor cores is no yardstick for CUDA cores.
bool same_ceiling(const PointRecord& a, const PointRecord& b) {
  return a.analysis && b.analysis && a.analysis->precision == b.analysis->precision;
}

}  // namespace

const Quantity* counter_of(const PointRecord& point, const std::string& id) {
  return found_in(point.result.counters, id);
}

const Quantity* emulated_counter(const PointRecord& point, const std::string& id) {
  const Quantity* own = found_in(point.result.counters, id);
  if (own != nullptr && own->source == Source::emulated) return own;
  return found_in(point.result.predicted, id);
}

bool Expectation::holds() const { return counted != nullptr && counted->number() == static_cast<double>(expected); }

std::vector<Expectation> expectations_of(const PointRecord& point) {
  constexpr std::string_view prefix = "expected:";
  std::vector<Expectation> list;
  for (const auto& [name, value] : point.result.facts.values()) {
    const auto* expected = std::get_if<std::int64_t>(&value);
    if (!name.starts_with(prefix) || expected == nullptr) continue;
    const std::string counter = name.substr(prefix.size());
    const Quantity* emulated = emulated_counter(point, counter);
    list.push_back({counter, *expected, emulated != nullptr ? emulated : counter_of(point, counter)});
  }
  return list;
}

std::optional<bool> as_expected(const PointRecord& point) {
  std::vector<Expectation> list = expectations_of(point);
  std::erase_if(list, [](const Expectation& one) { return one.counted == nullptr; });
  if (list.empty()) return std::nullopt;
  return std::ranges::all_of(list, &Expectation::holds);
}

std::optional<Quantity> total_of(const PointRecord& point, const std::vector<std::string>& ids) {
  std::optional<Quantity> total;
  for (const std::string& id : ids) {
    const Quantity* counter = counter_of(point, id);
    if (counter == nullptr) continue;
    if (!total) {
      total = *counter;
      continue;
    }
    const bool exact = total->exact() && counter->exact();
    const Source source = std::max(total->source, counter->source);
    Quantity sum = exact ? Quantity::count(*total->exact() + *counter->exact(), source)
                         : Quantity::real(*total->number() + *counter->number(), source);
    sum.estimated = total->estimated || counter->estimated;
    sum.standard_error = std::hypot(total->standard_error, counter->standard_error);
    total = sum;
  }
  return total;
}

bool is_comparable(const PointRecord& point) {
  return point.analysis && point.result.status == Status::ok && point.result.good() && !point.result.expected_finding;
}

bool counts_alone_matter(const std::vector<const PointRecord*>& points) {
  constexpr double least_us = 0.01;  // an empty launch takes hundreds of times as long
  return std::ranges::all_of(points, [](const PointRecord* point) {
    if (!point->analysis) return true;
    return point->result.flops == 0 && !point->time &&
           point->analysis->compulsory.bound_time_us.number().value_or(0) < least_us &&
           point->analysis->transaction.bound_time_us.number().value_or(0) < least_us;
  });
}

bool is_library(const PointRecord& point) {
  const std::string name = variant_of(point);
  return name.starts_with("cublas") || name.starts_with("cusparse");
}

bool same_case(const PointRecord& a, const PointRecord& b) {
  return std::ranges::all_of(a.result.point.params.values(), [&](const auto& parameter) {
    const ParamValue* other = b.result.point.params.find(parameter.first);
    return other == nullptr || *other == parameter.second;
  });
}

std::optional<double> percent_of_library(const PointRecord& point, const ResultFile& results) {
  if (!point.time) return std::nullopt;
  std::optional<double> best;
  for (const PointRecord& other : results.points)
    if (is_library(other) && other.time && other.result.good() && problem_of(other) == problem_of(point) &&
        same_case(other, point) && same_ceiling(other, point))
      best = std::min(best.value_or(other.time->median_us), other.time->median_us);
  return best ? std::optional(100 * *best / point.time->median_us) : std::nullopt;
}

std::optional<double> percent_of_copy(const PointRecord& point, const ResultFile& results) {
  if (!point.analysis || point.analysis->verdict != "memory") return std::nullopt;
  const auto own = point.analysis->achieved_bandwidth.number();
  std::optional<double> best;
  for (const PointRecord& other : results.points) {
    if (problem_of(other) != "copy" || !other.analysis || !other.result.good()) continue;
    if (const auto rate = other.analysis->achieved_bandwidth.number()) best = std::max(best.value_or(*rate), *rate);
  }
  return own && best && *best > 0 ? std::optional(100 * *own / *best) : std::nullopt;
}

}  // namespace gpuexp
