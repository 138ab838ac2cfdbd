// gpuexp run: experiments in, results and report out.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <csignal>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/gpuexp/commands.h"
#include "apps/gpuexp/output.h"
#include "profiler/core/error.h"
#include "profiler/core/nearest.h"
#include "profiler/experiment/experiment.h"
#include "profiler/registry/registry.h"
#include "profiler/report/result_writer.h"
#include "profiler/report/terminal.h"
#include "profiler/run/choose.h"
#include "profiler/run/progress.h"
#include "profiler/run/runner.h"

namespace gpuexp::cli {
namespace {

std::atomic<bool> cancelled{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

// The first signal ends the run in order; the second one takes its default effect.
extern "C" void cancel_run(int) { cancelled.store(true); }

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = cancel_run;
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

// The command line as it was given; empty = the experiment's own setting.
struct RunArguments {
  std::vector<std::string> configs;
  std::string backend, device, gpu, out;
  PlanEdits edits;
  bool dry_run = false, resume = false, quiet = false;
  bool no_counters = false, no_verify = false, no_predict = false;
  int threads = 0;
  std::uint64_t budget = RunOptions().lane_access_budget;
  double time_limit_s = RunOptions().point_time_limit_s;
  std::string schedule = "forward";
  std::string format = "text";
};

std::vector<Plan> load_plans(const RunArguments& arguments) {
  std::vector<Plan> plans;
  std::set<std::string> names;
  for (const std::string& config : arguments.configs) {
    plans.push_back(make_plan(load_experiment(config), arguments.edits));
    const Plan& plan = plans.back();
    if (!names.insert(plan.name).second) {
      throw Error(ExitCode::usage, fmt::format("{}: another experiment of this command is named '{}' too: one would "
                                               "replace the other's results; run them one after the other",
                                               plan.experiment.source, plan.name));
    }
    for (const std::string& note : plan.notes) print_message("note", note);
  }
  return plans;
}

RunSettings settings_for(const RunArguments& arguments, const Experiment& experiment) {
  RunSettings settings;
  RunOptions& options = settings.options;
  options.cancel = &cancelled;
  options.point_time_limit_s = arguments.time_limit_s;
  options.verify = !arguments.no_verify;
  options.threads = arguments.threads;
  options.lane_access_budget = arguments.budget;
  parse_schedule(arguments.schedule, options);
  options.gpu = arguments.gpu;
  options.cold_l2 = experiment.measure.cold_l2.value_or(options.cold_l2);
  options.max_noise = experiment.measure.max_noise.value_or(options.max_noise);
  options.max_time_s = experiment.measure.max_time_s.value_or(options.max_time_s);
  options.min_samples = experiment.measure.min_samples.value_or(options.min_samples);
  options.counters = experiment.counters;
  options.count = !arguments.no_counters;
  options.predict = !arguments.no_predict;
  if (!experiment.output.empty()) settings.directory = experiment.output;
  if (!arguments.out.empty()) settings.directory = arguments.out;
  settings.resume = arguments.resume;
  return settings;
}

std::string backend_name(const RunArguments& arguments, const Experiment& experiment) {
  return arguments.backend.empty() ? experiment.backend : arguments.backend;
}

// An unknown device of a file is an error at its place in the file.
DeviceMatch device_for(const RunArguments& arguments, const Experiment& experiment, const Backends& backends) {
  if (!arguments.device.empty()) return choose_device(backends, arguments.device, arguments.gpu);
  try {
    return choose_device(backends, experiment.device, arguments.gpu);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: /device: {}", experiment.source, error.what()));
  }
}

// Why a backend would not run a variant; empty when it would.
std::string obstacle(const Backend& backend, const Point& point) {
  const Variant* variant = find_variant(point.variant);
  if (backend.name() == "simt" && !variant->cuda_only.empty()) return "cuda only: " + variant->cuda_only;
  const Availability availability = backend.availability();
  return availability.available ? "" : availability.reason;
}

// A card that nothing would be asked of is a slip.
void refuse_idle_gpu(const RunArguments& arguments, const Experiment& experiment, std::string_view backend) {
  const std::string& device = arguments.device.empty() ? experiment.device : arguments.device;
  if (arguments.gpu.empty() || backend == "cuda" || device == "auto") return;
  throw Error(ExitCode::usage,
              fmt::format("--gpu {}: the {} backend runs on the CPU, and --device {} is the roof; leave "
                          "--gpu out, or give --backend cuda",
                          arguments.gpu, backend, device));
}

// What `gpuexp run` itself would do with a plan on this machine: the backend that it would run on, or why it would not.
struct Prospect {
  std::string backend;
  std::string obstacle;  // with the remedy; empty when it would run
};

Prospect prospect_of(const RunArguments& arguments, const Plan& plan, const Backends& backends) {
  const std::string wanted = backend_name(arguments, plan.experiment);
  try {
    const std::string chosen(choose_backend(backends, wanted).name());
    refuse_idle_gpu(arguments, plan.experiment, chosen);
    device_for(arguments, plan.experiment, backends);
    return {chosen, ""};
  } catch (const Error& error) {
    if (error.code() != ExitCode::machine) throw;  // no machine could run it as it was given
    return {wanted, error.what()};
  }
}

std::string prospect_text(const Plan& plan, const Prospect& prospect) {
  if (prospect.obstacle.empty())
    return fmt::format("{}: this machine would run it on the {} backend\n", plan.name, prospect.backend);
  return paragraph(fmt::format("{}: this machine cannot run it, `gpuexp run` would end with exit code {}: {}",
                               plan.name, static_cast<int>(ExitCode::machine), prospect.obstacle),
                   2);
}

std::string dry_run_text(const std::vector<Plan>& plans, const Backends& backends) {
  std::string text;
  for (const Plan& plan : plans) {
    text += fmt::format("{}: {} point{}\n", plan.name, plan.points.size(), plan.points.size() == 1 ? "" : "s");
    Table table{{}, {}};
    for (const auto& backend : backends) table.header.emplace_back(backend->name());
    table.header.emplace_back("point");
    std::vector<std::string> obstacles;
    for (const Point& point : plan.points) {
      std::vector<std::string> row;
      for (const auto& backend : backends) {
        const std::string why = obstacle(*backend, point);
        row.emplace_back(why.empty() ? "yes" : "no");
        const std::string line = fmt::format("{}: {}", backend->name(), why);
        if (!why.empty() && std::find(obstacles.begin(), obstacles.end(), line) == obstacles.end()) {
          obstacles.push_back(line);
        }
      }
      row.push_back(point.key());
      table.rows.push_back(std::move(row));
    }
    text += table.text();
    for (const std::string& line : obstacles) text += line + "\n";
  }
  return text;
}

// Counters of a plan's points on a chip; points that count the same are planned together.
struct PlannedCounters {
  CounterPlan plan;
  std::vector<std::string> variants;  // whose points count these
};

std::vector<PlannedCounters> planned_counters(const Plan& plan, const Backend& backend, const std::string& chip) {
  std::vector<PlannedCounters> all;
  std::vector<std::vector<std::string>> seen;
  for (const Point& point : plan.points) {
    const std::vector<std::string> counters =
        plan.experiment.counters.empty() ? backend.default_counters(chip, point) : plan.experiment.counters;
    const auto at = std::ranges::find(seen, counters);
    PlannedCounters& group = at != seen.end() ? all[static_cast<std::size_t>(at - seen.begin())] : all.emplace_back();
    if (at == seen.end()) {
      seen.push_back(counters);
      group.plan = backend.plan_counters(chip, counters);
    }
    if (std::ranges::find(group.variants, point.variant) == group.variants.end())
      group.variants.push_back(point.variant);
  }
  return all;
}

// What a run on the GPU would count. The chip is that of the device compared with, as a dry run needs no GPU.
std::string counters_text(const Plan& plan, const Backend& backend, const std::string& chip) {
  std::string text;
  for (const PlannedCounters& group : planned_counters(plan, backend, chip)) {
    text += fmt::format("\ncounters on {} of {}: {}\n", chip, list_names(group.variants),
                        group.plan.reason.empty()
                            ? fmt::format("{} in {} passes", group.plan.entries.size(), group.plan.passes)
                            : "not checked: " + group.plan.reason);
    Table table{{"  COUNTER", "METRIC"}, {}};
    for (const CounterPlan::Entry& entry : group.plan.entries)
      table.rows.push_back({"  " + entry.counter, entry.refusal.empty() ? entry.metric : entry.refusal});
    text += table.text();
  }
  return text;
}

std::string dry_run_json(const RunArguments& arguments, const std::vector<Plan>& plans, const Backends& backends) {
  using Json = nlohmann::ordered_json;
  Json all = Json::array();
  for (const Plan& plan : plans) {
    Json points = Json::array();
    for (const Point& point : plan.points) {
      Json entry = {{"key", point.key()}, {"variant", point.variant}, {"params", Json::object()}};
      for (const auto& [name, value] : point.params.values()) {
        std::visit([&, &key = name](const auto& v) { entry["params"][key] = v; }, value);
      }
      for (const auto& backend : backends) {
        const std::string why = obstacle(*backend, point);
        entry["backends"][std::string(backend->name())] = {{"can_run", why.empty()}, {"reason", why}};
      }
      points.push_back(std::move(entry));
    }
    const Prospect prospect = prospect_of(arguments, plan, backends);
    all.push_back({{"name", plan.name},
                   {"count", plan.points.size()},
                   {"notes", plan.notes},
                   {"backend", prospect.backend},
                   {"would_run", prospect.obstacle.empty()},
                   {"reason", prospect.obstacle},
                   {"points", points}});
  }
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void dry_run(const RunArguments& arguments, const std::vector<Plan>& plans, const Backends& backends) {
  for (const Plan& plan : plans) {  // names are checked; what this machine lacks is shown, not refused
    const std::string& device = arguments.device.empty() ? plan.experiment.device : arguments.device;
    if (device != "auto") device_for(arguments, plan.experiment, backends);  // auto: prospect_of
    require_one_of("--backend", backend_name(arguments, plan.experiment), {"auto", "cuda", "simt"});
  }
  if (arguments.format == "json") return print(dry_run_json(arguments, plans, backends));
  print(dry_run_text(plans, backends));
  for (const Plan& plan : plans) {
    const std::string& device = arguments.device.empty() ? plan.experiment.device : arguments.device;
    if (backend_name(arguments, plan.experiment) != "cuda" || arguments.no_counters || device == "auto") continue;
    const auto cuda = std::ranges::find_if(backends, [](const auto& one) { return one->name() == "cuda"; });
    print(counters_text(plan, **cuda, device_for(arguments, plan.experiment, backends).spec.chip));
  }
  print("\n");
  for (const Plan& plan : plans) print(prospect_text(plan, prospect_of(arguments, plan, backends)));
}

void print_summary(const RunArguments& arguments, const RunSummary& summary) {
  if (!summary.notice.empty()) print_message("note", summary.notice);
  if (arguments.format == "json") {
    print(to_json_text(summary.results));
  } else if (arguments.format == "csv") {
    print(to_csv_text(summary.results));
  } else {
    print(terminal_report(summary.results, terminal_style(STDOUT_FILENO)));
    print(fmt::format("\nresults: {}\n         {}\n", summary.json.string(), summary.csv.string()));
  }
}

ExitCode run_plans(const RunArguments& arguments, const std::vector<Plan>& plans, const Backends& backends) {
  // Everything that can be refused is refused before the first point runs.
  std::vector<Backend*> chosen;
  std::vector<DeviceMatch> roofs;
  for (const Plan& plan : plans) {
    chosen.push_back(&choose_backend(backends, backend_name(arguments, plan.experiment)));
    refuse_idle_gpu(arguments, plan.experiment, chosen.back()->name());
    roofs.push_back(device_for(arguments, plan.experiment, backends));
  }
  // A name that stands for several boards is explained to who gave it; of a file's, the report names the board.
  if (!arguments.device.empty() && !roofs.front().note.empty()) print_message("note", roofs.front().note);
  catch_interrupts();
  ExitCode worst = ExitCode::success;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const auto progress = arguments.quiet ? make_quiet_progress() : make_progress(stderr);
    const RunSummary summary =
        run_plan(plans[i], roofs[i].spec, *chosen[i], settings_for(arguments, plans[i].experiment), *progress);
    print_summary(arguments, summary);
    worst = std::max(worst, summary.exit_code());
    if (summary.interrupted) {
      print_message("note", "interrupted; finished points are saved, and --resume runs the rest");
      break;
    }
  }
  return worst;
}

ExitCode run(const RunArguments& arguments) {
  require_one_of("--format", arguments.format, {"text", "json", "csv"});
  if (arguments.format == "csv" && arguments.dry_run) {
    throw Error(ExitCode::usage, "--format csv: a dry run has no results; accepted with --dry-run: text, json");
  }
  if (arguments.format != "text" && arguments.configs.size() > 1 && !arguments.dry_run) {
    throw Error(ExitCode::usage, fmt::format("--format {}: prints one experiment's results; {} are given",
                                             arguments.format, arguments.configs.size()));
  }
  if (!(arguments.time_limit_s >= 0.001 && arguments.time_limit_s <= 1e9)) {  // NaN fails
    throw Error(ExitCode::usage, "--time-limit: expected seconds from 0.001 to 1e9");
  }
  RunOptions checked;
  parse_schedule(arguments.schedule, checked);
  const std::vector<Plan> plans = load_plans(arguments);
  const Backends backends = make_backends();
  if (!arguments.dry_run) return run_plans(arguments, plans, backends);
  dry_run(arguments, plans, backends);
  return ExitCode::success;
}

// --budget as digits: 4000000 and 4e6 are the same. CLI11 would read -1 as the largest number, and a larger one as
// that.
std::string budget_digits(std::string& text) {
  const char* const end = text.data() + text.size();
  std::uint64_t count = 0;
  double real = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  const auto [real_stop, real_error] = std::from_chars(text.data(), end, real);
  constexpr double exact = 9007199254740992;  // 2^53: every whole number up to it is a double
  if (error == std::errc() && stop == end && count <= std::numeric_limits<std::int64_t>::max()) return {};
  const bool whole =
      real_error == std::errc() && real_stop == end && real >= 0 && real <= exact && real == std::floor(real);
  if (!whole)
    throw Error(ExitCode::usage,
                fmt::format("--budget {}: expected a whole number of lane accesses, such as 4000000 or "
                            "4e6, up to 2^63-1; 0 = all",
                            text));
  text = fmt::format("{:.0f}", real);
  return {};
}

constexpr const char* footer =
    "Filters: terms separated by spaces must all hold; a term is a variant glob or a parameter, with\n"
    "alternatives after commas. A whole point, as reports name it, is a filter that keeps that point.\n"
    "\n"
    "Examples:\n"
    "  gpuexp run tile_sweep --dry-run\n"
    "  gpuexp run tile_sweep --filter 'matmul/tiled TILE=8,16' --set n=64\n"
    "  gpuexp run my.json other.json --backend simt --device h100 --out results/mine\n"
    "  gpuexp run transpose --budget 0 --schedule random:7 --format json";

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("run", "Run experiments: results to files, the report to the terminal");
  const auto arguments = std::make_shared<RunArguments>();
  RunArguments& a = *arguments;
  command->add_option("CONFIG", a.configs, "Experiment files, or names of shipped experiments")
      ->type_name("")
      ->required();
  command->add_option("--backend", a.backend, "auto, cuda (the GPU) or simt (emulated on the CPU)")->type_name("NAME");
  command->add_option("--device", a.device, "Roof to compare with: a device's name or file, or auto")
      ->type_name("NAME|FILE");
  command->add_option("--gpu", a.gpu, "The card that runs: index or UUID (cuda)")->type_name("INDEX|UUID");
  command->add_option("--filter", a.edits.filters, "Keep only these points; repeat to narrow down")
      ->type_name("TERMS")
      ->expected(1)
      ->take_all();
  command->add_option("--set", a.edits.sets, "Give a parameter these values instead")
      ->type_name("NAME=VALUE[,VALUE]")
      ->expected(1)
      ->take_all();
  command->add_option("--out", a.out, "Directory of the result files [results/out]")->type_name("DIR");
  command->add_flag("--dry-run", a.dry_run,
                    "List points, who can run each, whether this machine would, and (cuda) counters; run nothing");
  command->add_flag("--resume", a.resume, "Keep the points that an interrupted run finished; run the rest");
  command->add_flag("--no-counters", a.no_counters, "Times only, no hardware counters (cuda)");
  command->add_flag("--no-predict", a.no_predict, "No emulated counters beside measured ones (cuda)");
  command->add_flag("--no-verify", a.no_verify, "Do not check results against the reference");
  command->add_option("--threads", a.threads, "OS threads, 0 = one per core; results do not depend on it (simt)")
      ->type_name("N")
      ->check(CLI::Range(0, 4096).description(""));
  command->add_option("--budget", a.budget, "Lane accesses per point beyond which blocks are sampled, 0 = all (simt)")
      ->type_name("N")
      ->transform(CLI::Validator(budget_digits, ""))
      ->capture_default_str();
  command->add_option("--schedule", a.schedule, "Order of warps and lanes: forward, reverse, random[:SEED] (simt)")
      ->type_name("ORDER")
      ->capture_default_str();
  command->add_option("--time-limit", a.time_limit_s, "Seconds that one point may take")
      ->type_name("SECONDS")
      ->capture_default_str();
  command->add_option("--format", a.format, "What goes to standard output: text, json or csv")
      ->type_name("FORMAT")
      ->capture_default_str();
  command->add_flag("--quiet", a.quiet, "No progress");
  command->footer(footer);
  command->callback([arguments, &exit_code] { exit_code = static_cast<int>(run(*arguments)); });
}

}  // namespace gpuexp::cli
