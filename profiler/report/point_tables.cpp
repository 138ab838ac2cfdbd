// The report's tables, a row per point.
#include "profiler/report/point_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "profiler/core/text.h"
#include "profiler/report/point_columns.h"
#include "profiler/report/point_numbers.h"
#include "profiler/report/text_table.h"

namespace gpuexp {
namespace {

using Points = std::vector<const PointRecord*>;

constexpr std::size_t most_rows = 120;        // of the summary; bad points are always shown
constexpr std::size_t most_detail_rows = 40;  // of a further table, beyond which it only shows
constexpr std::size_t few_rows = 12;          // the first of them
constexpr int never_dropped = 100;

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

// --- from columns to text ---

std::string group_of(const ColumnSpec& spec, const ResultFile& results, bool detail) {
  std::string origin;
  if (spec.origin == Origin::counted) origin = results.plan.backend == "simt" ? "emulated" : "counted";
  if (spec.origin == Origin::emulated) origin = "emulated";
  if (spec.origin == Origin::modelled) origin = detail ? "modelled" : "modelled on " + results.device.name;
  if (spec.origin == Origin::measured) origin = "measured";
  if (spec.what.empty()) return origin;
  return spec.what;
}

TableColumn filled(const ColumnSpec& spec, const std::string& group, const Points& points) {
  TableColumn column{spec.heading, group, spec.meaning, true, spec.importance, {}};
  for (const PointRecord* point : points) column.cells.push_back({spec.text(*point), Tone::plain});
  return column;
}

// Whether a column has anything but blanks and zeros.
bool tells(const TableColumn& column) {
  return std::ranges::any_of(column.cells,
                             [](const TableCell& cell) { return !cell.text.empty() && cell.text != "0"; });
}

void explain(const std::string& meaning, Legend& legend) {
  if (!meaning.empty() && std::ranges::find(legend.lines, meaning) == legend.lines.end())
    legend.lines.push_back(meaning);
}

// What tells a point's parameters, words before numbers. A 0 is left out: parameters that are of no use to a point are
// 0, and a list of them tells nothing.
std::string case_text(const ProblemGroup& group, const PointRecord& point) {
  std::string words, numbers;
  for (const auto& parameter : group.labels.varying()) {
    const std::string value = param_text(point, parameter.name);
    if (value.empty() || value == "0") continue;
    const bool number = value.find_first_not_of("0123456789.-+e") == std::string::npos;
    (number ? numbers : words) += " " + parameter.heading + "=" + value;
  }
  return words + numbers;
}

// The cases of a group in order of appearance; a case is known by its place, from 1.
std::vector<std::string> cases_of(const ProblemGroup& group) {
  std::vector<std::string> cases;
  for (const PointRecord* point : group.points)
    if (std::string text = case_text(group, *point); std::ranges::find(cases, text) == cases.end())
      cases.push_back(std::move(text));
  return cases;
}

// Whether a column per parameter would leave no room for what was found out.
bool names_by_case(const ProblemGroup& group, const TerminalStyle& style) {
  constexpr std::size_t gap = 2;
  std::size_t width = 0;
  for (const auto& parameter : group.labels.varying()) {
    std::size_t widest = display_width(parameter.heading);
    for (const PointRecord* point : group.points)
      widest = std::max(widest, display_width(param_text(*point, parameter.name)));
    width += widest + gap;
  }
  return width > static_cast<std::size_t>(style.width) / 2;
}

TableColumn case_column(const ProblemGroup& group, const Points& points) {
  const std::vector<std::string> cases = cases_of(group);
  TableColumn column{{"case"}, "", "", true, never_dropped, {}};
  for (const PointRecord* point : points) {
    const auto at = std::ranges::find(cases, case_text(group, *point)) - cases.begin();
    column.cells.push_back({std::to_string(at + 1), Tone::plain});
  }
  return column;
}

// What the numbers of the cases stand for; empty where parameters have columns of their own.
std::string case_list(const ProblemGroup& group, const TerminalStyle& style) {
  if (!names_by_case(group, style)) return "";
  std::string text;
  const std::vector<std::string> cases = cases_of(group);
  for (std::size_t i = 0; i < cases.size(); ++i)
    text += wrapped(cases[i].empty() ? "all 0" : cases[i].substr(1), style.width, fmt::format("  case {:2}: ", i + 1));
  return text;
}

std::vector<TableColumn> naming_columns(const ProblemGroup& group, const Points& points, const TerminalStyle& style) {
  std::vector<TableColumn> columns;
  if (group.labels.several_variants()) {
    TableColumn variant{{"variant"}, "", "", false, never_dropped, {}};
    for (const PointRecord* point : points) variant.cells.push_back({variant_of(*point), Tone::plain});
    columns.push_back(std::move(variant));
  }
  if (names_by_case(group, style)) {
    columns.push_back(case_column(group, points));
    return columns;
  }
  for (const auto& parameter : group.labels.varying()) {
    TableColumn column{{parameter.heading}, "", "", true, never_dropped, {}};
    for (const PointRecord* point : points) column.cells.push_back({param_text(*point, parameter.name), Tone::plain});
    columns.push_back(std::move(column));
  }
  return columns;
}

std::vector<ColumnSpec> summary_columns(const Points& points, const ResultFile& results) {
  if (counts_alone_matter(points)) return raw_columns();
  std::vector<ColumnSpec> columns;
  if (results.plan.backend != "simt") columns = timed_columns(results);
  std::ranges::move(access_columns(), std::back_inserter(columns));
  std::vector<ColumnSpec> bounds = bound_columns();
  if (results.plan.backend != "simt")  // what was measured comes first, but the last says of which roof it is a part
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) bounds[i].importance -= 20;
  std::ranges::move(bounds, std::back_inserter(columns));
  return columns;
}

// The first rows, and every bad one.
Points shown_rows(const ProblemGroup& group) {
  Points rows;
  for (const PointRecord* point : group.points)
    if (rows.size() < most_rows || !point->result.good()) rows.push_back(point);
  return rows;
}

std::string column_key(const ProblemGroup& group, const std::string& name) { return group.problem + "/" + name; }

// "The same in every row: ..." of columns with one value; they are taken out of `specs`.
std::string constants_line(std::vector<ColumnSpec>& specs, const Points& points, const TerminalStyle& style) {
  std::string text;
  std::erase_if(specs, [&](const ColumnSpec& spec) {
    const std::string first = spec.text(*points.front());
    const bool constant =
        std::ranges::all_of(points, [&](const PointRecord* point) { return spec.text(*point) == first; });
    if (constant) text += (text.empty() ? "" : ", ") + flat_heading(spec) + " " + first;
    return constant;
  });
  if (text.empty()) return "";
  return wrapped((points.size() == 1 ? "" : "in every row: ") + text, style.width, "  ");
}

// A further table over all points that ran.
std::string detail_table(const std::string& title, std::vector<ColumnSpec> specs, const ProblemGroup& group,
                         const ResultFile& results, const TerminalStyle& style, Legend& legend) {
  Points points;
  for (const PointRecord* point : group.points)
    if (point->analysis) points.push_back(point);
  std::erase_if(specs, [&](const ColumnSpec& spec) {
    return legend.shown.contains(column_key(group, flat_heading(spec))) || !tells(filled(spec, "", points));
  });
  if (points.empty() || specs.empty()) return "";
  std::string text = constants_line(specs, points, style);
  if (!specs.empty()) {
    const std::size_t left_out = points.size() > most_detail_rows ? points.size() - few_rows : 0;
    points.resize(points.size() - left_out);
    std::vector<TableColumn> columns = naming_columns(group, points, style);
    for (const ColumnSpec& spec : specs) columns.push_back(filled(spec, group_of(spec, results, true), points));
    columns = fitting_columns(columns, style.width);
    for (const TableColumn& column : columns) explain(column.meaning, legend);
    text += render_table(columns, {style.width, style.colour, most_detail_rows});
    if (left_out > 0) text += fmt::format("... and {} more rows in the CSV file\n", left_out);
  }
  return heading(title, style) + text;
}

}  // namespace

std::string summary_table(const ProblemGroup& group, const ResultFile& results, const TerminalStyle& style,
                          Legend& legend) {
  const Points rows = shown_rows(group);
  std::vector<TableColumn> columns = naming_columns(group, rows, style);
  std::vector<std::pair<std::string, std::vector<std::string>>> names;
  const bool raw = counts_alone_matter(rows);
  for (const ColumnSpec& spec : summary_columns(rows, results)) {
    TableColumn column = filled(spec, group_of(spec, results, false), rows);
    if (!tells(column)) {  // a column of zeros gives its room to others, and tells nothing of plain counts
      if (raw) continue;
      column.importance = 1;
    }
    names.emplace_back(flat_heading(spec), spec.heading);
    columns.push_back(std::move(column));
  }
  if (std::ranges::any_of(rows, [](const PointRecord* point) { return as_expected(*point).has_value(); })) {
    TableColumn expected{
        {"expec-", "tation"}, "", "expectation: whether the counts are those that the inputs state", false,
        never_dropped,        {}};
    for (const PointRecord* point : rows) {
      const std::optional<bool> holds = as_expected(*point);
      expected.cells.push_back(!holds   ? TableCell{}
                               : *holds ? TableCell{"match", Tone::good}
                                        : TableCell{"differs", Tone::bad});
    }
    columns.push_back(std::move(expected));
  }
  TableColumn result{{"result"}, "", result_meaning(results), false, never_dropped, {}};
  for (const PointRecord* point : rows) result.cells.push_back(outcome(*point));
  columns.push_back(std::move(result));
  columns = fitting_columns(columns, style.width);
  for (const TableColumn& column : columns) {
    explain(column.meaning, legend);
    for (const auto& [name, lines] : names)
      if (lines == column.heading) legend.shown.insert(column_key(group, name));
  }
  std::string title = group.labels.several_variants() ? group.problem : group.points.front()->result.point.variant;
  if (!group.labels.common().empty()) title += ", all with " + group.labels.common();
  std::string text = heading(title, style) + render_table(columns, {style.width, style.colour, 40});
  if (rows.size() < group.points.size())
    text += fmt::format("... and {} more rows in the CSV file\n", group.points.size() - rows.size());
  return text + case_list(group, style);
}

std::string detail_tables(const ProblemGroup& group, const ResultFile& results, const TerminalStyle& style,
                          Legend& legend) {
  if (counts_alone_matter(group.points)) return "";
  Points analysed;
  for (const PointRecord* point : group.points)
    if (point->analysis) analysed.push_back(point);
  std::string text;
  const auto add = [&](const std::string& title, const std::vector<ColumnSpec>& columns) {
    text += detail_table(title, columns, group, results, style, legend);
  };
  add("Traffic of " + group.problem + " through global memory", traffic_columns());
  add("Loads of " + group.problem + " by buffer (emulated)", buffer_columns(analysed));
  add(fmt::format("Intensity and bounds of {} (modelled on {})", group.problem, results.device.name),
      roofline_columns());
  add("Shared memory and issue of " + group.problem, issue_columns());
  text += occupancy_table(group, results, style);
  text += workload_table(group, style);
  return text;
}

std::string legend_section(const Legend& legend, const TerminalStyle& style) {
  if (legend.lines.empty()) return "";
  std::string text = heading("How to read it", style);
  for (const std::string& line : legend.lines)
    text += painted(wrapped(line, style.width, "  "), Tone::quiet, style.colour);
  return text;
}

}  // namespace gpuexp
