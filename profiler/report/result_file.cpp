// Reading result files back: JSON, the journal of an unfinished run, CSV.
#include "profiler/report/result_file.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "profiler/core/error.h"
#include "profiler/report/csv.h"
#include "profiler/report/journal.h"
#include "profiler/report/json_records.h"

namespace gpuexp {
namespace {

int schema_version_of(const report_json::Json& json, const report_json::Place& place, int newest) {
  const auto found = json.find("schema_version");
  if (found == json.end()) place.fail("the key 'schema_version' is missing: this is not a gpuexp result file");
  const report_json::Place here = place.key("schema_version");
  std::int64_t version = 0;
  report_json::decode(*found, here, version);
  if (const std::string refusal = schema_refusal(version, newest); !refusal.empty()) here.fail(refusal);
  return static_cast<int>(version);
}

ResultFile read_json(const std::string& text, const std::string& file, int newest) {
  const report_json::Json json = report_json::parse_strict(text, file);
  report_json::Place top{file, ""};
  if (!json.is_object()) top.fail("must be an object, not " + report_json::describe(json));
  top.newer = schema_version_of(json, top, newest) > result_schema_version;
  ResultFile results;
  report_json::JsonIn in(json, top);
  in("schema_version", results.schema_version);
  in("complete", results.complete);
  in("plan", results.plan);
  in("device", results.device);
  in("points", results.points);
  std::vector<Crossover> found;  // of the points, which tell them again
  in.later("crossovers", found);
  report_json::Json environment;
  in("environment", environment);
  in.finish();
  read_environment(environment, top.key("environment"), results);
  return results;
}

// The columns of a file, from its header row: every column must be known, each once.
std::vector<Column> columns_of_header(const std::vector<std::string>& header, const std::string& file) {
  ColumnNames names;
  for (const std::string& name : header) {
    const auto tail = [&](std::string_view prefix) { return name.substr(prefix.size()); };
    if (name.starts_with("param:")) names.params.push_back(tail("param:"));
    if (name.starts_with("counter:")) names.raw.push_back(tail("counter:"));
    if (name.starts_with("predicted:")) names.predicted.push_back(tail("predicted:"));
  }
  std::vector<Column> expected = columns(names);
  if (header.empty() || header.front() != expected.front().name)
    throw Error(ExitCode::usage, file + ": line 1: the first column must be '" + expected.front().name +
                                     "': this is not a gpuexp result file");
  // Later columns that an older file lacks are left out, so that its cells meet their own.
  std::vector<Column> present;
  for (Column& column : expected)
    if (!column.later || std::ranges::find(header, column.name) != header.end()) present.push_back(std::move(column));
  expected = std::move(present);
  for (std::size_t i = 0; i < std::max(header.size(), expected.size()); ++i) {
    const std::string found = i < header.size() ? "'" + header[i] + "'" : "the end of the line";
    const std::string wanted = i < expected.size() ? "'" + expected[i].name + "'" : "the end of the line";
    if (found == wanted) continue;
    std::string message = file + ": line 1, column " + number_text(std::uint64_t{i + 1});
    message.append(": expected ").append(wanted).append(", found ").append(found);
    throw Error(ExitCode::usage, message);
  }
  return expected;
}

ResultFile read_csv(const std::string& text, const std::string& file) {
  const CsvText csv = parse_csv(text, file);
  if (csv.rows.empty()) throw Error(ExitCode::usage, file + ": is empty: this is not a gpuexp result file");
  const std::vector<Column> table = columns_of_header(csv.rows.front(), file);
  ResultFile results;
  for (const Column& column : table)
    if (column.name.starts_with("param:")) results.plan.params.push_back(column.name.substr(6));
  for (std::size_t row = 1; row < csv.rows.size(); ++row) {
    const auto& cells = csv.rows[row];
    if (cells.size() != table.size())
      throw Error(ExitCode::usage, file + ": line " + number_text(std::uint64_t{csv.lines[row]}) + ": has " +
                                       number_text(std::uint64_t{cells.size()}) + " cells, the header has " +
                                       number_text(std::uint64_t{table.size()}));
    PointRecord point;
    for (std::size_t i = 0; i < table.size(); ++i) {
      const CsvCell cell{cells[i], file, csv.lines[row], table[i].name};
      if (table[i].per_file && row > 1 && cells[i] != csv.rows[1][i])
        cell.fail("'" + cells[i] + "' differs from '" + csv.rows[1][i] + "' in the first row: two runs are mixed");
      table[i].set(results, point, cell);
      if (table[i].name == "backend") point.result.backend = cells[i];
    }
    if (point.time)
      if (const std::string wrong = time_contradiction(*point.time); !wrong.empty())
        CsvCell{"", file, csv.lines[row], "time_us_median"}.fail("the time " + wrong);
    results.plan.points.push_back(point.result.point.key());
    results.points.push_back(std::move(point));
  }
  results.plan.backend = results.points.empty() ? "" : results.points.front().result.backend;
  results.complete = true;  // a CSV is written at the end of a run; an interrupted one's JSON says so
  return results;
}

void refuse_duplicate_points(const ResultFile& results, const std::string& file) {
  std::vector<std::string> keys;
  for (const PointRecord& point : results.points) keys.push_back(point.result.point.key());
  std::ranges::sort(keys);
  if (const auto twice = std::ranges::adjacent_find(keys); twice != keys.end())
    throw Error(ExitCode::usage, file + ": the point '" + *twice + "' stands twice");
}

}  // namespace

std::string environment_value(const Environment& environment, std::string_view name) {
  const auto found = std::ranges::find(environment, name, &Environment::value_type::first);
  return found == environment.end() ? "" : found->second;
}

std::optional<TimeStatistics> time_statistics(const Timing& timing) {
  std::vector<double> usable;
  for (const double sample : timing.samples_us)
    if (std::isfinite(sample) && sample > 0) usable.push_back(sample);
  if (usable.empty()) return std::nullopt;
  std::ranges::sort(usable);
  const std::size_t n = usable.size();
  TimeStatistics statistics;
  statistics.samples = n;
  statistics.min_us = usable.front();
  statistics.max_us = usable.back();
  statistics.median_us = n % 2 == 1 ? usable[n / 2] : (usable[n / 2 - 1] + usable[n / 2]) / 2;
  if (n >= 2) {
    const auto count = static_cast<double>(n);
    const double mean = std::accumulate(usable.begin(), usable.end(), 0.0) / count;
    double squares = 0;
    for (const double sample : usable) squares += (sample - mean) * (sample - mean);
    statistics.relative_spread = std::sqrt(squares / (count - 1)) / mean;
  }
  return statistics;
}

std::string time_contradiction(const TimeStatistics& time) {
  if (time.samples == 0) return "has no samples: then there is no time";
  const auto is_time = [](double us) { return std::isfinite(us) && us > 0; };
  if (!is_time(time.min_us) || !is_time(time.median_us) || !is_time(time.max_us))
    return "holds a time that is not above 0: no run gives that";
  if (time.median_us < time.min_us || time.median_us > time.max_us)
    return "has the median " + number_text(time.median_us) + ", outside its samples from " + number_text(time.min_us) +
           " to " + number_text(time.max_us);
  if (time.relative_spread && !(*time.relative_spread >= 0)) return "has a spread below 0: no run gives that";
  return "";
}

std::string schema_refusal(std::int64_t version, int newest) {
  const std::string words = "schema version " + number_text(version);
  if (version < 1) return words + " never was: the first is 1";
  if (version <= newest) return "";
  return words + " is newer than this gpuexp, which reads up to " + number_text(std::int64_t{newest}) +
         "; use a newer gpuexp, or 'gpuexp diff --allow schema' to compare what both know";
}

std::optional<ResultFormat> result_format(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  if (extension == ".csv") return ResultFormat::csv;
  if (extension == ".json") return ResultFormat::json;
  if (extension == ".jsonl") return ResultFormat::journal;
  if (extension.empty()) return std::nullopt;
  throw Error(ExitCode::usage, path.string() + ": the name must end in .json, .csv or .partial.jsonl");
}

ResultFormat result_format_of(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (!text.starts_with('{')) return ResultFormat::csv;
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line.size() > 1 && line.ends_with('}') ? ResultFormat::journal : ResultFormat::json;
}

std::string read_result_text(const std::filesystem::path& path) {
  return read_file(path, result_file_limit, "; name a result file (*.json or *.csv)");
}

ResultFile read_results(const std::filesystem::path& path, int newest_schema) {
  result_format(path);  // refuses a wrong name before anything is read
  return parse_results(read_result_text(path), path.string(), newest_schema);
}

ResultFile parse_results(const std::string& text, const std::string& file, int newest_schema) {
  ResultFile results;
  switch (result_format(file).value_or(result_format_of(text))) {
    case ResultFormat::csv:
      results = read_csv(text, file);
      break;
    case ResultFormat::journal:
      results = read_journal(text, file).results;
      break;
    case ResultFormat::json:
      results = read_json(text, file, newest_schema);
      break;
  }
  refuse_duplicate_points(results, file);
  return results;
}

}  // namespace gpuexp
