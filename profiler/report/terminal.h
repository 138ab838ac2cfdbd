// The report a person reads after a run: tables that fit the terminal, then the finding in words.
#pragma once

#include <string>

#include "profiler/report/result_file.h"

namespace gpuexp {

struct TerminalStyle {
  int width = 100;      // columns that no table exceeds
  bool colour = false;  // ANSI colours
};
// Colour only when `fd` is a terminal and NO_COLOR is unset or empty and TERM is not "dumb".
TerminalStyle terminal_style(int fd);

// UTF-8 text, ends with a newline.
std::string terminal_report(const ResultFile& results, const TerminalStyle& style);

}  // namespace gpuexp
