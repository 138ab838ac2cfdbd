// Looks at driver, toolkit, CUPTI, GPUs and permissions, and says what each failure means.
#include "profiler/backend/cuda/doctor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "profiler/backend/cuda/counter_errors.h"
#include "profiler/backend/cuda/machine_facts.h"

namespace gpuexp::cuda {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// True when a process of one of these names runs. Only this machine's (or container's) processes can be seen.
bool process_runs(std::initializer_list<std::string_view> names) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string pid = entry.path().filename().string();
    if (pid.empty() || std::isdigit(static_cast<unsigned char>(pid.front())) == 0) continue;
    const std::string name = text_of(entry.path() / "comm");  // cut to 15 characters by the kernel
    for (const std::string_view wanted : names)
      if (!name.empty() && wanted.substr(0, 15) == std::string_view(name).substr(0, name.size() - 1)) return true;
  }
  return false;
}

std::string injected_tool() {
  for (const char* variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
      return fmt::format("{}={}", variable, value);
  }
  const char* preload = std::getenv("LD_PRELOAD");
  const std::string_view libraries = preload != nullptr ? preload : "";
  for (const std::string_view tool : {"nsight", "nsys", "sanitizer", "injection"})
    if (libraries.find(tool) != std::string_view::npos) return fmt::format("LD_PRELOAD={}", libraries);
  return "";
}

Check toolkit_check(const Surroundings& a) {
  if (!a.toolkit) {
    return {"toolkit", false, "this build has no GPU code",
            "install the CUDA toolkit and configure again with -DGPUEXP_CUDA=ON"};
  }
  return {"toolkit", true, fmt::format("built with CUDA {}", cuda_version_text(a.machine.runtime_version)), ""};
}

Check driver_check(const Surroundings& a) {
  if (!a.driver) {
    return {"driver", false, a.driver_problem,
            a.container ? "start the container with GPUs (--gpus all), on a host that has the NVIDIA driver"
            : a.wsl     ? "install the NVIDIA driver for Windows; none is installed inside WSL"
                        : "install the NVIDIA driver"};
  }
  const Machine& m = a.machine;
  const std::string found = fmt::format("{}supports CUDA {}", m.driver_release.empty() ? "" : m.driver_release + ", ",
                                        cuda_version_text(m.driver_version));
  // Within a major version any driver runs any toolkit (minor version compatibility).
  const bool fits = m.runtime_version == 0 || m.driver_version / 1000 >= m.runtime_version / 1000;
  return {"driver", fits, found,
          fits ? ""
               : fmt::format("this build needs CUDA {}: update the driver, or build with a toolkit of CUDA {}",
                             cuda_version_text(m.runtime_version), m.driver_version / 1000)};
}

std::vector<Check> gpu_checks(const Surroundings& a) {
  const Machine& m = a.machine;
  if (m.gpus.empty()) return {{"GPU", false, m.reason.empty() ? "none" : m.reason, m.remedy}};
  std::vector<Check> checks;
  for (const Gpu& gpu : m.gpus) {
    checks.push_back({fmt::format("GPU {}", gpu.index), true,
                      fmt::format("{}, {}, compute capability {}.{}, {} SMs, at most {} MHz, {:.1f} GB{}", gpu.name,
                                  gpu.uuid, gpu.compute_capability_major, gpu.compute_capability_minor, gpu.sm_count,
                                  gpu.clock_mhz, static_cast<double>(gpu.memory_bytes) / 1e9,
                                  gpu.mig ? "; a MIG slice: ceilings are derived from its own SMs" : ""),
                      ""});
    if (gpu.compute_capability_major < 8) {
      checks.back().ok = false;
      checks.back().remedy =
          "this build has code for compute capability 8.0 and newer; add its architecture with "
          "-DCMAKE_CUDA_ARCHITECTURES and a toolkit that still supports it";
    }
  }
  return checks;
}

std::vector<Check> library_checks(const Surroundings& a) {
  std::vector<Check> checks;
  for (const LibraryFound& library : a.libraries) {
    const bool found = !library.path.empty();
    const std::string detail = library.detail.empty() ? "" : fmt::format(" ({})", library.detail);
    checks.push_back({library.name, found, found ? library.path + detail : library.detail,
                      found                     ? ""
                      : library.name == "CUPTI" ? "without it there are no counters; times are still measured"
                                                : "without it the library's variants are unsupported"});
  }
  return checks;
}

Check permission_check(const Surroundings& a) {
  if (a.profiling_admin_only < 0) {
    return {"counter permission", true,
            a.wsl ? "decided by the Windows driver; the first count tells"
                  : "the driver does not say; the first count tells",
            ""};
  }
  if (a.profiling_admin_only == 0) return {"counter permission", true, "everyone may read the counters", ""};
  if (a.root && !a.container) return {"counter permission", true, "administrators only, and this is one", ""};
  if (a.root) {
    return {"counter permission", true,
            "administrators only; root in a container needs CAP_SYS_ADMIN, the first count tells", ""};
  }
  return {"counter permission", false, "administrators only (RmProfilingAdminOnly: 1)",
          permission_remedy(a.wsl, a.container)};
}

}  // namespace

int profiling_admin_only(const std::string& params_text) {
  constexpr std::string_view key = "RmProfilingAdminOnly:";
  const std::size_t at = params_text.find(key);
  if (at == std::string::npos) return -1;
  const std::size_t digit = params_text.find_first_not_of(" \t", at + key.size());
  if (digit == std::string::npos || std::isdigit(static_cast<unsigned char>(params_text[digit])) == 0) return -1;
  return params_text[digit] == '0' ? 0 : 1;
}

Surroundings look_around(const Machine& machine) {
  Surroundings a;
  a.toolkit = toolkit_version() != 0;
  a.driver = driver().present;
  a.driver_problem = driver().problem;
  a.machine = machine;
  if (a.machine.runtime_version == 0) a.machine.runtime_version = toolkit_version();  // of a machine without a driver
  a.libraries = find_libraries();
  a.wsl = running_in_wsl();
  a.container = running_in_container();
  a.root = geteuid() == 0;
  a.profiling_admin_only = profiling_admin_only(text_of("/proc/driver/nvidia/params"));
  a.dcgm = process_runs({"nv-hostengine", "dcgm-exporter"});
  a.injected = injected_tool();
  return a;
}

std::vector<Check> checks_of(const Surroundings& a) {
  std::vector<Check> checks{toolkit_check(a), driver_check(a)};
  const auto append = [&](std::vector<Check> more) { checks.insert(checks.end(), more.begin(), more.end()); };
  append(gpu_checks(a));
  append(library_checks(a));
  if (a.driver) checks.push_back(permission_check(a));
  checks.push_back({"platform", true, a.wsl ? "WSL" : a.container ? "container" : "no container, no WSL", ""});
  checks.push_back({"other profilers", !a.dcgm && a.injected.empty(),
                    a.dcgm                ? "DCGM runs, and may hold the counters of every GPU"
                    : !a.injected.empty() ? a.injected
                                          : "none seen",
                    a.dcgm                ? "pause it while counting: `dcgmi profile --pause`"
                    : !a.injected.empty() ? "counters cannot be read twice: run without the other tool"
                                          : ""});
  return checks;
}

}  // namespace gpuexp::cuda
