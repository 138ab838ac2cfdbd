// Internal to profiler/report: what came of the points, in sentences.
#pragma once

#include <string>
#include <vector>

#include "profiler/report/terminal.h"
#include "profiler/report/wording.h"

namespace gpuexp {

// The points of one problem, in plan order.
struct ProblemGroup {
  std::string problem;
  std::vector<const PointRecord*> points;
  PointLabels labels;
};

// "What bounds ...", "Against .../naive", "Worst accesses": paragraphs of one problem, each with its heading.
std::string bounds_section(const ProblemGroup& group, const ResultFile& results, const TerminalStyle& style);
std::string comparison_section(const ProblemGroup& group, const ResultFile& results, const TerminalStyle& style);
std::string sites_section(const ProblemGroup& group, const TerminalStyle& style);

// Over all points: failures, verification, checker findings, sampling, warnings. Empty when there is nothing to say.
std::string problems_section(const std::vector<ProblemGroup>& groups, const TerminalStyle& style);
std::string sampling_section(const std::vector<ProblemGroup>& groups, const TerminalStyle& style);
std::string warnings_section(const std::vector<ProblemGroup>& groups, const TerminalStyle& style);

std::string heading(const std::string& text, const TerminalStyle& style);

}  // namespace gpuexp
