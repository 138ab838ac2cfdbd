// Writes through stdio, and remembers why a write failed.
#include "apps/gpuexp/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "profiler/core/error.h"
#include "profiler/core/text.h"

namespace gpuexp::cli {
namespace {

constexpr std::size_t table_width = 100;
constexpr std::size_t widest_column = 34;  // but for the last
constexpr std::size_t narrowest_last_column = 24;

int write_error = 0;  // errno of the first failed write to standard output

void note_failure(bool failed) {
  if (failed && write_error == 0) write_error = errno ? errno : EIO;
}

std::string padded(const std::string& text, std::size_t width) {
  const std::size_t used = display_width(text);
  return text + std::string(used < width ? width - used : 0, ' ');
}

// Lines of at most `width` columns; a longer word stays whole.
std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return {text};
  std::vector<std::string> lines(1);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (display_width(line) + 1 + display_width(word) <= width) {
      line += ' ' + word;
    } else {
      lines.push_back(word);
    }
    begin = end + 1;
  }
  return lines;
}

// A row as as many lines as its longest cell takes.
std::string row_text(const std::vector<std::string>& row, const std::vector<std::size_t>& widths) {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (std::size_t c = 0; c < row.size(); ++c) {
    cells.push_back(wrap(row[c], widths[c]));
    height = std::max(height, cells.back().size());
  }
  std::string text;
  for (std::size_t i = 0; i < height; ++i) {
    std::string line;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      line += padded(i < cells[c].size() ? cells[c][i] : "", widths[c]) + "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace

void print(std::string_view text) {
  errno = 0;
  note_failure(std::fwrite(text.data(), 1, text.size(), stdout) != text.size());
}

void print_message(std::string_view kind, std::string_view text) {
  std::string line = fmt::format("gpuexp: {}: {}", kind, text);
  for (char& c : line)  // it may quote a file or an argument, which must not steer the terminal
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void finish_output() {
  errno = 0;
  note_failure(std::fflush(stdout) != 0);
  if (write_error == 0 || write_error == EPIPE) return;
  throw Error(ExitCode::cannot_write, fmt::format("standard output cannot be written: {}", std::strerror(write_error)));
}

std::string paragraph(const std::string& text, std::size_t indent) {
  // The first line keeps its own leading spaces, which are no words.
  const std::size_t own = std::min(text.find_first_not_of(' '), text.size());
  std::string result;
  for (const std::string& line : wrap(text.substr(own), table_width - std::max(own, indent)))
    result += std::string(result.empty() ? own : indent, ' ') + line + '\n';
  return result;
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const std::string& cell : header) widths.push_back(display_width(cell));
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t c = 0; row.size() > 1 && c + 1 < row.size(); ++c) {
      for (const std::string& line : wrap(row[c], widest_column)) widths[c] = std::max(widths[c], display_width(line));
    }
  }
  std::size_t before_last = 0;
  for (std::size_t c = 0; c + 1 < widths.size(); ++c) before_last += widths[c] + 2;
  widths.back() = std::max(narrowest_last_column, before_last < table_width ? table_width - before_last : 0);

  std::string text = row_text(header, widths);
  for (const std::vector<std::string>& row : rows) text += row.size() == 1 ? row[0] + '\n' : row_text(row, widths);
  return text;
}

}  // namespace gpuexp::cli
