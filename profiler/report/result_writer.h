// Writes the results of one run as they come: a journal while it runs, JSON and CSV at its end, never half a file.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/report/result_file.h"

namespace gpuexp {

// Text of the two final formats (exposed for tests and for `--format`).
std::string to_json_text(const ResultFile& results);
// The same, piece by piece: a sweep of thousands of points has a text of a hundred megabytes.
using PutText = std::function<void(std::string_view)>;
void put_json_text(const ResultFile& results, const PutText& put);
std::string to_csv_text(const ResultFile& results);

// One column of the CSV, in the file's order.
struct CsvColumn {
  std::string name;
  std::string meaning;
};
// The columns of a file with these parameter names and these raw counters beside the table's. docs/result_files.md
// holds the same list.
std::vector<CsvColumn> csv_columns(const ResultFile& results);

struct ResultPaths {
  std::filesystem::path json, csv, journal, previous_json, previous_csv;
};
ResultPaths result_paths(const std::filesystem::path& directory, const std::string& name, const std::string& backend);

// Writes `text` beside `path` and renames it into place, so that `path` is either the old or the new file, whole. Of a
// symbolic link, the file that it leads to is replaced. A device or a pipe is written as it stands. Throws
// Error(cannot_write) naming the path and the system's reason.
void write_atomically(const std::filesystem::path& path, const std::string& text);

// Holds the output directory for one run. Every member throws Error(cannot_write) naming the path; what was journalled
// before stays readable.
class ResultWriter {
 public:
  enum class Start { fresh, resume };

  // Creates the directory, proves that it can be written, and takes the lock of this name: a second run of the same
  // name into the same directory is refused. With Start::resume, `finished()` holds the points that an earlier run of
  // the same plan left; a different plan is an Error(usage) that names what differs.
  ResultWriter(const std::filesystem::path& directory, ResultFile header, Start start);
  ~ResultWriter();
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;

  [[nodiscard]] const std::vector<PointRecord>& finished() const;
  // A sentence for the user about files found at the start ("an unfinished run was kept as ..."); may be empty.
  [[nodiscard]] const std::string& notice() const;
  [[nodiscard]] const ResultPaths& paths() const;
  // Appends to the journal; on return the point outlives the process.
  void add(const PointRecord& record);
  // Writes JSON and CSV with all points in plan order, keeps older ones as .prev, removes the journal; returns what was
  // written.
  ResultFile finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpuexp
