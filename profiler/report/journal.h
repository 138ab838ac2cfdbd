// Internal to profiler/report: the journal of a run in progress, one JSON value per line: first the header, then a
// point each. A line counts once its line end is there, so a killed run loses at most the point it was writing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "profiler/report/result_file.h"

namespace gpuexp {

std::string journal_header(const ResultFile& header);  // with the line end
std::string journal_line(const PointRecord& record);   // with the line end

struct Journal {
  ResultFile results;     // header and finished points; complete when the plan's points are all there
  std::size_t bytes = 0;  // of whole lines
};
// Throws Error(usage) naming the file and line. A last line without its end is ignored.
Journal read_journal(std::string_view text, const std::string& file);

}  // namespace gpuexp
