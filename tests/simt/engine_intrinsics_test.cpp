// Warp intrinsics and atomics give what CUDA's give.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "tests/simt/engine_lab.h"

namespace gpuexp::test {
namespace {

void expect_right(const std::string& kernel, const Lab& lab, int threads = 0) {
  for (const Schedule schedule : kSchedules) {
    RunOptions options;
    options.schedule = schedule;
    options.threads = threads;
    const PointResult result = run(kernel, lab, {}, options);
    ASSERT_EQ(result.status, Status::ok) << kernel << ": " << result.reason;
    EXPECT_EQ(result.verification.state, Verification::State::passed)
        << kernel << ": element " << result.verification.first_index << " is " << result.verification.got
        << ", expected " << result.verification.expected;
    EXPECT_TRUE(result.findings.empty()) << kernel << ": " << result.findings.front().message;
  }
}

// Which lane's value lane t gets in row `row` of all_shuffles.
int shuffle_source(int row, int t) {
  switch (row) {
    case 0:
      return 5;
    case 1:
      return t / 8 * 8 + (t + 3) % 8;
    case 2:
      return t >= 3 ? t - 3 : t;
    case 3:
      return t % 4 >= 1 ? t - 1 : t;
    case 4:
      return t + 10 < 32 ? t + 10 : t;
    case 5:
      return t % 16 + 2 < 16 ? t + 2 : t;
    case 6:
      return t ^ 21;
    default:
      return (t ^ 6) <= t / 4 * 4 + 3 ? t ^ 6 : t;  // a lower segment can be read, a higher one not
  }
}

TEST(EngineIntrinsics, ShufflesOfAllTypes) {
  const auto value = [](std::int64_t lane) { return double(lane * lane - 7 * lane); };
  for (const auto& [kernel, type] :
       {std::pair{"shuffles_float", DType::float32}, std::pair{"shuffles_double", DType::float64},
        std::pair{"shuffles_long", DType::int64}}) {
    Lab lab;
    lab.buffers = {{"in", type, 32, Role::in}, {"out", type, 256, Role::out}};
    lab.input = [&](std::size_t, std::int64_t i) { return value(i); };
    lab.expected = [&](std::size_t, std::int64_t i) {
      return value(shuffle_source(static_cast<int>(i / 32), static_cast<int>(i % 32)));
    };
    expect_right(kernel, lab);
  }
}

TEST(EngineIntrinsics, VotesReductionsAndMatches) {
  Lab lab;
  lab.buffers = {{"in", DType::int32, 32, Role::in}, {"out", DType::int32, 320, Role::out}};
  const auto value = [](std::int64_t i) { return static_cast<int>(i * i % 37); };
  lab.input = [=](std::size_t, std::int64_t i) { return double(value(i)); };
  lab.expected = [=](std::size_t, std::int64_t i) {
    const int t = static_cast<int>(i % 32);
    unsigned odd = 0, same = 0;
    int sum = 0, top = 0;
    for (int lane = 0; lane < 32; ++lane) {
      odd |= static_cast<unsigned>(value(lane) & 1) << lane;
      same |= static_cast<unsigned>(value(lane) % 3 == value(t) % 3) << lane;
      sum += value(lane);
      top = std::max(top, value(lane));
    }
    switch (i / 32) {
      case 0:
        return double(static_cast<int>(odd));
      case 1:
        return 1.0;
      case 2:
        return 0.0;
      case 3:
        return t < 12 ? 0xfff : 0.0;
      case 4:
        return double(sum);
      case 5:
        return double(-top);
      case 6:
        return double(top);
      case 7:
        return double(static_cast<int>(same));
      case 8:
        return double(static_cast<int>(0xffffffffU) + 1);
      default:
        return t % 4 == 1 ? double(0x22222222) : 0.0;
    }
  };
  expect_right("votes", lab);
}

TEST(EngineIntrinsics, BarriersThatCount) {
  Lab lab;
  lab.buffers = {{"in", DType::int32, 96, Role::in}, {"out", DType::int32, 288, Role::out}};
  lab.input = [](std::size_t, std::int64_t i) { return double(i); };
  lab.expected = [](std::size_t, std::int64_t i) { return i < 96 ? 32.0 : 1.0; };
  expect_right("block_votes", lab);
}

TEST(EngineIntrinsics, MasksMayNameLanesThatNeverWere) {
  Lab lab = floats(8);
  lab.buffers[1].elements = 1;
  lab.expected = [](std::size_t, std::int64_t) { return 28.0; };
  expect_right("small_block_sum", lab);
}

TEST(EngineAtomics, HappenInBlockOrder) {
  Lab lab;
  lab.buffers = {{"in", DType::int32, 256, Role::in}, {"out", DType::int32, 201, Role::inout}};
  lab.expected = [](std::size_t, std::int64_t i) { return i == 0 ? 200.0 : double(i - 1); };
  for (const int threads : {1, 2, 5}) expect_right("tickets", lab, threads);
}

TEST(EngineAtomics, AllOperations) {
  Lab lab;
  lab.buffers = {{"in", DType::int32, 32, Role::in}, {"out", DType::int32, 14, Role::inout}};
  lab.input = [](std::size_t buffer, std::int64_t i) { return buffer == 0 ? double(i + 1) : i == 4 ? 0xff00 : 0.0; };
  lab.expected = [](std::size_t, std::int64_t i) -> double {
    int any = 0, parity = 0;
    for (int v = 1; v <= 32; ++v) any |= v, parity ^= v;
    switch (i) {
      case 0:
        return 528;
      case 1:
        return -528;
      case 2:
        return -32;
      case 3:
        return 32;
      case 4:
        return 0xff00 & ~any;
      case 5:
        return any;
      case 6:
        return parity;
      case 7:
        return 17;
      case 8:
        return 42;
      case 9:
        return 32 % 10;
      case 10:
        return 4;  // 0, 5, 4, 3, 2, 1, 0, 5, ...: after 32 steps
      case 11:
        return std::bit_cast<int>(16.0F);
      case 12:
        return 0;
      default:
        return 16;
    }
  };
  expect_right("all_atomics", lab);
  const PointResult result = run("all_atomics", lab);
  EXPECT_EQ(counter(result, "global_atomic_requests"), 13U);
}

}  // namespace
}  // namespace gpuexp::test
