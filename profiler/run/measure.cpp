// The way from microkernels to a file of ceilings.
#include "profiler/run/measure.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/core/error.h"
#include "profiler/device/device_spec.h"
#include "profiler/experiment/experiment.h"
#include "profiler/report/ceiling_file.h"
#include "profiler/run/runner.h"

namespace gpuexp {
namespace {

// Times alone are wanted: counting and predicting would only take longer.
RunSettings settings_for(const Experiment& experiment, const std::filesystem::path& directory) {
  RunSettings settings;
  settings.directory = directory;
  RunOptions& options = settings.options;
  options.count = false;
  options.predict = false;
  options.cold_l2 = experiment.measure.cold_l2.value_or(options.cold_l2);
  options.max_noise = experiment.measure.max_noise.value_or(options.max_noise);
  options.max_time_s = experiment.measure.max_time_s.value_or(options.max_time_s);
  options.min_samples = experiment.measure.min_samples.value_or(options.min_samples);
  return settings;
}

ResultFile run_microkernels(const std::filesystem::path& directory, DeviceSpec& device, Progress& progress) {
  const Backends backends = make_backends();
  Backend& cuda = choose_backend(backends, "cuda");
  device = choose_device(backends, "auto", "").spec;
  const Plan plan = make_plan(load_experiment("ceilings"));
  return run_plan(plan, device, cuda, settings_for(plan.experiment, directory), progress).results;
}

}  // namespace

MeasuredFile measure_ceilings(const MeasureSettings& settings, Progress& progress) {
  MeasuredFile file;
  ResultFile results;
  if (settings.run.empty()) {
    results = run_microkernels(settings.results, file.device, progress);
  } else {
    if (!settings.run.ends_with(".json"))
      throw Error(ExitCode::usage, fmt::format("{}: ceilings are found from the time samples, which only the JSON of "
                                               "`gpuexp run ceilings` has",
                                               settings.run));
    results = read_results(settings.run);
    file.device = find_device(results.device.id).spec;
  }
  file.measured = ceilings_from(results, file.device);
  const bool any =
      std::ranges::any_of(file.measured.ceilings, [](const auto& c) { return c.value.number().has_value(); });
  if (!any)
    throw Error(ExitCode::usage, fmt::format("{}: no ceiling can be found from its points; it takes the results of "
                                             "`gpuexp run ceilings` on a GPU",
                                             settings.run.empty() ? "this run" : settings.run));
  file.path = write_ceilings(file.measured, settings.ceilings);
  return file;
}

}  // namespace gpuexp
