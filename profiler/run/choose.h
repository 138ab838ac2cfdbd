// What "auto" means on this machine: which backend runs, and whose roof the points are compared with.
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

}  // namespace gpuexp
