// The formats: what a person, a pull request, a program and a CI system are shown.
#include "profiler/compare/diff_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "profiler/core/text.h"
#include "tests/compare/lab.h"

namespace gpuexp::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// One point of each kind: worse, missing, new, more traffic, less traffic.
Diff busy(const Lab& lab, bool keep_same = false) {
  ResultFile base = emulated_results(), next = emulated_results();
  next.points[0].result.status = Status::failed;
  next.points[0].result.reason = "launch refused: 2048 threads | <too> many `threads` of @everyone";
  next.points[1].result.point.variant = "transpose/other";
  PointResult& padded = point(next, "smem_padded dtype=float32 rows=256").result;
  padded.counters["shared_store_bank_conflicts"] = Quantity::count(63488, Source::emulated);
  for (SiteRow& row : padded.sites)
    if (row.space == "shared" && row.op == "store") row.bank_conflicts = 63488;
  point(next, "smem dtype=float32 rows=256").result.counters["global_load_sectors"] =
      Quantity::count(4096, Source::emulated);
  DiffOptions options;
  options.keep_same = keep_same;
  return lab.by_json(base, next, options);
}

TEST(Text, WorstFirstWithinTheWidthAndTheSummaryLast) {
  const std::string text = diff_text(busy(Lab()), {}, 50);
  const auto worse = text.find("worse "), missing = text.find("missing "), more = text.find("more traffic "),
             less = text.find("less traffic "), added = text.find("new ");
  EXPECT_LT(worse, missing);
  EXPECT_LT(missing, more);
  EXPECT_LT(more, less);
  EXPECT_LT(less, added);
  EXPECT_THAT(text, AllOf(HasSubstr("shared_store_bank_conflicts (emulated)  0 -> 63,488  from zero"),
                          HasSubstr("at kernels/transpose/smem_padded.cu:19:9, store to tile: bank conflicts 0 -> "
                                    "63,488 (31 per"),
                          HasSubstr("x0.5"), HasSubstr("renamed? NEW has transpose/other"), Not(HasSubstr("\x1b")),
                          testing::EndsWith("failed: 3 of 7 points (1 worse, 1 missing, 1 more traffic); 1 less "
                                            "traffic, 1 new, 2 same\n")));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 100U) << line;
}

TEST(Text, ColourTakesNoWidthAndLimitIsSaid) {
  TerminalStyle style;
  style.colour = true;
  EXPECT_THAT(diff_text(busy(Lab()), style, 50), HasSubstr("\x1b"));
  EXPECT_THAT(diff_text(busy(Lab()), {}, 2), HasSubstr("and 3 more points (--limit 0 lists all)"));
}

TEST(Text, NothingChanged) {
  const ResultFile results = emulated_results();
  EXPECT_EQ(diff_text(Lab().by_json(results, results), {}, 50), "passed: 6 points: 6 same\n");
}

TEST(Text, ATimeShowsItsEvidence) {
  ResultFile next = measured_results(3, 0.002, 2);
  for (double& sample : next.points[1].result.timing->samples_us) sample *= 1.1;
  next.points[1].result.timing->sm_clock_mhz = 1410;
  update_time(next.points[1]);
  const std::string text = diff_text(Lab().by_json(measured_results(3, 0.002, 1), next), {}, 50);
  EXPECT_THAT(text, AllOf(HasSubstr("slower          matmul/tiled n=128"), HasSubstr("time_us_median (measured)"),
                          HasSubstr("95 %: +"), HasSubstr("the SM clock was 1980 MHz in BASE and 1410 MHz in NEW")));
}

TEST(Markdown, IsOneTableAndNothingInItIsMarkup) {
  const std::string text = diff_markdown(busy(Lab()), 50);
  EXPECT_THAT(text, StartsWith("<!-- gpuexp diff -->\n**gpuexp diff failed: 3 of 7 points"));
  EXPECT_THAT(text, AllOf(HasSubstr("| verdict | point |"), HasSubstr("| **more traffic** | `transpose/smem_padded"),
                          HasSubstr("`kernels/transpose/smem_padded.cu:19:9`"), HasSubstr("\\| &lt;too>"),
                          Not(HasSubstr("@everyone")), Not(HasSubstr("<too"))));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("|")) continue;
    std::size_t bars = 0;
    for (std::size_t i = 0; i < line.size(); ++i) bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
    EXPECT_EQ(bars, 8U) << line;
  }
}

TEST(Json, HoldsEverything) {
  const json diff = json::parse(diff_json(busy(Lab())));
  EXPECT_EQ(diff["schema_version"], 1);
  EXPECT_EQ(diff["failed"], true);
  EXPECT_EQ(diff["failing"], 3);
  EXPECT_EQ(diff["verdicts"]["more traffic"], 1);
  const json& points = diff["files"][0]["points"];
  ASSERT_EQ(points.size(), 5U);
  const json& change = points[2]["changes"][0];
  EXPECT_EQ(change["column"], "shared_store_bank_conflicts");
  EXPECT_EQ(change["base"], 0);
  EXPECT_EQ(change["new"], 63488);
  EXPECT_TRUE(change["factor"].is_null());
  EXPECT_EQ(change["site"]["line"], 19);
}

TEST(Junit, CountsEveryPoint) {
  const std::string xml = diff_junit(busy(Lab(), true));
  EXPECT_THAT(xml, AllOf(HasSubstr("<testsuites tests=\"7\" failures=\"3\">"), HasSubstr("name=\"new\" tests=\"7\""),
                         HasSubstr("<failure message=\"more traffic\">"), HasSubstr("&lt;too&gt; many"),
                         HasSubstr("name=\"transpose/smem_padded dtype=float32 rows=64\"/>")));
  ResultFile empty = emulated_results();
  empty.points.clear();
  EXPECT_THAT(diff_junit(Lab().by_json(empty, empty)), HasSubstr("failures=\"1\""));
}

TEST(Summary, SaysWhenNothingWasCompared) {
  ResultFile empty = emulated_results();
  empty.points.clear();
  EXPECT_EQ(diff_summary(Lab().by_json(empty, empty)),
            "failed: no point has run in both BASE and NEW, nothing was compared");
  EXPECT_THAT(diff_summary(Lab().by_json(emulated_results(), empty)), HasSubstr("nothing was compared: 6 missing"));
}

}  // namespace
}  // namespace gpuexp::test
