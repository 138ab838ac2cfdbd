// The emulator's prediction against what the chip counted: requests, sectors, wavefronts, conflicts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

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

// Measured over predicted: "1" when equal, "+12" when nothing was predicted.
std::string ratio_cell(const Pair& pair) {
  if (pair.equal()) return pair.measured == 0 ? "0" : "1";
  if (pair.predicted == 0) return "+" + real_words(pair.measured);
  const std::string ratio = real_words(pair.measured / pair.predicted, 3);
  return ratio == "1" ? "~1" : ratio;
}

std::string name_of(const Compared& compared) {
  std::string name;
  for (const std::string& word : compared.heading) name += (name.empty() ? "" : " ") + word;
  return name;
}

struct Difference {
  const PointRecord* point = nullptr;
  Pair pair;
  std::size_t points = 0;
};

// The largest difference of one count in one direction, over all points.
std::optional<Difference> largest(const Points& points, const char* id, bool more) {
  std::optional<Difference> worst;
  std::size_t count = 0;
  const auto size = [](const Pair& pair) {
    return pair.predicted > 0 && pair.measured > 0 ? std::abs(std::log(pair.measured / pair.predicted)) : 1e9;
  };
  for (const PointRecord* point : points) {
    const std::optional<Pair> pair = pair_of(*point, id);
    if (!pair || pair->equal() || (pair->measured > pair->predicted) != more) continue;
    ++count;
    if (!worst || size(*pair) > size(worst->pair)) worst = Difference{point, *pair, 0};
  }
  if (worst) worst->points = count;
  return worst;
}

std::string difference_sentence(const Compared& compared, const Difference& worst, bool more, const Points& points,
                                const ProblemGroup& group) {
  const auto count = [](double value) { return count_words(static_cast<std::uint64_t>(value)); };
  std::string text =
      fmt::format("{}: {} in {} of {}, most in {} ({} counted, {} predicted).", name_of(compared),
                  more ? "more than predicted" : "fewer than predicted", worst.points, plural(points.size(), "point"),
                  group.labels.of(*worst.point), count(worst.pair.measured), count(worst.pair.predicted));
  if (worst.pair.estimated) return text + " The prediction is an estimate from sampled blocks.";
  return text + " Known reason: " + (more ? compared.more : compared.fewer) + ".";
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
    columns.front().cells.push_back({shortened(group.labels.of_all(members), 44), Tone::plain});
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
    different.push_back(&compared);
    for (const bool more : {true, false})
      if (const auto worst = largest(points, compared.id, more))
        sentences += list_item(difference_sentence(compared, *worst, more, points, group), style);
  }
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
