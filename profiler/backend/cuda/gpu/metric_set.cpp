// Validation, programming image and evaluation through CUPTI's host interface.
#include "profiler/backend/cuda/gpu/metric_set.h"

#include <fmt/format.h>

#include <utility>

#include "profiler/backend/cuda/gpu_part.h"

namespace gpuexp::cuda {
namespace {

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
  // Each name in a host object of its own: after it has refused one name, an object answers wrongly for all others.
  for (const std::string& metric : metrics_) {
    const Host probe = open_host();
    const char* name = metric.c_str();
    const bool accepted = add_metrics(probe.get(), &name, 1) == CUPTI_SUCCESS;
    refusals_.push_back(accepted ? "" : fmt::format("{} has no metric {}", chip_, metric));
    if (accepted) names_.push_back(name);
  }
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
  std::map<std::string, double> values;
  for (std::size_t i = 0; i < names.size(); ++i) values.emplace(names[i], numbers[i]);
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
