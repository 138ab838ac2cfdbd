// Which variant costs least along a numeric parameter, and where that changes.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "profiler/report/crossovers.h"
#include "profiler/report/findings.h"
#include "profiler/report/point_numbers.h"
#include "profiler/roofline/crossover.h"

namespace gpuexp {
namespace {

using Points = std::vector<const PointRecord*>;

// What is compared: a time, or a bound on it.
struct Cost {
  const char* id;  // Crossover::cost
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

constexpr Cost all_costs[] = {
    {"time_us_median", "measured median time", "is fastest", 1.03, median_time},
    {"bound_time_us_transaction", "modelled bound, all sectors from DRAM", "costs least", 1.01,
     bound<&Analysis::transaction>},
    {"bound_time_us", "modelled bound, every byte moved once", "costs least", 1.01, bound<&Analysis::compulsory>}};

bool is_time(const Cost& cost) { return cost.of == all_costs[0].of; }

const Cost& cost_named(const std::string& id) {
  return *std::ranges::find_if(all_costs, [&](const Cost& cost) { return id == cost.id; });
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
  std::map<std::string, std::size_t> index;
  for (const PointRecord* point : points) {
    std::string name = point->result.point.variant;
    for (const PointLabels::Varying& own : own_params)
      if (const std::string value = param_text(*point, own.name); !value.empty())
        name += " " + own.heading + "=" + value;
    const auto [at, fresh] = index.try_emplace(name, axis.series.size());
    if (fresh) axis.series.push_back({name, {}, nullptr});
    Series& series = axis.series[at->second];
    const std::string text = param_text(*point, parameter.name);
    if (text.empty()) {
      series.flat = point;
    } else if (const auto x = number_in(text)) {
      series.points[*x] = point;
      values.insert(*x);
    }
  }
  const bool flag = std::ranges::all_of(values, [](double x) { return x == 0 || x == 1; });
  constexpr std::size_t most_places = 1'000'000;  // beyond, nobody reads what costs least where
  if (flag || values.size() * axis.series.size() > most_places) return std::nullopt;
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
  const auto cost_at = [&](const Series& series, std::size_t at) {
    const PointRecord* point = series.at(axis.values[at]);
    return point == nullptr ? std::nullopt : cost.of(*point);
  };
  std::vector<std::optional<double>> least(axis.values.size());
  for (std::size_t at = 0; at < least.size(); ++at)
    for (const Series& series : axis.series)
      if (const auto value = cost_at(series, at)) least[at] = std::min(least[at].value_or(*value), *value);
  const auto lowest = [&](const Series& series, std::size_t at) {
    const auto value = cost_at(series, at);
    return value && *value <= cost.level * *least[at];
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

// What is found along one axis; nothing when there is nothing to tell.
std::optional<Crossover> outcome_of(const Axis& axis, const Cost& cost) {
  if (all_level(axis, cost)) return std::nullopt;
  const std::vector<Stretch> stretches = stretches_of(axis, cost);
  if (stretches.empty()) return std::nullopt;
  Crossover found{axis.heading, "", cost.id, 0, {}, {}};
  for (const Stretch& stretch : stretches)
    found.lowest.push_back({stretch.series->name, axis.values[stretch.first], axis.values[stretch.last]});
  if (stretches.size() == 1) {
    // That one of several series is best along a parameter which it does not take tells nothing.
    const bool enough = axis.values.size() >= 3 || axis.series.size() == 2;
    const auto flat = std::ranges::count_if(axis.series, [](const Series& series) { return series.flat != nullptr; });
    if (!enough || (flat > 1 && stretches.front().series->flat != nullptr)) return std::nullopt;
  }
  const Source source = is_time(cost) ? Source::measured : Source::modelled;
  for (std::size_t i = 0; i + 1 < stretches.size(); ++i) {
    const auto x = crossing_of(axis, stretches[i], stretches[i + 1], cost);
    found.crossings.push_back(x ? Quantity::real(*x, source)
                                : Quantity::null("nothing lies between the values, or they tell no crossing", source));
  }
  return found;
}

std::string range_words(const Crossover& found, std::size_t at) {
  const std::string from = real_words(found.lowest[at].from, 6), to = real_words(found.lowest[at].to, 6);
  if (at == 0) return "up to " + to;
  if (at + 1 == found.lowest.size()) return "from " + from + " on";
  return from == to ? "at " + from : "from " + from + " to " + to;
}

// "matmul/naive costs least up to 4, matmul/tiled from 8 on; they cross near 5".
std::string outcome_words(const Crossover& found) {
  const Cost& cost = cost_named(found.cost);
  const CrossoverStretch& first = found.lowest.front();
  if (found.lowest.size() == 1)
    return fmt::format("{} {} throughout, from {} to {}", first.series, cost.wins, real_words(first.from, 6),
                       real_words(first.to, 6));
  std::string text, crossings;
  for (std::size_t i = 0; i < found.lowest.size(); ++i)
    text += (i == 0 ? "" : ", ") + found.lowest[i].series + " " + (i == 0 ? cost.wins + std::string(" ") : "") +
            range_words(found, i);
  for (const Quantity& crossing : found.crossings)
    if (crossing.has_value()) crossings += (crossings.empty() ? "" : ", ") + real_words(*crossing.number(), 2);
  return crossings.empty() ? text : text + "; they cross near " + crossings;
}

bool of_one_problem(const Axis& axis) {
  const auto problem = [](const Series& series) {
    return problem_of(series.flat != nullptr ? *series.flat : *series.points.begin()->second);
  };
  return std::ranges::all_of(axis.series,
                             [&](const Series& series) { return problem(series) == problem(axis.series.front()); });
}

enum class Among { one_problem, several_problems };

// What was found, and where each stands, by its words.
struct FoundCrossovers {
  std::vector<Crossover> list;
  std::map<std::string, std::size_t> index;
};

// Over points whose variants can be compared.
void tell_crossings(const Points& points, bool timed, Among among, FoundCrossovers& told) {
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
    std::map<std::string, std::size_t> index;
    for (const PointRecord* point : points) {
      std::string context;
      for (const PointLabels::Varying& other : context_params)
        context += (context.empty() ? "" : " ") + other.heading + "=" + param_text(*point, other.name);
      const auto [at, fresh] = index.try_emplace(context, contexts.size());
      if (fresh) contexts.push_back({context, {}});
      contexts[at->second].second.push_back(point);
    }
    for (const auto& [context, members] : contexts) {
      const std::optional<Axis> axis = axis_of(parameter, members, own_params);
      if (!axis || axis->series.size() < 2) continue;
      if (among == Among::several_problems && of_one_problem(*axis)) continue;
      for (const Cost& cost : all_costs) {
        if (is_time(cost) != timed) continue;
        std::optional<Crossover> found = outcome_of(*axis, cost);
        if (!found) continue;
        const std::string key = found->parameter + "\n" + found->cost + "\n" + outcome_words(*found);
        const auto [at, fresh] = told.index.try_emplace(key, told.list.size());
        if (fresh) {
          found->at = context;
          told.list.push_back(std::move(*found));
        } else if (among == Among::one_problem) {
          ++told.list[at->second].other_cases;
        }
      }
    }
  }
}

std::string sentence(const Crossover& found) {
  std::string text = "by " + found.parameter;
  if (!found.at.empty()) text += " at " + found.at;
  if (found.other_cases > 0) text += fmt::format(" (and in {} alike)", plural(found.other_cases, "other case"));
  return text + ": " + outcome_words(found) + " (" + cost_named(found.cost).words + ").";
}

}  // namespace

std::vector<Crossover> crossovers_of(const ResultFile& results) {
  const std::vector<ProblemGroup> groups = groups_of(results);
  const bool timed = results.plan.backend == "cuda";
  FoundCrossovers found;
  Points all;
  for (const ProblemGroup& group : groups) {
    if (counts_alone_matter(group.points)) continue;
    Points usable;
    std::ranges::copy_if(group.points, std::back_inserter(usable),
                         [](const PointRecord* point) { return is_comparable(*point); });
    if (usable.size() > 2) tell_crossings(usable, timed, Among::one_problem, found);
    all.insert(all.end(), usable.begin(), usable.end());
  }
  if (groups.size() > 1 && all.size() > 2) tell_crossings(all, timed, Among::several_problems, found);
  std::ranges::stable_sort(found.list, std::ranges::greater{},
                           [](const Crossover& one) { return one.lowest.size() > 1; });
  return std::move(found.list);
}

std::string crossings_section(const ResultFile& results, const TerminalStyle& style) {
  std::vector<Crossover> told = crossovers_of(results);
  constexpr std::size_t most_stretches = 5, most_lines = 6;  // the JSON file has all
  std::erase_if(told, [](const Crossover& one) { return one.lowest.size() > most_stretches; });
  std::string text;
  const std::size_t shown = std::min(told.size(), most_lines);
  for (std::size_t i = 0; i < shown; ++i) text += list_item(sentence(told[i]), style);
  if (text.empty()) return "";
  const bool measured = results.plan.backend == "cuda";
  if (!measured)
    text += list_item("which is fastest where: null, for the emulator has no time; --backend cuda measures it.", style);
  return heading(measured ? "What is fastest where (measured)" : "What costs least where (modelled)", style) + text +
         more_line(told.size() - shown, "such comparisons");
}

}  // namespace gpuexp
