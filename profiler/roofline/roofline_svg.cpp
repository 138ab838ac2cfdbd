// The roofline as one SVG file: log-log, marks with numbers that a legend explains, no label over another.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/text.h"
#include "profiler/roofline/drawn.h"
#include "profiler/roofline/units.h"

namespace gpuexp {
namespace {

// Pixels. The drawing is as high as its legend needs.
constexpr double width = 1120, left = 76, right = 690, top = 54, low_bottom = 540;
constexpr double legend_x = 712, row_height = 15;
constexpr double font = 11, small_font = 10;
constexpr double per_character = 0.56;  // of the font size: the mean width of a character of a sans-serif face
constexpr std::size_t legend_characters = 70;
constexpr std::size_t single_marks = 60;
constexpr std::size_t most_marks = 80;  // that a legend lists

// Okabe and Ito: told apart by the colour-blind, and of different brightness in grey.
constexpr std::array<std::string_view, 7> colors{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                 "#56B4E9", "#E69F00", "#444444"};

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '"') {
      result += "&quot;";
    } else if (code >= 0x20 && code != 0x7f) {  // others are no XML
      result += c;
    }
  }
  return result;
}

struct Box {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  [[nodiscard]] bool meets(const Box& other) const {
    return x0 < other.x1 && other.x0 < x1 && y0 < other.y1 && other.y0 < y1;
  }
};

class Svg {
 public:
  Svg(const Drawn& drawn, double bottom)
      : bottom_(bottom),
        x_min_(std::log10(drawn.x_min)),
        x_span_(std::log10(drawn.x_max) - x_min_),
        y_min_(std::log10(drawn.y_min)),
        y_span_(std::log10(drawn.y_max) - y_min_) {}

  [[nodiscard]] double px(double x) const { return left + (std::log10(x) - x_min_) / x_span_ * (right - left); }
  [[nodiscard]] double py(double y) const { return bottom_ - (std::log10(y) - y_min_) / y_span_ * (bottom_ - top); }
  [[nodiscard]] double x_low() const { return std::pow(10, x_min_); }
  [[nodiscard]] double x_high() const { return std::pow(10, x_min_ + x_span_); }
  [[nodiscard]] double y_low() const { return std::pow(10, y_min_); }
  [[nodiscard]] double bottom() const { return bottom_; }

  void add(std::string_view markup) { body_ += markup; }
  void line(double x0, double y0, double x1, double y1, std::string_view style) {
    body_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x0, y0, x1, y1, style);
  }
  // `anchor`: "start", "middle" or "end".
  void text(double x, double y, std::string_view what, std::string_view anchor, double size,
            std::string_view more = {}) {
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                         size, anchor, more, escaped(what));
  }
  [[nodiscard]] const std::string& body() const { return body_; }

  [[nodiscard]] bool free(const Box& box) const {
    return box.x0 >= left && box.x1 <= right && box.y0 >= top && box.y1 <= bottom_ &&
           std::ranges::none_of(taken_, [&](const Box& other) { return box.meets(other); });
  }
  void take(const Box& box) { taken_.push_back(box); }

 private:
  double bottom_;
  double x_min_, x_span_, y_min_, y_span_;
  std::string body_;
  std::vector<Box> taken_;
};

double text_width(std::string_view text, double size) {
  return static_cast<double>(display_width(text)) * size * per_character;
}

void draw_axes(Svg& svg) {
  constexpr std::string_view grid = "stroke=\"#dddddd\"";
  // A short axis is marked at 2 and 5 too.
  const bool wide = std::log10(svg.x_high() / svg.x_low()) > 3;
  for (int power = static_cast<int>(std::floor(std::log10(svg.x_low()))); std::pow(10, power) <= svg.x_high(); ++power)
    for (const double step : {1.0, 2.0, 5.0}) {
      const double value = step * std::pow(10, power), x = svg.px(value);
      if (value < svg.x_low() || value > svg.x_high() || (wide && step > 1)) continue;
      svg.line(x, top, x, svg.bottom(), grid);
      svg.text(x, svg.bottom() + 16, intensity_text(value), "middle", font);
    }
  for (int power = static_cast<int>(std::ceil(std::log10(svg.y_low()))); svg.py(std::pow(10, power)) >= top; ++power) {
    const double y = svg.py(std::pow(10, power));
    svg.line(left, y, right, y, grid);
    svg.text(left - 6, y + 4, rate_text(std::pow(10, power), ""), "end", font);
  }
  svg.add(fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#555555\"/>\n", left,
                      top, right - left, svg.bottom() - top));
  svg.text((left + right) / 2, svg.bottom() + 36, "arithmetic intensity [FLOP/byte]", "middle", font);
  svg.text(0, 0, "FLOP/s", "middle", font,
           fmt::format(" transform=\"translate(16 {:.1f}) rotate(-90)\"", (top + svg.bottom()) / 2));
}

// The boxes that a text along a rising line takes: small ones in a row.
std::vector<Box> boxes_along(double x, double y, double dx, double dy, double length) {
  std::vector<Box> boxes;
  for (double at = 0; at <= length; at += font / 2)
    boxes.push_back(
        {x + dx * at - font * 0.65, y + dy * at - font * 0.65, x + dx * at + font * 0.65, y + dy * at + font * 0.65});
  return boxes;
}

// Beside the slope, as near as there is room; left out where there is none.
bool label_slope(Svg& svg, const std::string& text, double x0, double y0, double x1, double y1) {
  const double reach = std::hypot(x1 - x0, y1 - y0), length = text_width(text, font);
  const double dx = (x1 - x0) / reach, dy = (y1 - y0) / reach;
  for (const double beside : {8.0, 14.0, 20.0, -10.0, -16.0, -22.0})
    for (double at = 6; at + length <= reach; at += 8) {
      const double x = x0 + dx * at + dy * beside, y = y0 + dy * at - dx * beside;
      const std::vector<Box> boxes = boxes_along(x, y, dx, dy, length);
      if (!std::ranges::all_of(boxes, [&](const Box& box) { return svg.free(box); })) continue;
      for (const Box& box : boxes) svg.take(box);
      svg.text(0, 0, text, "start", font,
               fmt::format(" transform=\"translate({:.1f} {:.1f}) rotate({:.2f})\"", x - dy * 3.5, y + dx * 3.5,
                           std::atan2(dy, dx) * 180 / M_PI));
      return true;
    }
  return false;
}

// On a flat roof or under it, as far right as there is room.
bool label_roof(Svg& svg, const std::string& text, double y, double begin) {
  const double length = text_width(text, font);
  for (double end = right - 4; end - length >= begin; end -= 12)
    for (const double base : {y - 5, y + 5 + font}) {
      const Box box{end - length, base - font, end, base + 2};
      if (!svg.free(box)) continue;
      svg.take(box);
      svg.text(end, base, text, "end", font);
      return true;
    }
  return false;
}

// What has no room for its label in the drawing, for the notes.
std::vector<std::string> draw_ceilings(Svg& svg, const RooflineView& view, const Drawn& drawn) {
  std::vector<std::string> unlabelled;
  const double roof = drawn.roofs.empty() ? drawn.y_max : drawn.roofs.front().peak;
  double fastest = 0;
  for (const BandwidthCeiling& slope : view.ceilings.bandwidths) fastest = std::max(fastest, slope.bandwidth);
  for (const DrawnRoof& flat : drawn.roofs) {
    const double y = svg.py(flat.peak), begin = svg.px(std::max(flat.peak / fastest, svg.x_low()));
    svg.line(begin, y, right, y, "stroke=\"#222222\" stroke-width=\"2\"");
    if (!label_roof(svg, flat.label, y, begin)) unlabelled.push_back(flat.label);
  }
  for (const BandwidthCeiling& slope : view.ceilings.bandwidths) {
    const bool main = slope.level == view.level;
    const double x0 = std::max(svg.x_low(), svg.y_low() / slope.bandwidth);
    const double x1 = std::min(svg.x_high(), roof / slope.bandwidth);
    if (x1 <= x0) {
      unlabelled.push_back(slope_label(slope));
      continue;
    }
    const double ends[] = {svg.px(x0), svg.py(x0 * slope.bandwidth), svg.px(x1), svg.py(x1 * slope.bandwidth)};
    svg.line(ends[0], ends[1], ends[2], ends[3],
             main ? "stroke=\"#222222\" stroke-width=\"2\"" : "stroke=\"#777777\" stroke-dasharray=\"6 4\"");
    if (!label_slope(svg, slope_label(slope), ends[0], ends[1], ends[2], ends[3]))
      unlabelled.push_back(slope_label(slope));
  }
  return unlabelled;
}

// Circle, square, triangle, diamond by group, so that groups are told apart in grey.
std::string mark_shape(double x, double y, std::size_t group, bool measured) {
  const std::string_view color = colors[group % colors.size()];
  const std::string paint = measured ? fmt::format("fill=\"{0}\" stroke=\"{0}\"", color)
                                     : fmt::format("fill=\"#ffffff\" stroke=\"{}\" stroke-width=\"1.6\"", color);
  switch (group % 4) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" {}/>\n", x, y, paint);
    case 1:
      return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"7\" height=\"7\" {}/>\n", x - 3.5, y - 3.5, paint);
    case 2:
      return fmt::format("<polygon points=\"{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\" {}/>\n", x, y - 4.5, x - 4.5,
                         y + 3.5, x + 4.5, y + 3.5, paint);
    default:
      return fmt::format("<polygon points=\"{0:.1f},{1:.1f} {2:.1f},{3:.1f} {0:.1f},{4:.1f} {5:.1f},{3:.1f}\" {6}/>\n",
                         x, y - 5, x + 5, y, y + 5, x - 5, paint);
  }
}

// The number of a mark, at the first free place around it; with many points there is none.
bool number_mark(Svg& svg, double x, double y, std::size_t number) {
  const std::string text = fmt::format("{}", number);
  const double half = text_width(text, small_font) / 2 + 1;
  for (const double reach : {11.0, 16.0, 24.0, 34.0, 46.0})
    for (const int eighth : {1, 7, 3, 5, 2, 6, 0, 4}) {
      const double angle = eighth * M_PI / 4;
      const double cx = x + reach * std::cos(angle), cy = y - reach * std::sin(angle);
      const Box box{cx - half, cy - small_font * 0.6, cx + half, cy + small_font * 0.6};
      if (!svg.free(box)) continue;
      svg.take(box);
      if (reach > 16) svg.line(x, y, cx, cy, "stroke=\"#999999\" stroke-width=\"0.7\"");
      svg.text(cx, cy + small_font * 0.36, text, "middle", small_font, " stroke=\"none\"");
      return true;
    }
  return false;
}

std::size_t draw_points(Svg& svg, const Drawn& drawn) {
  const bool numbered = drawn.points.size() <= single_marks;
  std::size_t unnumbered = 0;
  std::vector<std::array<double, 3>> done;  // mark and place: a mark that several roofs place alike is numbered once
  for (const DrawnPoint& point : drawn.points) {
    if (!numbered) break;
    const double x = svg.px(point.x), y = svg.py(point.y);
    const auto mark = static_cast<double>(point.mark);
    if (std::ranges::any_of(
            done, [&](const auto& other) { return other[0] == mark && std::hypot(other[1] - x, other[2] - y) < 3; }))
      continue;
    done.push_back({mark, x, y});
    unnumbered += number_mark(svg, x, y, point.mark + 1) ? 0 : 1;
  }
  for (const DrawnPoint& point : drawn.points) {
    svg.add(fmt::format("<g><title>{}</title>", escaped(drawn.marks[point.mark].label)));
    svg.add(mark_shape(svg.px(point.x), svg.py(point.y), point.group, point.measured));
    svg.add("</g>\n");
  }
  return unnumbered;
}

// Lines of at most `legend_characters`.
std::vector<std::string> legend_lines(const std::string& text) {
  const std::string wrapped = wrapped_text(text, "", legend_characters);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < wrapped.size();) {
    const std::size_t end = wrapped.find('\n', begin);
    lines.push_back(wrapped.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

struct Legend {
  std::vector<DrawnMark> marks;
  std::vector<std::string> notes;
};

void draw_legend(Svg& svg, const Legend& legend, bool numbered) {
  double y = top + 10;
  for (std::size_t i = 0; i < legend.marks.size(); ++i, y += 2 * row_height - 2) {
    const DrawnMark& mark = legend.marks[i];
    svg.add(mark_shape(legend_x + 5, y - 4, mark.group, mark.measured));
    const std::string label = numbered ? fmt::format("{}  {}", i + 1, mark.label) : mark.label;
    svg.text(legend_x + 16, y, shortened(label, legend_characters - 6), "start", font);
    svg.text(legend_x + 16, y + 12,
             mark.detail.substr(std::min(mark.detail.find_first_not_of(' '), mark.detail.size())), "start", small_font,
             " fill=\"#555555\"");
  }
  for (const std::string& note : legend.notes) {
    y += 4;
    for (const std::string& line : legend_lines(note)) {
      svg.text(legend_x, y, line, "start", small_font, " fill=\"#555555\"");
      y += row_height - 2;
    }
  }
}

double legend_height(const Legend& legend) {
  double height = static_cast<double>(legend.marks.size()) * (2 * row_height - 2) + 10;
  for (const std::string& note : legend.notes)
    height += 4 + static_cast<double>(legend_lines(note).size()) * (row_height - 2);
  return height;
}

}  // namespace

std::string roofline_svg(const RooflineView& view) {
  const Drawn what = drawn(view, single_marks);
  Legend legend{what.marks, what.notes};
  if (legend.marks.size() > most_marks) {
    legend.notes.push_back(fmt::format("and {} more series", legend.marks.size() - most_marks));
    legend.marks.erase(legend.marks.begin() + most_marks, legend.marks.end());
  }
  const bool numbered = what.points.size() <= single_marks;
  legend.notes.emplace_back("Filled marks are measured. Hollow ones lie on the roof by construction: a bound.");
  if (view.ceilings.basis == Source::measured)
    legend.notes.push_back(fmt::format("Ceilings that say so are measured: {}.", view.ceilings.origin));
  // The notes that follow from the drawing are few; room for them is kept.
  const double bottom = std::max(low_bottom, top + legend_height(legend) - 20);
  Svg svg(what, bottom);
  draw_axes(svg);
  // Points first, so that no label of a ceiling comes to lie on one; their numbers then keep clear of all.
  for (const DrawnPoint& point : what.points) {
    const double x = svg.px(point.x), y = svg.py(point.y);
    svg.take({x - 5, y - 5, x + 5, y + 5});
  }
  const std::vector<std::string> unlabelled = draw_ceilings(svg, view, what);
  const std::size_t unnumbered = draw_points(svg, what);
  for (const std::string& label : unlabelled)
    legend.notes.push_back("Without room for its label, or out of the picture: " + label);
  if (unnumbered > 0) legend.notes.push_back(fmt::format("{} points have no room for a number.", unnumbered));
  draw_legend(svg, legend, numbered);
  const double height = std::max(bottom + 50, top + legend_height(legend) + 20);
  const std::string title = fmt::format("Roofline of {}, points under {}", view.spec.name,
                                        slope_label(slope_or_throw(view.ceilings, view.level)));
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1:.0f}\" viewBox=\"0 0 {0} {1:.0f}\" "
      "font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\" fill=\"#222222\">\n<title>{2}</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
      "<text x=\"{3}\" y=\"30\" font-size=\"15\">{2}</text>\n{4}</svg>\n",
      width, height, escaped(title), left, svg.body());
}

}  // namespace gpuexp
