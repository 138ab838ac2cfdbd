// A kernel runs, and its counts are those worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/simt/engine_lab.h"

namespace gpuexp::test {
namespace {

TEST(EngineBasics, CopyCountsRequestsAndSectors) {
  const PointResult result = run("copy", floats(1000, [](std::int64_t i) { return double(i); }), with({{"n", 1000}}));
  ASSERT_EQ(result.status, Status::ok) << result.reason;
  EXPECT_EQ(result.verification.state, Verification::State::passed) << result.verification.got;
  EXPECT_EQ(result.verification.checked, 1000U);
  EXPECT_TRUE(result.findings.empty()) << result.findings.front().message;
  const SiteRow* load = find_site(result, "in", "load");
  ASSERT_NE(load, nullptr);
  EXPECT_EQ(load->requests, 32U);  // 1000 / 32 rounded up
  EXPECT_EQ(load->lanes, 1000U);
  EXPECT_EQ(load->sectors, 125U);
  EXPECT_EQ(load->ideal_sectors, 125U);
  EXPECT_EQ(load->site.file, "tests/simt/kernels/basics.cu");
  EXPECT_EQ(load->site.line, line_of("basics.cu", "if (i < n) out[i] = in[i];"));
  EXPECT_EQ(result.launches.front().kernel, "copy");
  EXPECT_EQ(result.blocks_run, 8);
}

// A pair of floats is as wide as a double, which is no reason to read one as the other.
TEST(EngineBasics, ElementsMustBeThoseOfTheBuffer) {
  const Lab lab = floats(64, [](std::int64_t i) { return double(i); });
  const PointResult pairs = run("float2_of_floats", lab, with({{"n", 64}}));
  EXPECT_EQ(pairs.status, Status::ok) << pairs.reason;
  EXPECT_EQ(pairs.verification.state, Verification::State::passed);
  for (const char* kernel : {"double_of_floats", "long_of_floats"}) {
    const PointResult result = run(kernel, lab, with({{"n", 64}}));
    EXPECT_EQ(result.status, Status::failed) << kernel;
    EXPECT_NE(result.reason.find("takes elements of 8 bytes from buffer "), std::string::npos) << result.reason;
  }
}

TEST(EngineBasics, IndicesInThreeDimensions) {
  Lab lab;
  lab.buffers = {{"out", DType::int32, 15 * 6 * 8, Role::out}};
  lab.expected = [](std::size_t, std::int64_t i) { return double(i % 15 + 100 * (i / 15 % 6) + 10000 * (i / 90)); };
  const PointResult result = run("indices", lab);
  ASSERT_EQ(result.status, Status::ok) << result.reason;
  EXPECT_EQ(result.verification.state, Verification::State::passed);
}

TEST(EngineBasics, SharedMemoryAndBarriers) {
  const auto right = [](std::int64_t i) { return double(i / 128 * 128 + 127 - i % 128); };
  for (const char* kernel : {"reverse_static", "reverse_dynamic"}) {
    const PointResult result = run(kernel, floats(1024, right));
    ASSERT_EQ(result.status, Status::ok) << result.reason;
    EXPECT_EQ(result.verification.state, Verification::State::passed) << kernel;
    EXPECT_TRUE(result.findings.empty()) << result.findings.front().message;
  }
}

// A block of too few bytes: the array is named as the kernel names it where debug information tells its name.
TEST(EngineBasics, FindingsNameTheDynamicArray) {
  ParamSet params;
  params.set("shared", std::int64_t{512});
  const PointResult result = run("reverse_dynamic", floats(1024, [](std::int64_t) { return 0.0; }), params);
#if defined(__clang__)
  const std::string name = "dynamic shared memory";
#else
  const std::string name = "memory";
#endif
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings.front().kind, "out_of_bounds");
  EXPECT_NE(result.findings.front().message.find("shared memory 0 bytes past the end of " + name + " (512 bytes)"),
            std::string::npos)
      << result.findings.front().message;
  const PointResult whole = run("reverse_dynamic", floats(1024, [](std::int64_t) { return 0.0; }));
  EXPECT_TRUE(std::ranges::any_of(whole.sites, [&](const SiteRow& row) { return row.buffer == name; }));
}

}  // namespace
}  // namespace gpuexp::test
