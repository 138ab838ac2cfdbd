// Files of measured ceilings, results/ceilings/<device>.json. docs/result_files.md tells the format.
#pragma once

#include <filesystem>
#include <string>

#include "profiler/report/result_file.h"
#include "profiler/roofline/measured_ceilings.h"

namespace gpuexp {

// The ceilings that the points of a run of configs/ceilings.json tell, with the run's environment. Throws Error(usage)
// when the run was made without a GPU, or its device is another one than `spec`.
MeasuredCeilings ceilings_from(const ResultFile& results, const DeviceSpec& spec);

std::string to_json_text(const MeasuredCeilings& measured);
// Reads what to_json_text wrote. Throws Error(usage) that names the file and the line and column or the JSON path; a
// newer schema version is refused.
MeasuredCeilings read_ceilings(const std::filesystem::path& path);
MeasuredCeilings parse_ceilings(const std::string& text, const std::string& file);

// Writes directory/<device id>.json, whole or not at all, and returns its path. Throws Error(cannot_write).
std::filesystem::path write_ceilings(const MeasuredCeilings& measured, const std::filesystem::path& directory);

}  // namespace gpuexp
