// The strict reader of device files: everything it does not know, or cannot believe, is an error with its JSON path.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "profiler/core/error.h"
#include "profiler/core/nearest.h"
#include "profiler/core/read_file.h"
#include "profiler/core/text.h"
#include "profiler/device/device_spec.h"
#include "profiler/device/name_words.h"

namespace gpuexp {
namespace {

using Json = nlohmann::json;

constexpr double mega = 1e6;
constexpr double giga = 1e9;
constexpr double tera = 1e12;

// Size and nesting beyond which a file is refused: no device comes near, and memory stays bounded.
constexpr std::size_t max_bytes = std::size_t{1} << 20;
constexpr int max_depth = 16;

// What is wrong with a text that is no JSON: "line 1, column 2: syntax error ...".
std::string syntax_problem(std::string_view text, std::string_view message) {
  if (text.empty()) return "it is empty";
  constexpr std::string_view mark = "parse error at ";  // nlohmann puts the id of its exception before it
  if (const auto at = message.find(mark); at != std::string_view::npos) message.remove_prefix(at + mark.size());
  std::string plain(message);
  for (char& c : plain)  // it quotes the file, which may hold anything
    if (c < ' ' || c > '~') c = '?';
  return plain;
}

// nlohmann keeps the last of two equal keys; a file that has both says two things, so it is refused.
Json parse_without_duplicates(std::string_view text, std::string_view place) {
  const auto refuse = [&](const std::string& problem) {
    throw Error(
        ExitCode::usage,
        fmt::format("{}: not a device file: {}; one looks like configs/devices/a100-pcie-80gb.json", place, problem));
  };
  if (text.size() > max_bytes) refuse(fmt::format("it has more than {} bytes", max_bytes));
  if (text.find('\0') != std::string_view::npos) refuse("it holds a zero byte");  // where the parser would end
  std::vector<std::set<std::string>> open_objects;
  std::string duplicate;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > max_depth) refuse(fmt::format("it is nested deeper than {} levels", max_depth));
    if (value.is_string() && holds_control(value.get_ref<const std::string&>()))
      refuse(fmt::format("the text '{}' holds a control character", value.get_ref<const std::string&>()));
    if (event == Json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == Json::parse_event_t::object_end) open_objects.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto& key = value.get_ref<const std::string&>();
      if (!open_objects.back().insert(key).second && duplicate.empty()) duplicate = key;
    }
    return true;
  };
  Json json;
  try {
    json = Json::parse(text, watch);
  } catch (const Json::exception& error) {
    refuse(syntax_problem(text, error.what()));
  }
  if (!duplicate.empty()) throw Error(ExitCode::usage, fmt::format("{}: key '{}' is given twice", place, duplicate));
  return json;
}

class Reader {
 public:
  Reader(const Json& root, std::string_view place) : root_(root), place_(place) {}

  DeviceSpec read() {
    check_keys(root_, "",
               {"$schema", "name", "family", "aliases", "chip", "compute_capability", "sources", "sm_count",
                "boost_clock_mhz", "tensor_clock_mhz", "memory", "l2_bytes", "sm", "peaks_tflops",
                "fma_per_sm_per_clock", "bytes_per_clock", "notes"});
    if (root_.contains("$schema")) text(root_, "", "$schema");
    spec_.name = name("name");
    spec_.family = root_.contains("family") ? name("family") : spec_.name;
    spec_.compute_capability = compute_capability();
    spec_.chip = chip();
    spec_.aliases = texts("aliases");
    spec_.notes = texts("notes");
    read_sources();
    spec_.sm_count = whole(root_, "", "sm_count", 1, 4096);
    spec_.boost_clock_hz = number(root_, "", "boost_clock_mhz", 1, 20'000) * mega;
    spec_.tensor_clock_hz = optional_number(root_, "", "tensor_clock_mhz", 1, 20'000, mega);
    spec_.l2_bytes = whole(root_, "", "l2_bytes", 0, std::numeric_limits<int>::max());
    read_memory();
    read_sm();
    read_rates();
    return std::move(spec_);
  }

 private:
  [[noreturn]] void fail(const std::string& path, const std::string& problem) const {
    throw Error(ExitCode::usage, fmt::format("{}: {}: {}", place_, path.empty() ? "the file" : path, problem));
  }

  static std::string join(const std::string& path, std::string_view key) {
    return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
  }

  template <class Names>
  void check_names(const Json& object, const std::string& path, const Names& names) const {
    if (!object.is_object()) fail(path, fmt::format("expected an object, not {}", object.type_name()));
    const std::vector<std::string> known(std::begin(names), std::end(names));
    for (const auto& [key, unused] : object.items())
      if (std::find(known.begin(), known.end(), key) == known.end())
        fail(join(path, key),
             fmt::format("unknown key; accepted are {}{}", list_names(known, 40), did_you_mean(key, known)));
  }
  void check_keys(const Json& object, const std::string& path, std::initializer_list<std::string_view> names) const {
    check_names(object, path, names);
  }

  const Json& member(const Json& object, const std::string& path, std::string_view key) const {
    const auto found = object.find(key);
    if (found == object.end()) fail(join(path, key), "missing");
    return *found;
  }

  std::string text(const Json& object, const std::string& path, std::string_view key) const {
    const Json& value = member(object, path, key);
    if (!value.is_string() || value.get_ref<const std::string&>().empty())
      fail(join(path, key), fmt::format("expected a text, not {}", value.dump()));
    return value.get<std::string>();
  }

  std::vector<std::string> texts(std::string_view key) const {
    std::vector<std::string> result;
    const auto found = root_.find(key);
    if (found == root_.end()) return result;
    if (!found->is_array()) fail(std::string(key), "expected a list of texts");
    for (std::size_t i = 0; i < found->size(); ++i) {
      if (!(*found)[i].is_string()) fail(fmt::format("{}[{}]", key, i), "expected a text");
      result.push_back((*found)[i].get<std::string>());
    }
    return result;
  }

  std::string compute_capability() const {
    const std::string value = text(root_, "", "compute_capability");
    const auto dot = value.find('.');
    const bool digits = value.find_first_not_of("0123456789.") == std::string::npos;
    if (!digits || dot == 0 || dot == std::string::npos || dot + 1 == value.size() || value.rfind('.') != dot)
      fail("compute_capability", fmt::format("expected MAJOR.MINOR such as \"8.0\", not \"{}\"", value));
    return value;
  }

  // A name is compared by its letters and digits.
  std::string name(std::string_view key) const {
    std::string value = text(root_, "", key);
    if (name_words(value).empty())
      fail(std::string(key), fmt::format("expected a name with letters or digits, not \"{}\"", value));
    return value;
  }

  // As NVIDIA and CUPTI name chips: two letters of the architecture, then digits ("GA100", "GA10B").
  std::string chip() const {
    const std::string value = text(root_, "", "chip");
    const auto letter = [](char c) { return c >= 'A' && c <= 'Z'; };
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    const bool formed = value.size() == 5 && letter(value[0]) && letter(value[1]) && digit(value[2]) &&
                        digit(value[3]) && (digit(value[4]) || letter(value[4]));
    if (!formed)
      fail("chip", fmt::format("expected the name of a chip such as \"GA100\" or \"GH100\", not \"{}\"", value));
    // Which compute capabilities an architecture has (CUDA C++ Programming Guide); later ones are taken as they come.
    struct Architecture {
      std::string_view letters;
      int first, last;  // major
    };
    static constexpr Architecture architectures[] = {{"GM", 5, 5}, {"GP", 6, 6}, {"GV", 7, 7}, {"TU", 7, 7},
                                                     {"GA", 8, 8}, {"AD", 8, 8}, {"GH", 9, 9}, {"GB", 10, 12}};
    const std::string& capability = spec_.compute_capability;
    int major = 0;
    std::from_chars(capability.data(), capability.data() + capability.find('.'), major);
    for (const Architecture& known : architectures)
      if (value.starts_with(known.letters) && (major < known.first || major > known.last))
        fail("chip", fmt::format("\"{}\" is no chip of compute capability {}", value, capability));
    return value;
  }

  void read_sources() {
    const auto found = root_.find("sources");
    if (found == root_.end()) return;
    if (!found->is_object()) fail("sources", "expected an object of short name -> source");
    for (const auto& [key, value] : found->items()) {
      if (!value.is_string()) fail(join("sources", key), "expected a text");
      sources_.emplace(key, value.get<std::string>());
    }
  }

  // "CG, OCC" -> the two sources in full.
  std::string full_source(const std::string& path, const std::string& keys) const {
    std::string full;
    for (std::size_t begin = 0; begin <= keys.size();) {
      const std::size_t comma = std::min(keys.find(", ", begin), keys.size());
      const std::string key = keys.substr(begin, comma - begin);
      const auto found = sources_.find(key);
      if (found == sources_.end()) {
        std::vector<std::string> known;
        for (const auto& [name, unused] : sources_) known.push_back(name);
        fail(join(path, "source"), fmt::format("'{}' is not under sources; there are {}{}", key, list_names(known),
                                               did_you_mean(key, known)));
      }
      full += (full.empty() ? "" : "; ") + found->second;
      begin = comma + 2;
    }
    return full;
  }

  // {"value": 108, "source": "A100WP", "kind": "datasheet", "note": "..."}: records where the value comes from.
  double number(const Json& object, const std::string& parent, std::string_view key, double min, double max) {
    const std::string path = join(parent, key);
    const Json& entry = member(object, parent, key);
    if (!entry.is_object())
      fail(path, fmt::format(R"(expected {{"value": NUMBER, "source": NAME, "kind": KIND}}, not {})", entry.dump()));
    check_keys(entry, path, {"value", "source", "kind", "note"});
    const Json& value = member(entry, path, "value");
    if (!value.is_number()) fail(join(path, "value"), fmt::format("expected a number, not {}", value.dump()));
    const auto result = value.get<double>();
    if (!(result >= min && result <= max))
      fail(join(path, "value"), fmt::format("{} is outside {}..{}", value.dump(), min, max));
    spec_.provenance.insert_or_assign(path, provenance(entry, path));
    return result;
  }

  Provenance provenance(const Json& entry, const std::string& path) const {
    Provenance result;
    const std::string kind = text(entry, path, "kind");
    const auto evidence = evidence_from_text(kind);
    if (!evidence) {
      const std::vector<std::string> kinds{"datasheet", "third_party", "queried", "derived", "remembered"};
      fail(join(path, "kind"),
           fmt::format("unknown kind '{}'; accepted are {}{}", kind, list_names(kinds), did_you_mean(kind, kinds)));
    }
    result.evidence = *evidence;
    if (entry.contains("source")) result.source = full_source(path, text(entry, path, "source"));
    if (entry.contains("note")) result.note = text(entry, path, "note");
    if (result.source.empty() && result.evidence != Evidence::remembered)
      fail(join(path, "source"), fmt::format("missing: a {} value names its source (or has kind remembered)", kind));
    return result;
  }

  std::optional<double> optional_number(const Json& object, const std::string& parent, std::string_view key, double min,
                                        double max, double unit) {
    if (!object.contains(key)) return std::nullopt;
    return number(object, parent, key, min, max) * unit;
  }

  int whole(const Json& object, const std::string& parent, std::string_view key, int min, int max) {
    const double value = number(object, parent, key, min, max);
    if (value != std::floor(value)) fail(join(join(parent, key), "value"), "expected a whole number");
    return static_cast<int>(value);
  }

  void read_memory() {
    const Json& memory = member(root_, "", "memory");
    check_keys(memory, "memory", {"type", "size_gb", "bandwidth_gb_s", "bus_width_bits", "clock_mhz"});
    spec_.memory.type = text(memory, "memory", "type");
    spec_.memory.bytes = number(memory, "memory", "size_gb", 0.001, 1e6) * giga;
    spec_.memory.bandwidth = number(memory, "memory", "bandwidth_gb_s", 0.001, 1e6) * giga;
    spec_.memory.bus_width_bits = optional_number(memory, "memory", "bus_width_bits", 1, 1e6, 1);
    spec_.memory.clock_hz = optional_number(memory, "memory", "clock_mhz", 1, 1e6, mega);
  }

  void read_sm() {
    struct Field {
      std::string_view key;
      int SmLimits::*field;
      int min;
      int max;
    };
    constexpr int megabyte = 1 << 20;
    static constexpr Field fields[] = {
        {"warp_size", &SmLimits::warp_size, 32, 32},
        {"max_threads", &SmLimits::max_threads, 32, 65'536},
        {"max_warps", &SmLimits::max_warps, 1, 2'048},
        {"max_blocks", &SmLimits::max_blocks, 1, 1'024},
        {"max_threads_per_block", &SmLimits::max_threads_per_block, 32, 65'536},
        {"registers", &SmLimits::registers, 1, megabyte},
        {"registers_per_block", &SmLimits::registers_per_block, 1, megabyte},
        {"max_registers_per_thread", &SmLimits::max_registers_per_thread, 1, 1'024},
        {"register_unit_per_warp", &SmLimits::register_unit_per_warp, 1, 4'096},
        {"sub_partitions", &SmLimits::sub_partitions, 1, 16},
        {"shared_bytes", &SmLimits::shared_bytes, 1, megabyte},
        {"shared_bytes_per_block", &SmLimits::shared_bytes_per_block, 1, megabyte},
        {"shared_bytes_static", &SmLimits::shared_bytes_static, 1, megabyte},
        {"shared_unit_bytes", &SmLimits::shared_unit_bytes, 1, 4'096},
        {"shared_reserved_bytes", &SmLimits::shared_reserved_bytes, 0, 65'536},
        {"shared_banks", &SmLimits::shared_banks, 1, 1'024},
        {"shared_bank_bytes", &SmLimits::shared_bank_bytes, 1, 64},
        {"l1_shared_bytes", &SmLimits::l1_shared_bytes, 1, megabyte},
    };
    const Json& sm = member(root_, "", "sm");
    std::vector<std::string> names;
    for (const Field& field : fields) names.emplace_back(field.key);
    check_names(sm, "sm", names);
    for (const Field& field : fields) spec_.sm.*field.field = whole(sm, "sm", field.key, field.min, field.max);
    if (spec_.sm.max_warps * spec_.sm.warp_size != spec_.sm.max_threads)
      fail("sm.max_warps", "max_warps x warp_size is not max_threads");
    if (spec_.sm.shared_bytes_per_block + spec_.sm.shared_reserved_bytes > spec_.sm.shared_bytes)
      fail("sm.shared_bytes_per_block", "with shared_reserved_bytes it exceeds shared_bytes");
  }

  void read_rates() {
    std::vector<std::string> ids;
    for (const Precision& precision : precisions()) ids.emplace_back(precision.id);
    const Json& peaks = member(root_, "", "peaks_tflops");
    check_names(peaks, "peaks_tflops", ids);
    for (const auto& [id, unused] : peaks.items())
      spec_.peaks[id] = number(peaks, "peaks_tflops", id, 1e-6, 1e6) * tera;
    if (spec_.peaks.empty()) fail("peaks_tflops", "no peak at all; give at least fp32");
    if (root_.contains("fma_per_sm_per_clock")) {
      const Json& rates = root_["fma_per_sm_per_clock"];
      check_names(rates, "fma_per_sm_per_clock", ids);
      for (const auto& [id, unused] : rates.items())
        spec_.rates[id] = number(rates, "fma_per_sm_per_clock", id, 0.001, 1e6);
    }
    if (root_.contains("bytes_per_clock")) {
      const Json& bytes = root_["bytes_per_clock"];
      check_keys(bytes, "bytes_per_clock", {"l1_per_sm", "l2_read"});
      spec_.l1_bytes_per_clock = optional_number(bytes, "bytes_per_clock", "l1_per_sm", 1, 1e6, 1);
      spec_.l2_bytes_per_clock = optional_number(bytes, "bytes_per_clock", "l2_read", 1, 1e6, 1);
    }
  }

  const Json& root_;
  std::string place_;
  std::map<std::string, std::string> sources_;
  DeviceSpec spec_;
};

// "configs/devices/my.json" -> "my".
std::string stem_of(std::string_view path) {
  const auto slash = path.find_last_of('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  return std::string(path.substr(0, path.find('.')));
}

}  // namespace

DeviceSpec parse_device(std::string_view json_text, std::string_view place) {
  const Json json = parse_without_duplicates(json_text, place);
  DeviceSpec spec = Reader(json, place).read();
  spec.id = stem_of(place);
  spec.origin = place;
  return spec;
}

DeviceSpec load_device(const std::string& path) {
  return parse_device(
      read_file(path, {max_bytes, max_bytes}, "; give a device file (JSON) or a name from `gpuexp list devices`"),
      path);
}

}  // namespace gpuexp
