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

std::vector<ProblemGroup> groups_of(const ResultFile& results);  // in plan order; they point into `results`

// Paragraphs of one problem, each with its heading; empty when there is nothing to say.
std::string comparison_section(const ProblemGroup& group, const TerminalStyle& style);  // "Against .../naive"
std::string sites_section(const ProblemGroup& group, const TerminalStyle& style);       // "Worst access sites"
std::string bounds_section(const ProblemGroup& group, const ResultFile& results, const TerminalStyle& style);
// What the emulator predicts against what was counted; empty unless both are there.
std::string prediction_section(const ProblemGroup& group, const TerminalStyle& style);

// Over all points: which variant costs least along a numeric parameter, and where that changes.
std::string crossings_section(const ResultFile& results, const TerminalStyle& style);
// Over all points: the size from which a problem's intensity, every byte moved once, reaches a ridge of the device.
std::string ridge_section(const std::vector<ProblemGroup>& groups, const ResultFile& results,
                          const TerminalStyle& style);
// Over all points: what is bad, in a line or two for the top of the report; empty when nothing is.
std::string problems_line(const std::vector<ProblemGroup>& groups, const TerminalStyle& style);
// Over all points: failures, verification, checker findings, sampling, warnings.
std::string problems_section(const std::vector<ProblemGroup>& groups, const TerminalStyle& style);
// Over all points: counts that are not what the inputs state.
std::string expectations_section(const std::vector<ProblemGroup>& groups, const TerminalStyle& style);
std::string sampling_section(const std::vector<ProblemGroup>& groups, const TerminalStyle& style);
std::string warnings_section(const std::vector<ProblemGroup>& groups, const TerminalStyle& style);

std::string heading(const std::string& text, const TerminalStyle& style);
// One entry of a section.
std::string list_item(const std::string& text, const TerminalStyle& style);
// "    ... and 3 more sites in the result file", or nothing for 0.
std::string more_line(std::size_t left_out, const std::string& what);

}  // namespace gpuexp
