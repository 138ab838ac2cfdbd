// Internal to profiler/report: the columns of its tables, what each says and how important it is.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "profiler/report/result_file.h"

namespace gpuexp {

// Where the numbers of a column come from, which its group says in every table.
enum class Origin {
  counted,   // the backend's counters: emulated, or measured
  emulated,  // with every backend
  modelled,
  measured,  // times, and what rests on them
};

struct ColumnSpec {
  std::vector<std::string> heading;
  std::string meaning;  // for the legend; empty = needs none
  int importance = 0;
  Origin origin = Origin::counted;
  std::function<std::string(const PointRecord&)> text;
  std::string what;  // above the heading, instead of the origin: "lane loads of"
};

// The heading in one line: "sectors per load", "attainable GFLOP/s".
std::string flat_heading(const ColumnSpec& spec);

// Of the summary. `results` must outlive the columns.
std::vector<ColumnSpec> timed_columns(const ResultFile& results);
std::vector<ColumnSpec> access_columns();
std::vector<ColumnSpec> bound_columns();
// Of the summary of points so small that only the plain counts matter, by kind of access.
std::vector<ColumnSpec> raw_columns();

// Of the further tables.
std::vector<ColumnSpec> traffic_columns();
std::vector<ColumnSpec> roofline_columns();
std::vector<ColumnSpec> issue_columns();
// Lane loads and load sectors of each global buffer; none when all buffers are loaded alike.
std::vector<ColumnSpec> buffer_columns(const std::vector<const PointRecord*>& points);

}  // namespace gpuexp
