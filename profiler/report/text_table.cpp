// Text tables: widths by display columns, group lines, padding before colour.
#include "profiler/report/text_table.h"

#include <algorithm>
#include <cstddef>

#include "profiler/core/text.h"

namespace gpuexp {
namespace {

constexpr std::size_t gap = 2;     // between columns
constexpr int always_shown = 100;  // importance

std::size_t own_width(const TableColumn& column) {
  std::size_t width = 0;
  for (const std::string& line : column.heading) width = std::max(width, display_width(line));
  for (const TableCell& cell : column.cells) width = std::max(width, display_width(cell.text));
  return width;
}

struct Span {
  std::size_t first, last;  // columns, inclusive
};

// Neighbours of one group.
std::vector<Span> spans_of(const std::vector<TableColumn>& columns) {
  std::vector<Span> spans;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!spans.empty() && columns[spans.back().last].group == columns[i].group) {
      spans.back().last = i;
    } else {
      spans.push_back({i, i});
    }
  }
  return spans;
}

std::size_t width_of(const Span& span, const std::vector<std::size_t>& widths) {
  std::size_t width = 0;
  for (std::size_t i = span.first; i <= span.last; ++i) width += widths[i] + (i == span.first ? 0 : gap);
  return width;
}

// The group's name, or its first word where the whole does not fit and is long ("modelled").
std::string group_name(const std::string& name, std::size_t width) {
  constexpr std::size_t never_cut = 14;
  return display_width(name) <= std::max(width, never_cut) ? name : name.substr(0, name.find(' '));
}

// Each column's width; the last of a group grows until the group's name fits.
std::vector<std::size_t> widths_of(const std::vector<TableColumn>& columns) {
  std::vector<std::size_t> widths;
  for (const TableColumn& column : columns) widths.push_back(own_width(column));
  for (const Span& span : spans_of(columns)) {
    const std::size_t width = width_of(span, widths);
    const std::size_t name = display_width(group_name(columns[span.first].group, width));
    if (name > width) widths[span.last] += name - width;
  }
  return widths;
}

std::size_t table_width(const std::vector<TableColumn>& columns) {
  return columns.empty() ? 0 : width_of({0, columns.size() - 1}, widths_of(columns));
}

std::string padded(const std::string& text, std::size_t width, bool right_aligned) {
  const std::size_t used = display_width(text);
  const std::string blanks(width > used ? width - used : 0, ' ');
  return right_aligned ? blanks + text : text + blanks;
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

// "--- emulated ---" over the group's columns.
std::string group_line(const std::vector<TableColumn>& columns, const std::vector<std::size_t>& widths) {
  std::string line;
  for (const Span& span : spans_of(columns)) {
    const std::size_t width = width_of(span, widths);
    const std::string name = group_name(columns[span.first].group, width);
    std::string over = name.empty() ? std::string(width, ' ') : name;
    if (!name.empty() && display_width(name) + 4 <= width) {
      const std::size_t dashes = width - display_width(name) - 2;
      over = std::string(dashes / 2, '-') + " " + name + " " + std::string(dashes - dashes / 2, '-');
    }
    line += padded(over, width, false) + std::string(gap, ' ');
  }
  return without_trailing_blanks(line);
}

std::string heading_lines(const std::vector<TableColumn>& columns, const std::vector<std::size_t>& widths,
                          bool colour) {
  std::string text;
  if (std::ranges::any_of(columns, [](const TableColumn& c) { return !c.group.empty(); }))
    text += painted(group_line(columns, widths), Tone::quiet, colour) + '\n';
  std::size_t height = 0;
  for (const TableColumn& column : columns) height = std::max(height, column.heading.size());
  for (std::size_t row = 0; row < height; ++row) {
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto& heading = columns[i].heading;
      const std::size_t skipped = height - heading.size();
      line += padded(row < skipped ? "" : heading[row - skipped], widths[i], columns[i].right_aligned) +
              std::string(gap, ' ');
    }
    text += bold(without_trailing_blanks(line), colour) + '\n';
  }
  return text;
}

std::string row_line(const std::vector<TableColumn>& columns, const std::vector<std::size_t>& widths, std::size_t row,
                     const TableStyle& style) {
  std::string line;
  std::size_t used = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const TableCell& cell = columns[i].cells[row];
    const bool last = i + 1 == columns.size();
    std::string text = padded(cell.text, widths[i], columns[i].right_aligned);
    if (last) {
      const auto room = static_cast<std::size_t>(style.width);
      text = shortened(without_trailing_blanks(text), room > used ? room - used : 0);
    }
    line += painted(text, cell.tone, style.colour);
    if (!last) line += std::string(gap, ' ');
    used += widths[i] + gap;
  }
  return style.colour ? line : without_trailing_blanks(line);
}

}  // namespace

std::string painted(const std::string& text, Tone tone, bool colour) {
  if (!colour || tone == Tone::plain || text.empty()) return text;
  const char* code = tone == Tone::good ? "\x1b[32m" : tone == Tone::bad ? "\x1b[1;31m" : "\x1b[2m";
  return code + text + "\x1b[0m";
}

std::string bold(const std::string& text, bool colour) {
  return colour && !text.empty() ? "\x1b[1m" + text + "\x1b[0m" : text;
}

std::vector<TableColumn> fitting_columns(const std::vector<TableColumn>& columns, int width) {
  std::vector<std::size_t> by_importance, kept;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool empty = std::ranges::all_of(columns[i].cells, [](const TableCell& cell) { return cell.text.empty(); });
    if (columns[i].importance >= always_shown) {
      kept.push_back(i);
    } else if (!empty) {
      by_importance.push_back(i);
    }
  }
  std::ranges::stable_sort(by_importance, std::ranges::greater{}, [&](std::size_t i) { return columns[i].importance; });
  const auto chosen = [&](const std::vector<std::size_t>& indices) {
    std::vector<TableColumn> list;
    for (const std::size_t i : indices) list.push_back(columns[i]);
    return list;
  };
  for (const std::size_t i : by_importance) {
    std::vector<std::size_t> with = kept;
    with.insert(std::ranges::upper_bound(with, i), i);
    if (table_width(chosen(with)) <= static_cast<std::size_t>(width)) kept = with;
  }
  return chosen(kept);
}

std::string render_table(const std::vector<TableColumn>& columns, const TableStyle& style) {
  if (columns.empty()) return "";
  const std::vector<std::size_t> widths = widths_of(columns);
  const std::string heading = heading_lines(columns, widths, style.colour);
  std::string text;
  for (std::size_t row = 0; row < columns.front().cells.size(); ++row) {
    if (row % style.repeat_heading == 0) text += (row == 0 ? "" : "\n") + heading;
    text += row_line(columns, widths, row, style) + '\n';
  }
  return text;
}

}  // namespace gpuexp
