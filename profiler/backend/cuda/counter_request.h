// What a run's `counters` list means on a chip: ids, groups and raw names turned into Perfworks metrics.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/backend/backend.h"

namespace gpuexp::cuda {

// "smsp__inst_executed.sum", "dram__bytes.sum.per_second": unit__counter.rollup, with optional submetrics.
bool looks_like_metric(std::string_view name);

// The entries of CounterPlan for this chip, in the order of the counter table and then as given, each once. An empty
// list means every counter of the table that the chip has. A counter asked for that the chip lacks has a refusal.
// Throws Error(usage) for a name that is no counter, no group, and does not look like a metric.
std::vector<CounterPlan::Entry> resolve_counters(std::string_view chip, const std::vector<std::string>& counters);

// What is counted of a point when nothing was asked for: what its report needs, in the 60 ms that a point may take for
// it (on an H200 the whole table takes 92 ms). Left out is what cannot apply (arithmetic in double or half of a float
// point), what only libraries need (tensor cores, which our own kernels do not use, and the L2 cache, which shows the
// bulk copies that the counters of loads do not see), and what is not worth its time (shared atomics, and the cycles,
// as the timed runs have the clock). Ids of counters that the chip has, in table order.
std::vector<std::string> default_counters(std::string_view chip, const Point& point);

// True for metrics that count (sums and extremes over the GPU's units): whole numbers, reported exactly. Averages,
// ratios and percentages are not.
bool counts_whole(std::string_view metric);

}  // namespace gpuexp::cuda
