// The journal: header and points as JSON lines.
#include "profiler/report/journal.h"

#include "profiler/core/error.h"
#include "profiler/report/json_records.h"

namespace gpuexp {

using report_json::Json;

namespace {

std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n'; }

void read_header(const Json& json, const report_json::Place& place, ResultFile& results) {
  report_json::JsonIn in(json, place);
  in("schema_version", results.schema_version);
  if (results.schema_version != result_schema_version)
    place.key("schema_version")
        .fail("is not " + number_text(std::int64_t{result_schema_version}) +
              ": an unfinished run is read and finished by the gpuexp that began it");
  in("plan", results.plan);
  in("device", results.device);
  Json environment;
  in("environment", environment);
  in.finish();
  read_environment(environment, place.key("environment"), results);
}

void read_point(const Json& json, const report_json::Place& place, ResultFile& results) {
  report_json::JsonIn in(json, place);
  PointRecord& record = results.points.emplace_back();
  in("point", record);
  in("wall_seconds", record.result.wall_seconds);
  in.finish();
}

}  // namespace

std::string journal_header(const ResultFile& header) {
  ResultFile without_points = header;
  without_points.points.clear();
  Json json = Json::object();
  json["schema_version"] = header.schema_version;
  json["plan"] = report_json::encode(header.plan);
  json["device"] = report_json::encode(header.device);
  json["environment"] = environment_json(without_points);
  return line_of(json);
}

std::string journal_line(const PointRecord& record) {
  Json json = Json::object();
  json["point"] = report_json::encode(record);
  json["wall_seconds"] = report_json::encode_real(record.result.wall_seconds);
  return line_of(json);
}

Journal read_journal(std::string_view text, const std::string& file) {
  Journal journal;
  std::uint64_t line = 0;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', journal.bytes)) {
    const std::string place = file + ": line " + number_text(++line);
    const Json json = report_json::parse_strict(text.substr(journal.bytes, end - journal.bytes), place);
    if (line == 1) {
      read_header(json, {place, ""}, journal.results);
    } else {
      read_point(json, {place, ""}, journal.results);
    }
    journal.bytes = end + 1;
  }
  if (line == 0) throw Error(ExitCode::usage, file + ": holds no finished line: the run ended before its first point");
  journal.results.complete = journal.results.points.size() == journal.results.plan.points.size();
  return journal;
}

}  // namespace gpuexp
