// Internal to profiler/report: numbers and points as a person reads them (result files hold the exact ones).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profiler/report/result_file.h"

namespace gpuexp {

// Digits grouped by commas up to eight digits, then four significant digits with k, M, G, T ("2.147 G").
std::string count_words(std::uint64_t count);
// About `digits` significant digits, without an exponent where that stays readable.
std::string real_words(double value, int digits = 4);
// A quantity by either rule, "~" before an estimate; "" when null.
std::string words(const Quantity& quantity, double divisor = 1);
// "1 point", "3 points".
std::string plural(std::uint64_t count, const std::string& noun);
// "1 sector", "2.5 sectors": about three significant digits.
std::string real_plural(double count, const std::string& noun);
// How a cost compares with another: "4x the", "half the", "1/16 of the", "0.77x the", "as many".
std::string times_words(double ratio, const std::string& noun);
// "12.5 %".
std::string percent_words(double percent);

// `text` broken at spaces to `width` columns; the first line begins with `first`, the others with as many blanks.
std::string wrapped(const std::string& text, int width, const std::string& first = "");

// How the points of one problem are told apart: parameters that vary, those with always equal values as one ("k=m=n").
class PointLabels {
 public:
  explicit PointLabels(const std::vector<const PointRecord*>& points);
  // Parameters that vary: heading and the parameter whose value stands for it.
  struct Varying {
    std::string heading, name;
  };
  [[nodiscard]] const std::vector<Varying>& varying() const { return varying_; }
  [[nodiscard]] bool several_variants() const { return several_variants_; }
  // "dtype=float32 k=m=n=1024, block=16 where taken": what all points share, and what all share that take it.
  [[nodiscard]] const std::string& common() const { return common_; }
  // "matmul/tiled TILE=2 k=m=n=32".
  [[nodiscard]] std::string of(const PointRecord& point) const;
  // Of several points: their variant (or how many there are) and the parameters that are equal in all of them, then how
  // many points it is about: "matmul/tiled TILE=2 (3 points)".
  [[nodiscard]] std::string of_all(const std::vector<const PointRecord*>& points) const;
  // The same without the variant and the number of points: "TILE=2".
  [[nodiscard]] std::string shared_params(const std::vector<const PointRecord*>& points) const;

 private:
  std::vector<Varying> varying_;
  std::string common_;
  bool several_variants_ = false;
};

// Value of a parameter as text; empty when the point does not take it.
std::string param_text(const PointRecord& point, const std::string& name);
// "matmul" and "tiled" of "matmul/tiled".
std::string problem_of(const PointRecord& point);
std::string variant_of(const PointRecord& point);

}  // namespace gpuexp
