// Runs one launch over all its blocks, or over a sample of them, and gives the counts of the whole grid.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "profiler/backend/simt/launch_job.h"
#include "profiler/backend/simt/sampling.h"
#include "profiler/backend/simt/worker_pool.h"

namespace gpuexp::simt {

inline constexpr std::size_t kTotalFields = sizeof(SimtTotals) / sizeof(std::uint64_t);
using TotalFields = std::array<std::uint64_t, kTotalFields>;

// Counts of a launch, or of several. `variance` is 0 where the count is exact.
struct GridCounts {
  struct SiteSum {
    SiteCounts counts{};
    bool estimated = false;
  };
  std::map<SiteKey, SiteSum> sites;
  SimtTotals totals;
  std::array<double, kTotalFields> variance{};  // per field of `totals`, in their order
  std::array<bool, kTotalFields> estimated{};
  std::uint64_t blocks_run = 0;
  Findings findings;
};

// Runs every block of the grid.
GridCounts run_all_blocks(WorkerPool& pool, int threads, LaunchJob& job);
// Runs the planned blocks.
GridCounts run_sample(WorkerPool& pool, int threads, LaunchJob& job, const std::vector<SampledBlock>& plan);
// What running one block takes.
struct BlockCost {
  std::uint64_t lane_accesses = 0, requests = 0;
};
BlockCost probe_block(WorkerPool& pool, LaunchJob& job, std::uint64_t block);

}  // namespace gpuexp::simt
