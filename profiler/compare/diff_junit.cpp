// The comparison as JUnit XML, which CI systems show as test results.
#include <fmt/format.h>

#include "profiler/compare/diff_output.h"

namespace gpuexp {
namespace {

// Text for an attribute or an element. Control characters that XML 1.0 cannot hold become '?'.
std::string xml(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\n':
      case '\r':
      case '\t':
        escaped += ' ';
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return escaped;
}

std::string detail(const PointDiff& point) {
  std::string text;
  for (const Change& change : point.changes) {
    if (!text.empty()) text += "; ";
    if (!change.column.empty()) text += change.column + ": ";
    text += (change.base.empty() ? "null" : change.base) + " -> " + (change.next.empty() ? "null" : change.next);
    if (const std::string words = diff_words::change(change); !words.empty()) text += " (" + words + ")";
    if (change.blame) text += " at " + change.blame->to_text();
    if (!change.note.empty() && change.note != "from zero") text += ", " + change.note;
  }
  if (point.time) text += "; " + diff_words::evidence(*point.time);
  for (const std::string& note : point.notes) text += (text.empty() ? "" : "; ") + note;
  return text;
}

std::string test_case(const std::string& suite, const PointDiff& point) {
  const std::string verdict(to_text(point.verdict));
  const std::string head = fmt::format(R"(    <testcase classname="{}" name="{}")", xml(suite), xml(point.key));
  const std::string what = xml(detail(point));
  if (point.fails)
    return fmt::format("{}>\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n", head, verdict, what);
  if (point.verdict == Verdict::undecided || point.verdict == Verdict::missing)
    return fmt::format("{}>\n      <skipped message=\"{}: {}\"/>\n    </testcase>\n", head, verdict, what);
  return fmt::format("{}>\n      <system-out>{}: {}</system-out>\n    </testcase>\n", head, verdict, what);
}

}  // namespace

std::string diff_junit(const Diff& diff) {
  std::string suites;
  std::size_t tests = 0, failures = 0;
  for (const FileDiff& file : diff.files) {
    std::size_t failing = 0, skipped = 0;
    std::string cases;
    for (const PointDiff& point : file.points) {
      failing += point.fails ? 1 : 0;
      skipped += !point.fails && (point.verdict == Verdict::undecided || point.verdict == Verdict::missing) ? 1 : 0;
      cases += test_case(file.name, point);
    }
    for (const std::string& key : file.same)
      cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\"/>\n", xml(file.name), xml(key));
    const std::size_t count = file.points.size() + file.same.size();
    suites += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n{}  </testsuite>\n",
        xml(file.name), count, failing, skipped, cases);
    tests += count;
    failures += failing;
  }
  if (diff.nothing_compared) {
    suites +=
        "  <testsuite name=\"gpuexp diff\" tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\">\n"
        "    <testcase classname=\"gpuexp diff\" name=\"points in both files\">\n"
        "      <failure message=\"no point has run in both files\"/>\n    </testcase>\n  </testsuite>\n";
    ++tests;
    ++failures;
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{}\" failures=\"{}\">\n{}</testsuites>\n", tests,
      failures, suites);
}

}  // namespace gpuexp
