// Ceilings from a device spec.
#include "profiler/roofline/ceilings.h"

#include <fmt/format.h>

#include "profiler/core/error.h"
#include "profiler/core/nearest.h"
#include "profiler/core/text.h"

namespace gpuexp {
namespace {

BandwidthCeiling dram_ceiling(const DeviceSpec& spec) {
  constexpr std::string_view path = "memory.bandwidth_gb_s";
  return {"dram", "DRAM", spec.memory.bandwidth, spec.source_of(path), 0, {}, spec.provenance_of(path)};
}

BandwidthCeiling l2_ceiling(const DeviceSpec& spec, double bytes_per_clock) {
  const double mhz = spec.boost_clock_hz / 1e6;
  return {"l2",
          "L2 reads",
          bytes_per_clock * spec.boost_clock_hz,
          Source::modelled,
          mhz,
          fmt::format("{} B/clk x {} MHz", number_text(bytes_per_clock), number_text(mhz)),
          spec.provenance_of("bytes_per_clock.l2_read")};
}

BandwidthCeiling l1_ceiling(const DeviceSpec& spec, double bytes_per_clock) {
  const double mhz = spec.boost_clock_hz / 1e6;
  return {"l1",
          "L1 and shared",
          bytes_per_clock * spec.sm_count * spec.boost_clock_hz,
          Source::modelled,
          mhz,
          fmt::format("{} B/clk/SM x {} SM x {} MHz", number_text(bytes_per_clock), spec.sm_count, number_text(mhz)),
          spec.provenance_of("bytes_per_clock.l1_per_sm")};
}

}  // namespace

Ceilings ceilings_of(const DeviceSpec& spec) {
  Ceilings all;
  all.bandwidths.push_back(dram_ceiling(spec));
  if (spec.l2_bytes_per_clock) all.bandwidths.push_back(l2_ceiling(spec, *spec.l2_bytes_per_clock));
  if (spec.l1_bytes_per_clock) all.bandwidths.push_back(l1_ceiling(spec, *spec.l1_bytes_per_clock));
  for (const Precision& precision : precisions()) {
    const auto peak = spec.peak(precision.id);
    if (!peak) continue;
    const std::string path = fmt::format("peaks_tflops.{}", precision.id);
    const double clock_mhz = spec.clock_of(precision) / 1e6;
    ComputeCeiling ceiling{&precision, *peak, clock_mhz, spec.source_of(path), spec.provenance_of(path), {}};
    for (const BandwidthCeiling& slope : all.bandwidths) ceiling.ridges.push_back(ridge_point(*peak, slope.bandwidth));
    all.peaks.push_back(std::move(ceiling));
  }
  return all;
}

double peak_or_throw(const DeviceSpec& spec, const Precision& precision) {
  if (const auto peak = spec.peak(precision.id)) return *peak;
  std::vector<std::string> known;
  for (const Precision& other : precisions())
    if (spec.peak(other.id)) known.emplace_back(other.id);
  throw Error(ExitCode::usage,
              fmt::format("{} has no {} peak; --precision takes {}", spec.name, precision.id, list_names(known)));
}

Placement place(const LabelledPoint& point, const DeviceSpec& spec, const Precision& precision) {
  const double peak = peak_or_throw(spec, precision);
  const double attainable = attainable_flops(point.intensity, peak, spec.memory.bandwidth);
  const bool memory = point.intensity < ridge_point(peak, spec.memory.bandwidth);
  return {point, attainable, 100 * attainable / peak, memory ? BoundBy::memory : BoundBy::compute};
}

}  // namespace gpuexp
