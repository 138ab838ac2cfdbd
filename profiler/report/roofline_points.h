// Points of result files for the roofline: the join of what a run left with the roof that it is placed under.
#pragma once

#include <string>
#include <vector>

#include "profiler/device/device_spec.h"
#include "profiler/report/result_file.h"
#include "profiler/roofline/ceilings.h"
#include "profiler/roofline/results.h"

namespace gpuexp {

struct NamedResults {
  std::string path;
  ResultFile results;
};

// Every file read with read_results. Throws its errors, and Error(usage) when a file is given twice or has no points.
std::vector<NamedResults> read_all_results(const std::vector<std::string>& paths);

// The device whose roof the file was made with. Throws Error(usage) that asks for --device when it is not a device of
// this build.
DeviceMatch device_of(const NamedResults& file);

// Whether the points were measured on another device than `roof`. Emulated points ran on none.
bool is_what_if(const ResultFile& results, const DeviceSpec& roof);

// Every point that ran and is right, analysed anew under `ceilings` of `roof`; the others are counted by reason.
// `precision`: id of a compute ceiling for all of them; empty = what fits each.
RooflineResults roofline_results(const std::vector<NamedResults>& files, const DeviceSpec& roof,
                                 const Ceilings& ceilings, const std::string& precision);

}  // namespace gpuexp
