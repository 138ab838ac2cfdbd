// Internal to profiler/report: the tables of the report, one problem at a time.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "profiler/report/findings.h"
#include "profiler/report/terminal.h"

namespace gpuexp {

// What columns mean, each told once; and which were shown, so that no table repeats another.
struct Legend {
  std::vector<std::string> lines;
  std::set<std::string> shown;  // problem and column
};

// The one table that tells most, a row per point.
std::string summary_table(const ProblemGroup& group, const ResultFile& results, const TerminalStyle& style,
                          Legend& legend);
// Further tables: traffic, bounds, shared memory and issue, and those below. A column that is the same in every
// row is told in a line; a table without columns is left out.
std::string detail_tables(const ProblemGroup& group, const ResultFile& results, const TerminalStyle& style,
                          Legend& legend);
// How blocks fit on a multiprocessor, and what is known of the inputs: a row for all points that are alike.
std::string occupancy_table(const ProblemGroup& group, const ResultFile& results, const TerminalStyle& style);
std::string workload_table(const ProblemGroup& group, const TerminalStyle& style);
std::string legend_section(const Legend& legend, const TerminalStyle& style);

}  // namespace gpuexp
