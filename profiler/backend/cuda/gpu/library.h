// Shared libraries opened at run time, so that the program starts on machines that do not have them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuexp::cuda {

class Library {
 public:
  // Opens the first of these file names that can be opened: by the system's search path, then in the toolkit's
  // folders (CUDA_HOME, CUDA_PATH, /usr/local/cuda, the toolkit of the build). Stays open until the process ends:
  // closing CUPTI or cuBLAS while a context lives is not safe.
  explicit Library(const std::vector<std::string>& file_names);

  [[nodiscard]] bool open() const { return handle_ != nullptr; }
  [[nodiscard]] const std::string& path() const { return path_; }        // empty when not open
  [[nodiscard]] const std::string& problem() const { return problem_; }  // why it is not open, with the remedy
  // Address of a function; null when the library has none of that name.
  [[nodiscard]] void* symbol(const char* name) const;

 private:
  void* handle_ = nullptr;
  std::string path_, problem_;
};

}  // namespace gpuexp::cuda
