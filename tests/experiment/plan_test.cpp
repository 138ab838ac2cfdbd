// Plans: which points an experiment expands to and in which order, and what --set and --filter make of it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "profiler/core/error.h"
#include "profiler/core/glob.h"
#include "profiler/core/nearest.h"
#include "profiler/experiment/edits.h"
#include "profiler/experiment/experiment.h"

namespace gpuexp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

Experiment experiment(const std::string& entries) {
  return parse_experiment(R"({"name": "x", "experiments": [)" + entries + "]}", "x.json");
}

// "plain n=1 m=2": variants without "lab/", and the parameters named in `shown`, in that order.
std::vector<std::string> brief(const Plan& plan, const std::vector<std::string>& shown) {
  std::vector<std::string> lines;
  for (const Point& point : plan.points) {
    std::string line = point.variant.substr(4);
    for (const std::string& name : shown) {
      if (const ParamValue* value = point.params.find(name)) line += fmt::format(" {}={}", name, to_text(*value));
    }
    lines.push_back(line);
  }
  return lines;
}

std::string plan_error(const Experiment& file, const PlanEdits& edits = {}) {
  try {
    make_plan(file, edits);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "(no error)";
}

TEST(Plan, DefaultsCompleteAPoint) {
  const Plan plan = make_plan(experiment(R"({"variant": "lab/tiled", "axes": {"n": [32]}})"));
  ASSERT_EQ(plan.points.size(), 1U);
  EXPECT_EQ(plan.points[0].key(), "lab/tiled TILE=16 dtype=float32 m=32 n=32 share=0.5");
  EXPECT_THAT(plan.notes, IsEmpty());
}

TEST(Plan, AxesExpandInFileOrderTheLastFastest) {
  EXPECT_THAT(
      brief(make_plan(experiment(R"({"variant": "lab/tiled", "axes": {"n": [2, 1], "TILE": [8, 4]}})")), {"n", "TILE"}),
      ElementsAre("tiled n=2 TILE=8", "tiled n=2 TILE=4", "tiled n=1 TILE=8", "tiled n=1 TILE=4"));
  EXPECT_THAT(
      brief(make_plan(experiment(R"({"variant": "lab/tiled", "axes": {"TILE": [8, 4], "n": [2, 1]}})")), {"n", "TILE"}),
      ElementsAre("tiled n=2 TILE=8", "tiled n=1 TILE=8", "tiled n=2 TILE=4", "tiled n=1 TILE=4"));
}

TEST(Plan, ZippedAxesAdvanceTogetherAtTheirPlaceInTheFile) {
  EXPECT_THAT(
      brief(make_plan(experiment(
                R"({"variant": "lab/plain", "zip": {"n": [1, 2], "m": [3, 4]}, "axes": {"share": [0, 1]}})")),
            {"n", "m", "share"}),
      ElementsAre("plain n=1 m=3 share=0", "plain n=1 m=3 share=1", "plain n=2 m=4 share=0", "plain n=2 m=4 share=1"));
  EXPECT_THAT(
      brief(make_plan(experiment(
                R"({"variant": "lab/plain", "axes": {"share": [0, 1]}, "zip": {"n": [1, 2], "m": [3, 4]}})")),
            {"n", "m", "share"}),
      ElementsAre("plain n=1 m=3 share=0", "plain n=2 m=4 share=0", "plain n=1 m=3 share=1", "plain n=2 m=4 share=1"));
}

TEST(Plan, GlobsExpandByNameAndLeaveOutTheBrokenOnes) {
  EXPECT_THAT(brief(make_plan(experiment(R"({"variant": "lab/*"})")), {}),
              ElementsAre("coarse", "fancy", "plain", "tiled"));
  EXPECT_THAT(brief(make_plan(experiment(R"({"variant": ["lab/t*", "lab/broken", "lab/?????"]})")), {}),
              ElementsAre("tiled", "broken", "fancy", "plain"));
  EXPECT_THAT(brief(make_plan(experiment(R"({"variant": "lab/v2"})")), {}), ElementsAre("tiled"));  // an alias
  EXPECT_THAT(brief(make_plan(experiment(R"({"variant": "lab/v*"})")), {}), ElementsAre("tiled"));
}

TEST(Plan, UnderAGlobAnAxisAppliesToTheVariantsThatTakeIt) {
  const Plan plan = make_plan(experiment(R"({"variant": "lab/*", "axes": {"n": [1, 2], "TILE": [4, 8]}})"));
  EXPECT_THAT(brief(plan, {"n", "TILE"}),
              ElementsAre("coarse n=1 TILE=8", "coarse n=2 TILE=8", "fancy n=1", "fancy n=2", "plain n=1", "plain n=2",
                          "tiled n=1 TILE=4", "tiled n=1 TILE=8", "tiled n=2 TILE=4", "tiled n=2 TILE=8"));
  EXPECT_THAT(plan.notes, ElementsAre("lab/coarse: TILE=4 left out; accepted: 8, 16; nearest: 8"));
}

TEST(Plan, UnderAGlobCombinationsThatDoNotExistAreLeftOutWithANote) {
  const Plan plan =
      make_plan(experiment(R"({"variant": "lab/coars*", "axes": {"TILE": [8, 16], "COARSE": [1, 2, 4]}})"));
  EXPECT_THAT(brief(plan, {"TILE", "COARSE"}), ElementsAre("coarse TILE=8 COARSE=1", "coarse TILE=8 COARSE=2",
                                                           "coarse TILE=16 COARSE=1", "coarse TILE=16 COARSE=4"));
  EXPECT_THAT(plan.notes, ElementsAre(StartsWith("lab/coarse: 2 combinations left out, the first COARSE=4 TILE=8")));
}

TEST(Plan, DuplicatesAppearOnceAtTheirFirstPlace) {
  const Plan plan = make_plan(experiment(R"({"variant": "lab/plain", "axes": {"n": [2, 1, 2], "m": [1]}},
                                            {"variant": "lab/*", "zip": {"n": [1, 1024], "m": [1, 1024]}})"));
  EXPECT_THAT(brief(plan, {"n", "m"}),
              ElementsAre("plain n=2 m=1", "plain n=1 m=1", "coarse n=1 m=1", "coarse n=1024 m=1024", "fancy n=1 m=1",
                          "fancy n=1024 m=1024", "plain n=1024 m=1024", "tiled n=1 m=1", "tiled n=1024 m=1024"));
}

TEST(Plan, ExclusionsMatchPartlyAndSeeDefaults) {
  EXPECT_THAT(brief(make_plan(experiment(R"({"variant": "lab/tiled", "axes": {"TILE": [4, 8], "n": [1, 2, 3]},
                                             "exclude": [{"TILE": 4, "n": [1, 3]}, {"n": 2, "m": 2, "TILE": 8}]})")),
                    {"TILE", "n"}),
              ElementsAre("tiled TILE=4 n=2", "tiled TILE=8 n=1", "tiled TILE=8 n=3"));
}

TEST(Plan, ExclusionsByVariant) {
  EXPECT_THAT(
      brief(make_plan(experiment(R"({"variant": "lab/*", "exclude": [{"variant": "lab/v2"}, {"variant": "*/f*"}]})")),
            {}),
      ElementsAre("coarse", "plain"));
}

TEST(Plan, AnExclusionMayRemoveACombinationThatDoesNotExist) {
  EXPECT_THAT(brief(make_plan(experiment(R"({"variant": "lab/coarse", "axes": {"TILE": [8, 16], "COARSE": [1, 2]},
                                             "exclude": [{"TILE": 16, "COARSE": 2}]})")),
                    {"TILE", "COARSE"}),
              ElementsAre("coarse TILE=8 COARSE=1", "coarse TILE=8 COARSE=2", "coarse TILE=16 COARSE=1"));
}

TEST(Plan, TooManyPointsAreRefusedWithTheirNumberAtOnce) {
  std::string values = "0";
  for (int i = 1; i < 1001; ++i) values += fmt::format(",{}", i);
  const std::string axes = fmt::format(R"("n": [{0}], "m": [{0}])", values);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(plan_error(experiment(fmt::format(R"({{"variant": "lab/plain", "axes": {{{}}}}})", axes))),
              AllOf(StartsWith("x.json: /experiments/0: 1002001 points"), HasSubstr("at most 1000000")));
  const std::string reals = fmt::format(R"({0}, "share": [{1}])", axes, values);
  EXPECT_THAT(plan_error(experiment(fmt::format(R"({{"variant": "lab/plain", "axes": {{{}}}}})", reals))),
              HasSubstr("1003003001 points"));
  // Entries count together.
  const std::string half = fmt::format(R"({{"variant": "lab/plain", "axes": {{"n": [{}], "m": [{}]}}}})", values,
                                       values.substr(0, values.find(",501")));
  EXPECT_THAT(plan_error(experiment(half + "," + half)),
              AllOf(StartsWith("x.json: /experiments/1: 1003002 points"), HasSubstr("before it (501501)")));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

// ---- --set ----

constexpr const char* tiles = R"({"variant": "lab/tiled", "axes": {"TILE": [4, 8], "n": [1, 2]}})";

TEST(Set, ReplacesAnAxisInItsPlace) {
  EXPECT_THAT(brief(make_plan(experiment(tiles), {{}, {"TILE=16"}}), {"TILE", "n"}),
              ElementsAre("tiled TILE=16 n=1", "tiled TILE=16 n=2"));
  EXPECT_THAT(brief(make_plan(experiment(tiles), {{}, {"TILE=2,1", "n=7"}}), {"TILE", "n"}),
              ElementsAre("tiled TILE=2 n=7", "tiled TILE=1 n=7"));
}

TEST(Set, AddsTheLastAxisWhereThereIsNone) {
  EXPECT_THAT(
      brief(make_plan(experiment(R"({"variant": "lab/plain", "axes": {"n": [1, 2]}})"), {{}, {"m=5,6"}}), {"n", "m"}),
      ElementsAre("plain n=1 m=5", "plain n=1 m=6", "plain n=2 m=5", "plain n=2 m=6"));
}

TEST(Set, AppliesToTheVariantsThatTakeIt) {
  const Plan plan = make_plan(experiment(R"({"variant": ["lab/plain", "lab/tiled"]}, {"variant": "lab/coarse"})"),
                              {{}, {"TILE=4,8"}});
  EXPECT_THAT(brief(plan, {"TILE"}), ElementsAre("plain", "tiled TILE=4", "tiled TILE=8", "coarse TILE=8"));
  EXPECT_THAT(plan.notes, ElementsAre("lab/coarse: TILE=4 left out; accepted: 8, 16; nearest: 8"));
  EXPECT_THAT(plan.edits.sets, ElementsAre("TILE=4,8"));
}

TEST(Set, ChangesAZipByOneValueOrByAll) {
  const Experiment zipped = experiment(R"({"variant": "lab/plain", "zip": {"n": [1, 2], "m": [3, 4]}})");
  EXPECT_THAT(brief(make_plan(zipped, {{}, {"m=9"}}), {"n", "m"}), ElementsAre("plain n=1 m=9", "plain n=2 m=9"));
  EXPECT_THAT(brief(make_plan(zipped, {{}, {"m=9,8"}}), {"n", "m"}), ElementsAre("plain n=1 m=9", "plain n=2 m=8"));
  EXPECT_THAT(brief(make_plan(zipped, {{}, {"m=9", "n=5"}}), {"n", "m"}), ElementsAre("plain n=5 m=9"));
  EXPECT_THAT(plan_error(zipped, {{}, {"m=7,8,9"}}),
              AllOf(StartsWith("--set m=7,8,9: "), HasSubstr("1 value or 2"), HasSubstr("/experiments/0/zip/m")));
}

TEST(Set, RealsAndWords) {
  EXPECT_THAT(brief(make_plan(experiment(R"({"variant": "lab/plain"})"), {{}, {"share=0.25,1", "dtype=float16"}}),
                    {"share", "dtype"}),
              ElementsAre("plain share=0.25 dtype=float16", "plain share=1 dtype=float16"));
}

TEST(Set, MistakesNameTheFlag) {
  const Experiment file = experiment(tiles);
  EXPECT_THAT(plan_error(file, {{}, {"TILE"}}), StartsWith("--set TILE: expected PARAMETER=VALUE"));
  EXPECT_THAT(plan_error(file, {{}, {"=3"}}), StartsWith("--set =3: expected PARAMETER=VALUE"));
  EXPECT_THAT(plan_error(file, {{}, {"TILE="}}), StartsWith("--set TILE=: expected PARAMETER=VALUE"));
  EXPECT_THAT(plan_error(file, {{}, {"TILE=8,"}}), StartsWith("--set TILE=8,: an empty value"));
  EXPECT_THAT(plan_error(file, {{}, {"TILE=8", "TILE=4"}}), HasSubstr("TILE is set twice"));
  EXPECT_THAT(
      plan_error(file, {{}, {"TIEL=8"}}),
      AllOf(StartsWith("--set TIEL=8: "), HasSubstr("accepted: TILE, dtype, m, n, share"), HasSubstr("'TILE'?")));
  EXPECT_THAT(plan_error(file, {{}, {"TILE=8,3"}}),
              AllOf(StartsWith("--set TILE=8,3: lab/tiled does not accept TILE=3"), HasSubstr("1, 2, 4, 8, 16"),
                    HasSubstr("(TILE: ")));  // what it means, and so why
  EXPECT_THAT(plan_error(file, {{}, {"n=big"}}), AllOf(StartsWith("--set n=big: "), HasSubstr("from 0 to 4096")));
  EXPECT_THAT(plan_error(file, {{}, {"n=99999999999999999999"}}), StartsWith("--set n=99999999999999999999: "));
}

TEST(Set, AnExclusionMayThenHaveNothingToDo) {
  const Experiment file = experiment(R"({"variant": "lab/tiled", "axes": {"TILE": [4, 8]}, "exclude": [{"TILE": 8}]})");
  EXPECT_THAT(brief(make_plan(file, {{}, {"TILE=2"}}), {"TILE"}), ElementsAre("tiled TILE=2"));
}

// ---- --filter ----

TEST(Filter, TermsNarrowAndCommasWiden) {
  const Experiment file = experiment(R"({"variant": "lab/*", "axes": {"TILE": [4, 8], "n": [1, 2]}})");
  const auto filtered = [&](const std::vector<std::string>& filters) {
    return brief(make_plan(file, {filters, {}}), {"TILE", "n"});
  };
  EXPECT_THAT(filtered({"lab/t*"}),
              ElementsAre("tiled TILE=4 n=1", "tiled TILE=4 n=2", "tiled TILE=8 n=1", "tiled TILE=8 n=2"));
  EXPECT_THAT(filtered({"lab/t* TILE=8"}), ElementsAre("tiled TILE=8 n=1", "tiled TILE=8 n=2"));
  EXPECT_THAT(filtered({"lab/t*", "TILE=8", "n=1"}), ElementsAre("tiled TILE=8 n=1"));
  EXPECT_THAT(filtered({"lab/plain,lab/v2 n=2 dtype=f*32"}),
              ElementsAre("plain n=2", "tiled TILE=4 n=2", "tiled TILE=8 n=2"));
  EXPECT_THAT(filtered({"n=2 lab/tiled TILE=4,8"}), ElementsAre("tiled TILE=4 n=2", "tiled TILE=8 n=2"));
  EXPECT_THAT(filtered({"share=5e-1 lab/plain n=1"}), ElementsAre("plain n=1"));
}

TEST(Filter, AKeyKeepsItsPoint) {
  const Experiment file = experiment(R"({"variant": "lab/*", "axes": {"TILE": [4, 8], "n": [1, 2]}})");
  for (const Point& point : make_plan(file).points) {
    const Plan plan = make_plan(file, {{point.key()}, {}});
    if (point.variant != "lab/fancy" && point.variant != "lab/plain") {
      ASSERT_EQ(plan.points.size(), 1U) << point.key();
    }
    EXPECT_EQ(plan.points.at(0).key(), point.key());
  }
}

TEST(Filter, LeavesOutWhatASetIsNotFor) {
  // Unfiltered, each of these --set leaves an entry without a point or with a zip of unequal lengths.
  const Experiment file = experiment(
      R"({"variant": "lab/plain", "axes": {"n": [1, 2]}}, {"variant": "lab/tiled", "axes": {"TILE": [4, 8]}},
         {"variant": "lab/coarse", "zip": {"TILE": [8, 16], "COARSE": [2, 4]}})");
  EXPECT_THAT(brief(make_plan(file, {{"lab/t*"}, {"TILE=1,2,4"}}), {"TILE"}),
              ElementsAre("tiled TILE=1", "tiled TILE=2", "tiled TILE=4"));
  EXPECT_THAT(brief(make_plan(file, {{"lab/v2"}, {"TILE=2"}}), {"TILE"}), ElementsAre("tiled TILE=2"));
  EXPECT_THAT(brief(make_plan(file, {{"COARSE=1"}, {"COARSE=1", "TILE=16"}}), {"TILE"}), ElementsAre("coarse TILE=16"));
  EXPECT_THAT(make_plan(file, {{"lab/t*"}, {"TILE=2"}}).notes, IsEmpty());
  // What one term leaves out, another may still name.
  EXPECT_THAT(brief(make_plan(file, {{"lab/plain,lab/tiled TILE=4", "lab/*"}, {"n=3"}}), {"TILE", "n"}),
              ElementsAre("tiled TILE=4 n=3"));
  EXPECT_THAT(brief(make_plan(file, {{"lab/coarse TILE=4,8"}, {"n=3"}}), {"TILE", "n"}),
              ElementsAre("coarse TILE=8 n=3"));
}

TEST(Filter, ASetThatFailsNamesItsCause) {
  const Experiment file =
      experiment(R"({"variant": ["lab/tiled", "lab/coarse"], "axes": {"TILE": [8]}}, {"variant": "lab/plain"})");
  EXPECT_THAT(plan_error(file, {{"lab/coarse"}, {"TILE=2"}}),
              StartsWith("--set TILE=2: lab/coarse does not accept TILE=2; accepted: 8, 16"));
  EXPECT_THAT(
      plan_error(file, {{"lab/coarse,lab/tiled"}, {"TILE=2"}}),
      StartsWith("--filter 'lab/coarse,lab/tiled': no point of lab/coarse is left: TILE=2 left out; accepted: "));
  EXPECT_THAT(plan_error(file, {{"lab/plain"}, {"TILE=8"}}),
              StartsWith("--set TILE=8: no variant of x.json that --filter keeps has a parameter 'TILE'"));
  EXPECT_THAT(plan_error(file, {{"lab/tiles"}, {"TILE=8"}}),
              AllOf(StartsWith("--filter 'lab/tiles': no point of x.json has a variant"), HasSubstr("'lab/tiled'?")));
}

TEST(Filter, WhatMatchesNothingIsAnErrorThatListsWhatThereIs) {
  const Experiment file = experiment(tiles);
  EXPECT_THAT(plan_error(file, {{"TILE=3"}, {}}),
              AllOf(StartsWith("--filter 'TILE=3': no point of x.json has TILE=3"), HasSubstr("there is TILE=4, 8")));
  EXPECT_THAT(plan_error(file, {{"TILE=4,3"}, {}}), HasSubstr("has TILE=3"));
  EXPECT_THAT(plan_error(file, {{"TIEL=4"}, {}}),
              AllOf(HasSubstr("no point of x.json has a parameter 'TIEL'"), HasSubstr("did you mean 'TILE'?")));
  EXPECT_THAT(plan_error(file, {{"lab/plain"}, {}}), AllOf(HasSubstr("'lab/plain'"), HasSubstr("there is lab/tiled")));
  EXPECT_THAT(plan_error(file, {{"tiled"}, {}}), HasSubstr("did you mean 'lab/tiled'?"));
  EXPECT_THAT(plan_error(file, {{""}, {}}), StartsWith("--filter '': empty"));
  EXPECT_THAT(plan_error(file, {{"=4"}, {}}), HasSubstr("no parameter before '='"));
  EXPECT_THAT(plan_error(file, {{"TILE=4,"}, {}}), HasSubstr("an empty alternative"));
  EXPECT_THAT(
      plan_error(experiment(R"({"variant": "lab/plain", "zip": {"n": [1, 2], "m": [3, 4]}})"), {{"n=1 m=4"}, {}}),
      HasSubstr("no point matches all of them"));
}

// ---- words ----

TEST(Values, FromText) {
  EXPECT_EQ(value_from_text("16"), ParamValue(std::int64_t{16}));
  EXPECT_EQ(value_from_text("-1"), ParamValue(std::int64_t{-1}));
  EXPECT_EQ(value_from_text("0.5"), ParamValue(0.5));
  EXPECT_EQ(value_from_text("1e3"), ParamValue(1000.0));
  for (const char* word : {"float32", "0x10", "1,5", "inf", "nan", "1 ", "", "1e999"}) {
    EXPECT_EQ(value_from_text(word), ParamValue(std::string(word)));
  }
  EXPECT_TRUE(same_value(ParamValue(std::int64_t{8}), ParamValue(8.0)));
  EXPECT_FALSE(same_value(ParamValue(std::int64_t{8}), ParamValue(std::string("8"))));
}

TEST(Globs, MatchWholly) {
  EXPECT_TRUE(glob_matches("matmul/*", "matmul/tiled"));
  EXPECT_TRUE(glob_matches("*", "matmul/tiled"));
  EXPECT_TRUE(glob_matches("m*l/*d", "matmul/tiled"));
  EXPECT_TRUE(glob_matches("matmul/tile?", "matmul/tiled"));
  EXPECT_TRUE(glob_matches("", ""));
  EXPECT_TRUE(glob_matches("**", ""));
  EXPECT_FALSE(glob_matches("matmul", "matmul/tiled"));
  EXPECT_FALSE(glob_matches("tiled", "matmul/tiled"));
  EXPECT_FALSE(glob_matches("?", ""));
  EXPECT_FALSE(glob_matches("*x", "matmul/tiled"));
  std::string stars;
  for (int i = 0; i < 1000; ++i) stars += "*a";
  EXPECT_FALSE(glob_matches(stars + "b", std::string(1000, 'a')));
}

TEST(NearestName, FindsWhatWasMeant) {
  const std::vector<std::string> names = {"run", "list", "roofline", "matmul/tiled", "matmul/naive", "transpose/smem"};
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("rnu", "run"), 1U);  // a swap is one edit
  EXPECT_EQ(nearest_name("rnu", names), "run");
  EXPECT_EQ(nearest_name("LIST", names), "list");
  EXPECT_EQ(nearest_name("roof", names), "roofline");
  EXPECT_EQ(nearest_name("matmul/tield", names), "matmul/tiled");
  EXPECT_EQ(nearest_name("tield", names), "matmul/tiled");
  EXPECT_EQ(nearest_name("matmull/naive", names), "matmul/naive");
  EXPECT_EQ(nearest_name("xyzzy", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name(std::string(100'000, 'a'), names), "");
  EXPECT_EQ(did_you_mean("rnu", names), "; did you mean 'run'?");
  EXPECT_EQ(did_you_mean("xyzzy", names), "");
  EXPECT_EQ(list_names({"a", "b", "c"}, 2), "a, b and 1 more");
  EXPECT_EQ(list_names({}), "none");
}

}  // namespace
}  // namespace gpuexp
