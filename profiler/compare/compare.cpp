// Files against files: which points are in both, what refuses a comparison, and the verdicts on times, which depend on
// how many there are.
#include "profiler/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "profiler/compare/point_compare.h"
#include "profiler/compare/result_rows.h"
#include "profiler/compare/statistics.h"
#include "profiler/core/error.h"
#include "profiler/core/nearest.h"
#include "profiler/core/text.h"
#include "profiler/report/wording.h"

namespace gpuexp {
namespace {

namespace fs = std::filesystem;

// "tile_sweep.simt" of "out/tile_sweep.simt.json" and of "out/tile_sweep.simt.partial.jsonl".
std::string stem_of(const fs::path& path) {
  std::string stem = path.stem().string();
  if (stem.ends_with(".partial")) stem.resize(stem.size() - 8);
  return stem;
}

// --- what refuses a comparison, and what is only told ---

void refuse_unless_allowed(const ResultRows& base, const ResultRows& next, const DiffOptions& options,
                           Difference difference, const char* word, const char* fact, const char* what) {
  const std::string &before = base.fact(fact), &after = next.fact(fact);
  if (before == after || before.empty() || after.empty() || options.allow.contains(difference)) return;
  throw Error(ExitCode::usage, fmt::format("{} is of {} {}, {} of {}; compare like with like, or give --allow {}",
                                           base.file(), what, before, next.file(), after, word));
}

void guard(const ResultRows& base, const ResultRows& next, const DiffOptions& options) {
  const std::string &before = base.fact("backend"), &after = next.fact("backend");
  if (!before.empty() && !after.empty() && before != after)
    throw Error(ExitCode::usage, fmt::format("{} is of the backend {}, {} of {}: no point is in both", base.file(),
                                             before, next.file(), after));
  if (base.schema_version() != next.schema_version() && !options.allow.contains(Difference::schema))
    throw Error(ExitCode::usage,
                fmt::format("{} has schema version {}, {} has {}; their columns may mean other things; "
                            "give --allow schema to compare those of equal names",
                            base.file(), base.schema_version(), next.file(), next.schema_version()));
  // By what a device is, never by its ordinal: the same card may be number 4 today and 0 tomorrow.
  const auto device = [&](const char* fact, const char* what) {
    refuse_unless_allowed(base, next, options, Difference::device, "device", fact, what);
  };
  device("device", "the device");
  device("gpu", "the GPU");
  device("gpu_compute_capability", "a GPU of compute capability");
  device("gpu_sm_count", "a GPU with a multiprocessor count of");
  device("gpu_max_sm_clock_mhz", "a GPU with a highest clock in MHz of");
  refuse_unless_allowed(base, next, options, Difference::toolkit, "toolkit", "toolkit", "the toolkit");
}

int newest_schema(const DiffOptions& options) {
  return options.allow.contains(Difference::schema) ? INT_MAX : result_schema_version;
}

using Settings = std::map<std::string, std::string>;

void note_settings(const Settings& base, const Settings& next, FileDiff& diff) {
  for (const auto& [name, before] : base) {
    // Where and how hard was looked, not what: the card's number, limits of memory and time.
    if (name == "gpu" || name.find("limit") != std::string::npos) continue;
    const auto after = next.find(name);
    if (after != next.end() && after->second != before)
      diff.notes.push_back(fmt::format("the setting {} differs: {} in BASE, {} in NEW", name, before, after->second));
  }
}

void note_differences(const ResultRows& base, const ResultRows& next, const DiffOptions& options, FileDiff& diff) {
  const auto tell = [&](const char* fact, const std::string& what) {
    const std::string &before = base.fact(fact), &after = next.fact(fact);
    if (before != after && !before.empty() && !after.empty())
      diff.notes.push_back(fmt::format("{} differs: {} in BASE, {} in NEW", what, before, after));
  };
  tell("gpuexp_version", "gpuexp's version");
  tell("compiler", "the compiler");
  if (base.fact("compiler") == next.fact("compiler")) tell("kernel_compiler", "the compiler of the kernels");
  tell("driver", "the driver");
  if (options.allow.contains(Difference::device)) {
    tell("device", "the device");
    tell("gpu", "the GPU");
  }
  if (options.allow.contains(Difference::toolkit)) tell("toolkit", "the toolkit");
  if (base.schema_version() != next.schema_version())
    diff.notes.push_back(
        fmt::format("the schema version differs: {} in BASE, {} in NEW", base.schema_version(), next.schema_version()));
  if (const std::string& before = base.fact("gpu_uuid"), &after = next.fact("gpu_uuid");
      before != after && !before.empty() && !after.empty())
    diff.notes.push_back("another card of the same model");
  for (const auto& [rows, name] : {std::pair{&base, "BASE"}, std::pair{&next, "NEW"}})
    if (const ResultFile* file = rows->records(); file != nullptr && !file->complete)
      diff.notes.push_back(fmt::format("{} is of an unfinished run: {} of {} points", name, file->points.size(),
                                       file->plan.points.size()));
  const ResultFile *before = base.records(), *after = next.records();
  if (before != nullptr && after != nullptr) note_settings(before->plan.settings, after->plan.settings, diff);
}

// --- points of one pair of files ---

// BASE by key.
class BaseIndex {
 public:
  explicit BaseIndex(ResultRows& rows) {
    Row row;
    std::string key;
    while (rows.next(row)) {
      rows.key(row, key);
      keys_.push_back(key);
      places_.push_back({row.offset, row.line, row.index, false});
    }
    by_key_.reserve(keys_.size());
    for (std::size_t i = 0; i < keys_.size(); ++i)
      if (!by_key_.emplace(keys_[i], i).second)
        throw Error(ExitCode::usage, rows.file() + ": the point '" + keys_[i] + "' stands twice");
  }

  struct Place {
    std::size_t offset, line, index;
    bool matched;
  };
  [[nodiscard]] std::optional<std::size_t> find(const std::string& key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] Place& place(std::size_t i) { return places_[i]; }
  [[nodiscard]] const std::vector<std::string>& keys() const { return keys_; }

 private:
  std::vector<std::string> keys_;
  std::vector<Place> places_;
  std::unordered_map<std::string_view, std::size_t> by_key_;  // into keys_, which grows no more
};

PointDiff only_in_one(const std::string& key, Verdict verdict, const DiffOptions& options) {
  PointDiff diff;
  diff.key = key;
  diff.verdict = verdict;
  settle(diff, options);
  return diff;
}

// A missing and a new point with equal parameters, of one problem, may be one that was renamed.
void note_renames(FileDiff& diff) {
  struct Halves {
    std::vector<PointDiff*> missing, added;
  };
  std::map<std::string, Halves> by_rest;
  for (PointDiff& point : diff.points) {
    if (point.verdict != Verdict::missing && point.verdict != Verdict::added) continue;
    const std::string problem = point.key.substr(0, point.key.find('/'));
    const std::size_t space = point.key.find(' ');
    Halves& halves = by_rest[problem + (space == std::string::npos ? "" : point.key.substr(space))];
    (point.verdict == Verdict::missing ? halves.missing : halves.added).push_back(&point);
  }
  for (auto& [rest, halves] : by_rest) {
    if (halves.missing.size() != 1 || halves.added.size() != 1) continue;
    const std::string &before = halves.missing.front()->key, &after = halves.added.front()->key;
    halves.missing.front()->notes.push_back(
        fmt::format("renamed? NEW has {} with the same parameters", after.substr(0, after.find(' '))));
    halves.added.front()->notes.push_back(
        fmt::format("renamed? BASE has {} with the same parameters", before.substr(0, before.find(' '))));
  }
}

// Whether the points of both files may be the same ones, and how the times are judged.
struct TimedPoints {
  std::size_t with_samples = 0, without_samples = 0;
};

void tell_of_times(const TimedPoints& times, FileDiff& diff) {
  if (times.without_samples == 0) return;
  diff.notes.push_back(fmt::format(
      "{} of {} without the samples in both files (a CSV holds none): judged by median and spread, which is less "
      "certain; compare the JSON files",
      plural(times.without_samples, "time"), times.with_samples + times.without_samples));
}

void compare_points(ResultRows& base, ResultRows& next, const DiffOptions& options, FileDiff& diff) {
  BaseIndex index(base);
  const PointComparer comparer(base, next, options);
  std::unordered_set<std::string> added;
  TimedPoints times;
  Row row, base_row;
  std::string key;
  while (next.next(row)) {
    ++diff.next_points;
    next.key(row, key);
    const std::optional<std::size_t> found = index.find(key);
    if (found ? index.place(*found).matched : !added.insert(key).second)
      throw Error(ExitCode::usage, next.file() + ": the point '" + key + "' stands twice");
    if (!found) {
      diff.points.push_back(only_in_one(key, Verdict::added, options));
      continue;
    }
    BaseIndex::Place& place = index.place(*found);
    place.matched = true;
    base.at(place.offset, base_row);
    base_row.line = place.line;
    base_row.index = place.index;
    PointDiff point = comparer.compare(base_row, row);
    ++diff.compared;
    if (PointComparer::timed(base, base_row) && PointComparer::timed(next, row)) {
      ++diff.timed;
      const bool samples = PointComparer::has_samples(base, base_row) && PointComparer::has_samples(next, row);
      ++(samples ? times.with_samples : times.without_samples);
    }
    if (!point.changes.empty() || point.time) {
      settle(point, options);
      diff.points.push_back(std::move(point));
      continue;
    }
    if (row.cells[static_cast<std::size_t>(next.columns().status)] == "unsupported") ++diff.not_run;
    if (options.keep_same) diff.same.push_back(key);
  }
  diff.base_points = index.keys().size();
  for (std::size_t i = 0; i < index.keys().size(); ++i)
    if (!index.place(i).matched) diff.points.push_back(only_in_one(index.keys()[i], Verdict::missing, options));
  note_renames(diff);
  tell_of_times(times, diff);
  if (const auto& names = comparer.columns_only_in_next(); !names.empty())
    diff.notes.push_back("columns that BASE lacks were not compared: " + list_names(names, 8));
}

FileDiff compare_files(const std::string& name, const fs::path& base_path, const fs::path& next_path,
                       const DiffOptions& options) {
  ResultRows base(base_path, Loading::whole, newest_schema(options));
  ResultRows next(next_path, Loading::streamed, newest_schema(options));
  guard(base, next, options);
  FileDiff diff;
  diff.name = name;
  diff.base_file = base.file();
  diff.next_file = next.file();
  diff.experiment = next.fact("experiment").empty() ? base.fact("experiment") : next.fact("experiment");
  diff.backend = next.fact("backend").empty() ? base.fact("backend") : next.fact("backend");
  note_differences(base, next, options, diff);
  compare_points(base, next, options, diff);
  return diff;
}

// A file of BASE that NEW does not have: every point is missing.
FileDiff missing_file(const std::string& name, const fs::path& base_path, const DiffOptions& options) {
  ResultRows base(base_path, Loading::whole, newest_schema(options));
  FileDiff diff;
  diff.name = name;
  diff.base_file = base.file();
  diff.experiment = base.fact("experiment");
  diff.backend = base.fact("backend");
  diff.notes.emplace_back("NEW has no such file");
  const BaseIndex index(base);
  diff.base_points = index.keys().size();
  for (const std::string& key : index.keys()) diff.points.push_back(only_in_one(key, Verdict::missing, options));
  return diff;
}

// Result files of a directory by stem; the JSON of a run rather than its CSV. What was kept of earlier runs and what an
// unfinished one left is not compared.
std::map<std::string, fs::path> result_files(const fs::path& directory) {
  std::map<std::string, fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const fs::path& path = entry.path();
    const std::string stem = stem_of(path), extension = path.extension().string();
    if (stem.starts_with(".") || stem.ends_with(".prev") || (extension != ".json" && extension != ".csv")) continue;
    if (!stem.ends_with(".simt") && !stem.ends_with(".cuda")) continue;
    fs::path& file = files[stem];
    if (file.empty() || extension == ".json") file = path;
  }
  if (error) throw Error(ExitCode::usage, fmt::format("{}: cannot be read: {}", directory.string(), error.message()));
  return files;
}

void compare_directories(const fs::path& base, const fs::path& next, Diff& diff) {
  const std::map<std::string, fs::path> before = result_files(base), after = result_files(next);
  if (before.empty())
    throw Error(
        ExitCode::usage,
        fmt::format("{}: holds no result file (*.simt.json, *.simt.csv, *.cuda.json, *.cuda.csv)", base.string()));
  for (const auto& [name, path] : before) {
    const auto found = after.find(name);
    diff.files.push_back(found == after.end() ? missing_file(name, path, diff.options)
                                              : compare_files(name, path, found->second, diff.options));
  }
  std::vector<std::string> added;
  for (const auto& [name, path] : after)
    if (!before.contains(name)) added.push_back(name);
  if (!added.empty()) diff.notes.push_back("only in NEW, not compared: " + list_names(added));
}

// --- times ---

// Slower and faster need a corrected p-value: among many points some look slower by chance.
void judge_times(Diff& diff) {
  std::size_t family = 0;
  std::vector<PointDiff*> moved;
  std::vector<double> p_values;
  for (FileDiff& file : diff.files) {
    family += file.timed;
    for (PointDiff& point : file.points) {
      if (!point.time) continue;
      moved.push_back(&point);
      p_values.push_back(point.time->p.value_or(1.0));
    }
  }
  const std::vector<double> adjusted = holm_adjusted(p_values, family);
  for (std::size_t i = 0; i < moved.size(); ++i) {
    TimeChange& time = *moved[i]->time;
    Change change;
    change.column = "time_us_median";
    change.source = "measured";
    change.base = number_text(time.base_us);
    change.next = number_text(time.next_us);
    change.factor = time.next_us / time.base_us;
    change.verdict = Verdict::undecided;
    if (time.p) {
      time.adjusted_p = adjusted[i];
      if (adjusted[i] <= diff.options.alpha)
        change.verdict = time.next_us > time.base_us ? Verdict::slower : Verdict::faster;
      else
        time.note =
            fmt::format("chance can explain it (p = {} among {})", real_words(adjusted[i], 2), plural(family, "time"));
    }
    change.note = time.note;
    moved[i]->changes.push_back(std::move(change));
    settle(*moved[i], diff.options);
  }
}

void summarise(Diff& diff) {
  for (FileDiff& file : diff.files) {
    std::ranges::sort(file.points, [](const PointDiff& a, const PointDiff& b) {
      if (a.verdict != b.verdict) return a.verdict > b.verdict;
      const double size_a = a.changes.empty() ? 0 : size_of(a.changes.front());
      const double size_b = b.changes.empty() ? 0 : size_of(b.changes.front());
      return size_a != size_b ? size_a > size_b : a.key < b.key;
    });
    for (const PointDiff& point : file.points) {
      ++file.counts[static_cast<std::size_t>(point.verdict)];
      diff.failing += point.fails ? 1 : 0;
    }
    std::size_t changed = 0;
    for (const PointDiff& point : file.points)
      changed += point.verdict != Verdict::missing && point.verdict != Verdict::added ? 1 : 0;
    file.counts[static_cast<std::size_t>(Verdict::same)] = file.compared - changed;
    for (std::size_t i = 0; i < verdict_count; ++i) diff.counts[i] += file.counts[i];
    diff.compared += file.compared;
    diff.not_run += file.not_run;
  }
  diff.nothing_compared = diff.compared == diff.not_run;
}

}  // namespace

Diff compare(const fs::path& base, const fs::path& next, const DiffOptions& options) {
  Diff diff;
  diff.options = options;
  diff.base = base.string();
  diff.next = next.string();
  std::error_code ignored;
  const bool base_is_directory = fs::is_directory(base, ignored), next_is_directory = fs::is_directory(next, ignored);
  if (base_is_directory != next_is_directory && fs::exists(base, ignored) && fs::exists(next, ignored))
    throw Error(ExitCode::usage,
                fmt::format("{} is a directory, {} a file; give two files or two directories",
                            (base_is_directory ? base : next).string(), (base_is_directory ? next : base).string()));
  if (base_is_directory && next_is_directory) {
    compare_directories(base, next, diff);
  } else {
    diff.files.push_back(compare_files(stem_of(next), base, next, options));
  }
  judge_times(diff);
  summarise(diff);
  return diff;
}

}  // namespace gpuexp
