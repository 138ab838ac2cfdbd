// Which blocks of a large grid are run, and what their counts say of the whole.
//
// Along each axis the first, the last and the interior blocks differ at most (guards at the edges), so the grid falls
// into up to 27 strata. Within a stratum its first block is taken, its last, and others at spread, fixed places: where
// blocks stride over more work than the grid holds, the first do a round more. A count on which all samples of a
// stratum agree is taken for exact and multiplied by the number of its blocks; otherwise the stratum's mean is used and
// the result is marked estimated, with its standard error (Cochran, Sampling Techniques, 1977, chapter 5).
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/backend/simt/site_counter.h"
#include "profiler/core/point.h"
#include "profiler/counters/simt_totals.h"

namespace gpuexp::simt {

struct Stratum {
  std::int64_t begin[3] = {};  // block indices x, y, z
  std::int64_t extent[3] = {};
  [[nodiscard]] std::uint64_t blocks() const {
    return static_cast<std::uint64_t>(extent[0]) * static_cast<std::uint64_t>(extent[1]) *
           static_cast<std::uint64_t>(extent[2]);
  }
};

// Non-empty, in a fixed order; together they are the grid.
std::vector<Stratum> strata_of(const Dim3& grid);
// `count` different linear block indices of the stratum (all of them if it has no more), the same for every run; a
// larger count contains a smaller one's blocks.
std::vector<std::uint64_t> sample(const Stratum& stratum, const Dim3& grid, std::uint64_t count);

struct SampledBlock {
  std::uint64_t block = 0;
  std::size_t stratum = 0;
};
// At least two blocks of each stratum, and as many as `blocks` allows, shared out by size. Sorted by block.
std::vector<SampledBlock> plan_sample(const Dim3& grid, std::uint64_t blocks);

// A count scaled to the whole grid.
struct Scaled {
  std::uint64_t value = 0;
  bool estimated = false;
  double variance = 0;  // of the estimate
};
// `values`: of the sampled blocks of one stratum of `blocks` blocks.
Scaled scale(const std::vector<std::uint64_t>& values, std::uint64_t blocks);

// The counts of one block as the counter table's totals.
SimtTotals totals_of(const BlockCounts& counts);

}  // namespace gpuexp::simt
