// The terminal report: what was run, one table per problem, then the findings in words.
#include "profiler/report/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "profiler/report/findings.h"
#include "profiler/report/point_numbers.h"
#include "profiler/report/point_tables.h"
#include "profiler/report/text_table.h"
#include "profiler/report/wording.h"

namespace gpuexp {
namespace {

// --- the sections ---

std::string summary_line(const ResultFile& results) {
  std::size_t bad = 0, unsupported = 0, matches = 0, differs = 0;
  for (const PointRecord& point : results.points) {
    const std::optional<bool> holds = as_expected(point);
    if (holds) ++(*holds ? matches : differs);
    bad += point.result.good() ? 0 : 1;
    unsupported += point.result.status == Status::unsupported ? 1 : 0;
  }
  std::string text = fmt::format("{} on the {} backend: {}", results.plan.name, results.plan.backend,
                                 plural(results.points.size(), "point"));
  if (results.points.size() < results.plan.points.size())
    text += fmt::format(" of {}, unfinished (continue with --resume)", count_words(results.plan.points.size()));
  if (unsupported > 0) text += fmt::format(", {} not run", count_words(unsupported));
  text += bad == 0 ? ", all good" : fmt::format(", {} bad", count_words(bad));
  if (matches + differs > 0)
    text += fmt::format("; {} of {} as expected", count_words(matches), count_words(matches + differs));
  return text;
}

// The ceilings that the points' rooflines used.
std::string roof_line(const ResultFile& results) {
  std::set<std::string> used;
  std::string text;
  for (const PointRecord& point : results.points) {
    if (!point.analysis || !point.analysis->peak.has_value() || !used.insert(point.analysis->precision).second)
      continue;
    const Precision* precision = precision_by_id(point.analysis->precision);
    text +=
        fmt::format(", {} {} TFLOP/s", precision != nullptr ? std::string(precision->label) : point.analysis->precision,
                    words(point.analysis->peak, 1e12));
    if (point.analysis->ridge.has_value()) text += fmt::format(" (ridge {} FLOP/byte)", words(point.analysis->ridge));
  }
  std::string bandwidth = "unknown";
  for (const CeilingRecord& ceiling : results.device.ceilings)
    if (ceiling.name == "DRAM" && ceiling.value.has_value()) bandwidth = words(ceiling.value, 1e9);
  return fmt::format("Roof: {}, DRAM {} GB/s{}.", results.device.name, bandwidth, text);
}

// "0.2" or "0.1 to 0.4" over what the points have; empty when none has it.
template <class Number>
std::string range_of(const ResultFile& results, Number number, int digits) {
  std::optional<double> least, most;
  for (const PointRecord& point : results.points) {
    const std::optional<double> value = number(point);
    if (!value) continue;
    least = std::min(least.value_or(*value), *value);
    most = std::max(most.value_or(*value), *value);
  }
  if (!least) return "";
  const std::string low = real_words(*least, digits), high = real_words(*most, digits);
  return low == high ? low : low + " to " + high;
}

// On what, how and how well the times were taken.
std::string measured_line(const ResultFile& results) {
  std::string text = "Times and counters are measured";
  const auto value = [&](const char* name) { return environment_value(results.environment, name); };
  if (!value("gpu").empty()) text += " on " + value("gpu");
  if (!value("driver").empty()) text += ", driver " + value("driver");
  if (!value("toolkit").empty()) text += ", " + value("toolkit");
  std::set<std::string> modes;
  std::int64_t discarded = 0;
  for (const PointRecord& point : results.points)
    if (point.result.timing) {
      modes.insert(point.result.timing->cache_mode);
      discarded += point.result.timing->discarded_throttled;
    }
  if (modes.size() == 1 && !modes.begin()->empty()) text += ", L2 cache " + *modes.begin();
  text += ". Times are medians";
  if (const std::string spread = range_of(
          results,
          [](const PointRecord& p) {
            return p.time && p.time->relative_spread ? std::optional(100 * *p.time->relative_spread) : std::nullopt;
          },
          2);
      !spread.empty())
    text += fmt::format(" (spread {} %)", spread);
  if (const std::string clock = range_of(
          results, [](const PointRecord& p) { return p.result.timing ? p.result.timing->sm_clock_mhz : std::nullopt; },
          4);
      !clock.empty())
    text += fmt::format(" at an SM clock of {} MHz", clock);
  if (discarded > 0) text += fmt::format("; {} discarded, for the GPU throttled", plural(discarded, "sample"));
  return text + ". Bounds are modelled, predictions emulated.";
}

std::string source_line(const ResultFile& results) {
  if (results.plan.backend == "cuda") return measured_line(results);
  return "Counts are emulated on the CPU from the kernels' source: exact for the source, no time, no cache. "
         "Bounds are modelled.";
}

std::string header(const ResultFile& results, const TerminalStyle& style) {
  std::string text = bold(summary_line(results), style.colour) + "\n";
  if (!results.plan.description.empty()) text += wrapped(results.plan.description, style.width, "  ");
  text += wrapped(source_line(results), style.width, "  ");
  text += wrapped(roof_line(results), style.width, "  ");
  if (!results.device.note.empty()) text += wrapped(results.device.note, style.width, "  ");
  return text;
}

}  // namespace

std::vector<ProblemGroup> groups_of(const ResultFile& results) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<const PointRecord*>> by_problem;
  for (const PointRecord& point : results.points) {
    const std::string problem = problem_of(point);
    if (!by_problem.contains(problem)) order.push_back(problem);
    by_problem[problem].push_back(&point);
  }
  std::vector<ProblemGroup> groups;
  for (const std::string& problem : order)
    groups.push_back({problem, by_problem[problem], PointLabels(by_problem[problem])});
  return groups;
}

TerminalStyle terminal_style(int fd) {
  TerminalStyle style;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  style.colour = ::isatty(fd) == 1 && (no_color == nullptr || *no_color == '\0') &&
                 (term == nullptr || std::string_view(term) != "dumb");
  return style;
}

std::string terminal_report(const ResultFile& results, const TerminalStyle& style) {
  const std::vector<ProblemGroup> groups = groups_of(results);
  std::string text = header(results, style) + problems_line(groups, style);
  Legend legend;
  for (const ProblemGroup& group : groups) text += summary_table(group, results, style, legend);
  text += problems_section(groups, style) + expectations_section(groups, style);
  for (const ProblemGroup& group : groups) {
    text += comparison_section(group, style);
    text += sites_section(group, style);
    text += bounds_section(group, results, style);
  }
  text += crossings_section(results, style);
  text += ridge_section(groups, results, style);
  for (const ProblemGroup& group : groups) {
    text += prediction_section(group, style);
    text += detail_tables(group, results, style, legend);
  }
  text += legend_section(legend, style);
  text += sampling_section(groups, style);
  text += warnings_section(groups, style);
  return text;
}

}  // namespace gpuexp
