// 2:4 structured sparsity: of every 4 neighbouring weights of a row at most 2 are not zero (Mishra et al., Accelerating
// Sparse Deep Neural Networks, 2021). Which are kept, and how what is kept is packed.
//
// Packed row: two values per group of 4 columns, and per group a code of 4 bits with their positions; 8 groups share a
// 32-bit word. So 16 float16 values and one word stand for 32 weights: 9 bits a weight, 56.25 % of dense float16. Rows
// are padded with zeros to whole words.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace gpuexp {

inline constexpr std::int64_t sparse24_columns_per_word = 32;

// Positions (0..3, ascending) of the two weights of the largest magnitude. Of equal ones the earlier is kept.
std::array<int, 2> kept_of_four(const std::array<double, 4>& weights);
// 4 bits: the first position in the lower two, the second in the upper two.
constexpr std::uint32_t position_code(const std::array<int, 2>& kept) {
  return static_cast<std::uint32_t>(kept[0] | kept[1] << 2);
}

// Words of positions in a row of `cols` columns.
constexpr std::int64_t sparse24_words(std::int64_t cols) {
  return cols / sparse24_columns_per_word + (cols % sparse24_columns_per_word != 0 ? 1 : 0);
}
// Bytes of a packed matrix of values of `value_bytes`.
double sparse24_bytes(double rows, std::int64_t cols, double value_bytes);

struct Sparse24 {
  std::int64_t rows = 0, cols = 0;
  std::vector<float> values;             // rows * words * 16
  std::vector<std::uint32_t> positions;  // rows * words; group g of a word has bits 4g .. 4g+3
};
// `dense` is row-major, rows * cols.
std::vector<float> prune24(const std::vector<float>& dense, std::int64_t rows, std::int64_t cols);
Sparse24 compress24(const std::vector<float>& dense, std::int64_t rows, std::int64_t cols);
std::vector<float> expand24(const Sparse24& packed);  // the pruned matrix

}  // namespace gpuexp
