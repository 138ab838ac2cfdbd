// Which variant costs least along a numeric parameter, and where that changes.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "profiler/report/findings.h"
#include "profiler/report/point_numbers.h"
#include "profiler/roofline/crossover.h"

namespace gpuexp {
namespace {

using Points = std::vector<const PointRecord*>;

// What is compared: a time, or a bound on it.
struct Cost {
  const char* words;
  const char* wins;  // "costs least"
  double level;      // up to this ratio two cost as much
  std::optional<double> (*of)(const PointRecord&);
};

std::optional<double> median_time(const PointRecord& point) {
  return point.time ? std::optional(point.time->median_us) : std::nullopt;
}
template <BasisBound Analysis::*basis>
std::optional<double> bound(const PointRecord& point) {
  return ((*point.analysis).*basis).bound_time_us.number();
}

std::vector<Cost> costs_of(const ResultFile& results) {
  if (results.plan.backend == "cuda") return {{"measured median time", "is fastest", 1.03, median_time}};
  return {{"modelled bound, all sectors from DRAM", "costs least", 1.01, bound<&Analysis::transaction>},
          {"modelled bound, every byte moved once", "costs least", 1.01, bound<&Analysis::compulsory>}};
}

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end && !text.empty() ? std::optional(value) : std::nullopt;
}

// A variant with all parameters but the axis fixed; one that does not take the axis costs the same everywhere.
struct Series {
  std::string name;
  std::map<double, const PointRecord*> points;
  const PointRecord* flat = nullptr;

  [[nodiscard]] const PointRecord* at(double x) const {
    const auto found = points.find(x);
    return found == points.end() ? flat : found->second;
  }
};

struct Axis {
  std::string heading;
  std::vector<Series> series;
  std::vector<double> values;  // at which at least two series have a point, ascending
};

// Points of different problems are compared only when their results have the same size and type.
bool answer_alike(const PointRecord& a, const PointRecord& b) {
  return problem_of(a) == problem_of(b) || (a.result.compulsory_store_bytes == b.result.compulsory_store_bytes &&
                                            param_text(a, "dtype") == param_text(b, "dtype"));
}

// The series of one context along an axis; none when there is nothing to compare.
std::optional<Axis> axis_of(const PointLabels::Varying& parameter, const Points& points,
                            const std::vector<PointLabels::Varying>& own_params) {
  Axis axis{parameter.heading, {}, {}};
  std::set<double> values;
  for (const PointRecord* point : points) {
    std::string name = point->result.point.variant;
    for (const PointLabels::Varying& own : own_params)
      if (const std::string value = param_text(*point, own.name); !value.empty())
        name += " " + own.heading + "=" + value;
    auto series = std::ranges::find(axis.series, name, &Series::name);
    if (series == axis.series.end()) series = axis.series.insert(series, Series{name, {}, nullptr});
    const std::string text = param_text(*point, parameter.name);
    if (text.empty()) {
      series->flat = point;
    } else if (const auto x = number_in(text)) {
      series->points[*x] = point;
      values.insert(*x);
    }
  }
  const bool flag = std::ranges::all_of(values, [](double x) { return x == 0 || x == 1; });
  if (flag) return std::nullopt;
  for (const double x : values) {
    Points here;
    for (const Series& series : axis.series)
      if (const PointRecord* point = series.at(x)) here.push_back(point);
    const bool alike =
        std::ranges::all_of(here, [&](const PointRecord* point) { return answer_alike(*point, *here.front()); });
    if (here.size() >= 2 && alike) axis.values.push_back(x);
  }
  return axis.values.size() >= 2 ? std::optional(std::move(axis)) : std::nullopt;
}

// The run of values over which one series costs least (or as little as the least).
struct Stretch {
  const Series* series;
  std::size_t first, last;  // of Axis::values
};

std::vector<Stretch> stretches_of(const Axis& axis, const Cost& cost) {
  const auto lowest = [&](const Series& series, std::size_t at) {
    const PointRecord* own = series.at(axis.values[at]);
    const auto value = own == nullptr ? std::nullopt : cost.of(*own);
    if (!value) return false;
    return std::ranges::all_of(axis.series, [&](const Series& other) {
      const PointRecord* point = other.at(axis.values[at]);
      const auto its = point == nullptr ? std::nullopt : cost.of(*point);
      return !its || *value <= cost.level * *its;
    });
  };
  std::vector<Stretch> stretches;
  for (std::size_t at = 0; at < axis.values.size();) {
    Stretch longest{nullptr, at, at};
    for (const Series& series : axis.series) {
      std::size_t end = at;
      while (end < axis.values.size() && lowest(series, end)) ++end;
      if (end > at && (longest.series == nullptr || end - 1 > longest.last)) longest = {&series, at, end - 1};
    }
    if (longest.series != nullptr) stretches.push_back(longest);
    at = longest.last + 1;
  }
  return stretches;
}

// Whether all series cost as much everywhere.
bool all_level(const Axis& axis, const Cost& cost) {
  return std::ranges::all_of(axis.values, [&](double x) {
    std::optional<double> least, most;
    for (const Series& series : axis.series) {
      const PointRecord* point = series.at(x);
      const auto value = point == nullptr ? std::nullopt : cost.of(*point);
      if (!value) continue;
      least = std::min(least.value_or(*value), *value);
      most = std::max(most.value_or(*value), *value);
    }
    return !least || *most <= cost.level * *least;
  });
}

// Where `next` begins to cost less than `before`, by interpolation; nothing where only the values tell.
std::optional<double> crossing_of(const Axis& axis, const Stretch& before, const Stretch& next, const Cost& cost) {
  std::vector<CurvePoint> curve;
  bool whole = true;
  for (std::size_t at = before.first; at <= next.last; ++at) {
    const double x = axis.values[at];
    whole = whole && x == std::floor(x);
    const PointRecord *new_point = next.series->at(x), *old_point = before.series->at(x);
    const auto a = new_point == nullptr ? std::nullopt : cost.of(*new_point);
    const auto b = old_point == nullptr ? std::nullopt : cost.of(*old_point);
    if (a && b) curve.push_back({x, *a, *b});
  }
  // Small whole numbers that not all series take are choices of the author, such as a tile size: nothing lies between.
  constexpr double finely_graded = 64;
  const bool choice = std::ranges::any_of(axis.series, [](const Series& series) { return series.flat != nullptr; });
  if (whole && choice && axis.values[next.first] < finely_graded) return std::nullopt;
  return crossing(curve.data(), static_cast<std::int64_t>(curve.size()));
}

std::string range_words(const Axis& axis, const Stretch& stretch, bool first, bool last) {
  const std::string from = real_words(axis.values[stretch.first], 6), to = real_words(axis.values[stretch.last], 6);
  if (first) return "up to " + to;
  if (last) return "from " + from + " on";
  return from == to ? "at " + from : "from " + from + " to " + to;
}

// What is found along one axis.
struct Outcome {
  std::string text;
  bool crosses = false;
};

std::optional<Outcome> outcome_of(const Axis& axis, const Cost& cost) {
  if (all_level(axis, cost)) return std::nullopt;
  const std::vector<Stretch> stretches = stretches_of(axis, cost);
  if (stretches.empty()) return std::nullopt;
  constexpr std::size_t most_stretches = 5;
  if (stretches.size() == 1) {
    // That one of several series is best along a parameter which it does not take tells nothing.
    const bool enough = axis.values.size() >= 3 || axis.series.size() == 2;
    const auto flat = std::ranges::count_if(axis.series, [](const Series& series) { return series.flat != nullptr; });
    if (!enough || (flat > 1 && stretches.front().series->flat != nullptr)) return std::nullopt;
    return Outcome{fmt::format("{} {} throughout, from {} to {}", stretches.front().series->name, cost.wins,
                               real_words(axis.values.front(), 6), real_words(axis.values.back(), 6)),
                   false};
  }
  if (stretches.size() > most_stretches) return std::nullopt;
  std::string text, crossings;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const bool last = i + 1 == stretches.size();
    text += (i == 0 ? "" : ", ") + stretches[i].series->name + " " + (i == 0 ? cost.wins + std::string(" ") : "") +
            range_words(axis, stretches[i], i == 0, last);
    if (last) continue;
    if (const auto x = crossing_of(axis, stretches[i], stretches[i + 1], cost))
      crossings += (crossings.empty() ? "" : ", ") + real_words(*x, 2);
  }
  if (!crossings.empty()) text += "; they cross near " + crossings;
  return Outcome{text, true};
}

// A sentence, and how many other contexts (sizes) have the same one.
struct Told {
  std::string axis, context, text, basis;
  bool crosses = false;
  std::size_t others = 0;
};

bool of_one_problem(const Axis& axis) {
  const auto problem = [](const Series& series) {
    return problem_of(series.flat != nullptr ? *series.flat : *series.points.begin()->second);
  };
  return std::ranges::all_of(axis.series,
                             [&](const Series& series) { return problem(series) == problem(axis.series.front()); });
}

enum class Among { one_problem, several_problems };

// Over points whose variants can be compared.
void tell_crossings(const Points& points, const ResultFile& results, Among among, std::vector<Told>& told) {
  const PointLabels labels(points);
  for (const PointLabels::Varying& parameter : labels.varying()) {
    // Parameters that every point takes are a context of their own; the others belong to the series.
    std::vector<PointLabels::Varying> context_params, own_params;
    for (const PointLabels::Varying& other : labels.varying()) {
      if (other.heading == parameter.heading) continue;
      const bool everywhere =
          std::ranges::all_of(points, [&](const PointRecord* p) { return !param_text(*p, other.name).empty(); });
      (everywhere ? context_params : own_params).push_back(other);
    }
    std::vector<std::pair<std::string, Points>> contexts;
    for (const PointRecord* point : points) {
      std::string context;
      for (const PointLabels::Varying& other : context_params)
        context += (context.empty() ? "" : " ") + other.heading + "=" + param_text(*point, other.name);
      auto same = std::ranges::find(contexts, context, [](const auto& c) { return c.first; });
      if (same == contexts.end()) same = contexts.insert(same, {context, {}});
      same->second.push_back(point);
    }
    for (const auto& [context, members] : contexts) {
      const std::optional<Axis> axis = axis_of(parameter, members, own_params);
      if (!axis || axis->series.size() < 2) continue;
      if (among == Among::several_problems && of_one_problem(*axis)) continue;
      for (const Cost& cost : costs_of(results)) {
        const std::optional<Outcome> outcome = outcome_of(*axis, cost);
        if (!outcome) continue;
        const auto same = std::ranges::find_if(told, [&](const Told& t) {
          return t.axis == axis->heading && t.text == outcome->text && t.basis == cost.words;
        });
        if (same == told.end()) {
          told.push_back({axis->heading, context, outcome->text, cost.words, outcome->crosses, 0});
        } else if (among == Among::one_problem) {
          ++same->others;
        }
      }
    }
  }
}

std::string sentence(const Told& told) {
  std::string text = "by " + told.axis;
  if (!told.context.empty()) text += " at " + told.context;
  if (told.others > 0) text += fmt::format(" (and in {} alike)", plural(told.others, "other case"));
  return text + ": " + told.text + " (" + told.basis + ").";
}

}  // namespace

std::string crossings_section(const std::vector<ProblemGroup>& groups, const ResultFile& results,
                              const TerminalStyle& style) {
  std::vector<Told> told;
  Points all;
  for (const ProblemGroup& group : groups) {
    if (counts_alone_matter(group.points)) continue;
    Points usable;
    std::ranges::copy_if(group.points, std::back_inserter(usable),
                         [](const PointRecord* point) { return is_comparable(*point); });
    if (usable.size() > 2) tell_crossings(usable, results, Among::one_problem, told);
    all.insert(all.end(), usable.begin(), usable.end());
  }
  if (groups.size() > 1 && all.size() > 2) tell_crossings(all, results, Among::several_problems, told);
  std::ranges::stable_sort(told, std::ranges::greater{}, &Told::crosses);
  constexpr std::size_t most_lines = 6;
  std::string text;
  const std::size_t shown = std::min(told.size(), most_lines);
  for (std::size_t i = 0; i < shown; ++i) text += list_item(sentence(told[i]), style);
  if (text.empty()) return "";
  const bool measured = results.plan.backend == "cuda";
  if (!measured)
    text += list_item("which is fastest where: null, for the emulator has no time; --backend cuda measures it.", style);
  return heading(measured ? "What is fastest where (measured)" : "What costs least where (modelled)", style) + text +
         (shown < told.size() ? fmt::format("    ... and {} more such comparisons\n", told.size() - shown) : "");
}

}  // namespace gpuexp
