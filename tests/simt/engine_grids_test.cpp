// Limits of launches, sampling of large grids, and results that do not depend on the number of OS threads.
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/backend/simt/sampling.h"
#include "tests/simt/engine_lab.h"

namespace gpuexp::test {
namespace {

TEST(EngineLimits, LaunchesThatNoDeviceAccepts) {
  const std::pair<ParamSet, const char*> bad[] = {
      {with({{"gx", 2147483648}}), "2147483648 x 1 x 1"},
      {with({{"gx", 4294967297}}), "4294967297 x 1 x 1"},
      {with({{"gy", 65536}}), "1 x 65536 x 1"},
      {with({{"gz", 65536}}), "1 x 1 x 65536"},
      {with({{"gx", -1}}), "-1 x 1 x 1"},
      {with({{"bx", 1025}}), "1025 x 1 x 1"},
      {with({{"bx", 0}}), "0 x 1 x 1"},
      {with({{"bx", 32}, {"by", 33}}), "32 x 33 x 1"},
      {with({{"bx", 1}, {"bz", 65}}), "1 x 1 x 65"},
      {with({{"shared", 227 * 1024 + 1}}), "232449"},
      {with({{"shared", -1}}), "-1"},
  };
  for (const auto& [params, text] : bad) {
    const PointResult result = run("any_grid", floats(1024), params);
    EXPECT_EQ(result.status, Status::failed) << text;
    EXPECT_NE(result.reason.find(text), std::string::npos) << result.reason;
    EXPECT_NE(result.reason.find("at most"), std::string::npos) << result.reason;
    EXPECT_EQ(result.blocks_run, 0);
  }
  EXPECT_EQ(run("any_grid", floats(1024), with({{"bx", 1024}, {"shared", 227 * 1024}})).status, Status::ok);
}

TEST(EngineLimits, NothingToDo) {
  const PointResult result = run("any_grid", floats(0, [](std::int64_t) { return 0.0; }), with({{"gx", 0}, {"n", 0}}));
  EXPECT_EQ(result.status, Status::ok) << result.reason;
  EXPECT_EQ(result.blocks_total, 0);
  EXPECT_EQ(result.verification.state, Verification::State::passed);
}

TEST(EngineLimits, ErrorsOfLaunchFunctions) {
  const PointResult wrong = run("wrong_buffer", floats(32));
  EXPECT_EQ(wrong.status, Status::failed);
  EXPECT_NE(wrong.reason.find("did you mean 'out'"), std::string::npos) << wrong.reason;
  const PointResult refused = run("refuses", floats(32));
  EXPECT_EQ(refused.status, Status::unsupported);
  EXPECT_EQ(refused.reason, "only on Tuesdays");
}

TEST(EngineLimits, MemoryIsCheckedBeforeItIsTaken) {
  RunOptions options;
  options.memory_limit_bytes = 1 << 20;
  options.lane_access_budget = 0;
  const PointResult result = run("scale_far", floats(1 << 20), with({{"n", 1 << 20}}), options);
  EXPECT_EQ(result.status, Status::out_of_memory);
}

TEST(EngineSampling, StrataCoverTheGridOnce) {
  for (const Dim3 grid : {Dim3{1, 1, 1}, Dim3{2, 1, 5}, Dim3{7, 3, 2}, Dim3{1000, 1, 1}}) {
    std::uint64_t blocks = 0;
    for (const simt::Stratum& stratum : simt::strata_of(grid)) blocks += stratum.blocks();
    EXPECT_EQ(blocks, static_cast<std::uint64_t>(grid.count()));
    std::vector<bool> seen(static_cast<std::size_t>(grid.count()));
    for (const simt::SampledBlock& one : simt::plan_sample(grid, UINT64_MAX / 2)) {
      ASSERT_LT(one.block, seen.size());
      EXPECT_FALSE(seen[one.block]);
      seen[one.block] = true;
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), grid.count());
  }
  EXPECT_EQ(simt::strata_of({3, 3, 3}).size(), 27U);
}

TEST(EngineSampling, ScalingIsExactWhenSamplesAgree) {
  EXPECT_EQ(simt::scale({5, 5, 5}, 1000).value, 5000U);
  EXPECT_FALSE(simt::scale({5, 5, 5}, 1000).estimated);
  const simt::Scaled uneven = simt::scale({4, 6}, 100);
  EXPECT_EQ(uneven.value, 500U);
  EXPECT_TRUE(uneven.estimated);
  EXPECT_DOUBLE_EQ(uneven.variance, 100.0 * 100.0 * 2.0 / 2.0 * 0.98);
  EXPECT_FALSE(simt::scale({4, 6}, 2).estimated);
}

TEST(EngineSampling, GuardedEdgesAreExact) {
  RunOptions whole, sampled;
  whole.lane_access_budget = 0;
  sampled.lane_access_budget = 100'000;
  const Lab lab = floats(1'000'000, [](std::int64_t i) { return double(i); });
  const PointResult all = run("copy_2d", lab, {}, whole);
  const PointResult some = run("copy_2d", lab, {}, sampled);
  ASSERT_EQ(all.status, Status::ok) << all.reason;
  ASSERT_EQ(some.status, Status::ok) << some.reason;
  EXPECT_EQ(all.blocks_run, 4000);
  EXPECT_LT(some.blocks_run, 400);
  EXPECT_EQ(some.blocks_total, 4000);
  for (const char* id : {"global_load_lanes", "global_load_requests", "global_store_lanes"}) {
    EXPECT_EQ(counter(all, id), counter(some, id)) << id;
    EXPECT_FALSE(some.counters.at(id).estimated) << id;
  }
  EXPECT_EQ(some.verification.state, Verification::State::passed);
  EXPECT_NE(some.verification.scope.find("/4000"), std::string::npos) << some.verification.scope;
  const Quantity& distinct = some.counters.at("distinct_load_sectors");
  EXPECT_FALSE(distinct.has_value());
  EXPECT_FALSE(distinct.reason.empty());
  EXPECT_EQ(counter(all, "distinct_load_sectors"), 125'000U);
}

TEST(EngineSampling, UnevenBlocksAreEstimated) {
  RunOptions options;
  options.lane_access_budget = 20'000;
  const PointResult result = run("uneven", floats(1 << 20), with({{"n", 1 << 20}}), options);
  ASSERT_EQ(result.status, Status::ok) << result.reason;
  const Quantity& loads = result.counters.at("global_load_requests");
  EXPECT_TRUE(loads.estimated);
  EXPECT_GT(loads.standard_error, 0);
  EXPECT_NEAR(*loads.number(), 3.0 * 32768, 5 * loads.standard_error);
  EXPECT_FALSE(result.counters.at("global_store_requests").estimated);
  EXPECT_EQ(counter(result, "global_store_requests"), 32768U);
}

TEST(EngineSampling, SeveralLaunchesAndAtomicsRunWhole) {
  RunOptions options;
  options.lane_access_budget = 1000;
  const PointResult twice =
      run("two_launches", floats(65536, [](std::int64_t i) { return double(i + 2); }), with({{"n", 65536}}), options);
  ASSERT_EQ(twice.status, Status::ok) << twice.reason;
  EXPECT_EQ(twice.blocks_run, 4096);
  EXPECT_EQ(twice.launches.size(), 2U);
  EXPECT_EQ(twice.verification.state, Verification::State::passed);
  EXPECT_TRUE(twice.findings.empty());
  const PointResult late =
      run("late_atomic", floats(65536, [](std::int64_t i) { return double(i + (i >= 65536 - 32)); }),
          with({{"n", 65536}}), options);
  ASSERT_EQ(late.status, Status::ok) << late.reason;
  EXPECT_EQ(late.blocks_run, 2048);
  EXPECT_EQ(late.verification.state, Verification::State::passed);
}

TEST(EngineSampling, IndicesBeyondTwoToTheThirtyFirst) {
  const std::int64_t n = (std::int64_t{1} << 31) + 1000;
  RunOptions options;
  options.lane_access_budget = 100'000;
  const PointResult result =
      run("scale_far", floats(n, [](std::int64_t i) { return 2.0 * double(i % 1000003); }), with({{"n", n}}), options);
  ASSERT_EQ(result.status, Status::ok) << result.reason;
  EXPECT_EQ(counter(result, "global_load_lanes"), static_cast<std::uint64_t>(n));
  EXPECT_EQ(result.verification.state, Verification::State::passed);
  EXPECT_TRUE(result.findings.empty());
}

// Everything of a result but how long it took.
std::string all_of(const PointResult& result) {
  std::string text = result.verification.scope + std::to_string(result.verification.wrong);
  for (const auto& [id, value] : result.counters) {
    text += id + "=" + (value.number() ? std::to_string(*value.number()) : value.reason) +
            std::to_string(value.standard_error) + "\n";
  }
  for (const SiteRow& row : result.sites) {
    text += row.site.to_text() + row.buffer + row.op + std::to_string(row.requests) + " " + std::to_string(row.lanes) +
            " " + std::to_string(row.sectors) + " " + std::to_string(row.bank_conflicts) + "\n";
  }
  for (const Finding& finding : result.findings) {
    text += finding.kind + finding.site.to_text() + finding.message + std::to_string(finding.occurrences) +
            std::to_string(finding.block.x) + "," + std::to_string(finding.thread.x) + "\n";
  }
  return text;
}

TEST(EngineDeterminism, OneThreadOrMany) {
  for (const std::uint64_t budget : {std::uint64_t{0}, std::uint64_t{50'000}}) {
    std::string first;
    for (const int threads : {1, 2, 7}) {
      RunOptions options;
      options.threads = threads;
      options.lane_access_budget = budget;
      std::string text =
          all_of(run("copy_2d", floats(1'000'000, [](std::int64_t i) { return double(i); }), {}, options));
      text += all_of(run("same_word", floats(128), {}, options));
      text += all_of(run("uneven", floats(1 << 16), with({{"n", 1 << 16}}), options));
      if (first.empty()) first = text;
      EXPECT_EQ(text, first) << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace gpuexp::test
