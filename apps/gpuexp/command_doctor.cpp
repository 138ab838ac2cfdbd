// gpuexp doctor: what this machine can do, and the remedy for what it cannot.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/gpuexp/commands.h"
#include "apps/gpuexp/output.h"
#include "profiler/backend/backend.h"
#include "profiler/core/build_info.h"
#include "profiler/core/error.h"

namespace gpuexp::cli {
namespace {

std::string doctor_text(const std::vector<std::unique_ptr<Backend>>& backends) {
  std::string text =
      fmt::format("gpuexp {} ({}), compiled with {}\n", GPUEXP_VERSION,
                  build_commit().empty() ? "no commit" : fmt::format("commit {}", build_commit()), compiler_text());
  for (const auto& backend : backends) {
    const Availability availability = backend->availability();
    text += fmt::format("\n{}: {}\n", backend->name(), availability.available ? "available" : "not available here");
    const auto add = [&](const std::string& line, std::size_t indent) { text += paragraph(line, indent); };
    add(fmt::format("  {}", backend->description()), 2);
    if (!availability.reason.empty()) add("  reason: " + availability.reason, 10);
    if (!availability.remedy.empty()) add("  remedy: " + availability.remedy, 10);
    for (const auto& [name, value] : backend->environment()) add(fmt::format("  {}: {}", name, value), 4);
    for (const Check& check : backend->diagnose()) {
      add(fmt::format("  [{}] {}: {}", check.ok ? "ok" : "--", check.name, check.found), 7);
      if (!check.remedy.empty()) add("       remedy: " + check.remedy, 15);
    }
  }
  return text;
}

nlohmann::ordered_json backend_json(const Backend& backend) {
  const Availability availability = backend.availability();
  nlohmann::ordered_json json = {{"name", backend.name()},
                                 {"description", backend.description()},
                                 {"available", availability.available},
                                 {"reason", availability.reason},
                                 {"remedy", availability.remedy},
                                 {"environment", nlohmann::ordered_json::object()},
                                 {"checks", nlohmann::ordered_json::array()}};
  for (const auto& [name, value] : backend.environment()) json["environment"][name] = value;
  for (const Check& check : backend.diagnose()) {
    json["checks"].push_back(
        {{"name", check.name}, {"ok", check.ok}, {"found", check.found}, {"remedy", check.remedy}});
  }
  return json;
}

std::string doctor_json(const std::vector<std::unique_ptr<Backend>>& backends) {
  nlohmann::ordered_json json = {{"gpuexp_version", GPUEXP_VERSION},
                                 {"commit", build_commit()},
                                 {"compiler", compiler_text()},
                                 {"backends", nlohmann::ordered_json::array()}};
  for (const auto& backend : backends) json["backends"].push_back(backend_json(*backend));
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("doctor", "What this machine can do, and the remedy for what it cannot");
  const auto format = std::make_shared<std::string>("text");
  command->add_option("--format", *format, "text or json")->type_name("FORMAT")->capture_default_str();
  command->footer("Example:\n  gpuexp doctor --format json\n\nExit code 0 when a backend can run here, else 3.");
  command->callback([format, &exit_code] {
    require_one_of("--format", *format, {"text", "json"});
    const auto backends = make_backends();
    print(*format == "json" ? doctor_json(backends) : doctor_text(backends));
    const bool any = std::any_of(backends.begin(), backends.end(),
                                 [](const auto& backend) { return backend->availability().available; });
    exit_code = static_cast<int>(any ? ExitCode::success : ExitCode::machine);
  });
}

}  // namespace gpuexp::cli
