// Requests per site where lanes part and meet again: as on SIMT hardware, whatever the compiler and the schedule.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/simt/engine_lab.h"

namespace gpuexp::test {
namespace {

int inner_count(std::int64_t lane, std::int64_t outer) { return static_cast<int>((lane * 7 + outer * 5) % 13); }

PointResult run_merging(const std::string& kernel, Schedule schedule = Schedule::forward) {
  Lab lab;
  lab.buffers = {{"in", DType::int32, 4096, Role::in}, {"out", DType::int32, 64, Role::out}};
  lab.input = [](std::size_t, std::int64_t i) { return double(i < 256 ? inner_count(i / 8, i % 8) : 1); };
  RunOptions options;
  options.schedule = schedule;
  PointResult result = run(kernel, lab, {}, options);
  EXPECT_EQ(result.status, Status::ok) << result.reason;
  EXPECT_TRUE(result.findings.empty()) << result.findings.front().message;
  return result;
}

struct Sum {
  std::uint64_t requests = 0, lanes = 0;
};
Sum at(const PointResult& result, const std::string& text, const std::string& op) {
  const int line = line_of("merging.cu", text);
  Sum sum;
  for (const SiteRow& row : result.sites) {
    if (row.site.line != line || row.op != op) continue;
    sum.requests += row.requests;
    sum.lanes += row.lanes;
  }
  return sum;
}

TEST(EngineMerging, NestedLoopsIssueTheLongestLanesTripCount) {
  std::uint64_t requests = 0, lanes = 0;
  for (int o = 0; o < 4; ++o) {
    int longest = 0;
    for (int lane = 0; lane < 32; ++lane) {
      longest = std::max(longest, inner_count(lane, o));
      lanes += static_cast<std::uint64_t>(inner_count(lane, o));
    }
    requests += static_cast<std::uint64_t>(longest);
  }
  for (const Schedule schedule : {Schedule::forward, Schedule::reverse, Schedule::random}) {
    const PointResult result = run_merging("nested_loops", schedule);
    const Sum inner = at(result, "// inner access", "load");
    EXPECT_EQ(inner.requests, requests);
    EXPECT_EQ(inner.lanes, lanes);
  }
}

TEST(EngineMerging, LoopWithNoAccessAfterIt) {
  const Sum sum = at(run_merging("nothing_after"), "// only access", "store");
  EXPECT_EQ(sum.requests, 4U + 5U + 6U);
  EXPECT_EQ(sum.lanes, 8U * ((1 + 2 + 3 + 4) + (2 + 3 + 4 + 5) + (3 + 4 + 5 + 6)));
}

TEST(EngineMerging, EarlyReturn) {
  const PointResult result = run_merging("early_return");
  const Sum sum = at(result, "// until the lane returns", "store");
  EXPECT_EQ(sum.requests, 3U);  // lanes 24.. go on longest: i = 0, 1, 2
  EXPECT_EQ(sum.lanes, 4U * (0 + 1 + 2 + 3));
  EXPECT_EQ(at(result, "// until the lane returns", "load").requests, 3U);
}

TEST(EngineMerging, Break) {
  const PointResult result = run_merging("loop_break");
  EXPECT_EQ(at(result, "// before the break", "load").requests, 5U);
  EXPECT_EQ(at(result, "// after the loop", "store").requests, 1U);
  EXPECT_EQ(at(result, "// after the loop", "store").lanes, 32U);
}

TEST(EngineMerging, Continue) {
  const PointResult result = run_merging("loop_continue");
  EXPECT_EQ(at(result, "// half of the lanes", "load").requests, 8U);
  EXPECT_EQ(at(result, "// half of the lanes", "load").lanes, 8U * 16U);
  EXPECT_EQ(at(result, "// all together", "store").requests, 1U);
}

TEST(EngineMerging, DeviceFunctionInBothArms) {
  const PointResult result = run_merging("both_arms");
  const Sum calls = at(result, "// called from both arms", "load");
  EXPECT_EQ(calls.requests, 2U);
  EXPECT_EQ(calls.lanes, 32U);
  EXPECT_EQ(at(result, "// together again", "store").requests, 1U);
}

TEST(EngineMerging, Switch) {
  const PointResult result = run_merging("switch_cases");
  for (const char* text : {"// case 0", "// case 1", "// default case"}) {
    EXPECT_EQ(at(result, text, "load").requests, 1U) << text;
  }
  EXPECT_EQ(at(result, "// after the switch", "store").requests, 1U);
}

TEST(EngineMerging, EndlessLoopsLeftByBreaks) {
  const PointResult result = run_merging("while_nested_break");
  EXPECT_EQ(at(result, "// endless inner access", "load").requests, 4U * 3U);
  EXPECT_EQ(at(result, "// endless outer access", "store").requests, 4U);
  EXPECT_EQ(at(result, "// after both loops", "store").requests, 1U);
}

TEST(EngineMerging, TracesLongerThanTheBuffer) {
  for (const Schedule schedule : {Schedule::forward, Schedule::reverse, Schedule::random}) {
    const PointResult result = run_merging("long_divergent", schedule);
    EXPECT_EQ(at(result, "// long inner access", "load").requests, 5U * (1000 + 3100));
    EXPECT_EQ(at(result, "// long inner access", "load").lanes, 5U * (32 * 1000 + 100 * 496));
    EXPECT_EQ(at(result, "// long outer access", "store").requests, 5U);
  }
}

}  // namespace
}  // namespace gpuexp::test
