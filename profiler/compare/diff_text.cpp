// The comparison on a terminal, and the words that all formats share.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/compare/diff_output.h"
#include "profiler/compare/result_rows.h"
#include "profiler/core/text.h"
#include "profiler/report/text_table.h"
#include "profiler/report/wording.h"

namespace gpuexp {

namespace diff_words {

std::string value(const std::string& cell) {
  const CellNumber number = cell_number(cell);
  switch (number.kind) {
    case CellNumber::Kind::null:
      return "null";
    case CellNumber::Kind::count:
      return count_words(number.count);
    case CellNumber::Kind::real:
      return real_words(number.real);
    case CellNumber::Kind::not_finite:
    case CellNumber::Kind::malformed:
      return cell;
  }
  return cell;
}

namespace {

std::string percent(double factor) {
  const double change = (factor - 1) * 100;
  return fmt::format("{}{} %", change < 0 ? "-" : "+", real_words(std::abs(change), 2));
}

}  // namespace

std::string change(const Change& change) {
  if (!change.factor) return change.note == "from zero" ? change.note : "";
  const double factor = *change.factor;
  if (factor > 0.5 && factor < 2) return percent(factor);
  return "x" + real_words(factor, 3);
}

std::string evidence(const TimeChange& time) {
  std::string text;
  if (time.interval)
    text = fmt::format("95 %: {} to {}", percent(time.interval->first), percent(time.interval->second));
  if (time.adjusted_p && *time.adjusted_p <= 0.0) {
    text += std::string(text.empty() ? "" : ", ") + "the samples lie wholly apart";
  } else if (time.adjusted_p) {
    text += fmt::format("{}p = {}", text.empty() ? "" : ", ", real_words(*time.adjusted_p, 2));
  }
  if (!time.by_samples && time.p) text += ", by medians";
  return text;
}

}  // namespace diff_words

namespace {

Tone tone_of(const PointDiff& point) {
  if (point.fails) return Tone::bad;
  if (point.verdict == Verdict::faster || point.verdict == Verdict::less_traffic) return Tone::good;
  return point.verdict == Verdict::undecided ? Tone::quiet : Tone::plain;
}

std::string left(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, display_width(text)), ' ');
}
std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, display_width(text)), ' ') + text;
}

struct ChangeLine {
  std::string name, base, next, change;
};

// The changes that have two values, one below the other.
std::string value_lines(const PointDiff& point) {
  std::vector<ChangeLine> lines;
  std::size_t name = 0, base = 0, next = 0;
  for (const Change& change : point.changes) {
    if (change.column.empty()) continue;
    lines.push_back({change.column + (change.source.empty() ? "" : " (" + change.source + ")"),
                     diff_words::value(change.base), diff_words::value(change.next), diff_words::change(change)});
    name = std::max(name, display_width(lines.back().name));
    base = std::max(base, display_width(lines.back().base));
    next = std::max(next, display_width(lines.back().next));
  }
  std::string text;
  for (const ChangeLine& line : lines) {
    std::string row = "  " + left(line.name, name) + "  " + right(line.base, base) + " -> " + right(line.next, next) +
                      (line.change.empty() ? "" : "  " + line.change);
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + '\n';
  }
  return text;
}

// Sentences below the values, each once.
std::vector<std::string> remarks(const PointDiff& point) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& line) {
    if (!line.empty() && std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
  };
  std::string sites;
  for (const Change& change : point.changes) {
    if (change.column.empty()) add(change.base + " -> " + change.next);
    if (change.blame) {
      // Several counters of one site change together; the worst is told.
      const std::string site = change.blame->site.to_text() + change.blame->access + '\n';
      if (sites.find(site) == std::string::npos) add("at " + change.blame->to_text());
      sites += site;
    } else if (change.note != "from zero") {
      add(change.note + (change.also.empty() ? "" : "; the same of " + plural(change.also.size(), "more column")));
    }
  }
  if (point.time) add(diff_words::evidence(*point.time));
  for (const std::string& note : point.notes) add(note);
  if (point.more_changes > 0) add("and " + plural(point.more_changes, "more column") + " (--format json)");
  return lines;
}

std::string point_text(const PointDiff& point, const TerminalStyle& style) {
  const std::string verdict(to_text(point.verdict));
  std::string text = wrapped(point.key, style.width, left(verdict, 14) + "  ");
  if (text.empty() || text.back() != '\n') text += '\n';
  // Painted after wrapping, so that colours take no width.
  text.replace(0, verdict.size(), painted(verdict, tone_of(point), style.colour));
  text += value_lines(point);
  for (const std::string& remark : remarks(point)) {
    text += wrapped(remark, style.width, "  ");
    if (text.back() != '\n') text += '\n';
  }
  return text;
}

std::string file_text(const FileDiff& file, const TerminalStyle& style, std::size_t limit, bool several) {
  std::string text;
  if (several && (!file.points.empty() || !file.notes.empty())) text += bold(file.name, style.colour) + '\n';
  for (const std::string& note : file.notes) {
    text += wrapped(note, style.width, "note: ");
    if (text.back() != '\n') text += '\n';
  }
  if (!text.empty()) text += '\n';
  std::size_t shown = 0;
  for (const PointDiff& point : file.points) {
    if (limit > 0 && shown == limit) break;
    ++shown;
    text += point_text(point, style) + '\n';
  }
  if (shown < file.points.size())
    text += fmt::format("and {} (--limit 0 lists all)\n\n", plural(file.points.size() - shown, "more point"));
  return text;
}

}  // namespace

std::string diff_summary(const Diff& diff) {
  std::string failing, others;
  const auto add = [](std::string& list, std::size_t count, std::string_view word) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count_words(count), word);
  };
  for (std::size_t i = verdict_count; i-- > 0;) {
    const auto verdict = static_cast<Verdict>(i);
    if (diff.counts[i] == 0) continue;
    add(diff.options.fail_on.contains(verdict) ? failing : others, diff.counts[i], to_text(verdict));
  }
  if (diff.not_run > 0) others += fmt::format(" ({} not run on either side)", count_words(diff.not_run));
  const std::size_t points = [&] {
    std::size_t sum = 0;
    for (const std::size_t count : diff.counts) sum += count;
    return sum;
  }();
  if (diff.nothing_compared)
    return fmt::format("failed: no point has run in both BASE and NEW, nothing was compared{}{}{}",
                       failing.empty() && others.empty() ? "" : ": ", failing,
                       (failing.empty() || others.empty() ? "" : ", ") + others);
  if (diff.failed())
    return fmt::format("failed: {} of {}{}{}", count_words(diff.failing), plural(points, "point"),
                       failing.empty() ? "" : " (" + failing + ")", others.empty() ? "" : "; " + others);
  return fmt::format("passed: {}", plural(points, "point")) + (others.empty() ? "" : ": " + others);
}

std::string diff_text(const Diff& diff, const TerminalStyle& style, std::size_t limit) {
  std::string text;
  for (const std::string& note : diff.notes) text += "note: " + note + '\n';
  for (const FileDiff& file : diff.files) text += file_text(file, style, limit, diff.files.size() > 1);
  const std::string summary = diff_summary(diff);
  std::string line = wrapped(summary, style.width, "");
  if (line.empty() || line.back() != '\n') line += '\n';
  const std::size_t word = summary.find(':');
  line.replace(0, word, painted(summary.substr(0, word), diff.failed() ? Tone::bad : Tone::good, style.colour));
  return text + line;
}

}  // namespace gpuexp
