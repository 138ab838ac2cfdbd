// Printing of the command line: text to standard output, notes to standard error, plain tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuexp::cli {

// To standard output. A closed pipe is no error: the reader has seen enough.
void print(std::string_view text);
// "gpuexp: <kind>: <text>" and a newline, to standard error.
void print_message(std::string_view kind, std::string_view text);

// Flushes standard output. Throws Error(cannot_write) when something was lost other than to a closed pipe.
void finish_output();

// A text of one line as lines of at most 100 columns, broken between words, with a newline behind each; those after the
// first begin with `indent` spaces.
std::string paragraph(const std::string& text, std::size_t indent);

// Left-aligned columns, of at most 100 columns together: long cells are wrapped between words. A row of one cell is a
// heading above the rows that follow.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  [[nodiscard]] std::string text() const;
};

}  // namespace gpuexp::cli
