// Collects the definitions that kernel files and problem files register at static initialisation, merges the two copies
// of each variant (emulator and GPU) on first use, and answers by name.
#include "profiler/registry/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "profiler/core/error.h"
#include "profiler/core/glob.h"
#include "profiler/core/nearest.h"

// The builder that kernel files see is implemented here, so its declaration is needed outside a kernel file.
#define GPUEXP_SIMT 1
#include "kernels/variant.h"

namespace gpuexp {
namespace {

// One copy of a variant's definition, as its file gave it.
struct Definition {
  Variant variant;
  std::string backend;  // "simt" or "cuda"
  std::string file;
};

// Function-local, because registrars of other files run in any order.
std::vector<Definition>& definitions() {
  static std::vector<Definition> all;
  return all;
}

std::vector<std::unique_ptr<Problem>>& registered_problems() {
  static std::vector<std::unique_ptr<Problem>> all;
  return all;
}

ParamValue value_of(const FixedParam& fixed) {
  if (fixed.word != nullptr) return std::string(fixed.word);
  return static_cast<std::int64_t>(fixed.number);
}

// __FILE__ is absolute from one compiler and relative from the other.
std::string relative_source(std::string_view file) {
  const std::size_t at = file.rfind("/kernels/");
  return std::string(at == std::string_view::npos ? file : file.substr(at + 1));
}

// A contradiction between definitions is a mistake in this build, whatever the user asked for.
[[noreturn]] void refuse(const Definition& where, const std::string& what) {
  throw Error(ExitCode::usage,
              fmt::format("this build is inconsistent: {}: variant '{}' {}", where.file, where.variant.name, what));
}

std::vector<std::string> texts_of(const std::vector<ParamValue>& values) {
  std::vector<std::string> texts;
  for (const ParamValue& value : values) texts.push_back(to_text(value));
  return texts;
}

std::vector<std::string> names_of(const std::vector<ParamSpec>& specs) {
  std::vector<std::string> names;
  for (const ParamSpec& spec : specs) names.push_back(spec.name);
  return names;
}

bool same_spec(const ParamSpec& a, const ParamSpec& b) {
  return a.name == b.name && a.meaning == b.meaning && a.default_value == b.default_value && a.min == b.min &&
         a.max == b.max;
}

// Adds the GPU's launch functions to the emulator's copy, or the other way round.
void merge(Variant& into, const Definition& twin) {
  const Variant& other = twin.variant;
  const bool same =
      into.problem == other.problem && into.idea == other.idea && into.aliases == other.aliases &&
      into.cuda_only == other.cuda_only && into.broken == other.broken &&
      into.instances.size() == other.instances.size() &&
      std::equal(into.params.begin(), into.params.end(), other.params.begin(), other.params.end(), same_spec);
  if (!same) refuse(twin, "differs between its emulator and its GPU copy");
  for (std::size_t i = 0; i < into.instances.size(); ++i) {
    VariantInstance& mine = into.instances[i];
    const VariantInstance& theirs = other.instances[i];
    if (mine.params != theirs.params) refuse(twin, "has other instances in its emulator than in its GPU copy");
    if (mine.simt == nullptr) mine.simt = theirs.simt;
    if (mine.cuda == nullptr) mine.cuda = theirs.cuda;
  }
}

bool declares(const std::vector<ParamSpec>& specs, const std::string& name) {
  return std::any_of(specs.begin(), specs.end(), [&](const ParamSpec& spec) { return spec.name == name; });
}

void check_instances(const Definition& where, const Problem& problem) {
  const Variant& variant = where.variant;
  if (variant.idea.empty()) refuse(where, "has no idea(): one sentence on why it is faster");
  if (variant.instances.empty()) refuse(where, "has no instance()");
  std::vector<ParamSpec> known = problem.params();
  known.insert(known.end(), variant.params.begin(), variant.params.end());
  std::set<std::string> seen;
  for (const VariantInstance& instance : variant.instances) {
    if (!seen.insert(instance.params.to_text()).second) {
      refuse(where, fmt::format("has two instances for {}", instance.params.to_text()));
    }
    for (const auto& [name, value] : instance.params.values()) {
      if (!declares(known, name)) refuse(where, fmt::format("does not say what its parameter {} means", name));
      if (variant.instances.front().params.find(name) == nullptr) {
        refuse(where, fmt::format("has instances with and without {}", name));
      }
    }
    if (instance.params.values().size() != variant.instances.front().params.values().size()) {
      refuse(where, "has instances with different parameters");
    }
  }
}

// Everything registered, merged, checked and sorted.
struct Tables {
  std::vector<Variant> variants;
  std::vector<const Problem*> problems;
  std::map<std::string, std::size_t, std::less<>> by_name;  // names and aliases -> index
};

std::vector<const Problem*> collect_problems() {
  std::vector<const Problem*> problems;
  for (const auto& problem : registered_problems()) problems.push_back(problem.get());
  std::sort(problems.begin(), problems.end(), [](auto* a, auto* b) { return a->name() < b->name(); });
  const auto twice =
      std::adjacent_find(problems.begin(), problems.end(), [](auto* a, auto* b) { return a->name() == b->name(); });
  if (twice != problems.end()) {
    throw Error(ExitCode::usage,
                fmt::format("this build is inconsistent: problem '{}' is registered twice", (*twice)->name()));
  }
  return problems;
}

// The copies of each variant, those of one name together, the emulator's first.
std::vector<const Definition*> sorted_definitions() {
  std::vector<const Definition*> sorted;
  for (const Definition& definition : definitions()) sorted.push_back(&definition);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Definition* a, const Definition* b) {
    return std::pair(a->variant.name, a->backend != "simt") < std::pair(b->variant.name, b->backend != "simt");
  });
  return sorted;
}

Tables build_tables() {
  Tables tables;
  tables.problems = collect_problems();
  const Definition* previous = nullptr;
  for (const Definition* definition : sorted_definitions()) {
    const Variant& variant = definition->variant;
    if (previous != nullptr && previous->variant.name == variant.name) {
      if (previous->backend == definition->backend) {
        refuse(*definition, fmt::format("is also defined in {}", previous->file));
      }
      merge(tables.variants.back(), *definition);
      continue;
    }
    const auto problem = std::find_if(tables.problems.begin(), tables.problems.end(),
                                      [&](const Problem* p) { return p->name() == variant.problem; });
    if (problem == tables.problems.end()) {
      refuse(*definition, fmt::format("belongs to the problem '{}', which nobody registers", variant.problem));
    }
    check_instances(*definition, **problem);
    tables.variants.push_back(variant);
    previous = definition;
  }
  for (std::size_t i = 0; i < tables.variants.size(); ++i) {
    std::vector<std::string> names = tables.variants[i].aliases;
    names.push_back(tables.variants[i].name);
    for (const std::string& name : names) {
      const auto [entry, fresh] = tables.by_name.emplace(name, i);
      if (!fresh) {
        throw Error(ExitCode::usage,
                    fmt::format("this build is inconsistent: '{}' names both {} and {}", name,
                                tables.variants[entry->second].source_file, tables.variants[i].source_file));
      }
    }
  }
  return tables;
}

const Tables& tables() {
  static const Tables built = build_tables();
  return built;
}

bool fits_any_name(std::string_view pattern, const Variant& variant) {
  return glob_matches(pattern, variant.name) ||
         std::any_of(variant.aliases.begin(), variant.aliases.end(),
                     [&](const std::string& alias) { return glob_matches(pattern, alias); });
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const auto& [name, index] : tables().by_name) names.push_back(name);
  return names;
}

[[noreturn]] void refuse_parameter(const Variant& variant, const std::string& parameter, const std::string& what) {
  throw Error(ExitCode::usage, fmt::format("parameter {} of {}: {}", parameter, variant.name, what));
}

constexpr std::string_view kind_name(const ParamValue& value) {
  constexpr std::string_view names[] = {"an integer", "a number", "a word"};
  return names[value.index()];
}

// The value of the same kind as the default, or an error. An integer does for a real number.
ParamValue checked_kind(const Variant& variant, const ParamSpec& spec, const ParamValue& kind,
                        const ParamValue& given) {
  if (given.index() == kind.index()) return given;
  if (std::holds_alternative<double>(kind) && std::holds_alternative<std::int64_t>(given)) {
    return static_cast<double>(std::get<std::int64_t>(given));
  }
  refuse_parameter(variant, spec.name, fmt::format("'{}' is not {}", to_text(given), kind_name(kind)));
}

void check_range(const Variant& variant, const ParamSpec& spec, const ParamValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    if (*integer < spec.min || *integer > spec.max) {
      refuse_parameter(variant, spec.name, fmt::format("{} is outside {}..{}", *integer, spec.min, spec.max));
    }
  } else if (const auto* real = std::get_if<double>(&value)) {
    if (!std::isfinite(*real)) refuse_parameter(variant, spec.name, "must be finite");
  } else if (const auto* word = std::get_if<std::string>(&value); word != nullptr && !spec.words.empty()) {
    if (spec.words.contains(*word)) return;
    std::vector<std::string> accepted;
    for (const auto& [name, meaning] : spec.words) accepted.push_back(name);
    refuse_parameter(
        variant, spec.name,
        fmt::format("unknown value '{}'; accepted: {}{}", *word, list_names(accepted), did_you_mean(*word, accepted)));
  }
}

// The integer of `values` nearest to `wanted`.
ParamValue nearest_value(const std::vector<ParamValue>& values, std::int64_t wanted) {
  return *std::min_element(values.begin(), values.end(), [&](const ParamValue& a, const ParamValue& b) {
    const auto distance = [&](const ParamValue& v) {
      return std::abs(static_cast<double>(std::get<std::int64_t>(v)) - static_cast<double>(wanted));
    };
    return distance(a) < distance(b);
  });
}

// A value of a compile-time parameter that no instance has.
void check_compiled(const Variant& variant, const std::string& parameter, const ParamValue& value) {
  const std::vector<ParamValue> values = variant.compiled_values(parameter);
  if (values.empty() || std::find(values.begin(), values.end(), value) != values.end()) return;
  std::string hint;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    hint = fmt::format("; nearest: {}", to_text(nearest_value(values, *integer)));
  } else {
    hint = did_you_mean(to_text(value), texts_of(values));
  }
  refuse_parameter(
      variant, parameter,
      fmt::format("{} is not compiled in; accepted: {}{}", to_text(value), list_names(texts_of(values)), hint));
}

// Each value is compiled in, but not this combination.
[[noreturn]] void refuse_combination(const Variant& variant, const ParamSet& params) {
  ParamSet wanted;
  std::vector<std::string> compiled;
  for (const auto& [name, value] : variant.instances.front().params.values()) wanted.set(name, *params.find(name));
  for (const VariantInstance& instance : variant.instances) compiled.push_back(instance.params.to_text());
  throw Error(ExitCode::usage, fmt::format("{}: the combination {} is not compiled in; accepted: {}", variant.name,
                                           wanted.to_text(), list_names(compiled)));
}

const ParamSpec& spec_named(const Variant& variant, const std::vector<ParamSpec>& specs, const std::string& name) {
  const auto found = std::find_if(specs.begin(), specs.end(), [&](const ParamSpec& spec) { return spec.name == name; });
  if (found != specs.end()) return *found;
  const std::vector<std::string> names = names_of(specs);
  throw Error(ExitCode::usage, fmt::format("{} has no parameter '{}'; it takes: {}{}", variant.name, name,
                                           list_names(names), did_you_mean(name, names)));
}

// Follows default_from to the spec whose own default decides kind and value. At most one step per parameter, so that
// a circle in the definitions cannot hang.
const ParamSpec& origin_of(const Variant& variant, const std::vector<ParamSpec>& specs, const ParamSpec& spec) {
  const ParamSpec* origin = &spec;
  for (std::size_t step = 0; step < specs.size() && !origin->default_from.empty(); ++step) {
    origin = &spec_named(variant, specs, origin->default_from);
  }
  return *origin;
}

ParamValue default_for(const Variant& variant, const std::vector<ParamSpec>& specs, const ParamSpec& spec,
                       const ParamSet& given) {
  const ParamSpec* origin = &spec;
  for (std::size_t step = 0; step < specs.size() && !origin->default_from.empty(); ++step) {
    if (const ParamValue* value = given.find(origin->default_from)) return *value;
    origin = &spec_named(variant, specs, origin->default_from);
  }
  return origin->default_value;
}

// Narrows a spec to what was compiled in.
void narrow(ParamSpec& spec, const std::vector<ParamValue>& values) {
  if (values.empty()) return;
  if (values.size() == 1) {  // nothing to choose
    spec.default_value = values.front();
    spec.default_from.clear();
  }
  if (std::holds_alternative<std::string>(values.front())) {
    std::map<std::string, std::string> words;
    for (const ParamValue& value : values) {
      const auto& word = std::get<std::string>(value);
      const auto known = spec.words.find(word);
      words.emplace(word, known == spec.words.end() ? "" : known->second);
    }
    spec.words = std::move(words);
  } else if (std::holds_alternative<std::int64_t>(values.front())) {
    spec.min = std::get<std::int64_t>(values.front());
    spec.max = std::get<std::int64_t>(values.back());
  }
}

}  // namespace

const VariantInstance* Variant::instance_for(const ParamSet& given) const {
  for (const VariantInstance& instance : instances) {
    const auto& fixed = instance.params.values();
    const bool equal = std::all_of(fixed.begin(), fixed.end(), [&](const auto& entry) {
      const ParamValue* value = given.find(entry.first);
      return value != nullptr && *value == entry.second;
    });
    if (equal) return &instance;
  }
  return nullptr;
}

std::vector<ParamValue> Variant::compiled_values(std::string_view parameter) const {
  std::set<ParamValue> values;
  for (const VariantInstance& instance : instances) {
    if (const ParamValue* value = instance.params.find(parameter)) values.insert(*value);
  }
  return {values.begin(), values.end()};
}

const std::vector<Variant>& variants() { return tables().variants; }
const std::vector<const Problem*>& problems() { return tables().problems; }

const Variant* find_variant(std::string_view name_or_alias) {
  const auto found = tables().by_name.find(name_or_alias);
  return found == tables().by_name.end() ? nullptr : &tables().variants[found->second];
}

const Problem* find_problem(std::string_view name) {
  for (const Problem* problem : problems()) {
    if (problem->name() == name) return problem;
  }
  return nullptr;
}

std::vector<const Variant*> match_variants(std::string_view pattern) {
  if (!is_glob(pattern)) {
    if (const Variant* variant = find_variant(pattern)) return {variant};
    throw Error(ExitCode::usage, fmt::format("unknown variant '{}' (`gpuexp list variants` names them all){}", pattern,
                                             did_you_mean(pattern, all_names())));
  }
  std::vector<const Variant*> found;
  std::vector<std::string> left_out;
  for (const Variant& variant : variants()) {
    if (!fits_any_name(pattern, variant)) continue;
    if (variant.broken.empty()) {
      found.push_back(&variant);
    } else {
      left_out.push_back(variant.name);
    }
  }
  if (!found.empty()) return found;
  if (!left_out.empty()) {
    throw Error(ExitCode::usage,
                fmt::format("'{}' fits only variants broken on purpose, which must be named in full: {}", pattern,
                            list_names(left_out)));
  }
  throw Error(ExitCode::usage, fmt::format("no variant fits '{}' (`gpuexp list variants` names them all){}", pattern,
                                           did_you_mean(pattern, all_names())));
}

std::vector<ParamSpec> params_of(const Variant& variant) {
  std::vector<ParamSpec> specs = find_problem(variant.problem)->params();
  for (const ParamSpec& own : variant.params) {
    const auto shared =
        std::find_if(specs.begin(), specs.end(), [&](const ParamSpec& s) { return s.name == own.name; });
    if (shared == specs.end()) {
      specs.push_back(own);
    } else {
      // The problem knows the words' meanings; the variant's own default and meaning take precedence.
      const auto words = shared->words;
      *shared = own;
      shared->words = words;
    }
  }
  for (ParamSpec& spec : specs) narrow(spec, variant.compiled_values(spec.name));
  return specs;
}

ParamSet complete_params(const Variant& variant, const ParamSet& given) {
  const std::vector<ParamSpec> specs = params_of(variant);
  for (const auto& [name, value] : given.values()) spec_named(variant, specs, name);
  ParamSet complete;
  for (const ParamSpec& spec : specs) {
    const ParamValue* chosen = given.find(spec.name);
    const ParamValue value = chosen != nullptr ? *chosen : default_for(variant, specs, spec, given);
    const ParamValue typed = checked_kind(variant, spec, origin_of(variant, specs, spec).default_value, value);
    check_compiled(variant, spec.name, typed);
    check_range(variant, spec, typed);
    complete.set(spec.name, typed);
  }
  if (variant.instance_for(complete) == nullptr) refuse_combination(variant, complete);
  return complete;
}

std::vector<ParamSet> expand_params(const Variant& variant, const ParamSet& given) {
  std::vector<ParamSet> cases = find_problem(variant.problem)->expand(complete_params(variant, given));
  for (ParamSet& params : cases) params = complete_params(variant, params);
  return cases;
}

void register_problem(std::unique_ptr<Problem> problem) { registered_problems().push_back(std::move(problem)); }

// What kernel files call.

RegisterVariant::RegisterVariant(const char* name, const char* file, const char* backend,
                                 void (*define)(VariantBuilder&)) {
  Definition definition;
  definition.backend = backend;
  definition.file = relative_source(file);
  definition.variant.name = name;
  definition.variant.problem = definition.variant.name.substr(0, definition.variant.name.find('/'));
  definition.variant.source_file = definition.file;
  VariantBuilder builder(&definition);
  define(builder);
  if (!definition.variant.cuda_only.empty()) {
    for (VariantInstance& instance : definition.variant.instances) instance.simt = nullptr;
  }
  definitions().push_back(std::move(definition));
}

VariantBuilder& VariantBuilder::idea(const char* sentence) {
  static_cast<Definition*>(state_)->variant.idea = sentence;
  return *this;
}

VariantBuilder& VariantBuilder::alias(const char* name) {
  static_cast<Definition*>(state_)->variant.aliases.emplace_back(name);
  return *this;
}

VariantBuilder& VariantBuilder::problem(const char* name) {
  static_cast<Definition*>(state_)->variant.problem = name;
  return *this;
}

VariantBuilder& VariantBuilder::param(const char* name, long long default_value, const char* meaning, long long min,
                                      long long max) {
  ParamSpec spec;
  spec.name = name;
  spec.meaning = meaning;
  spec.default_value = static_cast<std::int64_t>(default_value);
  spec.min = min;
  spec.max = max;
  static_cast<Definition*>(state_)->variant.params.push_back(std::move(spec));
  return *this;
}

VariantBuilder& VariantBuilder::fixed(const char* name, FixedParam default_value, const char* meaning) {
  ParamSpec spec;
  spec.name = name;
  spec.meaning = meaning;
  spec.default_value = value_of(default_value);
  static_cast<Definition*>(state_)->variant.params.push_back(std::move(spec));
  return *this;
}

VariantBuilder& VariantBuilder::instance(void (*launch)(const Launch&), std::initializer_list<FixedParam> values) {
  auto* definition = static_cast<Definition*>(state_);
  VariantInstance instance;
  for (const FixedParam& value : values) instance.params.set(value.name, value_of(value));
  (definition->backend == "simt" ? instance.simt : instance.cuda) = launch;
  definition->variant.instances.push_back(std::move(instance));
  return *this;
}

VariantBuilder& VariantBuilder::cuda_only(const char* why) {
  static_cast<Definition*>(state_)->variant.cuda_only = why;
  return *this;
}

VariantBuilder& VariantBuilder::broken(const char* finding) {
  static_cast<Definition*>(state_)->variant.broken = finding;
  return *this;
}

}  // namespace gpuexp
