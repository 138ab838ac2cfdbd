// Findings and sites in the words of the source: file:line, variable, index.
#pragma once

#include <vector>

#include "profiler/backend/simt/device_memory.h"
#include "profiler/backend/simt/grid_runner.h"
#include "profiler/backend/simt/launch_job.h"

namespace gpuexp::simt {

// Sorted by kind, place and other place.
std::vector<Finding> describe_findings(const Findings& findings, const LaunchJob& job);
// Worst first: most sectors or wavefronts beyond the ideal, then most requests, then by place.
std::vector<SiteRow> describe_sites(const GridCounts& counts, const LaunchJob& job);
// Adds rows of a further launch: rows of one place and buffer become one. Keeps the order.
void merge_sites(std::vector<SiteRow>& into, const std::vector<SiteRow>& more);
void merge_findings(std::vector<Finding>& into, const std::vector<Finding>& more);

}  // namespace gpuexp::simt
