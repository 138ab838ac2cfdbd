// The environment variables that the program reads (but CUDA_HOME and CUDA_PATH, which name folders to search): one
// value per line, in the order of `variables`; a line "-" leaves the variable unset. What depends on them must be able
// to say so: a style is chosen, and every check of `gpuexp doctor` that does not pass has a remedy.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <sstream>
#include <string>

#include "profiler/backend/cuda/doctor.h"
#include "profiler/report/terminal.h"
#include "tests/fuzz/fuzz.h"

namespace gpuexp::fuzz {
namespace {

constexpr std::array variables = {
    "NO_COLOR", "TERM", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "LD_PRELOAD", "KUBERNETES_SERVICE_HOST"};

void set_variables(const std::string& text) {
  std::istringstream lines(text.substr(0, text.find('\0')));  // where a value would end
  for (const char* variable : variables) {
    std::string value;
    if (std::getline(lines, value) && value != "-") {
      setenv(variable, value.c_str(), 1);
    } else {
      unsetenv(variable);
    }
  }
}

std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

void check_style() {
  static const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  const bool wanted = isatty(terminal) == 1 && value_of("NO_COLOR").empty() && value_of("TERM") != "dumb";
  require(terminal_style(terminal).colour == wanted);
}

void check_doctor() {
  cuda::Machine machine;
  machine.gpus.push_back({.name = "a GPU", .compute_capability_major = 9});
  cuda::Surroundings around = cuda::look_around(machine);
  around.toolkit = around.driver = true;
  for (const Check& check : cuda::checks_of(around))
    require(!check.name.empty() && !check.found.empty() && (check.ok || !check.remedy.empty()));
}

}  // namespace
}  // namespace gpuexp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  gpuexp::fuzz::set_variables(std::string(gpuexp::fuzz::text_of(data, size)));
  gpuexp::fuzz::check_style();
  gpuexp::fuzz::check_doctor();
  return 0;
}
