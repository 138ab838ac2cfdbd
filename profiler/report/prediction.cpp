// The emulator's prediction against what the chip counted: requests, sectors, wavefronts, conflicts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "profiler/core/text.h"
#include "profiler/report/findings.h"
#include "profiler/report/point_numbers.h"
#include "profiler/report/text_table.h"

namespace gpuexp {
namespace {

using Points = std::vector<const PointRecord*>;

// A count that both have, and why the chip's may differ.
struct Compared {
  const char* id;
  std::vector<std::string> heading;
  const char* fewer;  // on the GPU
  const char* more;
};

const std::vector<Compared>& compared_counts() {
  constexpr const char* unrolled =
      "loops whose trip count differs from lane to lane are unrolled into two, and a warp whose lanes are in both "
      "issues the accesses of both";
  constexpr const char* merged =
      "the compiler merges loads of neighbours into wider ones; the prediction follows the source";
  constexpr const char* arbitration =
      "with many warps, shared accesses wait for other clients of the L1 data stage, and are counted again";
  constexpr const char* unseen = "these counters do not see bulk copies, and the compiler may drop or merge accesses";
  static const std::vector<Compared> counts{
      {"global_load_requests", {"load", "requests"}, unseen, unrolled},
      {"global_load_sectors", {"load", "sectors"}, unseen, unrolled},
      {"global_store_requests", {"store", "requests"}, unseen, unrolled},
      {"global_store_sectors", {"store", "sectors"}, unseen, unrolled},
      {"shared_load_requests", {"shared", "load", "requests"}, merged, unrolled},
      {"shared_load_wavefronts", {"shared", "load", "wavefronts"}, merged, arbitration},
      {"shared_load_bank_conflicts", {"shared", "load", "conflicts"}, merged, arbitration},
      {"shared_store_requests", {"shared", "store", "requests"}, merged, unrolled},
      {"shared_store_wavefronts", {"shared", "store", "wavefronts"}, merged, arbitration},
      {"shared_store_bank_conflicts", {"shared", "store", "conflicts"}, merged, arbitration},
  };
  return counts;
}

struct Pair {
  double measured = 0, predicted = 0;
  bool estimated = false;
  [[nodiscard]] bool equal() const { return measured == predicted; }
};

std::optional<Pair> pair_of(const PointRecord& point, const char* id) {
  const Quantity* measured = counter_of(point, id);
  if (measured == nullptr || measured->source != Source::measured) return std::nullopt;
  const Quantity* predicted = emulated_counter(point, id);
  if (predicted == nullptr) return std::nullopt;
  return Pair{*measured->number(), *predicted->number(), predicted->estimated};
}

// Measured over predicted: "1" when equal, "~1" when nearly, "+12" when nothing was predicted.
std::string ratio_cell(const Pair& pair) {
  constexpr double nearly = 0.05;
  if (pair.equal()) return pair.measured == 0 ? "0" : "1";
  if (pair.predicted == 0) return "+" + real_words(pair.measured);
  const double ratio = pair.measured / pair.predicted;
  return std::abs(ratio - 1) < nearly ? "~1" : real_words(ratio, 3);
}

std::string name_of(const Compared& compared) {
  std::string name;
  for (const std::string& word : compared.heading) name += (name.empty() ? "" : " ") + word;
  return name;
}

// How the counts that differ in one direction for one reason differ.
struct Difference {
  bool more = false;
  const char* reason = "";
  std::string names;
  std::vector<const PointRecord*> points;  // each once
  const PointRecord* worst_point = nullptr;
  std::string worst_name;
  Pair worst;
};

double size_of(const Pair& pair) {
  return pair.predicted > 0 && pair.measured > 0 ? std::abs(std::log(pair.measured / pair.predicted)) : 0;
}

// Those of one count are added to those of the same reason.
void add_differences(std::vector<Difference>& differences, const Compared& compared, const Points& points) {
  for (const bool more : {true, false}) {
    const char* reason = more ? compared.more : compared.fewer;
    for (const PointRecord* point : points) {
      const std::optional<Pair> pair = pair_of(*point, compared.id);
      if (!pair || pair->equal() || (pair->measured > pair->predicted) != more) continue;
      auto same = std::ranges::find_if(
          differences, [&](const Difference& d) { return d.more == more && d.reason == std::string_view(reason); });
      if (same == differences.end()) same = differences.insert(same, Difference{more, reason, "", {}, nullptr, "", {}});
      const std::string name = name_of(compared);
      if (same->names.find(name) == std::string::npos) same->names += (same->names.empty() ? "" : ", ") + name;
      if (std::ranges::find(same->points, point) == same->points.end()) same->points.push_back(point);
      if (same->worst_point == nullptr || size_of(*pair) > size_of(same->worst)) {
        same->worst_point = point;
        same->worst_name = name;
        same->worst = *pair;
      }
    }
  }
}

std::string difference_sentence(const Difference& difference, std::size_t points, const ProblemGroup& group) {
  const auto count = [](double value) { return count_words(static_cast<std::uint64_t>(value)); };
  std::string text = fmt::format(
      "{} than predicted in {} of {}: {}; most in {}: {} {} counted, {} predicted.", difference.more ? "more" : "fewer",
      difference.points.size(), plural(points, "point"), difference.names, group.labels.of(*difference.worst_point),
      count(difference.worst.measured), difference.worst_name, count(difference.worst.predicted));
  if (difference.worst.estimated) return text + " The prediction is an estimate from sampled blocks.";
  return text + " Known reason: " + difference.reason + ".";
}

std::string without_problem(const std::string& label, const ProblemGroup& group) {
  const std::string prefix = group.problem + "/";
  return label.starts_with(prefix) ? label.substr(prefix.size()) : label;
}

// Rows of points that differ alike, columns of the counts that differ.
std::vector<TableColumn> ratio_columns(const std::vector<const Compared*>& different, const Points& points,
                                       const ProblemGroup& group) {
  std::vector<std::pair<std::vector<std::string>, Points>> rows;
  for (const PointRecord* point : points) {
    std::vector<std::string> cells;
    for (const Compared* compared : different) {
      const std::optional<Pair> pair = pair_of(*point, compared->id);
      cells.push_back(pair ? ratio_cell(*pair) : "");
    }
    const auto same = std::ranges::find(rows, cells, [](const auto& row) { return row.first; });
    if (same == rows.end()) {
      rows.push_back({cells, {point}});
    } else {
      same->second.push_back(point);
    }
  }
  std::vector<TableColumn> columns{{{"points"}, "", "", false, 100, {}}};
  for (const auto& [cells, members] : rows)
    columns.front().cells.push_back({shortened(without_problem(group.labels.of_all(members), group), 50), Tone::plain});
  int importance = 99;
  for (std::size_t i = 0; i < different.size(); ++i) {
    TableColumn column{different[i]->heading, "counted / predicted", "", true, importance--, {}};
    for (const auto& [cells, members] : rows) column.cells.push_back({cells[i], Tone::plain});
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace

std::string prediction_section(const ProblemGroup& group, const TerminalStyle& style) {
  Points points;
  for (const PointRecord* point : group.points)
    if (std::ranges::any_of(compared_counts(), [&](const Compared& c) { return pair_of(*point, c.id).has_value(); }))
      points.push_back(point);
  if (points.empty()) return "";

  std::vector<const Compared*> different;
  std::vector<Difference> differences;
  std::string exact, sentences;
  for (const Compared& compared : compared_counts()) {
    bool any = false, equal = true;
    for (const PointRecord* point : points) {
      const std::optional<Pair> pair = pair_of(*point, compared.id);
      any = any || (pair && (pair->measured != 0 || pair->predicted != 0));
      equal = equal && (!pair || pair->equal());
    }
    if (!any) continue;
    if (equal) {
      exact += (exact.empty() ? "" : ", ") + name_of(compared);
      continue;
    }
    add_differences(differences, compared, points);
    // Conflicts beyond a prediction of none are wavefronts beyond the prediction, told there.
    const bool told_by_wavefronts =
        std::string_view(compared.id).ends_with("conflicts") && std::ranges::all_of(points, [&](const PointRecord* p) {
          const std::optional<Pair> pair = pair_of(*p, compared.id);
          return !pair || pair->predicted == 0;
        });
    if (!told_by_wavefronts) different.push_back(&compared);
  }
  for (const Difference& difference : differences)
    sentences += list_item(difference_sentence(difference, points.size(), group), style);
  std::string text = heading(fmt::format("{}: counted against predicted", group.problem), style);
  if (!exact.empty())
    text +=
        wrapped(fmt::format("equal to the digit in {}: {}", plural(points.size(), "point"), exact), style.width, "  ");
  if (different.empty()) return text;
  return text +
         render_table(fitting_columns(ratio_columns(different, points, group), style.width),
                      {style.width, style.colour, 48}) +
         sentences;
}

}  // namespace gpuexp
