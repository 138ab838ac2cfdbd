// The runner: takes a plan through a backend point by point, saves every result, and says how it ended.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "profiler/backend/backend.h"
#include "profiler/core/error.h"
#include "profiler/experiment/experiment.h"
#include "profiler/report/result_file.h"
#include "profiler/run/progress.h"

namespace gpuexp {

struct RunSettings {
  RunOptions options;                               // passed to the backend; options.cancel is the SIGINT flag
  std::filesystem::path directory = "results/out";  // of the result files; created when missing
  bool resume = false;
  std::string device_note;  // DeviceMatch::note, for the report
};

struct RunSummary {
  ResultFile results;               // what was written
  std::filesystem::path json, csv;  // where
  std::string notice;               // about files found at the start; may be empty
  std::size_t resumed = 0;          // points taken over from an earlier run
  std::size_t bad = 0;              // points that are not good()
  std::size_t unsupported = 0;
  bool interrupted = false;
  [[nodiscard]] ExitCode exit_code() const;
};

// Runs the points in order. What goes wrong within a point is its status; the sweep goes on. When options.cancel
// becomes true, the point in hand ends, everything finished is written, and the summary says `interrupted`. Throws
// Error(cannot_write) when results cannot be kept (checked before the first point runs), Error(usage) when --resume
// meets another plan's results.
RunSummary run_plan(const Plan& plan, const DeviceSpec& device, Backend& backend, const RunSettings& settings,
                    Progress& progress);

}  // namespace gpuexp
