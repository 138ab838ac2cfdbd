// Resolves the names of backends and devices against the machine.
#include "profiler/run/choose.h"

#include <fmt/format.h>

#include "profiler/core/error.h"
#include "profiler/core/nearest.h"

namespace gpuexp {

Backend& choose_backend(const Backends& backends, std::string_view name) {
  std::vector<std::string> names = {"auto"};
  std::string reasons;
  for (const auto& backend : backends) {
    names.emplace_back(backend->name());
    if (name != "auto" && name != backend->name()) continue;
    const Availability availability = backend->availability();
    if (availability.available) return *backend;
    reasons += fmt::format("{}backend {} cannot run here: {}{}{}", reasons.empty() ? "" : "; ", backend->name(),
                           availability.reason, availability.remedy.empty() ? "" : "; ", availability.remedy);
  }
  if (!reasons.empty()) throw Error(ExitCode::machine, reasons);
  throw Error(ExitCode::usage,
              fmt::format("unknown backend '{}'; accepted: {}{}", name, list_names(names), did_you_mean(name, names)));
}

DeviceMatch choose_device(const Backends& backends, std::string_view name, const std::string& gpu) {
  if (name != "auto") return find_device(name);
  for (const auto& backend : backends) {
    if (!backend->availability().available) continue;
    if (const auto spec = backend->device(gpu)) return {*spec, ""};
  }
  return find_device(name);  // says that there is no GPU to ask, and what to do
}

}  // namespace gpuexp
