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
  ParamSet params;                     // {"TILE": 16, "dtype": "float32"}
  LaunchFunction simt = nullptr;       // null when cuda only
  LaunchFunction cuda = nullptr;       // null when built without CUDA
};

struct Variant {
  std::string name;                    // "matmul/tiled"
  std::string problem;                 // "matmul": the part before the slash
  std::string idea;                    // one sentence
  std::vector<std::string> aliases;    // "transpose/v2"
  std::vector<ParamSpec> params;       // run-time parameters and, with their values, the compile-time ones
  std::vector<VariantInstance> instances;
  std::string cuda_only;               // why it needs hardware; empty = emulated too
  std::string broken;                  // finding kind that a variant broken on purpose must produce; empty = sound
  std::string source_file;             // "kernels/matmul/tiled.cu"

  // The instance whose compile-time parameters equal those of `params`; null when there is none.
  [[nodiscard]] const VariantInstance* instance_for(const ParamSet& params) const;
};

// Sorted by name.
const std::vector<Variant>& variants();
const std::vector<const Problem*>& problems();
// By name or alias; null when unknown.
const Variant* find_variant(std::string_view name_or_alias);
const Problem* find_problem(std::string_view name);
// All parameters a point of this variant takes: the problem's, then the variant's own.
std::vector<ParamSpec> params_of(const Variant& variant);
// Completes `given` with defaults, checks kinds, ranges and compile-time values. Throws Error(usage) naming the
// parameter, the accepted values and the nearest name.
ParamSet complete_params(const Variant& variant, const ParamSet& given);

}  // namespace gpuexp
