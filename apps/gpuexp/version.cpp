// What this build is: version, commit, compiler, backends.
#include <fmt/format.h>

#include <algorithm>

#include "apps/gpuexp/commands.h"
#include "profiler/backend/backend.h"
#include "profiler/core/build_info.h"
#include "profiler/core/error.h"
#include "profiler/core/nearest.h"

namespace gpuexp::cli {

std::string compiler_text() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  return "unknown compiler";
#endif
}

std::string version_text() {
  const std::string_view commit = build_commit();
  std::string text = fmt::format("gpuexp {}\ncommit: {}\ncompiler: {}\nbackends:", GPUEXP_VERSION,
                                 commit.empty() ? "unknown" : commit, compiler_text());
  for (const auto& backend : make_backends()) {
    const Availability availability = backend->availability();
    text += fmt::format("\n  {}: {}", backend->name(),
                        availability.available ? "available" : "unavailable: " + availability.reason);
  }
  return text;
}

void require_one_of(const std::string& flag, const std::string& value, const std::vector<std::string>& accepted) {
  if (std::find(accepted.begin(), accepted.end(), value) != accepted.end()) return;
  throw Error(ExitCode::usage,
              fmt::format("{} {}: accepted: {}{}", flag, value, list_names(accepted), did_you_mean(value, accepted)));
}

}  // namespace gpuexp::cli
