// The backend where there may be no GPU: it says why, and never crashes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "profiler/backend/backend.h"
#include "profiler/backend/cuda/cuda_backend.h"
#include "profiler/backend/cuda/gpu_part.h"
#include "profiler/backend/cuda/worker.h"
#include "profiler/core/error.h"
#include "profiler/device/device_spec.h"
#include "profiler/registry/registry.h"

namespace gpuexp {
namespace {

using testing::HasSubstr;

struct Finished {
  int code = 0;
  std::string output;
};

Finished run_gpuexp(const std::string& arguments) {
  Finished finished;
  FILE* pipe = popen((std::string(GPUEXP_BINARY) + " " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {-1, "popen failed"};
  char buffer[4096];
  for (std::size_t got = 0; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) finished.output.append(buffer, got);
  finished.code = WEXITSTATUS(pclose(pipe));
  return finished;
}

TEST(CudaBackend, IsAlwaysListedFirst) {
  const auto backends = make_backends();
  ASSERT_GE(backends.size(), 2U);
  EXPECT_EQ(backends[0]->name(), "cuda");
  EXPECT_EQ(backends[1]->name(), "simt");
}

TEST(CudaBackend, WithoutAGpuItSaysWhyAndWhatToDo) {
  const auto backend = make_cuda_backend(nullptr);
  const Availability availability = backend->availability();
  if (availability.available) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_NE(availability.reason, "");
  EXPECT_NE(availability.remedy, "");
  EXPECT_FALSE(backend->diagnose().empty());
  EXPECT_FALSE(backend->environment().empty());
  EXPECT_THROW(static_cast<void>(backend->device("")), Error);

  Point point;
  point.variant = "vector/add";
  point.params = complete_params(*find_variant(point.variant), {});
  const PointResult result = backend->run(point, {});
  EXPECT_EQ(result.backend, "cuda");
  EXPECT_EQ(result.status, Status::failed);
  EXPECT_NE(result.reason, "");
}

TEST(CudaBackend, RunOnAMachineWithoutGpuEndsWithExitCode3) {
  if (make_cuda_backend(nullptr)->availability().available) GTEST_SKIP() << "this machine has a GPU";
  const Finished run = run_gpuexp("run vector --backend cuda --out " + testing::TempDir() + "no_gpu");
  EXPECT_EQ(run.code, static_cast<int>(ExitCode::machine)) << run.output;
  EXPECT_THAT(run.output, HasSubstr("cuda"));
}

TEST(CudaBackend, HelpAndDoctorNeedNoGpu) {
  EXPECT_EQ(run_gpuexp("--help").code, 0);
  const Finished doctor = run_gpuexp("doctor");
  EXPECT_THAT(doctor.output, HasSubstr("driver")) << doctor.output;
}

// The program must start where neither driver nor toolkit is installed.
TEST(CudaBackend, TheProgramLinksNothingOfTheDriverOrTheToolkit) {
  FILE* pipe = popen((std::string("LC_ALL=C readelf -d ") + GPUEXP_BINARY + " 2>/dev/null").c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string needed;
  char buffer[4096];
  for (std::size_t got = 0; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) needed.append(buffer, got);
  if (pclose(pipe) != 0) GTEST_SKIP() << "no readelf here";
  for (const char* library : {"libcuda.so", "libcudart.so", "libcupti", "libcublas", "libnvperf"}) {
    EXPECT_THAT(needed, testing::Not(HasSubstr(library)));
  }
}

TEST(Worker, AnswersTheSameAsThisProcessWouldAndCanBeReplaced) {
  cuda::Request inspect;
  cuda::Worker worker;
  EXPECT_FALSE(worker.running());
  const cuda::Exchange first = worker.ask(inspect, 60, nullptr);
  ASSERT_EQ(first.end, cuda::Exchange::End::answered) << first.how;
  EXPECT_TRUE(worker.running());
  worker.stop();
  EXPECT_FALSE(worker.running());
  const cuda::Exchange second = worker.ask(inspect, 60, nullptr);
  ASSERT_EQ(second.end, cuda::Exchange::End::answered) << second.how;
  EXPECT_EQ(second.answer.machine.reason, first.answer.machine.reason);
  EXPECT_EQ(second.answer.machine.gpus.size(), first.answer.machine.gpus.size());
}

}  // namespace
}  // namespace gpuexp
