// The table of CUPTI results that users meet, with what each means and what to do.
#include "profiler/backend/cuda/counter_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "profiler/backend/cuda/gpu_part.h"

namespace gpuexp::cuda {
namespace {

struct Row {
  int code;
  std::string_view name;     // as in cupti_result.h, without CUPTI_ERROR_
  std::string_view meaning;  // one phrase
  std::string_view remedy;   // empty: the context decides
};

constexpr std::string_view report_it = "report this with the output of `gpuexp doctor`";

// Codes as in cupti_result.h of CUDA 13.0; they are part of CUPTI's interface.
constexpr std::array rows{
    Row{1, "INVALID_PARAMETER", "CUPTI refused the request", report_it},
    Row{2, "INVALID_DEVICE", "CUPTI does not know this GPU",
        "use a CUPTI at least as new as the GPU (install a newer CUDA toolkit)"},
    Row{3, "INVALID_CONTEXT", "the CUDA context was lost", "run the point again"},
    Row{7, "INVALID_OPERATION", "CUPTI cannot do this now; another profiling session may be open",
        "end other profilers that use this GPU"},
    Row{8, "OUT_OF_MEMORY", "no memory was left for the counters", "use a smaller problem or fewer counters"},
    Row{9, "HARDWARE", "the counter hardware failed", "see `dmesg` for Xid messages of the driver"},
    Row{12, "MAX_LIMIT_REACHED", "another profiler holds the counters",
        "end the other profiler (nsys, ncu, DCGM) and run again"},
    Row{14, "NOT_COMPATIBLE", "CUPTI and the driver do not fit",
        "install a driver at least as new as the toolkit of this build"},
    Row{15, "NOT_INITIALIZED", "CUPTI could not start; it may be newer than the driver", ""},
    Row{17, "INVALID_METRIC_NAME", "the chip has no metric of this name",
        "`gpuexp list counters --chip CHIP` shows what it has"},
    Row{26, "HARDWARE_BUSY", "another tool uses the counters (DCGM counts for the whole machine, on every GPU)",
        "pause it: `dcgmi profile --pause`, or stop dcgm-exporter and other profilers"},
    Row{27, "NOT_SUPPORTED", "this GPU or driver offers no counters here", "times are still measured"},
    Row{31, "UM_PROFILING_NOT_SUPPORTED_WITH_MPS", "counters cannot be read under MPS",
        "stop the MPS daemon: `echo quit | nvidia-cuda-mps-control`"},
    Row{33, "VIRTUALIZED_DEVICE_NOT_SUPPORTED", "this virtual GPU offers no counters",
        "use a GPU passed through whole, or ask the administrator to enable profiling for the vGPU"},
    Row{34, "CUDA_COMPILER_NOT_COMPATIBLE", "the kernels were built by a toolkit that CUPTI does not fit",
        "build with the toolkit that CUPTI comes from"},
    Row{35, "INSUFFICIENT_PRIVILEGES", "the driver does not let this user read the counters", ""},
    Row{36, "OLD_PROFILER_API_INITIALIZED", "an older profiling interface is in use in this process",
        "do not run gpuexp under another profiler"},
    Row{38, "LEGACY_PROFILER_NOT_SUPPORTED", "the Event and Metric interfaces are gone on this GPU", report_it},
    Row{39, "MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED",
        "another tool holds CUPTI in this process (compute-sanitizer, nsys, ncu)",
        "run without the other tool, or without counters (--no-counters)"},
    Row{40, "VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES", "profiling is not enabled for this virtual machine",
        "ask the administrator of the host to enable profiling for the vGPU"},
    Row{41, "CONFIDENTIAL_COMPUTING_NOT_SUPPORTED", "confidential computing hides the counters",
        "turn confidential computing off in the GPU's settings (nvidia-smi conf-compute)"},
    Row{42, "CMP_DEVICE_NOT_SUPPORTED", "mining cards offer no counters", "times are still measured"},
    Row{43, "MIG_DEVICE_NOT_SUPPORTED", "this MIG slice offers no counters",
        "use a slice with its own memory, or a GPU with MIG off"},
    Row{44, "SLI_DEVICE_NOT_SUPPORTED", "counters cannot be read on an SLI device", "turn SLI off"},
    Row{45, "WSL_DEVICE_NOT_SUPPORTED", "counters cannot be read under WSL with this driver",
        "update the Windows driver, or count on a Linux machine"},
    Row{46, "INVALID_CHIP_NAME", "CUPTI does not know this chip",
        "use a CUPTI at least as new as the GPU (install a newer CUDA toolkit)"},
    Row{999, "UNKNOWN", "CUPTI failed without saying why", report_it},
};

std::string first_bytes(const char* path) {
  std::ifstream file(path);
  std::string text(4096, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

bool exists(const char* path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

}  // namespace

std::string CounterError::to_text() const { return remedy.empty() ? reason : reason + "; " + remedy; }

std::string permission_remedy(bool wsl, bool container) {
  if (wsl) {
    return "in the NVIDIA Control Panel of Windows, Developer > Manage GPU Performance Counters, allow access to all "
           "users";
  }
  const std::string on_host =
      "run as root, or let everyone read the counters: put `options nvidia NVreg_RestrictProfilingToAdminUsers=0` into "
      "/etc/modprobe.d/nvidia-profiling.conf on the host and reboot it";
  if (!container) return on_host;
  return "the host's driver decides, not the container: " + on_host +
         "; or start the container with --cap-add=SYS_ADMIN and be root inside it (the capability is lost by other "
         "users)";
}

CounterError explain_cupti(int code, std::string_view call, const CounterErrorContext& context) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.code == code; });
  if (row == rows.end()) {
    return {fmt::format("CUPTI {} from {}: a result this build has no words for", code, call), std::string(report_it)};
  }
  CounterError error{fmt::format("CUPTI {} ({}) from {}: {}", code, row->name, call, row->meaning),
                     std::string(row->remedy)};
  constexpr int not_initialized = 15, insufficient_privileges = 35, invalid_device = 2;
  if (code == insufficient_privileges) error.remedy = permission_remedy(context.wsl, context.container);
  if (code == not_initialized) {
    error.remedy = "install a driver at least as new as the toolkit";
    if (context.cupti_version != 0 || context.driver_version != 0) {
      error.reason += fmt::format(" (CUPTI of CUDA {}, driver for CUDA {})", cuda_version_text(context.cupti_version),
                                  cuda_version_text(context.driver_version));
    }
  }
  if (context.wsl && (code == not_initialized || code == invalid_device)) {
    error.remedy = "under WSL: update the Windows driver and allow the counters to all users (" +
                   permission_remedy(true, false) + ")";
  }
  return error;
}

bool running_in_wsl() { return first_bytes("/proc/version").find("icrosoft") != std::string::npos; }

bool running_in_container() {
  return exists("/.dockerenv") || exists("/run/.containerenv") || std::getenv("KUBERNETES_SERVICE_HOST") != nullptr ||
         first_bytes("/proc/1/cgroup").find("docker") != std::string::npos;
}

}  // namespace gpuexp::cuda
