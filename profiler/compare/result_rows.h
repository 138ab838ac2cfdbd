// Result files as rows of text cells, whatever their format: CSV is read row by row, so that 100,000 rows need little
// memory; JSON becomes the same rows, with the complete records beside them. Files are opened for reading only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/report/result_file.h"

namespace gpuexp {

// One row: a cell per column of the header.
struct Row {
  std::vector<std::string_view> cells;  // into the source's buffer, or into `unquoted`
  std::size_t line = 0;                 // 1-based, where the row starts in a CSV
  std::size_t offset = 0;               // of the row in the text
  std::size_t index = 0;                // 0-based among the rows
  std::deque<std::string> unquoted;     // cells with doubled quotes
};

// Where the columns that a comparison knows stand; -1 when a file has no such column.
struct Columns {
  std::vector<std::string> names;
  std::map<std::string, int, std::less<>> index;
  std::vector<std::pair<std::string, int>> params;  // name without "param:", sorted by name
  int schema_version = -1, backend = -1, cache_mode = -1, variant = -1, status = -1, reason = -1, good = -1,
      verified = -1, wrong_elements = -1, findings = -1, time_samples = -1, time_median = -1, time_min = -1,
      time_max = -1, time_spread = -1, sm_clock = -1;
  std::vector<int> figures;                           // counts, times and what follows from them: never below 0
  std::vector<std::pair<std::string, int>> per_file;  // columns that have one value for the whole file

  [[nodiscard]] int find(std::string_view name) const;
};

enum class Loading {
  whole,     // rows can be visited again by their offset
  streamed,  // one megabyte at a time
};

class ResultRows {
 public:
  // Reads the header and the first row. Throws Error(usage) naming the file and the line and column or JSON path:
  // unreadable, not a result file, a column unknown or doubled, a schema version that is newer than `newest_schema`.
  ResultRows(const std::filesystem::path& path, Loading loading, int newest_schema = result_schema_version);
  ResultRows(const ResultRows&) = delete;
  ResultRows& operator=(const ResultRows&) = delete;

  // The next row, checked against the header and the first row; its cells are valid until the next call (with
  // Loading::whole: as long as this object). False at the end.
  bool next(Row& row);
  // With Loading::whole: the row at an offset that `next` gave.
  void at(std::size_t offset, Row& row) const;

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const Columns& columns() const { return columns_; }
  [[nodiscard]] int schema_version() const { return schema_version_; }
  // Of the whole file: "device", "gpu", "toolkit", "compiler", ...; empty when the file does not tell.
  [[nodiscard]] const std::string& fact(std::string_view name) const;
  // With samples, sites and reasons; nothing for a CSV.
  [[nodiscard]] const ResultFile* records() const { return records_ ? &*records_ : nullptr; }
  [[nodiscard]] const PointRecord* record(const Row& row) const;

  // "variant TILE=16 n=1024", as Point::key() of the row's point.
  void key(const Row& row, std::string& key) const;
  [[noreturn]] void fail(const Row& row, int column, const std::string& what) const;

 private:
  void read_header();
  void read_facts();
  void find_columns(const Row& header);
  void refuse_unknown_columns() const;
  bool split_next(Row& row);
  bool refill();
  void check(const Row& row) const;
  void check_figures(const Row& row) const;

  std::string file_;
  int newest_schema_;
  std::optional<ResultFile> records_;
  std::ifstream in_;       // streamed only
  bool streamed_ = false;  // more may follow the buffer's text
  std::string buffer_;
  std::size_t at_ = 0;  // of the next row in the buffer
  std::size_t line_ = 1, rows_ = 0;
  Columns columns_;
  std::map<std::string, std::string, std::less<>> facts_;
  int schema_version_ = result_schema_version;
};

// A cell as a number. `not_finite` is a NaN or an infinity, which no result file should hold.
struct CellNumber {
  enum class Kind { null, count, real, not_finite, malformed } kind = Kind::null;
  std::uint64_t count = 0;
  double real = 0;  // of counts too
};
CellNumber cell_number(std::string_view cell);
// Quickly: whether the cell is empty or a finite number.
bool is_plain_number(std::string_view cell);

}  // namespace gpuexp
