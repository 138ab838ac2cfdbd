// From what the user typed to one device: exact names, words of a name, short names that stand for several SKUs.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "profiler/core/embedded.h"
#include "profiler/core/error.h"
#include "profiler/core/nearest.h"
#include "profiler/device/device_spec.h"
#include "profiler/device/name_words.h"

namespace gpuexp {
namespace {

bool is_path(std::string_view name) {
  return name.find('/') != std::string_view::npos || (name.size() > 5 && name.substr(name.size() - 5) == ".json");
}

// Words that drivers and shops put around the name of the card.
bool is_decoration(std::string_view word) { return word == "nvidia" || word == "tesla" || word == "geforce"; }

std::string bare(std::string_view name) {
  std::string result;
  for (const std::string& word : name_words(name))
    if (!is_decoration(word)) result += word;
  return result;
}

std::set<std::string> bare_words(const DeviceSpec& spec) {
  std::set<std::string> words;
  for (const std::string* name : {&spec.id, &spec.name})
    for (const std::string& word : name_words(*name)) words.insert(word);
  return words;
}

bool named_exactly(const DeviceSpec& spec, const std::string& wanted) {
  if (bare(spec.id) == wanted || bare(spec.name) == wanted) return true;
  return std::any_of(spec.aliases.begin(), spec.aliases.end(),
                     [&](const std::string& alias) { return bare(alias) == wanted; });
}

// Every word of `name` is one of the device's: "A100 SXM4 80GB" names "A100 80GB SXM4"; "sxm" stands for "sxm4".
bool named_by_words(const DeviceSpec& spec, std::string_view name) {
  const std::set<std::string> words = bare_words(spec);
  std::vector<std::string> wanted = name_words(name);
  std::erase_if(wanted, [](const std::string& word) { return is_decoration(word); });
  return !wanted.empty() && std::all_of(wanted.begin(), wanted.end(), [&](const std::string& word) {
    return words.contains(word) || (word == "sxm" && std::any_of(words.begin(), words.end(), [](const std::string& w) {
                                      return w.starts_with("sxm");
                                    }));
  });
}

std::string described(const DeviceSpec& spec) { return fmt::format("{} ({})", spec.name, spec.id); }

std::string described(const std::vector<const DeviceSpec*>& specs) {
  std::string text;
  for (const DeviceSpec* spec : specs) text += (text.empty() ? "" : ", ") + described(*spec);
  return text;
}

std::vector<const DeviceSpec*> family_of(const DeviceSpec& spec) {
  std::vector<const DeviceSpec*> others;
  for (const DeviceSpec& other : devices())
    if (other.family == spec.family && other.id != spec.id) others.push_back(&other);
  return others;
}

// A short name (that of the family) has been resolved to one SKU: say so and name the others.
std::string note_for(const DeviceSpec& spec, std::string_view name) {
  if (bare(name) != bare(spec.family)) return {};
  const auto others = family_of(spec);
  if (others.empty()) return {};
  return fmt::format("{} means {}; others: {}", name, described(spec), described(others));
}

// Ids of devices that share a word with the name, or whose id is near it.
std::vector<std::string> candidates_near(std::string_view name) {
  const std::vector<std::string> wanted = name_words(name);
  std::vector<std::string> near;
  std::vector<std::string> ids;
  for (const DeviceSpec& spec : devices()) {
    ids.push_back(spec.id);
    const std::set<std::string> words = bare_words(spec);
    const bool alike = std::any_of(wanted.begin(), wanted.end(), [&](const std::string& word) {
      return std::any_of(words.begin(), words.end(), [&](const std::string& own) {
        // A letter or digit off, as b300 and b200 are; form factors and sizes alone make no likeness.
        const bool model = own == bare(spec.family) || bare(spec.family).find(own) != std::string::npos;
        return model && own.size() > 1 && edit_distance(word, own) <= 1;
      });
    });
    if (alike) near.push_back(spec.id);
  }
  if (near.empty())
    if (const std::string nearest = nearest_name(name, ids); !nearest.empty()) near.push_back(nearest);
  return near;
}

[[noreturn]] void fail_unknown(std::string_view name) {
  std::vector<std::string> ids;
  for (const DeviceSpec& spec : devices()) ids.push_back(spec.id);
  const std::vector<std::string> near = candidates_near(name);
  throw Error(ExitCode::usage,
              fmt::format("unknown device '{}': {}known are {}; or give a device file, --device ./my.json", name,
                          near.empty() ? "" : fmt::format("did you mean {}? ", list_names(near)), list_names(ids)));
}

}  // namespace

std::vector<std::string> name_words(std::string_view name) {
  std::vector<std::string> words;
  std::string word;
  for (const char raw : name) {
    const auto c = static_cast<unsigned char>(raw);
    if (std::isalnum(c) != 0 && c < 128) {
      word += static_cast<char>(std::tolower(c));
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

std::string squeezed(std::string_view name) {
  std::string result;
  for (const std::string& word : name_words(name)) result += word;
  return result;
}

const std::vector<DeviceSpec>& devices() {
  static const std::vector<DeviceSpec> all = [] {
    std::vector<DeviceSpec> specs;
    for (const EmbeddedFile& file : embedded_devices()) {
      specs.push_back(parse_device(file.text, fmt::format("configs/devices/{}.json", file.name)));
      specs.back().origin = "built in";
    }
    return specs;
  }();
  return all;
}

DeviceMatch find_device(std::string_view name_or_path) {
  if (is_path(name_or_path)) return {load_device(std::string(name_or_path)), {}};
  const std::string wanted = bare(name_or_path);
  if (wanted == "auto")
    throw Error(ExitCode::machine,
                "device 'auto' is the roof of the GPU present, and no GPU can be asked here; name one, e.g. "
                "--device a100 (see `gpuexp list devices`)");
  std::vector<const DeviceSpec*> matches;
  for (const DeviceSpec& spec : devices())
    if (named_exactly(spec, wanted)) return {spec, note_for(spec, name_or_path)};
  for (const DeviceSpec& spec : devices())
    if (named_by_words(spec, name_or_path)) matches.push_back(&spec);
  if (matches.size() == 1) return {*matches.front(), {}};
  if (matches.size() > 1)
    throw Error(ExitCode::usage,
                fmt::format("device '{}' is not one device: give one of {}", name_or_path, described(matches)));
  fail_unknown(name_or_path);
}

}  // namespace gpuexp
