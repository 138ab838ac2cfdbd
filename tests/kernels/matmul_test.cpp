// The matmul variants on the emulator: the lecture's counts, every shape, and what is broken on purpose.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "points.h"

// A variant of this test's own is registered as a kernel file would.
#define GPUEXP_SIMT 1
#include "kernels/variant.h"

namespace gpuexp {
namespace {

using test::describe;
using test::over_sites;
using test::point;
using test::run;
using test::simt;
using test::sound;

std::uint64_t loaded_lanes(const PointResult& result) {
  return over_sites(result, "A", "load", &SiteRow::lanes) + over_sites(result, "B", "load", &SiteRow::lanes);
}
std::uint64_t load_sectors(const PointResult& result) {
  return over_sites(result, "A", "load", &SiteRow::sectors) + over_sites(result, "B", "load", &SiteRow::sectors);
}

TEST(MatmulCounts, NaiveReadsEveryElementOfATimesTheColumns) {
  const PointResult result = run("matmul/naive", "n=32");
  ASSERT_TRUE(sound(result)) << describe(result);
  EXPECT_EQ(loaded_lanes(result), 65'536U);
  EXPECT_EQ(over_sites(result, "A", "load", &SiteRow::lanes), 32U * 1024U);
  EXPECT_EQ(load_sectors(result), 4'096U);
  EXPECT_EQ(over_sites(result, "C", "store", &SiteRow::lanes), 1'024U);
  const double loaded = 4.0 * 65'536, stored = 4.0 * 1'024;
  const auto compulsory = static_cast<double>(result.compulsory_load_bytes + result.compulsory_store_bytes);
  EXPECT_DOUBLE_EQ(result.flops / loaded, 0.25);
  EXPECT_NEAR(result.flops / (loaded + stored), 0.246, 0.0005);
  EXPECT_NEAR(result.flops / compulsory, 5.33, 0.005);
  EXPECT_NEAR((loaded + stored) / compulsory, 21.7, 0.05);
  EXPECT_EQ(result.verification.checked, 1'024U);
  EXPECT_EQ(test::counters_off_sites(result), "");
}

TEST(MatmulCounts, TilingDividesLoadsByTheTile) {
  for (const std::uint64_t tile : {1, 2, 4, 8, 16, 32}) {
    for (const char* dtype : {"float32", "float16"}) {
      const PointResult result = run("matmul/tiled", "n=32 TILE=" + std::to_string(tile) + " dtype=" + dtype);
      ASSERT_TRUE(sound(result)) << describe(result);
      EXPECT_EQ(loaded_lanes(result), 2U * 32 * 32 * 32 / tile) << tile;
    }
  }
}

TEST(MatmulCounts, SmallTilesLoseCoalescing) {
  const PointResult result = run("matmul/tiled", "n=32 TILE=2");
  EXPECT_EQ(loaded_lanes(result), 65'536U / 2);
  EXPECT_EQ(load_sectors(result), 16'384U);  // four times the naive kernel's
}

TEST(MatmulCounts, TilingMovesTheReadsToSharedMemory) {
  const PointResult result = run("matmul/tiled", "n=32 TILE=16");
  EXPECT_EQ(over_sites(result, "As", "load", &SiteRow::lanes) + over_sites(result, "Bs", "load", &SiteRow::lanes),
            65'536U);
  EXPECT_EQ(over_sites(result, "As", "store", &SiteRow::lanes) + over_sites(result, "Bs", "store", &SiteRow::lanes),
            4'096U);
}

TEST(MatmulCounts, CoarseningDividesTheLoadsOfA) {
  for (const std::uint64_t coarse : {1, 2, 4}) {
    const PointResult result = run("matmul/coarsened", "n=32 TILE=8 COARSE=" + std::to_string(coarse));
    ASSERT_TRUE(sound(result)) << describe(result);
    EXPECT_EQ(over_sites(result, "A", "load", &SiteRow::lanes), 32U * 32 * 32 / 8 / coarse);
    EXPECT_EQ(over_sites(result, "B", "load", &SiteRow::lanes), 32U * 32 * 32 / 8);
  }
}

TEST(MatmulCounts, RegisterTilesReuseByTheBlock) {
  const PointResult result = run("matmul/register_tiled", "n=128 BM=64 BN=64 BK=8 TM=4 TN=4");
  ASSERT_TRUE(sound(result)) << describe(result);
  EXPECT_EQ(loaded_lanes(result), 2U * 128 * 128 * 128 / 64);
  // Each value from shared memory serves TM or TN products.
  EXPECT_EQ(over_sites(result, "As", "load", &SiteRow::lanes), 128U * 128 * 128 / 4);
  EXPECT_EQ(over_sites(result, "Bs", "load", &SiteRow::lanes), 128U * 128 * 128 / 4);
}

// Beyond register_tiled: what each rung says in its head it changes.
TEST(MatmulRungs, VectorsQuarterTheRequestsForTheSameSectors) {
  const std::string shape = "n=128 BM=128 BN=128 BK=16 TM=8 TN=8";
  const PointResult single = run("matmul/register_tiled", shape), vectors = run("matmul/vectorised", shape);
  for (const char* buffer : {"A", "B"}) {
    EXPECT_EQ(over_sites(single, buffer, "load", &SiteRow::requests),
              4 * over_sites(vectors, buffer, "load", &SiteRow::requests));
    EXPECT_EQ(over_sites(single, buffer, "load", &SiteRow::sectors),
              over_sites(vectors, buffer, "load", &SiteRow::sectors));
  }
}

TEST(MatmulRungs, TheSwizzleClearsTheStoreOfTheTurnedTile) {
  // A warp stores 8 rows of 4 pieces of k: without the swizzle the 4 pieces of a row meet in its bank.
  const PointResult plain = run("matmul/vectorised", "n=128");
  EXPECT_EQ(over_sites(plain, "As", "store", &SiteRow::wavefronts),
            4 * over_sites(plain, "As", "store", &SiteRow::requests));
  for (const char* variant : {"matmul/conflict_free", "matmul/double_buffered", "matmul/warp_tiled"}) {
    for (const VariantInstance& instance : match_variants(variant).front()->instances) {
      const PointResult result = run(variant, instance.params.to_text() + " n=256 k=32");
      ASSERT_TRUE(sound(result)) << describe(result);
      EXPECT_EQ(test::count(result, "shared_store_bank_conflicts"), 0U) << result.point.key();
      EXPECT_EQ(test::count(result, "shared_load_bank_conflicts"), 0U) << result.point.key();
    }
  }
}

TEST(MatmulRungs, WarpTilesShareTheirReadsOfSharedMemory) {
  const std::string shape = "n=128 BM=128 BN=128 BK=8 TM=8 TN=8";
  const PointResult lines = run("matmul/double_buffered", shape), rectangles = run("matmul/warp_tiled", shape);
  EXPECT_EQ(test::count(lines, "shared_load_requests"), test::count(rectangles, "shared_load_requests"));
  EXPECT_EQ(2 * test::count(lines, "shared_load_wavefronts"), 3 * test::count(rectangles, "shared_load_wavefronts"));
}

TEST(MatmulCounts, SampledTotalsAreExactAtAThousand) {
  struct Row {
    const char* variant;
    const char* params;
    std::uint64_t lanes;
  };
  for (const Row& row :
       {Row{"matmul/naive", "n=1024", 2'147'483'648U}, Row{"matmul/tiled", "n=1024 TILE=16", 134'217'728U}}) {
    const PointResult result = run(row.variant, row.params);
    ASSERT_TRUE(sound(result)) << describe(result);
    EXPECT_LT(result.blocks_run, result.blocks_total);
    EXPECT_EQ(loaded_lanes(result), row.lanes);
    EXPECT_EQ(test::counters_off_sites(result), "");
    for (const SiteRow& site : result.sites) EXPECT_FALSE(site.estimated) << site.site.to_text();
  }
}

TEST(MatmulResources, SharedMemoryFollowsTileAndType) {
  const PointResult single = run("matmul/tiled", "n=32 TILE=32"),
                    half = run("matmul/tiled", "n=32 TILE=32 dtype=float16");
  ASSERT_EQ(single.launches.size(), 1U);
  EXPECT_EQ(single.launches[0].static_shared_bytes, 8'192);
  EXPECT_EQ(half.launches[0].static_shared_bytes, 4'096);
  EXPECT_EQ(single.launches[0].block, (Dim3{32, 32, 1}));
}

// Every sound variant in every instance, on shapes that fit no tile.
struct Shape {
  const char* text;
};
class MatmulShapes : public testing::TestWithParam<Shape> {};

std::string instance_text(const VariantInstance& instance) { return instance.params.to_text() + " "; }

TEST_P(MatmulShapes, AreRightInEveryVariant) {
  for (const Variant* variant : match_variants("matmul/*")) {
    for (const VariantInstance& instance : variant->instances) {
      if (instance.simt == nullptr) continue;
      const PointResult result = run(variant->name, instance_text(instance) + GetParam().text);
      EXPECT_TRUE(sound(result)) << describe(result);
      EXPECT_EQ(result.verification.nan, 0U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, MatmulShapes,
                         testing::Values(Shape{"n=1"}, Shape{"n=7"}, Shape{"n=9"}, Shape{"n=31"}, Shape{"n=33"},
                                         Shape{"m=35 n=79 k=19"}, Shape{"m=3 n=3 k=431"}, Shape{"n=100"},
                                         Shape{"m=64 n=32 k=64"}, Shape{"m=17 n=40 k=64"}, Shape{"m=40 n=17 k=65"},
                                         Shape{"m=1 n=130 k=5"}, Shape{"m=130 n=1 k=5"}, Shape{"m=2 n=3 k=0"}));

TEST(MatmulShapes, WithNothingToComputeAreFine) {
  for (const char* shape : {"n=0", "m=0 n=5 k=5", "m=5 n=0 k=5"}) {
    for (const char* variant :
         {"matmul/naive", "matmul/tiled", "matmul/coarsened", "matmul/register_tiled", "matmul/vectorised",
          "matmul/conflict_free", "matmul/double_buffered", "matmul/warp_tiled"}) {
      const PointResult result = run(variant, shape);
      EXPECT_EQ(result.status, Status::ok) << describe(result);
      EXPECT_TRUE(result.good()) << describe(result);
    }
  }
}

TEST(MatmulShapes, CoverTheWholeMatrixWhenTheTileDoesNotDivideIt) {
  // A grid by truncating division would leave the last 8 rows and columns unwritten.
  const PointResult result = run("matmul/tiled", "n=1000 k=8 TILE=32");
  EXPECT_TRUE(sound(result)) << describe(result);
  ASSERT_EQ(result.launches.size(), 1U);
  EXPECT_EQ(result.launches[0].grid, (Dim3{32, 32, 1}));
}

TEST(MatmulShapes, BeyondTwoToThe31Elements) {
  const PointResult result = run("matmul/naive", "m=65537 n=32768 k=1", test::small_sample());
  EXPECT_TRUE(sound(result)) << describe(result);
  const PointResult tiled = run("matmul/tiled", "m=32768 n=65537 k=3 TILE=32", test::small_sample());
  EXPECT_TRUE(sound(tiled)) << describe(tiled);
}

TEST(MatmulShapes, LongSumsOfHalfInputsStayWithinTheTolerance) {
  const PointResult result = run("matmul/tiled", "m=16 n=16 k=8192 dtype=float16");
  EXPECT_TRUE(sound(result)) << describe(result);
}

TEST(MatmulLimits, AGridBeyondTheHardwareIsRefusedNotWrapped) {
  const PointResult result = run("matmul/naive", "m=68719476736 n=1 k=0 block=1");
  EXPECT_NE(result.status, Status::ok);
  EXPECT_THAT(result.reason, testing::HasSubstr("grid"));
}

// A problem whose reference is the float32 sum in the order of k, with no tolerance at all: variants that pass it agree
// bit for bit with each other. Its one variant forwards to the launch function of any matmul instance.
class SequentialWorkload final : public Workload {
 public:
  SequentialWorkload(std::unique_ptr<Workload> matmul, std::int64_t n, std::int64_t k)
      : matmul_(std::move(matmul)), n_(n), k_(k) {}
  [[nodiscard]] const std::vector<BufferSpec>& buffers() const override { return matmul_->buffers(); }
  [[nodiscard]] double flops() const override { return matmul_->flops(); }
  [[nodiscard]] double input(std::size_t buffer, std::int64_t i) const override { return matmul_->input(buffer, i); }
  [[nodiscard]] Expected expected(std::size_t /*buffer*/, std::int64_t i) const override {
    volatile float sum = 0.0F;  // volatile: no contraction and no wider intermediate
    for (std::int64_t p = 0; p < k_; ++p) {
      const auto a = static_cast<float>(input(0, i / n_ * k_ + p));
      const auto b = static_cast<float>(input(1, p * n_ + i % n_));
      volatile float product = a * b;
      sum = sum + product;
    }
    // These two make tolerance() exactly zero.
    return {sum, -std::abs(static_cast<double>(sum)), -1};
  }

 private:
  std::unique_ptr<Workload> matmul_;
  std::int64_t n_, k_;
};

class SequentialMatmul final : public Problem {
 public:
  [[nodiscard]] std::string_view name() const override { return "sequential_matmul"; }
  [[nodiscard]] std::string_view description() const override { return "matmul, to the last bit"; }
  [[nodiscard]] std::vector<ParamSpec> params() const override {
    const auto size = [](const char* name) {
      return ParamSpec{name, "as in matmul", std::int64_t{32}, "", 0, 1000, {}};
    };
    return {size("m"),
            size("n"),
            size("k"),
            {"dtype", "as in matmul", std::string("float32"), "", 0, 0, {}},
            {"of", "variant", std::string("matmul/naive"), "", 0, 0, {}},
            {"instance", "index of its instance", std::int64_t{0}, "", 0, 100, {}},
            {"block", "side of a naive block", std::int64_t{16}, "", 1, 32, {}}};
  }
  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet& params, std::uint64_t seed) const override {
    return std::make_unique<SequentialWorkload>(find_problem("matmul")->make(params, seed), params.integer("n"),
                                                params.integer("k"));
  }
};
const RegisterProblem<SequentialMatmul> registered_problem;

void launch_forwarded(const Launch& launch) {
  for (const Variant& variant : variants()) {
    if (!launch.param_is("of", variant.name.c_str())) continue;
    variant.instances[static_cast<std::size_t>(launch.param("instance"))].simt(launch);
  }
}
const RegisterVariant registered_variant("sequential/forwarded", "tests/kernels/matmul_test.cpp", "simt",
                                         [](VariantBuilder& variant) {
                                           variant.problem("sequential_matmul").idea("any matmul variant");
                                           variant.instance(launch_forwarded, {});
                                         });

TEST(MatmulBits, AllVariantsAgreeBitForBit) {
  int runs = 0;
  for (const Variant* variant : match_variants("matmul/*")) {
    if (variant->name == "matmul/rows_gemv") continue;  // its lanes add parts of a sum, in an order of their own
    for (std::size_t i = 0; i < variant->instances.size(); ++i) {
      const VariantInstance& instance = variant->instances[i];
      if (instance.simt == nullptr) continue;
      for (const char* shape : {"m=20 n=33 k=41", "n=32"}) {
        const PointResult result =
            run("sequential/forwarded", std::string(shape) + " of=" + variant->name + " instance=" + std::to_string(i) +
                                            " dtype=" + instance.params.word("dtype"));
        EXPECT_TRUE(sound(result)) << describe(result);
        ++runs;
      }
    }
  }
  EXPECT_GE(runs, 2 * (2 * (1 + 6 + 9 + 7) + 4 + 4 + 3 + 9));
}

// Broken on purpose.

// Line of the first line of a file that contains `text`.
int line_of(const std::string& file, const std::string& text) {
  std::ifstream in(std::string(GPUEXP_SOURCE_DIR) + "/" + file);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.find(text) != std::string::npos) return number;
  }
  return -1;
}

bool has_race_between(const PointResult& result, const std::string& file, int one, int other) {
  for (const Finding& finding : result.findings) {
    if (finding.kind != "race" || !finding.other_site) continue;
    const SourceSite &a = finding.site, &b = *finding.other_site;
    if (a.file != file || b.file != file) continue;
    if ((a.line == one && b.line == other) || (a.line == other && b.line == one)) return true;
  }
  return false;
}

RunOptions with(Schedule schedule, std::uint64_t seed = 1) {
  RunOptions options;
  options.schedule = schedule;
  options.schedule_seed = seed;
  return options;
}
const std::vector<RunOptions>& all_schedules() {
  static const std::vector<RunOptions> options = {with(Schedule::forward), with(Schedule::reverse),
                                                  with(Schedule::random, 1), with(Schedule::random, 2)};
  return options;
}

TEST(MatmulBroken, WithoutTheLoadBarrierARaceIsFoundUnderEverySchedule) {
  const std::string file = "kernels/matmul/tiled_no_load_barrier.cu";
  for (const RunOptions& options : all_schedules()) {
    const PointResult result = run("matmul/tiled_no_load_barrier", "n=32 TILE=8", options);
    ASSERT_EQ(result.status, Status::ok) << describe(result);
    EXPECT_TRUE(has_race_between(result, file, line_of(file, "As[ty][tx] = a;"), line_of(file, "As[ty][p]")))
        << describe(result);
    EXPECT_TRUE(has_race_between(result, file, line_of(file, "Bs[ty][tx] = b;"), line_of(file, "Bs[p][tx]")))
        << describe(result);
    EXPECT_EQ(result.verification.state, Verification::State::failed);
    EXPECT_GT(result.verification.nan, 0U);
    EXPECT_EQ(result.expected_finding, "race");
    EXPECT_TRUE(result.good());
  }
}

TEST(MatmulBroken, WithoutTheLoadBarrierOnlyTheLastThreadOfEachBlockIsRightInOrder) {
  const PointResult result = run("matmul/tiled_no_load_barrier", "n=32 TILE=8");
  EXPECT_EQ(result.verification.checked, 1'024U);
  EXPECT_EQ(result.verification.checked - result.verification.wrong, 16U);
}

TEST(MatmulBroken, WithoutTheComputeBarrierNumbersAreWrongButNeverNaN) {
  const std::string file = "kernels/matmul/tiled_no_compute_barrier.cu";
  for (const RunOptions& options : all_schedules()) {
    const PointResult result = run("matmul/tiled_no_compute_barrier", "n=32 TILE=8", options);
    ASSERT_EQ(result.status, Status::ok) << describe(result);
    EXPECT_TRUE(has_race_between(result, file, line_of(file, "As[ty][tx] = a;"), line_of(file, "As[ty][p]")))
        << describe(result);
    EXPECT_EQ(result.verification.state, Verification::State::failed);
    EXPECT_GT(result.verification.wrong, 0U);
    EXPECT_EQ(result.verification.nan, 0U);
    EXPECT_TRUE(result.good());
  }
}

TEST(MatmulBroken, OneTileHidesTheMissingComputeBarrier) {
  const PointResult result = run("matmul/tiled_no_compute_barrier", "m=32 n=32 k=8 TILE=8");
  EXPECT_EQ(result.verification.state, Verification::State::passed) << describe(result);
  EXPECT_TRUE(result.findings.empty()) << describe(result);
  EXPECT_FALSE(result.good());  // it was to be found out, and was not
}

TEST(MatmulBroken, UnguardedRunsOutOfBoundsAndMissesAPhase) {
  const std::string file = "kernels/matmul/tiled_unguarded.cu";
  const PointResult result = run("matmul/tiled_unguarded", "n=10 TILE=4");
  ASSERT_EQ(result.status, Status::ok) << describe(result);
  bool at_a = false, at_c = false;
  for (const Finding& finding : result.findings) {
    if (finding.kind != "out_of_bounds") continue;
    EXPECT_EQ(finding.site.file, file);
    at_a = at_a || finding.site.line == line_of(file, "= A[row");
    at_c = at_c || finding.site.line == line_of(file, "C[row * n + col] = sum;");
  }
  EXPECT_TRUE(at_a && at_c) << describe(result);
  EXPECT_TRUE(result.good());
  // Rows 10 and 11 lie outside A: their 24 threads stop at once. The other 120 do two phases of four products; three
  // phases are right.
  EXPECT_EQ(over_sites(result, "As", "load", &SiteRow::lanes), 120U * 2 * 4);
  const PointResult guarded = run("matmul/tiled", "n=10 TILE=4");
  EXPECT_TRUE(sound(guarded)) << describe(guarded);
  EXPECT_EQ(over_sites(guarded, "As", "load", &SiteRow::lanes), 144U * 3 * 4);
}

TEST(MatmulBroken, UnguardedMissesTheLastTermsWithoutAnyFinding) {
  // TILE divides m and n but not k = 100: 6 phases instead of 7, 4 terms missed, and every access within bounds.
  const PointResult result = run("matmul/tiled_unguarded", "m=96 n=96 k=100 TILE=16");
  EXPECT_TRUE(result.findings.empty()) << describe(result);
  EXPECT_EQ(over_sites(result, "As", "load", &SiteRow::lanes), 96U * 96 * 6 * 16);
  const PointResult guarded = run("matmul/tiled", "m=96 n=96 k=100 TILE=16");
  EXPECT_EQ(over_sites(guarded, "As", "load", &SiteRow::lanes), 96U * 96 * 7 * 16);
  ASSERT_EQ(result.verification.state, Verification::State::failed);
  EXPECT_FALSE(result.good());
  const Point at = point("matmul/tiled", "m=96 n=96 k=100 TILE=16");
  const auto workload = find_problem("matmul")->make(at.params, at.seed);
  const std::int64_t row = result.verification.first_index / 96, column = result.verification.first_index % 96;
  double first_96_terms = 0;
  for (std::int64_t p = 0; p < 96; ++p)
    first_96_terms += workload->input(0, row * 100 + p) * workload->input(1, p * 96 + column);
  EXPECT_NEAR(result.verification.got, first_96_terms, 1e-4);
}

TEST(MatmulBroken, ANHundredWideMatrixNeedsSevenPhasesOfSixteen) {
  const PointResult guarded = run("matmul/tiled", "n=100 TILE=16");
  EXPECT_EQ(over_sites(guarded, "As", "load", &SiteRow::lanes), 49U * 256 * 7 * 16);
  const PointResult unguarded = run("matmul/tiled_unguarded", "n=100 TILE=16");
  // 12 rows of threads in each of the 7 lowest blocks stop out of bounds.
  EXPECT_EQ(over_sites(unguarded, "As", "load", &SiteRow::lanes), (49U * 256 - 7 * 12 * 16) * 6 * 16);
}

}  // namespace
}  // namespace gpuexp
