// Resolves counter names against the counter table.
#include "profiler/backend/cuda/counter_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "profiler/core/error.h"
#include "profiler/core/nearest.h"
#include "profiler/counters/counters.h"
#include "profiler/registry/registry.h"

namespace gpuexp::cuda {
namespace {

bool counted_by_gpu(const Counter& counter) { return !counter.perfworks.empty(); }

CounterPlan::Entry entry_of(const Counter& counter, std::string_view chip) {
  const std::optional<std::string_view> metric = counter.metric_on(chip);
  CounterPlan::Entry entry{std::string(counter.id), std::string(metric.value_or("")), {}};
  if (entry.metric.empty()) {
    entry.refusal = counted_by_gpu(counter) ? fmt::format("{} has no hardware counter for this", chip)
                                            : "no hardware counter exists for this; the emulator counts it";
  }
  return entry;
}

std::vector<std::string> accepted_names() {
  std::set<std::string> names;
  for (const Counter& counter : counter_table()) {
    names.emplace(counter.id);
    names.emplace(counter.group);
  }
  return {names.begin(), names.end()};
}

// The rows that a name means: one counter, or all counters of a group.
std::vector<const Counter*> rows_of(std::string_view name) {
  if (const Counter* counter = find_counter(name)) return {counter};
  std::vector<const Counter*> rows;
  for (const Counter& counter : counter_table())
    if (counter.group == name && counted_by_gpu(counter)) rows.push_back(&counter);
  return rows;
}

}  // namespace

bool looks_like_metric(std::string_view name) {
  const std::size_t unit = name.find("__"), dot = name.find('.');
  const bool parts = unit != std::string_view::npos && unit > 0 && dot != std::string_view::npos && dot > unit + 2 &&
                     dot + 1 < name.size();
  return parts && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
         });
}

std::vector<CounterPlan::Entry> resolve_counters(std::string_view chip, const std::vector<std::string>& counters) {
  std::set<std::string, std::less<>> wanted;
  std::vector<CounterPlan::Entry> raw;
  for (const std::string& name : counters) {
    const std::vector<const Counter*> rows = rows_of(name);
    for (const Counter* row : rows) wanted.emplace(row->id);
    if (!rows.empty()) continue;
    if (!looks_like_metric(name)) {
      throw Error(
          ExitCode::usage,
          fmt::format("unknown counter '{}': neither a counter or group (`gpuexp list counters` names them) nor "
                      "a Perfworks metric such as smsp__inst_executed.sum{}",
                      name, did_you_mean(name, accepted_names())));
    }
    const bool known = std::any_of(raw.begin(), raw.end(), [&](const auto& entry) { return entry.counter == name; });
    if (!known) raw.push_back({name, name, {}});
  }
  std::vector<CounterPlan::Entry> entries;
  for (const Counter& counter : counter_table()) {
    const bool by_default = counters.empty() && counter.metric_on(chip).has_value();
    if (by_default || wanted.contains(counter.id)) {
      entries.push_back(entry_of(counter, chip));
    }
  }
  entries.insert(entries.end(), raw.begin(), raw.end());
  return entries;
}

std::vector<std::string> default_counters(std::string_view chip, const Point& point) {
  const Variant* variant = find_variant(point.variant);
  const bool library = variant == nullptr || !variant->cuda_only.empty();
  const ParamValue* value = point.params.find("dtype");
  const std::string dtype = value != nullptr ? to_text(*value) : "float32";
  const auto wanted = [&](const Counter& counter) {
    if (counter.group == "tensor" || counter.group == "l2") return library;
    if (counter.id.starts_with("fp64")) return dtype == "float64";
    if (counter.id.starts_with("fp16")) return dtype == "float16" || dtype == "bfloat16";
    return counter.group != "clock" && !counter.id.starts_with("shared_atomic");
  };
  std::vector<std::string> ids;
  for (const Counter& counter : counter_table())
    if (counter.metric_on(chip) && wanted(counter)) ids.emplace_back(counter.id);
  return ids;
}

bool counts_whole(std::string_view metric) {
  return metric.ends_with(".sum") || metric.ends_with(".max") || metric.ends_with(".min");
}

}  // namespace gpuexp::cuda
