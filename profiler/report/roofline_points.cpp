// Result files under a roof.
#include "profiler/report/roofline_points.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "profiler/core/error.h"
#include "profiler/report/wording.h"

namespace gpuexp {
namespace {

// Why a point is not placed; empty when it is.
std::string reason_against(const PointResult& result) {
  if (result.status != Status::ok)
    return std::string(to_text(result.status)) + (result.reason.empty() ? "" : " (" + result.reason + ")");
  if (result.verification.state == Verification::State::failed) return "failed verification";
  if (!result.findings.empty()) return "checker found: " + result.findings.front().kind;
  return {};
}

// A CSV has the statistics of the samples alone: their median stands for them.
PointResult with_time(const PointRecord& record) {
  PointResult result = record.result;
  if (record.time) {
    if (!result.timing) result.timing.emplace();
    if (result.timing->samples_us.empty()) result.timing->samples_us.push_back(record.time->median_us);
  }
  return result;
}

// The shortest of file name and path that tells the files apart.
std::vector<std::string> labels_of(const std::vector<NamedResults>& files) {
  std::vector<std::string> names;
  for (const NamedResults& file : files) names.push_back(std::filesystem::path(file.path).filename().string());
  const std::set<std::string> distinct(names.begin(), names.end());
  if (distinct.size() == names.size()) return names;
  std::ranges::transform(files, names.begin(), [](const NamedResults& file) { return file.path; });
  return names;
}

ResultSource source_of(const NamedResults& file, std::string label, const DeviceSpec& roof) {
  ResultSource source;
  source.path = file.path;
  source.label = std::move(label);
  source.backend = file.results.plan.backend;
  source.ran_on = environment_value(file.results.environment, "gpu");
  source.what_if = is_what_if(file.results, roof);
  std::map<std::string, std::uint64_t> left;
  for (const PointRecord& record : file.results.points) {
    if (const std::string reason = reason_against(record.result); !reason.empty()) ++left[reason];
    if (source.cache_mode.empty() && record.result.timing) source.cache_mode = record.result.timing->cache_mode;
  }
  for (const auto& [reason, count] : left) source.left_out.push_back(plural(count, "point") + " " + reason);
  if (!file.results.complete) source.left_out.push_back("what the run, which was interrupted, did not reach");
  return source;
}

// Labels of the points of each problem, which are told apart among themselves.
std::map<std::string, PointLabels> labels_by_problem(const ResultFile& results) {
  std::map<std::string, std::vector<const PointRecord*>> problems;
  for (const PointRecord& record : results.points)
    if (reason_against(record.result).empty()) problems[problem_of(record)].push_back(&record);
  std::map<std::string, PointLabels> labels;
  for (const auto& [problem, points] : problems) labels.emplace(problem, PointLabels(points));
  return labels;
}

// Labels without the problem when there is only one.
void drop_common_problem(std::vector<ResultPoint>& points) {
  const auto problem = [](const ResultPoint& point) { return point.variant.substr(0, point.variant.find('/') + 1); };
  if (points.empty() || problem(points.front()).empty()) return;
  const std::string common = problem(points.front());
  if (!std::ranges::all_of(points, [&](const ResultPoint& point) { return point.label.starts_with(common); })) return;
  for (ResultPoint& point : points) point.label.erase(0, common.size());
}

}  // namespace

std::vector<NamedResults> read_all_results(const std::vector<std::string>& paths) {
  std::vector<NamedResults> files;
  std::error_code ignored;
  for (const std::string& path : paths) {
    for (const NamedResults& other : files)
      if (other.path == path || std::filesystem::equivalent(other.path, path, ignored))
        throw Error(ExitCode::usage, path + ": is given twice");
    files.push_back({path, read_results(path)});
    if (files.back().results.points.empty()) throw Error(ExitCode::usage, path + ": has no points");
  }
  return files;
}

DeviceMatch device_of(const NamedResults& file) {
  const DeviceRecord& device = file.results.device;
  for (const std::string* name : {&device.id, &device.name})
    for (const DeviceSpec& spec : devices())
      if (!name->empty() && (spec.id == *name || spec.name == *name))
        return {spec, "the roof that " + file.path + " was made with; --device chooses another"};
  throw Error(ExitCode::usage, file.path + ": its device '" + device.name +
                                   "' is none of this build; name the roof with --device NAME or --device FILE");
}

bool is_what_if(const ResultFile& results, const DeviceSpec& roof) {
  if (results.plan.backend != "cuda") return false;
  const std::string gpu = environment_value(results.environment, "gpu");
  const auto differs = [&](const DeviceSpec& ran) { return ran.id != roof.id && ran.name != roof.name; };
  try {
    const DeviceMatch ran = find_device(gpu);
    // A name that several SKUs share speaks for all of them.
    return differs(ran.spec) && !(!ran.note.empty() && ran.spec.family == roof.family);
  } catch (const Error&) {
    // Not in the list: then the file was made with ceilings of its own, or with a roof that was asked for.
    return results.device.name != roof.name;
  }
}

RooflineResults roofline_results(const std::vector<NamedResults>& files, const DeviceSpec& roof,
                                 const Ceilings& ceilings, const std::string& precision) {
  RooflineResults placed;
  const std::vector<std::string> labels = labels_of(files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    placed.sources.push_back(source_of(files[i], labels[i], roof));
    const auto by_problem = labels_by_problem(files[i].results);
    for (const PointRecord& record : files[i].results.points) {
      if (!reason_against(record.result).empty()) continue;
      placed.points.push_back({i, record.result.point.key(), record.result.point.variant,
                               by_problem.at(problem_of(record)).of(record),
                               analyze(with_time(record), roof, {precision, &ceilings})});
    }
  }
  drop_common_problem(placed.points);
  return placed;
}

}  // namespace gpuexp
