// Every spmv variant on the lecture's matrices, on every kind of matrix and on the edges; and the lecture's figures.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "profiler/core/error.h"
#include "profiler/registry/launch_context.h"
#include "tests/kernels/points.h"

// Launch functions are called here as a backend calls them.
#define GPUEXP_SIMT 1
#include "kernels/variant.h"

namespace gpuexp {
namespace {

using test::count;
using test::describe;
using test::emulated;
using test::over_sites;
using test::params;
using test::run;
using test::sound;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

ParamSet planned(std::string_view variant, const std::string& text) {
  const std::vector<ParamSet> points = expand_params(*find_variant(variant), params(text));
  EXPECT_EQ(points.size(), 1U);
  return points.front();
}

PointResult run_planned(std::string_view variant, const std::string& text, const RunOptions& options = {}) {
  return test::simt().run({std::string(variant), planned(variant, text), 1}, options);
}

std::unique_ptr<Workload> workload(std::string_view variant, const std::string& text) {
  return find_problem(find_variant(variant)->problem)->make(planned(variant, text), 1);
}

std::string refusal(const std::string& variant, const std::string& text) {
  try {
    workload(variant, text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

std::vector<double> reference(std::string_view variant, const std::string& text) {
  const auto made = workload(variant, text);
  std::vector<double> y;
  const std::size_t last = made->buffers().size() - 1;
  for (std::int64_t i = 0; i < made->buffers()[last].elements; ++i) y.push_back(made->expected(last, i).value);
  return y;
}

// Sectors that loads of the matrix itself touch: its values and its columns.
std::uint64_t matrix_sectors(const PointResult& result) {
  return over_sites(result, "data", "load", &SiteRow::sectors) +
         over_sites(result, "col_index", "load", &SiteRow::sectors);
}

TEST(Spmv, LecturesMatrixTimes1234InAllVariants) {
  ASSERT_GE(emulated("spmv/*").size(), 9U);
  for (const std::string& variant : emulated("spmv/*")) {
    for (const char* types : {"dtype=float32", "dtype=float64"}) {
      const std::string text = std::string("matrix=lecture4x4 x=index ") + types;
      EXPECT_THAT(reference(variant, text), ElementsAre(6, 0, 20, 5)) << variant;
      const PointResult result = run_planned(variant, text);
      EXPECT_TRUE(sound(result)) << describe(result);
      EXPECT_EQ(result.verification.checked, 4U) << variant;
      EXPECT_EQ(result.verification.max_error, 0.0) << variant;
      EXPECT_EQ(result.blocks_run, result.blocks_total) << variant;
    }
  }
}

TEST(Spmv, Exercise10sArrays) {
  const auto made = workload("spmv/thread_per_row", "matrix=exercise10");
  const auto all = [&](std::size_t buffer) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < made->buffers()[buffer].elements; ++i) values.push_back(made->input(buffer, i));
    return values;
  };
  EXPECT_THAT(all(0), ElementsAre(0, 1, 2, 2, 5));
  EXPECT_THAT(all(1), ElementsAre(1, 0, 0, 1, 2));
  EXPECT_THAT(all(2), ElementsAre(5, 7, 1, 2, 3));
}

TEST(Spmv, GoldenProductsOfShippedMatrices) {
  EXPECT_THAT(reference("spmv/coo", "matrix=array3x2 x=index"), ElementsAre(5, 11, 17));
  EXPECT_THAT(reference("spmv/ell", "matrix=ones20 x=ones"), testing::Each(20.0));
  EXPECT_THAT(reference("spmv/sell", "matrix=skew4 x=index"), ElementsAre(-2 + 6, 1, -2 - 20, 15));
  EXPECT_THAT(reference("spmv/merge", "matrix=no_entries"), ElementsAre(0, 0, 0, 0, 0));
  EXPECT_THAT(reference("spmv/binned", "matrix=symmetric5 x=index dtype=float64"),
              ElementsAre(2 - 2, 4 - 1 - 2, 6 + 5 * 0.15, 8 - 1, 3 * 0.15 + 10));
}

TEST(Spmv, EveryVariantOnEveryKindOfMatrix) {
  const char* const matrices[] = {
      "matrix=exercise10",
      "matrix=symmetric5",
      "matrix=skew4",
      "matrix=pattern4x6",
      "matrix=array3x2",
      "matrix=ones20 x=ones",
      "matrix=no_entries",
      "matrix=uniform rows=100 cols=70 density=0.05",  // rows without a nonzero among them
      "matrix=uniform rows=65 cols=200 density=0.9",
      "matrix=uniform rows=33 cols=33 density=0",
      "matrix=fixed rows=1 cols=5000 nnz_per_row=3000",  // one row over several blocks of the merge path
      "matrix=fixed rows=1000 cols=9 nnz_per_row=1",
      "matrix=banded rows=61 bandwidth=2",
      "matrix=poisson2d side=9",
      "matrix=poisson3d side=5",
      "matrix=powerlaw rows=300 nnz_per_row=12 exponent=1.1",
      "matrix=one_dense_row rows=70 cols=2500 nnz_per_row=2",
      "matrix=long_rows rows=96 cols=400 nnz_per_row=3 long_row=310 every=32",
      "matrix=fixed rows=2000 cols=10 nnz_per_row=0",  // only row ends on the merge path
  };
  for (const std::string& variant : emulated("spmv/*")) {
    for (const char* matrix : matrices) {
      const PointResult result = run_planned(variant, matrix);
      EXPECT_TRUE(sound(result)) << describe(result);
      EXPECT_GT(result.verification.checked, 0U) << describe(result);
    }
  }
}

TEST(Spmv, PiecesOfAnySizeAndRowsSharedByBlocks) {
  for (const char* types : {"", " dtype=float64 row_ptr=int64"}) {
    for (const char* matrix :
         {"matrix=one_dense_row rows=70 cols=2500 nnz_per_row=2 piece=128 split=1",
          "matrix=one_dense_row rows=70 cols=2501 nnz_per_row=3 piece=256 split=3",
          "matrix=powerlaw rows=300 nnz_per_row=12 exponent=1.1 piece=128 split=2",
          "matrix=fixed rows=1 cols=5000 nnz_per_row=3000 piece=128 split=1",
          "matrix=fixed rows=2000 cols=10 nnz_per_row=0 piece=4096", "matrix=banded rows=900 bandwidth=3 piece=4096"}) {
      const PointResult result = run_planned("spmv/adaptive", std::string(matrix) + types);
      EXPECT_TRUE(sound(result)) << describe(result);
    }
  }
  EXPECT_EQ(run_planned("spmv/adaptive", "piece=200 rows=64").status, Status::unsupported);
}

TEST(Spmv, WideOffsetsAndDoubleValues) {
  for (const std::string& variant : emulated("spmv/*")) {
    for (const char* types :
         {"dtype=float32 row_ptr=int64", "dtype=float64 row_ptr=int32", "dtype=float64 row_ptr=int64"}) {
      const PointResult result = run_planned(variant, std::string("matrix=powerlaw rows=150 nnz_per_row=20 ") + types);
      EXPECT_TRUE(sound(result)) << describe(result);
    }
  }
}

TEST(Spmv, AllThreadsPerRowAndOddBlocks) {
  for (const int lanes : {2, 4, 8, 16, 32}) {
    const PointResult result =
        run_planned("spmv/subwarp_per_row",
                    "matrix=powerlaw rows=101 nnz_per_row=9 block=96 THREADS_PER_ROW=" + std::to_string(lanes));
    EXPECT_TRUE(sound(result)) << describe(result);
  }
  EXPECT_TRUE(sound(run_planned("spmv/thread_per_row", "matrix=poisson2d side=7 block=33")));
  for (const char* variant :
       {"spmv/warp_per_row", "spmv/subwarp_per_row", "spmv/block_per_row", "spmv/binned", "spmv/sell"}) {
    EXPECT_TRUE(sound(run_planned(variant, "matrix=poisson2d side=7 block=1024"))) << variant;
    const PointResult refused = run_planned(variant, "matrix=poisson2d side=7 block=48");
    EXPECT_EQ(refused.status, Status::unsupported);
    EXPECT_THAT(refused.reason, HasSubstr("multiple of 32"));
  }
}

TEST(Spmv, NoRowsAndNoColumns) {
  for (const std::string& variant : emulated("spmv/*")) {
    for (const char* matrix : {"matrix=fixed rows=0 cols=5 nnz_per_row=3", "matrix=fixed rows=5 cols=0 nnz_per_row=0",
                               "matrix=uniform rows=0 cols=0", "matrix=poisson2d side=0"}) {
      const PointResult result = run_planned(variant, matrix);
      EXPECT_EQ(result.status, Status::ok) << describe(result);
      EXPECT_TRUE(result.findings.empty()) << describe(result);
      EXPECT_EQ(result.verification.wrong, 0U) << describe(result);
    }
  }
}

TEST(Spmv, AnyScheduleIsFreeOfRaces) {
  for (const std::string& variant : emulated("spmv/*")) {
    for (const Schedule schedule : {Schedule::reverse, Schedule::random}) {
      RunOptions options;
      options.schedule = schedule;
      options.schedule_seed = 7;
      const PointResult result = run_planned(variant, "matrix=one_dense_row rows=50 cols=3000 nnz_per_row=5", options);
      EXPECT_TRUE(sound(result)) << describe(result);
    }
  }
}

TEST(Spmv, ANaNInXShowsOnlyInRowsThatReadIt) {
  // Padding reads no x: were column 0 read instead, every padded row would hold NaN. Checked by values: column 0 of the
  // matrix is empty, and so no load may touch x[0].
  const std::string path = testing::TempDir() + "gpuexp_first_column_empty.mtx";
  std::ofstream(path) << "%%MatrixMarket matrix coordinate real general\n3 40 3\n1 40 1\n2 39 1\n2 40 1\n";
  for (const char* variant : {"spmv/ell", "spmv/sell"}) {
    const PointResult result = run_planned(variant, "matrix=" + path);
    EXPECT_TRUE(sound(result)) << describe(result);
    EXPECT_EQ(over_sites(result, "x", "load", &SiteRow::lanes), 3U) << variant;
  }
  std::filesystem::remove(path);
}

// ---- the lecture's figures ----

const std::string lecture_shape = "matrix=fixed rows=256 cols=1024 nnz_per_row=";

TEST(SpmvFigures, MatrixSectorsOfAThreadAndOfAWarpPerRow) {
  const PointResult thread = run_planned("spmv/thread_per_row", lecture_shape + "64");
  const PointResult warp = run_planned("spmv/warp_per_row", lecture_shape + "64");
  ASSERT_TRUE(sound(thread) && sound(warp));
  EXPECT_EQ(matrix_sectors(thread), 32768U);
  EXPECT_EQ(matrix_sectors(warp), 4096U);
  // Each nonzero is asked for once either way.
  EXPECT_EQ(over_sites(thread, "data", "load", &SiteRow::lanes), 256U * 64U);
  EXPECT_EQ(over_sites(warp, "data", "load", &SiteRow::lanes), 256U * 64U);
  // Instructions: 8 warps of 64 trips against 256 warps of 2, and the tree of shuffles for every row.
  EXPECT_EQ(over_sites(thread, "data", "load", &SiteRow::requests), 8U * 64U);
  EXPECT_EQ(over_sites(warp, "data", "load", &SiteRow::requests), 256U * 2U);
  EXPECT_EQ(count(thread, "memory_instructions"), 8U * (3 * 64 + 3));
  EXPECT_EQ(count(warp, "memory_instructions"), 256U * (3 * 2 + 3));
  EXPECT_EQ(count(thread, "warp_intrinsics"), 0U);
  EXPECT_EQ(count(warp, "warp_intrinsics"), 256U * 5U);
}

TEST(SpmvFigures, AllLoadSectorsFallBy2Point3AndForShortRowsBy1Point9) {
  const auto ratio = [](const char* per_row) {
    const auto thread = count(run_planned("spmv/thread_per_row", lecture_shape + per_row), "global_load_sectors");
    const auto warp = count(run_planned("spmv/warp_per_row", lecture_shape + per_row), "global_load_sectors");
    return static_cast<double>(thread) / static_cast<double>(warp);
  };
  EXPECT_NEAR(ratio("64"), 2.3, 0.1);
  EXPECT_NEAR(ratio("8"), 1.9, 0.1);
}

TEST(SpmvFigures, OneLongRowIn32LeavesTenPercentOfTheLanes) {
  const std::string matrix = "matrix=long_rows rows=256 cols=1024 nnz_per_row=22 long_row=310 every=32";
  const auto efficiency = [](const PointResult& result) {
    return static_cast<double>(over_sites(result, "data", "load", &SiteRow::lanes)) /
           (32.0 * static_cast<double>(over_sites(result, "data", "load", &SiteRow::requests)));
  };
  const PointResult thread = run_planned("spmv/thread_per_row", matrix);
  EXPECT_DOUBLE_EQ(efficiency(thread), 0.100);  // (31 x 22 + 310) / (32 x 310), to all digits
  EXPECT_EQ(over_sites(thread, "data", "load", &SiteRow::requests), 8U * 310U);
  EXPECT_GT(efficiency(run_planned("spmv/warp_per_row", matrix)), 0.6);
  EXPECT_GT(efficiency(run_planned("spmv/merge", matrix)), 0.9);
}

TEST(SpmvFigures, ShortRowsUse8LanesOfAWarp) {
  const PointResult warp = run_planned("spmv/warp_per_row", lecture_shape + "8");
  EXPECT_EQ(over_sites(warp, "data", "load", &SiteRow::requests), 256U);
  EXPECT_EQ(over_sites(warp, "data", "load", &SiteRow::lanes), 256U * 8U);
  const PointResult eight = run_planned("spmv/subwarp_per_row", lecture_shape + "8 THREADS_PER_ROW=8");
  EXPECT_EQ(over_sites(eight, "data", "load", &SiteRow::requests), 64U);
  EXPECT_EQ(matrix_sectors(eight), matrix_sectors(warp));  // a row of 8 floats is a sector
}

TEST(SpmvFigures, EllReadsTheMatrixAsCoalescedAsCanBe) {
  const PointResult ell = run_planned("spmv/ell", lecture_shape + "64");
  EXPECT_EQ(matrix_sectors(ell), 4096U);
  EXPECT_EQ(over_sites(ell, "data", "load", &SiteRow::requests), 8U * 64U);
}

TEST(SpmvFigures, FlopsBytesAndFacts) {
  const PointResult result = run_planned("spmv/thread_per_row", "matrix=lecture4x4");
  EXPECT_EQ(result.flops, 14.0);
  EXPECT_EQ(result.compulsory_load_bytes, 7U * 8U + 5U * 4U + 4U * 4U);
  EXPECT_EQ(result.compulsory_store_bytes, 16U);
  EXPECT_EQ(result.facts.integer("nnz"), 7);
  EXPECT_EQ(result.facts.integer("rows"), 4);
  EXPECT_EQ(result.facts.integer("empty_rows"), 1);
  EXPECT_EQ(result.facts.integer("row_length_max"), 3);
  EXPECT_EQ(result.facts.real("row_length_mean"), 1.75);
  EXPECT_EQ(result.facts.integer("csr_bytes"), 76);
  EXPECT_EQ(result.facts.real("dense_bytes"), 64.0);
  EXPECT_EQ(result.facts.integer("format_bytes"), 76);
  // The same compulsory bytes for every format, its own in format_bytes.
  EXPECT_EQ(workload("spmv/coo", "matrix=lecture4x4")->compulsory_load_bytes(), result.compulsory_load_bytes);
  EXPECT_EQ(workload("spmv/coo", "matrix=lecture4x4")->facts().integer("format_bytes"), 84);
  EXPECT_EQ(workload("spmv/ell", "matrix=lecture4x4")->facts().integer("format_bytes"), 96);
  // Only columns that a row uses count: of 1,000,000 here, one.
  const std::string path = testing::TempDir() + "gpuexp_one_column.mtx";
  std::ofstream(path) << "%%MatrixMarket matrix coordinate pattern general\n2 1000000 2\n1 7\n2 7\n";
  EXPECT_EQ(workload("spmv/coo", "matrix=" + path)->compulsory_load_bytes(), 2U * 8U + 3U * 4U + 4U);
  std::filesystem::remove(path);
}

// ---- launch sizes ----

// Answers a launch function without a device and keeps the sizes it asks for.
class RecordingContext final : public LaunchContext {
 public:
  explicit RecordingContext(ParamSet params) : params_(std::move(params)) {}
  std::vector<LaunchConfig> launches;

  std::int64_t param(std::string_view name) override { return params_.integer(name); }
  bool param_is(std::string_view name, std::string_view word) override { return params_.word(name) == word; }
  std::int64_t value(std::string_view, std::int64_t) override { return 0; }
  void* address(std::string_view, std::uint64_t, bool, bool) override { return &params_; }
  void unsupported(std::string_view reason) override { ADD_FAILURE() << reason; }
  void emulate(const LaunchConfig& config, const void*, void (*)(const void*), const void*) override {
    launches.push_back(config);
  }
  bool cuda_begin(const LaunchConfig&, const void*) override { return false; }
  void cuda_end() override {}
  void* stream() override { return nullptr; }

 private:
  ParamSet params_;
};

LaunchConfig launch_of(const std::string& variant, const std::string& text) {
  const Variant& found = *find_variant(variant);
  const ParamSet set = complete_params(found, params(text));
  RecordingContext context(set);
  found.instance_for(set)->simt(Launch(static_cast<LaunchContext*>(&context)));
  EXPECT_EQ(context.launches.size(), 1U);
  return context.launches.at(0);
}

// 256 threads x 16,777,217 rows is 2^32 + 256, which 32 bits wrap to 256: one block of work, and no error.
TEST(SpmvLaunch, SizesDoNotWrapAt32Bits) {
  const LaunchConfig block = launch_of("spmv/block_per_row", "rows=16777217");
  EXPECT_EQ(block.grid.x, 16777217);
  EXPECT_EQ(block.block.x, 256);
  EXPECT_EQ(launch_of("spmv/block_per_row", "rows=2147483647").grid.x, 2147483647);
  EXPECT_EQ(launch_of("spmv/warp_per_row", "rows=2147483647").grid.x, 268435456);
  EXPECT_EQ(launch_of("spmv/subwarp_per_row", "rows=2147483647 THREADS_PER_ROW=2").grid.x, 16777216);
  EXPECT_EQ(launch_of("spmv/thread_per_row", "rows=2147483647").grid.x, 8388608);
}

TEST(GemvLaunch, RowsBeyondTheLargestGridAreTakenInTurns) {
  EXPECT_EQ(launch_of("gemv/block_per_row", "m=4294967301 n=1024").grid.x, 2147483647);
  EXPECT_EQ(launch_of("gemv/auto", "m=4294967301 n=1024").grid.x, 2147483647);
  EXPECT_EQ(launch_of("gemv/warp_per_row", "m=4294967301 n=8").grid.x, 536870913);
}

// ---- parameters ----

TEST(SpmvParameters, WhatTheMatrixDoesNotReadTellsNoPointsApart) {
  EXPECT_EQ(planned("spmv/coo", "matrix=poisson2d side=5 density=0.3 nnz_per_row=9"),
            planned("spmv/coo", "matrix=poisson2d side=5 rows=77"));
  EXPECT_EQ(planned("spmv/coo", "matrix=poisson2d side=5").integer("rows"), 25);
  EXPECT_EQ(planned("spmv/coo", "matrix=exercise10").integer("rows"), 4);
  EXPECT_EQ(planned("spmv/coo", "matrix=exercise10").integer("cols"), 3);
  EXPECT_EQ(planned("spmv/coo", "matrix=fixed rows=9 nnz_per_row=9").integer("cols"), 9);
  // A planned point plans to itself: a result's parameters can be given again.
  const ParamSet point = planned("spmv/coo", "matrix=fixed rows=9 nnz_per_row=2");
  EXPECT_EQ(expand_params(*find_variant("spmv/coo"), point), std::vector<ParamSet>{point});
}

TEST(SpmvParameters, BadOnesAreRefusedByName) {
  EXPECT_THAT(refusal("spmv/coo", "matrix=unifrom"),
              AllOf(HasSubstr("unknown matrix 'unifrom'"), HasSubstr("did you mean 'uniform'")));
  EXPECT_THAT(refusal("spmv/coo", "matrix=lecture4"), HasSubstr("did you mean 'lecture4x4'"));
  EXPECT_THAT(refusal("spmv/coo", "matrix=nowhere.mtx"), HasSubstr("nowhere.mtx: cannot read"));
  EXPECT_THAT(refusal("spmv/coo", "matrix=uniform density=1.5"), HasSubstr("density=1.5 is outside 0..1"));
  EXPECT_THAT(refusal("spmv/coo", "matrix=powerlaw exponent=-1"), HasSubstr("exponent=-1 is outside"));
  for (const char* matrix : {"fixed", "powerlaw", "long_rows", "one_dense_row"})
    EXPECT_THAT(refusal("spmv/coo", std::string("cols=1024 nnz_per_row=1025 matrix=") + matrix),
                AllOf(HasSubstr("nnz_per_row=1025 is more than"), HasSubstr("accepted: 0 to 1024")));
  EXPECT_EQ(refusal("spmv/coo", "matrix=fixed cols=1024 nnz_per_row=1024"), "no error");
  EXPECT_THAT(refusal("spmv/coo", "matrix=long_rows every=0"), HasSubstr("every=0"));
  EXPECT_THAT(refusal("spmv/coo", "matrix=poisson3d side=2000"), HasSubstr("side=2000"));
  EXPECT_THAT(refusal("spmv/coo", "rows=2147483647 cols=2147483647 density=1"), HasSubstr("GB of memory"));
  EXPECT_THAT(refusal("spmv/ell", "matrix=one_dense_row rows=2000000 cols=2000000 nnz_per_row=1"),
              AllOf(HasSubstr("ELL pads all 2000000 rows"), HasSubstr("use spmv/sell")));
  EXPECT_THAT(refusal("spmv/coo", "rows=3000000000"), HasSubstr("rows"));
  EXPECT_THAT(refusal("spmv/coo", "rows=2000000000 cols=1 density=0"),
              HasSubstr("uniform of 2000000000 x 1 has about 0 nonzeros"));
}

TEST(SpmvParameters, FilesAreCheckedWhenTheyArePlanned) {
  const std::string path = testing::TempDir() + "gpuexp_bad.mtx";
  std::ofstream(path) << "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n";
  EXPECT_THAT(refusal("spmv/coo", "matrix=" + path), HasSubstr(path + ":3: row index 3 is outside 1..2"));
  std::ofstream(path) << "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1e300\n";
  EXPECT_THAT(refusal("spmv/coo", "matrix=" + path), AllOf(HasSubstr("1e+300"), HasSubstr("use dtype=float64")));
  EXPECT_EQ(refusal("spmv/coo", "dtype=float64 matrix=" + path), "no error");
  // Two billion rows with one entry would take minutes and more memory than most machines have.
  std::ofstream(path) << "%%MatrixMarket matrix coordinate real general\n2000000000 1 1\n1 1 1\n";
  EXPECT_THAT(refusal("spmv/coo", "matrix=" + path), HasSubstr("of 2000000000 x 1 has about 1 nonzeros"));
  // A file that has changed is read again.
  std::ofstream(path) << "%%MatrixMarket matrix coordinate real general\n5 2 1\n1 1 1\n";
  EXPECT_EQ(planned("spmv/coo", "matrix=" + path).integer("rows"), 5);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace gpuexp
