// The driver library, its release, and the choice of a GPU.
#include "profiler/backend/cuda/machine_facts.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include "profiler/core/error.h"
#include "profiler/core/nearest.h"

namespace gpuexp::cuda {
namespace {

Driver open_driver() {
  Driver found;
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    found.problem = why != nullptr ? why : "libcuda.so.1 was not found";
    return found;
  }
  found.present = true;
  using GetVersion = int (*)(int*);  // cuDriverGetVersion of cuda.h; needs no cuInit
  const auto get_version = reinterpret_cast<GetVersion>(dlsym(library, "cuDriverGetVersion"));
  if (get_version != nullptr) get_version(&found.cuda_version);
  return found;
}

}  // namespace

const Driver& driver() {
  static const Driver found = open_driver();
  return found;
}

std::string driver_release() {
  std::ifstream module("/sys/module/nvidia/version");
  std::string release;
  if (std::getline(module, release)) return release;
  std::ifstream proc("/proc/driver/nvidia/version");
  std::string line;
  if (!std::getline(proc, line)) return "";
  const std::size_t words = line.find("Kernel Module");
  const std::size_t digit = words == std::string::npos ? words : line.find_first_of("0123456789", words);
  return digit == std::string::npos ? "" : line.substr(digit, line.find(' ', digit) - digit);
}

std::string cuda_version_text(int version) {
  return version <= 0 ? "none" : fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

const Gpu& choose_gpu(const Machine& machine, const std::string& index_or_uuid) {
  if (!machine.reason.empty() || machine.gpus.empty()) {
    throw Error(ExitCode::machine, fmt::format("{}; {}", machine.reason, machine.remedy));
  }
  if (index_or_uuid.empty()) return machine.gpus.front();
  std::vector<const Gpu*> matches;
  std::vector<std::string> there;
  for (const Gpu& gpu : machine.gpus) {
    const bool by_index = std::to_string(gpu.index) == index_or_uuid;
    const bool by_uuid = index_or_uuid.size() > 4 && gpu.uuid.starts_with(index_or_uuid);
    if (by_index || by_uuid) matches.push_back(&gpu);
    there.push_back(fmt::format("{} ({}, {})", gpu.index, gpu.name, gpu.uuid));
  }
  if (matches.size() == 1) return *matches.front();
  throw Error(ExitCode::machine, fmt::format("--gpu '{}' means {} of this machine; there are: {}", index_or_uuid,
                                             matches.empty() ? "no GPU" : "several GPUs", list_names(there)));
}

}  // namespace gpuexp::cuda
