// The comparison as JSON, for programs.
#include <nlohmann/json.hpp>

#include "profiler/compare/diff_output.h"
#include "profiler/compare/result_rows.h"

namespace gpuexp {
namespace {

using Json = nlohmann::ordered_json;

constexpr int diff_schema_version = 1;

Json value_json(const std::string& cell) {
  const CellNumber number = cell_number(cell);
  switch (number.kind) {
    case CellNumber::Kind::null:
      return nullptr;
    case CellNumber::Kind::count:
      return number.count;
    case CellNumber::Kind::real:
      return number.real;
    case CellNumber::Kind::not_finite:
    case CellNumber::Kind::malformed:
      return cell;  // words, or what should have been a number
  }
  return cell;
}

Json blame_json(const Blame& blame) {
  Json json = {{"file", blame.site.file},  {"line", blame.site.line}, {"column", blame.site.column},
               {"in_base", blame.in_base}, {"access", blame.access},  {"metric", blame.metric},
               {"base", nullptr},          {"new", blame.next},       {"requests", blame.requests}};
  if (blame.base) json["base"] = *blame.base;
  return json;
}

Json change_json(const Change& change) {
  Json json = Json::object();
  json["verdict"] = to_text(change.verdict);
  json["column"] = change.column.empty() ? Json(nullptr) : Json(change.column);
  if (!change.source.empty()) json["source"] = change.source;
  json["base"] = change.column.empty() ? Json(change.base) : value_json(change.base);
  json["new"] = change.column.empty() ? Json(change.next) : value_json(change.next);
  json["factor"] = change.factor ? Json(*change.factor) : Json(nullptr);
  if (!change.note.empty()) json["note"] = change.note;
  if (!change.also.empty()) json["also"] = change.also;
  if (change.blame) json["site"] = blame_json(*change.blame);
  return json;
}

Json time_json(const TimeChange& time) {
  Json json = {{"base_us", time.base_us},
               {"new_us", time.next_us},
               {"base_samples", time.base_samples},
               {"new_samples", time.next_samples},
               {"method", time.by_samples ? "rank test of the samples" : "medians and spreads"},
               {"interval_95", nullptr},
               {"p", nullptr},
               {"adjusted_p", nullptr}};
  if (time.interval) json["interval_95"] = {time.interval->first, time.interval->second};
  if (time.p) json["p"] = *time.p;
  if (time.adjusted_p) json["adjusted_p"] = *time.adjusted_p;
  if (!time.note.empty()) json["note"] = time.note;
  return json;
}

Json counts_json(const std::array<std::size_t, verdict_count>& counts) {
  Json json = Json::object();
  for (std::size_t i = 0; i < verdict_count; ++i) json[std::string(to_text(static_cast<Verdict>(i)))] = counts[i];
  return json;
}

Json point_json(const PointDiff& point) {
  Json json = {{"point", point.key}, {"verdict", to_text(point.verdict)}, {"fails", point.fails}};
  json["changes"] = Json::array();
  for (const Change& change : point.changes) json["changes"].push_back(change_json(change));
  json["more_changes"] = point.more_changes;
  if (point.time) json["time"] = time_json(*point.time);
  json["notes"] = point.notes;
  return json;
}

Json file_json(const FileDiff& file) {
  Json json = {{"name", file.name},
               {"base", file.base_file.empty() ? Json(nullptr) : Json(file.base_file)},
               {"new", file.next_file.empty() ? Json(nullptr) : Json(file.next_file)},
               {"experiment", file.experiment},
               {"backend", file.backend},
               {"notes", file.notes},
               {"base_points", file.base_points},
               {"new_points", file.next_points},
               {"compared", file.compared},
               {"timed", file.timed},
               {"not_run", file.not_run},
               {"verdicts", counts_json(file.counts)}};
  json["points"] = Json::array();
  for (const PointDiff& point : file.points) json["points"].push_back(point_json(point));
  return json;
}

}  // namespace

std::string diff_json(const Diff& diff) {
  Json fail_on = Json::array(), tolerances = Json::array();
  for (std::size_t i = 0; i < verdict_count; ++i)
    if (const auto verdict = static_cast<Verdict>(i); diff.options.fail_on.contains(verdict))
      fail_on.push_back(to_text(verdict));
  for (const Tolerance& tolerance : diff.options.tolerances)
    tolerances.push_back({{"column", tolerance.column}, {"relative", tolerance.relative}});
  Json json = {{"schema_version", diff_schema_version},
               {"base", diff.base},
               {"new", diff.next},
               {"failed", diff.failed()},
               {"summary", diff_summary(diff)},
               {"compared", diff.compared},
               {"failing", diff.failing},
               {"nothing_compared", diff.nothing_compared},
               {"verdicts", counts_json(diff.counts)},
               {"settings",
                {{"fail_on", fail_on},
                 {"tolerances", tolerances},
                 {"min_change", diff.options.min_change},
                 {"min_change_us", diff.options.min_change_us},
                 {"alpha", diff.options.alpha}}},
               {"notes", diff.notes}};
  json["files"] = Json::array();
  for (const FileDiff& file : diff.files) json["files"].push_back(file_json(file));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace gpuexp
