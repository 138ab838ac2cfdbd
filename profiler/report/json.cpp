// The complete result file as JSON text.
#include "profiler/report/json_records.h"
#include "profiler/report/result_writer.h"

namespace gpuexp {

std::string to_json_text(const ResultFile& results) {
  report_json::Json json = report_json::Json::object();
  json["schema_version"] = results.schema_version;
  json["complete"] = results.complete;
  json["plan"] = report_json::encode(results.plan);
  json["device"] = report_json::encode(results.device);
  json["points"] = report_json::encode(results.points);
  json["environment"] = environment_json(results);
  return json.dump(1, ' ', false, report_json::Json::error_handler_t::replace) + '\n';
}

}  // namespace gpuexp
