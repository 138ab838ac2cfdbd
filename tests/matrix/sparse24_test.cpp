// 2:4 pruning and packing.
#include "profiler/matrix/sparse24.h"

#include <gmock/gmock.h>

#include <cmath>

#include "profiler/core/random.h"

namespace gpuexp {
namespace {

using testing::ElementsAre;

std::vector<float> random_weights(std::int64_t count) {
  std::vector<float> weights(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<float>(2.0 * random_unit(random_bits(5, 0, i)) - 1.0);
  }
  return weights;
}

TEST(Sparse24, KeepsTheTwoLargestMagnitudes) {
  EXPECT_THAT(kept_of_four({1, -5, 2, 3}), ElementsAre(1, 3));
  EXPECT_THAT(kept_of_four({-4, 3, -2, 1}), ElementsAre(0, 1));
  EXPECT_THAT(kept_of_four({1, 2, 3, 4}), ElementsAre(2, 3));
  // Ties keep the earlier.
  EXPECT_THAT(kept_of_four({0, 0, 0, 0}), ElementsAre(0, 1));
  EXPECT_THAT(kept_of_four({1, -1, 1, -1}), ElementsAre(0, 1));
  EXPECT_THAT(kept_of_four({0, 2, -2, 2}), ElementsAre(1, 2));
  EXPECT_THAT(kept_of_four({1, 1, 1, 2}), ElementsAre(0, 3));
}

TEST(Sparse24, PacksPositionsFourBitsAGroup) {
  EXPECT_EQ(position_code({1, 3}), 0b1101U);
  std::vector<float> row(32, 0.0F);
  row[1] = 5;   // group 0 keeps 1 and, of equal zeros, the earliest other: 0
  row[31] = 7;  // group 7
  row[30] = -8;
  const Sparse24 packed = compress24(row, 1, 32);
  ASSERT_EQ(packed.positions.size(), 1U);
  EXPECT_EQ(packed.positions[0] & 15U, position_code({0, 1}));
  EXPECT_EQ(packed.positions[0] >> 28U, position_code({2, 3}));
  EXPECT_EQ(packed.values[1], 5.0F);
  EXPECT_EQ(packed.values[14], -8.0F);
  EXPECT_EQ(packed.values[15], 7.0F);
}

TEST(Sparse24, UnpackingGivesThePrunedMatrix) {
  for (const std::int64_t cols : {1, 2, 3, 4, 5, 31, 32, 33, 100, 128}) {
    const std::vector<float> dense = random_weights(7 * cols);
    EXPECT_EQ(expand24(compress24(dense, 7, cols)), prune24(dense, 7, cols)) << cols;
  }
  EXPECT_TRUE(expand24(compress24({}, 0, 8)).empty());
  EXPECT_TRUE(expand24(compress24({}, 8, 0)).empty());
}

TEST(Sparse24, HalfOfEachGroupIsLeft) {
  const std::vector<float> dense = random_weights(64), pruned = prune24(dense, 1, 64);
  for (int group = 0; group < 16; ++group) {
    int kept = 0;
    float smallest_kept = 2, largest_pruned = 0;
    for (int i = 4 * group; i < 4 * group + 4; ++i) {
      kept += pruned[i] != 0 ? 1 : 0;
      if (pruned[i] != 0) smallest_kept = std::min(smallest_kept, std::abs(dense[i]));
      if (pruned[i] == 0) largest_pruned = std::max(largest_pruned, std::abs(dense[i]));
    }
    EXPECT_EQ(kept, 2);
    EXPECT_GE(smallest_kept, largest_pruned);
  }
}

TEST(Sparse24, NineBitsAWeight) {
  EXPECT_EQ(8 * sparse24_bytes(64, 4096, 2) / (64 * 4096), 9.0);
  EXPECT_EQ(100 * sparse24_bytes(64, 4096, 2) / (64 * 4096 * 2), 56.25);
}

// Sums as a warp does: each lane its share, then the lanes in a tree.
class WarpSum {
 public:
  void add(std::int64_t lane, float term) { lanes_[static_cast<std::size_t>(lane)] += term; }
  float total() {
    for (std::size_t distance = 16; distance > 0; distance /= 2) {
      for (std::size_t lane = 0; lane < distance; ++lane) lanes_[lane] += lanes_[lane + distance];
    }
    return lanes_[0];
  }

 private:
  std::array<float, 32> lanes_{};
};

// The packed product and the pruned dense one have the same terms, in another order, in float32.
TEST(Sparse24, PackedAndPrunedDenseProductsAgreeInFloat32) {
  constexpr std::int64_t rows = 64, cols = 1000;
  const std::vector<float> dense = random_weights(rows * cols), pruned = prune24(dense, rows, cols);
  const std::vector<float> x = random_weights(cols);
  const Sparse24 packed = compress24(dense, rows, cols);
  const std::int64_t groups = sparse24_words(cols) * 8;
  for (std::int64_t row = 0; row < rows; ++row) {
    WarpSum from_packed, from_dense;
    double magnitude = 0;
    for (std::int64_t at = row * groups; at < (row + 1) * groups; ++at) {
      const std::uint32_t code = packed.positions[at / 8] >> static_cast<unsigned>(4 * (at % 8));
      const std::int64_t first = 4 * (at % groups) + (code & 3U), second = 4 * (at % groups) + (code >> 2U & 3U);
      if (first < cols) from_packed.add(at % 32, packed.values[2 * at] * x[first]);
      if (second < cols) from_packed.add(at % 32, packed.values[2 * at + 1] * x[second]);
    }
    for (std::int64_t col = 0; col < cols; ++col) {
      from_dense.add(col % 32, pruned[row * cols + col] * x[col]);
      magnitude += std::abs(static_cast<double>(pruned[row * cols + col]) * static_cast<double>(x[col]));
    }
    EXPECT_LE(std::abs(from_packed.total() - from_dense.total()), 2.4e-7 * magnitude) << row;
  }
}

}  // namespace
}  // namespace gpuexp
