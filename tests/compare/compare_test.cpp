// Verdicts: every kind of change is found and named, nothing else is, and what cannot be compared never passes.
#include "profiler/compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <clocale>
#include <cmath>
#include <ctime>
#include <fstream>
#include <limits>

#include "profiler/core/error.h"
#include "profiler/report/csv.h"
#include "tests/compare/lab.h"

namespace gpuexp::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

void replace(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

void set_count(PointRecord& record, const std::string& id, std::uint64_t value) {
  record.result.counters[id] = Quantity::count(value, Source::emulated);
}

// The message of the usage error that `action` throws.
template <class Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

// The transposes with the padding of smem_padded removed: its counts and sites are those of smem.
ResultFile without_padding() {
  ResultFile results = emulated_results();
  for (const char* rows : {"rows=64", "rows=256"}) {
    const PointRecord& plain = point(results, std::string("smem dtype=float32 ") + rows);
    PointRecord& padded = point(results, std::string("smem_padded dtype=float32 ") + rows);
    padded.result.counters = plain.result.counters;
    padded.result.sites = plain.result.sites;
    for (SiteRow& row : padded.result.sites) row.site.file = "kernels/transpose/smem_padded.cu";
  }
  return results;
}

TEST(Emulated, AFileAgainstItselfIsTheSameInEveryFormat) {
  const Lab lab;
  const ResultFile results = emulated_results();
  const auto json = lab.json("a.json", results), csv = lab.csv("b.csv", results);
  for (const auto& base : {json, csv})
    for (const auto& next : {json, csv}) {
      const Diff diff = compare(base, next, {});
      EXPECT_FALSE(diff.failed());
      EXPECT_EQ(count(diff, Verdict::same), 6U);
      EXPECT_THAT(diff.files.front().points, IsEmpty());
      EXPECT_THAT(diff.files.front().notes, IsEmpty());
    }
}

TEST(Emulated, RemovedPaddingIsNamedWithCounterFactorAndLine) {
  const Diff diff = Lab().by_json(emulated_results(), without_padding());
  EXPECT_TRUE(diff.failed());
  EXPECT_EQ(count(diff, Verdict::more_traffic), 2U);
  EXPECT_EQ(count(diff, Verdict::same), 4U);
  const PointDiff& point = diff_of(diff, "smem_padded dtype=float32 rows=64");
  ASSERT_THAT(point.changes, SizeIs(2));
  const Change& conflicts = point.changes[0];
  EXPECT_EQ(conflicts.column, "shared_store_bank_conflicts");
  EXPECT_EQ(conflicts.note, "from zero");
  EXPECT_EQ(conflicts.source, "emulated");
  EXPECT_EQ(conflicts.next, "3968");
  ASSERT_TRUE(conflicts.blame);
  EXPECT_EQ(conflicts.blame->to_text(),
            "kernels/transpose/smem_padded.cu:19:9, store to tile: bank conflicts 0 -> 3,968 (31 per request)");
  const Change& wavefronts = point.changes[1];
  EXPECT_EQ(wavefronts.column, "shared_store_wavefronts");
  EXPECT_EQ(wavefronts.factor, 32);
}

TEST(Emulated, OfACsvBaselineTheLineComesFromTheNewFile) {
  const Lab lab;
  const Diff diff = compare(lab.csv("a.csv", emulated_results()), lab.json("b.json", without_padding()), {});
  EXPECT_EQ(count(diff, Verdict::more_traffic), 2U);
  const Change& worst = diff_of(diff, "smem_padded dtype=float32 rows=256").changes.front();
  ASSERT_TRUE(worst.blame);
  EXPECT_THAT(worst.blame->to_text(), HasSubstr("smem_padded.cu:19:9, store to tile: bank conflicts 63,488"));
  // Without any JSON the counter and the factor are still there.
  const Diff csv = compare(lab.csv("a.csv", emulated_results()), lab.csv("b.csv", without_padding()), {});
  EXPECT_EQ(count(csv, Verdict::more_traffic), 2U);
  EXPECT_FALSE(diff_of(csv, "smem_padded dtype=float32 rows=256").changes.front().blame);
}

TEST(Emulated, ChangedIndicesAreMoreSectors) {
  ResultFile swapped = emulated_results();
  PointRecord& padded = point(swapped, "smem_padded dtype=float32 rows=64");
  set_count(padded, "global_load_sectors", 32 * 128);
  set_count(padded, "transaction_load_bytes", 32 * 32 * 128);
  for (SiteRow& row : padded.result.sites)
    if (row.buffer == "A") {
      row.sectors = 32 * 128;
      row.site.line = 20;  // an edit moved it
    }
  const Diff diff = Lab().by_json(emulated_results(), swapped);
  const PointDiff& point = diff_of(diff, "smem_padded");
  EXPECT_EQ(point.verdict, Verdict::more_traffic);
  EXPECT_EQ(point.changes.front().factor, 8);
  ASSERT_TRUE(point.changes.front().blame);
  EXPECT_EQ(point.changes.front().blame->to_text(),
            "kernels/transpose/smem_padded.cu:20:9, load of A: sectors 512 -> 4,096 (32 per request)");
}

TEST(Emulated, LessTrafficAndEfficiencyHaveTheirDirections) {
  const Lab lab;
  const Diff better = lab.by_json(without_padding(), emulated_results());
  EXPECT_FALSE(better.failed());
  EXPECT_EQ(count(better, Verdict::less_traffic), 2U);
  const Change& change = diff_of(better, "smem_padded dtype=float32 rows=64").changes.front();
  ASSERT_TRUE(change.blame);
  EXPECT_TRUE(change.blame->in_base);

  ResultFile divergent = emulated_results();
  point(divergent, "naive dtype=float32 rows=64").result.counters["simt_efficiency"] =
      Quantity::real(0.5, Source::emulated);
  const Diff diff = lab.by_csv(emulated_results(), divergent);
  EXPECT_EQ(diff_of(diff, "naive").verdict, Verdict::more_traffic);
  DiffOptions strict;
  strict.fail_on = parse_fail_on("any");
  EXPECT_TRUE(lab.by_json(without_padding(), emulated_results(), strict).failed());
}

TEST(Emulated, CountsCompareExactlyUnlessToleranceIsGiven) {
  const Lab lab;
  ResultFile base = emulated_results(), next = emulated_results();
  set_count(base.points[0], "instructions", std::uint64_t{1} << 60);
  set_count(next.points[0], "instructions", (std::uint64_t{1} << 60) + 1);  // equal as doubles
  EXPECT_EQ(count(lab.by_csv(base, next), Verdict::more_traffic), 1U);
  DiffOptions options;
  options.tolerances = {parse_tolerance("instruct*=0.1%")};
  EXPECT_EQ(count(lab.by_csv(base, next, options), Verdict::same), 6U);
  options.tolerances.push_back(parse_tolerance("instructions=0"));  // the last one counts
  EXPECT_EQ(count(lab.by_csv(base, next, options), Verdict::more_traffic), 1U);
}

TEST(Emulated, OtherWorkAndAnotherRoofAreNotComparable) {
  const Lab lab;
  ResultFile next = emulated_results();
  next.points[0].result.compulsory_load_bytes *= 2;
  next.points[1].result.point.seed = 7;
  const Diff diff = lab.by_csv(emulated_results(), next);
  EXPECT_TRUE(diff.failed());
  EXPECT_EQ(count(diff, Verdict::not_comparable), 2U);
  EXPECT_EQ(diff_of(diff, "naive dtype=float32 rows=64").changes.front().note, "the point computes something else");
}

// By the table, whose columns are all written; the JSON of these results has no analysis.
std::string with_cell(const std::string& csv, std::string_view column, const std::string& value) {
  CsvText rows = parse_csv(csv, "csv");
  const auto at = static_cast<std::size_t>(std::ranges::find(rows.rows[0], column) - rows.rows[0].begin());
  rows.rows.at(1).at(at) = value;
  std::string text;
  for (const auto& row : rows.rows) {
    for (const std::string& cell : row) text += csv_cell(cell) + ',';
    text.back() = '\n';
  }
  return text;
}

// What follows from other columns speaks when all of those are equal, measured ones too, and then alone.
TEST(Points, WhatFollowsFromOthersIsToldWhenNothingElseDiffers) {
  const Lab lab;
  const std::string simt = to_csv_text(emulated_results()), cuda = to_csv_text(measured_results(2, 0.001, 1));
  struct Case {
    const std::string& csv;
    const char *column, *source;
  };
  for (const Case& one : {Case{simt, "l1_bytes", "emulated"},
                          {simt, "flop_per_l1_byte", "emulated"},
                          {simt, "lowest_roof", "modelled"},
                          {cuda, "dram_bytes", "measured"},
                          {cuda, "attainable_flop_per_s_l1", "modelled"}}) {
    const std::string base = with_cell(one.csv, one.column, "5");
    const std::string next = with_cell(one.csv, one.column, "1e300");
    const auto before = lab.write("base.csv", base), after = lab.write("next.csv", next);
    const Diff diff = compare(before, after, {});
    EXPECT_TRUE(diff.failed()) << one.column;
    ASSERT_EQ(count(diff, Verdict::not_comparable), 1U) << one.column;
    EXPECT_EQ(diff.files.front().points.front().changes.front().column, one.column);
    EXPECT_EQ(diff.files.front().points.front().changes.front().source, one.source);
    // Within its noise or tolerance a counter is equal enough, and explains what follows from it.
    DiffOptions options;
    options.tolerances = {parse_tolerance("instructions=5%")};
    const auto from = lab.write("from.csv", with_cell(base, "instructions", "1000"));
    const auto to = lab.write("to.csv", with_cell(next, "instructions", "1001"));
    EXPECT_EQ(count(compare(from, to, options), Verdict::not_comparable), 0U) << one.column;
    // An older gpuexp did not compute it yet.
    const auto older = lab.write("older.csv", with_cell(one.csv, one.column, ""));
    EXPECT_FALSE(compare(older, after, {}).failed()) << one.column;
  }
}

// A kernel that is broken on purpose is good as long as its finding appears.
TEST(Points, OtherFindingsAreTold) {
  const Lab lab;
  ResultFile broken = emulated_results();
  const auto with = [&](const std::string& kinds) { return with_cell(to_csv_text(broken), "findings", kinds); };
  const auto race = lab.write("race.csv", with("race")), both = lab.write("both.csv", with("race uninitialised"));
  EXPECT_EQ(count(compare(race, race, {}), Verdict::same), 6U);
  const Diff more = compare(race, both, {}), fewer = compare(both, race, {});
  EXPECT_EQ(count(more, Verdict::worse), 1U);
  EXPECT_EQ(more.files.front().points.front().changes.front().note, "the checkers find something else");
  EXPECT_EQ(count(fewer, Verdict::not_comparable), 1U);
  EXPECT_TRUE(fewer.failed());
}

TEST(Emulated, ANullOnOneSideIsNotComparableAndSaysWhy) {
  const Lab lab;
  ResultFile next = emulated_results();
  next.points[0].result.counters["global_load_sectors"] = Quantity::null("the profiler was denied", Source::emulated);
  const Diff diff = lab.by_json(emulated_results(), next);
  EXPECT_TRUE(diff.failed());
  const Change& change = diff_of(diff, "naive").changes.front();
  EXPECT_EQ(change.verdict, Verdict::not_comparable);
  EXPECT_EQ(change.note, "null in NEW: the profiler was denied");
  EXPECT_EQ(count(lab.by_csv(next, emulated_results()), Verdict::not_comparable), 1U);
  EXPECT_EQ(count(lab.by_csv(next, next), Verdict::same), 6U);  // null in both
}

TEST(Emulated, ManyNullsOfOneReasonAreOneChange) {
  ResultFile next = emulated_results();
  for (auto& [id, quantity] : next.points[0].result.counters)
    quantity = Quantity::null("another profiler holds the counters", Source::emulated);
  const Diff diff = Lab().by_json(emulated_results(), next);
  const PointDiff& point = diff_of(diff, "naive");
  ASSERT_THAT(point.changes, SizeIs(1));
  EXPECT_EQ(point.changes.front().note, "null in NEW: another profiler holds the counters");
  EXPECT_THAT(point.changes.front().also, SizeIs(6));
}

TEST(Emulated, NanIsNamedAndFailsEvenInBothFiles) {
  const Lab lab;
  std::string text = to_csv_text(emulated_results());
  const std::string sound = text;
  replace(text, ",128,", ",nan,");
  const auto good = lab.write("good.csv", sound), bad = lab.write("bad.csv", text);
  for (const auto& [base, next] : {std::pair{good, bad}, {bad, good}, {bad, bad}}) {
    const Diff diff = compare(base, next, {});
    EXPECT_TRUE(diff.failed());
    EXPECT_EQ(diff.files.front().points.front().changes.front().note, "not a finite number");
  }
}

TEST(Points, MissingNewAndRenamed) {
  const Lab lab;
  ResultFile next = emulated_results();
  next.points[5].result.point.variant = "transpose/swizzled";
  next.points.erase(next.points.begin());
  const Diff diff = lab.by_csv(emulated_results(), next);
  EXPECT_TRUE(diff.failed());
  EXPECT_EQ(count(diff, Verdict::missing), 2U);
  EXPECT_EQ(count(diff, Verdict::added), 1U);
  EXPECT_EQ(count(diff, Verdict::same), 4U);
  EXPECT_THAT(diff_of(diff, "smem_padded").notes,
              Contains("renamed? NEW has transpose/swizzled with the same parameters"));
  EXPECT_THAT(diff_of(diff, "naive").notes, IsEmpty());

  DiffOptions lenient;
  lenient.fail_on = parse_fail_on("slower, traffic");
  EXPECT_FALSE(lab.by_csv(emulated_results(), next, lenient).failed());
  lenient.fail_on = parse_fail_on("new");
  EXPECT_TRUE(lab.by_csv(emulated_results(), next, lenient).failed());
}

TEST(Points, NoOverlapNeverPasses) {
  const Lab lab;
  ResultFile renamed = emulated_results();
  for (PointRecord& record : renamed.points) record.result.point.variant += "_v2";
  ResultFile empty = emulated_results();
  empty.points.clear();
  DiffOptions none;
  none.fail_on = parse_fail_on("none");
  for (const ResultFile& next : {renamed, empty}) {
    EXPECT_TRUE(lab.by_csv(emulated_results(), next, none).nothing_compared);
    EXPECT_TRUE(lab.by_csv(emulated_results(), next, none).failed());
    EXPECT_TRUE(lab.by_json(next, emulated_results(), none).failed());
  }
  EXPECT_TRUE(lab.by_csv(empty, empty, none).failed());
  // Points that ran nowhere are nothing to compare either.
  ResultFile unsupported = emulated_results();
  for (PointRecord& record : unsupported.points) {
    record = {record.result, std::nullopt, std::nullopt};
    record.result.status = Status::unsupported;
    record.result.reason = "cuda only";
  }
  EXPECT_TRUE(lab.by_csv(unsupported, unsupported, none).failed());
}

TEST(Points, OrderIsOfNoConcern) {
  ResultFile reversed = emulated_results();
  std::ranges::reverse(reversed.points);
  EXPECT_EQ(count(Lab().by_csv(emulated_results(), reversed), Verdict::same), 6U);
}

TEST(Points, WorseOutcomesAreTheirOwnVerdict) {
  const Lab lab;
  ResultFile next = emulated_results();
  next.points[0].result.status = Status::failed;
  next.points[0].result.reason = "launch refused";
  next.points[1].result.verification.state = Verification::State::failed;
  next.points[1].result.verification.wrong = 3;
  next.points[2].result.verification.state = Verification::State::not_run;
  Finding race;
  race.kind = "race";
  race.message = "a race";
  next.points[3].result.findings.push_back(race);
  next.points[4].result.status = Status::unsupported;
  next.points[4].result.reason = "cuda only";
  for (const Diff& diff : {lab.by_csv(emulated_results(), next), lab.by_json(emulated_results(), next)}) {
    EXPECT_TRUE(diff.failed());
    EXPECT_EQ(count(diff, Verdict::worse), 5U);
    EXPECT_EQ(diff_of(diff, "naive dtype=float32 rows=64").changes.front().next, "failed: launch refused");
    EXPECT_THAT(diff_of(diff, "naive dtype=float32 rows=256").changes.front().next, HasSubstr("3 wrong elements"));
    EXPECT_THAT(diff_of(diff, "smem dtype=float32 rows=256").changes.front().next, HasSubstr("race"));
  }
  // The other way round there is nothing to compare with, but for the point whose verification came back.
  const Diff back = lab.by_csv(next, emulated_results());
  EXPECT_EQ(count(back, Verdict::not_comparable), 4U);
  EXPECT_EQ(count(back, Verdict::same), 2U);
  // Bad in both files is not the same.
  EXPECT_EQ(count(lab.by_csv(next, next), Verdict::not_comparable), 3U);
}

TEST(Points, SkippedOnesLeaveTheirNeighboursAlone) {
  ResultFile results = emulated_results();
  results.points[2].result.status = Status::unsupported;
  results.points[2].result.reason = "cuda only";
  results.points[2].result.counters.clear();
  const Diff diff = Lab().by_csv(results, results);
  EXPECT_FALSE(diff.failed());
  EXPECT_EQ(count(diff, Verdict::same), 6U);
  EXPECT_EQ(diff.not_run, 1U);
}

TEST(Guard, OtherDevicesToolkitsAndModesAreRefusedByName) {
  const Lab lab;
  const ResultFile base = measured_results(3, 0.002, 1);
  struct Case {
    std::function<void(ResultFile&)> change;
    const char* allow;
    const char* says;
  };
  const auto environment = [](const char* name, const char* value) {
    return [=](ResultFile& results) {
      for (auto& [key, old] : results.environment)
        if (key == name) old = value;
    };
  };
  const Case cases[] = {
      {[](ResultFile& r) { r.device.name = "H100 SXM5 80GB"; }, "device", "H100 SXM5 80GB"},
      {environment("gpu", "NVIDIA A100"), "device", "NVIDIA A100"},
      {environment("gpu_sm_count", "114"), "device", "114"},
      {environment("toolkit", "CUDA 12.4"), "toolkit", "CUDA 12.4"},
      {[](ResultFile& r) { r.points[1].result.timing->cache_mode = "warm"; }, "mode", "warm"},
  };
  for (const Case& one : cases) {
    ResultFile next = measured_results(3, 0.002, 2);
    one.change(next);
    EXPECT_THAT(refusal([&] { static_cast<void>(lab.by_json(base, next)); }),
                AllOf(HasSubstr(one.says), HasSubstr(std::string("--allow ") + one.allow), HasSubstr("base.json")));
    DiffOptions options;
    options.allow = parse_allow(one.allow);
    EXPECT_EQ(lab.by_json(base, next, options).compared, 3U);
    options.allow = parse_allow(one.allow == std::string("mode") ? "device,toolkit,schema" : "mode, schema");
    EXPECT_THROW(static_cast<void>(lab.by_json(base, next, options)), Error);
  }
}

TEST(Guard, AnotherCardOrOrdinalDriverAndCompilerAreOnlyTold) {
  const Lab lab;
  ResultFile next = measured_results(3, 0.002, 2);
  for (auto& [name, value] : next.environment) {
    if (name == "gpu_uuid") value = "GPU-2";
    if (name == "driver") value = "590.2";
    if (name == "compiler") value = "clang 14.0.6";
  }
  next.environment.emplace_back("gpu_index", "4");
  ResultFile base = measured_results(3, 0.002, 1);
  base.environment.emplace_back("gpu_index", "0");
  const Diff diff = lab.by_json(base, next);
  EXPECT_FALSE(diff.failed());
  EXPECT_THAT(diff.files.front().notes, AllOf(Contains("the compiler differs: g++ 12.2.0 in BASE, clang 14.0.6 in NEW"),
                                              Contains("the driver differs: 580.1 in BASE, 590.2 in NEW"),
                                              Contains("another card of the same model")));
}

TEST(Guard, BackendsAndSchemaVersions) {
  const Lab lab;
  EXPECT_THAT(refusal([&] { static_cast<void>(lab.by_csv(emulated_results(), measured_results(1, 0.01, 1))); }),
              AllOf(HasSubstr("simt"), HasSubstr("cuda")));
  // A file of a later version of the format, as a later gpuexp would write and this one may be told to read.
  std::string text = to_csv_text(emulated_results());
  const auto base = lab.write("base.csv", text);
  for (std::size_t at = 0; (at = text.find("\r\n1,", at)) != std::string::npos; at += 2) text[at + 2] = '2';
  const auto next = lab.write("new.csv", text);
  EXPECT_THAT(refusal([&] { static_cast<void>(compare(base, next, {})); }),
              AllOf(HasSubstr("new.csv: line 2"), HasSubstr("schema version 2 is newer")));
  // So is JSON, which may hold keys that this one does not know.
  std::string records = to_json_text(emulated_results());
  records.replace(records.find("\"schema_version\": 1"), 19, "\"later\": [1], \"schema_version\": 2");
  const auto next_json = lab.write("new.json", records);
  EXPECT_THAT(refusal([&] { static_cast<void>(compare(base, next_json, {})); }),
              AllOf(HasSubstr("new.json: schema_version: "), HasSubstr("2 is newer"), HasSubstr("--allow schema")));
  DiffOptions options;
  options.allow = parse_allow("schema");
  for (const auto& path : {next, next_json}) {
    const Diff diff = compare(base, path, options);
    EXPECT_EQ(count(diff, Verdict::same), 6U);
    EXPECT_THAT(diff.files.front().notes, Contains("the schema version differs: 1 in BASE, 2 in NEW"));
  }
}

TEST(Times, RunsOfTheSameDistributionAreTheSame) {
  const Lab lab;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Diff diff = lab.by_json(measured_results(30, 0.005, seed), measured_results(30, 0.005, seed + 100));
    EXPECT_FALSE(diff.failed());
    EXPECT_EQ(count(diff, Verdict::same), 30U);
    EXPECT_EQ(diff.files.front().timed, 30U);
  }
}

TEST(Times, ASlowdownOf3PercentIsFound10TimesOf10) {
  const Lab lab;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    ResultFile next = measured_results(30, 0.005, seed + 100);
    PointRecord& slow = point(next, "n=640");
    for (double& sample : slow.result.timing->samples_us) sample *= 1.03;
    update_time(slow);
    const Diff diff = lab.by_json(measured_results(30, 0.005, seed), next);
    EXPECT_TRUE(diff.failed());
    EXPECT_EQ(count(diff, Verdict::slower), 1U);
    EXPECT_EQ(count(diff, Verdict::same), 29U);
    const PointDiff& found = diff_of(diff, "n=640");
    ASSERT_TRUE(found.time && found.time->interval && found.time->adjusted_p);
    EXPECT_TRUE(found.time->by_samples);
    EXPECT_LE(*found.time->adjusted_p, 0.01);
    EXPECT_NEAR(found.changes.front().factor.value_or(0), 1.03, 0.008);
    const Diff back = lab.by_json(next, measured_results(30, 0.005, seed));
    EXPECT_EQ(count(back, Verdict::faster), 1U);
    EXPECT_FALSE(back.failed());
  }
}

TEST(Times, ByACsvTheMedianAndSpreadDecideAndItIsSaid) {
  const Lab lab;
  ResultFile next = measured_results(5, 0.005, 9);
  PointRecord& slow = point(next, "n=128");
  for (double& sample : slow.result.timing->samples_us) sample *= 1.05;
  update_time(slow);
  const auto base = lab.csv("base.csv", measured_results(5, 0.005, 1));
  for (const auto& path : {lab.csv("new.csv", next), lab.json("new.json", next)}) {
    const Diff diff = compare(base, path, {});
    EXPECT_EQ(count(diff, Verdict::slower), 1U);
    EXPECT_EQ(count(diff, Verdict::same), 4U);
    EXPECT_FALSE(diff_of(diff, "n=128").time->by_samples);
    EXPECT_THAT(diff.files.front().notes, Contains(HasSubstr("judged by median and spread")));
  }
}

TEST(Times, AnotherClockIsToldBesideTheVerdict) {
  ResultFile base = measured_results(2, 0.001, 1), next = measured_results(2, 0.001, 2);
  base.points[0].result.timing->sm_clock_mhz = 1980;
  next.points[0].result.timing->sm_clock_mhz = 1410;
  for (double& sample : next.points[0].result.timing->samples_us) sample *= 1.4;
  update_time(next.points[0]);
  const Diff diff = Lab().by_json(base, next);
  EXPECT_EQ(diff_of(diff, "n=64").verdict, Verdict::slower);
  EXPECT_THAT(diff_of(diff, "n=64").notes, Contains(HasSubstr("1980 MHz in BASE and 1410 MHz in NEW")));
}

TEST(Times, NoiseIsUndecidedNotSlower) {
  const Lab lab;
  ResultFile base = measured_results(2, 0.001, 1), next = measured_results(2, 0.001, 2);
  // Intervals that overlap: one distribution with two modes, seen in other proportions.
  base.points[0].result.timing->samples_us = {100, 100, 108, 100, 108, 100, 100, 108, 100, 100};
  next.points[0].result.timing->samples_us = {108, 100, 108, 108, 100, 108, 108, 100, 108, 100};
  for (ResultFile* results : {&base, &next}) update_time(results->points[0]);
  const Diff diff = lab.by_json(base, next);
  EXPECT_FALSE(diff.failed());
  EXPECT_EQ(diff_of(diff, "n=64").verdict, Verdict::undecided);
  DiffOptions strict;
  strict.fail_on = parse_fail_on("slower,undecided");
  EXPECT_TRUE(lab.by_json(base, next, strict).failed());
  // One sample says nothing of the noise.
  next.points[0].result.timing->samples_us = {120};
  update_time(next.points[0]);
  EXPECT_EQ(diff_of(lab.by_json(base, next), "n=64").verdict, Verdict::undecided);
}

TEST(Times, ShortKernelsMayDifferByAMicrosecond) {
  ResultFile base = measured_results(1, 0.001, 1), next = base;
  base.points[0].result.timing->samples_us = {3.42, 3.42, 3.39, 3.45, 3.42, 3.42, 3.42, 3.39, 3.42, 3.45};
  next.points[0].result.timing->samples_us = {4.32, 4.32, 4.29, 4.35, 4.32, 4.32, 4.32, 4.29, 4.32, 4.35};
  for (ResultFile* results : {&base, &next}) update_time(results->points[0]);
  const Lab lab;
  EXPECT_EQ(diff_of(lab.by_json(base, next), "n=64").verdict, Verdict::undecided);
  DiffOptions options;
  options.min_change_us = 0;
  EXPECT_EQ(diff_of(lab.by_json(base, next, options), "n=64").verdict, Verdict::slower);
}

TEST(Times, ZeroNullAndNanAreNotComparable) {
  const Lab lab;
  const ResultFile base = measured_results(3, 0.001, 1);
  ResultFile untimed = base;
  untimed.points[0].time.reset();
  untimed.points[0].result.timing.reset();
  EXPECT_EQ(diff_of(lab.by_json(base, untimed), "n=64").changes.front().note, "not timed in NEW");
  EXPECT_EQ(diff_of(lab.by_csv(untimed, base), "n=64").changes.front().note, "not timed in BASE");
  ResultFile zero = base;
  zero.points[1].time->median_us = 0;
  for (const Diff& diff : {lab.by_csv(zero, base), lab.by_csv(base, zero)}) {
    EXPECT_TRUE(diff.failed());
    EXPECT_EQ(diff_of(diff, "n=128").verdict, Verdict::not_comparable);
  }
}

TEST(Times, AHugeSweepStillFindsAHugeSlowdown) {
  ResultFile base = measured_results(1000, 0.002, 1), next = measured_results(1000, 0.002, 2);
  for (double& sample : next.points[77].result.timing->samples_us) sample *= 3;
  update_time(next.points[77]);
  const Diff diff = Lab().by_json(base, next);
  EXPECT_EQ(count(diff, Verdict::slower), 1U);
  EXPECT_EQ(count(diff, Verdict::same), 999U);
}

TEST(Measured, CountersHaveNoiseAndTheTimeSpeaksForCycles) {
  const Lab lab;
  ResultFile base = measured_results(3, 0.001, 1), next = measured_results(3, 0.001, 2);
  const auto set = [](PointRecord& record, const char* id, double value) {
    record.result.counters[id] = Quantity::real(value, Source::measured);
  };
  set(base.points[0], "dram_read_bytes", 7680);
  set(next.points[0], "dram_read_bytes", 16128);  // other activity
  set(base.points[1], "shared_load_wavefronts", 50367473);
  set(next.points[1], "shared_load_wavefronts", 50373020);
  set(base.points[1], "shared_load_bank_conflicts", 35825);
  set(next.points[1], "shared_load_bank_conflicts", 41372);
  set(next.points[2], "sm_cycles", 1e9);
  EXPECT_EQ(count(lab.by_json(base, next), Verdict::same), 3U);
  set(next.points[0], "dram_read_bytes", 4e6);
  set(next.points[1], "shared_load_bank_conflicts", 5e7);
  set(next.points[2], "global_load_sectors", 2 * 4096.0 * 3);
  const Diff diff = lab.by_json(base, next);
  EXPECT_EQ(count(diff, Verdict::more_traffic), 3U);
  EXPECT_EQ(diff_of(diff, "n=192").changes.front().factor, 2);
  EXPECT_EQ(diff_of(diff, "n=192").changes.front().source, "measured");
}

TEST(Directories, AreComparedFileByFile) {
  const Lab lab;
  lab.csv("base/transpose.simt.csv", emulated_results());
  lab.csv("base/gone.simt.csv", emulated_results());
  lab.csv("new/transpose.simt.csv", emulated_results());
  lab.json("new/transpose.simt.json", without_padding());  // rather than the CSV
  lab.json("new/transpose.simt.prev.json", emulated_results());
  lab.json("new/added.simt.json", emulated_results());
  const Diff diff = compare(lab.path() / "base", lab.path() / "new", {});
  EXPECT_TRUE(diff.failed());
  ASSERT_THAT(diff.files, SizeIs(2));
  EXPECT_EQ(count(diff, Verdict::missing), 6U);
  EXPECT_EQ(count(diff, Verdict::more_traffic), 2U);
  EXPECT_THAT(diff.notes, Contains(HasSubstr("added.simt")));
  std::filesystem::create_directory(lab.path() / "empty");
  EXPECT_THAT(refusal([&] { static_cast<void>(compare(lab.path() / "empty", lab.path() / "new", {})); }),
              HasSubstr("holds no result file"));
  EXPECT_THAT(refusal([&] { static_cast<void>(compare(lab.path() / "base", lab.path() / "new/added.simt.json", {})); }),
              HasSubstr("two directories"));
}

TEST(Junk, IsRefusedWithItsPlace) {
  const Lab lab;
  const auto good = lab.csv("good.csv", emulated_results());
  const std::string text = to_csv_text(emulated_results());
  const std::size_t header_end = text.find('\n') + 1;
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string copy = text;
    const std::size_t at = copy.find(from, header_end);
    EXPECT_NE(at, std::string::npos) << from;
    copy.replace(at, from.size(), to);
    return copy;
  };
  std::string twice = text;
  twice += text.substr(header_end, text.find('\n', header_end) + 1 - header_end);
  struct Case {
    std::string name, content;
    std::vector<std::string> says;
  };
  const Case cases[] = {
      {"empty.csv", "", {"is empty"}},
      {"other.csv", "a,b\n1,2\n", {"line 1", "schema_version"}},
      {"cells.csv", text.substr(0, header_end) + "1,2\r\n", {"line 2", "has 2 cells"}},
      {"open.csv", text + "\"open", {"line 8", "not closed"}},
      {"quote.csv", text + "x\"y\r\n", {"line 8", "quote"}},
      {"status.csv", changed(",ok,", ",fine,"), {"line 2", "'status'", "'fine'"}},
      {"number.csv", changed(",128,", ",12x,"), {"line 2", "'12x' is not a number"}},
      {"negative.csv", changed(",128,", ",-128,"), {"line 2, column '", "'-128' is below 0"}},
      {"mixed.csv", changed("0123456789ab", "ba9876543210"), {"two runs are mixed"}},
      {"schema.csv", changed("1,0.1.0", "one,0.1.0"), {"line 2", "'one'"}},
      {"first.csv", changed("1,0.1.0", "0,0.1.0"), {"line 2", "schema version 0 never was"}},
      {"twice.csv", twice, {"stands twice", "transpose/naive"}},
      {"column.csv", "schema_version,backend,variant,status,good,verified,speed\n", {"'speed'"}},
      {"double.csv", "schema_version,backend,variant,status,good,verified,good\n", {"'good' stands twice"}},
      {"lacks.csv", "schema_version,backend,variant\n", {"'status' is missing"}},
      {"binary.csv", std::string("\0\x01\xff\xfe", 4), {"line 1"}},
      {"deep.json", std::string(100, '['), {"deep.json"}},
      {"deeper.json", std::string(1'000'000, '[') + std::string(1'000'000, ']'), {"nested deeper than 64 levels"}},
      {"other.json", "{}", {"schema_version"}},
      {"words.txt", "hello", {".csv"}},
      {"header.csv", text.substr(0, 1000), {"line 1", "the file was cut off"}},
      {"steering.csv", changed(",ok,", ",ok,\x1b[31m"), {"line 2", "holds a control character"}},
  };
  for (const Case& one : cases) {
    const auto bad = lab.write(one.name, one.content);
    for (const auto& [base, next] : {std::pair{good, bad}, {bad, good}}) {
      const std::string message = refusal([&, from = base, to = next] { static_cast<void>(compare(from, to, {})); });
      EXPECT_THAT(message, HasSubstr(one.name));
      for (const std::string& part : one.says) EXPECT_THAT(message, HasSubstr(part));
    }
  }
  EXPECT_THAT(refusal([&] { static_cast<void>(compare(good, lab.path() / "nowhere.csv", {})); }),
              HasSubstr("nowhere.csv: cannot be read"));
}

TEST(Csv, QuotedKeysLineEndsAndByteOrderMark) {
  const Lab lab;
  ResultFile results = emulated_results();
  results.points[0].result.point.params.set("dtype", std::string("say \"hi\", twice\nover"));
  std::string text = to_csv_text(results);
  const auto base = lab.write("base.csv", text);
  std::string unix_ends;
  for (const char c : text)
    if (c != '\r') unix_ends += c;
  unix_ends.pop_back();  // no line end behind the last row
  const auto next = lab.write("new.csv", "\xEF\xBB\xBF" + unix_ends);
  EXPECT_EQ(count(compare(base, next, {}), Verdict::same), 6U);
  EXPECT_EQ(count(compare(lab.json("new.json", results), next, {}), Verdict::same), 6U);
}

TEST(Csv, RowsAreReadWhole) {
  // Rows around the edges of the reader's buffer, with quoted cells there.
  const Lab lab;
  ResultFile results = emulated_results();
  const std::vector<PointRecord> six = results.points;
  results.points.clear();
  for (std::int64_t i = 0; i < 1000; ++i)
    for (PointRecord record : six) {
      record.result.point.params.set("copy", i);
      record.result.verification.scope = std::string(static_cast<std::size_t>(i % 97), 'x') + "\"\r\n\"";
      results.points.push_back(std::move(record));
    }
  const auto path = lab.csv("a.csv", results);
  ASSERT_GT(std::filesystem::file_size(path), 2U << 20);
  EXPECT_EQ(count(compare(path, path, {}), Verdict::same), 6000U);
}

TEST(Csv, AHundredThousandRowsTakeASecondAndThreeHundredMegabytesAtMost) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer is slower than that";
#endif
  const Lab lab;
  const std::string text = to_csv_text(emulated_results());
  const std::size_t header = text.find('\n') + 1, row_end = text.find('\n', header) + 1;
  const std::string row = text.substr(header, row_end - header);
  const std::size_t rows = row.find(",64,");  // the value of a parameter: another one in each row
  const auto path = lab.path() / "large.csv";
  {
    std::ofstream file(path, std::ios::binary);
    file << text.substr(0, header);
    for (int i = 0; i < 100'000; ++i) file << row.substr(0, rows + 1) << i << row.substr(rows + 3);
  }
  [[maybe_unused]] const std::clock_t began = std::clock();
  EXPECT_EQ(count(compare(path, path, {}), Verdict::same), 100'000U);
#ifdef NDEBUG
  EXPECT_LT(static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC, 1.5);  // 0.6 s where nothing else runs
#endif
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, 300 * 1024);  // KiB
}

TEST(Csv, LocaleHasNoInfluence) {
  const Lab lab;
  const char* names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C.UTF-8"};
  for (const char* name : names)
    if (std::setlocale(LC_ALL, name) != nullptr) break;
  ResultFile next = emulated_results();
  next.points[0].result.counters["simt_efficiency"] = Quantity::real(0.75, Source::emulated);
  const Diff diff = lab.by_csv(emulated_results(), next);
  std::setlocale(LC_ALL, "C");
  EXPECT_EQ(diff_of(diff, "naive").changes.front().factor, 0.75);
}

TEST(Csv, InputsAreNotWritten) {
  const Lab lab;
  const auto base = lab.csv("base.csv", emulated_results()), next = lab.json("new.json", without_padding());
  for (const auto& path : {base, next})
    std::filesystem::permissions(path, std::filesystem::perms::owner_read, std::filesystem::perm_options::replace);
  const auto time = std::filesystem::last_write_time(base);
  EXPECT_EQ(compare(base, next, {}).compared, 6U);
  EXPECT_EQ(std::filesystem::last_write_time(base), time);
}

TEST(Columns, EveryColumnOfAResultHasItsRule) {
  for (const CsvColumn& column : csv_columns(emulated_results()))
    for (const char* backend : {"simt", "cuda"})
      EXPECT_TRUE(column_rule(column.name, backend))
          << column.name << ": say in profiler/compare/columns.cpp what it means to a comparison";
}

TEST(Lists, NameWhatIsAccepted) {
  EXPECT_THAT(refusal([] { static_cast<void>(parse_fail_on("slower,trafic")); }),
              AllOf(HasSubstr("'trafic'"), HasSubstr("did you mean 'traffic'")));
  EXPECT_THAT(refusal([] { static_cast<void>(parse_allow("devices")); }), HasSubstr("'device'"));
  EXPECT_THAT(parse_fail_on("none"), IsEmpty());
  EXPECT_THAT(parse_fail_on("any"), SizeIs(verdict_count - 1));
  EXPECT_THAT(refusal([] { static_cast<void>(parse_tolerance("dram_reed_bytes=5%")); }),
              HasSubstr("did you mean 'dram_read_bytes'"));
  EXPECT_THAT(refusal([] { static_cast<void>(parse_tolerance("dram_read_bytes")); }), HasSubstr("COLUMN=SHARE"));
  for (const char* bad : {"flops=x", "flops=-1", "flops=nan", "flops=", "flops=1e999"})
    EXPECT_THAT(refusal([&] { static_cast<void>(parse_tolerance(bad)); }), HasSubstr("is not a share"));
  EXPECT_EQ(parse_tolerance("flops=5%").relative, 0.05);
}

}  // namespace
}  // namespace gpuexp::test
