// Messages between gpuexp and its worker survive the journey, and garbled ones are refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "profiler/backend/cuda/wire.h"

namespace gpuexp::cuda {
namespace {

PointResult full_result() {
  PointResult r;
  r.point.variant = "matmul/tiled";
  r.point.params.set("TILE", std::int64_t{16});
  r.point.params.set("density", 0.1);
  r.point.params.set("dtype", std::string("float32"));
  r.point.seed = 7;
  r.backend = "cuda";
  r.status = Status::out_of_memory;
  r.reason = "a reason with \"quotes\" and \n a newline";
  r.launches = {{"kernel<float, 16>", {1, 2, 3}, {4, 5, 6}, 7, 8, 9}, {"other", {}, {}, 0, 0, std::nullopt}};
  r.blocks_run = 3;
  r.blocks_total = std::int64_t{1} << 40U;
  r.flops = 2e18;
  r.compulsory_load_bytes = UINT64_MAX;
  r.facts.set("nnz", std::int64_t{12});
  r.counters["exact"] = Quantity::count(UINT64_MAX - 1, Source::measured);
  r.counters["real"] = Quantity::real(0.25, Source::measured);
  r.counters["denied"] = Quantity::null("not permitted", Source::measured);
  Finding& finding = r.findings.emplace_back();
  finding.kind = "race";
  finding.site = {"file.cu", 3, 4};
  finding.other_site = SourceSite{"other.cu", 5, 6};
  finding.occurrences = 11;
  r.expected_finding = "race";
  r.verification.state = Verification::State::failed;
  r.verification.got = std::numeric_limits<double>::quiet_NaN();
  r.verification.max_error = HUGE_VAL;
  r.verification.first_index = 99;
  r.timing = Timing{{1.5, 2.5}, "cold", 3, 1755.5, "note"};
  r.warnings = {"one", "two"};
  r.wall_seconds = 0.125;
  return r;
}

TEST(Wire, AnswerKeepsEveryField) {
  Answer sent;
  sent.result = full_result();
  sent.context_lost = true;
  sent.machine.gpus.resize(2);
  sent.machine.gpus[1].name = "NVIDIA H200";
  sent.machine.gpus[1].shared_reserved = 1024;
  sent.machine.gpus[1].mig = true;
  sent.machine.driver_version = 13000;
  const Answer got = decode_answer(encode(sent));

  EXPECT_TRUE(got.context_lost);
  ASSERT_EQ(got.machine.gpus.size(), 2U);
  EXPECT_EQ(got.machine.gpus[1].name, "NVIDIA H200");
  EXPECT_EQ(got.machine.gpus[1].shared_reserved, 1024);
  EXPECT_TRUE(got.machine.gpus[1].mig);
  EXPECT_EQ(got.machine.driver_version, 13000);

  const PointResult &r = got.result, &o = sent.result;
  EXPECT_EQ(r.point.key(), o.point.key());
  EXPECT_EQ(r.point.seed, 7U);
  EXPECT_EQ(r.status, Status::out_of_memory);
  EXPECT_EQ(r.reason, o.reason);
  ASSERT_EQ(r.launches.size(), 2U);
  EXPECT_EQ(r.launches[0].grid, (Dim3{1, 2, 3}));
  EXPECT_EQ(r.launches[0].registers_per_thread, 9);
  EXPECT_FALSE(r.launches[1].registers_per_thread.has_value());
  EXPECT_EQ(r.blocks_total, std::int64_t{1} << 40U);
  EXPECT_EQ(r.flops, 2e18);
  EXPECT_EQ(r.compulsory_load_bytes, UINT64_MAX);
  EXPECT_EQ(r.facts, o.facts);
  EXPECT_EQ(r.counters.at("exact").exact(), UINT64_MAX - 1);
  EXPECT_EQ(r.counters.at("real").number(), 0.25);
  EXPECT_FALSE(r.counters.at("denied").has_value());
  EXPECT_EQ(r.counters.at("denied").reason, "not permitted");
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].other_site->file, "other.cu");
  EXPECT_EQ(r.findings[0].occurrences, 11U);
  EXPECT_EQ(r.expected_finding, "race");
  EXPECT_TRUE(std::isnan(r.verification.got));
  EXPECT_EQ(r.verification.max_error, HUGE_VAL);
  EXPECT_EQ(r.verification.first_index, 99);
  ASSERT_TRUE(r.timing.has_value());
  EXPECT_EQ(r.timing->samples_us, o.timing->samples_us);
  EXPECT_EQ(r.timing->discarded_throttled, 3);
  EXPECT_EQ(r.timing->sm_clock_mhz, 1755.5);
  EXPECT_EQ(r.timing->note, "note");
  EXPECT_EQ(r.warnings, o.warnings);
  EXPECT_EQ(r.wall_seconds, 0.125);
}

TEST(Wire, RequestKeepsWhatTheWorkerNeeds) {
  Request sent;
  sent.kind = Request::Kind::measure;
  sent.point = full_result().point;
  sent.options.gpu = "GPU-1234";
  sent.options.cold_l2 = false;
  sent.options.max_noise = 0.25;
  sent.options.max_time_s = 0.5;
  sent.options.min_samples = 3;
  sent.options.counters = {"dram", "smsp__inst_executed.sum"};
  sent.options.count = false;
  sent.options.verify = false;
  sent.options.memory_limit_bytes = 12345;
  const Request got = decode_request(encode(sent));
  EXPECT_EQ(got.kind, Request::Kind::measure);
  EXPECT_EQ(got.point.key(), sent.point.key());
  EXPECT_EQ(got.options.gpu, "GPU-1234");
  EXPECT_FALSE(got.options.cold_l2);
  EXPECT_EQ(got.options.max_noise, 0.25);
  EXPECT_EQ(got.options.max_time_s, 0.5);
  EXPECT_EQ(got.options.min_samples, 3);
  EXPECT_EQ(got.options.counters, sent.options.counters);
  EXPECT_FALSE(got.options.count);
  EXPECT_FALSE(got.options.verify);
  EXPECT_EQ(got.options.memory_limit_bytes, 12345U);
}

TEST(Wire, CutOrLengthenedMessagesAreRefused) {
  Answer answer;
  answer.result = full_result();
  const std::string bytes = encode(answer);
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    EXPECT_THROW(decode_answer(std::string_view(bytes).substr(0, size)), std::runtime_error) << size;
  }
  EXPECT_THROW(decode_answer(bytes + "x"), std::runtime_error);
}

}  // namespace
}  // namespace gpuexp::cuda
