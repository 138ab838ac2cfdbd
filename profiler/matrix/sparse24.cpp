// 2:4 pruning, packing and unpacking.
#include "profiler/matrix/sparse24.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gpuexp {
namespace {

// Weights 4 group .. 4 group + 3 of a row, zeros beyond its end.
std::array<double, 4> group_of(const std::vector<float>& dense, std::int64_t cols, std::int64_t row,
                               std::int64_t group) {
  std::array<double, 4> weights{};
  for (std::int64_t i = 0; i < 4 && 4 * group + i < cols; ++i) weights[i] = dense[row * cols + 4 * group + i];
  return weights;
}

}  // namespace

std::array<int, 2> kept_of_four(const std::array<double, 4>& weights) {
  int first = 0;
  for (int i = 1; i < 4; ++i) {
    if (std::abs(weights[i]) > std::abs(weights[first])) first = i;
  }
  int second = first == 0 ? 1 : 0;
  for (int i = second + 1; i < 4; ++i) {
    if (i != first && std::abs(weights[i]) > std::abs(weights[second])) second = i;
  }
  return {std::min(first, second), std::max(first, second)};
}

double sparse24_bytes(double rows, std::int64_t cols, double value_bytes) {
  return rows * static_cast<double>(sparse24_words(cols)) * (16 * value_bytes + 4);
}

std::vector<float> prune24(const std::vector<float>& dense, std::int64_t rows, std::int64_t cols) {
  std::vector<float> pruned(dense.size(), 0.0F);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t group = 0; 4 * group < cols; ++group) {
      for (const int position : kept_of_four(group_of(dense, cols, row, group))) {
        const std::int64_t col = 4 * group + position;
        if (col < cols) pruned[row * cols + col] = dense[row * cols + col];
      }
    }
  }
  return pruned;
}

Sparse24 compress24(const std::vector<float>& dense, std::int64_t rows, std::int64_t cols) {
  const std::int64_t words = sparse24_words(cols);
  Sparse24 packed{rows, cols, std::vector<float>(static_cast<std::size_t>(rows * words * 16)),
                  std::vector<std::uint32_t>(static_cast<std::size_t>(rows * words))};
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t group = 0; group < words * 8; ++group) {
      const std::array<double, 4> weights = group_of(dense, cols, row, group);
      const std::array<int, 2> kept = kept_of_four(weights);
      const std::int64_t at = row * words * 8 + group;
      packed.values[2 * at] = static_cast<float>(weights[kept[0]]);
      packed.values[2 * at + 1] = static_cast<float>(weights[kept[1]]);
      packed.positions[at / 8] |= position_code(kept) << static_cast<unsigned>(4 * (at % 8));
    }
  }
  return packed;
}

std::vector<float> expand24(const Sparse24& packed) {
  std::vector<float> dense(static_cast<std::size_t>(packed.rows * packed.cols), 0.0F);
  const std::int64_t words = sparse24_words(packed.cols);
  for (std::int64_t at = 0; at < packed.rows * words * 8; ++at) {
    const std::uint32_t code = packed.positions[at / 8] >> static_cast<unsigned>(4 * (at % 8)) & 15U;
    const std::int64_t row = at / (words * 8), group = at % (words * 8);
    for (int i = 0; i < 2; ++i) {
      const std::int64_t col = 4 * group + (code >> static_cast<unsigned>(2 * i) & 3U);
      if (col < packed.cols) dense[row * packed.cols + col] = packed.values[2 * at + i];
    }
  }
  return dense;
}

}  // namespace gpuexp
