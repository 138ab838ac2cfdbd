// gpuexp roofline: the ceilings of a device, and where kernels land under them.
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "apps/gpuexp/commands.h"
#include "apps/gpuexp/output.h"
#include "profiler/core/error.h"
#include "profiler/report/terminal.h"
#include "profiler/roofline/roofline_view.h"
#include "profiler/run/choose.h"

namespace gpuexp::cli {
namespace {

struct RooflineFlags {
  std::string device = "auto";
  std::string precision;
  std::string format = "table";
  bool plot = false;
  bool ascii = false;
};

// The first of these that is set decides, as in setlocale(LC_CTYPE, "").
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale(value);
    for (const char* suffix : {"UTF-8", "utf-8", "UTF8", "utf8"})
      if (locale.find(suffix) != std::string_view::npos) return true;
    return false;
  }
  return false;
}

std::string roofline_text(const RooflineFlags& flags) {
  const Precision* precision = flags.precision.empty() ? nullptr : &find_precision(flags.precision);
  // Only "auto" asks the machine, so that a named device is printed at once.
  const DeviceMatch device =
      flags.device == "auto" ? choose_device(make_backends(), flags.device, "") : find_device(flags.device);
  const RooflineView view = lecture_view(device, precision);
  if (flags.format == "json") return roofline_json(view);
  if (flags.format == "csv") return roofline_csv(view);
  std::string text = roofline_table(view);
  if (flags.plot) {
    const TerminalStyle style = terminal_style(STDOUT_FILENO);
    text += '\n';
    text += roofline_plot(view, {style.width, !flags.ascii && locale_is_utf8(), style.colour});
  }
  return text;
}

}  // namespace

void add_roofline(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("roofline", "Ceilings and ridge points of a device, and where kernels land");
  const auto flags = std::make_shared<RooflineFlags>();
  command
      ->add_option("--device", flags->device, "Device name or file: a100, h100-nvl, ./my.json; auto = the GPU present")
      ->capture_default_str();
  command->add_option("--precision", flags->precision,
                      "Compute ceiling for the kernels: fp32, tf32, ...; default fp32 and tf32");
  command->add_option("--format", flags->format, "table, json or csv")->capture_default_str();
  command->add_flag("--plot", flags->plot, "Draw the roofline below the table");
  command->add_flag("--ascii", flags->ascii, "Draw with ASCII characters, whatever the locale");
  command->footer(
      "Examples:\n"
      "  gpuexp roofline --device a100 --plot\n"
      "  gpuexp roofline --device h100-pcie --precision fp16\n"
      "  gpuexp roofline --device ./my.json --format csv");
  command->callback([flags, &exit_code] {
    require_one_of("--format", flags->format, {"table", "json", "csv"});
    if (flags->plot && flags->format != "table")
      throw Error(ExitCode::usage, "--plot draws below the table; leave out --format " + flags->format);
    print(roofline_text(*flags));
    exit_code = static_cast<int>(ExitCode::success);
  });
}

}  // namespace gpuexp::cli
