// JSON values of the vocabulary, and strict parsing.
#include "profiler/report/json_records.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace gpuexp {

using report_json::Json;
using report_json::Place;

namespace {

// Reads one of the words that `to_text` gives the enumerators 0 .. last.
template <class Enum>
void decode_word(const Json& json, const Place& place, Enum last, Enum& value) {
  std::string accepted;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const auto candidate = static_cast<Enum>(i);
    if (json.is_string() && json.get_ref<const std::string&>() == to_text(candidate)) {
      value = candidate;
      return;
    }
    accepted += (i == 0 ? "" : ", ") + std::string(to_text(candidate));
  }
  place.fail("must be one of " + accepted + "; not " + report_json::describe(json));
}

ParamValue decode_param(const Json& json, const Place& place) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_float()) return json.get<double>();
  std::int64_t integer = 0;
  if (!json.is_number()) place.fail("must be a number or a text, not " + report_json::describe(json));
  report_json::decode_integer(json, place, integer);
  return integer;
}

// Nothing that is counted, measured or bounded here can be less than nothing. A NaN passes: it is null in the file.
void require_at_least_0(const Place& place, double value) {
  if (value < 0) place.fail("is " + number_text(value) + ", below 0: no run gives that");
}

void require_finite(const Place& place, double value) {
  require_at_least_0(place, value);
  if (!std::isfinite(value)) place.fail("is no finite number: no run gives that");
}

}  // namespace

void check_figures(const Place& place, const Timing& timing) {
  const Place samples = place.key("samples_us");
  for (std::size_t i = 0; i < timing.samples_us.size(); ++i) require_finite(samples.index(i), timing.samples_us[i]);
  if (timing.discarded_throttled < 0) place.key("discarded_throttled").fail("is below 0: no run gives that");
  if (timing.sm_clock_mhz) require_finite(place.key("sm_clock_mhz"), *timing.sm_clock_mhz);
}

void check_figures(const Place& place, const TimeStatistics& time) {
  if (const std::string wrong = time_contradiction(time); !wrong.empty()) place.fail(wrong);
}

void check_figures(const Place& place, const Verification& verification) {
  require_at_least_0(place.key("max_error"), verification.max_error);
}

void check_figures(const Place& place, const WallTime& wall) { require_finite(place.key("seconds"), wall.seconds); }

void check_figures(const Place& place, const PointRecord& record) {
  require_finite(place.key("flops"), record.result.flops);
  if (!record.time || !record.result.timing) return;
  // The statistics are computed from the samples, so they are equal, but for the last bits of another compiler.
  const std::optional<TimeStatistics> expected = time_statistics(*record.result.timing);
  const auto compare = [&](const char* name, double told, double computed) {
    if (std::abs(told - computed) > 1e-9 * computed)
      place.key("time").key(name).fail("is " + number_text(told) + ", and the samples have " + number_text(computed));
  };
  if (!expected) place.key("time").fail("is there without usable samples");
  compare("samples", static_cast<double>(record.time->samples), static_cast<double>(expected->samples));
  compare("median_us", record.time->median_us, expected->median_us);
  compare("min_us", record.time->min_us, expected->min_us);
  compare("max_us", record.time->max_us, expected->max_us);
}

Json to_json_value(const Quantity& quantity) {
  Json json = Json::object();
  json["value"] = nullptr;
  std::string reason = quantity.reason;
  if (const auto* count = std::get_if<std::uint64_t>(&quantity.value)) json["value"] = *count;
  if (const auto* real = std::get_if<double>(&quantity.value)) {
    const Quantity checked = Quantity::real(*real, quantity.source);
    if (checked.has_value()) json["value"] = *real;
    reason = checked.reason;
  }
  json["source"] = to_text(quantity.source);
  if (json["value"].is_null()) json["reason"] = reason.empty() ? "no reason was given" : reason;
  if (quantity.estimated) {
    json["estimated"] = true;
    json["standard_error"] = report_json::encode_real(quantity.standard_error);
  }
  return json;
}

void from_json_value(const Json& json, const Place& place, Quantity& quantity) {
  report_json::JsonIn in(json, place);
  quantity = {};
  std::string source;
  in("source", source);
  if (const auto known = source_from_text(source)) {
    quantity.source = *known;
  } else {
    place.key("source").fail("must be one of measured, emulated, modelled, spec; not '" + source + "'");
  }
  in.optional("estimated", quantity.estimated);
  in.optional("standard_error", quantity.standard_error);
  in.optional("reason", quantity.reason);
  const auto value = json.find("value");
  if (value == json.end()) place.fail("the key 'value' is missing");
  require_at_least_0(place.key("standard_error"), quantity.standard_error);
  if (value->is_number_unsigned()) {
    quantity.value = value->get<std::uint64_t>();
  } else if (value->is_number()) {
    quantity.value = value->get<double>();
    require_at_least_0(place.key("value"), value->get<double>());
  } else if (!value->is_null()) {
    place.key("value").fail("must be a number or null, not " + report_json::describe(*value));
  } else if (quantity.reason.empty()) {
    place.fail("is null without a reason");
  }
  if (place.newer) return;
  for (const auto& [key, element] : json.items())
    if (key != "value" && key != "source" && key != "estimated" && key != "standard_error" && key != "reason")
      place.fail("unknown key '" + key + "'");
}

Json to_json_value(const ParamSet& params) {
  Json json = Json::object();
  for (const auto& [name, value] : params.values()) {
    if (const auto* real = std::get_if<double>(&value)) {
      json[name] = report_json::encode_real(*real);
    } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      json[name] = *integer;
    } else {
      json[name] = std::get<std::string>(value);
    }
  }
  return json;
}

void from_json_value(const Json& json, const Place& place, ParamSet& params) {
  if (!json.is_object()) place.fail("must be an object, not " + report_json::describe(json));
  params = {};
  for (const auto& [name, value] : json.items()) params.set(name, decode_param(value, place.key(name)));
}

Json to_json_value(Status status) { return to_text(status); }
void from_json_value(const Json& json, const Place& place, Status& status) {
  decode_word(json, place, Status::interrupted, status);
}

Json to_json_value(Verification::State state) { return to_text(state); }
void from_json_value(const Json& json, const Place& place, Verification::State& state) {
  decode_word(json, place, Verification::State::not_run, state);
}

Json to_json_value(const ComparedReal& real) {
  if (real.known) return report_json::encode_real(real.value);
  return {{"value", nullptr}, {"reason", real.reason}};
}
void from_json_value(const Json& json, const Place& place, ComparedReal& real) {
  real.value = 0;
  if (real.known || !json.is_object()) report_json::decode_real(json, place, real.value);
}

Json to_json_value(Basis basis) { return to_text(basis); }
void from_json_value(const Json& json, const Place& place, Basis& basis) {
  decode_word(json, place, Basis::compulsory, basis);
}

Json to_json_value(const JsonText& json) {
  return json.text.empty() ? Json(nullptr) : report_json::parse_strict(json.text, "experiment");
}
void from_json_value(const Json& json, const Place&, JsonText& value) {
  value.text = json.is_null() ? "" : json.dump();
}

Json to_json_value(Level level) { return to_text(level); }
void from_json_value(const Json& json, const Place& place, Level& level) { decode_word(json, place, Level::l1, level); }

Json to_json_value(BoundBy bound) { return to_text(bound); }
void from_json_value(const Json& json, const Place& place, BoundBy& bound) {
  decode_word(json, place, BoundBy::unknown, bound);
}

Json environment_json(const ResultFile& results) {
  Json json = Json::object();
  json["gpuexp_version"] = results.gpuexp_version;
  json["gpuexp_commit"] = results.gpuexp_commit;
  for (const auto& [name, value] : results.environment) json[name] = value;
  std::vector<WallTime> walls;
  for (const PointRecord& point : results.points)
    walls.push_back({point.result.point.key(), point.result.wall_seconds});
  json["wall_seconds"] = report_json::encode(walls);
  return json;
}

void read_environment(const Json& json, const Place& place, ResultFile& results) {
  if (!json.is_object()) place.fail("must be an object, not " + report_json::describe(json));
  std::vector<WallTime> walls;
  for (const auto& [name, value] : json.items()) {
    if (name == "wall_seconds") {
      report_json::decode(value, place.key(name), walls);
      continue;
    }
    std::string text;
    report_json::decode(value, place.key(name), text);
    if (name == "gpuexp_version") {
      results.gpuexp_version = text;
    } else if (name == "gpuexp_commit") {
      results.gpuexp_commit = text;
    } else {
      results.environment.emplace_back(name, text);
    }
  }
  std::map<std::string, double> by_key;
  for (const WallTime& wall : walls) by_key[wall.point] = wall.seconds;
  for (PointRecord& point : results.points)
    if (const auto found = by_key.find(point.result.point.key()); found != by_key.end())
      point.result.wall_seconds = found->second;
}

namespace report_json {
namespace {

constexpr int max_json_depth = 64;

// "line 3, column 7" of a byte offset (1-based, as nlohmann counts).
std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t start = before.rfind('\n');
  const std::size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
  return "line " + number_text(std::int64_t{line}) + ", column " + number_text(std::uint64_t{column});
}

}  // namespace

Json parse_strict(std::string_view text, const std::string& file) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<std::set<std::string>> open_objects;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > max_json_depth)  // what reads, writes and quotes values calls itself level by level
      throw Error(ExitCode::usage, file + ": nested deeper than " + number_text(std::int64_t{max_json_depth}) +
                                       " levels: this is not a gpuexp file");
    if (event == Json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == Json::parse_event_t::object_end) open_objects.pop_back();
    if (parsed.is_string() && holds_control(parsed.get_ref<const std::string&>()))
      throw Error(ExitCode::usage, file + ": the text '" + parsed.get<std::string>() +
                                       "' holds a control character: no gpuexp file does");
    if (event == Json::parse_event_t::key && !open_objects.back().insert(parsed.get<std::string>()).second)
      throw Error(ExitCode::usage, file + ": the key '" + parsed.get<std::string>() + "' stands twice in one object");
    return true;
  };
  if (text.empty()) throw Error(ExitCode::usage, file + ": is empty");
  if (const auto zero = text.find('\0'); zero != std::string_view::npos)  // where the parser would end
    throw Error(ExitCode::usage, file + ": " + line_and_column(text, zero + 1) + ": not valid JSON: a zero byte");
  try {
    return Json::parse(text, watch);
  } catch (const Json::parse_error& error) {
    std::string what = error.what();
    if (const auto detail = what.find("syntax error"); detail != std::string::npos) what = what.substr(detail);
    throw Error(ExitCode::usage, file + ": " + line_and_column(text, error.byte) + ": not valid JSON: " + what);
  } catch (const Json::exception& error) {
    throw Error(ExitCode::usage, file + ": not valid JSON: " + error.what());
  }
}

}  // namespace report_json
}  // namespace gpuexp
