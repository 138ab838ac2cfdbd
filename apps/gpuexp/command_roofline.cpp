// gpuexp roofline: the ceilings of a device, and where kernels land under them.
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "apps/gpuexp/commands.h"
#include "apps/gpuexp/output.h"
#include "profiler/core/error.h"
#include "profiler/report/ceiling_file.h"
#include "profiler/report/roofline_points.h"
#include "profiler/report/terminal.h"
#include "profiler/roofline/measured_ceilings.h"
#include "profiler/roofline/roofline_view.h"
#include "profiler/run/choose.h"
#include "profiler/run/measure.h"

namespace gpuexp::cli {
namespace {

struct RooflineFlags {
  std::string device = "auto";
  std::string precision;
  std::string level = "dram";
  std::vector<std::string> results;
  std::string format = "table";
  std::string ceilings;  // file of measured ones; empty = the specification's
  bool what_if = false;
  bool measure = false;
  std::string measured_run;  // result file to measure from; empty = run now
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

const Precision* precision_of(const RooflineFlags& flags) {
  return flags.precision.empty() ? nullptr : &find_precision(flags.precision);
}

Level level_of(const RooflineFlags& flags) {
  require_one_of("--level", flags.level, {"dram", "l2", "l1"});
  return *level_from_text(flags.level);
}

using GivenCeilings = std::optional<MeasuredCeilings>;

// Only "auto" asks the machine, so that a named device is printed at once; with results it is the roof they were made
// with, with measured ceilings the device they were measured on.
DeviceMatch roof_of(const RooflineFlags& flags, const std::vector<NamedResults>& files, const GivenCeilings& measured) {
  if (flags.device != "auto") return find_device(flags.device);
  if (!files.empty()) return device_of(files.front());
  return measured ? find_device(measured->device_id) : choose_device(make_backends(), flags.device, "");
}

// The set of ceilings that everything stands under.
Ceilings ceilings_for(const DeviceSpec& spec, const GivenCeilings& measured, const RooflineFlags& flags) {
  if (!measured) return ceilings_of(spec);
  require_same_device(*measured, spec, flags.what_if, flags.ceilings);
  return with_measured(ceilings_of(spec), roofs_of(*measured), origin_of(*measured));
}

RooflineView view_of(const RooflineFlags& flags) {
  const Precision* precision = precision_of(flags);
  const Level level = level_of(flags);
  const std::vector<NamedResults> files = read_all_results(flags.results);
  const GivenCeilings measured = flags.ceilings.empty() ? GivenCeilings() : read_ceilings(flags.ceilings);
  const DeviceMatch device = roof_of(flags, files, measured);
  Ceilings ceilings = ceilings_for(device.spec, measured, flags);
  if (files.empty()) return lecture_view(device, std::move(ceilings), {precision, level});
  if (precision != nullptr) peak_or_throw(ceilings, *precision);
  RooflineResults results =
      roofline_results(files, device.spec, ceilings, precision == nullptr ? std::string() : std::string(precision->id));
  return results_view(device, std::move(ceilings), std::move(results), level);
}

std::string roofline_text(const RooflineFlags& flags) {
  const RooflineView view = view_of(flags);
  if (flags.format == "json") return roofline_json(view);
  if (flags.format == "csv") return roofline_csv(view);
  if (flags.format == "svg") return roofline_svg(view);
  std::string text = roofline_table(view);
  if (flags.plot) {
    const TerminalStyle style = terminal_style(STDOUT_FILENO);
    text += '\n';
    text += roofline_plot(view, {style.width, !flags.ascii && locale_is_utf8(), style.colour});
  }
  return text;
}

// Measures the GPU present, or reads what an earlier run of the microkernels measured.
std::string measure_text(const RooflineFlags& flags) {
  MeasureSettings settings;
  settings.run = flags.measured_run;
  const auto progress = make_progress(stderr);
  const MeasuredFile file = measure_ceilings(settings, *progress);
  if (flags.format == "json") return to_json_text(file.measured);
  return ceilings_table(file.measured) + "\nwritten to " + file.path.string() + "; use them with --ceilings\n";
}

void check(const RooflineFlags& flags) {
  require_one_of("--format", flags.format, {"table", "json", "csv", "svg"});
  if (flags.plot && flags.format != "table")
    throw Error(ExitCode::usage, "--plot draws below the table; leave out --format " + flags.format);
  if (flags.what_if && flags.ceilings.empty())
    throw Error(ExitCode::usage, "--what-if stands a device under another's measured ceilings; give --ceilings FILE");
  if (!flags.measure) return;
  require_one_of("--format", flags.format, {"table", "json"});
  if (flags.plot || !flags.results.empty() || !flags.ceilings.empty() || flags.device != "auto" ||
      flags.level != "dram" || !flags.precision.empty())
    throw Error(ExitCode::usage,
                "--measure measures the GPU present and takes no --device, --results, --ceilings, --level, "
                "--precision or --plot; use what it writes with --ceilings FILE");
}

}  // namespace

void add_roofline(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("roofline", "Ceilings and ridge points of a device, and where kernels land");
  const auto flags = std::make_shared<RooflineFlags>();
  command
      ->add_option("--device", flags->device,
                   "Device name or file: a100, h100-nvl, ./my.json; auto = that of the results, else the GPU present")
      ->capture_default_str();
  command->add_option("--precision", flags->precision,
                      "Compute ceiling: fp32, tf32, ...; default fp32 and tf32, and for results what fits each point");
  command->add_option("--level", flags->level, "Memory level whose slope points stand under: dram, l2 or l1")
      ->capture_default_str();
  command
      ->add_option("--results", flags->results,
                   "Result files of gpuexp run (JSON or CSV) whose points are placed in place of the lectures' kernels")
      ->type_name("FILE...");
  command
      ->add_option("--ceilings", flags->ceilings,
                   "File of measured ceilings (gpuexp roofline --measure) to use in place of the specification's")
      ->type_name("FILE");
  command->add_flag("--what-if", flags->what_if, "Accept ceilings that were measured on another device");
  command
      ->add_option(
          "--measure", flags->measured_run,
          "Measure the ceilings of the GPU present with microkernels and write results/ceilings/<device>.json; "
          "FILE: from the results of `gpuexp run ceilings`, without running anything")
      ->type_name("[FILE]")
      ->expected(0, 1);
  command->add_option("--format", flags->format, "table, json, csv or svg")->capture_default_str();
  command->add_flag("--plot", flags->plot, "Draw the roofline below the table");
  command->add_flag("--ascii", flags->ascii, "Draw with ASCII characters, whatever the locale");
  command->footer(
      "Examples:\n"
      "  gpuexp roofline --device a100 --plot\n"
      "  gpuexp roofline --device h100-pcie --precision fp16\n"
      "  gpuexp roofline --device ./my.json --format csv\n"
      "  gpuexp roofline --measure\n"
      "  gpuexp roofline --ceilings results/ceilings/h200-sxm-141gb.json\n"
      "  gpuexp roofline --results results/out/tile_sweep.cuda.json --plot\n"
      "  gpuexp roofline --results before.cuda.csv after.cuda.csv --level l2 --format svg > roofline.svg");
  command->callback([flags, command, &exit_code] {
    flags->measure = command->count("--measure") > 0;
    check(*flags);
    print(flags->measure ? measure_text(*flags) : roofline_text(*flags));
    exit_code = static_cast<int>(ExitCode::success);
  });
}

}  // namespace gpuexp::cli
