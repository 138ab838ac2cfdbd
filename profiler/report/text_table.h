// Internal to profiler/report: a text table that fits a width by leaving out its least important columns.
#pragma once

#include <string>
#include <vector>

namespace gpuexp {

enum class Tone { plain, good, bad, quiet };  // colours, where there are any

struct TableCell {
  std::string text;
  Tone tone = Tone::plain;
};

struct TableColumn {
  std::vector<std::string> heading;  // lines, top to bottom; shorter headings stand at the bottom
  std::string group;                 // neighbours of one group share a line above their headings ("emulated")
  std::string meaning;               // for the legend; empty = needs none
  bool right_aligned = true;
  int importance = 0;            // the least important column is left out first; columns from 100 on never are
  std::vector<TableCell> cells;  // one per row
};

struct TableStyle {
  int width = 100;
  bool colour = false;
  std::size_t repeat_heading = 40;  // rows
};

// The most important columns that fit, in order. Columns without any text are left out.
std::vector<TableColumn> fitting_columns(const std::vector<TableColumn>& columns, int width);
// Lines with their ends. A last column that is too wide even so is cut off.
std::string render_table(const std::vector<TableColumn>& columns, const TableStyle& style);

std::string painted(const std::string& text, Tone tone, bool colour);
std::string bold(const std::string& text, bool colour);

}  // namespace gpuexp
