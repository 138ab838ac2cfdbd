// Validation, programming image and evaluation through CUPTI's host interface.
#include "profiler/backend/cuda/gpu/metric_set.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <utility>

#include "profiler/backend/cuda/gpu_part.h"

namespace gpuexp::cuda {
namespace {

constexpr std::string_view kDivided = " / ";

CUptiResult add_metrics(CUpti_Profiler_Host_Object* host, const char** names, std::size_t count) {
  CUpti_Profiler_Host_ConfigAddMetrics_Params params{};
  params.structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE;
  params.pHostObject = host;
  params.ppMetricNames = names;
  params.numMetrics = count;
  return cupti().host_config_add_metrics(&params);
}

std::vector<std::uint8_t> config_image(CUpti_Profiler_Host_Object* host) {
  CUpti_Profiler_Host_GetConfigImageSize_Params size{};
  size.structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE;
  size.pHostObject = host;
  check_cupti(cupti().host_get_config_image_size(&size), "cuptiProfilerHostGetConfigImageSize");
  std::vector<std::uint8_t> image(size.configImageSize);
  CUpti_Profiler_Host_GetConfigImage_Params get{};
  get.structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE;
  get.pHostObject = host;
  get.configImageSize = image.size();
  get.pConfigImage = image.data();
  check_cupti(cupti().host_get_config_image(&get), "cuptiProfilerHostGetConfigImage");
  return image;
}

std::size_t passes_of(std::vector<std::uint8_t>& config) {
  CUpti_Profiler_Host_GetNumOfPasses_Params params{};
  params.structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE;
  params.configImageSize = config.size();
  params.pConfigImage = config.data();
  check_cupti(cupti().host_get_num_of_passes(&params), "cuptiProfilerHostGetNumOfPasses");
  return params.numOfPasses;
}

// "A / B" as A and B, any other name as itself.
std::vector<std::string> parts_of(const std::string& metric) {
  const std::size_t divided = metric.find(kDivided);
  if (divided == std::string::npos) return {metric};
  return {metric.substr(0, divided), metric.substr(divided + kDivided.size())};
}

}  // namespace

void MetricSet::CloseHost::operator()(CUpti_Profiler_Host_Object* host) const {
  CUpti_Profiler_Host_Deinitialize_Params params{};
  params.structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE;
  params.pHostObject = host;
  cupti().host_deinitialize(&params);
}

MetricSet::Host MetricSet::open_host() const {
  CUpti_Profiler_Host_Initialize_Params params{};
  params.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE;
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip_.c_str();
  params.pCounterAvailabilityImage = availability_.empty() ? nullptr : availability_.data();
  check_cupti(cupti().host_initialize(&params), "cuptiProfilerHostInitialize");
  return Host(params.pHostObject);
}

MetricSet::MetricSet(std::string chip, const std::vector<std::string>& metrics, std::vector<std::uint8_t> availability)
    : chip_(std::move(chip)), availability_(std::move(availability)), metrics_(metrics) {
  for (const std::string& metric : metrics_) {
    std::string& refusal = refusals_.emplace_back();
    const std::vector<std::string> parts = parts_of(metric);
    for (const std::string& part : parts) {
      if (counted_.contains(part)) continue;
      // Each name in a host object of its own: after it has refused one, an object answers wrongly for all others.
      const Host probe = open_host();
      const char* name = part.c_str();
      if (add_metrics(probe.get(), &name, 1) != CUPTI_SUCCESS)
        refusal = fmt::format("{} has no metric {}", chip_, part);
    }
    if (refusal.empty()) counted_.insert(parts.begin(), parts.end());
  }
  for (const std::string& name : counted_) names_.push_back(name.c_str());
  host_ = open_host();
  if (names_.empty()) return;
  check_cupti(add_metrics(host_.get(), names_.data(), names_.size()), "cuptiProfilerHostConfigAddMetrics");
  config_ = config_image(host_.get());
  passes_ = passes_of(config_);
}

std::map<std::string, double> MetricSet::values(std::span<const std::uint8_t> counter_image) const {
  std::vector<double> numbers(names_.size());
  std::vector<const char*> names = names_;
  CUpti_Profiler_Host_EvaluateToGpuValues_Params params{};
  params.structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE;
  params.pHostObject = host_.get();
  params.pCounterDataImage = counter_image.data();
  params.counterDataImageSize = counter_image.size();
  params.rangeIndex = 0;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  params.pMetricValues = numbers.data();
  check_cupti(cupti().host_evaluate(&params), "cuptiProfilerHostEvaluateToGpuValues");
  const auto counted = [&](const std::string& name) {
    return numbers[static_cast<std::size_t>(std::distance(counted_.begin(), counted_.find(name)))];
  };
  std::map<std::string, double> values;
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (!refusals_[i].empty()) continue;
    const std::vector<std::string> parts = parts_of(metrics_[i]);
    values.emplace(metrics_[i], parts.size() == 1 ? counted(parts[0]) : counted(parts[0]) / counted(parts[1]));
  }
  return values;
}

std::vector<std::string> metric_chips() {
  if (!cupti().problem.empty()) return {};
  CUpti_Profiler_Host_GetSupportedChips_Params params{};
  params.structSize = CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE;
  if (cupti().host_get_supported_chips(&params) != CUPTI_SUCCESS) return {};
  return {params.ppChipNames, params.ppChipNames + params.numChips};
}

MetricPlan plan_metrics(const std::string& chip, const std::vector<std::string>& metrics) {
  MetricPlan plan;
  if (!cupti().problem.empty()) {
    plan.reason = cupti().problem;
    return plan;
  }
  try {
    const MetricSet set(chip, metrics);
    plan.refusals = set.refusals();
    plan.passes = static_cast<int>(set.passes());
  } catch (const CuptiFailure& failure) {
    plan.reason = failure.what();
  }
  return plan;
}

}  // namespace gpuexp::cuda
