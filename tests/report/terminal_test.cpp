// The terminal report: a golden one, its width, its words, its colours.
#include "profiler/report/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "profiler/core/text.h"
#include "profiler/report/text_table.h"
#include "profiler/report/wording.h"
#include "sample.h"
#include "temporary_directory.h"

namespace gpuexp {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, display_width(line));
  return widest;
}

// The report with line breaks and indentation as single blanks.
std::string flowing(const std::string& text) {
  std::istringstream words_in(text);
  std::string flat;
  for (std::string word; words_in >> word;) flat += (flat.empty() ? "" : " ") + word;
  return flat;
}

// Set GPUEXP_UPDATE_GOLDEN to rewrite the file after a deliberate change, and read the difference.
TEST(TerminalReport, IsTheGoldenOne) {
  const std::string path = std::string(GPUEXP_SOURCE_DIR) + "/tests/report/golden_report.txt";
  const std::string report = terminal_report(test::sample(), {});
  if (std::getenv("GPUEXP_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << report;
  EXPECT_EQ(report, test::text_of_file(path));
}

TEST(TerminalReport, SaysWhyTile2IsBad) {
  const std::string report = flowing(terminal_report(test::sample(), {}));
  EXPECT_THAT(report, HasSubstr("matmul/tiled TILE=2: 4x the load sectors (16,384 against 4,096) and"));
  EXPECT_THAT(report, HasSubstr("of matmul/naive, with 0.508x the bytes requested by lanes"));
  EXPECT_THAT(report, HasSubstr("its 4 active lanes (of 32)"));
  EXPECT_THAT(report,
              HasSubstr("matmul/tiled TILE=2: kernels/matmul/tiled.cu:21 load of A: 2 sectors per request, ideal 1"));
  EXPECT_THAT(report, HasSubstr("4 of 32 lanes active per request"));
}

TEST(TerminalReport, NamesTheLineThatConflicts) {
  EXPECT_THAT(flowing(terminal_report(test::results_of({test::smem()}), {})),
              HasSubstr("transpose/smem: kernels/transpose/smem.cu:17 store to smemArray: 32 wavefronts per request, "
                        "ideal 1 (31 bank conflicts per request)"));
}

TEST(TerminalReport, TellsFindingsAndWrongResultsInWords) {
  const std::string report = flowing(terminal_report(test::sample(), {}));
  EXPECT_THAT(report, HasSubstr("race (expected of this variant, broken on purpose): Bs[0][1]"));
  EXPECT_THAT(report, HasSubstr("tiled_no_load_barrier.cu:24:17 and kernels/matmul/tiled_no_load_barrier.cu:19:9"));
  EXPECT_THAT(report, HasSubstr("1,008 of 1,024 checked elements (1,008 NaN); the first is C[1]: got NaN"));
  EXPECT_THAT(report, HasSubstr("3 of 1,024 checked elements; the first is C[17]: got 1.5, expected -0.25"));
  EXPECT_THAT(report, HasSubstr("blocks 2/4"));
  EXPECT_THAT(report, HasSubstr("cuda only: it calls a library"));
}

TEST(TerminalReport, SaysWhenAPromisedFindingIsMissing) {
  PointResult silent = test::no_barrier();
  silent.findings.clear();
  const std::string report = flowing(terminal_report(test::results_of({silent}), {}));
  EXPECT_THAT(report, HasSubstr("NOT FOUND"));
  EXPECT_THAT(report, HasSubstr("the finding it must produce (race) did not appear"));
  EXPECT_THAT(report, HasSubstr("1 bad"));
}

TEST(TerminalReport, TellsLikeWarningsOnce) {
  PointResult one = test::naive(), two = test::tiled2();
  one.warnings = {"about 6.1e-05 of 3,000 odd things"};
  two.warnings = {"about 12 of 4 odd things"};
  const std::string report = flowing(terminal_report(test::results_of({one, two}), {}));
  EXPECT_THAT(report, HasSubstr("matmul/naive (and 1 point like it): about 6.1e-05 of 3,000 odd things"));
  EXPECT_THAT(report, Not(HasSubstr("about 12 of 4")));
}

TEST(TerminalReport, NothingEmulatedReadsAsMeasured) {
  const std::string report = terminal_report(test::sample(), {});
  EXPECT_THAT(report, HasSubstr("emulated"));
  EXPECT_THAT(report, HasSubstr("modelled on A100 80GB PCIe"));
  EXPECT_THAT(report, Not(HasSubstr("measured")));
  EXPECT_THAT(report, Not(HasSubstr("median")));
  EXPECT_THAT(terminal_report(test::results_of({test::measured()}, "cuda"), {}), HasSubstr("measured"));
}

TEST(TerminalReport, FitsItsWidth) {
  for (const int width : {100, 80}) {
    TerminalStyle style;
    style.width = width;
    EXPECT_LE(widest_line(terminal_report(test::sample(), style)), static_cast<std::size_t>(width));
  }
  PointResult wide = test::naive();
  wide.point.params.set("label", std::string("行列の積の長い名前"));
  PointResult other = test::naive();
  other.point.params.set("label", std::string("é"));
  EXPECT_LE(widest_line(terminal_report(test::results_of({wide, other}), {})), 100U);
}

TEST(TerminalReport, LongSweepsRepeatTheirHeadingAndAreCut) {
  std::vector<PointResult> points;
  for (std::int64_t n = 1; n <= 300; ++n) {
    PointResult point = n == 290 ? test::wrong() : test::tiled2();
    point.point.params.set("n", n);
    points.push_back(point);
  }
  const std::string report = terminal_report(test::results_of(points), {});
  EXPECT_THAT(report, HasSubstr("more rows in the CSV file"));
  EXPECT_THAT(report, HasSubstr("290"));
  EXPECT_THAT(report, HasSubstr("WRONG"));
  EXPECT_LT(std::ranges::count(report, '\n'), 260);
}

TEST(TerminalReport, IsReadableWithoutPoints) {
  ResultFile nothing = test::results_of({});
  nothing.plan.points = {"matmul/naive n=1"};
  EXPECT_THAT(terminal_report(nothing, {}), HasSubstr("0 points of 1, unfinished"));
}

TEST(TerminalReport, ColoursOnlyWhenAsked) {
  EXPECT_THAT(terminal_report(test::sample(), {}), Not(HasSubstr("\x1b")));
  TerminalStyle style;
  style.colour = true;
  EXPECT_THAT(terminal_report(test::sample(), style), HasSubstr("\x1b[1;31mWRONG"));
}

TEST(TerminalStyle, NoColourInAPipe) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_FALSE(terminal_style(ends[1]).colour);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(TerminalStyle, NoColourUnderNoColor) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || ::isatty(terminal) != 1) GTEST_SKIP() << "no pseudo-terminal here";
  ::setenv("TERM", "xterm", 1);
  ::unsetenv("NO_COLOR");
  EXPECT_TRUE(terminal_style(terminal).colour);
  ::setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(terminal_style(terminal).colour) << "an empty NO_COLOR is none";
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(terminal_style(terminal).colour);
  ::unsetenv("NO_COLOR");
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(terminal_style(terminal).colour);
  ::close(terminal);
}

TEST(TextTable, LeavesOutTheLeastImportantColumns) {
  const auto column = [](const char* name, int importance) {
    return TableColumn{{name}, "group", "", true, importance, {{"1234567890"}}};
  };
  const auto kept = fitting_columns({column("a", 100), column("b", 1), column("c", 2)}, 25);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[1].heading.front(), "c");
  EXPECT_EQ(fitting_columns({column("b", 1), column("c", 2)}, 5).size(), 0U);
  EXPECT_EQ(fitting_columns({column("a", 100), column("b", 100)}, 5).size(), 2U);
}

TEST(Words, OfNumbers) {
  EXPECT_EQ(count_words(0), "0");
  EXPECT_EQ(count_words(999), "999");
  EXPECT_EQ(count_words(16384), "16,384");
  EXPECT_EQ(count_words(99999999), "99,999,999");
  EXPECT_EQ(count_words(2147483648), "2.147 G");
  EXPECT_EQ(count_words(18446744073709551615ULL), "1.845e+04 P");
  EXPECT_EQ(real_words(483.75), "483.8");
  EXPECT_EQ(real_words(0.25), "0.25");
  EXPECT_EQ(real_words(19500), "19500");
  EXPECT_EQ(real_words(2.0), "2");
  EXPECT_EQ(real_words(0.00012345), "0.0001234");
  EXPECT_EQ(words(Quantity::null("why", Source::measured)), "");
}

TEST(Labels, MergeParametersThatAreAlwaysEqual) {
  const ResultFile results = test::sample();
  std::vector<const PointRecord*> points{&results.points[0], &results.points[1], &results.points[2]};
  const PointLabels labels(points);
  EXPECT_EQ(labels.common(), "dtype=float32 k=m=n=32");
  EXPECT_EQ(labels.of(results.points[1]), "matmul/tiled TILE=2");
  EXPECT_EQ(labels.of(results.points[0]), "matmul/naive");
}

}  // namespace
}  // namespace gpuexp
