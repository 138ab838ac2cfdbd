// The complete result file as JSON text.
#include "profiler/report/crossovers.h"
#include "profiler/report/json_records.h"
#include "profiler/report/result_writer.h"

namespace gpuexp {

namespace {

std::string dumped(const report_json::Json& json) {
  return json.dump(1, ' ', false, report_json::Json::error_handler_t::replace);
}

// The list of points as it stands in the file. Point by point: the tree of all of them, or even their text, would take
// several times the memory of the records.
void put_points(const std::vector<PointRecord>& points, const PutText& put) {
  std::string_view separator = "[\n  ";
  std::string text;
  for (const PointRecord& point : points) {
    text = separator;
    for (const char c : dumped(report_json::encode(point))) {
      text += c;
      if (c == '\n') text += "  ";
    }
    put(text);
    separator = ",\n  ";
  }
  put("\n ]");
}

}  // namespace

void put_json_text(const ResultFile& results, const PutText& put) {
  report_json::Json json = report_json::Json::object();
  json["schema_version"] = results.schema_version;
  json["complete"] = results.complete;
  json["plan"] = report_json::encode(results.plan);
  json["device"] = report_json::encode(results.device);
  json["points"] = report_json::Json::array();
  json["crossovers"] = report_json::encode(crossovers_of(results));  // found in the points: nothing that a reader needs
  json["environment"] = environment_json(results);
  const std::string frame = dumped(json) + '\n';
  if (results.points.empty()) return put(frame);
  constexpr std::string_view key = "\n \"points\": ";  // one space: only a key of the top level has that
  constexpr std::string_view nothing = "[]";
  const std::size_t at = frame.find(std::string(key) + std::string(nothing)) + key.size();
  put(std::string_view(frame).substr(0, at));
  put_points(results.points, put);
  put(std::string_view(frame).substr(at + nothing.size()));
}

std::string to_json_text(const ResultFile& results) {
  std::string text;
  put_json_text(results, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace gpuexp
