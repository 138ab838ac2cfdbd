// The roofline for programs: JSON and CSV, in base units.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "profiler/core/text.h"
#include "profiler/roofline/ceilings.h"
#include "profiler/roofline/roofline_view.h"

namespace gpuexp {
namespace {

using Json = nlohmann::ordered_json;

Json provenance_json(const Provenance& provenance) {
  Json json{{"kind", to_text(provenance.evidence)}, {"from", provenance.source}};
  if (!provenance.note.empty()) json["note"] = provenance.note;
  return json;
}

Json ceilings_json(const Ceilings& ceilings) {
  Json slopes = Json::array();
  for (const BandwidthCeiling& slope : ceilings.bandwidths) {
    Json json{{"id", slope.id},
              {"label", slope.label},
              {"bytes_per_s", slope.bandwidth},
              {"source", to_text(slope.source)},
              {"provenance", provenance_json(slope.provenance)}};
    if (!slope.how.empty()) json["how"] = slope.how;
    if (slope.clock_mhz > 0) json["clock_mhz"] = slope.clock_mhz;
    slopes.push_back(std::move(json));
  }
  Json roofs = Json::array();
  for (const ComputeCeiling& roof : ceilings.peaks) {
    Json ridges;
    for (std::size_t i = 0; i < roof.ridges.size(); ++i) ridges[ceilings.bandwidths[i].id] = roof.ridges[i];
    roofs.push_back({{"precision", roof.precision->id},
                     {"label", roof.precision->label},
                     {"meaning", roof.precision->meaning},
                     {"dense", true},
                     {"peak_per_s", roof.peak},
                     {"unit", roof.precision->unit},
                     {"source", to_text(roof.source)},
                     {"clock_mhz", roof.clock_mhz},
                     {"provenance", provenance_json(roof.provenance)},
                     {"ridge_flop_per_byte", std::move(ridges)}});
  }
  return {{"bandwidth", std::move(slopes)}, {"compute", std::move(roofs)}};
}

Json points_json(const RooflineView& view) {
  Json points = Json::array();
  for (const RooflineSection& section : view.sections)
    for (const LabelledPoint& point : section.points) {
      const Placement placed = place(point, view.spec, *section.precision);
      points.push_back({{"label", point.label},
                        {"precision", section.precision->id},
                        {"intensity_flop_per_byte", point.intensity},
                        {"basis", to_text(point.basis)},
                        {"intensity_source", to_text(point.source)},
                        {"formula", point.formula},
                        {"attainable_per_s", placed.attainable},
                        {"percent_of_peak", placed.percent_of_peak},
                        {"bound_by", to_text(placed.bound_by)},
                        {"source", to_text(Source::modelled)}});
    }
  return points;
}

// Quoted when it must be.
std::string cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

// One row; the columns that a kind of row has no value for stay empty.
struct CsvRow {
  std::string_view kind, name;
  std::string_view precision{}, basis{}, bound_by{}, source{}, from{};
  std::string bytes_per_s{}, per_s{}, intensity{}, percent{}, clock_mhz{};
};

std::string csv_line(const DeviceSpec& spec, const CsvRow& row) {
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", cell(spec.name), row.kind, cell(row.name),
                     row.precision, row.bytes_per_s, row.per_s, row.intensity, row.basis, row.percent, row.bound_by,
                     row.clock_mhz, row.source, cell(row.from));
}

}  // namespace

std::string roofline_json(const RooflineView& view) {
  const DeviceSpec& spec = view.spec;
  Json device{{"id", spec.id},
              {"name", spec.name},
              {"chip", spec.chip},
              {"compute_capability", spec.compute_capability},
              {"sm_count", spec.sm_count},
              {"l2_bytes", spec.l2_bytes},
              {"origin", spec.origin},
              {"notes", spec.notes}};
  if (!view.note.empty()) device["name_note"] = view.note;
  const Json json{{"schema", "gpuexp-roofline/1"},
                  {"gpuexp_version", GPUEXP_VERSION},
                  {"device", std::move(device)},
                  {"ceilings", ceilings_json(ceilings_of(spec))},
                  {"points", points_json(view)}};
  return json.dump(2) + "\n";
}

std::string roofline_csv(const RooflineView& view) {
  const DeviceSpec& spec = view.spec;
  const Ceilings ceilings = ceilings_of(spec);
  const std::string_view modelled = to_text(Source::modelled);
  std::string text =
      "device,kind,name,precision,bandwidth_bytes_per_s,flop_per_s,intensity_flop_per_byte,basis,percent_of_peak,"
      "bound_by,clock_mhz,source,from\n";
  const auto number = [](double value) { return number_text(value); };
  for (const BandwidthCeiling& slope : ceilings.bandwidths)
    text += csv_line(spec, {.kind = "bandwidth_ceiling",
                            .name = slope.label,
                            .source = to_text(slope.source),
                            .from = slope.how.empty() ? std::string_view(slope.provenance.source) : slope.how,
                            .bytes_per_s = number(slope.bandwidth),
                            .clock_mhz = slope.clock_mhz > 0 ? number(slope.clock_mhz) : std::string()});
  for (const ComputeCeiling& roof : ceilings.peaks)
    text += csv_line(spec, {.kind = "compute_ceiling",
                            .name = roof.precision->label,
                            .precision = roof.precision->id,
                            .source = to_text(roof.source),
                            .from = roof.provenance.source,
                            .per_s = number(roof.peak),
                            .clock_mhz = number(roof.clock_mhz)});
  for (const ComputeCeiling& roof : ceilings.peaks)
    for (std::size_t i = 0; i < roof.ridges.size(); ++i)
      text += csv_line(spec, {.kind = "ridge_point",
                              .name = ceilings.bandwidths[i].label,
                              .precision = roof.precision->id,
                              .source = modelled,
                              .bytes_per_s = number(ceilings.bandwidths[i].bandwidth),
                              .per_s = number(roof.peak),
                              .intensity = number(roof.ridges[i])});
  for (const RooflineSection& section : view.sections)
    for (const LabelledPoint& point : section.points) {
      const Placement placed = place(point, spec, *section.precision);
      text += csv_line(spec, {.kind = "point",
                              .name = point.label,
                              .precision = section.precision->id,
                              .basis = to_text(point.basis),
                              .bound_by = to_text(placed.bound_by),
                              .source = modelled,
                              .from = point.formula,
                              .per_s = number(placed.attainable),
                              .intensity = number(point.intensity),
                              .percent = number(placed.percent_of_peak)});
    }
  return text;
}

}  // namespace gpuexp
