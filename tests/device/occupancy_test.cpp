// Occupancy against a golden table computed with the CUDA toolkit's calculator, and the figures of the lecture.
#include "profiler/device/occupancy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace gpuexp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line)
    if (c == ',')
      cells.emplace_back();
    else
      cells.back() += c;
  return cells;
}

std::string cell_of(const std::optional<std::int64_t>& limit) { return limit ? std::to_string(*limit) : ""; }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "+") + word;
  return text;
}

// occupancy_golden.csv: what cudaOccMaxActiveBlocksPerMultiprocessor (cuda_occupancy.h of CUDA 13.0, largest carve-out,
// opt-in) gives for dynamic shared memory, over compute capabilities 7.0 to 12.0.
TEST(Occupancy, EqualsCudasCalculator) {
  std::ifstream file(GPUEXP_SOURCE_DIR "/tests/device/occupancy_golden.csv");
  std::string line;
  std::getline(file, line);
  ASSERT_EQ(line,
            "device,threads,registers,shared_bytes,blocks_per_sm,limit_warps,limit_blocks,limit_registers,limit_shared,"
            "allocated_shared,limiters");
  int rows = 0;
  while (std::getline(file, line)) {
    ++rows;
    const auto cell = split(line);
    ASSERT_EQ(cell.size(), 11U) << line;
    const DeviceSpec spec = find_device(cell[0]).spec;
    const Occupancy got = occupancy(spec, {std::stoll(cell[1]), 0, std::stoll(cell[3]), std::stoi(cell[2])});
    EXPECT_EQ(std::to_string(got.blocks_per_sm), cell[4]) << line;
    EXPECT_EQ(cell_of(got.limit_warps), cell[5]) << line;
    EXPECT_EQ(cell_of(got.limit_blocks), cell[6]) << line;
    EXPECT_EQ(cell_of(got.limit_registers), cell[7]) << line;
    EXPECT_EQ(cell_of(got.limit_shared), cell[8]) << line;
    EXPECT_EQ(std::to_string(got.shared_bytes_allocated), cell[9]) << line;
    EXPECT_EQ(joined(got.limiters), cell[10]) << line;
    EXPECT_EQ(got.impossible.empty(), got.blocks_per_sm > 0) << line << got.impossible;
  }
  EXPECT_GT(rows, 1000);
}

// The lecture's correction: the SM's 65,536 registers serve all four sub-partitions.
TEST(Occupancy, RegistersPerThread) {
  const DeviceSpec spec = find_device("a100").spec;
  EXPECT_EQ(occupancy(spec, {1024, 0, 0, {}}).max_registers_to_launch, 64);
  EXPECT_EQ(occupancy(spec, {1024, 0, 0, {}}).max_registers_for_blocks, 32);  // 2 blocks: 2,048 threads
  EXPECT_EQ(occupancy(spec, {256, 0, 0, {}}).max_registers_for_blocks, 32);   // 8 blocks: 2,048 threads
  EXPECT_EQ(occupancy(spec, {1024, 0, 0, 32}).blocks_per_sm, 2);
  EXPECT_EQ(occupancy(spec, {1024, 0, 0, 33}).blocks_per_sm, 1);
  EXPECT_EQ(occupancy(spec, {1024, 0, 0, 64}).blocks_per_sm, 1);
  const Occupancy too_many = occupancy(spec, {1024, 0, 0, 65});
  EXPECT_EQ(too_many.blocks_per_sm, 0);
  EXPECT_THAT(too_many.impossible, HasSubstr("may use 64 per thread"));
}

TEST(Occupancy, UnknownRegistersGiveAnUpperBoundAndSaySo) {
  const DeviceSpec spec = find_device("a100").spec;
  const Occupancy bound = occupancy(spec, {256, 0, 0, {}});
  EXPECT_FALSE(bound.registers_known);
  EXPECT_EQ(bound.limit_registers, std::nullopt);
  EXPECT_EQ(bound.blocks_per_sm, 8);
  EXPECT_DOUBLE_EQ(bound.fraction, 1.0);
  EXPECT_THAT(bound.notes, ElementsAre(HasSubstr("registers unknown")));
  const Occupancy given = occupancy(spec, {256, 0, 0, 64});
  EXPECT_TRUE(given.registers_known);
  EXPECT_EQ(given.blocks_per_sm, 4);
  EXPECT_DOUBLE_EQ(given.fraction, 0.5);
  EXPECT_THAT(given.limiters, ElementsAre("registers"));
  EXPECT_TRUE(given.notes.empty());
}

// TILE=32: two 32 x 32 tiles; the block's 1,024 threads stop it long before its shared memory does.
TEST(Occupancy, TileOf32IsLimitedByThreads) {
  const DeviceSpec spec = find_device("a100").spec;
  const LaunchInfo launch{"matmul_tiled", {32, 32, 1}, {32, 32, 1}, 2 * 32 * 32 * 4, 0, {}};
  EXPECT_EQ(launch.static_shared_bytes, 8 * 1024);
  const Occupancy got = occupancy(spec, launch);
  EXPECT_EQ(got.blocks_per_sm, 2);
  EXPECT_THAT(got.limiters, ElementsAre("warps"));
  EXPECT_EQ(got.limit_shared, 18);  // 164 KiB / (8 + 1) KiB
  EXPECT_EQ(got.active_warps, 64);
}

TEST(Occupancy, LargestSharedMemoryOfABlock) {
  for (const auto& [name, kib] :
       {std::pair{"a100", 163}, std::pair{"h100", 227}, std::pair{"v100", 96}, std::pair{"l4", 99}}) {
    const DeviceSpec spec = find_device(name).spec;
    const Occupancy most = occupancy(spec, {256, 0, kib * 1024, 32});
    EXPECT_EQ(most.blocks_per_sm, 1) << name;
    EXPECT_THAT(most.notes, ElementsAre(HasSubstr("must opt in"))) << name;
    const Occupancy more = occupancy(spec, {256, 0, kib * 1024 + 1, 32});
    EXPECT_EQ(more.blocks_per_sm, 0) << name;
    EXPECT_THAT(more.impossible, HasSubstr(std::to_string(kib * 1024))) << name;
  }
  // Static and dynamic together.
  EXPECT_EQ(occupancy(find_device("a100").spec, {256, 4096, 163 * 1024 - 4095, 32}).blocks_per_sm, 0);
}

TEST(Occupancy, StaticSharedMemoryBeyond48KiBIsImpossible) {
  const Occupancy got = occupancy(find_device("a100").spec, {256, 48 * 1024 + 1, 0, 32});
  EXPECT_EQ(got.blocks_per_sm, 0);
  EXPECT_THAT(got.impossible, HasSubstr("static shared memory"));
}

TEST(Occupancy, NonsenseIsNamedNotComputed) {
  const DeviceSpec spec = find_device("a100").spec;
  for (const BlockShape& block :
       {BlockShape{0, 0, 0, {}}, BlockShape{-32, 0, 0, {}}, BlockShape{1025, 0, 0, {}}, BlockShape{INT64_MAX, 0, 0, {}},
        BlockShape{32, -1, 0, {}}, BlockShape{32, 0, INT64_MAX, {}}, BlockShape{32, INT64_MAX, INT64_MAX, {}},
        BlockShape{32, 0, 0, -1}, BlockShape{32, 0, 0, 256}}) {
    const Occupancy got = occupancy(spec, block);
    EXPECT_EQ(got.blocks_per_sm, 0) << block.threads << " " << block.dynamic_shared_bytes;
    EXPECT_NE(got.impossible, "") << block.threads << " " << block.dynamic_shared_bytes;
    EXPECT_EQ(got.fraction, 0);
  }
}

}  // namespace
}  // namespace gpuexp
