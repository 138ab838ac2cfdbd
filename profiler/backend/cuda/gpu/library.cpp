// Searching and opening shared libraries.
#include "profiler/backend/cuda/gpu/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdlib>

namespace gpuexp::cuda {
namespace {

std::vector<std::string> toolkit_folders() {
  std::vector<std::string> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0') roots.emplace_back(value);
  }
  roots.emplace_back("/usr/local/cuda");
  roots.emplace_back(GPUEXP_CUDA_TOOLKIT_ROOT);
  std::vector<std::string> folders{""};  // the system's own search path first
  for (const std::string& root : roots) {
    for (const char* below : {"/lib64/", "/extras/CUPTI/lib64/", "/targets/x86_64-linux/lib/"})
      folders.push_back(root + below);
  }
  return folders;
}

std::string path_of(void* handle, const std::string& otherwise) {
  link_map* map = nullptr;
  return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name != nullptr ? map->l_name : otherwise;
}

}  // namespace

Library::Library(const std::vector<std::string>& file_names) {
  for (const std::string& folder : toolkit_folders()) {
    for (const std::string& name : file_names) {
      const std::string candidate = folder + name;
      handle_ = dlopen(candidate.c_str(), RTLD_NOW | RTLD_GLOBAL);
      if (handle_ != nullptr) {
        path_ = path_of(handle_, candidate);
        return;
      }
      if (const char* why = dlerror(); why != nullptr && problem_.empty()) problem_ = why;
    }
  }
  problem_ = fmt::format(
      "{}; install the CUDA toolkit, or name its folder in CUDA_HOME or its libraries' folder in LD_LIBRARY_PATH",
      problem_.empty() ? file_names.front() + " was not found" : problem_);
}

void* Library::symbol(const char* name) const { return handle_ == nullptr ? nullptr : dlsym(handle_, name); }

}  // namespace gpuexp::cuda
