// The comparison as a comment on a pull request.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/compare/diff_output.h"
#include "profiler/report/wording.h"

namespace gpuexp {
namespace {

// As code within a table cell: a span delimited by one backtick more than any run within; bars escaped, one line.
std::string code(const std::string& text) {
  if (text.empty()) return "";
  std::size_t longest = 0, run = 0;
  std::string escaped;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    if (c == '|') escaped += '\\';
    escaped += c == '\n' || c == '\r' ? ' ' : c;
  }
  const std::string fence(longest + 1, '`');
  const std::string blank = longest > 0 ? " " : "";
  return fence + blank + escaped + blank + fence;
}

// As plain text within a table cell: nothing in it becomes markup.
std::string plain(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else if (c == '@') {
      escaped += "&#64;";  // no one is notified by a file name
    } else {
      if (std::string_view("|*_`[]\\#~").find(c) != std::string_view::npos) escaped += '\\';
      escaped += c == '\n' || c == '\r' ? ' ' : c;
    }
  }
  return escaped;
}

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
  return text;
}

std::string point_row(const PointDiff& point) {
  std::string column, base, next, change;
  std::vector<std::string> where;
  if (!point.changes.empty()) {
    const Change& worst = point.changes.front();
    if (worst.column.empty()) {
      base = plain(worst.base);
      next = plain(worst.next);
    } else {
      column = code(worst.column) + (worst.source.empty() ? "" : " " + worst.source);
      base = plain(diff_words::value(worst.base));
      next = plain(diff_words::value(worst.next));
    }
    change = diff_words::change(worst);
    if (worst.blame) where.push_back(code(worst.blame->site.to_text()) + " " + plain(worst.blame->access));
    if (worst.note != "from zero") where.push_back(plain(worst.note));
    const std::size_t more = point.changes.size() - 1 + point.more_changes + worst.also.size();
    if (point.time && worst.column == "time_us_median") where.push_back(plain(diff_words::evidence(*point.time)));
    if (more > 0) where.push_back("and " + plural(more, "more column"));
  }
  for (const std::string& note : point.notes) where.push_back(plain(note));
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n",
                     point.fails ? fmt::format("**{}**", to_text(point.verdict)) : std::string(to_text(point.verdict)),
                     code(point.key), column, base, next, change, join(where));
}

std::string file_section(const FileDiff& file, std::size_t limit, bool several) {
  std::string text;
  if (several && (!file.points.empty() || !file.notes.empty())) text += fmt::format("\n#### {}\n", plain(file.name));
  if (!file.notes.empty()) text += '\n';
  for (const std::string& note : file.notes) text += "- " + plain(note) + '\n';
  if (file.points.empty()) return text;
  text += "\n| verdict | point | column | base | new | change | where and why |\n|---|---|---|--:|--:|--:|---|\n";
  const std::size_t shown = limit == 0 ? file.points.size() : std::min(limit, file.points.size());
  for (std::size_t i = 0; i < shown; ++i) text += point_row(file.points[i]);
  if (shown < file.points.size()) text += fmt::format("\nand {}\n", plural(file.points.size() - shown, "more point"));
  return text;
}

}  // namespace

std::string diff_markdown(const Diff& diff, std::size_t limit) {
  std::string text = "<!-- gpuexp diff -->\n**gpuexp diff " + plain(diff_summary(diff)) + "**\n";
  for (const std::string& note : diff.notes) text += "\n" + plain(note) + '\n';
  for (const FileDiff& file : diff.files) text += file_section(file, limit, diff.files.size() > 1);
  return text;
}

}  // namespace gpuexp
