// The runner with a backend of the test's own: order, containment, interruption, resume, exit codes, progress.
#include "profiler/run/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "../report/temporary_directory.h"
#include "profiler/device/device_spec.h"

namespace gpuexp {
namespace {

using testing::HasSubstr;

class FakeBackend final : public Backend {
 public:
  std::string_view name() const override { return "simt"; }
  std::string_view description() const override { return "answers what the test says"; }
  Availability availability() const override { return {true, "", ""}; }
  std::vector<std::pair<std::string, std::string>> environment() const override { return {{"threads", threads}}; }
  PointResult run(const Point& point, const RunOptions&) override {
    ran.push_back(point.key());
    PointResult result;
    result.point = point;
    result.backend = "simt";
    result.flops = 100;
    result.compulsory_load_bytes = 50;
    result.counters["requested_load_bytes"] = Quantity::count(400, Source::emulated);
    result.counters["requested_store_bytes"] = Quantity::count(0, Source::emulated);
    result.verification.state = Verification::State::passed;
    if (on_run) on_run(point, result);
    return result;
  }
  std::string threads = "2";
  std::vector<std::string> ran;
  std::function<void(const Point&, PointResult&)> on_run;
};

Plan plan_of(std::int64_t points) {
  Plan plan;
  plan.name = "fake";
  plan.experiment.name = "fake";
  for (std::int64_t i = 0; i < points; ++i) {
    Point point;
    point.variant = "fake/variant";
    point.params.set("n", i);
    plan.points.push_back(point);
  }
  return plan;
}

struct TestRun {
  test::TemporaryDirectory directory;
  FakeBackend backend;
  DeviceSpec device = find_device("a100").spec;
  std::unique_ptr<Progress> progress = make_quiet_progress();
  std::atomic<bool> cancel = false;

  RunSummary operator()(const Plan& plan, bool resume = false) {
    RunSettings settings;
    settings.directory = directory.path();
    settings.resume = resume;
    settings.options.cancel = &cancel;
    return run_plan(plan, device, backend, settings, *progress);
  }
};

nlohmann::json without_environment(const std::filesystem::path& path) {
  nlohmann::json json = nlohmann::json::parse(test::text_of_file(path));
  json.erase("environment");
  return json;
}

TEST(Runner, RunsInOrderAndAttachesTheRoofline) {
  TestRun run;
  const RunSummary summary = run(plan_of(3));
  EXPECT_EQ(summary.exit_code(), ExitCode::success);
  EXPECT_THAT(run.backend.ran, testing::ElementsAre("fake/variant n=0", "fake/variant n=1", "fake/variant n=2"));
  const ResultFile read = read_results(summary.json);
  ASSERT_EQ(read.points.size(), 3U);
  EXPECT_EQ(read.points[0].analysis->loaded.intensity.number(), 0.25);
  EXPECT_EQ(read.points[0].analysis->loaded.attainable.number(), 0.25 * 1.935e12);
  EXPECT_EQ(environment_value(read.environment, "threads"), "2");
  for (const char* fact : {"host", "os", "cpu", "compiler", "started"})
    EXPECT_NE(environment_value(read.environment, fact), "") << fact;
  EXPECT_EQ(read_results(summary.csv).points.size(), 3U);
}

TEST(Runner, ContainsWhatAPointThrows) {
  TestRun run;
  run.backend.on_run = [](const Point& point, PointResult&) {
    if (point.params.integer("n") == 1) throw std::runtime_error("the device fell off");
    if (point.params.integer("n") == 2) throw std::bad_alloc();
    if (point.params.integer("n") == 3) throw 7;  // NOLINT: not an exception
  };
  const RunSummary summary = run(plan_of(5));
  EXPECT_EQ(summary.exit_code(), ExitCode::bad_answer);
  EXPECT_EQ(summary.bad, 3U);
  const auto& points = summary.results.points;
  EXPECT_EQ(points[1].result.status, Status::failed);
  EXPECT_EQ(points[1].result.reason, "the device fell off");
  EXPECT_EQ(points[1].analysis.has_value(), false);
  EXPECT_EQ(points[2].result.status, Status::out_of_memory);
  EXPECT_EQ(points[3].result.status, Status::failed);
  EXPECT_EQ(points[4].result.status, Status::ok) << "the sweep goes on";
}

TEST(Runner, ExitCodesFollowTheAnswers) {
  const auto code_of = [](const std::function<void(PointResult&)>& edit) {
    TestRun run;
    run.backend.on_run = [&](const Point&, PointResult& result) { edit(result); };
    return run(plan_of(1)).exit_code();
  };
  const Finding race{.kind = "race", .message = "m", .site = {}, .other_site = {}, .block = {}, .thread = {}};
  EXPECT_EQ(code_of([](PointResult&) {}), ExitCode::success);
  EXPECT_EQ(code_of([](PointResult& r) { r.status = Status::unsupported; }), ExitCode::success);
  EXPECT_EQ(code_of([](PointResult& r) { r.verification.state = Verification::State::failed; }), ExitCode::bad_answer);
  EXPECT_EQ(code_of([](PointResult& r) { r.status = Status::timed_out; }), ExitCode::bad_answer);
  EXPECT_EQ(code_of([&](PointResult& r) { r.findings.push_back(race); }), ExitCode::bad_answer);
  EXPECT_EQ(code_of([&](PointResult& r) {
              r.findings.push_back(race);
              r.expected_finding = "race";
              r.verification.state = Verification::State::failed;
            }),
            ExitCode::success);
  EXPECT_EQ(code_of([](PointResult& r) { r.expected_finding = "race"; }), ExitCode::bad_answer);
}

TEST(Runner, InterruptionFinishesThePointAndResumeTheRest) {
  TestRun run;
  run.backend.on_run = [&](const Point& point, PointResult&) {
    if (point.params.integer("n") == 1) run.cancel = true;
  };
  const RunSummary first = run(plan_of(4));
  EXPECT_TRUE(first.interrupted);
  EXPECT_EQ(first.exit_code(), ExitCode::interrupted);
  EXPECT_EQ(read_results(first.json).points.size(), 2U);
  EXPECT_FALSE(read_results(first.json).complete);

  run.cancel = false;
  run.backend.ran.clear();
  run.backend.on_run = nullptr;
  run.backend.threads = "64";
  const RunSummary second = run(plan_of(4), true);
  EXPECT_EQ(second.resumed, 2U);
  EXPECT_THAT(run.backend.ran, testing::ElementsAre("fake/variant n=2", "fake/variant n=3"));
  TestRun uninterrupted;
  const RunSummary whole = uninterrupted(plan_of(4));
  EXPECT_EQ(without_environment(second.json).dump(), without_environment(whole.json).dump());
  EXPECT_EQ(test::text_of_file(second.csv), test::text_of_file(whole.csv));
}

TEST(Runner, APointInterruptedByTheBackendRunsAgain) {
  TestRun run;
  run.backend.on_run = [&](const Point& point, PointResult& result) {
    if (point.params.integer("n") == 1) result.status = Status::interrupted;
  };
  EXPECT_TRUE(run(plan_of(3)).interrupted);
  run.backend.on_run = nullptr;
  const RunSummary second = run(plan_of(3), true);
  EXPECT_EQ(second.resumed, 1U);
  EXPECT_TRUE(second.results.complete);
}

TEST(Runner, ResumeOfAFinishedRunRunsNothing) {
  TestRun run;
  run(plan_of(2));
  run.backend.ran.clear();
  const RunSummary again = run(plan_of(2), true);
  EXPECT_TRUE(run.backend.ran.empty());
  EXPECT_EQ(again.exit_code(), ExitCode::success);
  EXPECT_FALSE(std::filesystem::exists(run.directory / "fake.simt.prev.json"));
}

TEST(Runner, SameBytesWhateverTheThreads) {
  TestRun a, b;
  b.backend.threads = "64";
  const RunSummary one = a(plan_of(3)), many = b(plan_of(3));
  EXPECT_EQ(without_environment(one.json).dump(), without_environment(many.json).dump());
  EXPECT_EQ(test::text_of_file(one.csv), test::text_of_file(many.csv));
}

TEST(Runner, AnUnwritableDirectoryIsFoundBeforeTheFirstPoint) {
  TestRun run;
  RunSettings settings;
  settings.directory = "/proc/gpuexp";
  try {
    run_plan(plan_of(1), run.device, run.backend, settings, *run.progress);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_write);
    EXPECT_THAT(error.what(), HasSubstr("/proc/gpuexp"));
  }
  EXPECT_TRUE(run.backend.ran.empty());
}

TEST(Runner, AFailedWriteStopsTheRun) {
  TestRun run;
  run.backend.on_run = [&](const Point&, PointResult&) { std::filesystem::remove_all(run.directory.path()); };
  EXPECT_THROW(run(plan_of(3)), Error);
  EXPECT_EQ(run.backend.ran.size(), 1U);
}

TEST(Runner, AnEmptyPlanIsAFinishedRun) {
  TestRun run;
  const RunSummary summary = run(plan_of(0));
  EXPECT_EQ(summary.exit_code(), ExitCode::success);
  EXPECT_TRUE(read_results(summary.json).complete);
}

TEST(Progress, WritesPlainLinesIntoAPipe) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  TestRun run;
  run.progress = make_progress(file);
  run.backend.on_run = [](const Point& point, PointResult& result) {
    if (point.params.integer("n") == 50) result.verification.state = Verification::State::failed;
  };
  run(plan_of(100));
  std::rewind(file);
  std::string text(1 << 16, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  EXPECT_THAT(text, HasSubstr("[  1/100] fake/variant n=0: ok"));
  EXPECT_THAT(text, HasSubstr("[ 51/100] fake/variant n=50: bad answer, 1 bad"));
  EXPECT_THAT(text, HasSubstr("[100/100] fake/variant n=99: ok, 1 bad\n"));
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_LT(std::ranges::count(text, '\n'), 60) << "long sweeps are not told point by point";
}

}  // namespace
}  // namespace gpuexp
