// Every gemv and sparse24 variant on every length and alignment of rows; and the lecture's figures.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "profiler/core/error.h"
#include "tests/kernels/points.h"

namespace gpuexp {
namespace {

using test::count;
using test::describe;
using test::emulated;
using test::over_sites;
using test::params;
using test::run;
using test::sound;
using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<Workload> gemv_workload(std::string_view variant, const std::string& text) {
  const Variant& found = *find_variant(variant);
  return find_problem(found.problem)->make(complete_params(found, params(text)), 1);
}

std::string shape(int m, int n) { return "m=" + std::to_string(m) + " n=" + std::to_string(n) + " "; }

TEST(Gemv, RowMajorGoldenProduct) {
  const auto made = gemv_workload("gemv/auto", "m=3 n=2 inputs=counting");
  const std::size_t y = made->buffers().size() - 1;
  EXPECT_EQ(made->expected(y, 0).value, 5.0);
  EXPECT_EQ(made->expected(y, 1).value, 11.0);
  EXPECT_EQ(made->expected(y, 2).value, 17.0);
  for (const std::string& variant : emulated("gemv/*")) {
    const PointResult result = run(variant, "m=3 n=2 inputs=counting");
    EXPECT_TRUE(sound(result)) << describe(result);
    EXPECT_EQ(result.verification.max_error, 0.0) << variant;
  }
  // With a bias of 1, 2, 3.
  EXPECT_EQ(gemv_workload("gemv/auto", "m=3 n=2 inputs=counting bias=1")->expected(3, 2).value, 20.0);
}

TEST(Gemv, EveryVariantOnEveryLengthAndAlignmentOfRows) {
  ASSERT_GE(emulated("gemv/*").size(), 6U);
  for (const std::string& variant : emulated("gemv/*")) {
    for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 33, 64, 65, 127, 128, 1000, 1023, 1025, 2049}) {
      for (const char* bias : {"bias=0", "bias=1"}) {
        const PointResult result = run(variant, shape(5, n) + bias);
        EXPECT_TRUE(sound(result)) << describe(result);
        EXPECT_EQ(result.verification.checked, 5U) << describe(result);
      }
    }
  }
}

TEST(Gemv, HalfPrecisionWeights) {
  for (const std::string& variant : emulated("gemv/*")) {
    for (const char* dtype : {"float16", "bfloat16"}) {
      for (const int n : {1, 3, 6, 7, 64, 130, 1025}) {
        const PointResult result = run(variant, shape(7, n) + "bias=1 dtype=" + dtype);
        EXPECT_TRUE(sound(result)) << describe(result);
      }
    }
  }
}

TEST(Gemv, ManyRowsAndNone) {
  for (const std::string& variant : emulated("gemv/*")) {
    for (const auto& [m, n] : {std::pair{0, 5}, {5, 0}, {0, 0}, {1, 1}, {300, 3}, {33, 70}}) {
      for (const char* bias : {"bias=0", "bias=1"}) {
        const PointResult result = run(variant, shape(m, n) + bias);
        EXPECT_EQ(result.status, Status::ok) << describe(result);
        EXPECT_TRUE(result.findings.empty()) << describe(result);
        EXPECT_EQ(result.verification.wrong, 0U) << describe(result);
      }
    }
  }
}

TEST(Gemv, MoreRowsThanBlocks) {
  for (const char* variant : {"gemv/block_per_row", "gemv/block_per_row_float4"}) {
    const PointResult result = run(variant, "m=11 n=300 max_blocks=3 bias=1 block=64");
    EXPECT_TRUE(sound(result)) << describe(result);
    EXPECT_EQ(result.blocks_total, 3);
    EXPECT_EQ(result.verification.checked, 11U);
  }
}

TEST(Gemv, AnyScheduleIsFreeOfRaces) {
  for (const std::string& variant : emulated("gemv/*")) {
    for (const Schedule schedule : {Schedule::reverse, Schedule::random}) {
      RunOptions options;
      options.schedule = schedule;
      // Two rows a block, so that shared memory is used again.
      const bool blocks = variant.find("block_per_row") != std::string::npos;
      const PointResult result = run(variant, std::string("m=20 n=2100 ") + (blocks ? "max_blocks=10" : ""), options);
      EXPECT_TRUE(sound(result)) << describe(result);
    }
  }
}

// Blocks that stride over the rows: the first do a round more than the others, which a sample must not miss.
TEST(Gemv, ASampleOfUnevenRoundsIsAnEstimate) {
  RunOptions options;
  options.lane_access_budget = 400'000;
  for (const int rows : {101, 120, 150, 199}) {
    const PointResult result = run("gemv/block_per_row", fmt::format("m={} n=40960 max_blocks=100", rows), options);
    ASSERT_LT(result.blocks_run, 100) << describe(result);
    EXPECT_TRUE(result.counters.at("global_store_lanes").estimated || count(result, "global_store_lanes") == 1U * rows)
        << rows << ": " << count(result, "global_store_lanes");
  }
}

TEST(Gemv, SizesThatDoNotFitAreRefused) {
  try {
    gemv_workload("gemv/auto", "m=1099511627776 n=1099511627776");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("m=1099511627776"));
  }
  EXPECT_EQ(run("gemv/warp_per_row", "n=32 block=40").status, Status::unsupported);
}

TEST(GemvFigures, IntensityIsHalfAFlopPerByte) {
  const auto made = gemv_workload("gemv/auto", "n=4096");
  const double bytes = static_cast<double>(made->compulsory_load_bytes() + made->compulsory_store_bytes());
  EXPECT_EQ(made->flops(), 2.0 * 4096 * 4096);
  EXPECT_NEAR(made->flops() / bytes, 0.5, 0.001);
}

TEST(GemvFigures, AThreadPerRowUsesAnEighthOfItsSectors) {
  const PointResult thread = run("gemv/thread_per_row", "m=64 n=1024");
  const auto requests = over_sites(thread, "A", "load", &SiteRow::requests);
  EXPECT_EQ(requests, 2U * 1024U);
  EXPECT_EQ(over_sites(thread, "A", "load", &SiteRow::sectors), 32 * requests);
  EXPECT_EQ(over_sites(thread, "A", "load", &SiteRow::lines), 32 * requests);  // 4 of 128 bytes: 3.1 %
  EXPECT_EQ(over_sites(thread, "A", "load", &SiteRow::ideal_sectors), 4 * requests);

  for (const char* variant : {"gemv/block_per_row", "gemv/warp_per_row"}) {
    const PointResult block = run(variant, "m=64 n=1024");
    EXPECT_EQ(over_sites(block, "A", "load", &SiteRow::sectors), 64U * 1024U / 8U) << variant;
    EXPECT_EQ(over_sites(block, "A", "load", &SiteRow::sectors),
              over_sites(block, "A", "load", &SiteRow::ideal_sectors));
  }
}

TEST(GemvFigures, ThreeRowsOf1024AreFourTripsOf256Threads) {
  const PointResult result = run("gemv/block_per_row", "m=3 n=1024 block=256");
  EXPECT_EQ(result.blocks_total, 3);
  EXPECT_EQ(over_sites(result, "A", "load", &SiteRow::requests), 3U * 8U * 4U);  // blocks x warps x trips
  EXPECT_EQ(over_sites(result, "y", "store", &SiteRow::lanes), 3U);
  EXPECT_EQ(count(result, "global_atomic_requests"), 0U);
}

TEST(GemvFigures, ARowOf128LeavesHalfOf256ThreadsIdle) {
  const PointResult result = run("gemv/block_per_row", "m=4 n=128 block=256");
  EXPECT_EQ(over_sites(result, "A", "load", &SiteRow::requests), 4U * 4U);  // 4 of each block's 8 warps load
  EXPECT_EQ(over_sites(result, "A", "load", &SiteRow::lanes), 4U * 128U);
}

TEST(GemvFigures, FourElementsALoadQuarterTheInstructions) {
  const PointResult one = run("gemv/block_per_row", "m=8 n=4096"),
                    four = run("gemv/block_per_row_float4", "m=8 n=4096");
  EXPECT_EQ(over_sites(one, "A", "load", &SiteRow::requests), 4 * over_sites(four, "A", "load", &SiteRow::requests));
  EXPECT_EQ(over_sites(one, "A", "load", &SiteRow::sectors), over_sites(four, "A", "load", &SiteRow::sectors));
  // Rows off the boundary: a request of 512 bytes that starts within a sector touches 17 instead of 16, and the
  // elements at a row's two ends are requests of their own.
  const PointResult odd = run("gemv/block_per_row_float4", "m=8 n=4099");
  EXPECT_LE(over_sites(odd, "A", "load", &SiteRow::sectors), 8U * (4099U / 8U * 17U / 16U + 4U));
}

TEST(GemvFigures, VectorsAndRowsInRegistersCutTheRequests) {
  const PointResult one = run("gemv/warp_per_row", "m=64 n=4096"), four = run("gemv/vector_lanes", "m=64 n=4096"),
                    rows = run("gemv/rows_in_registers", "m=64 n=4096 ROWS=4 STEPS=1"),
                    block = run("gemv/vector_block", "m=64 n=4096 ROWS=4 STEPS=1");
  for (const PointResult* result : {&four, &rows, &block}) {
    EXPECT_EQ(over_sites(one, "A", "load", &SiteRow::requests),
              4 * over_sites(*result, "A", "load", &SiteRow::requests));
    EXPECT_EQ(over_sites(one, "A", "load", &SiteRow::sectors), over_sites(*result, "A", "load", &SiteRow::sectors));
  }
  EXPECT_EQ(over_sites(four, "x", "load", &SiteRow::lanes), 64U * 4096U / 4U);
  EXPECT_EQ(over_sites(rows, "x", "load", &SiteRow::lanes), 64U * 4096U / 16U);
  EXPECT_EQ(over_sites(block, "x", "load", &SiteRow::lanes), 64U * 4096U / 16U);
  const PointResult half = run("gemv/vector_lanes", "m=64 n=4096 dtype=float16");
  EXPECT_EQ(over_sites(one, "A", "load", &SiteRow::requests), 8 * over_sites(half, "A", "load", &SiteRow::requests));
}

TEST(GemvFigures, ShortRowsGetAsManyLanesAsVectors) {
  // 16 floats are 4 vectors: 8 rows share a warp, and no lane idles.
  const PointResult result = run("gemv/vector_lanes", "m=64 n=16");
  EXPECT_EQ(over_sites(result, "A", "load", &SiteRow::requests), 8U);
  EXPECT_EQ(over_sites(result, "A", "load", &SiteRow::lanes), 8U * 32U);
  EXPECT_EQ(run("gemv/vector_lanes", "m=64 n=16 lanes=3").status, Status::unsupported);
}

TEST(Gemv, EveryInstanceOfTheVectorKernels) {
  for (const char* variant : {"gemv/vector_lanes", "gemv/rows_in_registers", "gemv/vector_block"}) {
    for (const VariantInstance& instance : match_variants(variant).front()->instances) {
      for (const char* shape : {"m=11 n=1036 bias=1", "m=5 n=4104", "m=3 n=37"}) {
        const PointResult result = run(variant, instance.params.to_text() + " block=64 " + shape);
        EXPECT_TRUE(sound(result)) << describe(result);
      }
    }
  }
}

TEST(GemvFigures, StagedXIsLoadedOnceForAllRowsOfABlock) {
  const PointResult block = run("gemv/block_per_row", "m=64 n=2048"),
                    staged = run("gemv/multi_row", "m=64 n=2048 ROWS=4");
  EXPECT_EQ(over_sites(block, "x", "load", &SiteRow::lanes), 64U * 2048U);
  EXPECT_EQ(over_sites(staged, "x", "load", &SiteRow::lanes), 2U * 2048U);  // two blocks of 32 rows
  EXPECT_EQ(over_sites(staged, "A", "load", &SiteRow::sectors), 64U * 2048U / 8U);
  EXPECT_EQ(count(staged, "shared_load_bank_conflicts"), 0U);
}

TEST(GemvFigures, TheDispatcherFollowsTheLecturesBounds) {
  const auto kernel = [](const std::string& text) { return run("gemv/auto", text).launches.at(0); };
  EXPECT_THAT(kernel("m=8 n=64").kernel, HasSubstr("warp"));
  EXPECT_THAT(kernel("m=8 n=65").kernel, HasSubstr("block"));
  EXPECT_EQ(kernel("m=8 n=1023").block.x, 128);
  EXPECT_EQ(kernel("m=8 n=1024").block.x, 256);
  EXPECT_THAT(kernel("m=8 n=2048 warp_up_to=2048").kernel, HasSubstr("warp"));
  EXPECT_EQ(kernel("m=8 n=512 block_from=512").block.x, 256);
}

TEST(Sparse24, EveryVariantOnEveryLengthOfRows) {
  for (const std::string& variant : emulated("sparse24/*")) {
    for (const int n : {1, 2, 3, 4, 5, 8, 9, 31, 32, 33, 100, 128, 129, 1000, 4096}) {
      const PointResult result = run(variant, shape(9, n));
      EXPECT_TRUE(sound(result)) << describe(result);
      EXPECT_EQ(result.verification.checked, 9U);
    }
    for (const auto& [m, n] : {std::pair{0, 8}, {8, 0}}) {
      const PointResult result = run(variant, shape(m, n));
      EXPECT_EQ(result.status, Status::ok) << describe(result);
      EXPECT_EQ(result.verification.wrong, 0U) << describe(result);
    }
  }
}

TEST(Sparse24, PackedWeightsAre9BitsAndAreLoadedOnce) {
  const PointResult packed = run("sparse24/warp_per_row", "m=64 n=4096"),
                    dense = run("sparse24/pruned_dense", "m=64 n=4096");
  EXPECT_EQ(packed.facts.real("packed_bits_per_weight"), 9.0);
  EXPECT_EQ(packed.facts.real("packed_percent_of_dense"), 56.25);
  EXPECT_EQ(packed.flops, 64.0 * 4096);
  const std::uint64_t weights = 64U * 4096U;
  // Values: 2 of 4 weights; each word of positions is read by the 8 lanes that share it, in one request.
  EXPECT_EQ(over_sites(packed, "values", "load", &SiteRow::sectors), weights / 32);
  EXPECT_EQ(over_sites(packed, "positions", "load", &SiteRow::requests), weights / 128);
  EXPECT_EQ(over_sites(dense, "W", "load", &SiteRow::sectors), weights / 16);
  const double ratio = static_cast<double>(weights / 2 * 2 + weights / 8) / static_cast<double>(weights * 2);
  EXPECT_EQ(ratio, 0.5625);
  EXPECT_EQ(packed.compulsory_load_bytes - 4096 * 4,
            static_cast<std::uint64_t>(static_cast<double>(weights * 2) * ratio));
  EXPECT_EQ(dense.compulsory_load_bytes - 4096 * 4, weights * 2);
}

}  // namespace
}  // namespace gpuexp
