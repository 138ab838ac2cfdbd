// The points, roofs and range of a drawing.
#include "profiler/roofline/drawn.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "profiler/roofline/units.h"

namespace gpuexp {
namespace {

// The modelled kernels of a view: one mark each, though several sections place it.
void add_modelled(Drawn& drawing, const RooflineView& view) {
  for (const RooflineSection& section : view.sections)
    for (const LabelledPoint& point : section.points) {
      const std::string detail = fmt::format("{:>7} FLOP/B, {} bytes, {}", intensity_text(point.intensity),
                                             to_text(point.basis), to_text(point.source));
      auto mark = std::ranges::find_if(
          drawing.marks, [&](const DrawnMark& m) { return m.label == point.label && m.detail == detail; });
      if (mark == drawing.marks.end()) {
        drawing.marks.push_back({point.label, detail, 0, false});
        mark = std::prev(drawing.marks.end());
      }
      if (!(point.intensity > 0)) continue;
      drawing.points.push_back({static_cast<std::size_t>(mark - drawing.marks.begin()), 0, point.intensity,
                                place(point, view.ceilings, *section.precision, view.level).attainable, false});
    }
}

std::string detail_of(const ResultPlacement& placed) {
  std::string text = fmt::format("{:>7} FLOP/B of {} bytes", intensity_text(placed.intensity), placed.basis);
  if (placed.percent_of_attainable)
    return text + fmt::format(", {} of the roof", percent_text(*placed.percent_of_attainable));
  return text + fmt::format(", bound ({})", to_text(placed.source));
}

// "3 points, 0.25 to 8 FLOP/B, 2.1 % to 41 % of the roof" for a mark that stands for a group.
struct Extent {
  std::size_t count = 0;
  double low = 0, high = 0;
  void add(double value) {
    low = count == 0 ? value : std::min(low, value);
    high = count == 0 ? value : std::max(high, value);
    ++count;
  }
};

void add_results(Drawn& drawing, const RooflineView& view, std::size_t single_marks) {
  const RooflineResults& results = view.results;
  std::vector<std::pair<const ResultPoint*, ResultPlacement>> placed;
  std::map<std::string, std::size_t> reasons;
  for (const ResultPoint& point : results.points) {
    const PlacementOrReason at = place(point, view.level);
    if (at.placement && at.placement->height() > 0) {
      placed.emplace_back(&point, *at.placement);
    } else {
      ++reasons[at.placement ? "nothing was achieved" : at.reason];
    }
  }
  const bool grouped = placed.size() > single_marks;
  const bool several = results.sources.size() > 1;
  std::map<std::pair<std::size_t, std::string>, std::size_t> groups;
  std::vector<Extent> intensities, percents;
  for (const auto& [point, at] : placed) {
    const auto [group, is_new] = groups.try_emplace({point->source, point->variant}, groups.size());
    const std::string prefix = several ? results.sources[point->source].label + ": " : "";
    const bool measured = at.achieved.has_value();
    if (!grouped || is_new)
      drawing.marks.push_back(
          {prefix + (grouped ? point->variant : point->label), detail_of(at), group->second, measured});
    const std::size_t mark = grouped ? group->second : drawing.marks.size() - 1;
    drawing.points.push_back({mark, group->second, at.intensity, at.height(), measured});
    intensities.resize(groups.size());
    percents.resize(groups.size());
    intensities[group->second].add(at.intensity);
    if (at.percent_of_attainable) percents[group->second].add(*at.percent_of_attainable);
  }
  for (std::size_t i = 0; grouped && i < drawing.marks.size(); ++i) {
    drawing.marks[i].detail = fmt::format("{} points, {} to {} FLOP/B", intensities[i].count,
                                          intensity_text(intensities[i].low), intensity_text(intensities[i].high));
    if (percents[i].count > 0)
      drawing.marks[i].detail +=
          fmt::format(", {} to {} of the roof", percent_text(percents[i].low), percent_text(percents[i].high));
  }
  for (const ResultSource& source : results.sources)
    drawing.notes.push_back(fmt::format("{}: {}", source.label, source_text(source)));
  for (const auto& [reason, count] : reasons)
    drawing.notes.push_back(
        fmt::format("not drawn: {} ({})", count == 1 ? "1 point" : fmt::format("{} points", count), reason));
}

// The peaks in use, or that of float32 when nothing uses any.
void add_roofs(Drawn& drawing, const RooflineView& view) {
  std::set<std::string_view> used;
  for (const RooflineSection& section : view.sections) used.insert(section.precision->id);
  for (const ResultPoint& point : view.results.points)
    if (place(point, view.level).placement) used.insert(point.analysis.precision);
  if (used.empty()) used.insert("fp32");
  for (const ComputeCeiling& peak : view.ceilings.peaks) {
    if (!used.contains(peak.precision->id)) continue;
    const auto equal = std::ranges::find(drawing.roofs, peak.peak, &DrawnRoof::peak);
    if (equal != drawing.roofs.end()) {
      equal->label = fmt::format("{}, {}", peak.precision->label, equal->label);
    } else {
      drawing.roofs.push_back(
          {peak.peak, fmt::format("{} {} ({})", peak.precision->label, rate_text(peak.peak, peak.precision->unit),
                                  to_text(peak.source))});
    }
  }
  std::ranges::sort(drawing.roofs, std::greater<>(), &DrawnRoof::peak);
}

void set_range(Drawn& drawing, const RooflineView& view) {
  const double bandwidth = slope_or_throw(view.ceilings, view.level).bandwidth;
  double top = drawing.roofs.empty() ? 1e12 : drawing.roofs.front().peak;
  double left = top / bandwidth / 100, right = 4 * top / bandwidth;
  for (const DrawnPoint& point : drawing.points) {
    left = std::min(left, point.x / 2);
    right = std::max(right, point.x * 2);
    top = std::max(top, point.y);
  }
  double bottom = left * bandwidth;
  for (const DrawnPoint& point : drawing.points) bottom = std::min(bottom, point.y / 2);
  drawing.x_min = left;
  drawing.x_max = right;
  drawing.y_min = bottom;
  drawing.y_max = top * 2;
}

}  // namespace

std::string slope_label(const BandwidthCeiling& slope) {
  return fmt::format("{} {} ({})", slope.label, bandwidth_text(slope.bandwidth), to_text(slope.source));
}

std::string source_text(const ResultSource& source) {
  if (source.backend == "simt") return "emulated (simt): bounds of the roof, no time was measured";
  std::string text =
      fmt::format("measured on {}", source.ran_on.empty() ? "a GPU that the file does not name" : source.ran_on);
  if (!source.cache_mode.empty()) text += fmt::format(", {} L2", source.cache_mode);
  if (source.what_if) text += "; what-if: this roof is of another device";
  return text;
}

Drawn drawn(const RooflineView& view, std::size_t single_marks) {
  Drawn drawing;
  add_modelled(drawing, view);
  add_results(drawing, view, single_marks);
  add_roofs(drawing, view);
  set_range(drawing, view);
  return drawing;
}

}  // namespace gpuexp
