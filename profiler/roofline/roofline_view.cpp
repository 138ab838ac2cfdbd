// The roofline as tables for a terminal.
#include "profiler/roofline/roofline_view.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "profiler/core/text.h"
#include "profiler/roofline/ceilings.h"
#include "profiler/roofline/units.h"

namespace gpuexp {
namespace {

std::string kind_text(const Provenance& provenance) {
  return std::string(provenance.evidence == Evidence::third_party ? "third party" : to_text(provenance.evidence));
}

std::string source_text(const Provenance& provenance) {
  return provenance.note.empty() ? provenance.source : fmt::format("{}; {}", provenance.source, provenance.note);
}

// "text" broken at spaces so that no line, indented, exceeds 100 columns.
std::string wrapped(std::string_view text, std::string_view indent) {
  constexpr std::size_t width = 100;
  std::string result;
  std::string line(indent);
  bool empty = true;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (!empty && display_width(line) + 1 + display_width(word) > width) {
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

std::string clock_text(double mhz) { return fmt::format("{} MHz", number_text(mhz)); }

std::string bandwidth_rows(const Ceilings& ceilings) {
  std::string text = fmt::format("{:<16}{:>13}  {:<9} {}\n", "Bandwidth", "ceiling", "source", "from");
  for (const BandwidthCeiling& slope : ceilings.bandwidths)
    text += fmt::format("  {:<14}{:>13}  {:<9} {}\n", slope.label, bandwidth_text(slope.bandwidth),
                        to_text(slope.source), slope.how.empty() ? kind_text(slope.provenance) : slope.how);
  for (const BandwidthCeiling& slope : ceilings.bandwidths)
    if (slope.how.empty() && !slope.provenance.source.empty())
      text += wrapped(fmt::format("{}: {}", slope.label, source_text(slope.provenance)), "  ");
  for (const BandwidthCeiling& slope : ceilings.bandwidths)
    if (slope.id == "l2" && !slope.provenance.note.empty())
      text += wrapped(fmt::format("L2: {}", slope.provenance.note), "  ");
  return text;
}

std::string compute_rows(const Ceilings& ceilings) {
  std::string text = fmt::format("{:<22}{:>14}  {:<9} {:<11} {:>8}  {}\n", "Compute, dense", "peak", "source", "from",
                                 "at", "ridge point, FLOP/B");
  text += fmt::format("{:69}", "");
  for (const BandwidthCeiling& slope : ceilings.bandwidths)
    text += fmt::format("{:>9}", slope.id == "dram" ? "DRAM" : slope.id == "l2" ? "L2" : "L1");
  text += "\n";
  for (const ComputeCeiling& roof : ceilings.peaks) {
    text += fmt::format("  {:<20}{:>14}  {:<9} {:<11} {:>8} ", roof.precision->label,
                        rate_text(roof.peak, roof.precision->unit), to_text(roof.source), kind_text(roof.provenance),
                        clock_text(roof.clock_mhz));
    for (const double ridge : roof.ridges) text += fmt::format("{:>9}", intensity_text(ridge));
    text += "\n";
  }
  return text;
}

std::string section_rows(const RooflineView& view, const RooflineSection& section) {
  const Precision& precision = *section.precision;
  const double peak = peak_or_throw(view.spec, precision);
  std::string text = fmt::format("Under {} ({}) and DRAM ({}), ridge {} FLOP/B; modelled\n", precision.label,
                                 rate_text(peak, precision.unit), bandwidth_text(view.spec.memory.bandwidth),
                                 intensity_text(ridge_point(peak, view.spec.memory.bandwidth)));
  text += fmt::format("  {:<28}{:>8} {:<12}{:>16}{:>10}  {}\n", "kernel", "FLOP/B", "of bytes", "attainable", "of peak",
                      "bound by");
  for (const LabelledPoint& point : section.points) {
    const Placement placed = place(point, view.spec, precision);
    text += fmt::format("  {:<28}{:>8} {:<12}{:>16}{:>10}  {}\n", point.label, intensity_text(point.intensity),
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
        text += fmt::format("  {:<28}{:>8} = {}\n", point.label, intensity_text(point.intensity), point.formula);
  return text.empty() ? text : fmt::format("\nIntensities by arithmetic, FLOP/B\n{}", text);
}

std::string basis_rows(const RooflineView& view) {
  std::set<Basis> bases;
  for (const RooflineSection& section : view.sections)
    for (const LabelledPoint& point : section.points) bases.insert(point.basis);
  std::string text;
  for (const Basis basis : bases) text += wrapped(fmt::format("{}: {}", to_text(basis), meaning_of(basis)), "  ");
  return text;
}

}  // namespace

RooflineView lecture_view(const DeviceMatch& device, const Precision* precision) {
  RooflineView view{device.spec, device.note, {}};
  const auto add = [&](const Precision& p) { view.sections.push_back({&p, lecture_points(p.element_bytes)}); };
  if (precision != nullptr) {
    peak_or_throw(device.spec, *precision);
    add(*precision);
    return view;
  }
  for (const char* id : {"fp32", "tf32"})
    if (device.spec.peak(id)) add(find_precision(id));
  return view;
}

std::string roofline_table(const RooflineView& view) {
  const DeviceSpec& spec = view.spec;
  const Ceilings ceilings = ceilings_of(spec);
  std::string text = fmt::format("{}: {}, compute capability {}, {} SMs, L2 {:.4g} MiB\n", spec.name, spec.chip,
                                 spec.compute_capability, spec.sm_count, spec.l2_bytes / (1 << 20));
  if (spec.origin != "built in") text += fmt::format("  specification: {}\n", spec.origin);
  if (!view.note.empty()) text += wrapped(view.note, "  ");
  text += fmt::format("\n{}\n{}", bandwidth_rows(ceilings), compute_rows(ceilings));
  for (const std::string& note : spec.notes) text += wrapped(fmt::format("note: {}", note), "  ");
  for (const RooflineSection& section : view.sections) text += fmt::format("\n{}", section_rows(view, section));
  return text + formula_rows(view) + basis_rows(view);
}

}  // namespace gpuexp
