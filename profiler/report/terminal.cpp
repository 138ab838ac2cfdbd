// The terminal report: what was run, one table per problem, then the findings in words.
#include "profiler/report/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>
#include <string_view>

#include "profiler/report/findings.h"
#include "profiler/report/text_table.h"
#include "profiler/report/wording.h"

namespace gpuexp {
namespace {

constexpr std::size_t most_rows = 120;  // of one table; bad points are always shown

// --- numbers of a point ---

const Quantity* counter(const PointRecord& point, const std::string& id) {
  const auto found = point.result.counters.find(id);
  return found == point.result.counters.end() || !found->second.has_value() ? nullptr : &found->second;
}

std::string counter_words(const PointRecord& point, const std::string& id) {
  const Quantity* quantity = counter(point, id);
  return quantity == nullptr ? "" : words(*quantity);
}

// Sum of `numerators` over sum of `denominators`, of the counters that are there; empty without any or over zero.
std::string ratio_words(const PointRecord& point, const std::vector<std::string>& numerators,
                        const std::vector<std::string>& denominators) {
  double above = 0, below = 0;
  bool estimated = false, any = false;
  for (const std::string& id : numerators)
    if (const Quantity* quantity = counter(point, id)) {
      above += *quantity->number();
      estimated = estimated || quantity->estimated;
      any = true;
    }
  for (const std::string& id : denominators)
    if (const Quantity* quantity = counter(point, id)) below += *quantity->number();
  if (!any || !(below > 0)) return "";
  return (estimated ? "~" : "") + real_words(above / below, 3);
}

// Of the access table; without one, over all shared accesses.
std::string worst_conflicts(const PointRecord& point) {
  double worst = -1;
  bool estimated = false;
  for (const SiteRow& row : point.result.sites) {
    if (row.space != "shared" || row.requests == 0) continue;
    const double conflicts = static_cast<double>(row.bank_conflicts) / static_cast<double>(row.requests);
    if (conflicts <= worst) continue;
    worst = conflicts;
    estimated = row.estimated;
  }
  if (worst >= 0) return (estimated ? "~" : "") + real_words(worst, 3);
  return ratio_words(point, {"shared_load_bank_conflicts", "shared_store_bank_conflicts"},
                     {"shared_load_requests", "shared_store_requests"});
}

std::string verdict_word(const std::string& verdict) {
  return verdict == "memory unless caches catch the reuse" ? "caches decide" : verdict;
}

TableCell outcome(const PointRecord& point) {
  const PointResult& result = point.result;
  const bool good = result.good();
  if (result.status == Status::unsupported) return {"not run", Tone::quiet};
  if (result.expected_finding) return good ? TableCell{"as expected", Tone::good} : TableCell{"NOT FOUND", Tone::bad};
  if (result.status != Status::ok) return {std::string(to_text(result.status)), Tone::bad};
  if (!result.findings.empty()) return {result.findings.front().kind, Tone::bad};
  if (result.verification.state == Verification::State::failed) return {"WRONG", Tone::bad};
  if (result.verification.state == Verification::State::not_run) return {"not verified", Tone::quiet};
  return {result.blocks_run < result.blocks_total ? "passed*" : "passed", Tone::good};
}

// One line for the whole report, whatever the table.
std::string result_meaning(const ResultFile& results) {
  const auto any = [&](bool (*holds)(const PointResult&)) {
    return std::ranges::any_of(results.points, [&](const PointRecord& point) { return holds(point.result); });
  };
  std::string text = "result: passed = equal to a float64 reference within the rounding error of the sums";
  if (any([](const PointResult& r) { return r.blocks_run < r.blocks_total; })) text += "; * on the sampled blocks only";
  if (any([](const PointResult& r) { return r.expected_finding.has_value(); }))
    text += "; as expected = broken on purpose, and the finding it must show appeared";
  return text;
}

// --- the columns ---

struct ColumnSpec {
  std::vector<std::string> heading;
  std::string meaning;
  int importance = 0;
  std::function<std::string(const PointRecord&)> text;
};

std::string analysis_words(const PointRecord& point, const std::function<Quantity(const Analysis&)>& quantity,
                           double divisor = 1) {
  return point.analysis ? words(quantity(*point.analysis), divisor) : "";
}

// Counts of the backend: emulated or measured.
std::vector<ColumnSpec> count_columns() {
  return {
      {{"load", "sectors"},
       "load sectors: 32-byte pieces of global memory that the loads move",
       60,
       [](const auto& p) { return counter_words(p, "global_load_sectors"); }},
      {{"sectors", "per", "load"},
       "sectors per load: for one warp instruction; 32 lanes of 4 bytes need 4",
       90,
       [](const auto& p) { return ratio_words(p, {"global_load_sectors"}, {"global_load_requests"}); }},
      {{"sectors", "per", "store"},
       "",
       70,
       [](const auto& p) { return ratio_words(p, {"global_store_sectors"}, {"global_store_requests"}); }},
      {{"lanes", "per", "request"},
       "lanes per request: of a warp's 32, how many take part in a global access",
       75,
       [](const auto& p) {
         return ratio_words(p, {"global_load_lanes", "global_store_lanes"},
                            {"global_load_requests", "global_store_requests"});
       }},
      {{"worst", "shared", "conflicts"},
       "worst shared conflicts: at the worst access site, passes over shared memory beyond the ideal, per warp "
       "instruction; 0 is best, 31 is 32-way",
       80,
       worst_conflicts},
      {{"FLOP per", "loaded", "byte"},
       "FLOP per loaded byte: useful operations over the bytes all lanes load",
       85,
       [](const auto& p) { return analysis_words(p, [](const Analysis& a) { return a.loaded.intensity; }); }},
      {{"FLOP per", "sector", "byte"},
       "FLOP per sector byte: the same over the bytes moved in sectors",
       50,
       [](const auto& p) { return analysis_words(p, [](const Analysis& a) { return a.transaction.intensity; }); }},
  };
}

std::vector<ColumnSpec> modelled_columns() {
  return {
      {{"attain-", "able", "GFLOP/s"},
       "attainable: the roof over the FLOP per loaded byte, as if no cache helped",
       82,
       [](const auto& p) {
         return analysis_words(
             p, [](const Analysis& a) { return a.loaded.attainable; }, 1e9);
       }},
      {{"% of", "peak"},
       "",
       45,
       [](const auto& p) { return analysis_words(p, [](const Analysis& a) { return a.loaded.percent_of_peak; }); }},
      {{"effective", "GB/s"},
       "effective GB/s: DRAM bandwidth times the useful share of the sector bytes",
       40,
       [](const auto& p) {
         return analysis_words(
             p, [](const Analysis& a) { return a.effective_bandwidth; }, 1e9);
       }},
      {{"bound us", "sectors", "from DRAM"},
       "bound us, sectors from DRAM: least time if no cache saves a sector",
       65,
       [](const auto& p) { return analysis_words(p, [](const Analysis& a) { return a.transaction.bound_time_us; }); }},
      {{"bound us", "bytes", "once"},
       "bound us, bytes once: least time the roof allows at all; a bound, not a time",
       88,
       [](const auto& p) { return analysis_words(p, [](const Analysis& a) { return a.compulsory.bound_time_us; }); }},
      {{"bounded", "by"},
       "bounded by: 'caches decide' = memory if no cache catches the reuse, compute if all of it is caught",
       95,
       [](const auto& p) { return p.analysis ? verdict_word(p.analysis->verdict) : std::string(); }},
  };
}

std::vector<ColumnSpec> timed_columns() {
  return {
      {{"median", "us"}, "", 99, [](const auto& p) { return p.time ? real_words(p.time->median_us) : std::string(); }},
      {{"GFLOP/s"},
       "",
       87,
       [](const auto& p) {
         return analysis_words(
             p, [](const Analysis& a) { return a.achieved_flops; }, 1e9);
       }},
      {{"% of", "peak"},
       "",
       66,
       [](const auto& p) { return analysis_words(p, [](const Analysis& a) { return a.percent_of_peak; }); }},
      {{"GB/s", "useful"},
       "GB/s useful: compulsory bytes over the median time",
       68,
       [](const auto& p) {
         return analysis_words(
             p, [](const Analysis& a) { return a.achieved_bandwidth; }, 1e9);
       }},
      {{"GB/s", "DRAM"},
       "",
       67,
       [](const auto& p) {
         return analysis_words(
             p, [](const Analysis& a) { return a.dram_bandwidth; }, 1e9);
       }},
  };
}

TableColumn filled(const ColumnSpec& spec, const std::string& group, const std::vector<const PointRecord*>& points) {
  TableColumn column{spec.heading, group, spec.meaning, true, spec.importance, {}};
  bool tells = false;  // a column of zeros gives its room to others
  for (const PointRecord* point : points) {
    column.cells.push_back({spec.text(*point), Tone::plain});
    tells = tells || (!column.cells.back().text.empty() && column.cells.back().text != "0");
  }
  if (!tells) column.importance = 1;
  return column;
}

std::vector<TableColumn> table_columns(const ProblemGroup& group, const std::vector<const PointRecord*>& points,
                                       const ResultFile& results) {
  constexpr int never_dropped = 100;
  std::vector<TableColumn> columns;
  if (group.labels.several_variants()) {
    TableColumn variant{{"variant"}, "", "", false, never_dropped, {}};
    for (const PointRecord* point : points) variant.cells.push_back({variant_of(*point), Tone::plain});
    columns.push_back(std::move(variant));
  }
  for (const auto& parameter : group.labels.varying()) {
    TableColumn column{{parameter.heading}, "", "", true, never_dropped, {}};
    for (const PointRecord* point : points) column.cells.push_back({param_text(*point, parameter.name), Tone::plain});
    columns.push_back(std::move(column));
  }
  const bool emulated = results.plan.backend == "simt";
  if (!emulated)
    for (const ColumnSpec& spec : timed_columns()) columns.push_back(filled(spec, "measured", points));
  for (const ColumnSpec& spec : count_columns())
    columns.push_back(filled(spec, emulated ? "emulated" : "counted", points));
  for (const ColumnSpec& spec : modelled_columns())
    columns.push_back(filled(spec, "modelled on " + results.device.name, points));
  TableColumn result{{"result"}, "", result_meaning(results), false, never_dropped, {}};
  for (const PointRecord* point : points) result.cells.push_back(outcome(*point));
  columns.push_back(std::move(result));
  return columns;
}

// --- the sections ---

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

std::string summary_line(const ResultFile& results) {
  std::size_t bad = 0, unsupported = 0;
  for (const PointRecord& point : results.points) {
    bad += point.result.good() ? 0 : 1;
    unsupported += point.result.status == Status::unsupported ? 1 : 0;
  }
  std::string text = fmt::format("{} on the {} backend: {}", results.plan.name, results.plan.backend,
                                 plural(results.points.size(), "point"));
  if (results.points.size() < results.plan.points.size())
    text += fmt::format(" of {}, unfinished (continue with --resume)", count_words(results.plan.points.size()));
  if (unsupported > 0) text += fmt::format(", {} not run", count_words(unsupported));
  return text + (bad == 0 ? ", all good" : fmt::format(", {} bad", count_words(bad)));
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

std::string source_line(const ResultFile& results) {
  if (results.plan.backend == "simt")
    return "Counts are emulated on the CPU from the kernels' source: exact for the source, no time, no cache. "
           "Bounds are modelled.";
  const std::string gpu = environment_value(results.environment, "gpu");
  return fmt::format("Times and counters are measured{}. Bounds are modelled.", gpu.empty() ? "" : " on " + gpu);
}

std::string header(const ResultFile& results, const TerminalStyle& style) {
  std::string text = bold(summary_line(results), style.colour) + "\n";
  if (!results.plan.description.empty()) text += wrapped(results.plan.description, style.width, "  ");
  text += wrapped(source_line(results), style.width, "  ");
  text += wrapped(roof_line(results), style.width, "  ");
  if (!results.device.note.empty()) text += wrapped(results.device.note, style.width, "  ");
  return text;
}

// The first rows, and every bad one.
std::vector<const PointRecord*> shown_rows(const ProblemGroup& group) {
  std::vector<const PointRecord*> rows;
  for (const PointRecord* point : group.points)
    if (rows.size() < most_rows || !point->result.good()) rows.push_back(point);
  return rows;
}

std::string table_section(const ProblemGroup& group, const ResultFile& results, const TerminalStyle& style,
                          std::vector<std::string>& legend) {
  const std::vector<const PointRecord*> rows = shown_rows(group);
  const auto columns = fitting_columns(table_columns(group, rows, results), style.width);
  for (const TableColumn& column : columns)
    if (!column.meaning.empty() && std::ranges::find(legend, column.meaning) == legend.end())
      legend.push_back(column.meaning);
  std::string title = group.labels.several_variants() ? group.problem : group.points.front()->result.point.variant;
  if (!group.labels.common().empty()) title += ", all with " + group.labels.common();
  std::string text = heading(title, style);
  text += render_table(columns, {style.width, style.colour, 40});
  if (rows.size() < group.points.size())
    text += fmt::format("... and {} more rows in the CSV file\n", group.points.size() - rows.size());
  return text;
}

}  // namespace

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
  std::string text = header(results, style);
  std::vector<std::string> legend;
  for (const ProblemGroup& group : groups) text += table_section(group, results, style, legend);
  if (!legend.empty()) {
    text += heading("How to read it", style);
    for (const std::string& line : legend) text += painted(wrapped(line, style.width, "  "), Tone::quiet, style.colour);
  }
  for (const ProblemGroup& group : groups) {
    text += bounds_section(group, results, style);
    text += comparison_section(group, results, style);
    text += sites_section(group, style);
  }
  text += problems_section(groups, style);
  text += sampling_section(groups, style);
  text += warnings_section(groups, style);
  return text;
}

}  // namespace gpuexp
