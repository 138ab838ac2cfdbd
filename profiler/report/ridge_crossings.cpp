// From which size on a problem is bound by arithmetic and no longer by memory: where its intensity, every byte moved
// once, reaches the ridge of a ceiling. It tells of the problem, not of any variant.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>

#include "profiler/device/device_spec.h"
#include "profiler/report/findings.h"
#include "profiler/report/point_numbers.h"
#include "profiler/roofline/crossover.h"
#include "profiler/roofline/roofline.h"

namespace gpuexp {
namespace {

using Points = std::vector<const PointRecord*>;

std::optional<double> ceiling_of(const ResultFile& results, std::string_view name) {
  for (const CeilingRecord& ceiling : results.device.ceilings)
    if (ceiling.name == name && ceiling.unit != "OP/s") return ceiling.value.number();
  return std::nullopt;
}

// The points' own ceiling, and those of tensor cores that take elements as wide.
std::vector<const Precision*> ceilings_for(const std::string& precision) {
  const Precision* own = precision_by_id(precision);
  if (own == nullptr) return {};
  std::vector<const Precision*> all;
  for (const Precision& other : precisions())
    if (other.id == own->id || (other.tensor && other.element_bytes == own->element_bytes)) all.push_back(&other);
  return all;
}

std::optional<double> value_of(const PointRecord& point, const std::string& parameter) {
  const std::string text = param_text(point, parameter);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty() ? std::optional(value)
                                                                                   : std::nullopt;
}

// The intensity along a parameter; empty where points of one value have several, so that more than it changes.
std::vector<IntensityPoint> intensities(const Points& points, const std::string& parameter) {
  std::map<double, double> by_value;
  for (const PointRecord* point : points) {
    const auto x = value_of(*point, parameter);
    const auto intensity = point->analysis->compulsory.intensity.number();
    if (!x || !intensity) return {};
    const auto [at, fresh] = by_value.emplace(*x, *intensity);
    if (!fresh && std::abs(at->second - *intensity) > 1e-9 * *intensity) return {};
  }
  std::vector<IntensityPoint> sweep;
  for (const auto& [x, intensity] : by_value) sweep.push_back({x, intensity});
  return sweep;
}

// "FP32 (10.08 FLOP/byte) from m=21 on: 7.938 at 16, 15.75 at 32"; nothing when the sweep does not pass it.
std::optional<std::string> passing_words(const std::vector<IntensityPoint>& sweep, const Precision& precision,
                                         const std::string& heading, const ResultFile& results) {
  const auto peak = ceiling_of(results, precision.label), bandwidth = ceiling_of(results, "DRAM");
  if (!peak || !bandwidth || !(*bandwidth > 0)) return std::nullopt;
  const double ridge = ridge_point(*peak, *bandwidth);
  auto x = intensity_crossing(sweep.data(), static_cast<std::int64_t>(sweep.size()), ridge);
  if (!x) return std::nullopt;
  const bool whole =
      std::ranges::all_of(sweep, [](const IntensityPoint& point) { return point.x == std::floor(point.x); });
  if (whole) x = std::ceil(*x * (1 - 1e-12));  // a size is a whole number
  const auto after = std::ranges::find_if(sweep, [&](const IntensityPoint& point) { return point.intensity >= ridge; });
  const auto before = std::prev(after);
  return fmt::format("{} ({}) from {}={} on: it is {} at {} and {} at {}", precision.label, real_words(ridge), heading,
                     real_words(*x, 6), real_words(before->intensity), real_words(before->x, 6),
                     real_words(after->intensity), real_words(after->x, 6));
}

// Points alike in every other parameter that all of them take.
std::map<std::string, Points> contexts_of(const Points& points, const PointLabels& labels, const std::string& heading) {
  std::vector<PointLabels::Varying> others;
  std::ranges::copy_if(labels.varying(), std::back_inserter(others), [&](const PointLabels::Varying& other) {
    const auto takes_it = [&](const PointRecord* point) { return !param_text(*point, other.name).empty(); };
    return other.heading != heading && std::ranges::all_of(points, takes_it);
  });
  std::map<std::string, Points> contexts;
  for (const PointRecord* point : points) {
    std::string context;
    for (const PointLabels::Varying& other : others)
      context += (context.empty() ? "" : " ") + other.heading + "=" + param_text(*point, other.name);
    contexts[context].push_back(point);
  }
  return contexts;
}

std::vector<std::string> sentences_of(const Points& points, const ResultFile& results) {
  std::vector<std::string> sentences;
  const PointLabels labels(points);
  for (const PointLabels::Varying& parameter : labels.varying()) {
    for (const auto& [context, members] : contexts_of(points, labels, parameter.heading)) {
      const std::vector<IntensityPoint> sweep = intensities(members, parameter.name);
      if (sweep.size() < 2) continue;
      std::string passed;
      for (const Precision* precision : ceilings_for(members.front()->analysis->precision))
        if (const auto words = passing_words(sweep, *precision, parameter.heading, results))
          passed += (passed.empty() ? "" : "; of ") + *words;
      if (passed.empty()) continue;
      const std::string where = context.empty() ? "" : " at " + context;
      std::string text = fmt::format("{}{}: every byte moved once, the FLOP per byte reach the ridge of {}.",
                                     problem_of(*members.front()), where, passed);
      sentences.push_back(std::move(text));
    }
  }
  return sentences;
}

}  // namespace

std::string ridge_section(const std::vector<ProblemGroup>& groups, const ResultFile& results,
                          const TerminalStyle& style) {
  constexpr std::size_t most_lines = 4;
  std::vector<std::string> sentences;
  for (const ProblemGroup& group : groups) {
    Points usable;
    std::ranges::copy_if(group.points, std::back_inserter(usable),
                         [](const PointRecord* point) { return is_comparable(*point); });
    if (usable.size() >= 2) std::ranges::move(sentences_of(usable, results), std::back_inserter(sentences));
  }
  if (sentences.empty()) return "";
  std::string text;
  const std::size_t shown = std::min(sentences.size(), most_lines);
  for (std::size_t i = 0; i < shown; ++i) text += list_item(sentences[i], style);
  return heading(fmt::format("Where arithmetic begins to bound (modelled on {})", results.device.name), style) + text +
         more_line(sentences.size() - shown, "such sizes");
}

}  // namespace gpuexp
