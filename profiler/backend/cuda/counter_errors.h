// CUPTI's result codes in plain words, each with the remedy: "35" alone helps nobody.
#pragma once

#include <string>
#include <string_view>

namespace gpuexp::cuda {

struct CounterError {
  std::string reason;  // "CUPTI 35 (INSUFFICIENT_PRIVILEGES) from cuptiRangeProfilerEnable: ..."
  std::string remedy;
  // "reason; remedy": what a null counter carries.
  [[nodiscard]] std::string to_text() const;
};

// What a failing call means. `call` names it; the environment decides hints (WSL, container).
struct CounterErrorContext {
  bool wsl = false;
  bool container = false;
  int driver_version = 0;  // CUDA, 13000 for 13.0; 0 = not known
  int cupti_version = 0;   // CUDA version of CUPTI's own release, likewise
};
CounterError explain_cupti(int code, std::string_view call, const CounterErrorContext& context = {});

// The remedy for denied counters, also shown by `gpuexp doctor`.
std::string permission_remedy(bool wsl, bool container);

// Whether this process runs under WSL, and whether in a container (Docker, Podman, Kubernetes).
bool running_in_wsl();
bool running_in_container();

}  // namespace gpuexp::cuda
