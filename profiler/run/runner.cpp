// The runner: point by point through a backend, every result on disk before the next point starts.
#include "profiler/run/runner.h"
#include "profiler/core/build_info.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <set>

#include "profiler/core/text.h"
#include "profiler/report/result_writer.h"
#include "profiler/roofline/roofline.h"
#include "profiler/run/environment.h"

namespace gpuexp {
namespace {

using Clock = std::chrono::steady_clock;

std::string_view to_text(Schedule schedule) {
  return schedule == Schedule::forward ? "forward" : schedule == Schedule::reverse ? "reverse" : "random";
}

std::string flag(bool on) { return on ? "true" : "false"; }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Everything besides the points that results depend on. The number of threads is not among it.
std::map<std::string, std::string> settings_of(const RunOptions& options, const Plan& plan, std::string_view backend) {
  std::map<std::string, std::string> settings{
      {"seed", number_text(plan.experiment.seed)},
      {"verify", flag(options.verify)},
      {"point_time_limit_s", number_text(options.point_time_limit_s)},
      {"memory_limit_bytes", options.memory_limit_bytes == 0 ? "free memory" : number_text(options.memory_limit_bytes)},
  };
  const bool emulates = backend == "simt" || (backend == "cuda" && options.predict);
  if (emulates) {
    settings["lane_access_budget"] = number_text(options.lane_access_budget);
    settings["schedule"] = to_text(options.schedule);
    if (options.schedule == Schedule::random) settings["schedule_seed"] = number_text(options.schedule_seed);
  }
  if (backend != "cuda") return settings;
  settings["gpu"] = options.gpu.empty() ? "0" : options.gpu;
  settings["cold_l2"] = flag(options.cold_l2);
  settings["max_noise"] = number_text(options.max_noise);
  settings["max_time_s"] = number_text(options.max_time_s);
  settings["min_samples"] = number_text(std::int64_t{options.min_samples});
  settings["counters"] = !options.count ? "none" : options.counters.empty() ? "default" : joined(options.counters);
  settings["predict"] = flag(options.predict);
  return settings;
}

PlanRecord record_of(const Plan& plan, const RunOptions& options, std::string_view backend) {
  PlanRecord record{
      plan.name, plan.experiment.description, std::string(backend), settings_of(options, plan, backend), {},
      {},        {plan.experiment.text}};
  std::set<std::string> params;
  for (const Point& point : plan.points) {
    record.points.push_back(point.key());
    for (const auto& [name, value] : point.params.values()) params.insert(name);
  }
  record.params.assign(params.begin(), params.end());
  return record;
}

ResultFile header_of(const Plan& plan, const DeviceSpec& device, const Backend& backend, const RunSettings& settings) {
  ResultFile header;
  header.plan = record_of(plan, settings.options, backend.name());
  header.gpuexp_version = GPUEXP_VERSION;
  header.gpuexp_commit = build_commit();
  header.environment = environment_of(backend);
  header.device = gpuexp::record_of(device);
  header.device.note = settings.device_note;
  return header;
}

PointResult without_result(const Point& point, const Backend& backend, Status status, std::string reason) {
  PointResult result;
  result.point = point;
  result.backend = backend.name();
  result.status = status;
  result.reason = std::move(reason);
  result.verification.scope = "the point did not run";
  return result;
}

// A backend that throws has failed this point, not the sweep.
PointResult run_contained(Backend& backend, const Point& point, const RunOptions& options) {
  try {
    return backend.run(point, options);
  } catch (const std::bad_alloc&) {
    return without_result(point, backend, Status::out_of_memory, "the host ran out of memory");
  } catch (const std::exception& error) {
    return without_result(point, backend, Status::failed, error.what());
  } catch (...) {
    return without_result(point, backend, Status::failed, "the backend threw something that is not an exception");
  }
}

PointRecord run_point(Backend& backend, const Point& point, const RunOptions& options, const DeviceSpec& device) {
  const Clock::time_point start = Clock::now();
  PointRecord record;
  record.result = run_contained(backend, point, options);
  record.result.point = point;  // the plan's words, whatever the backend made of them
  record.result.backend = backend.name();
  if (record.result.status != Status::ok && record.result.reason.empty())
    record.result.reason = "the backend gave no reason";
  if (record.result.status == Status::ok) record.analysis = analyze(record.result, device);
  if (record.result.timing) record.time = time_statistics(*record.result.timing);
  record.result.wall_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return record;
}

// Leaves the terminal in order however the run ends.
class ProgressScope {
 public:
  ProgressScope(Progress& progress, std::size_t done, std::size_t total) : progress_(progress) {
    progress_.begin(done, total);
  }
  ~ProgressScope() { progress_.end(); }
  ProgressScope(const ProgressScope&) = delete;
  ProgressScope& operator=(const ProgressScope&) = delete;

 private:
  Progress& progress_;
};

bool cancelled(const RunOptions& options) { return options.cancel != nullptr && options.cancel->load(); }

// Runs what is missing; returns whether the run was interrupted.
bool run_points(const Plan& plan, const DeviceSpec& device, Backend& backend, const RunOptions& options,
                ResultWriter& writer, Progress& progress) {
  std::set<std::string> finished;
  for (const PointRecord& point : writer.finished()) finished.insert(point.result.point.key());
  const ProgressScope scope(progress, finished.size(), plan.points.size());
  for (const Point& point : plan.points) {
    if (finished.contains(point.key())) continue;
    if (cancelled(options)) return true;
    progress.started(point);
    const PointRecord record = run_point(backend, point, options, device);
    writer.add(record);
    progress.finished(record.result);
    if (record.result.status == Status::interrupted) return true;
  }
  return false;
}

}  // namespace

ExitCode RunSummary::exit_code() const {
  if (interrupted) return ExitCode::interrupted;
  return bad > 0 ? ExitCode::bad_answer : ExitCode::success;
}

RunSummary run_plan(const Plan& plan, const DeviceSpec& device, Backend& backend, const RunSettings& settings,
                    Progress& progress) {
  ResultWriter writer(settings.directory, header_of(plan, device, backend, settings),
                      settings.resume ? ResultWriter::Start::resume : ResultWriter::Start::fresh);
  RunSummary summary;
  summary.resumed = writer.finished().size();
  summary.notice = writer.notice();
  summary.json = writer.paths().json;
  summary.csv = writer.paths().csv;
  summary.interrupted = run_points(plan, device, backend, settings.options, writer, progress);
  summary.results = writer.finish();
  for (const PointRecord& point : summary.results.points) {
    summary.bad += point.result.good() ? 0 : 1;
    summary.unsupported += point.result.status == Status::unsupported ? 1 : 0;
  }
  return summary;
}

}  // namespace gpuexp
