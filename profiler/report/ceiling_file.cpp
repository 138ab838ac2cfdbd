// Measured ceilings as JSON, by the codec that result files use.
#include "profiler/report/ceiling_file.h"

#include <fmt/format.h>

#include <set>

#include "profiler/core/error.h"
#include "profiler/core/read_file.h"
#include "profiler/report/json_records.h"
#include "profiler/report/result_writer.h"

namespace gpuexp {

// Found by argument-dependent lookup from json_codec.h.
template <class Archive>
static void fields(Archive& a, CeilingFigure& figure) {
  a("id", figure.id);
  a("label", figure.label);
  a("unit", figure.unit);
  a("value", figure.value);
  a("point", figure.point);
  a("how", figure.how);
  a("relative_spread", figure.relative_spread);
  a("sm_clock_mhz", figure.sm_clock_mhz);
  a("percent_of_spec", figure.percent_of_spec);
  a("percent_at_clock", figure.percent_at_clock);
}

namespace {

using report_json::Json;
using report_json::Place;

Json environment_to_json(const MeasuredCeilings& measured) {
  Json json = Json::object();
  for (const auto& [name, value] : measured.environment) json[name] = value;
  return json;
}

void read_environment(const Json& json, const Place& place, MeasuredCeilings& measured) {
  if (!json.is_object()) place.fail("must be an object, not " + report_json::describe(json));
  for (const auto& [name, value] : json.items()) {
    if (!value.is_string()) place.key(name).fail("must be a text, not " + report_json::describe(value));
    measured.environment.emplace_back(name, value.get<std::string>());
  }
}

// A ceiling that no machine has would stretch every axis without end.
void check_figures(const std::vector<CeilingFigure>& figures, const Place& place) {
  constexpr double least = 1e-6, most = 1e21;
  std::set<std::string> seen;
  if (figures.empty()) place.fail("is an empty list");
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const CeilingFigure& figure = figures[i];
    const Place here = place.index(i);
    if (!seen.insert(figure.id).second) here.key("id").fail(fmt::format("'{}' is there twice", figure.id));
    const bool known_unit = figure.unit == "byte/s" || figure.unit == "FLOP/s" || figure.unit == "cycle";
    if (!known_unit) here.key("unit").fail(fmt::format("is '{}'; accepted: byte/s, FLOP/s, cycle", figure.unit));
    const std::optional<double> value = figure.value.number();
    if (value && !(*value >= least && *value <= most))
      here.key("value").fail(fmt::format("is {}; no ceiling is beyond {} to {}", *value, least, most));
    if (figure.sm_clock_mhz && !(*figure.sm_clock_mhz > 0))
      here.key("sm_clock_mhz").fail(fmt::format("is {}; a clock is above 0", *figure.sm_clock_mhz));
  }
}

void check_version(const Json& json, const Place& place) {
  if (!json.is_object()) place.fail("must be an object, not " + report_json::describe(json));
  const auto found = json.find("schema_version");
  if (found == json.end() || !json.contains("ceilings")) {
    place.fail("is no file of measured ceilings; `gpuexp roofline --measure` writes one");
  }
  if (!found->is_number_integer() || *found != ceilings_schema_version) {
    place.key("schema_version")
        .fail(fmt::format("is {}, and this gpuexp reads {}", report_json::describe(*found), ceilings_schema_version));
  }
}

}  // namespace

MeasuredCeilings ceilings_from(const ResultFile& results, const DeviceSpec& spec) {
  if (results.plan.backend != "cuda") {
    throw Error(ExitCode::usage, fmt::format("ceilings are measured on a GPU, and these results are from backend {}",
                                             results.plan.backend));
  }
  if (results.device.id != spec.id) {
    throw Error(ExitCode::usage,
                fmt::format("these results have the roof of {}, not of {}", results.device.name, spec.name));
  }
  MeasuredCeilings measured;
  measured.device_id = spec.id;
  measured.device_name = spec.name;
  measured.gpuexp_version = results.gpuexp_version;
  measured.gpuexp_commit = results.gpuexp_commit;
  measured.environment = results.environment;
  std::vector<const PointResult*> points;
  for (const PointRecord& record : results.points) points.push_back(&record.result);
  measured.ceilings = find_ceilings(points, spec);
  return measured;
}

std::string to_json_text(const MeasuredCeilings& measured) {
  Json json = {{"schema_version", measured.schema_version},
               {"device", measured.device_id},
               {"device_name", measured.device_name},
               {"gpuexp_version", measured.gpuexp_version},
               {"gpuexp_commit", measured.gpuexp_commit},
               {"environment", environment_to_json(measured)},
               {"ceilings", report_json::encode(measured.ceilings)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

MeasuredCeilings parse_ceilings(const std::string& text, const std::string& file) {
  const Json json = report_json::parse_strict(text, file);
  const Place place{file, ""};
  check_version(json, place);
  MeasuredCeilings measured;
  Json environment;
  report_json::JsonIn in(json, place);
  in("schema_version", measured.schema_version);
  in("device", measured.device_id);
  in("device_name", measured.device_name);
  in("gpuexp_version", measured.gpuexp_version);
  in("gpuexp_commit", measured.gpuexp_commit);
  in("environment", environment);
  in("ceilings", measured.ceilings);
  in.finish();
  read_environment(environment, place.key("environment"), measured);
  check_figures(measured.ceilings, place.key("ceilings"));
  return measured;
}

MeasuredCeilings read_ceilings(const std::filesystem::path& path) {
  constexpr std::uint64_t most = std::uint64_t{1} << 20U;
  return parse_ceilings(read_file(path, {most, most}), path.string());
}

std::filesystem::path write_ceilings(const MeasuredCeilings& measured, const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw Error(ExitCode::cannot_write, fmt::format("{}: {}", directory.string(), error.message()));
  const std::filesystem::path path = directory / (measured.device_id + ".json");
  write_atomically(path, to_json_text(measured));
  return path;
}

}  // namespace gpuexp
