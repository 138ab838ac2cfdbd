// How the roofline's amounts are written.
#include "profiler/roofline/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/core/text.h"

namespace gpuexp {
namespace {

// Rounded to `digits` significant ones, without trailing zeros; an exponent beyond what any machine reaches.
std::string significant(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{}", value);
  if (std::abs(value) >= 1e15) return fmt::format("{:.{}g}", value, digits);
  const int before_point = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  std::string text = fmt::format("{:.{}f}", value, std::max(0, digits - before_point));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// "19491.8" -> "19,491.8".
std::string with_thousands(std::string_view number) {
  const std::size_t whole = std::min(number.find('.'), number.size());
  std::string result;
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (i > 0 && i < whole && (whole - i) % 3 == 0) result.push_back(',');
    result.push_back(number[i]);
  }
  return result;
}

}  // namespace

std::string rate_text(double per_second, std::string_view unit) {
  struct Prefix {
    double factor;
    std::string_view name;
  };
  constexpr Prefix prefixes[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}};
  for (const Prefix& prefix : prefixes)
    if (per_second >= prefix.factor)
      return fmt::format("{} {}{}", significant(per_second / prefix.factor, 5), prefix.name, unit);
  return fmt::format("{} {}", significant(per_second, 5), unit);
}

std::string bandwidth_text(double bytes_per_second) {
  return fmt::format("{} GB/s", with_thousands(significant(bytes_per_second / 1e9, 4)));
}

std::string intensity_text(double flop_per_byte) {
  return significant(flop_per_byte, flop_per_byte < 0.1 ? 2 : flop_per_byte < 10 ? 3 : 4);
}

std::string percent_text(double percent) { return fmt::format("{} %", significant(percent, 3)); }

std::string wrapped_text(std::string_view text, std::string_view indent, std::size_t columns) {
  std::string result;
  std::string line(indent);
  bool empty = true;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (!empty && display_width(line) + 1 + display_width(word) > columns) {
      result += line;
      result += '\n';
      line.assign(indent);
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
    begin = end + 1;
  }
  result += line;
  result += '\n';
  return result;
}

}  // namespace gpuexp
