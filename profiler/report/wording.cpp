// Numbers, points and paragraphs for people.
#include "profiler/report/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "profiler/core/text.h"

namespace gpuexp {

std::string count_words(std::uint64_t count) {
  if (count >= 100'000'000) {
    constexpr std::array<const char*, 4> units{" M", " G", " T", " P"};
    double value = static_cast<double>(count) / 1e6;
    std::size_t unit = 0;
    while (value >= 1000 && unit + 1 < units.size()) {
      value /= 1000;
      ++unit;
    }
    return fmt::format("{:.4g}{}", value, units[unit]);
  }
  std::string digits = number_text(count);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string real_words(double value, int digits) {
  const double size = std::abs(value);
  if (std::isnan(value)) return "NaN";
  if (size == 0) return "0";
  if (size < 1e-3 || size >= 1e9 || !std::isfinite(value)) return fmt::format("{:.{}g}", value, digits);
  const int before = static_cast<int>(std::floor(std::log10(size))) + 1;  // digits before the point, less zeros behind
  std::string text = fmt::format("{:.{}f}", value, std::max(0, digits - before));
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

std::string words(const Quantity& quantity, double divisor) {
  if (!quantity.has_value()) return "";
  const std::string mark = quantity.estimated ? "~" : "";
  if (const auto count = quantity.exact(); count && divisor == 1) return mark + count_words(*count);
  return mark + real_words(*quantity.number() / divisor);
}

std::string plural(std::uint64_t count, const std::string& noun) {
  return count_words(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string real_plural(double count, const std::string& noun) {
  const std::string number = real_words(count, 3);
  return number + " " + noun + (number == "1" ? "" : "s");
}

std::string times_words(double ratio, const std::string& noun) {
  constexpr double near = 0.02;
  if (std::abs(ratio - 1) < near) return "as many " + noun;
  if (ratio >= 1 || !(ratio > 0)) return real_words(ratio, 3) + "x the " + noun;
  const double inverse = std::round(1 / ratio);
  if (std::abs(ratio * inverse - 1) > near) return real_words(ratio, 2) + "x the " + noun;
  return inverse == 2 ? "half the " + noun : fmt::format("1/{} of the {}", real_words(inverse), noun);
}

std::string percent_words(double percent) { return real_words(percent, 3) + " %"; }

std::string wrapped(const std::string& text, int width, const std::string& first) {
  const std::string indent(display_width(first), ' ');
  std::string result, line = first;
  bool fresh = true;  // no word on the line yet
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t space = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, space - at);
    at = space + 1;
    if (word.empty()) continue;
    if (!fresh && display_width(line) + 1 + display_width(word) > static_cast<std::size_t>(width)) {
      result += line + '\n';
      line = indent;
      fresh = true;
    }
    line += (fresh ? "" : " ") + word;
    fresh = false;
  }
  return result + line + '\n';
}

std::string param_text(const PointRecord& point, const std::string& name) {
  const ParamValue* value = point.result.point.params.find(name);
  return value == nullptr ? "" : to_text(*value);
}

std::string problem_of(const PointRecord& point) {
  return point.result.point.variant.substr(0, point.result.point.variant.find('/'));
}

std::string variant_of(const PointRecord& point) {
  const std::string& name = point.result.point.variant;
  const std::size_t slash = name.find('/');
  return slash == std::string::npos ? name : name.substr(slash + 1);
}

PointLabels::PointLabels(const std::vector<const PointRecord*>& points) {
  std::set<std::string> names, variants;
  for (const PointRecord* point : points) {
    variants.insert(point->result.point.variant);
    for (const auto& [name, value] : point->result.point.params.values()) names.insert(name);
  }
  several_variants_ = variants.size() > 1;

  // Parameters by the list of their values over all points.
  std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> by_values;  // values, names
  for (const std::string& name : names) {
    std::vector<std::string> values;
    for (const PointRecord* point : points) values.push_back(param_text(*point, name));
    const auto same = std::ranges::find(by_values, values, [](const auto& entry) { return entry.first; });
    if (same == by_values.end()) {
      by_values.push_back({values, {name}});
    } else {
      same->second.push_back(name);
    }
  }
  std::string partly;  // parameters with one value, which not every variant takes
  for (const auto& [values, equal_names] : by_values) {
    std::string heading;
    for (const std::string& name : equal_names) heading += (heading.empty() ? "" : "=") + name;
    const std::set<std::string> different(values.begin(), values.end());
    if (different.size() == 1) {
      common_ += (common_.empty() ? "" : " ") + heading + "=" + values.front();
    } else if (different.size() == 2 && different.contains("")) {
      partly += (partly.empty() ? "" : " ") + heading + "=" + *different.rbegin();
    } else {
      varying_.push_back({heading, equal_names.front()});
    }
  }
  if (!partly.empty()) common_ += (common_.empty() ? "" : ", ") + partly + " where taken";
}

std::string PointLabels::of(const PointRecord& point) const {
  std::string text = point.result.point.variant;
  for (const Varying& parameter : varying_)
    if (const std::string value = param_text(point, parameter.name); !value.empty())
      text += " " + parameter.heading + "=" + value;
  return text;
}

std::string PointLabels::shared_params(const std::vector<const PointRecord*>& points) const {
  std::string text;
  for (const Varying& parameter : varying_) {
    const std::string value = param_text(*points.front(), parameter.name);
    const bool equal = std::ranges::all_of(
        points, [&](const PointRecord* point) { return param_text(*point, parameter.name) == value; });
    if (equal && !value.empty()) text += (text.empty() ? "" : " ") + parameter.heading + "=" + value;
  }
  return text;
}

std::string PointLabels::of_all(const std::vector<const PointRecord*>& points) const {
  std::set<std::string> variants;
  for (const PointRecord* point : points) variants.insert(point->result.point.variant);
  std::string text = variants.size() == 1 ? *variants.begin() : fmt::format("{} variants", variants.size());
  const std::string params = shared_params(points);
  if (!params.empty()) text += " " + params;
  if (points.size() > 1) text += fmt::format(" ({} points)", points.size());
  return text;
}

}  // namespace gpuexp
