// Names of counters on every chip, through CUPTI's host interface, which needs no GPU; and its errors in words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/backend/cuda/counter_errors.h"
#include "profiler/backend/cuda/counter_request.h"
#include "profiler/backend/cuda/cuda_backend.h"
#include "profiler/core/error.h"
#include "profiler/counters/counters.h"

namespace gpuexp::cuda {
namespace {

using testing::HasSubstr;

TEST(CounterNames, MetricsAreToldFromMistypedCounters) {
  EXPECT_TRUE(looks_like_metric("smsp__inst_executed.sum"));
  EXPECT_TRUE(looks_like_metric("dram__bytes_read.sum.per_second"));
  for (const char* name : {"", "dram", "global_load_sectors", "smsp__inst_executed", "__x.sum", "smsp__.sum",
                           "smsp__inst_executed.", "SMSP__inst.sum", "smsp__inst executed.sum"}) {
    EXPECT_FALSE(looks_like_metric(name)) << name;
  }
}

TEST(CounterNames, IdsGroupsAndRawNamesEachOnceInTableOrder) {
  const auto entries = resolve_counters(
      "GH100", {"dram_write_bytes", "smsp__inst_issued.sum", "dram", "smsp__inst_issued.sum", "dram_read_bytes"});
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].counter, "dram_read_bytes");
  EXPECT_EQ(entries[0].metric, "dram__bytes_read.sum");
  EXPECT_EQ(entries[1].counter, "dram_write_bytes");
  EXPECT_EQ(entries[2].counter, "smsp__inst_issued.sum");
  EXPECT_EQ(entries[2].metric, "smsp__inst_issued.sum");
}

TEST(CounterNames, ChipsHaveTheirOwnNames) {
  EXPECT_EQ(resolve_counters("GB202", {"dram_read_bytes"}).front().metric, "dram__bytes_op_read.sum");
}

TEST(CounterNames, AskedForButMissingIsARefusalAndLeftOutByDefault) {
  const auto asked = resolve_counters("GB10B", {"dram_read_bytes"});
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_TRUE(asked[0].metric.empty());
  EXPECT_THAT(asked[0].refusal, HasSubstr("GB10B"));
  const auto by_default = resolve_counters("GB10B", {});
  EXPECT_TRUE(std::none_of(by_default.begin(), by_default.end(), [](const auto& entry) {
    return entry.metric.empty() || entry.counter == "dram_read_bytes";
  }));
}

TEST(CounterNames, UnknownNamesAreUsageErrorsWithTheNearest) {
  try {
    resolve_counters("GH100", {"dram_read_byte"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'dram_read_bytes'"));
  }
}

TEST(CounterNames, SumsAndExtremesAreWholeNumbers) {
  EXPECT_TRUE(counts_whole("sm__cycles_elapsed.max"));
  EXPECT_TRUE(counts_whole("smsp__inst_executed.sum"));
  EXPECT_FALSE(counts_whole("smsp__thread_inst_executed_per_inst_executed.ratio"));
  EXPECT_FALSE(counts_whole("sm__warps_active.avg.pct_of_peak_sustained_active"));
}

TEST(DefaultCounters, AreThoseThatCanApply) {
  const auto counts = [](const char* variant, const char* dtype, const char* id) {
    Point point;
    point.variant = variant;
    point.params.set("dtype", std::string(dtype));
    const std::vector<std::string> ids = default_counters("GH100", point);
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  for (const char* id : {"global_load_requests", "shared_store_wavefronts", "dram_read_bytes", "fp32_fma_instructions",
                         "achieved_occupancy"}) {
    EXPECT_TRUE(counts("matmul/tiled", "float32", id)) << id;
  }
  EXPECT_FALSE(counts("matmul/tiled", "float32", "tensor_tf32_operations"));
  EXPECT_TRUE(counts("matmul/cublas_tf32", "tf32", "tensor_tf32_operations"));
  EXPECT_FALSE(counts("matmul/tiled", "float32", "l2_read_sectors"));
  EXPECT_TRUE(counts("matmul/cublas_tf32", "tf32", "l2_read_sectors"));
  EXPECT_FALSE(counts("matmul/tiled", "float32", "fp16_fma_instructions"));
  EXPECT_TRUE(counts("gemv/block_per_row", "float16", "fp16_fma_instructions"));
  EXPECT_FALSE(counts("matmul/tiled", "float32", "fp64_fma_instructions"));
  EXPECT_FALSE(counts("matmul/tiled", "float32", "sm_cycles"));
  EXPECT_FALSE(counts("matmul/tiled", "float32", "memory_instructions"));  // no hardware counter
}

// Every chip that CUPTI can check, every counter of the table.
class Chips : public testing::Test {
 protected:
  void SetUp() override {
    backend_ = make_cuda_backend(nullptr);
    chips_ = backend_->counter_chips();
    if (chips_.empty()) GTEST_SKIP() << "no CUPTI here: " << backend_->plan_counters("GH100", {}).reason;
  }
  std::unique_ptr<Backend> backend_;
  std::vector<std::string> chips_;
};

TEST_F(Chips, AcceptEveryNameOfTheTable) {
  for (const char* chip : {"GA100", "GH100", "AD102", "GB100", "GB202", "GV100"}) {
    EXPECT_NE(std::find(chips_.begin(), chips_.end(), chip), chips_.end()) << chip;
  }
  for (const std::string& chip : chips_) {
    const CounterPlan plan = backend_->plan_counters(chip, {});
    if (!plan.reason.empty()) {  // CUPTI lists a chip whose counters it does not offer
      EXPECT_THAT(plan.reason, HasSubstr("NOT_SUPPORTED")) << chip;
      continue;
    }
    EXPECT_GT(plan.entries.size(), 20U) << chip;
    EXPECT_GT(plan.passes, 0) << chip;
    for (const CounterPlan::Entry& entry : plan.entries) EXPECT_EQ(entry.refusal, "") << chip << " " << entry.metric;
  }
}

TEST_F(Chips, PassesOfKnownSets) {
  for (const char* chip : {"GA100", "GH100"}) {
    EXPECT_EQ(backend_->plan_counters(chip, {"dram"}).passes, 1) << chip;
    const CounterPlan global = backend_->plan_counters(
        chip, {"global_load_requests", "global_load_sectors", "global_load_sectors_per_request",
               "global_store_requests", "global_store_sectors", "global_store_sectors_per_request"});
    EXPECT_EQ(global.passes, 2) << chip;  // requests, as the L1 cache counts them, would need a pass for each kind
    EXPECT_LE(backend_->plan_counters(chip, {}).passes, 6) << chip;
  }
}

// Beside times and verification, 60 ms a point.
TEST_F(Chips, TheDefaultTakesFewerPasses) {
  Point point;
  point.variant = "transpose/smem";
  for (const std::string& chip : chips_) {
    const std::vector<std::string> ids = backend_->default_counters(chip, point);
    const CounterPlan plan = backend_->plan_counters(chip, ids);
    if (!plan.reason.empty()) continue;  // AcceptEveryNameOfTheTable looks at the reason
    for (const CounterPlan::Entry& entry : plan.entries) EXPECT_EQ(entry.refusal, "") << chip << " " << entry.metric;
    if (chip == "GA100" || chip == "GH100") {
      EXPECT_EQ(plan.passes, 3) << chip;
    }
    EXPECT_LT(plan.passes, backend_->plan_counters(chip, {}).passes) << chip;
  }
}

TEST_F(Chips, ARefusedNameDoesNotSpoilTheOthers) {
  const CounterPlan plan =
      backend_->plan_counters("GB202", {"dram__bytes_read.sum", "smsp__inst_executed.sum", "nonsense__x.sum"});
  ASSERT_EQ(plan.entries.size(), 3U);
  EXPECT_THAT(plan.entries[0].refusal, HasSubstr("dram__bytes_read.sum"));
  EXPECT_EQ(plan.entries[1].refusal, "");
  EXPECT_NE(plan.entries[2].refusal, "");
  EXPECT_EQ(plan.passes, 1);
}

TEST_F(Chips, AnUnknownChipHasAReason) {
  const CounterPlan plan = backend_->plan_counters("GX999", {"dram_read_bytes"});
  EXPECT_NE(plan.reason, "");
  EXPECT_EQ(plan.passes, 0);
}

// ---- CUPTI's results in words ----

TEST(CuptiErrors, PermissionNamesTheRemedyWhereItHelps) {
  const CounterError host = explain_cupti(35, "cuptiRangeProfilerEnable");
  EXPECT_THAT(host.reason, HasSubstr("INSUFFICIENT_PRIVILEGES"));
  EXPECT_THAT(host.reason, HasSubstr("cuptiRangeProfilerEnable"));
  EXPECT_THAT(host.remedy, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  const CounterError container = explain_cupti(35, "x", {.wsl = false, .container = true});
  EXPECT_THAT(container.remedy, HasSubstr("the host's driver decides"));
  EXPECT_THAT(container.remedy, HasSubstr("SYS_ADMIN"));
  EXPECT_THAT(container.remedy, HasSubstr("root"));
  EXPECT_THAT(explain_cupti(35, "x", {.wsl = true}).remedy, HasSubstr("Control Panel"));
}

TEST(CuptiErrors, NotInitializedNamesBothVersions) {
  const CounterError error = explain_cupti(15, "x", {.driver_version = 12040, .cupti_version = 13000});
  EXPECT_THAT(error.reason, HasSubstr("13.0"));
  EXPECT_THAT(error.reason, HasSubstr("12.4"));
  EXPECT_THAT(explain_cupti(15, "x", {.wsl = true}).remedy, HasSubstr("WSL"));
  EXPECT_THAT(explain_cupti(2, "x", {.wsl = true}).remedy, HasSubstr("WSL"));
}

TEST(CuptiErrors, OtherToolsAreNamed) {
  EXPECT_THAT(explain_cupti(39, "x").to_text(), HasSubstr("compute-sanitizer"));
  EXPECT_THAT(explain_cupti(26, "x").to_text(), HasSubstr("dcgmi profile --pause"));
  EXPECT_THAT(explain_cupti(12, "x").to_text(), HasSubstr("another profiler"));
  EXPECT_THAT(explain_cupti(38, "x").to_text(), HasSubstr("LEGACY_PROFILER_NOT_SUPPORTED"));
  EXPECT_THAT(explain_cupti(43, "x").to_text(), HasSubstr("MIG"));
}

TEST(CuptiErrors, EveryCodeHasReasonAndRemedy) {
  for (int code = 1; code < 60; ++code) {
    const CounterError error = explain_cupti(code, "call");
    EXPECT_THAT(error.reason, HasSubstr(std::to_string(code)));
    EXPECT_NE(error.remedy, "") << code;
  }
}

}  // namespace
}  // namespace gpuexp::cuda
