// Times repeat, the copy is as fast as the driver's, and counters are there or say why.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>

#include "profiler/backend/cuda/statistics.h"
#include "tests/gpu/gpu_fixture.h"

namespace gpuexp {
namespace {

class Measurement : public GpuTest {
 protected:
  static double median_us(const PointResult& result) {
    return result.timing ? cuda::median(result.timing->samples_us).value_or(0) : 0;
  }
  static RunOptions times_only() {
    RunOptions options;
    options.count = options.predict = false;
    return options;
  }
};

TEST_F(Measurement, MediansOfSeparateRunsAgreeWithinOnePercent) {
  for (const char* variant : {"transpose/naive", "transpose/smem_padded"}) {
    double least = 1e300, most = 0;
    for (int run = 0; run < 5; ++run) {
      const std::unique_ptr<Backend> fresh = make_cuda_backend(nullptr);  // a process and a context of its own
      const double time = median_us(fresh->run(point(variant, with("rows", 4096)), times_only()));
      least = std::min(least, time);
      most = std::max(most, time);
    }
    EXPECT_GT(least, 50) << variant;
    EXPECT_LE(most / least, 1.01) << variant << ": " << least << " to " << most << " us";
  }
}

TEST_F(Measurement, TheCopyKernelIsWithinThreePercentOfTheDriversCopy) {
  const ParamSet n = with("n", std::int64_t{1} << 27U);
  const double kernel = median_us(backend().run(point("copy/float4", n), times_only()));
  const double driver = median_us(backend().run(point("copy/memcpy", n), times_only()));
  EXPECT_LE(kernel, 1.03 * driver);
}

// The profiler stays enabled from point to point. (One process at a time can have it, so the other one only times.)
TEST_F(Measurement, CountingLeavesLaterTimesAsTheyWere) {
  const Point p = point("transpose/smem_padded", with("rows", 4096));
  const std::unique_ptr<Backend> never_counts = make_cuda_backend(nullptr);
  const double undisturbed = median_us(never_counts->run(p, times_only()));
  RunOptions counting = times_only();
  counting.count = true;
  const PointResult counted = backend().run(p, counting);
  const double after = median_us(backend().run(p, times_only()));
  if (!counted.counters.at("global_load_requests").has_value()) GTEST_SKIP() << "no counters here";
  EXPECT_NEAR(after, undisturbed, 0.01 * undisturbed);
}

TEST_F(Measurement, EachPointMayCountSomethingElse) {
  const Point p = point("transpose/smem", with("rows", 1024));
  RunOptions options = quick();
  for (const char* group : {"global", "shared", "dram", "global"}) {
    options.counters = {group};
    const PointResult result = backend().run(p, options);
    for (const auto& [id, quantity] : result.counters) {
      if (quantity.reason.find("CUPTI 35") != std::string::npos) GTEST_SKIP() << quantity.reason;
      EXPECT_TRUE(quantity.has_value()) << id << ": " << quantity.reason;
    }
  }
}

TEST_F(Measurement, CountingAddsLessThan60Milliseconds) {
  RunOptions options = quick();
  options.predict = false;
  const Point p = point("vector/add", with("n", 1000));
  const PointResult first = backend().run(p, options);  // CUPTI's own start
  if (!first.counters.at("global_load_requests").has_value()) GTEST_SKIP() << "no counters here";
  const auto least_ms = [&](bool count) {
    options.count = count;
    double least = 1e300;
    for (int run = 0; run < 5; ++run) least = std::min(least, 1e3 * backend().run(p, options).wall_seconds);
    return least;
  };
  const double with_counters = least_ms(true), without = least_ms(false);
  std::cout << "a point takes " << without << " ms, and " << with_counters << " ms with the default counters\n";
  EXPECT_LE(with_counters - without, 60);
}

TEST_F(Measurement, ShortKernelsAreBatchedWithAWarmCacheAndFlaggedWithAColdOne) {
  RunOptions options = times_only();
  const PointResult cold = backend().run(point("vector/add", with("n", 1000)), options);
  ASSERT_TRUE(cold.timing.has_value()) << cold.reason;
  EXPECT_EQ(cold.timing->cache_mode, "cold");
  EXPECT_THAT(cold.timing->note, testing::HasSubstr("an empty kernel times at"));
  options.cold_l2 = false;
  const PointResult warm = backend().run(point("vector/add", with("n", 1000)), options);
  ASSERT_TRUE(warm.timing.has_value()) << warm.reason;
  EXPECT_EQ(warm.timing->cache_mode, "warm");
  EXPECT_THAT(warm.timing->note, testing::HasSubstr("graph of"));
  EXPECT_LT(median_us(warm), median_us(cold));
}

TEST_F(Measurement, AWarmCacheIsFasterWhenEverythingFitsIt) {
  RunOptions options = times_only();
  const ParamSet n = with("n", std::int64_t{1} << 21U);  // 24 MiB in all
  const double cold = median_us(backend().run(point("vector/add", n), options));
  options.cold_l2 = false;
  const double warm = median_us(backend().run(point("vector/add", n), options));
  EXPECT_LT(warm, 0.9 * cold);
}

TEST_F(Measurement, ThousandsOfSamplesAreNotTakenOfASteadyKernel) {
  const PointResult result = backend().run(point("transpose/naive", with("rows", 2048)), times_only());
  ASSERT_TRUE(result.timing.has_value());
  EXPECT_GE(result.timing->samples_us.size(), 10U);
  EXPECT_LT(result.timing->samples_us.size(), 2000U);
  ASSERT_TRUE(result.timing->sm_clock_mhz.has_value());
  EXPECT_GT(*result.timing->sm_clock_mhz, 100);
}

TEST_F(Measurement, CountersHaveValuesOrReasons) {
  RunOptions options = quick();
  options.counters = {"dram", "global", "tensor_fp16_half_sum_operations", "smsp__inst_executed.sum",
                      "nonsense__x.sum"};
  const PointResult result = backend().run(point("transpose/naive", with("rows", 2048)), options);
  ASSERT_EQ(result.status, Status::ok) << result.reason;
  for (const auto& [id, quantity] : result.counters) {
    EXPECT_EQ(quantity.source, Source::measured) << id;
    EXPECT_TRUE(quantity.has_value() || !quantity.reason.empty()) << id;
  }
  EXPECT_FALSE(result.counters.at("nonsense__x.sum").has_value());
  const double bytes = 2048.0 * 2048 * 4;
  if (const auto read = result.counters.at("dram_read_bytes").number()) {
    EXPECT_NEAR(*read, bytes, 0.05 * bytes);
  }
}

TEST_F(Measurement, TheLibraryVariantsAreRightForEveryShape) {
  for (const char* variant : {"matmul/cublas_sgemm", "matmul/cublas_tf32", "matmul/cublas_bf16"}) {
    for (const auto& [m, n, k] :
         {std::array{35, 79, 19}, {1, 1, 1}, {256, 128, 64}, {3, 3, 431}, {5, 7, 0}, {0, 4, 4}}) {
      ParamSet shape;
      shape.set("m", std::int64_t{m});
      shape.set("n", std::int64_t{n});
      shape.set("k", std::int64_t{k});
      const PointResult result = backend().run(point(variant, shape), times_only());
      EXPECT_EQ(result.status, Status::ok) << result.point.key() << ": " << result.reason;
      EXPECT_EQ(result.verification.state, Verification::State::passed) << result.point.key();
    }
  }
}

// The emulator cannot run these, so here is where their edges are tested: a tile, one more and one less, thin matrices,
// no terms, rows that begin anywhere; and more tiles than multiprocessors.
TEST_F(Measurement, TheProductsOnTensorCoresAreRightForEveryShape) {
  RunOptions options = quick();
  options.count = options.predict = false;
  for (const char* variant : {"matmul/mma_bf16", "matmul/mma_tf32", "matmul/wgmma_bf16", "matmul/wgmma_persistent"}) {
    const bool by_tma = std::string_view(variant).find("wgmma") != std::string_view::npos;
    for (const VariantInstance& instance : find_variant(variant)->instances) {
      for (const auto& [m, n, k] : {std::array{35, 79, 19},
                                    {1, 1, 1},
                                    {128, 256, 64},
                                    {129, 264, 72},
                                    {127, 248, 56},
                                    {3, 8, 1000},
                                    {640, 520, 328},
                                    {131, 261, 67},
                                    {257, 8, 136},
                                    {5, 8, 0},
                                    {5, 7, 0},
                                    {0, 4, 4},
                                    {1, 1032, 8},
                                    {2100, 2056, 136}}) {
        ParamSet params = instance.params;
        params.set("m", std::int64_t{m});
        params.set("n", std::int64_t{n});
        params.set("k", std::int64_t{k});
        params.set("GROUP", std::int64_t{3});
        const PointResult result = backend().run(point(variant, params), options);
        if (by_tma && (result.status == Status::unsupported || n % 8 != 0 || k % 8 != 0)) {
          EXPECT_EQ(result.status, Status::unsupported) << result.point.key();
          EXPECT_THAT(result.reason,
                      testing::AnyOf(testing::HasSubstr("multiples of 8"), testing::HasSubstr("(Hopper)")));
          continue;
        }
        if (result.reason.find("dynamic shared memory") != std::string::npos) continue;  // of a GPU with less of it
        EXPECT_EQ(result.status, Status::ok) << result.point.key() << ": " << result.reason;
        EXPECT_EQ(result.verification.state, Verification::State::passed) << result.point.key();
      }
    }
  }
}

TEST_F(Measurement, LargeProductsAreCheckedByFreivalds) {
  const PointResult result = backend().run(point("matmul/cublas_sgemm", with("n", 3000)), times_only());
  EXPECT_EQ(result.verification.state, Verification::State::passed);
  EXPECT_THAT(result.verification.scope, testing::HasSubstr("Freivalds"));
}

}  // namespace
}  // namespace gpuexp
