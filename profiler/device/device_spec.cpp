// The precisions a peak can be given for, and the arithmetic on a device's numbers.
#include "profiler/device/device_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "profiler/core/error.h"
#include "profiler/core/nearest.h"
#include "profiler/device/name_words.h"

namespace gpuexp {
namespace {

constexpr std::array<std::string_view, 5> evidence_words{"datasheet", "third_party", "queried", "derived",
                                                         "remembered"};  // in enum order

constexpr std::string_view flops = "FLOP/s";
constexpr std::string_view ops = "OP/s";

// In report order; CUDA-core rates are of CUDA cores, tensor rates dense.
constexpr std::array<Precision, 13> precision_table{{
    {"fp64", "FP64", flops, false, 8, "64-bit floats on CUDA cores"},
    {"fp64_tensor", "FP64 tensor", flops, true, 8, "64-bit floats on tensor cores"},
    {"fp32", "FP32", flops, false, 4, "32-bit floats on CUDA cores"},
    {"tf32", "TF32 tensor", flops, true, 4,
     "32-bit floats rounded to 10 mantissa bits, on tensor cores, accumulated in FP32"},
    {"fp16", "FP16 tensor", flops, true, 2, "16-bit floats on tensor cores, accumulated in FP32"},
    {"bf16", "BF16 tensor", flops, true, 2, "bfloat16 on tensor cores, accumulated in FP32"},
    {"fp8", "FP8 tensor", flops, true, 1, "8-bit floats on tensor cores, accumulated in FP32"},
    {"fp4", "FP4 tensor", flops, true, 0.5, "4-bit floats on tensor cores"},
    {"int8", "INT8 tensor", ops, true, 1, "8-bit integers on tensor cores"},
    {"fp16_acc16", "FP16 tensor, acc16", flops, true, 2, "16-bit floats on tensor cores, accumulated in FP16"},
    {"fp8_acc16", "FP8 tensor, acc16", flops, true, 1, "8-bit floats on tensor cores, accumulated in FP16"},
    {"fp16_vector", "FP16 vector", flops, false, 2, "packed 16-bit floats (half2) on CUDA cores"},
    {"bf16_vector", "BF16 vector", flops, false, 2, "packed bfloat16 on CUDA cores"},
}};

}  // namespace

std::string_view to_text(Evidence evidence) { return evidence_words[static_cast<std::size_t>(evidence)]; }

std::optional<Evidence> evidence_from_text(std::string_view text) {
  const auto* found = std::find(evidence_words.begin(), evidence_words.end(), text);
  if (found == evidence_words.end()) return std::nullopt;
  return static_cast<Evidence>(found - evidence_words.begin());
}

std::span<const Precision> precisions() { return precision_table; }

const Precision* precision_by_id(std::string_view id) {
  const auto* found =
      std::find_if(precision_table.begin(), precision_table.end(), [&](const Precision& p) { return p.id == id; });
  return found == precision_table.end() ? nullptr : found;
}

const Precision& find_precision(std::string_view name) {
  const std::string wanted = squeezed(name);
  std::vector<std::string> ids;
  for (const Precision& precision : precision_table) {
    if (squeezed(precision.id) == wanted) return precision;
    ids.emplace_back(precision.id);
  }
  for (const Precision& precision : precision_table)
    if (squeezed(precision.label) == wanted) return precision;
  throw Error(ExitCode::usage,
              fmt::format("unknown precision '{}': accepted are {}{}", name, list_names(ids), did_you_mean(name, ids)));
}

const Provenance& DeviceSpec::provenance_of(std::string_view path) const {
  static const Provenance unrecorded{Evidence::derived, {}, {}};
  const auto found = provenance.find(path);
  return found == provenance.end() ? unrecorded : found->second;
}

Source DeviceSpec::source_of(std::string_view path) const {
  return provenance_of(path).evidence == Evidence::derived ? Source::modelled : Source::spec;
}

std::optional<double> DeviceSpec::peak(std::string_view precision_id) const {
  const auto found = peaks.find(precision_id);
  if (found == peaks.end()) return std::nullopt;
  return found->second;
}

double DeviceSpec::clock_of(const Precision& precision) const {
  // FP64 tensor peaks are stated at the boost clock, as the rates and peaks of the GH100 cards show.
  const bool reduced = precision.tensor && precision.id != "fp64_tensor";
  return reduced ? tensor_clock_hz.value_or(boost_clock_hz) : boost_clock_hz;
}

double peak_flops(double fma_per_clock, double clock_hz) { return 2.0 * fma_per_clock * clock_hz; }

std::optional<double> peak_at_clock(const DeviceSpec& spec, const Precision& precision, double clock_hz) {
  const auto rate = spec.rates.find(precision.id);
  if (rate == spec.rates.end()) return std::nullopt;
  return peak_flops(rate->second * spec.sm_count, clock_hz);
}

double bus_bandwidth(double bus_width_bits, double clock_hz) { return 2.0 * clock_hz * bus_width_bits / 8.0; }

}  // namespace gpuexp
