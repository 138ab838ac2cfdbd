// The roofline drawn in character cells: log-log, slopes at several heights within a cell so that they look straight.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "profiler/core/text.h"
#include "profiler/roofline/drawn.h"
#include "profiler/roofline/units.h"

namespace gpuexp {
namespace {

constexpr int axis_width = 10;  // columns left of the drawing
constexpr int rows = 22;
constexpr int min_columns = 50;
constexpr int max_columns = 100;

enum class Ink { none, slope, faint, roof, point };

constexpr std::string_view ansi(Ink ink) {
  switch (ink) {
    case Ink::slope:
      return "\x1b[36m";
    case Ink::faint:
      return "\x1b[2m";
    case Ink::roof:
      return "\x1b[35m";
    case Ink::point:
      return "\x1b[1;33m";
    case Ink::none:
      break;
  }
  return {};
}

// Horizontal strokes from the bottom of a cell to its top.
constexpr std::array<std::string_view, 5> unicode_strokes{"⎽", "⎼", "─", "⎻", "⎺"};
constexpr std::array<std::string_view, 4> ascii_strokes{"_", ".", "-", "'"};

struct Cell {
  std::string text = " ";
  Ink ink = Ink::none;
};

class Drawing {
 public:
  Drawing(const PlotOptions& options, double x_min, double x_max, double y_min, double y_max)
      : options_(options),
        columns_(std::clamp(options.columns, min_columns, max_columns) - axis_width),
        x_min_(std::log10(x_min)),
        x_span_(std::log10(x_max) - x_min_),
        y_min_(std::log10(y_min)),
        y_span_(std::log10(y_max) - y_min_),
        cells_(static_cast<std::size_t>(rows * columns_)) {}

  [[nodiscard]] int columns() const { return columns_; }
  // Intensity at the middle of a column.
  [[nodiscard]] double x_at(int column) const { return std::pow(10, x_min_ + x_span_ * (column + 0.5) / columns_); }
  [[nodiscard]] int column_of(double x) const {
    return std::clamp(static_cast<int>((std::log10(x) - x_min_) / x_span_ * columns_), 0, columns_ - 1);
  }
  [[nodiscard]] int row_of(double y) const { return static_cast<int>(std::floor(height(y))); }

  // A stroke through (column, y), at its height within the cell; nothing outside the drawing.
  void stroke(int column, double y, Ink ink) {
    const double h = height(y);
    if (h < 0 || h >= rows) return;
    const double within = h - std::floor(h);
    const auto pick = [&](const auto& strokes) {
      return strokes[std::min(strokes.size() - 1,
                              static_cast<std::size_t>(within * static_cast<double>(strokes.size())))];
    };
    put(column, static_cast<int>(h), options_.unicode ? pick(unicode_strokes) : pick(ascii_strokes), ink);
  }

  // A letter at a point; where two points fall into one cell, '*'.
  void letter(double x, double y, char letter) {
    const int row = std::clamp(row_of(y), 0, rows - 1);
    Cell& cell = at(column_of(x), row);
    const std::string text(1, letter);
    cell.text = cell.ink == Ink::point && cell.text != text ? "*" : text;
    cell.ink = Ink::point;
  }

  // Right-aligned, over whatever is there.
  void label(int row, const std::string& text, Ink ink) {
    if (row < 0 || row >= rows) return;
    const int begin = std::max(0, columns_ - static_cast<int>(text.size()));
    for (std::size_t i = 0; i < text.size() && begin + static_cast<int>(i) < columns_; ++i)
      put(begin + static_cast<int>(i), row, std::string_view(text).substr(i, 1), ink);
  }

  [[nodiscard]] std::string text() const {
    std::string result;
    for (int row = rows - 1; row >= 0; --row) {
      result += fmt::format("{:>{}} {}", axis_label(row), axis_width - 2, options_.unicode ? "│" : "|");
      result += line(row) + "\n";
    }
    return result + x_axis();
  }

 private:
  [[nodiscard]] double height(double y) const { return (std::log10(y) - y_min_) / y_span_ * rows; }
  Cell& at(int column, int row) {
    return cells_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
                  static_cast<std::size_t>(column)];
  }
  void put(int column, int row, std::string_view text, Ink ink) { at(column, row) = {std::string(text), ink}; }

  // "1 T" on the row of a power of ten of FLOP/s.
  [[nodiscard]] std::string axis_label(int row) const {
    for (int power = static_cast<int>(std::ceil(y_min_)); power <= y_min_ + y_span_; ++power)
      if (row_of(std::pow(10, power)) == row) return rate_text(std::pow(10, power), "");
    return {};
  }

  [[nodiscard]] std::string line(int row) const {
    std::string result;
    Ink current = Ink::none;
    int last = columns_ - 1;
    const auto cell = [&](int column) -> const Cell& {
      return cells_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
                    static_cast<std::size_t>(column)];
    };
    while (last >= 0 && cell(last).text == " ") --last;
    for (int column = 0; column <= last; ++column) {
      const Cell& c = cell(column);
      if (options_.color && c.ink != current) {
        if (current != Ink::none) result += "\x1b[0m";
        result += ansi(c.ink);
        current = c.ink;
      }
      result += c.text;
    }
    if (current != Ink::none) result += "\x1b[0m";
    return result;
  }

  [[nodiscard]] std::string x_axis() const {
    std::string ticks;
    std::string labels(static_cast<std::size_t>(columns_), ' ');
    for (int column = 0; column < columns_; ++column) ticks += options_.unicode ? "─" : "-";
    for (int power = static_cast<int>(std::ceil(x_min_)); power <= x_min_ + x_span_; ++power) {
      const std::string label = intensity_text(std::pow(10, power));
      const auto begin = static_cast<std::size_t>(column_of(std::pow(10, power)));
      if (begin + label.size() <= labels.size()) labels.replace(begin, label.size(), label);
    }
    labels.erase(labels.find_last_not_of(' ') + 1);
    const std::string pad(axis_width - 1, ' ');
    return fmt::format("{}{}{}\n{} {}\n", pad, options_.unicode ? "└" : "+", ticks, pad, labels);
  }

  PlotOptions options_;
  int columns_;
  double x_min_, x_span_, y_min_, y_span_;
  std::vector<Cell> cells_;
};

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

// Beyond the letters, '+'.
char letter_of(std::size_t mark) { return mark < letters.size() ? letters[mark] : '+'; }

void draw_slopes(Drawing& drawing, const RooflineView& view, double top) {
  // The one that points stand under last, over the faint ones.
  const auto draw = [&](const BandwidthCeiling& slope) {
    const bool main = slope.level == view.level;
    for (int column = 0; column < drawing.columns(); ++column) {
      const double y = drawing.x_at(column) * slope.bandwidth;
      if (y > top) break;
      if (main || column % 2 == 0) drawing.stroke(column, y, main ? Ink::slope : Ink::faint);
    }
  };
  for (const BandwidthCeiling& slope : view.ceilings.bandwidths)
    if (slope.level != view.level) draw(slope);
  draw(slope_or_throw(view.ceilings, view.level));
}

void draw_roofs(Drawing& drawing, const RooflineView& view, const std::vector<DrawnRoof>& roofs) {
  double fastest = 0;
  for (const BandwidthCeiling& slope : view.ceilings.bandwidths) fastest = std::max(fastest, slope.bandwidth);
  for (const DrawnRoof& roof : roofs) {
    for (int column = 0; column < drawing.columns(); ++column)
      if (drawing.x_at(column) * fastest >= roof.peak) drawing.stroke(column, roof.peak, Ink::roof);
    drawing.label(drawing.row_of(roof.peak) + 1, " " + roof.label, Ink::roof);
  }
}

std::string legend(const RooflineView& view, const Drawn& drawn) {
  const std::string indent(axis_width, ' ');
  std::string text = fmt::format("{}FLOP/s over FLOP/byte. {}; solid: {}\n", indent, view.spec.name,
                                 slope_label(slope_or_throw(view.ceilings, view.level)));
  for (const BandwidthCeiling& slope : view.ceilings.bandwidths)
    if (slope.level != view.level) text += fmt::format("{}dotted: {}\n", indent, slope_label(slope));
  const auto room = static_cast<std::size_t>(max_columns - axis_width - 3);
  std::size_t width = 27;  // of labels, as wide as leaves room for every detail
  for (const DrawnMark& mark : drawn.marks) {
    const std::size_t label = display_width(mark.label), detail = display_width(mark.detail);
    if (label + 1 + detail <= room) width = std::max(width, label);
  }
  for (std::size_t i = 0; i < drawn.marks.size(); ++i) {
    const DrawnMark& mark = drawn.marks[i];
    const std::size_t label = display_width(mark.label), detail = std::min(display_width(mark.detail), room - 1);
    // What does not fit beside its label stands below it.
    const bool fits = std::max(label, width) + 1 + detail <= room;
    const std::size_t used = fits ? label : 0;
    text += fmt::format("{}{}  {}", indent, letter_of(i), shortened(mark.label, room));
    if (!fits) text += fmt::format("\n{}   ", indent);
    const std::size_t gap = std::min(width, room - 1 - detail) - std::min(used, std::min(width, room - 1 - detail));
    text += fmt::format("{} {}\n", std::string(gap, ' '), shortened(mark.detail, room - 1));
  }
  for (const std::string& note : drawn.notes) text += wrapped_text(note, indent, max_columns);
  return text;
}

}  // namespace

std::string roofline_plot(const RooflineView& view, const PlotOptions& options) {
  const Drawn what = drawn(view, letters.size());
  Drawing drawing(options, what.x_min, what.x_max, what.y_min, what.y_max);
  draw_slopes(drawing, view, what.roofs.empty() ? what.y_max : what.roofs.front().peak);
  draw_roofs(drawing, view, what.roofs);
  for (const DrawnPoint& point : what.points) drawing.letter(point.x, point.y, letter_of(point.mark));
  return drawing.text() + legend(view, what);
}

}  // namespace gpuexp
