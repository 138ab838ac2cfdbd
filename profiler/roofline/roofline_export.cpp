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
    Json json{{"id", to_text(slope.level)},
              {"label", slope.label},
              {"bytes_per_s", slope.bandwidth},
              {"source", to_text(slope.source)},
              {"provenance", provenance_json(slope.provenance)}};
    if (!slope.how.empty()) json["how"] = slope.how;
    if (slope.clock_mhz > 0) json["clock_mhz"] = slope.clock_mhz;
    if (slope.of_spec) json["percent_of_spec"] = 100 * slope.bandwidth / *slope.of_spec;
    slopes.push_back(std::move(json));
  }
  Json roofs = Json::array();
  for (const ComputeCeiling& roof : ceilings.peaks) {
    Json ridges;
    for (std::size_t i = 0; i < roof.ridges.size(); ++i)
      ridges[std::string(to_text(ceilings.bandwidths[i].level))] = roof.ridges[i];
    Json json{{"precision", roof.precision->id},
              {"label", roof.precision->label},
              {"meaning", roof.precision->meaning},
              {"dense", true},
              {"peak_per_s", roof.peak},
              {"unit", roof.precision->unit},
              {"source", to_text(roof.source)},
              {"clock_mhz", roof.clock_mhz > 0 ? Json(roof.clock_mhz) : Json(nullptr)},
              {"provenance", provenance_json(roof.provenance)},
              {"ridge_flop_per_byte", std::move(ridges)}};
    if (!roof.how.empty()) json["how"] = roof.how;
    if (roof.of_spec) json["percent_of_spec"] = 100 * roof.peak / *roof.of_spec;
    roofs.push_back(std::move(json));
  }
  return {{"basis", to_text(ceilings.basis)},
          {"origin", ceilings.origin},
          {"bandwidth", std::move(slopes)},
          {"compute", std::move(roofs)}};
}

Json points_json(const RooflineView& view) {
  Json points = Json::array();
  for (const RooflineSection& section : view.sections)
    for (const LabelledPoint& point : section.points) {
      const Placement placed = place(point, view.ceilings, *section.precision, view.level);
      points.push_back({{"label", point.label},
                        {"precision", section.precision->id},
                        {"intensity_flop_per_byte", point.intensity},
                        {"basis", to_text(point.basis)},
                        {"level", to_text(view.level)},
                        {"intensity_source", to_text(point.source)},
                        {"formula", point.formula},
                        {"attainable_per_s", placed.attainable},
                        {"percent_of_peak", placed.percent_of_peak},
                        {"bound_by", to_text(placed.bound_by)},
                        {"source", to_text(Source::modelled)}});
    }
  return points;
}

Json quantity_json(const Quantity& quantity) {
  Json json{{"value", nullptr}, {"source", to_text(quantity.source)}};
  if (const auto exact = quantity.exact()) {
    json["value"] = *exact;
  } else if (const auto number = quantity.number()) {
    json["value"] = *number;
  } else {
    json["reason"] = quantity.reason;
  }
  return json;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json level_json(const LevelBound& level) {
  return {{"level", to_text(level.level)},
          {"bytes", quantity_json(level.bytes)},
          {"intensity_flop_per_byte", quantity_json(level.intensity)},
          {"attainable_per_s", quantity_json(level.attainable)},
          {"percent_of_attainable", quantity_json(level.percent_of_attainable)},
          {"bytes_per_s", quantity_json(level.bandwidth)},
          {"percent_of_bandwidth", quantity_json(level.percent_of_bandwidth)}};
}

Json limit_json(const Analysis& a) {
  const Limit& limit = a.limit;
  return {{"roof", limit.roof.empty() ? Json(nullptr) : Json(limit.roof)},
          {"basis", limit.basis.empty() ? Json(nullptr) : Json(limit.basis)},
          {"attainable_per_s", quantity_json(limit.attainable)},
          {"useful_bytes_per_s", or_null(useful_bandwidth_under(a, limit))},
          {"bound_time_us", quantity_json(limit.bound_time_us)},
          {"percent_reached", quantity_json(limit.percent_reached)}};
}

Json placement_json(const PlacementOrReason& at) {
  if (!at.placement) return {{"reason", at.reason}};
  const ResultPlacement& placed = *at.placement;
  return {{"basis", placed.basis},
          {"intensity_flop_per_byte", placed.intensity},
          {"intensity_source", to_text(placed.source)},
          {"attainable_per_s", placed.attainable},
          {"bound_by", to_text(placed.bound_by)},
          {"achieved_per_s", or_null(placed.achieved)},
          {"percent_of_attainable", or_null(placed.percent_of_attainable)}};
}

Json results_json(const RooflineView& view) {
  Json files = Json::array(), points = Json::array();
  for (const ResultSource& source : view.results.sources)
    files.push_back({{"path", source.path},
                     {"label", source.label},
                     {"backend", source.backend},
                     {"ran_on", source.ran_on},
                     {"cache_mode", source.cache_mode},
                     {"what_if", source.what_if},
                     {"left_out", source.left_out}});
  for (const ResultPoint& point : view.results.points) {
    const Analysis& a = point.analysis;
    const ResultSource& source = view.results.sources[point.source];
    Json levels = Json::array();
    for (const LevelBound& level : a.levels) levels.push_back(level_json(level));
    std::vector<std::string> warnings = above_ceilings(point, source);
    warnings.insert(warnings.end(), a.warnings.begin(), a.warnings.end());
    points.push_back({{"file", source.path},
                      {"point", point.key},
                      {"label", point.label},
                      {"what_if", source.what_if},
                      {"precision", a.precision},
                      {"precision_reason", a.precision_reason},
                      {"flops", quantity_json(a.flops)},
                      {"time_us", quantity_json(a.time_us)},
                      {"level", to_text(view.level)},
                      {"placement", placement_json(place(point, view.level))},
                      {"percent_of_peak", quantity_json(a.percent_of_peak)},
                      {"useful_bytes_per_s", quantity_json(a.achieved_bandwidth)},
                      {"useful_percent_of_bandwidth", quantity_json(a.percent_of_bandwidth)},
                      {"levels", std::move(levels)},
                      {"lowest_roof", a.lowest_roof.empty() ? Json(nullptr) : Json(a.lowest_roof)},
                      {"limit", limit_json(a)},
                      {"bound_by", a.verdict},
                      {"warnings", std::move(warnings)}});
  }
  return {{"files", std::move(files)}, {"points", std::move(points)}};
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
  // Of measured ceilings, and of points of result files.
  std::string_view level{}, file{}, ran_on{}, what_if{};
  std::string percent_of_spec{}, achieved_per_s{}, percent_of_attainable{}, limited_by{};
  std::string limit_per_s{}, percent_of_limit{};
};

std::string csv_line(const DeviceSpec& spec, const CsvRow& row) {
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", cell(spec.name),
                     row.kind, cell(row.name), row.precision, row.bytes_per_s, row.per_s, row.intensity, row.basis,
                     row.percent, row.bound_by, row.clock_mhz, row.source, cell(row.from), row.percent_of_spec,
                     row.level, row.achieved_per_s, row.percent_of_attainable, cell(row.file), cell(row.ran_on),
                     row.what_if, row.limited_by, row.limit_per_s, row.percent_of_limit);
}

std::string percent_of_spec_cell(double value, const std::optional<double>& of_spec) {
  return of_spec ? number_text(100 * value / *of_spec) : std::string();
}

// A point at one level; nothing where it has no place.
std::string result_line(const RooflineView& view, const ResultPoint& point, Level level) {
  const PlacementOrReason at = place(point, level);
  if (!at.placement) return {};
  const ResultPlacement& placed = *at.placement;
  const Limit& limit = point.analysis.limit;
  const ResultSource& source = view.results.sources[point.source];
  const auto number = [](const std::optional<double>& value) { return value ? number_text(*value) : std::string(); };
  return csv_line(view.spec, {.kind = "result",
                              .name = point.key,
                              .precision = point.analysis.precision,
                              .basis = placed.basis,
                              .bound_by = to_text(placed.bound_by),
                              .source = to_text(placed.source),
                              .per_s = number(placed.attainable),
                              .intensity = number(placed.intensity),
                              .percent = number(point.analysis.percent_of_peak.number()),
                              .level = to_text(level),
                              .file = source.path,
                              .ran_on = source.ran_on,
                              .what_if = source.what_if ? "true" : "false",
                              .achieved_per_s = number(placed.achieved),
                              .percent_of_attainable = number(placed.percent_of_attainable),
                              .limited_by = label_of(limit),
                              .limit_per_s = number(limit.attainable.number()),
                              .percent_of_limit = number(limit.percent_reached.number())});
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
  Json json{{"schema", "gpuexp-roofline/1"},
            {"gpuexp_version", GPUEXP_VERSION},
            {"device", std::move(device)},
            {"ceilings", ceilings_json(view.ceilings)},
            {"points", points_json(view)}};
  if (!view.results.sources.empty()) json["results"] = results_json(view);
  return json.dump(2) + "\n";
}

std::string roofline_csv(const RooflineView& view) {
  const DeviceSpec& spec = view.spec;
  const Ceilings& ceilings = view.ceilings;
  const std::string_view modelled = to_text(Source::modelled);
  std::string text =
      "device,kind,name,precision,bandwidth_bytes_per_s,flop_per_s,intensity_flop_per_byte,basis,percent_of_peak,"
      "bound_by,clock_mhz,source,from,percent_of_spec,level,achieved_flop_per_s,percent_of_attainable,file,ran_on,"
      "what_if,limited_by,limit_flop_per_s,percent_of_limit\n";
  const auto number = [](double value) { return number_text(value); };
  for (const BandwidthCeiling& slope : ceilings.bandwidths)
    text += csv_line(spec, {.kind = "bandwidth_ceiling",
                            .name = slope.label,
                            .source = to_text(slope.source),
                            .from = slope.how.empty() ? std::string_view(slope.provenance.source) : slope.how,
                            .bytes_per_s = number(slope.bandwidth),
                            .clock_mhz = slope.clock_mhz > 0 ? number(slope.clock_mhz) : std::string(),
                            .level = to_text(slope.level),
                            .percent_of_spec = percent_of_spec_cell(slope.bandwidth, slope.of_spec)});
  for (const ComputeCeiling& roof : ceilings.peaks)
    text += csv_line(spec, {.kind = "compute_ceiling",
                            .name = roof.precision->label,
                            .precision = roof.precision->id,
                            .source = to_text(roof.source),
                            .from = roof.how.empty() ? std::string_view(roof.provenance.source) : roof.how,
                            .per_s = number(roof.peak),
                            .clock_mhz = roof.clock_mhz > 0 ? number(roof.clock_mhz) : std::string(),
                            .percent_of_spec = percent_of_spec_cell(roof.peak, roof.of_spec)});
  for (const ComputeCeiling& roof : ceilings.peaks)
    for (std::size_t i = 0; i < roof.ridges.size(); ++i)
      text += csv_line(spec, {.kind = "ridge_point",
                              .name = ceilings.bandwidths[i].label,
                              .precision = roof.precision->id,
                              .source = modelled,
                              .bytes_per_s = number(ceilings.bandwidths[i].bandwidth),
                              .per_s = number(roof.peak),
                              .intensity = number(roof.ridges[i]),
                              .level = to_text(ceilings.bandwidths[i].level)});
  for (const RooflineSection& section : view.sections)
    for (const LabelledPoint& point : section.points) {
      const Placement placed = place(point, view.ceilings, *section.precision, view.level);
      text += csv_line(spec, {.kind = "point",
                              .name = point.label,
                              .precision = section.precision->id,
                              .basis = to_text(point.basis),
                              .bound_by = to_text(placed.bound_by),
                              .source = modelled,
                              .from = point.formula,
                              .per_s = number(placed.attainable),
                              .intensity = number(point.intensity),
                              .percent = number(placed.percent_of_peak),
                              .level = to_text(view.level)});
    }
  for (const ResultPoint& point : view.results.points)
    for (const Level level : memory_levels) text += result_line(view, point, level);
  return text;
}

}  // namespace gpuexp
