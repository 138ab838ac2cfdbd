// Whatever a kernel does is a status of its point, and the next point runs.
#include <gmock/gmock.h>

#include "tests/gpu/gpu_fixture.h"

namespace gpuexp {
namespace {

using testing::HasSubstr;

class Containment : public GpuTest {
 protected:
  static void expect_the_next_point_to_run() {
    const PointResult next = backend().run(point("vector/add", with("n", 1000)), quick());
    EXPECT_EQ(next.status, Status::ok) << next.reason;
    EXPECT_EQ(next.verification.state, Verification::State::passed);
    EXPECT_TRUE(next.timing.has_value());
  }
};

TEST_F(Containment, IllegalAddress) {
  const PointResult result = backend().run(point("fault/illegal_address"), quick());
  EXPECT_EQ(result.status, Status::failed);
  EXPECT_THAT(result.reason, HasSubstr("cudaErrorIllegalAddress"));
  expect_the_next_point_to_run();
}

TEST_F(Containment, EndlessKernelEndsAtTheWallLimit) {
  RunOptions options = quick();
  options.point_time_limit_s = 3;
  const PointResult result = backend().run(point("fault/endless"), options);
  EXPECT_EQ(result.status, Status::timed_out);
  EXPECT_LT(result.wall_seconds, 15);
  expect_the_next_point_to_run();
}

TEST_F(Containment, Interruption) {
  std::atomic<bool> cancel{true};
  RunOptions options = quick();
  options.cancel = &cancel;
  EXPECT_EQ(backend().run(point("fault/endless"), options).status, Status::interrupted);
  expect_the_next_point_to_run();
}

TEST_F(Containment, AKernelThatDoesNothingFailsVerification) {
  const PointResult result = backend().run(point("fault/nothing", with("n", 777)), quick());
  EXPECT_EQ(result.status, Status::ok);
  EXPECT_EQ(result.verification.state, Verification::State::failed);
  EXPECT_EQ(result.verification.wrong, 777U);
  EXPECT_EQ(result.verification.nan, 777U);
  EXPECT_FALSE(result.timing.has_value());
}

TEST_F(Containment, AKernelThatGoesWrongLaterFailsVerification) {
  RunOptions options = quick();
  options.max_time_s = 1;
  options.min_samples = 40;
  const PointResult result = backend().run(point("fault/later", with("n", 1000)), options);
  EXPECT_EQ(result.verification.state, Verification::State::failed);
  EXPECT_EQ(result.verification.first_index, 0);
  EXPECT_EQ(result.verification.got, 12345.0);
  EXPECT_THAT(result.verification.scope, HasSubstr("after the timed runs"));
}

TEST_F(Containment, AWriteToAnInputIsAFinding) {
  const PointResult result = backend().run(point("fault/writes_input", with("n", 1000)), quick());
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings[0].kind, "write_to_input");
  EXPECT_THAT(result.findings[0].message, HasSubstr("x"));
  expect_the_next_point_to_run();  // with inputs restored
}

TEST_F(Containment, TooLargeAGridIsNamedBeforeTheLaunch) {
  const PointResult result = backend().run(point("fault/too_large"), quick());
  EXPECT_EQ(result.status, Status::failed);
  EXPECT_THAT(result.reason, HasSubstr("grid.y is 65536, and this GPU allows 65535"));
  expect_the_next_point_to_run();
}

TEST_F(Containment, MoreMemoryThanThereIsIsAStatus) {
  const PointResult result = backend().run(point("vector/add", with("n", std::int64_t{1} << 38U)), quick());
  EXPECT_EQ(result.status, Status::out_of_memory);
  EXPECT_THAT(result.reason, HasSubstr("GB"));
  expect_the_next_point_to_run();
}

TEST_F(Containment, NoElementsIsNoLaunch) {
  const PointResult result = backend().run(point("matmul/naive", with("n", 0)), quick());
  EXPECT_EQ(result.status, Status::ok) << result.reason;
  EXPECT_TRUE(result.launches.empty());
  EXPECT_EQ(result.verification.state, Verification::State::passed);
}

TEST_F(Containment, AnUnknownGpuIsTheMachinesFault) {
  RunOptions options = quick();
  options.gpu = "GPU-ffffffff";
  const PointResult result = backend().run(point("vector/add"), options);
  EXPECT_EQ(result.status, Status::failed);
  EXPECT_THAT(result.reason, HasSubstr("--gpu 'GPU-ffffffff' means no GPU of this machine"));
}

}  // namespace
}  // namespace gpuexp
