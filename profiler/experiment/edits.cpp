// Parses --set and --filter, and applies filters to points.
#include "profiler/experiment/edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_set>

#include "profiler/core/error.h"
#include "profiler/core/glob.h"
#include "profiler/core/nearest.h"
#include "profiler/registry/registry.h"

namespace gpuexp {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

// Names in the order in which they were first met.
class Names {
 public:
  void add(const std::string& name) {
    if (seen_.insert(name).second) list_.push_back(name);
  }
  [[nodiscard]] const std::vector<std::string>& list() const { return list_; }

 private:
  std::vector<std::string> list_;
  std::unordered_set<std::string> seen_;
};

bool holds(const std::string& alternative, const FilterTerm& term, const Point& point) {
  if (term.parameter.empty()) return variant_matches(alternative, point.variant);
  const ParamValue* value = point.params.find(term.parameter);
  if (!value) return false;
  return glob_matches(alternative, to_text(*value)) || same_value(value_from_text(alternative), *value);
}

bool holds(const FilterTerm& term, const Point& point) {
  return std::any_of(term.alternatives.begin(), term.alternatives.end(),
                     [&](const std::string& alternative) { return holds(alternative, term, point); });
}

[[noreturn]] void matches_nothing(const std::string& alternative, const FilterTerm& term,
                                  const std::vector<Point>& points, const std::string& plan_name,
                                  const std::map<std::string, std::string>& left_out) {
  Names present_names, parameter_names;
  for (const Point& point : points) {
    for (const auto& [name, value] : point.params.values()) {
      parameter_names.add(name);
      if (name == term.parameter) present_names.add(to_text(value));
    }
    if (term.parameter.empty()) present_names.add(point.variant);
  }
  const std::string& flag = term.flag;
  const std::vector<std::string>&present = present_names.list(), &parameters = parameter_names.list();
  if (term.parameter.empty()) {
    for (const auto& [variant, why] : left_out) {
      if (variant_matches(alternative, variant))
        throw Error(ExitCode::usage, fmt::format("{}: no point of {} is left: {}", flag, variant, why));
    }
    throw Error(ExitCode::usage, fmt::format("{}: no point of {} has a variant '{}'; there is {}{}", flag, plan_name,
                                             alternative, list_names(present), did_you_mean(alternative, present)));
  }
  if (present.empty()) {
    throw Error(ExitCode::usage,
                fmt::format("{}: no point of {} has a parameter '{}'; there is {}{}", flag, plan_name, term.parameter,
                            list_names(parameters), did_you_mean(term.parameter, parameters)));
  }
  throw Error(ExitCode::usage,
              fmt::format("{}: no point of {} has {}={}; there is {}={}{}", flag, plan_name, term.parameter,
                          alternative, term.parameter, list_names(present), did_you_mean(alternative, present)));
}

std::vector<FilterTerm> terms_of(const std::string& filter, const std::string& flag) {
  std::vector<FilterTerm> terms;
  for (const std::string& word : split(filter, ' ')) {
    if (word.empty()) continue;
    FilterTerm term{flag, {}, {}};
    std::string_view alternatives = word;
    if (const std::size_t equals = word.find('='); equals != std::string::npos) {
      term.parameter = word.substr(0, equals);
      alternatives.remove_prefix(equals + 1);
      if (term.parameter.empty()) {
        throw Error(ExitCode::usage, fmt::format("{}: no parameter before '='; write --filter TILE=8", flag));
      }
    }
    for (std::string& alternative : split(alternatives, ',')) {
      if (alternative.empty()) {
        throw Error(ExitCode::usage, fmt::format("{}: an empty alternative; write --filter TILE=8,16", flag));
      }
      term.alternatives.push_back(std::move(alternative));
    }
    terms.push_back(std::move(term));
  }
  if (terms.empty()) {
    throw Error(ExitCode::usage,
                fmt::format("{}: empty; write a variant ('matmul/*') or a parameter's values (TILE=8,16)", flag));
  }
  return terms;
}

template <class Number>
bool parse_whole(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

ParamValue value_from_text(std::string_view text) {
  std::int64_t integer = 0;
  if (parse_whole(text, integer)) return integer;
  double real = 0;
  if (parse_whole(text, real) && std::isfinite(real)) return real;
  return std::string(text);
}

bool same_value(const ParamValue& a, const ParamValue& b) {
  if (a.index() == b.index()) return a == b;
  const auto* integer = std::get_if<std::int64_t>(std::holds_alternative<std::int64_t>(a) ? &a : &b);
  const auto* real = std::get_if<double>(std::holds_alternative<double>(a) ? &a : &b);
  return integer && real && static_cast<double>(*integer) == *real;
}

bool variant_matches(std::string_view glob, std::string_view canonical_name) {
  if (glob_matches(glob, canonical_name)) return true;
  const Variant* variant = find_variant(canonical_name);
  return variant && std::any_of(variant->aliases.begin(), variant->aliases.end(),
                                [&](const std::string& alias) { return glob_matches(glob, alias); });
}

std::vector<Axis> axes_from_flags(const std::vector<std::string>& sets) {
  std::vector<Axis> axes;
  for (const std::string& set : sets) {
    Axis axis;
    axis.place = "--set " + set;
    axis.from_flag = true;
    const std::size_t equals = set.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == set.size()) {
      throw Error(ExitCode::usage,
                  fmt::format("{}: expected PARAMETER=VALUE[,VALUE...], as in --set TILE=8,16", axis.place));
    }
    axis.name = set.substr(0, equals);
    for (const std::string& value : split(std::string_view(set).substr(equals + 1), ',')) {
      if (value.empty()) throw Error(ExitCode::usage, fmt::format("{}: an empty value between commas", axis.place));
      axis.values.push_back(value_from_text(value));
    }
    if (std::any_of(axes.begin(), axes.end(), [&](const Axis& other) { return other.name == axis.name; })) {
      throw Error(ExitCode::usage, fmt::format("{}: {} is set twice; give its values in one --set {}=A,B", axis.place,
                                               axis.name, axis.name));
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

std::vector<FilterTerm> filter_terms(const std::vector<std::string>& filters) {
  std::vector<FilterTerm> terms;
  for (const std::string& filter : filters) {
    for (FilterTerm& term : terms_of(filter, fmt::format("--filter '{}'", filter))) terms.push_back(std::move(term));
  }
  return terms;
}

std::vector<Point> filter_points(std::vector<Point> points, const std::vector<FilterTerm>& terms,
                                 const std::string& plan_name, const std::map<std::string, std::string>& left_out) {
  for (const FilterTerm& term : terms) {
    for (const std::string& alternative : term.alternatives) {
      const bool matches = std::any_of(points.begin(), points.end(),
                                       [&](const Point& point) { return holds(alternative, term, point); });
      if (!matches) matches_nothing(alternative, term, points, plan_name, left_out);
    }
  }
  const std::size_t before = points.size();
  std::erase_if(points, [&](const Point& point) {
    return !std::all_of(terms.begin(), terms.end(), [&](const FilterTerm& term) { return holds(term, point); });
  });
  if (points.empty()) {
    throw Error(
        ExitCode::usage,
        fmt::format("--filter: each term matches some of the {} points of {}, but no point matches all of them; "
                    "--dry-run lists the points",
                    before, plan_name));
  }
  return points;
}

}  // namespace gpuexp
