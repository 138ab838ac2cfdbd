// Facts of the machine, read from Linux's own files.
#include "profiler/run/environment.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <fstream>
#include <thread>

#include "profiler/core/text.h"

namespace gpuexp {
namespace {

// Text behind `key` (to the line's end) in the first line that starts with it, less spaces, quotes, ':' and '='.
std::string first_value(const char* file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    constexpr const char* dressing = " \t\":=";
    const std::size_t first = line.find_first_not_of(dressing, key.size());
    if (first == std::string::npos) return "";
    return line.substr(first, line.find_last_not_of(dressing) - first + 1);
  }
  return "";
}

std::string host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string operating_system() {
  std::string text = first_value("/etc/os-release", "PRETTY_NAME");
  struct utsname system {};
  if (::uname(&system) == 0)
    text += (text.empty() ? "" : ", ") + std::string(system.sysname) + " " + system.release + " " + system.machine;
  return text.empty() ? "unknown" : text;
}

std::string cpu() {
  const std::string model = first_value("/proc/cpuinfo", "model name");
  return model.empty() ? "unknown" : model;
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  struct tm utc {};
  ::gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

}  // namespace

std::string compiler_text() {
#if defined(__clang__)
  return "clang " + number_text(std::int64_t{__clang_major__}) + "." + number_text(std::int64_t{__clang_minor__}) +
         "." + number_text(std::int64_t{__clang_patchlevel__});
#else
  return "g++ " + number_text(std::int64_t{__GNUC__}) + "." + number_text(std::int64_t{__GNUC_MINOR__}) + "." +
         number_text(std::int64_t{__GNUC_PATCHLEVEL__});
#endif
}

Environment environment_of(const Backend& backend) {
  Environment environment{{"host", host()},
                          {"os", operating_system()},
                          {"cpu", cpu()},
                          {"cpu_cores", number_text(std::uint64_t{std::thread::hardware_concurrency()})},
                          {"compiler", compiler_text()},
                          {"started", now_utc()}};
  for (auto& [name, value] : backend.environment())
    if (environment_value(environment, name).empty()) environment.emplace_back(name, value);
  return environment;
}

}  // namespace gpuexp
