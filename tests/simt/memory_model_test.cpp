// The memory model against measurements, against a second formulation, and on cases that people asked about.
#include "profiler/backend/simt/memory_model.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "profiler/backend/simt/access_pattern.h"

namespace gpuexp::simt {
namespace {

constexpr std::uint32_t kAllLanes = 0xffffffff;
constexpr std::array kWidths{1, 2, 4, 8, 16};
constexpr std::array kKinds{AccessKind::load, AccessKind::store, AccessKind::atomic};

using Addresses = std::array<std::uint64_t, kWarpLanes>;

Addresses addresses_of(const std::function<std::uint64_t(std::uint64_t)>& of_lane) {
  Addresses addresses{};
  for (std::uint64_t lane = 0; lane < kWarpLanes; ++lane) addresses[lane] = of_lane(lane);
  return addresses;
}

// ---- the second formulation: by definition, with sets, one byte and one word at a time ----

bool active(std::uint32_t mask, int lane) { return ((mask >> lane) & 1U) != 0; }

GlobalCost global_by_definition(const Addresses& addresses, std::uint32_t mask, int width) {
  std::set<std::uint64_t> bytes;
  std::set<std::uint64_t> sectors;
  std::set<std::uint64_t> lines;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!active(mask, lane)) continue;
    for (int i = 0; i < width; ++i) bytes.insert(addresses[static_cast<std::size_t>(lane)] + static_cast<unsigned>(i));
  }
  for (const std::uint64_t byte : bytes) {
    sectors.insert(byte / 32);
    lines.insert(byte / 128);
  }
  return {static_cast<std::uint32_t>(sectors.size()), static_cast<std::uint32_t>(lines.size()),
          static_cast<std::uint32_t>((bytes.size() + 31) / 32)};
}

bool all_pairs_agree(const Addresses& addresses, std::uint32_t mask, int distance) {
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const int other = lane ^ distance;
    const bool both = active(mask, lane) && active(mask, other);
    if (both && addresses[static_cast<std::size_t>(lane)] != addresses[static_cast<std::size_t>(other)]) return false;
  }
  return true;
}

SharedCost shared_by_definition(const Addresses& addresses, std::uint32_t mask, int width, AccessKind kind) {
  int phases = width == 16 ? 4 : width == 8 ? 2 : 1;
  const bool wide_load = kind == AccessKind::load && width > 4;
  if (wide_load && (all_pairs_agree(addresses, mask, 1) || all_pairs_agree(addresses, mask, 2))) phases /= 2;
  SharedCost cost;
  const int lanes_per_phase = kWarpLanes / phases;
  for (int phase = 0; phase < phases; ++phase) {
    std::map<std::uint64_t, std::set<std::uint64_t>> words_of_bank;
    for (int lane = phase * lanes_per_phase; lane < (phase + 1) * lanes_per_phase; ++lane) {
      if (!active(mask, lane)) continue;
      const std::uint64_t first = addresses[static_cast<std::size_t>(lane)];
      for (std::uint64_t byte = first; byte < first + static_cast<unsigned>(width); ++byte)
        words_of_bank[byte / 4 % 32].insert(byte / 4);
    }
    std::size_t fullest = 0;
    for (const auto& [bank, words] : words_of_bank) fullest = std::max(fullest, words.size());
    cost.wavefronts += static_cast<std::uint32_t>(fullest);
    cost.ideal += fullest != 0 ? 1 : 0;
  }
  return cost;
}

std::string describe(const Addresses& addresses, std::uint32_t mask, int width, AccessKind kind) {
  std::string text =
      "width " + std::to_string(width) + " " + std::string(to_text(kind)) + " mask " + std::to_string(mask) + ":";
  for (const std::uint64_t address : addresses) text += " " + std::to_string(address);
  return text;
}

// ---- generators of patterns ----

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  std::uint32_t mask() {
    switch (below(6)) {
      case 0:
        return static_cast<std::uint32_t>(random_());
      case 1:
        return std::uint32_t{1} << below(32);
      case 2:
        return kAllLanes >> below(32);
      case 3:
        return static_cast<std::uint32_t>(random_()) & static_cast<std::uint32_t>(random_());
      default:
        return kAllLanes;
    }
  }

  // Multiples of the width, of one of the shapes that kernels make, and of none.
  Addresses pattern(int width_bytes) {
    const auto width = static_cast<std::uint64_t>(width_bytes);
    const std::uint64_t base = below(64) * width + (below(8) == 0 ? std::uint64_t{1} << 40 : 0);
    switch (below(9)) {
      case 0: {  // strided
        const std::uint64_t stride = below(70);
        return addresses_of([=](std::uint64_t lane) { return base + lane * stride * width; });
      }
      case 1: {  // strided downwards
        const std::uint64_t stride = below(70);
        return addresses_of([=](std::uint64_t lane) { return base + (31 - lane) * stride * width; });
      }
      case 2: {  // rows of a tile
        const std::uint64_t columns = 1 + below(32);
        const std::uint64_t pitch = below(80);
        const std::uint64_t step = below(5);
        return addresses_of(
            [=](std::uint64_t lane) { return base + (lane / columns * pitch + lane % columns * step) * width; });
      }
      case 3: {  // few distinct addresses
        const std::uint64_t distinct = 1 + below(6);
        const std::uint64_t spread = 1 + below(200);
        return addresses_of([&, distinct, spread](std::uint64_t) { return base + below(distinct) * spread * width; });
      }
      case 4: {  // pairs or quads of equal lanes
        const std::uint64_t flip = std::uint64_t{1} << below(5);
        const std::uint64_t spread = 1 + below(40);
        return addresses_of([=](std::uint64_t lane) { return base + (lane & ~flip) * spread * width; });
      }
      case 5: {  // the same, with one lane elsewhere
        const std::uint64_t flip = std::uint64_t{1} << below(3);
        const std::uint64_t odd_one = below(32);
        return addresses_of(
            [=](std::uint64_t lane) { return base + ((lane & ~flip) + (lane == odd_one ? 33U : 0U)) * width; });
      }
      case 6:  // within one line
        return addresses_of([&](std::uint64_t) { return below(128 / width) * width; });
      case 7:  // within a shared memory
        return addresses_of([&](std::uint64_t) { return below(49152 / width) * width; });
      default:  // anywhere
        return addresses_of([&](std::uint64_t) { return (random_() >> 2) / width * width; });
    }
  }

 private:
  std::mt19937_64 random_;
};

// ---- tests ----

TEST(MemoryModel, AgreesWithTheDefinitionOnRandomPatterns) {
  Generator generator(20240607);
  for (int i = 0; i < 20000; ++i) {
    const int width = kWidths[generator.below(kWidths.size())];
    const AccessKind kind = kKinds[generator.below(kKinds.size())];
    const std::uint32_t mask = generator.mask();
    const Addresses addresses = generator.pattern(width);
    ASSERT_EQ(global_cost(addresses, mask, width), global_by_definition(addresses, mask, width))
        << describe(addresses, mask, width, kind);
    ASSERT_EQ(shared_cost(addresses, mask, width, kind), shared_by_definition(addresses, mask, width, kind))
        << describe(addresses, mask, width, kind);
  }
}

// Every stride, in both directions and of every width: the fast paths.
TEST(MemoryModel, AgreesWithTheDefinitionOnEveryStride) {
  for (const int width : kWidths) {
    for (std::uint64_t stride = 0; stride <= 66; ++stride) {
      for (const std::uint64_t base : {0, 16, 32, 112, 208}) {
        const std::uint64_t step = stride * static_cast<unsigned>(width);
        const Addresses up = addresses_of([=](std::uint64_t lane) { return base + lane * step; });
        const Addresses down = addresses_of([=](std::uint64_t lane) { return base + (31 - lane) * step; });
        for (const Addresses& addresses : {up, down}) {
          ASSERT_EQ(global_cost(addresses, kAllLanes, width), global_by_definition(addresses, kAllLanes, width))
              << describe(addresses, kAllLanes, width, AccessKind::load);
          for (const AccessKind kind : kKinds)
            ASSERT_EQ(shared_cost(addresses, kAllLanes, width, kind),
                      shared_by_definition(addresses, kAllLanes, width, kind))
                << describe(addresses, kAllLanes, width, kind);
        }
      }
    }
  }
}

// Strides that wrap around the address space repeat addresses.
TEST(MemoryModel, StridesThatWrapAround) {
  for (const int width : kWidths) {
    for (const int shift : {40, 58, 59, 60, 61, 62, 63}) {
      const Addresses addresses = addresses_of([=](std::uint64_t lane) { return lane << shift; });
      EXPECT_EQ(global_cost(addresses, kAllLanes, width), global_by_definition(addresses, kAllLanes, width)) << shift;
      EXPECT_EQ(shared_cost(addresses, kAllLanes, width, AccessKind::store),
                shared_by_definition(addresses, kAllLanes, width, AccessKind::store))
          << shift;
    }
  }
}

TEST(MemoryModel, NoActiveLaneCostsNothing) {
  const Addresses addresses{};
  EXPECT_EQ(global_cost(addresses, 0, 4), GlobalCost{});
  EXPECT_EQ(shared_cost(addresses, 0, 16, AccessKind::load), SharedCost{});
}

TEST(MemoryModel, InactiveLanesAreNotLookedAt) {
  Addresses addresses = addresses_of([](std::uint64_t lane) { return 4 * lane; });
  for (std::size_t lane = 8; lane < 32; ++lane) addresses[lane] = 0xdeadbeefdeadbee1 * lane;  // misaligned garbage
  EXPECT_EQ(global_cost(addresses, 0xff, 4), (GlobalCost{1, 1, 1}));
  EXPECT_EQ(shared_cost(addresses, 0xff, 4, AccessKind::load), (SharedCost{1, 1}));
}

TEST(MemoryModel, MovingByALineChangesNothing) {
  Generator generator(7);
  for (int i = 0; i < 2000; ++i) {
    const int width = kWidths[generator.below(kWidths.size())];
    const std::uint32_t mask = generator.mask();
    const Addresses addresses = generator.pattern(width);
    Addresses moved = addresses;
    for (std::uint64_t& address : moved) address += 128 * 12345;
    EXPECT_EQ(global_cost(addresses, mask, width), global_cost(moved, mask, width));
    EXPECT_EQ(shared_cost(addresses, mask, width, AccessKind::load), shared_cost(moved, mask, width, AccessKind::load));
  }
}

TEST(MemoryModel, WidthsOfALane) {
  std::vector<int> accepted;
  for (int width = -16; width <= 64; ++width)
    if (is_lane_width(width)) accepted.push_back(width);
  EXPECT_EQ(accepted, (std::vector<int>{1, 2, 4, 8, 16}));
}

// ---- cases from the field ----

Addresses strided(std::uint64_t stride_bytes, std::uint64_t base = 0) {
  return addresses_of([=](std::uint64_t lane) { return base + lane * stride_bytes; });
}
SharedCost load(const Addresses& addresses, int width) {
  return shared_cost(addresses, kAllLanes, width, AccessKind::load);
}
SharedCost store(const Addresses& addresses, int width) {
  return shared_cost(addresses, kAllLanes, width, AccessKind::store);
}

// 8,844,480 loads of 16 bytes: the good layout took 4 wavefronts each, which is ideal; the bad one 32.
TEST(MemoryModelFieldCases, A01WavefrontsOfA16ByteLoad) {
  constexpr std::uint64_t instructions = 8'844'480;
  const SharedCost good = load(strided(16), 16);
  const SharedCost bad = load(strided(128), 16);
  EXPECT_EQ(instructions * good.wavefronts, 35'377'920U);
  EXPECT_EQ(instructions * good.bank_conflicts(), 0U);
  EXPECT_EQ(instructions * bad.wavefronts, 283'023'360U);
  EXPECT_EQ(instructions * bad.bank_conflicts(), 247'645'440U);
}

// A 32x32 tile of doubles, written by columns and read by rows.
TEST(MemoryModelFieldCases, A02TransposedDoubles) {
  constexpr std::uint64_t requests = 524'288;
  const SharedCost column = store(strided(8 * 32), 8);
  EXPECT_EQ(column, (SharedCost{32, 2}));
  EXPECT_EQ(requests * column.bank_conflicts(), 15'728'640U);
  EXPECT_EQ(load(strided(8), 8), (SharedCost{2, 2}));
  EXPECT_EQ(global_cost(strided(8), kAllLanes, 8).sectors, 8U);
}

// Integer matmul in blocks of 32x16: a row of a is one address for the warp, a column of b contiguous.
TEST(MemoryModelFieldCases, A03SectorsPerRequestOfAMix) {
  const GlobalCost uniform = global_cost(strided(0, 4096 + 40), kAllLanes, 4);
  const GlobalCost contiguous = global_cost(strided(4, 1 << 20), kAllLanes, 4);
  EXPECT_EQ(uniform, (GlobalCost{1, 1, 1}));
  EXPECT_EQ(contiguous, (GlobalCost{4, 1, 4}));
  EXPECT_EQ((uniform.sectors + contiguous.sectors) / 2.0, 2.5);
}

TEST(MemoryModelFieldCases, A05AllLanesOnOneBankGroup) {
  EXPECT_EQ(load(strided(128), 16), (SharedCost{32, 4}));
  EXPECT_EQ(load(strided(128), 16).bank_conflicts(), 28U);
}

TEST(MemoryModelFieldCases, A06BroadcastOfFourAddresses) {
  const Addresses addresses = addresses_of([](std::uint64_t lane) { return lane % 4 * 16; });
  EXPECT_EQ(load(addresses, 16), (SharedCost{4, 4}));
}

TEST(MemoryModelFieldCases, A07A08A09ContiguousVectorStores) {
  EXPECT_EQ(store(strided(16), 16), (SharedCost{4, 4}));  // data[tid] of float4; a 128-float row
  // Lanes 0-7 and 8-15 on the same banks are in different phases.
  const Addresses two_rows = addresses_of([](std::uint64_t lane) { return lane / 8 * 1024 + lane % 8 * 16; });
  EXPECT_EQ(store(two_rows, 16), (SharedCost{4, 4}));
}

TEST(MemoryModelFieldCases, A11PaddingATileOf32) {
  EXPECT_EQ(load(strided(4 * 32), 4), (SharedCost{32, 1}));
  EXPECT_EQ(load(strided(4 * 33), 4), (SharedCost{1, 1}));
}

// A tile of 16x16 read by columns: lanes are 16 rows of 2 columns.
TEST(MemoryModelFieldCases, A12PaddingATileOf16) {
  const auto column = [](std::uint64_t pitch) {
    return addresses_of([=](std::uint64_t lane) { return 4 * (lane % 16 * pitch + lane / 16); });
  };
  EXPECT_EQ(load(column(16), 4).wavefronts, 8U);  // 16 rows on two banks, and so for either column
  EXPECT_EQ(load(column(17), 4).wavefronts, 2U);  // one word of padding is not enough
  EXPECT_EQ(load(column(18), 4).wavefronts, 1U);
}

TEST(MemoryModelFieldCases, A15StrideIsAsManyWaysAsTheGcd) {
  const std::map<std::uint64_t, std::uint32_t> ways{{1, 1},   {2, 2},   {3, 1},  {4, 4},  {8, 8},
                                                    {16, 16}, {32, 32}, {33, 1}, {64, 32}};
  for (const auto& [stride, expected] : ways) EXPECT_EQ(load(strided(4 * stride), 4).wavefronts, expected) << stride;
}

TEST(MemoryModelFieldCases, A17MisalignedRows) {
  EXPECT_EQ(global_cost(strided(4, 4), kAllLanes, 4), (GlobalCost{5, 2, 4}));
  EXPECT_EQ(global_cost(strided(4, 32), kAllLanes, 4), (GlobalCost{4, 2, 4}));
  int rows_of_five = 0;
  for (std::uint64_t row = 0; row < 8; ++row)
    rows_of_five += global_cost(strided(4, row * 1001 * 4), kAllLanes, 4).sectors == 5 ? 1 : 0;
  EXPECT_EQ(rows_of_five, 7);
}

// Wavefronts of contiguous loads by width, on chips with 4-byte banks.
TEST(MemoryModelFieldCases, A20WidthsOnFourByteBanks) {
  EXPECT_EQ(kBankBytes, 4);
  EXPECT_EQ(load(strided(4), 4).wavefronts, 1U);
  EXPECT_EQ(load(strided(8), 8).wavefronts, 2U);
  EXPECT_EQ(load(strided(16), 16).wavefronts, 4U);
}

// A row-major 64x64 tile of floats, stored by 16x2 threads of four floats each, with and without an exclusive-or
// swizzle.
TEST(MemoryModelFieldCases, A21SwizzledStore) {
  const auto rows = [](bool swizzled) {
    return addresses_of([=](std::uint64_t lane) {
      const std::uint64_t row = lane;
      const std::uint64_t chunk = swizzled ? row % 8 : 0;
      return 4 * (row * 64 + chunk * 4);
    });
  };
  EXPECT_EQ(store(rows(false), 16).bank_conflicts(), 28U);
  EXPECT_EQ(store(rows(true), 16).bank_conflicts(), 0U);
}

// ---- the lecture's tables ----

TEST(MemoryModel, CoalescingTable) {
  const auto sectors = [](std::uint64_t stride, std::uint64_t offset) {
    return global_cost(strided(4 * stride, 4 * offset), kAllLanes, 4).sectors;
  };
  EXPECT_EQ(sectors(1, 0), 4U);
  EXPECT_EQ(sectors(1, 1), 5U);
  EXPECT_EQ(sectors(1, 3), 5U);
  EXPECT_EQ(sectors(1, 8), 4U);
  EXPECT_EQ(sectors(2, 0), 8U);
  for (const std::uint64_t stride : {8, 9, 16, 1000}) EXPECT_EQ(sectors(stride, 0), 32U);
  EXPECT_EQ(sectors(0, 5), 1U);
}

}  // namespace
}  // namespace gpuexp::simt
