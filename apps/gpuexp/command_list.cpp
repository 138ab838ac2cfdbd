// gpuexp list: what there is to run, to set, to compare with and to count.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/gpuexp/commands.h"
#include "apps/gpuexp/output.h"
#include "profiler/backend/backend.h"
#include "profiler/core/embedded.h"
#include "profiler/core/error.h"
#include "profiler/core/nearest.h"
#include "profiler/core/text.h"
#include "profiler/counters/counters.h"
#include "profiler/device/device_spec.h"
#include "profiler/experiment/experiment.h"
#include "profiler/registry/registry.h"

namespace gpuexp::cli {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const ParamValue& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

std::string default_text(const ParamSpec& spec) {
  return spec.default_from.empty() ? to_text(spec.default_value) : "= " + spec.default_from;
}

// 1099511627776 as "2^40", 9223372036854775807 as "2^63-1": what nobody reads in digits.
std::string bound_text(std::int64_t bound) {
  for (int power = 16; power <= 63; ++power) {
    const std::uint64_t value = std::uint64_t{1} << power;
    if (bound >= 0 && static_cast<std::uint64_t>(bound) == value) return fmt::format("2^{}", power);
    if (bound >= 0 && static_cast<std::uint64_t>(bound) == value - 1) return fmt::format("2^{}-1", power);
  }
  return std::to_string(bound);
}

// "1, 2, 4" for compile-time values and words, "1..1048576" for ranges.
std::string accepted_text(const std::vector<ParamValue>& compiled, const ParamSpec& spec) {
  std::vector<std::string> names;
  for (const ParamValue& value : compiled) names.push_back(to_text(value));
  if (names.empty()) {
    for (const auto& [word, meaning] : spec.words) names.push_back(word);
  }
  if (!names.empty()) return list_names(names);
  if (!spec.default_from.empty() || std::holds_alternative<std::int64_t>(spec.default_value)) {
    return fmt::format("{}..{}", bound_text(spec.min), bound_text(spec.max));
  }
  return std::holds_alternative<double>(spec.default_value) ? "number" : "word";
}

Json parameter_json(const Variant& variant, const ParamSpec& spec) {
  Json json = {{"name", spec.name}, {"meaning", spec.meaning}};
  if (spec.default_from.empty()) {
    json["default"] = to_json(spec.default_value);
  } else {
    json["default_from"] = spec.default_from;
  }
  const std::vector<ParamValue> compiled = variant.compiled_values(spec.name);
  json["compile_time"] = !compiled.empty();
  if (!compiled.empty()) {
    for (const ParamValue& value : compiled) json["values"].push_back(to_json(value));
  } else if (!spec.words.empty()) {
    for (const auto& [word, meaning] : spec.words) json["values"].push_back(word);
  } else if (!spec.default_from.empty() || std::holds_alternative<std::int64_t>(spec.default_value)) {
    json["min"] = spec.min;
    json["max"] = spec.max;
  }
  return json;
}

Json variant_json(const Variant& variant) {
  Json json = {{"name", variant.name},
               {"problem", variant.problem},
               {"idea", variant.idea},
               {"aliases", variant.aliases},
               {"cuda_only", variant.cuda_only.empty() ? Json() : Json(variant.cuda_only)},
               {"broken_on_purpose", variant.broken.empty() ? Json() : Json(variant.broken)},
               {"source_file", variant.source_file},
               {"parameters", Json::array()}};
  for (const ParamSpec& spec : params_of(variant)) json["parameters"].push_back(parameter_json(variant, spec));
  return json;
}

std::string variant_remarks(const Variant& variant) {
  std::string text = variant.idea;
  if (!variant.aliases.empty()) text += fmt::format(" (also {})", list_names(variant.aliases));
  if (!variant.broken.empty()) text += fmt::format(" [broken on purpose: {}]", variant.broken);
  if (!variant.cuda_only.empty()) text += fmt::format(" [cuda only: {}]", variant.cuda_only);
  return text;
}

void list_variants(bool json) {
  if (json) {
    Json all = Json::array();
    for (const Variant& variant : variants()) all.push_back(variant_json(variant));
    print(all.dump(2) + "\n");
    return;
  }
  Table table{{"VARIANT", "PARAMETERS", "IDEA"}, {}};
  for (const Variant& variant : variants()) {
    std::string own;
    for (const ParamSpec& spec : variant.params) own += (own.empty() ? "" : " ") + spec.name;
    table.rows.push_back({variant.name, own, variant_remarks(variant)});
  }
  print(table.text());
  print("\nEvery variant also takes the parameters of its problem: see 'gpuexp list parameters'.\n");
}

void list_parameters(bool json, const std::string& glob) {
  const std::vector<const Variant*> chosen = match_variants(glob);
  if (json) {
    Json all = Json::array();
    for (const Variant* variant : chosen) {
      const Json entry = variant_json(*variant);
      all.push_back({{"variant", entry["name"]}, {"parameters", entry["parameters"]}});
    }
    print(all.dump(2) + "\n");
    return;
  }
  Table table{{"  PARAMETER", "DEFAULT", "ACCEPTED", "MEANING"}, {}};
  for (const Variant* variant : chosen) {
    table.rows.push_back({variant->name});
    for (const ParamSpec& spec : params_of(*variant)) {
      table.rows.push_back({"  " + spec.name, default_text(spec),
                            accepted_text(variant->compiled_values(spec.name), spec), spec.meaning});
    }
  }
  print(table.text());
}

std::string scaled(std::optional<double> value, double unit) {
  return value ? fmt::format("{:.4g}", *value / unit) : "-";
}

Json device_json(const DeviceSpec& device) {
  Json json = {{"id", device.id},
               {"name", device.name},
               {"aliases", device.aliases},
               {"chip", device.chip},
               {"compute_capability", device.compute_capability},
               {"sm_count", device.sm_count},
               {"memory_bytes", device.memory.bytes},
               {"memory_bandwidth_bytes_per_s", device.memory.bandwidth},
               {"l2_bytes", device.l2_bytes},
               {"peaks_flops", Json::object()},
               {"provenance", Json::object()}};
  for (const auto& [precision, peak] : device.peaks) json["peaks_flops"][precision] = peak;
  for (const auto& [path, provenance] : device.provenance) {
    json["provenance"][path] = {{"evidence", to_text(provenance.evidence)}, {"source", provenance.source}};
  }
  return json;
}

void list_devices(bool json) {
  if (json) {
    Json all = Json::array();
    for (const DeviceSpec& device : devices()) all.push_back(device_json(device));
    print(all.dump(2) + "\n");
    return;
  }
  Table table{{"DEVICE", "CHIP", "SM", "GB", "GB/s", "FP32 TFLOP/s", "NAME"}, {}};
  for (const DeviceSpec& device : devices()) {
    table.rows.push_back({device.id, device.chip, std::to_string(device.sm_count), scaled(device.memory.bytes, 1e9),
                          scaled(device.memory.bandwidth, 1e9), scaled(device.peak("fp32"), 1e12), device.name});
  }
  print(table.text());
  print("\nValues of datasheets (spec); 'gpuexp list devices --format json' gives the source of each.\n");
}

std::string counter_sources(const Counter& counter) {
  if (counter.simt && !counter.perfworks.empty()) return "simt cuda";
  return counter.simt ? "simt" : counter.perfworks.empty() ? "-" : "cuda";
}

void list_counters(bool json) {
  if (json) {
    Json all = Json::array();
    for (const Counter& counter : counter_table()) {
      Json metrics = Json::object();
      for (const PerfworksName& row : counter.perfworks) {
        metrics[std::string(row.chip)] = row.metric.empty() ? Json() : Json(row.metric);
      }
      all.push_back({{"id", counter.id},
                     {"group", counter.group},
                     {"unit", counter.unit},
                     {"meaning", counter.meaning},
                     {"emulated", counter.simt != nullptr},
                     {"perfworks", metrics}});
    }
    print(all.dump(2) + "\n");
    return;
  }
  Table table{{"COUNTER", "GROUP", "UNIT", "BACKEND", "MEANING"}, {}};
  for (const Counter& counter : counter_table()) {
    table.rows.push_back({std::string(counter.id), std::string(counter.group), std::string(counter.unit),
                          counter_sources(counter), std::string(counter.meaning)});
  }
  print(table.text());
}

// The backend whose tables know hardware counters.
const Backend& counting_backend(const std::vector<std::unique_ptr<Backend>>& backends) {
  const auto at = std::ranges::find_if(backends, [](const auto& one) { return one->name() == "cuda"; });
  return at != backends.end() ? **at : *backends.front();
}

// Fails for a chip that CUPTI does not know, when there is a CUPTI to ask.
CounterPlan plan_for(const Backend& backend, const std::string& chip) {
  const std::vector<std::string> known = backend.counter_chips();
  if (!known.empty() && std::ranges::find(known, chip) == known.end()) {
    throw Error(ExitCode::usage, fmt::format("--chip {}: no such chip; accepted: {}{}", chip, list_names(known),
                                             did_you_mean(chip, known)));
  }
  return backend.plan_counters(chip, {});
}

Json plan_json(const CounterPlan& plan) {
  Json json = {{"chip", plan.chip},
               {"passes", plan.reason.empty() ? Json(plan.passes) : Json()},
               {"reason", plan.reason},
               {"counters", Json::array()}};
  for (const CounterPlan::Entry& entry : plan.entries)
    json["counters"].push_back({{"id", entry.counter}, {"metric", entry.metric}, {"refusal", entry.refusal}});
  return json;
}

void list_counters_of_chip(bool json, const std::string& chip) {
  const auto backends = make_backends();
  const CounterPlan plan = plan_for(counting_backend(backends), chip);
  if (json) {
    print(plan_json(plan).dump(2) + "\n");
    return;
  }
  Table table{{"COUNTER", "GROUP", "METRIC ON " + chip}, {}};
  for (const CounterPlan::Entry& entry : plan.entries) {
    const Counter* counter = find_counter(entry.counter);
    table.rows.push_back({entry.counter, counter != nullptr ? std::string(counter->group) : "",
                          entry.refusal.empty() ? entry.metric : entry.refusal});
  }
  print(table.text());
  print(plan.reason.empty()
            ? fmt::format("\nAll {} together take {} passes over a point, as CUPTI plans them for {}.\n",
                          plan.entries.size(), plan.passes, chip)
            : fmt::format("\nNot checked, number of passes not known: {}\n", plan.reason));
}

void list_experiments(bool json) {
  Json all = Json::array();
  Table table{{"EXPERIMENT", "POINTS", "DESCRIPTION"}, {}};
  for (const EmbeddedFile& file : embedded_experiments()) {
    const Plan plan = make_plan(load_experiment(file.name));
    all.push_back({{"name", file.name}, {"points", plan.points.size()}, {"description", plan.experiment.description}});
    table.rows.push_back({std::string(file.name), std::to_string(plan.points.size()), plan.experiment.description});
  }
  print(json ? all.dump(2) + "\n" : table.text());
}

// `gpuexp list <name>`, with --format.
CLI::App* add_listing(CLI::App& list, const char* name, const char* description, const std::string& examples,
                      std::function<void(bool json)> print_list) {
  CLI::App* command = list.add_subcommand(name, description);
  command->footer("Examples:\n" + examples);
  const auto format = std::make_shared<std::string>("table");
  command->add_option("--format", *format, "table or json")->type_name("FORMAT")->capture_default_str();
  command->callback([format, print_list = std::move(print_list)] {
    require_one_of("--format", *format, {"table", "json"});
    print_list(*format == "json");
  });
  return command;
}

}  // namespace

void add_list(CLI::App& app, int& /*exit_code*/) {
  CLI::App* list = app.add_subcommand("list", "Variants, parameters, devices, counters, experiments");
  list->require_subcommand(1);
  list->footer(
      "Examples:\n  gpuexp list variants\n  gpuexp list parameters --variant 'matmul/*'\n"
      "  gpuexp list devices --format json\n  gpuexp list counters --chip GA100");
  add_listing(*list, "variants", "Implementations of problems, each with its idea",
              "  gpuexp list variants\n  gpuexp list variants --format json", list_variants);
  const auto glob = std::make_shared<std::string>("*");
  add_listing(*list, "parameters", "What each variant can be told, with defaults and accepted values",
              "  gpuexp list parameters\n  gpuexp list parameters --variant 'matmul/*'\n"
              "  gpuexp list parameters --variant transpose/naive --format json",
              [glob](bool json) { list_parameters(json, *glob); })
      ->add_option("--variant", *glob, "Only of these variants: a name or a glob")
      ->type_name("GLOB")
      ->capture_default_str();
  add_listing(*list, "devices", "Devices to compare with (--device)",
              "  gpuexp list devices\n  gpuexp list devices --format json    with the source of each value",
              list_devices);
  const auto chip = std::make_shared<std::string>();
  add_listing(*list, "counters", "Counters, their units and which backend has them",
              "  gpuexp list counters\n  gpuexp list counters --chip GA100    metric names there, and how many passes",
              [chip](bool json) { chip->empty() ? list_counters(json) : list_counters_of_chip(json, *chip); })
      ->add_option("--chip", *chip, "Metric names on this chip (GA100, GH100, ...) and their passes; needs no GPU")
      ->type_name("CHIP");
  add_listing(*list, "experiments", "Experiments shipped with gpuexp",
              "  gpuexp list experiments\n  gpuexp list experiments --format json", list_experiments);
}

}  // namespace gpuexp::cli
