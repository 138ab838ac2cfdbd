// Tables whose rows are what differs: how blocks fit on a multiprocessor, and what the inputs are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "profiler/core/text.h"
#include "profiler/report/point_columns.h"
#include "profiler/report/point_tables.h"
#include "profiler/report/text_table.h"

namespace gpuexp {
namespace {

using Points = std::vector<const PointRecord*>;

constexpr int never_dropped = 100;
constexpr std::size_t repeat_heading = 48;

// Points that have the same cells, in order of appearance.
struct DistinctRow {
  Points points;
  std::vector<std::string> cells;
};

std::vector<DistinctRow> distinct_rows(const Points& points,
                                       const std::function<std::vector<std::string>(const PointRecord&)>& cells) {
  std::vector<DistinctRow> rows;
  for (const PointRecord* point : points) {
    const std::vector<std::string> own = cells(*point);
    const auto same = std::ranges::find(rows, own, &DistinctRow::cells);
    if (same == rows.end()) {
      rows.push_back({{point}, own});
    } else {
      same->points.push_back(point);
    }
  }
  return rows;
}

// The parameters that tell these points from the others of their variants: one whose values only they have, else all
// that they share.
std::string apart_words(const Points& points, const ProblemGroup& group) {
  const auto others_have = [&](const PointLabels::Varying& parameter, const std::string& value) {
    return std::ranges::any_of(group.points, [&](const PointRecord* other) {
      const bool same_variant = std::ranges::any_of(
          points, [&](const PointRecord* point) { return point->result.point.variant == other->result.point.variant; });
      return same_variant && std::ranges::find(points, other) == points.end() &&
             param_text(*other, parameter.name) == value;
    });
  };
  for (const PointLabels::Varying& parameter : group.labels.varying()) {
    const std::string value = param_text(*points.front(), parameter.name);
    const bool shared = std::ranges::all_of(
        points, [&](const PointRecord* point) { return param_text(*point, parameter.name) == value; });
    if (shared && !value.empty() && !others_have(parameter, value)) return parameter.heading + "=" + value;
  }
  return group.labels.shared_params(points);
}

// "tiled TILE=16", "smem, smem_padded", "5 variants".
std::string row_label(const Points& points, const ProblemGroup& group) {
  constexpr std::size_t most_names = 2;
  std::vector<std::string> names;
  std::size_t of_these = 0;  // points of the same variants
  for (const PointRecord* point : points)
    if (std::ranges::find(names, variant_of(*point)) == names.end()) names.push_back(variant_of(*point));
  for (const PointRecord* point : group.points)
    if (point->analysis && std::ranges::find(names, variant_of(*point)) != names.end()) ++of_these;
  const std::string params = of_these == points.size() ? "" : apart_words(points, group);
  if (!group.labels.several_variants() && !params.empty()) return params;
  std::string text;
  if (names.size() > most_names) text = fmt::format("{} variants", names.size());
  if (names.size() <= most_names)
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return params.empty() ? text : text + " " + params;
}

std::string distinct_table(const std::string& title, const std::vector<std::vector<std::string>>& headings,
                           const std::vector<DistinctRow>& rows, const ProblemGroup& group,
                           const TerminalStyle& style) {
  std::string constants;
  std::vector<TableColumn> columns{{{"points"}, "", "", false, never_dropped, {}}};
  for (const DistinctRow& row : rows)
    columns.front().cells.push_back({shortened(row_label(row.points, group), 44), Tone::plain});
  int importance = 99;
  for (std::size_t i = 0; i < headings.size(); ++i) {
    const bool constant =
        std::ranges::all_of(rows, [&](const DistinctRow& row) { return row.cells[i] == rows.front().cells[i]; });
    if (constant) {
      if (rows.front().cells[i].empty()) continue;
      ColumnSpec named;
      named.heading = headings[i];
      constants += (constants.empty() ? "" : ", ") + flat_heading(named) + " " + rows.front().cells[i];
      continue;
    }
    TableColumn column{headings[i], "", "", true, importance--, {}};
    for (const DistinctRow& row : rows) column.cells.push_back({row.cells[i], Tone::plain});
    columns.push_back(std::move(column));
  }
  std::string text = heading(title, style);
  if (!constants.empty()) text += wrapped((rows.size() == 1 ? "" : "in every row: ") + constants, style.width, "  ");
  if (columns.size() > 1)
    text += render_table(fitting_columns(columns, style.width), {style.width, style.colour, repeat_heading});
  return text;
}

// What a launch of several shapes of block takes, joined.
template <class Text>
std::string of_shapes(const PointRecord& point, Text text) {
  std::string all;
  std::vector<std::string> told;
  for (const LaunchOccupancy& launch : point.analysis->occupancy) {
    const std::string one = text(launch);
    if (std::ranges::find(told, one) != told.end()) continue;
    told.push_back(one);
    all += (all.empty() ? "" : ", ") + one;
  }
  return all;
}

std::string fact_words(const ParamValue& value) {
  constexpr double exact = 1e15;
  if (const auto* real = std::get_if<double>(&value)) {
    const bool count = *real >= 0 && *real < exact && *real == std::floor(*real);
    return count ? count_words(static_cast<std::uint64_t>(*real)) : real_words(*real);
  }
  const auto* whole = std::get_if<std::int64_t>(&value);
  return whole != nullptr && *whole >= 0 ? count_words(static_cast<std::uint64_t>(*whole)) : to_text(value);
}

}  // namespace

std::string occupancy_table(const ProblemGroup& group, const ResultFile& results, const TerminalStyle& style) {
  Points points;
  bool unknown = false;
  for (const PointRecord* point : group.points)
    if (point->analysis && !point->analysis->occupancy.empty()) {
      points.push_back(point);
      unknown = unknown || std::ranges::any_of(point->analysis->occupancy,
                                               [](const auto& launch) { return !launch.occupancy.registers_known; });
    }
  if (points.empty()) return "";
  const auto cells = [](const PointRecord& point) {
    return std::vector<std::string>{
        of_shapes(point, [](const auto& l) { return count_words(static_cast<std::uint64_t>(l.block.threads)); }),
        of_shapes(point,
                  [](const auto& l) {
                    return count_words(
                        static_cast<std::uint64_t>(l.block.static_shared_bytes + l.block.dynamic_shared_bytes));
                  }),
        of_shapes(point, [](const auto& l) { return number_text(l.occupancy.blocks_per_sm); }),
        of_shapes(point,
                  [](const auto& l) {
                    std::string text;
                    for (const std::string& limiter : l.occupancy.limiters) text += (text.empty() ? "" : "+") + limiter;
                    return text;
                  }),
        of_shapes(point, [](const auto& l) { return real_words(100 * l.occupancy.fraction, 3); }),
        of_shapes(point,
                  [](const auto& l) {
                    return l.block.registers_per_thread ? number_text(std::int64_t{*l.block.registers_per_thread})
                                                        : std::string();
                  }),
        of_shapes(point, [](const auto& l) { return number_text(std::int64_t{l.occupancy.max_registers_for_blocks}); }),
        of_shapes(point, [](const auto& l) { return number_text(std::int64_t{l.occupancy.max_registers_to_launch}); }),
    };
  };
  const std::vector<std::vector<std::string>> headings{{"threads", "per", "block"},
                                                       {"shared", "bytes", "per block"},
                                                       {"blocks", "per SM"},
                                                       {"limited", "by"},
                                                       {"occu-", "pancy %"},
                                                       {"registers", "per", "thread"},
                                                       {"registers", "that keep", "these blocks"},
                                                       {"registers", "that still", "launch"}};
  const std::string title = fmt::format(
      "Blocks of {} on a multiprocessor (modelled on {}{})", group.problem, results.device.name,
      !unknown ? ""
      : results.plan.backend == "simt"
          ? "; registers per thread unknown, for only a run on a GPU reads them, so blocks per SM is an upper bound"
          : "; blocks per SM is an upper bound where registers per thread are unknown");
  return distinct_table(title, headings, distinct_rows(points, cells), group, style);
}

std::string workload_table(const ProblemGroup& group, const TerminalStyle& style) {
  Points points;
  std::vector<std::string> names;
  for (const PointRecord* point : group.points) {
    if (point->result.facts.empty()) continue;
    points.push_back(point);
    for (const auto& [name, value] : point->result.facts.values())
      if (!name.starts_with("expected:") && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  if (points.empty() || names.empty()) return "";
  const auto cells = [&](const PointRecord& point) {
    std::vector<std::string> texts;
    for (const std::string& name : names) {
      const ParamValue* value = point.result.facts.find(name);
      texts.push_back(value == nullptr ? "" : fact_words(*value));
    }
    return texts;
  };
  std::vector<std::vector<std::string>> headings;
  for (const std::string& name : names) {
    std::vector<std::string>& lines = headings.emplace_back();
    for (std::size_t at = 0; at <= name.size();) {
      const std::size_t end = std::min(name.find('_', at), name.size());
      lines.push_back(name.substr(at, end - at));
      at = end + 1;
    }
  }
  return distinct_table(fmt::format("Workload of {} (modelled: from its inputs)", group.problem), headings,
                        distinct_rows(points, cells), group, style);
}

}  // namespace gpuexp
