// Resolves the names of backends and devices against the machine.
#include "profiler/run/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

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

void parse_schedule(const std::string& text, RunOptions& options) {
  const std::vector<std::string> names = {"forward", "reverse", "random"};
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const auto found = std::find(names.begin(), names.end(), name);
  const char* end = text.data() + text.size();
  bool good = found != names.end();
  if (good && colon != std::string::npos) {
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, options.schedule_seed);
    good = name == "random" && error == std::errc() && stop == end;
  }
  if (!good)
    throw Error(ExitCode::usage,
                fmt::format("--schedule {}: accepted: forward, reverse, random, random:SEED (an integer from 0 to "
                            "2^64-1){}",
                            text, found == names.end() ? did_you_mean(name, names) : ""));
  options.schedule = name == "reverse" ? Schedule::reverse : name == "random" ? Schedule::random : Schedule::forward;
}

}  // namespace gpuexp
