// What a run tells while it goes: one updating line on a terminal, plain lines in a pipe, nothing when quiet.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>

#include "profiler/core/point.h"

namespace gpuexp {

class Progress {
 public:
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  virtual ~Progress() = default;

  // `done` of `total` points are there already (taken over by --resume).
  virtual void begin(std::size_t done, std::size_t total) = 0;
  virtual void started(const Point& point) = 0;
  virtual void finished(const PointResult& result) = 0;
  // After the last point, also when interrupted or failing: leaves the cursor at the start of a line.
  virtual void end() = 0;
};

// An updating line when `stream` is a terminal (TERM not "dumb"), else a plain line per point (at most one every few
// seconds in long sweeps, and always the first and the last).
std::unique_ptr<Progress> make_progress(std::FILE* stream);
std::unique_ptr<Progress> make_quiet_progress();

}  // namespace gpuexp
