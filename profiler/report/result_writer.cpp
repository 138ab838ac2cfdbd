// The results of one run on disk: journal while it runs, JSON and CSV at its end, the older ones kept.
#include "profiler/report/result_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "profiler/core/error.h"
#include "profiler/core/text.h"
#include "profiler/report/files.h"
#include "profiler/report/journal.h"

namespace gpuexp {
namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

// A finished point outlives the process at once; it outlives the machine after this long.
constexpr std::chrono::milliseconds sync_interval{500};

std::string stem_of(const std::string& name, const std::string& backend) { return name + "." + backend; }

void make_directory(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) cannot_write(directory, "the directory cannot be created: " + error.message());
  if (!fs::is_directory(directory, error)) cannot_write(directory, "it is not a directory");
}

// "TILE=4" for the first name whose values differ; empty when the maps are equal.
std::string settings_difference(const std::map<std::string, std::string>& earlier,
                                const std::map<std::string, std::string>& now) {
  std::map<std::string, std::string> names = earlier;
  names.insert(now.begin(), now.end());
  const auto value = [](const auto& map, const std::string& name) {
    const auto found = map.find(name);
    return found == map.end() ? std::string("nothing") : found->second;
  };
  for (const auto& [name, ignored] : names)
    if (value(earlier, name) != value(now, name))
      return "the setting " + name + " was " + value(earlier, name) + " and is now " + value(now, name);
  return "";
}

std::string points_difference(const std::vector<std::string>& earlier, const std::vector<std::string>& now) {
  if (earlier == now) return "";
  const auto [a, b] = std::ranges::mismatch(earlier, now);
  const auto at = static_cast<std::size_t>(a - earlier.begin());
  const auto text = [&](const std::vector<std::string>& points) {
    return at < points.size() ? "'" + points[at] + "'" : std::string("absent");
  };
  return "it has " + number_text(std::uint64_t{earlier.size()}) + " points and this plan " +
         number_text(std::uint64_t{now.size()}) + "; point " + number_text(std::uint64_t{at + 1}) + " was " +
         text(earlier) + " and is now " + text(now);
}

std::string device_difference(const DeviceRecord& earlier, const DeviceRecord& now) {
  if (earlier.id != now.id || earlier.name != now.name)
    return "the device was " + earlier.name + " and is now " + now.name;
  const auto text = [](const DeviceRecord& device) {
    std::map<std::string, std::string> ceilings;
    for (const CeilingRecord& c : device.ceilings)
      ceilings["ceiling " + c.name] = number_text(c.value.number().value_or(0)) + " " + c.unit;
    return ceilings;
  };
  return settings_difference(text(earlier), text(now));
}

// What keeps the points of `earlier` from being this run's points; empty when nothing does.
std::string plan_difference(const ResultFile& earlier, const ResultFile& now) {
  const auto version = [](const ResultFile& r) {
    return r.gpuexp_version + (r.gpuexp_commit.empty() ? "" : " (" + r.gpuexp_commit + ")");
  };
  if (version(earlier) != version(now))
    return "it was written by gpuexp " + version(earlier) + " and this is " + version(now);
  if (earlier.plan.backend != now.plan.backend)
    return "the backend was " + earlier.plan.backend + " and is now " + now.plan.backend;
  for (const auto& difference :
       {settings_difference(earlier.plan.settings, now.plan.settings), device_difference(earlier.device, now.device),
        points_difference(earlier.plan.points, now.plan.points)})
    if (!difference.empty()) return difference;
  return "";
}

// The journal holds at least its header line. (A run killed before that leaves nothing to resume.)
bool has_whole_line(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string line;
  return std::getline(in, line) && !in.eof();
}

}  // namespace

ResultPaths result_paths(const fs::path& directory, const std::string& name, const std::string& backend) {
  const auto path = [&](const char* end) { return directory / (stem_of(name, backend) + end); };
  return {path(".json"), path(".csv"), path(".partial.jsonl"), path(".prev.json"), path(".prev.csv")};
}

struct ResultWriter::State {
  State(const fs::path& where, ResultFile header_in)
      : directory(where),
        header(std::move(header_in)),
        paths(result_paths(directory, header.plan.name, header.plan.backend)),
        lock(directory, stem_of(header.plan.name, header.plan.backend)) {
    header.points.clear();
    if (!lock.held())
      notice = directory.string() + " is on a file system without locks: start no second run of this name there. ";
  }

  void resume();
  void keep_unfinished_journal();
  void open_journal();
  void keep_previous(const fs::path& path, const fs::path& previous) const;

  fs::path directory;
  ResultFile header;
  ResultPaths paths;
  DirectoryLock lock;
  std::string notice;
  std::vector<PointRecord> finished;  // taken over
  std::vector<PointRecord> added;
  bool replaces_json = false;  // the JSON on disk is an earlier state of this very run
  OpenFile journal;
  Clock::time_point synced = Clock::now();
};

// Takes over the points of the journal, or else of the JSON file.
void ResultWriter::State::resume() {
  std::error_code ignored;
  std::optional<ResultFile> json;
  if (fs::exists(paths.json, ignored)) json = read_results(paths.json);
  const bool from_journal = has_whole_line(paths.journal);
  const fs::path& source = from_journal ? paths.journal : paths.json;
  if (!from_journal && !json) {
    notice += "nothing to resume: " + paths.json.string() + " does not exist; starting with the first point";
    return;
  }
  ResultFile earlier = from_journal ? read_results(paths.journal) : *json;
  if (const std::string difference = plan_difference(earlier, header); !difference.empty())
    throw Error(ExitCode::usage,
                source.string() + ": cannot be resumed: " + difference +
                    "; run without --resume (the older results are kept) or with the earlier settings");
  for (PointRecord& point : earlier.points)
    if (point.result.status != Status::interrupted) finished.push_back(std::move(point));
  replaces_json = json && plan_difference(*json, header).empty() && (!from_journal || !json->complete);
}

void ResultWriter::State::keep_unfinished_journal() {
  if (!has_whole_line(paths.journal)) return;
  fs::path kept = directory / (stem_of(header.plan.name, header.plan.backend) + ".prev.partial.jsonl");
  rename_file(paths.journal, kept);
  notice += "an earlier run had not finished; its points are kept as " + kept.string() +
            " (use --resume to continue such a run)";
}

void ResultWriter::State::open_journal() {
  std::string text = journal_header(header);
  for (const PointRecord& point : finished) text += journal_line(point);
  write_atomically(paths.journal, text);
  journal = OpenFile(paths.journal, O_WRONLY | O_APPEND);
}

// Where there is no older file there is no older result: a stale .prev would be of another run than its sibling.
void ResultWriter::State::keep_previous(const fs::path& path, const fs::path& previous) const {
  std::error_code ignored;
  if (fs::exists(path, ignored)) {
    rename_file(path, previous);
  } else {
    fs::remove(previous, ignored);
  }
}

ResultWriter::ResultWriter(const fs::path& directory, ResultFile header, Start start) {
  const fs::path where = directory.empty() ? fs::path(".") : directory;
  make_directory(where);
  state_ = std::make_unique<State>(where, std::move(header));
  if (start == Start::resume) {
    state_->resume();
  } else {
    state_->keep_unfinished_journal();
  }
  state_->open_journal();
}

ResultWriter::~ResultWriter() = default;

const std::vector<PointRecord>& ResultWriter::finished() const { return state_->finished; }
const std::string& ResultWriter::notice() const { return state_->notice; }
const ResultPaths& ResultWriter::paths() const { return state_->paths; }

void ResultWriter::add(const PointRecord& record) {
  OpenFile& journal = state_->journal;
  const off_t before = ::lseek(journal.fd(), 0, SEEK_END);
  try {
    journal.write(journal_line(record));
  } catch (const Error& error) {
    // Take back half a line, so that what is there stays whole.
    [[maybe_unused]] const int truncated = ::ftruncate(journal.fd(), before);  // else the reader skips the half line
    throw Error(error.code(), std::string(error.what()) +
                                  "; the points finished before are in it: make room and continue with --resume");
  }
  if (!journal.in_place()) cannot_write(journal.path(), "the file or its directory was removed while the run went on");
  state_->added.push_back(record);
  if (Clock::now() - state_->synced < sync_interval) return;
  journal.sync();
  state_->synced = Clock::now();
}

ResultFile ResultWriter::finish() {
  std::map<std::string, PointRecord*> by_key;  // taken from where they are: thousands of points need not be there twice
  for (auto* list : {&state_->finished, &state_->added})
    for (PointRecord& point : *list) by_key[point.result.point.key()] = &point;
  ResultFile results = state_->header;
  for (const std::string& key : results.plan.points)
    if (const auto found = by_key.find(key); found != by_key.end()) results.points.push_back(std::move(*found->second));
  results.complete = results.points.size() == results.plan.points.size() &&
                     std::ranges::none_of(results.points, [](const PointRecord& point) {
                       return point.result.status == Status::interrupted;
                     });

  const ResultPaths& paths = state_->paths;
  try {
    const fs::path json = write_temporary(paths.json, [&](OpenFile& file) {
      put_json_text(results, [&](std::string_view piece) { file.write(piece); });
    });
    const fs::path csv = write_temporary(paths.csv, to_csv_text(results));
    if (!state_->replaces_json) {
      state_->keep_previous(paths.json, paths.previous_json);
      state_->keep_previous(paths.csv, paths.previous_csv);
    }
    rename_file(json, paths.json);
    rename_file(csv, paths.csv);
    sync_directory(state_->directory);
  } catch (const Error& error) {
    std::error_code ignored;
    fs::remove(paths.json.string() + ".tmp", ignored);
    fs::remove(paths.csv.string() + ".tmp", ignored);
    if (!state_->journal.in_place()) throw;
    throw Error(error.code(), std::string(error.what()) + "; every finished point is in " + paths.journal.string() +
                                  ": make room and continue with --resume");
  }
  if (::unlink(paths.journal.c_str()) != 0 && errno != ENOENT) cannot_write_errno(paths.journal);
  return results;
}

}  // namespace gpuexp
