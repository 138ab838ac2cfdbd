// A result file in memory, and how it is read back. docs/result_files.md tells the formats.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/core/point.h"
#include "profiler/core/read_file.h"
#include "profiler/roofline/roofline.h"

namespace gpuexp {

inline constexpr int result_schema_version = 1;

// Statistics of a point's time samples, in microseconds.
struct TimeStatistics {
  std::uint64_t samples = 0;
  double median_us = 0, min_us = 0, max_us = 0;
  std::optional<double> relative_spread;  // standard deviation / mean; undefined below two samples
  friend bool operator==(const TimeStatistics&, const TimeStatistics&) = default;
};
// Nothing when there is no usable (finite, positive) sample: a time of 0 is below the clock's resolution, not a time.
std::optional<TimeStatistics> time_statistics(const Timing& timing);
// Why these are the statistics of no samples, with the name of the figure; empty when they can be.
std::string time_contradiction(const TimeStatistics& time);

// One point with everything derived from it.
struct PointRecord {
  PointResult result;
  std::optional<Analysis> analysis;    // absent when the point did not run
  std::optional<TimeStatistics> time;  // absent on simt
};

// A ceiling as it was used: bandwidths in byte/s, arithmetic in FLOP/s.
struct CeilingRecord {
  std::string name;  // "DRAM", "FP32", ...
  std::string unit;  // "byte/s" | "FLOP/s"
  Quantity value;
  std::string source;  // the datasheet, or how it was derived
};

struct DeviceRecord {
  std::string id;    // "a100"
  std::string name;  // "A100 80GB PCIe"
  std::string note;  // which other SKUs there are; may be empty
  std::vector<CeilingRecord> ceilings;
};

// The ceilings of a device spec with their evidence: DRAM bandwidth, and the peak of every precision it has.
DeviceRecord record_of(const DeviceSpec& spec);

// JSON kept as it was given: part of the file, of no concern to the reader.
struct JsonText {
  std::string text;  // valid JSON, or empty
};

// What identifies a run: two runs with equal plans can be merged by --resume.
struct PlanRecord {
  std::string name;  // of the experiment; the result files' name
  std::string description;
  std::string backend;                          // "simt" | "cuda"
  std::map<std::string, std::string> settings;  // what else the numbers depend on: ("schedule", "forward"), ...
  std::vector<std::string> points;              // keys, in order
  std::vector<std::string> params;              // names of all parameters of the plan, sorted
  JsonText experiment;                          // the experiment file; not compared by --resume
};

// Ordered pairs of the machine: ("host", ...), ("cpu", ...), ("gpu", ...), ("driver", ...), ("started", ISO 8601 UTC).
using Environment = std::vector<std::pair<std::string, std::string>>;
// The value of `name`; empty when there is none.
std::string environment_value(const Environment& environment, std::string_view name);

struct ResultFile {
  int schema_version = result_schema_version;
  PlanRecord plan;
  std::string gpuexp_version, gpuexp_commit;
  Environment environment;
  DeviceRecord device;
  bool complete = false;            // every point of the plan is there
  std::vector<PointRecord> points;  // in the plan's order
};

// A result file has at most so many bytes; one that comes through a pipe fewer, since it is held whole in memory.
inline constexpr FileLimit result_file_limit{std::uint64_t{1} << 30U, std::uint64_t{1} << 28U};

// By the name; nothing when it has no extension, as a pipe (/dev/fd/63) has none. Throws Error(usage) for another one.
enum class ResultFormat { json, csv, journal };
std::optional<ResultFormat> result_format(const std::filesystem::path& path);
// By its first line, for such a file.
ResultFormat result_format_of(std::string_view text);
std::string read_result_text(const std::filesystem::path& path);

// Reads `<name>.<backend>.json`, `.csv` or `.partial.jsonl` (told by the file's name, else by its first line). Throws
// Error(usage) that names the file and the line, row and column or JSON path. A CSV holds less: no sites, findings,
// launches or samples. JSON of a newer schema version up to `newest_schema` is read as far as its keys are known.
ResultFile read_results(const std::filesystem::path& path, int newest_schema = result_schema_version);
// The same from text; `file` stands for its name.
ResultFile parse_results(const std::string& text, const std::string& file, int newest_schema = result_schema_version);

// Why a file of this schema version is not read, with the remedy; empty for 1 to `newest`.
std::string schema_refusal(std::int64_t version, int newest = result_schema_version);

}  // namespace gpuexp
