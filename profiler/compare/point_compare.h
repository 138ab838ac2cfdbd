// Internal to profiler/compare: the columns that two files share, and one point compared by them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/compare/compare.h"
#include "profiler/compare/result_rows.h"

namespace gpuexp {

// A column that is judged; its positions in the files, -1 where a file lacks it.
struct ColumnPair {
  ColumnRule rule;
  int base = -1, next = -1;
  int companion = -1;  // in BASE, of rule.noise.companion
};

// What a point's comparison needs of the two files, settled once.
class PointComparer {
 public:
  PointComparer(const ResultRows& base, const ResultRows& next, const DiffOptions& options);

  // Everything but the verdict on the time: when its median moved, `time` is set. Throws Error(usage) for a malformed
  // cell, and for cache modes that differ and are not allowed.
  [[nodiscard]] PointDiff compare(const Row& base, const Row& next) const;
  // Columns that hold counters in NEW alone.
  [[nodiscard]] const std::vector<std::string>& columns_only_in_next() const { return only_in_next_; }

  static bool timed(const ResultRows& rows, const Row& row);
  static bool has_samples(const ResultRows& rows, const Row& row);

 private:
  struct Outcome;
  Outcome outcome(const ResultRows& rows, const Row& row) const;
  bool compare_outcomes(const Row& base, const Row& next, PointDiff& diff) const;
  void compare_columns(const Row& base, const Row& next, PointDiff& diff) const;
  void compare_column(const ColumnPair& pair, const Row& base, const Row& next, std::vector<Change>& changes) const;
  void compare_times(const Row& base, const Row& next, PointDiff& diff) const;
  void add_context(const Row& base, const Row& next, PointDiff& diff) const;
  [[nodiscard]] std::string null_reason(const ResultRows& rows, const Row& row, const std::string& column) const;
  [[nodiscard]] std::string source(const ColumnPair& pair, const Row& next) const;
  void blame(const Row& base, const Row& next, PointDiff& diff) const;

  const ResultRows& base_;
  const ResultRows& next_;
  const DiffOptions& options_;
  std::vector<ColumnPair> judged_, derived_, context_;
  std::vector<std::string> only_in_next_;
};

// Sorts the changes, worst first, keeps the first of them, and sets verdict and `fails`.
void settle(PointDiff& diff, const DiffOptions& options);
// How far a point's worst change is from no change: |log(factor)|, infinite from zero or null.
double size_of(const Change& change);

}  // namespace gpuexp
