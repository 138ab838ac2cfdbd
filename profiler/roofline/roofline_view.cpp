// The roofline as tables for a terminal.
#include "profiler/roofline/roofline_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "profiler/core/text.h"
#include "profiler/roofline/drawn.h"
#include "profiler/roofline/units.h"

namespace gpuexp {
namespace {

std::string kind_text(const Provenance& provenance) {
  return std::string(provenance.evidence == Evidence::third_party ? "third party" : to_text(provenance.evidence));
}

std::string source_text(const Provenance& provenance) {
  return provenance.note.empty() ? provenance.source : fmt::format("{}; {}", provenance.source, provenance.note);
}

std::string clock_text(double mhz) { return mhz > 0 ? fmt::format("{:.0f} MHz", mhz) : std::string("-"); }

// Of measured ceilings: which share of the specification's they reach.
std::string share_of_spec(double value, const std::optional<double>& of_spec) {
  return of_spec ? fmt::format("{} of {}", percent_text(100 * value / *of_spec), "spec") : std::string("no spec");
}

std::string bandwidth_rows(const Ceilings& ceilings) {
  std::string text = fmt::format("{:<16}{:>13}  {:<9} {}\n", "Bandwidth", "ceiling", "source", "from");
  for (const BandwidthCeiling& slope : ceilings.bandwidths) {
    std::string from = slope.how.empty() ? kind_text(slope.provenance) : slope.how;
    if (slope.source == Source::measured)
      from = fmt::format("{}{}; {}", share_of_spec(slope.bandwidth, slope.of_spec),
                         slope.clock_mhz > 0 ? " at " + clock_text(slope.clock_mhz) : "", from);
    text += fmt::format("  {:<14} {:>12}  {:<9} {}\n", slope.label, bandwidth_text(slope.bandwidth),
                        to_text(slope.source), shortened(from, 58));
  }
  for (const BandwidthCeiling& slope : ceilings.bandwidths) {
    if (slope.source == Source::measured) continue;
    if (slope.how.empty() && !slope.provenance.source.empty())
      text += wrapped_text(fmt::format("{}: {}", slope.label, source_text(slope.provenance)), "  ");
  }
  for (const BandwidthCeiling& slope : ceilings.bandwidths)
    if (slope.level == Level::l2 && slope.source != Source::measured && !slope.provenance.note.empty())
      text += wrapped_text(fmt::format("L2: {}", slope.provenance.note), "  ");
  return text;
}

std::string compute_rows(const Ceilings& ceilings) {
  std::string text = fmt::format("{:<22}{:>14}  {:<9} {:<11} {:>8}  {}\n", "Compute, dense", "peak", "source", "from",
                                 "at", "ridge point, FLOP/B");
  text += fmt::format("{:69}", "");
  for (const BandwidthCeiling& slope : ceilings.bandwidths)
    text += fmt::format("{:>9}", slope.level == Level::l1 ? "L1" : label_of(slope.level));
  text += "\n";
  for (const ComputeCeiling& roof : ceilings.peaks) {
    // "97.3 % spec": how much of the specification's peak a measured one reaches.
    const std::string from = roof.source != Source::measured ? kind_text(roof.provenance)
                             : roof.of_spec                  ? percent_text(100 * roof.peak / *roof.of_spec) + " spec"
                                                             : "no spec";
    text +=
        fmt::format("  {:<20} {:>13}  {:<9} {:<11} {:>8} ", roof.precision->label,
                    rate_text(roof.peak, roof.precision->unit), to_text(roof.source), from, clock_text(roof.clock_mhz));
    for (const double ridge : roof.ridges) text += fmt::format(" {:>8}", intensity_text(ridge));
    text += "\n";
  }
  return text;
}

// "Under FP32 (19.5 TFLOP/s) and DRAM (1,935 GB/s), ridge 10.08 FLOP/B".
std::string under_text(const RooflineView& view, const Precision& precision) {
  const ComputeCeiling& roof = peak_or_throw(view.ceilings, precision);
  const BandwidthCeiling& slope = slope_or_throw(view.ceilings, view.level);
  const auto basis = [&](Source source) {
    return view.ceilings.basis == Source::measured ? fmt::format(", {}", to_text(source)) : std::string();
  };
  return fmt::format("Under {} ({}{}) and {} ({}{}), ridge {} FLOP/B", precision.label,
                     rate_text(roof.peak, precision.unit), basis(roof.source), slope.label,
                     bandwidth_text(slope.bandwidth), basis(slope.source),
                     intensity_text(ridge_point(roof.peak, slope.bandwidth)));
}

std::string section_rows(const RooflineView& view, const RooflineSection& section) {
  const Precision& precision = *section.precision;
  std::string text = under_text(view, precision) + "; modelled\n";
  text += fmt::format("  {:<28}{:>8} {:<12}{:>16}{:>10}  {}\n", "kernel", "FLOP/B", "of bytes", "attainable", "of peak",
                      "bound by");
  for (const LabelledPoint& point : section.points) {
    const Placement placed = place(point, view.ceilings, precision, view.level);
    text += fmt::format("  {:<28} {:>7} {:<12} {:>15} {:>9}  {}\n", point.label, intensity_text(point.intensity),
                        to_text(point.basis), rate_text(placed.attainable, precision.unit),
                        percent_text(placed.percent_of_peak), to_text(placed.bound_by));
  }
  return text;
}

// How the intensities come about: each formula once, though several sections use it.
std::string formula_rows(const RooflineView& view) {
  std::string text;
  std::set<std::pair<std::string, std::string>> seen;
  for (const RooflineSection& section : view.sections)
    for (const LabelledPoint& point : section.points)
      if (!point.formula.empty() && seen.emplace(point.label, point.formula).second)
        text += fmt::format("  {:<28} {:>7} = {}\n", point.label, intensity_text(point.intensity), point.formula);
  return text.empty() ? text : fmt::format("\nIntensities by arithmetic, FLOP/B\n{}", text);
}

std::string basis_rows(const RooflineView& view) {
  std::set<Basis> bases;
  for (const RooflineSection& section : view.sections)
    for (const LabelledPoint& point : section.points) bases.insert(point.basis);
  std::string text;
  for (const Basis basis : bases) text += wrapped_text(fmt::format("{}: {}", to_text(basis), meaning_of(basis)), "  ");
  return text;
}

// --- points of result files ---

constexpr std::size_t label_width = 34;

// A cell of a table; "-" for what is not known.
template <class Text>
std::string cell(const std::optional<double>& value, Text&& text) {
  return value ? text(*value) : std::string("-");
}

std::string giga(double per_second) {
  const double value = per_second / 1e9;
  return value >= 99999.5 && value < 1e9 ? fmt::format("{:.0f}", value) : fmt::format("{:.5g}", value);
}

// "12.3 %", or "104 %!" above a ceiling.
std::string share(double percent) { return percent_text(percent) + (percent > 100 ? "!" : ""); }

std::string file_rows(const RooflineResults& results) {
  std::string text = "Results\n";
  for (std::size_t i = 0; i < results.sources.size(); ++i) {
    const ResultSource& source = results.sources[i];
    const auto count = std::ranges::count(results.points, i, &ResultPoint::source);
    text += wrapped_text(fmt::format("{}  {}: {}; {}", i + 1, source.path, source_text(source),
                                     count == 1 ? "1 point" : fmt::format("{} points", count)),
                         "  ");
    for (const std::string& left : source.left_out) text += wrapped_text("left out: " + left, "     ");
  }
  return text;
}

// The first cell of a row; a label that is too long for it has a line of its own.
std::string point_label(const RooflineView& view, const ResultPoint& point) {
  const std::string file = view.results.sources.size() > 1 ? fmt::format("{} ", point.source + 1) : std::string();
  const std::string label = file + point.label;
  if (display_width(label) <= label_width) return label + std::string(label_width - display_width(label), ' ');
  return shortened(label, 96) + "\n  " + std::string(label_width, ' ');
}

std::string placed_rows(const RooflineView& view, const Precision& precision) {
  std::string rows;
  for (const ResultPoint& point : view.results.points) {
    if (point.analysis.precision != precision.id || point.analysis.flops.number().value_or(0) == 0) continue;
    const PlacementOrReason at = place(point, view.level);
    if (!at.placement) continue;
    const ResultPlacement& p = *at.placement;
    const Limit& limit = point.analysis.limit;
    rows += fmt::format("  {} {:>7} {:<11} {:>10} {:>9} {:>8}  {}\n", point_label(view, point),
                        intensity_text(p.intensity), p.basis, cell(limit.attainable.number(), giga),
                        cell(p.achieved, giga), cell(limit.percent_reached.number(), share), label_of(limit));
  }
  if (rows.empty()) return rows;
  const std::string unit = fmt::format("G{}", precision.unit);
  return fmt::format("\n{}\n  {:<{}}{:>8} {:<11}{:>11}{:>10}{:>9}  {}\n  {:<{}}{:>8} {:<11}{:>11}{:>10}\n{}",
                     under_text(view, precision), "point", label_width, "FLOP/B", "of bytes", "attainable", "measured",
                     "of roof", "bound by", "", label_width, "", "", unit, unit, rows);
}

// Transposes, copies: what they move against what the level can.
std::string bandwidth_point_rows(const RooflineView& view) {
  std::string rows;
  bool kept = false;
  for (const ResultPoint& point : view.results.points) {
    const Analysis& a = point.analysis;
    const LevelBound* level = a.at(view.level);
    if (a.flops.number().value_or(0) != 0 || level == nullptr) continue;
    const auto useful = useful_bandwidth_under(a, a.limit);
    const double of_dram = 100 * useful.value_or(0) / a.bandwidth.number().value_or(1);
    kept = kept || of_dram > 100;
    rows += fmt::format("  {} {:>10} {:>9} {:>10} {:>7} {:>10}  {}\n", point_label(view, point), cell(useful, giga),
                        useful && a.bandwidth.has_value() ? percent_text(of_dram) : "-",
                        cell(a.achieved_bandwidth.number(), giga), cell(level->bandwidth.number(), giga),
                        cell(level->percent_of_bandwidth.number(), share), label_of(a.limit));
  }
  if (rows.empty()) return rows;
  if (kept)
    rows += wrapped_text("useful at most, above 100 % of DRAM: a cache kept some of the bytes that must move", "  ");
  const BandwidthCeiling& slope = slope_or_throw(view.ceilings, view.level);
  return fmt::format(
      "\nWithout floating-point operations, under {} ({})\n"
      "  {:<{}}{:>21}{:>11}{:>19}\n  {:<{}}{:>11}{:>10}{:>11}{:>8}{:>11}  {}\n{}",
      slope.label, bandwidth_text(slope.bandwidth), "", label_width, "useful at most", "useful",
      fmt::format("through {}", label_of(view.level)), "point", label_width, "GB/s", "of DRAM", "GB/s", "GB/s",
      "of ceiling", "bound by", rows);
}

// What the words under "bound by" mean, as far as they occur.
std::string limit_rows(const RooflineView& view) {
  std::set<std::string> labels;
  for (const ResultPoint& point : view.results.points) labels.insert(label_of(point.analysis.limit));
  labels.erase("");
  if (labels.empty()) return "";
  std::string text =
      "bound by: the lowest roof of all levels whose bytes are known, and of compute; attainable, of roof and useful "
      "at "
      "most are of that one";
  if (labels.contains("DRAM sectors")) text += "; DRAM sectors: as if no cache caught one";
  if (labels.contains("DRAM once")) text += "; DRAM once: nobody counted its bytes, each moves once";
  return wrapped_text(text, "  ");
}

// The hierarchical roofline as numbers: where counters know more than DRAM.
std::string hierarchy_rows(const RooflineView& view) {
  std::string rows;
  for (const ResultPoint& point : view.results.points) {
    const Analysis& a = point.analysis;
    const bool known =
        !a.lowest_roof.empty() && ((a.at(Level::l2) != nullptr && a.at(Level::l2)->intensity.has_value()) ||
                                   (a.at(Level::l1) != nullptr && a.at(Level::l1)->intensity.has_value()));
    if (!known) continue;
    rows += "  " + point_label(view, point);
    for (const Level level : memory_levels)
      rows += fmt::format(" {:>8} {:>7}", cell(a.at(level)->intensity.number(), intensity_text),
                          cell(a.at(level)->percent_of_attainable.number(),
                               [](double p) { return fmt::format("{:.3g}{}", p, p > 100 ? "!" : ""); }));
    rows += "\n";
  }
  if (rows.empty()) return rows;
  std::string text = "\nAt each memory level: FLOP per byte there, and measured rate in % of the roof there\n";
  text += fmt::format("  {:<{}}", "", label_width);
  for (const Level level : memory_levels) text += fmt::format("{:>9}{:>8}", label_of(level), "");
  text.erase(text.find_last_not_of(' ') + 1);
  text += fmt::format("\n  {:<{}}", "point", label_width);
  for (std::size_t i = 0; i < memory_levels.size(); ++i) text += fmt::format("{:>9}{:>8}", "FLOP/B", "% roof");
  text += "\n" + rows;
  for (const Level level : memory_levels)
    text += wrapped_text(fmt::format("{}: {}", label_of(level), meaning_of(level)), "  ");
  return text;
}

// A remark without its numbers: remarks that differ in nothing else are told once.
std::string without_numbers(const std::string& text) {
  std::string result;
  std::ranges::copy_if(text, std::back_inserter(result), [](char c) { return !(c >= '0' && c <= '9') && c != '.'; });
  return result;
}

// What is told once, and the points that it is told of.
struct Remark {
  std::string text;
  std::vector<std::string> labels;
};

void add_remark(std::vector<Remark>& remarks, const std::string& text, const std::string& label) {
  const std::string kind = without_numbers(text);
  const auto told =
      std::ranges::find_if(remarks, [&](const Remark& remark) { return without_numbers(remark.text) == kind; });
  if (told == remarks.end()) {
    remarks.push_back({text, {label}});
  } else {
    told->labels.push_back(label);
  }
}

std::string remark_text(const Remark& remark) {
  constexpr std::size_t named = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(named, remark.labels.size()); ++i)
    text += (i == 0 ? "" : ", ") + remark.labels[i];
  if (remark.labels.size() > named) text += fmt::format(" and {} more", remark.labels.size() - named);
  return fmt::format("{}: {}", text, remark.text);
}

// Points that could not be placed, by reason, and what exceeds a ceiling or casts doubt on a number.
std::string remark_rows(const RooflineView& view) {
  std::vector<Remark> unplaced, warned;
  for (const ResultPoint& point : view.results.points) {
    const PlacementOrReason at = place(point, view.level);
    if (!at.placement && point.analysis.flops.number().value_or(0) != 0) add_remark(unplaced, at.reason, point.label);
    for (const std::string& text : above_ceilings(point, view.results.sources[point.source]))
      add_remark(warned, text, point.label);
    for (const std::string& text : point.analysis.warnings) add_remark(warned, text, point.label);
  }
  std::string text;
  for (const Remark& remark : unplaced) text += wrapped_text("not placed: " + remark_text(remark), "  ");
  for (const Remark& remark : warned) text += wrapped_text("! " + remark_text(remark), "  ");
  return text.empty() ? text : "\nRemarks (--format json has those of each point)\n" + text;
}

std::string results_rows(const RooflineView& view) {
  std::string text = "\n" + file_rows(view.results);
  for (const Precision& precision : precisions())
    if (view.ceilings.find(precision) != nullptr) text += placed_rows(view, precision);
  text += bandwidth_point_rows(view);
  std::set<std::string_view> bases;
  for (const ResultPoint& point : view.results.points)
    if (const auto at = place(point, view.level); at.placement) bases.insert(at.placement->basis);
  for (const Basis basis : {Basis::loaded, Basis::requested, Basis::transaction, Basis::compulsory})
    if (bases.contains(to_text(basis)))
      text += wrapped_text(fmt::format("{}: {}", to_text(basis), meaning_of(basis)), "  ");
  return text + limit_rows(view) + hierarchy_rows(view) + remark_rows(view);
}

}  // namespace

RooflineView lecture_view(const DeviceMatch& device, Ceilings ceilings, const ViewOptions& options) {
  RooflineView view{device.spec, device.note, std::move(ceilings), options.level, {}, {}};
  slope_or_throw(view.ceilings, view.level);
  const auto add = [&](const Precision& p) { view.sections.push_back({&p, lecture_points(p.element_bytes)}); };
  if (options.precision != nullptr) {
    peak_or_throw(view.ceilings, *options.precision);
    add(*options.precision);
    return view;
  }
  for (const char* id : {"fp32", "tf32"})
    if (view.ceilings.find(find_precision(id)) != nullptr) add(find_precision(id));
  return view;
}

RooflineView results_view(const DeviceMatch& device, Ceilings ceilings, RooflineResults results, Level level) {
  RooflineView view{device.spec, device.note, std::move(ceilings), level, {}, std::move(results)};
  slope_or_throw(view.ceilings, view.level);
  return view;
}

std::string roofline_table(const RooflineView& view) {
  const DeviceSpec& spec = view.spec;
  std::string text = fmt::format("{}: {}, compute capability {}, {} SMs, L2 {:.4g} MiB\n", spec.name, spec.chip,
                                 spec.compute_capability, spec.sm_count, spec.l2_bytes / (1 << 20));
  if (spec.origin != "built in") text += fmt::format("  specification: {}\n", spec.origin);
  if (!view.note.empty()) text += wrapped_text(view.note, "  ");
  if (view.ceilings.basis == Source::measured)
    text += wrapped_text(
        fmt::format("ceilings: measured ({}) where it says so, else of the specification", view.ceilings.origin), "  ");
  text += fmt::format("\n{}\n{}", bandwidth_rows(view.ceilings), compute_rows(view.ceilings));
  for (const std::string& note : spec.notes) text += wrapped_text(fmt::format("note: {}", note), "  ");
  if (!view.results.sources.empty()) return text + results_rows(view);
  for (const RooflineSection& section : view.sections) text += fmt::format("\n{}", section_rows(view, section));
  return text + formula_rows(view) + basis_rows(view);
}

}  // namespace gpuexp
