// What names on the command line mean: which backend runs, whose roof the points are compared with, which schedule.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/backend/backend.h"
#include "profiler/device/device_spec.h"

namespace gpuexp {

using Backends = std::vector<std::unique_ptr<Backend>>;

// The backend of this name, or for "auto" the first that can run here. Throws Error(usage) for an unknown name and
// Error(machine), with reason and remedy, when it cannot run here.
Backend& choose_backend(const Backends& backends, std::string_view name);

// The device of this name or path (find_device), or for "auto" the GPU present (`gpu`: its index or UUID; empty = the
// first). Throws Error(usage) for an unknown name and Error(machine) when no backend sees a GPU.
DeviceMatch choose_device(const Backends& backends, std::string_view name, const std::string& gpu);

// --schedule: "forward", "reverse", "random" or "random:7" (with seed 7) into `options`. Throws Error(usage).
void parse_schedule(const std::string& text, RunOptions& options);

}  // namespace gpuexp
