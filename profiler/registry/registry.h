// Every problem and variant of this build, by name. Filled at static initialisation, beside the definitions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/problem.h"
#include "profiler/core/params.h"

namespace gpuexp {

class Launch;  // kernels/variant.h
using LaunchFunction = void (*)(const Launch&);

// One compile-time instantiation: the parameter values it is for and how each backend launches it.
struct VariantInstance {
  ParamSet params;                // {"TILE": 16, "dtype": "float32"}
  LaunchFunction simt = nullptr;  // null when cuda only
  LaunchFunction cuda = nullptr;  // null when built without CUDA
};

struct Variant {
  std::string name;                  // "matmul/tiled"
  std::string problem;               // "matmul": the part before the slash unless its definition names another
  std::string idea;                  // one sentence
  std::vector<std::string> aliases;  // "transpose/v2"
  std::vector<ParamSpec> params;     // run-time parameters and, with their values, the compile-time ones
  std::vector<VariantInstance> instances;
  std::string cuda_only;    // why it needs hardware; empty = emulated too
  std::string broken;       // finding kind that a variant broken on purpose must produce; empty = sound
  std::string source_file;  // "kernels/matmul/tiled.cu"

  // The instance whose compile-time parameters equal those of `params`; null when there is none.
  [[nodiscard]] const VariantInstance* instance_for(const ParamSet& params) const;
  // The values of a compile-time parameter over all instances, sorted; empty when it is not one.
  [[nodiscard]] std::vector<ParamValue> compiled_values(std::string_view parameter) const;
};

// Sorted by name. The first call of any of these merges the two copies of each variant and checks all definitions;
// a definition that contradicts itself, its twin or another one throws Error naming both places.
const std::vector<Variant>& variants();
const std::vector<const Problem*>& problems();
// By name or alias; null when unknown.
const Variant* find_variant(std::string_view name_or_alias);
const Problem* find_problem(std::string_view name);
// The variants that `pattern` means, sorted by name. A name or alias means that variant. With '*' (any text) or '?'
// (any character) it means every variant whose name or alias fits, except those broken on purpose, which must be named.
// Throws Error(usage) with the nearest name when it means none.
std::vector<const Variant*> match_variants(std::string_view pattern);
// All parameters a point of this variant takes: the problem's, then the variant's own. Those with compile-time values
// carry them: numbers in min and max, words in `words`; compiled_values() has the list.
std::vector<ParamSpec> params_of(const Variant& variant);
// Completes `given` with defaults, checks kinds, ranges and compile-time values. Throws Error(usage) naming the
// parameter, the accepted values and the nearest name.
ParamSet complete_params(const Variant& variant, const ParamSet& given);
// The same, and one set per case where a parameter names several (Problem::expand): what a plan is made of.
std::vector<ParamSet> expand_params(const Variant& variant, const ParamSet& given);

}  // namespace gpuexp
