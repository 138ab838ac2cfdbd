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
  EXPECT_THAT(report, HasSubstr("matmul/tiled TILE=2: worse: 4x the load sectors (16,384 against 4,096), 4x the store "
                                "sectors (512 against 128); its lanes ask for half the bytes: a request moves 2 "
                                "sectors (64 B) for 4 of 32 lanes (16 B), so 25 % of the moved bytes are used."));
  EXPECT_THAT(report, HasSubstr("matmul/tiled TILE=2: kernels/matmul/tiled.cu:21 load of A, :22 load of B: each 2 "
                                "sectors per request for 4 of 32 lanes where 1 would do, 25 % of the bytes used; 97 % "
                                "of the kernel's sectors."));
  EXPECT_THAT(report, HasSubstr("matmul/tiled TILE=16: better: 1/8 of the load sectors"));
}

// The first table goes by the lowest roof: by the bytes that its lanes load, TILE=2 would look twice as good as naive.
TEST(TerminalReport, TheFirstTableDoesNotPraiseTile2) {
  const std::string report = terminal_report(test::sample(), {});
  const std::string table = flowing(report.substr(0, report.find("\nWhat is wrong\n")));
  EXPECT_THAT(table, HasSubstr("naive 2 32 0.25 938.2 0.06985 DRAM sectors passed"));
  EXPECT_THAT(table, HasSubstr("tiled 2 2 4 0.5 234.5 0.2794 DRAM sectors passed"));
}

// A line on what bounds each variant, however many there are; one where its roof differs.
TEST(TerminalReport, TellsWhatBoundsEachVariant) {
  PointResult conflicts = test::tiled16();
  conflicts.counters["shared_load_wavefronts"] = test::emulated(100'000);
  conflicts.counters["shared_store_wavefronts"] = test::emulated(0);
  std::vector<PointResult> points{test::naive(), test::tiled2(), conflicts};
  for (const char* name : {"matmul/a", "matmul/b", "matmul/c"}) {
    points.push_back(test::naive());
    points.back().point.variant = name;
  }
  const std::string report = flowing(terminal_report(test::results_of(points), {}));
  EXPECT_THAT(report, HasSubstr("matmul/naive, matmul/a, matmul/b, matmul/c: DRAM sectors: at most 938 GFLOP/s, 4.81 % "
                                "of peak, at 0.485 FLOP/byte; with perfect caches 10320, by DRAM once."));
  EXPECT_THAT(report, HasSubstr("matmul/tiled TILE=2: DRAM sectors: at most 235 GFLOP/s"));
  EXPECT_THAT(report, HasSubstr("matmul/tiled TILE=16: L1/shared: at most 99.6 GFLOP/s, 0.511 % of peak, at 0.00511 "
                                "FLOP/byte."));
}

// Inputs that state a count (access patterns measured elsewhere) are held to it: a word per row, and how many of them.
TEST(TerminalReport, ComparesCountsWithWhatTheInputsState) {
  PointResult match = test::naive(), differs = test::tiled2(), silent = test::tiled16();
  match.facts.set("expected:global_load_sectors", std::int64_t{4096});
  differs.facts.set("expected:global_load_sectors", std::int64_t{4096});
  differs.facts.set("expected:shared_load_requests", std::int64_t{8192});
  differs.facts.set("expected:shared_atomic_wavefronts", std::int64_t{3});  // which nobody counted
  const std::string report = flowing(terminal_report(test::results_of({match, differs, silent}), {}));
  EXPECT_THAT(report, HasSubstr("3 points, all good; 1 of 2 as expected"));
  EXPECT_THAT(report, HasSubstr("DRAM sectors match passed"));
  EXPECT_THAT(report, HasSubstr("DRAM sectors differs passed"));
  EXPECT_THAT(report, HasSubstr("DRAM sectors passed*"));
  EXPECT_THAT(report,
              HasSubstr("Not as expected - matmul/tiled TILE=2: global_load_sectors 16,384 (emulated), expected "
                        "4096."));
  EXPECT_THAT(report, Not(HasSubstr("expected:")));
  const std::string plain = flowing(terminal_report(test::sample(), {}));
  EXPECT_THAT(plain, Not(HasSubstr("expectation")));
}

// Before any table: that something is bad, what and where.
TEST(TerminalReport, SaysWhatIsBadBeforeTheTables) {
  PointResult twice = test::wrong();
  twice.point.params.set("TILE", std::int64_t{16});
  PointResult race = test::no_barrier();
  race.point.variant = "matmul/racy";
  race.expected_finding.reset();
  PointResult failed = test::naive();
  failed.point.variant = "matmul/failing";
  failed.status = Status::failed;
  failed.reason = "launch refused";
  const std::string report =
      flowing(terminal_report(test::results_of({test::naive(), test::wrong(), twice, race, failed}), {}));
  const std::string line =
      "BAD wrong result: matmul/coarsened TILE=8 and 2 more points; race: matmul/racy TILE=8; "
      "failed: matmul/failing. Details under What is wrong, below the tables.";
  ASSERT_THAT(report, HasSubstr(line));
  EXPECT_LT(report.find(line), report.find("variant TILE"));
  EXPECT_LT(report.find("What is wrong - matmul/coarsened"), report.find("Against matmul/naive"));
  EXPECT_THAT(flowing(terminal_report(test::results_of({test::naive(), test::no_barrier()}), {})),
              Not(HasSubstr("BAD")));  // broken on purpose
}

TEST(TerminalReport, NamesTheLineThatConflicts) {
  EXPECT_THAT(flowing(terminal_report(test::results_of({test::smem()}), {})),
              HasSubstr("transpose/smem: kernels/transpose/smem.cu:17 store to smemArray: 32 wavefronts per request "
                        "where 1 would do (31 bank conflicts); 97 % of the kernel's shared wavefronts."));
}

TEST(TerminalReport, GivesTheLecturesTotals) {
  const std::string report = flowing(terminal_report(test::sample(), {}));
  // Of naive: lane loads, load, store and all sectors, requested over compulsory; then its intensities.
  EXPECT_THAT(report, HasSubstr("naive 65,536 4,096 128 4,224 21.67"));
  EXPECT_THAT(report, HasSubstr("in every row: FLOP per byte once 5.333"));
  EXPECT_THAT(report, HasSubstr("naive 0.25 0.2462 0.4848"));
  PointResult smem = test::smem();
  smem.counters["shared_load_wavefronts"] = test::emulated(128);
  smem.counters["shared_store_wavefronts"] = test::emulated(4096);
  EXPECT_THAT(flowing(terminal_report(test::results_of({smem}), {})),
              HasSubstr("all shared requests 256, all shared wavefronts 4,224, all shared conflicts 3,968"));
}

TEST(TerminalReport, RanksSitesByWhatTheyWasteAndTellsLikePointsOnce) {
  PointResult larger = test::sparse(1, 32'000);
  larger.point.params.set("rows", std::int64_t{8192});
  for (SiteRow& row : larger.sites) row.requests *= 4, row.lanes *= 4, row.sectors *= 4, row.ideal_sectors *= 4;
  PointResult smaller = test::sparse(1, 32'000);
  smaller.point.params.set("rows", std::int64_t{1024});
  const std::string report = flowing(terminal_report(test::results_of({smaller, larger}), {}));
  const auto gather = report.find(
      "spmv/warp_per_row (2 points): kernels/spmv/warp_per_row.cu:22 load of x: 32 sectors "
      "per request where 4 would do, 12.5 % of the bytes used; 96.9 % of the kernel's");
  const auto store = report.find(
      "spmv/warp_per_row (2 points): kernels/spmv/warp_per_row.cu:26 store to y: 1 sector "
      "per request for 1 of 32 lanes, 12.5 % of the bytes used; 3.1 % of the kernel's");
  ASSERT_NE(gather, std::string::npos) << report;
  ASSERT_NE(store, std::string::npos) << report;
  EXPECT_LT(gather, store);
}

TEST(TerminalReport, SaysWhereVariantsCrossAlsoAcrossProblems) {
  const std::vector<PointResult> points{test::dense(30'000), test::sparse(10, 10'000), test::sparse(20, 20'000),
                                        test::sparse(40, 40'000)};
  const std::string report = flowing(terminal_report(test::results_of(points), {}));
  EXPECT_THAT(report, HasSubstr("by density: spmv/warp_per_row costs least up to 0.2, gemv/block_per_row from 0.4 on; "
                                "they cross near 0.3 (modelled bound, all sectors from DRAM)."));
  std::vector<PointResult> cheap = points;
  cheap.front() = test::dense(90'000);
  EXPECT_THAT(flowing(terminal_report(test::results_of(cheap), {})),
              HasSubstr("by density: spmv/warp_per_row costs least throughout, from 0.1 to 0.4"));
  cheap.front().compulsory_store_bytes = 8192;  // another result: nothing to compare
  EXPECT_THAT(terminal_report(test::results_of(cheap), {}), Not(HasSubstr("costs least")));
}

// Many parameters, most of them of no use to a point: a column for each would be wider than the report.
TEST(TerminalReport, NumbersTheCasesOfManyParameters) {
  std::vector<PointResult> points;
  for (const std::int64_t size : {10, 20}) {
    for (const char* variant : {"spmv/thread_per_row", "spmv/warp_per_row"}) {
      PointResult result = test::sparse(size, 10'000 * static_cast<std::uint64_t>(size));
      result.point.variant = variant;
      result.point.params.set("matrix", std::string(size == 10 ? "lecture4x4" : "one_dense_row"));
      for (const char* unused : {"bandwidth", "exponent", "nnz_per_row", "long_row_of_the_matrix"})
        result.point.params.set(unused, size == 10 ? std::int64_t{0} : size + static_cast<std::int64_t>(*unused));
      points.push_back(std::move(result));
    }
  }
  const std::string report = terminal_report(test::results_of(points), {});
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_THAT(flowing(report), HasSubstr("case 1: matrix=lecture4x4 density=0.1 case 2: matrix=one_dense_row "
                                         "bandwidth=118 density=0.2 exponent=121 long_row_of_the_matrix=128 "
                                         "nnz_per_row=130 Worst"));
  EXPECT_THAT(report, HasSubstr("\nthread_per_row     2 "));
  EXPECT_THAT(report, HasSubstr("\nwarp_per_row       1 "));
}

// A batch of 16 to 512 vectors through a 4096 x 4096 matrix: between its points the sweep passes two ridges.
TEST(TerminalReport, SaysFromWhichSizeArithmeticBounds) {
  const auto batch = [](std::int64_t m) {
    PointResult result = test::naive();
    result.point.params = {};
    result.point.params.set("dtype", std::string("float32"));
    result.point.params.set("m", m);
    result.flops = 2.0 * 4096 * 4096 * static_cast<double>(m);
    result.compulsory_load_bytes = 4U * 4096U * (4096U + static_cast<std::uint64_t>(m));
    result.compulsory_store_bytes = 4U * 4096U * static_cast<std::uint64_t>(m);
    return result;
  };
  const std::string report =
      flowing(terminal_report(test::results_of({batch(16), batch(32), batch(128), batch(512)}), {}));
  EXPECT_THAT(report, HasSubstr("Where arithmetic begins to bound (modelled on A100 80GB PCIe) - matmul: every byte "
                                "moved once, the FLOP per byte reach the ridge of FP32 (10.08) from m=21 on: it is "
                                "7.938 at 16 and 15.75 at 32; of TF32 tensor (80.62) from m=176 on: it is 60.24 at 128 "
                                "and 204.8 at 512."));
  EXPECT_THAT(terminal_report(test::results_of({batch(2), batch(4)}), {}), Not(HasSubstr("begins to bound")));
}

TEST(TerminalReport, TellsOccupancyAndTheWorkloadOnce) {
  const std::string report =
      flowing(terminal_report(test::results_of({test::sparse(10, 10'000), test::sparse(20, 20'000)}), {}));
  EXPECT_THAT(report, HasSubstr("registers per thread unknown, for only a run on a GPU reads them"));
  EXPECT_THAT(report, HasSubstr("threads per block 1,024, shared bytes per block 8,192, blocks per SM 2, limited by "
                                "warps, occupancy % 100, registers that keep these blocks 32, registers that still "
                                "launch 64"));
  EXPECT_THAT(report, HasSubstr("packed percent of dense 56.25 points nnz density=0.1 100,000 density=0.2 200,000"));
}

// A cuda point with times and counters, next to what was predicted.
PointResult timed(const std::string& variant, double us) {
  PointResult result = test::matmul_point(variant, 0);
  result.backend = "cuda";
  result.blocks_run = result.blocks_total = 0;
  result.timing.emplace();
  result.timing->samples_us = {us, us * 1.01, us * 0.99};
  result.timing->cache_mode = "cold";
  result.timing->sm_clock_mhz = 1965;
  result.timing->discarded_throttled = 2;
  const auto count = [&](const char* id, std::uint64_t measured, std::uint64_t predicted) {
    result.counters[id] = Quantity::count(measured, Source::measured);
    result.predicted[id] = test::emulated(predicted);
  };
  count("global_load_requests", 2048, 2048);
  count("global_load_sectors", 4096, 4096);
  count("shared_load_requests", 1280, 2048);
  count("shared_load_wavefronts", 2300, 2048);
  result.predicted["global_load_lanes"] = test::emulated(65536);
  result.predicted["requested_load_bytes"] = test::emulated(262144);
  result.predicted["requested_store_bytes"] = test::emulated(4096);
  result.counters["dram_read_bytes"] = Quantity::count(16384, Source::measured);
  result.counters["dram_write_bytes"] = Quantity::count(8192, Source::measured);
  return result;
}

TEST(TerminalReport, TellsHowMeasuredPointsWereMeasuredAndAgainstWhat) {
  ResultFile results = test::results_of({timed("matmul/naive", 8), timed("matmul/cublas_sgemm", 2)}, "cuda");
  results.environment = {{"gpu", "NVIDIA H200"}, {"driver", "580.1"}, {"toolkit", "CUDA 13.0"}};
  const std::string report = flowing(terminal_report(results, {}));
  EXPECT_THAT(report,
              HasSubstr("measured on NVIDIA H200, driver 580.1, CUDA 13.0, L2 cache cold. Times are medians "
                        "(spread 1 %) at an SM clock of 1965 MHz; 4 samples discarded, for the GPU throttled."));
  EXPECT_THAT(report, HasSubstr("library"));
  EXPECT_THAT(report, testing::ContainsRegex("naive +8 +8.192 .* 25 "));  // % of library
  EXPECT_THAT(report, HasSubstr("DRAM over once 2"));                     // 24,576 of 12,288 bytes
}

TEST(TerminalReport, ComparesWhatMemoryBoundsWithTheFastestCopy) {
  const auto moved = [](const std::string& variant, double us) {
    PointResult result;
    result.point.variant = variant;
    result.backend = "cuda";
    result.compulsory_load_bytes = result.compulsory_store_bytes = 1 << 20;
    result.timing.emplace().samples_us = {us, us};
    test::verify_all(result, 1 << 18);
    return result;
  };
  const ResultFile results =
      test::results_of({moved("copy/memcpy", 4), moved("copy/float4", 5), moved("transpose/smem", 8)}, "cuda");
  const std::string report = flowing(terminal_report(results, {}));
  EXPECT_THAT(report, testing::ContainsRegex("memcpy 4 [^a-z]* 100 "));
  EXPECT_THAT(report, testing::ContainsRegex("float4 5 [^a-z]* 80 "));
  EXPECT_THAT(report, testing::ContainsRegex("once by result 8 [^a-z]* 50 "));  // transpose/smem
}

TEST(TerminalReport, ComparesCountsWithThePredictionAndExplains) {
  const std::string report = flowing(terminal_report(test::results_of({timed("matmul/tiled", 8)}, "cuda"), {}));
  EXPECT_THAT(report, HasSubstr("equal to the digit in 1 point: load requests, load sectors"));
  EXPECT_THAT(report, HasSubstr("fewer than predicted in 1 of 1 point: shared load requests; most in matmul/tiled: "
                                "1,280 shared load requests counted, 2,048 predicted. Known reason: the compiler"));
  EXPECT_THAT(report, HasSubstr("more than predicted in 1 of 1 point: shared load wavefronts; most in"));
  EXPECT_THAT(report, HasSubstr("tiled 0.625 1.12"));
}

TEST(TerminalReport, NeverPrintsNanWithASign) {
  EXPECT_EQ(real_words(-std::numeric_limits<double>::quiet_NaN()), "NaN");
  PointResult point = test::no_barrier();
  point.verification.got = -std::numeric_limits<double>::quiet_NaN();
  const std::string report = terminal_report(test::results_of({point}), {});
  EXPECT_THAT(report, HasSubstr("got NaN"));
  EXPECT_THAT(report, Not(HasSubstr("-nan")));
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

TEST(Words, OfRatios) {
  EXPECT_EQ(times_words(4, "sectors"), "4x the sectors");
  EXPECT_EQ(times_words(0.508, "bytes"), "half the bytes");
  EXPECT_EQ(times_words(0.0625, "sectors"), "1/16 of the sectors");
  EXPECT_EQ(times_words(0.77, "bytes"), "0.77x the bytes");
  EXPECT_EQ(times_words(1.001, "bytes"), "as many bytes");
  EXPECT_EQ(real_plural(1, "sector"), "1 sector");
  EXPECT_EQ(real_plural(2.5, "sector"), "2.5 sectors");
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
