// Blocks onto OS threads, and their counts back together. All sums are of integers, so that neither the number of
// threads nor their timing shows.
#include "profiler/backend/simt/grid_runner.h"

#include <algorithm>
#include <bit>

namespace gpuexp::simt {
namespace {

TotalFields fields_of(const SimtTotals& totals) { return std::bit_cast<TotalFields>(totals); }

int useful_threads(int threads, std::uint64_t blocks) {
  return static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(std::max(threads, 1)), blocks));
}

// Runs the blocks that fall to the calling thread, by position, until there are none or the launch stops.
template <class F>
void for_own_blocks(LaunchJob& job, F&& run) {
  for (BlockRange mine = job.take(); mine.begin != mine.end; mine = job.take()) {
    for (std::uint64_t at = mine.begin; at != mine.end; ++at) {
      if (job.stopped() != Stop::none) return;
      run(at);
      job.finish(at);
    }
  }
}

}  // namespace

GridCounts run_all_blocks(WorkerPool& pool, int threads, LaunchJob& job) {
  const auto blocks = static_cast<std::uint64_t>(job.grid().count());
  const int used = useful_threads(threads, blocks);
  std::vector<BlockCounts> counts(static_cast<std::size_t>(used));
  std::vector<Findings> findings(static_cast<std::size_t>(used));
  std::vector<std::uint64_t> run(static_cast<std::size_t>(used));
  job.whole = true;
  job.begin_round(blocks, used);
  pool.run(used, [&](BlockRunner& runner, int index) {
    const auto mine = static_cast<std::size_t>(index);
    runner.begin_launch(job);
    for_own_blocks(job, [&](std::uint64_t at) {
      runner.run_block(at, at);
      ++run[mine];
    });
    counts[mine] = runner.counter().take();
    findings[mine] = runner.findings();
  });
  GridCounts result;
  BlockCounts sum;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    sum.add(counts[i]);
    result.findings.merge(findings[i]);
    result.blocks_run += run[i];
  }
  for (const auto& [key, site] : sum.sites) result.sites[key].counts = site;
  result.totals = totals_of(sum);
  return result;
}

GridCounts run_sample(WorkerPool& pool, int threads, LaunchJob& job, const std::vector<SampledBlock>& plan) {
  const std::uint64_t count = plan.size();
  const int used = useful_threads(threads, count);
  std::vector<BlockCounts> counts(plan.size());
  std::vector<Findings> findings(static_cast<std::size_t>(used));
  job.whole = false;
  job.begin_round(count, used);
  pool.run(used, [&](BlockRunner& runner, int index) {
    runner.begin_launch(job);
    for_own_blocks(job, [&](std::uint64_t at) {
      runner.run_block(plan[at].block, at);
      counts[at] = runner.counter().take();
    });
    findings[static_cast<std::size_t>(index)] = runner.findings();
  });

  GridCounts result;
  result.blocks_run = count;
  for (const Findings& one : findings) result.findings.merge(one);
  const std::vector<Stratum> strata = strata_of(job.grid());
  TotalFields totals{};
  for (std::size_t s = 0; s < strata.size(); ++s) {
    std::vector<const BlockCounts*> blocks;
    std::map<SiteKey, SiteCounts> sites;
    for (std::size_t i = 0; i < plan.size(); ++i) {
      if (plan[i].stratum != s) continue;
      blocks.push_back(&counts[i]);
      for (const auto& [key, unused] : counts[i].sites) sites[key] = {};
    }
    std::vector<TotalFields> fields;
    for (const BlockCounts* block : blocks) fields.push_back(fields_of(totals_of(*block)));
    std::vector<std::uint64_t> values(blocks.size());
    for (std::size_t f = 0; f < kTotalFields; ++f) {
      for (std::size_t i = 0; i < blocks.size(); ++i) values[i] = fields[i][f];
      const Scaled scaled = scale(values, strata[s].blocks());
      totals[f] += scaled.value;
      result.variance[f] += scaled.variance;
      result.estimated[f] = result.estimated[f] || scaled.estimated;
    }
    for (const auto& [key, unused] : sites) {
      GridCounts::SiteSum& sum = result.sites[key];
      for (std::size_t f = 0; f < kSiteFields; ++f) {
        for (std::size_t i = 0; i < blocks.size(); ++i) {
          const auto at = blocks[i]->sites.find(key);
          values[i] = at == blocks[i]->sites.end() ? 0 : at->second[f];
        }
        const Scaled scaled = scale(values, strata[s].blocks());
        sum.counts[f] += scaled.value;
        sum.estimated = sum.estimated || scaled.estimated;
      }
    }
  }
  result.totals = std::bit_cast<SimtTotals>(totals);
  return result;
}

BlockCost probe_block(WorkerPool& pool, LaunchJob& job, std::uint64_t block) {
  BlockCost cost;
  job.whole = false;
  job.begin_round(1, 1);
  pool.run(1, [&](BlockRunner& runner, int /*index*/) {
    runner.begin_launch(job);
    runner.run_block(block, 0);
    cost.lane_accesses = runner.counter().lane_accesses();
    const BlockCounts counts = runner.counter().take();
    for (const auto& [key, site] : counts.sites) cost.requests += site[kRequests];
  });
  return cost;
}

}  // namespace gpuexp::simt
