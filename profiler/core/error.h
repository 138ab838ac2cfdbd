// The one exception type of the product: what went wrong, where, the remedy, and the exit code it means.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace gpuexp {

// Exit codes of the gpuexp binary; every error carries the one it leads to.
enum class ExitCode : int {
  success = 0,
  bad_answer = 1,     // regression, failed verification, checker finding; results are written
  usage = 2,          // command line, configuration, unreadable or refused input
  machine = 3,        // the machine cannot do it: no GPU, no toolkit, no permission
  cannot_write = 4,   // results cannot be written
  interrupted = 130,  // SIGINT
};

// `what()` is one line fit to print after "gpuexp: error: ". It names the place (file, JSON path, flag) and the remedy.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

}  // namespace gpuexp
