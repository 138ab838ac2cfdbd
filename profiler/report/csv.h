// Internal to profiler/report: RFC 4180 text, and the column table that writes and reads a row.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/report/result_file.h"

namespace gpuexp {

// A cell as RFC 4180 wants it: quoted when it holds a comma, a quote, CR or LF; quotes doubled.
std::string csv_cell(std::string_view text);

// Rows of cells. Throws Error(usage) naming the file, row and column for a quote out of place or an open one. Accepts
// LF and CRLF ends, and one leading byte order mark.
struct CsvText {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> lines;  // 1-based line on which each row starts
};
CsvText parse_csv(std::string_view text, const std::string& file);

// A cell being read: throws with its place.
struct CsvCell {
  std::string_view text;
  const std::string& file;
  std::size_t line = 0;
  const std::string& column;
  [[noreturn]] void fail(const std::string& what) const;
};

struct Column {
  std::string name;
  std::string meaning;
  std::function<std::string(const ResultFile&, const PointRecord&)> get;  // "" = null
  std::function<void(ResultFile&, PointRecord&, const CsvCell&)> set;     // called for empty cells too
  bool per_file = false;                                                  // the same in every row
  bool later = false;  // came after the first files of this schema version, which are read without it
};

// What a set of columns depends on beside the tables.
struct ColumnNames {
  std::vector<std::string> params;     // sorted
  std::vector<std::string> raw;        // counters that are not in the counter table, sorted
  std::vector<std::string> predicted;  // sorted
};
ColumnNames column_names(const ResultFile& results);
std::vector<Column> columns(const ColumnNames& names);

}  // namespace gpuexp
