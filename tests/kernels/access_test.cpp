// The access variants on the emulator: the lecture's tables of coalescing and bank conflicts, and files of patterns.
#include <gmock/gmock.h>

#include "points.h"
#include "profiler/backend/simt/access_pattern.h"

namespace gpuexp {
namespace {

using test::describe;
using test::over_sites;
using test::over_space;
using test::run;
using test::sound;

struct GlobalRow {
  const char* params;
  std::uint64_t sectors;
};
class Coalescing : public testing::TestWithParam<GlobalRow> {};

TEST_P(Coalescing, CostsTheSectorsTouched) {
  const PointResult result = run("access/strided", GetParam().params);
  ASSERT_TRUE(sound(result)) << describe(result);
  EXPECT_EQ(over_sites(result, "in", "load", &SiteRow::requests), 1U);
  EXPECT_EQ(over_sites(result, "in", "load", &SiteRow::sectors), GetParam().sectors);
}

INSTANTIATE_TEST_SUITE_P(Table, Coalescing,
                         testing::Values(GlobalRow{"stride=1", 4}, GlobalRow{"stride=1 offset=1", 5},
                                         GlobalRow{"stride=1 offset=3", 5}, GlobalRow{"stride=1 offset=8", 4},
                                         GlobalRow{"stride=2", 8}, GlobalRow{"stride=3", 12}, GlobalRow{"stride=4", 16},
                                         GlobalRow{"stride=8", 32}, GlobalRow{"stride=9", 32},
                                         GlobalRow{"stride=32", 32}, GlobalRow{"stride=0", 1},
                                         GlobalRow{"stride=0 offset=5", 1}, GlobalRow{"width=1", 1},
                                         GlobalRow{"width=2", 2}, GlobalRow{"width=8", 8}, GlobalRow{"width=16", 16},
                                         GlobalRow{"width=16 stride=2", 32}, GlobalRow{"count=1", 1},
                                         GlobalRow{"count=7 offset=5", 2}));

TEST(Coalescing, ManyWarpsAddUp) {
  const PointResult result = run("access/strided", "count=1000 block=128 stride=2");
  ASSERT_TRUE(sound(result)) << describe(result);
  EXPECT_EQ(over_sites(result, "in", "load", &SiteRow::requests), 32U);  // 31 full warps and one of 8 lanes
  EXPECT_EQ(over_sites(result, "in", "load", &SiteRow::sectors), 31U * 8 + 2);
  EXPECT_EQ(result.compulsory_load_bytes, 4'000U);
}

TEST(Coalescing, NothingToReadIsFine) {
  const PointResult result = run("access/strided", "count=0");
  EXPECT_TRUE(result.good()) << describe(result);
}

struct SharedRow {
  const char* params;
  std::uint64_t wavefronts, conflicts;
};
class Banks : public testing::TestWithParam<SharedRow> {};

TEST_P(Banks, CostTheWordsThatMeetInOne) {
  const PointResult result = run("access/shared_strided", GetParam().params);
  ASSERT_TRUE(sound(result)) << describe(result);
  EXPECT_EQ(over_space(result, "shared", "load", &SiteRow::requests), 1U);
  EXPECT_EQ(over_space(result, "shared", "load", &SiteRow::wavefronts), GetParam().wavefronts);
  EXPECT_EQ(over_space(result, "shared", "load", &SiteRow::bank_conflicts), GetParam().conflicts);
}

INSTANTIATE_TEST_SUITE_P(Table, Banks,
                         testing::Values(SharedRow{"stride=0", 1, 0}, SharedRow{"stride=1", 1, 0},
                                         SharedRow{"stride=2", 2, 1}, SharedRow{"stride=3", 1, 0},
                                         SharedRow{"stride=4", 4, 3}, SharedRow{"stride=8", 8, 7},
                                         SharedRow{"stride=16", 16, 15}, SharedRow{"stride=32", 32, 31},
                                         SharedRow{"stride=33", 1, 0}, SharedRow{"stride=64", 32, 31},
                                         SharedRow{"width=8", 2, 0}, SharedRow{"width=16", 4, 0},
                                         SharedRow{"width=16 stride=8", 32, 28}, SharedRow{"width=1", 1, 0},
                                         SharedRow{"width=2", 1, 0}, SharedRow{"width=2 stride=64", 32, 31}));

TEST(Banks, TooLargeAStrideIsUnsupportedWithItsReason) {
  const PointResult result = run("access/shared_strided", "stride=4096");
  EXPECT_EQ(result.status, Status::unsupported);
  EXPECT_THAT(result.reason, testing::HasSubstr("48 KiB"));
}

// Every row of the shipped file, measured on an H200, comes out of the emulator as it was measured.
TEST(Patterns, RunAsKernelsReproduceEveryMeasuredRow) {
  const auto rows =
      simt::read_access_patterns(std::string(GPUEXP_SOURCE_DIR) + "/configs/patterns/h200_access_patterns.csv");
  const Variant& variant = *find_variant("access/pattern");
  const std::vector<ParamSet> points = expand_params(variant, {});
  ASSERT_EQ(points.size(), rows.size());
  ASSERT_GE(rows.size(), 126U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const simt::AccessPattern& row = rows[i];
    const PointResult result = test::simt().run({variant.name, points[i], 1}, {});
    ASSERT_TRUE(sound(result)) << describe(result);
    const std::string_view space = simt::to_text(row.space), op = simt::to_text(row.kind);
    std::size_t stated = 0;  // counts that reports compare: of this row, with the counters of the whole run
    for (const auto& [name, value] : result.facts.values()) {
      ASSERT_TRUE(name.starts_with("expected:")) << name;
      const auto counter = result.counters.find(name.substr(9));
      ASSERT_NE(counter, result.counters.end()) << name;
      EXPECT_EQ(counter->second.number(), static_cast<double>(std::get<std::int64_t>(value))) << points[i].to_text();
      ++stated;
    }
    const auto& known = row.expected;
    EXPECT_EQ(stated, (known.requests ? 1U : 0) + (known.sectors ? 1U : 0) + (known.wavefronts ? 1U : 0) +
                          (known.bank_conflicts ? 1U : 0));
    const auto expect = [&](const std::optional<std::uint64_t>& measured, std::uint64_t SiteRow::*field) {
      if (measured) {
        EXPECT_EQ(over_space(result, space, op, field), *measured) << points[i].to_text();
      }
    };
    expect(row.expected.requests, &SiteRow::requests);
    expect(row.expected.sectors, &SiteRow::sectors);
    expect(row.expected.wavefronts, &SiteRow::wavefronts);
    expect(row.expected.bank_conflicts, &SiteRow::bank_conflicts);
  }
}

}  // namespace
}  // namespace gpuexp
