// Reads experiment files: one table of keys per object, strict types and ranges, errors with the JSON path.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "profiler/core/embedded.h"
#include "profiler/core/error.h"
#include "profiler/core/nearest.h"
#include "profiler/core/read_file.h"
#include "profiler/core/text.h"
#include "profiler/counters/counters.h"
#include "profiler/experiment/experiment.h"
#include "profiler/experiment/json_tree.h"
#include "profiler/registry/registry.h"

namespace gpuexp {
namespace {

// A value of the file with its place: typed access that throws an error naming both.
class Node {
 public:
  Node(const JsonValue& value, std::string path, const std::string& source)
      : value_(value), path_(std::move(path)), source_(source) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& source() const { return source_; }
  [[nodiscard]] JsonValue::Kind kind() const { return value_.kind; }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::usage, fmt::format("{}: {}: {}", source_, path_, what));
  }
  [[noreturn]] void expected(std::string_view wanted) const {
    fail(fmt::format("expected {}, not {}", wanted, describe(value_)));
  }

  [[nodiscard]] const std::string& text(std::string_view wanted) const {
    if (value_.kind != JsonValue::Kind::string || value_.text.empty()) expected(wanted);
    for (const char c : value_.text) {
      if (static_cast<unsigned char>(c) < 0x20) fail("control characters are not allowed here");
    }
    return value_.text;
  }
  [[nodiscard]] bool boolean(std::string_view wanted) const {
    if (value_.kind != JsonValue::Kind::boolean) expected(wanted);
    return value_.boolean;
  }
  [[nodiscard]] std::int64_t integer(std::int64_t min, std::int64_t max, std::string_view wanted) const {
    if (value_.kind != JsonValue::Kind::integer || value_.integer < min || value_.integer > max) expected(wanted);
    return value_.integer;
  }
  [[nodiscard]] std::uint64_t natural(std::string_view wanted) const {
    if (value_.kind == JsonValue::Kind::big_integer) return value_.big_integer;
    return static_cast<std::uint64_t>(integer(0, INT64_MAX, wanted));
  }
  // Above `min` (exclusive), at most `max`.
  [[nodiscard]] double real(double min, double max, std::string_view wanted) const {
    double number = NAN;
    if (value_.kind == JsonValue::Kind::integer) number = static_cast<double>(value_.integer);
    if (value_.kind == JsonValue::Kind::real) number = value_.real;
    if (!(number > min && number <= max)) expected(wanted);
    return number;
  }
  [[nodiscard]] std::vector<Node> items(std::string_view wanted) const {
    if (value_.kind != JsonValue::Kind::array || value_.items.empty()) expected(wanted);
    std::vector<Node> nodes;
    for (const JsonValue& item : value_.items) nodes.emplace_back(item, json_path(path_, nodes.size()), source_);
    return nodes;
  }
  [[nodiscard]] std::vector<std::pair<std::string, Node>> members(std::string_view wanted) const {
    if (value_.kind != JsonValue::Kind::object || value_.members.empty()) expected(wanted);
    std::vector<std::pair<std::string, Node>> nodes;
    for (const auto& [key, value] : value_.members)
      nodes.emplace_back(key, Node(value, json_path(path_, key), source_));
    return nodes;
  }

  // A value of a parameter.
  [[nodiscard]] ParamValue param() const {
    switch (value_.kind) {
      case JsonValue::Kind::integer:
        return value_.integer;
      case JsonValue::Kind::real:
        return value_.real;
      case JsonValue::Kind::string:
        return text("a number or a word");
      default:
        expected("a number (up to 2^63 - 1) or a word");
    }
  }

 private:
  const JsonValue& value_;
  std::string path_;
  const std::string& source_;
};

// One key of an object: what it accepts, and how it is read into the object's record.
template <class Record>
struct Key {
  std::string_view name;
  std::string_view accepts;
  bool required;
  void (*read)(Record&, const Node&, std::string_view accepts);
};

template <class Record, std::size_t count>
void read_object(Record& record, const Node& node, std::string_view object, const Key<Record> (&keys)[count]) {
  std::vector<std::string> names;
  for (const Key<Record>& key : keys) names.emplace_back(key.name);
  std::vector<std::string_view> seen;
  for (const auto& [name, value] : node.members(fmt::format("an object with the keys {}", list_names(names)))) {
    const auto* key =
        std::find_if(std::begin(keys), std::end(keys), [&wanted = name](const auto& k) { return k.name == wanted; });
    if (key == std::end(keys)) {
      value.fail(
          fmt::format("unknown key in {}; accepted: {}{}", object, list_names(names), did_you_mean(name, names)));
    }
    key->read(record, value, key->accepts);
    seen.push_back(key->name);
  }
  for (const Key<Record>& key : keys) {
    if (key.required && std::find(seen.begin(), seen.end(), key.name) == seen.end()) {
      node.fail(fmt::format("\"{}\" is missing: {}", key.name, key.accepts));
    }
  }
}

// ---- "measure" ----

constexpr Key<Measure> measure_keys[] = {
    {"cold_l2", "true or false: whether the L2 cache is flushed before each sample", false,
     [](Measure& m, const Node& n, std::string_view accepts) { m.cold_l2 = n.boolean(accepts); }},
    {"max_noise", "a relative noise above 0, at most 1, at which sampling stops", false,
     [](Measure& m, const Node& n, std::string_view accepts) { m.max_noise = n.real(0, 1, accepts); }},
    {"max_time_s", "seconds above 0, at most 3600, after which sampling stops", false,
     [](Measure& m, const Node& n, std::string_view accepts) { m.max_time_s = n.real(0, 3600, accepts); }},
    {"min_samples", "an integer from 1 to 1000000", false,
     [](Measure& m, const Node& n, std::string_view accepts) {
       m.min_samples = static_cast<int>(n.integer(1, 1'000'000, accepts));
     }},
};

// ---- one entry of "experiments" ----

constexpr std::string_view values_accepted = "a list of one or more values (numbers or words)";

Axis read_axis(const std::string& name, const Node& node) {
  Axis axis;
  axis.name = name;
  axis.place = node.path();
  for (const Node& item : node.items(values_accepted)) axis.values.push_back(item.param());
  return axis;
}

void refuse_named_twice(const Sweep& sweep, const std::string& name, const Node& node) {
  for (const std::vector<Axis>& group : sweep.groups) {
    for (const Axis& axis : group) {
      if (axis.name == name) node.fail(fmt::format("{} is an axis already, at {}", name, axis.place));
    }
  }
}

void read_axes(Sweep& sweep, const Node& node, std::string_view accepts) {
  for (const auto& [name, values] : node.members(accepts)) {
    refuse_named_twice(sweep, name, values);
    sweep.groups.push_back({read_axis(name, values)});
  }
}

void read_zip(Sweep& sweep, const Node& node, std::string_view accepts) {
  std::vector<Axis> group;
  for (const auto& [name, values] : node.members(accepts)) {
    refuse_named_twice(sweep, name, values);
    group.push_back(read_axis(name, values));
    if (group.back().values.size() != group.front().values.size()) {
      values.fail(fmt::format("{} value{}, but {} has {}; axes of a zip advance together and must be equally long",
                              group.back().values.size(), group.back().values.size() == 1 ? "" : "s",
                              group.front().name, group.front().values.size()));
    }
  }
  sweep.groups.push_back(std::move(group));
}

void read_variant(Sweep& sweep, const Node& node, std::string_view accepts) {
  if (node.kind() == JsonValue::Kind::string) {
    sweep.variants.push_back(node.text(accepts));
    return;
  }
  sweep.variant_is_list = true;
  for (const Node& item : node.items(accepts)) sweep.variants.push_back(item.text("the name of a variant or a glob"));
}

void read_exclude(Sweep& sweep, const Node& node, std::string_view accepts) {
  for (const Node& item : node.items(accepts)) {
    Exclusion exclusion;
    exclusion.place = item.path();
    for (const auto& [name, value] : item.members("an object of parameters to match, {\"TILE\": 32}")) {
      if (name == "variant") {
        exclusion.variant = value.text("the name of a variant or a glob");
      } else if (value.kind() == JsonValue::Kind::array) {
        exclusion.match.push_back(read_axis(name, value));
      } else {
        exclusion.match.push_back({name, {value.param()}, value.path()});
      }
    }
    sweep.exclusions.push_back(std::move(exclusion));
  }
}

constexpr Key<Sweep> sweep_keys[] = {
    {"variant", "the name of a variant, a glob (\"matmul/*\"), or a list of them", true, read_variant},
    {"axes", "an object of lists, {\"TILE\": [8, 16]}: every combination is run", false, read_axes},
    {"zip", "an object of equally long lists, {\"m\": [1, 2], \"n\": [3, 4]}: they advance together", false, read_zip},
    {"exclude", "a list of objects, [{\"TILE\": 32, \"dtype\": \"float16\"}]: points that match one are left out",
     false, read_exclude},
};

// ---- the file ----

// The name is part of file names and must be safe there on every system.
bool is_file_name(std::string_view name) {
  const auto letter_or_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && name.size() <= 100 && letter_or_digit(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return letter_or_digit(c) || c == '_' || c == '-' || c == '.'; });
}

void read_name(Experiment& experiment, const Node& node, std::string_view accepts) {
  experiment.name = node.text(accepts);
  if (!is_file_name(experiment.name)) node.expected(accepts);
}

void read_backend(Experiment& experiment, const Node& node, std::string_view accepts) {
  const std::vector<std::string> names = {"auto", "cuda", "simt"};
  experiment.backend = node.text(accepts);
  if (std::find(names.begin(), names.end(), experiment.backend) == names.end()) {
    node.fail(fmt::format("unknown backend '{}'; accepted: {}{}", experiment.backend, list_names(names),
                          did_you_mean(experiment.backend, names)));
  }
}

void read_sweeps(Experiment& experiment, const Node& node, std::string_view accepts) {
  for (const Node& item : node.items(accepts)) {
    Sweep sweep;
    sweep.place = item.path();
    read_object(sweep, item, "an entry of \"experiments\"", sweep_keys);
    experiment.sweeps.push_back(std::move(sweep));
  }
}

// Ids and groups of the counter table, and raw Perfworks names ("sm__cycles_active.avg"), which only a GPU can check.
void read_counters(Experiment& experiment, const Node& node, std::string_view accepts) {
  std::vector<std::string> names;
  for (const Counter& counter : counter_table()) {
    names.emplace_back(counter.id);
    if (std::find(names.begin(), names.end(), counter.group) == names.end()) names.emplace_back(counter.group);
  }
  for (const Node& item : node.items(accepts)) {
    const std::string& name = item.text("the name of a counter or of a group of counters");
    const bool raw = name.find("__") != std::string::npos && name.find('.') != std::string::npos;
    if (!raw && std::find(names.begin(), names.end(), name) == names.end()) {
      item.fail(
          fmt::format("unknown counter '{}'{}; 'gpuexp list counters' shows ids and groups, and a raw Perfworks "
                      "name looks like sm__cycles_active.avg",
                      name, did_you_mean(name, names)));
    }
    experiment.counters.push_back(name);
  }
}

constexpr Key<Experiment> experiment_file_keys[] = {
    {"$schema", "the address of the JSON Schema, for editors", false,
     [](Experiment&, const Node& n, std::string_view accepts) { static_cast<void>(n.text(accepts)); }},
    {"name", "a name of at most 100 letters, digits, '_', '-' and '.', for the result files", true, read_name},
    {"description", "what the experiment is for, in a sentence", false,
     [](Experiment& e, const Node& n, std::string_view accepts) { e.description = n.text(accepts); }},
    {"device", "the name of a device to compare with, a path to a device file, or \"auto\"", false,
     [](Experiment& e, const Node& n, std::string_view accepts) { e.device = n.text(accepts); }},
    {"backend", "\"auto\", \"cuda\" or \"simt\"", false, read_backend},
    {"experiments", "a list of one or more objects {\"variant\": ..., \"axes\": {...}}", true, read_sweeps},
    {"measure", "an object of settings of timing", false,
     [](Experiment& e, const Node& n, std::string_view) { read_object(e.measure, n, "\"measure\"", measure_keys); }},
    {"counters", "a list of counters, groups of counters or raw Perfworks names", false, read_counters},
    {"seed", "an integer from 0 to 2^64 - 1", false,
     [](Experiment& e, const Node& n, std::string_view accepts) { e.seed = n.natural(accepts); }},
    {"output", "the directory of the results", false,
     [](Experiment& e, const Node& n, std::string_view accepts) { e.output = n.text(accepts); }},
};

std::string read_experiment(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored) && find_variant(path) != nullptr)
    throw Error(ExitCode::usage, fmt::format("{0} is a variant, and `run` takes experiments: write one with "
                                             "{{\"variant\": \"{0}\"}}, or see `gpuexp list experiments`",
                                             path));
  return read_file(path, {max_json_bytes, max_json_bytes}, "; name an experiment file");
}

template <class Record, std::size_t count>
void append_keys(std::vector<ExperimentKey>& rows, std::string_view object, const Key<Record> (&keys)[count]) {
  for (const Key<Record>& key : keys) rows.push_back({object, key.name, key.accepts});
}

}  // namespace

std::vector<ExperimentKey> experiment_keys() {
  std::vector<ExperimentKey> rows;
  append_keys(rows, "experiment", experiment_file_keys);
  append_keys(rows, "sweep", sweep_keys);
  append_keys(rows, "measure", measure_keys);
  return rows;
}

Experiment parse_experiment(std::string_view text, std::string source) {
  Experiment experiment;
  experiment.source = std::move(source);
  experiment.text = without_bom(text);
  const JsonValue root = parse_json(text, experiment.source);
  read_object(experiment, Node(root, "/", experiment.source), "an experiment", experiment_file_keys);
  return experiment;
}

Experiment load_experiment(std::string_view path_or_name) {
  const std::string path(path_or_name);
  std::error_code ignored;
  const bool is_path = path.find('/') != std::string::npos || path_or_name.ends_with(".json") ||
                       std::filesystem::is_regular_file(path, ignored);
  if (is_path && (path.find('/') != std::string::npos || std::filesystem::exists(path, ignored))) {
    return parse_experiment(read_experiment(path), path);
  }
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_experiments()) {
    if (!is_path && file.name == path_or_name) {
      return parse_experiment(file.text, fmt::format("{} (shipped)", file.name));
    }
    names.emplace_back(file.name);
  }
  if (is_path) {
    const std::string stem = std::filesystem::path(path).stem().string();
    const bool shipped = std::find(names.begin(), names.end(), stem) != names.end();
    throw Error(ExitCode::usage, fmt::format("{}: no such file{}", path,
                                             shipped ? fmt::format("; '{}' without .json is shipped with gpuexp", stem)
                                                     : did_you_mean(stem, names)));
  }
  throw Error(ExitCode::usage, fmt::format("'{}' is neither a file nor a shipped experiment; shipped: {}{}", path,
                                           list_names(names), did_you_mean(path, names)));
}

}  // namespace gpuexp
