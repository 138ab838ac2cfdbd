// A comparison as text for the terminal, as markdown for a pull request, as JSON and as JUnit XML.
#pragma once

#include <cstddef>
#include <string>

#include "profiler/compare/compare.h"
#include "profiler/report/terminal.h"

namespace gpuexp {

// Changes only, worst first, then the summary line. At most `limit` points of each file, 0 = all. No line is longer
// than the style's width but where a single word is.
std::string diff_text(const Diff& diff, const TerminalStyle& style, std::size_t limit);
// The summary line, then one table of changes per file, worst first. Begins with an HTML comment by which a CI job
// finds the comment it wrote before.
std::string diff_markdown(const Diff& diff, std::size_t limit);
// Every point that is not the same, with all that is known of it.
std::string diff_json(const Diff& diff);
// A test case per point, those that are the same included when the comparison kept them (DiffOptions::keep_same).
std::string diff_junit(const Diff& diff);

// "failed: 2 of 40 points (1 more traffic, 1 missing); 37 same, 1 new".
std::string diff_summary(const Diff& diff);

// Internal to the formats.
namespace diff_words {

// A cell as a person reads it: digits grouped, about four significant digits; "null" when empty.
std::string value(const std::string& cell);
// "x32", "+3.0 %", "from zero"; "" when there is nothing to say.
std::string change(const Change& change);
// What a rank test or a comparison of medians gave: "95 %: +2.8 to +3.2 %, p = 0.00032".
std::string evidence(const TimeChange& time);

}  // namespace diff_words
}  // namespace gpuexp
