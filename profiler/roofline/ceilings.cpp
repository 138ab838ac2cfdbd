// Ceilings from a device spec, and measured ones in their place.
#include "profiler/roofline/ceilings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "profiler/core/error.h"
#include "profiler/core/nearest.h"
#include "profiler/core/text.h"

namespace gpuexp {
namespace {

BandwidthCeiling dram_ceiling(const DeviceSpec& spec) {
  constexpr std::string_view path = "memory.bandwidth_gb_s";
  return {Level::dram, "DRAM", spec.memory.bandwidth,    spec.source_of(path),
          0,           {},     spec.provenance_of(path), std::nullopt};
}

BandwidthCeiling l2_ceiling(const DeviceSpec& spec, double bytes_per_clock) {
  const double mhz = spec.boost_clock_hz / 1e6;
  return {Level::l2,
          "L2 reads",
          bytes_per_clock * spec.boost_clock_hz,
          Source::modelled,
          mhz,
          fmt::format("{} B/clk x {} MHz", number_text(bytes_per_clock), number_text(mhz)),
          spec.provenance_of("bytes_per_clock.l2_read"),
          std::nullopt};
}

BandwidthCeiling l1_ceiling(const DeviceSpec& spec, double bytes_per_clock) {
  const double mhz = spec.boost_clock_hz / 1e6;
  return {Level::l1,
          "L1 and shared",
          bytes_per_clock * spec.sm_count * spec.boost_clock_hz,
          Source::modelled,
          mhz,
          fmt::format("{} B/clk/SM x {} SM x {} MHz", number_text(bytes_per_clock), spec.sm_count, number_text(mhz)),
          spec.provenance_of("bytes_per_clock.l1_per_sm"),
          std::nullopt};
}

void set_ridges(Ceilings& all) {
  for (ComputeCeiling& roof : all.peaks) {
    roof.ridges.clear();
    for (const BandwidthCeiling& slope : all.bandwidths) roof.ridges.push_back(ridge_point(roof.peak, slope.bandwidth));
  }
}

// The names that a measured ceiling may have.
std::vector<std::string> ceiling_ids() {
  std::vector<std::string> ids;
  for (const Level level : memory_levels) ids.emplace_back(to_text(level));
  for (const Precision& precision : precisions()) ids.emplace_back(precision.id);
  return ids;
}

void set_measured(Ceilings& all, Level level, const MeasuredCeiling& measured, const Provenance& provenance) {
  const auto at = std::ranges::find(all.bandwidths, level, &BandwidthCeiling::level);
  std::optional<double> of_spec;
  std::string label = level == Level::l2 ? "L2 reads" : level == Level::l1 ? "L1 and shared" : "DRAM";
  if (at != all.bandwidths.end()) {
    of_spec = at->bandwidth;
    all.bandwidths.erase(at);
  }
  all.bandwidths.push_back({level, std::move(label), measured.value, Source::measured, measured.clock_mhz, measured.how,
                            provenance, of_spec});
  std::ranges::sort(all.bandwidths, {}, &BandwidthCeiling::level);
}

void set_measured(Ceilings& all, const Precision& precision, const MeasuredCeiling& measured,
                  const Provenance& provenance) {
  const auto at = std::ranges::find(all.peaks, &precision, &ComputeCeiling::precision);
  std::optional<double> of_spec;
  if (at != all.peaks.end()) {
    of_spec = at->peak;
    all.peaks.erase(at);
  }
  all.peaks.push_back(
      {&precision, measured.value, measured.clock_mhz, Source::measured, measured.how, provenance, {}, of_spec});
  std::ranges::sort(all.peaks, {}, &ComputeCeiling::precision);  // precisions() is one array, in report order
}

}  // namespace

const BandwidthCeiling* Ceilings::find(Level level) const {
  const auto found = std::ranges::find(bandwidths, level, &BandwidthCeiling::level);
  return found == bandwidths.end() ? nullptr : &*found;
}

const ComputeCeiling* Ceilings::find(const Precision& precision) const {
  const auto found = std::ranges::find(peaks, &precision, &ComputeCeiling::precision);
  return found == peaks.end() ? nullptr : &*found;
}

Ceilings ceilings_of(const DeviceSpec& spec) {
  Ceilings all;
  all.device = spec.name;
  all.bandwidths.push_back(dram_ceiling(spec));
  if (spec.l2_bytes_per_clock) all.bandwidths.push_back(l2_ceiling(spec, *spec.l2_bytes_per_clock));
  if (spec.l1_bytes_per_clock) all.bandwidths.push_back(l1_ceiling(spec, *spec.l1_bytes_per_clock));
  for (const Precision& precision : precisions()) {
    const auto peak = spec.peak(precision.id);
    if (!peak) continue;
    const std::string path = fmt::format("peaks_tflops.{}", precision.id);
    all.peaks.push_back({&precision,
                         *peak,
                         spec.clock_of(precision) / 1e6,
                         spec.source_of(path),
                         {},
                         spec.provenance_of(path),
                         {},
                         std::nullopt});
  }
  set_ridges(all);
  return all;
}

Ceilings with_measured(Ceilings spec, const std::vector<MeasuredCeiling>& measured, std::string origin) {
  std::set<std::string> seen;
  for (const MeasuredCeiling& one : measured) {
    if (!std::isfinite(one.value) || one.value <= 0)
      throw Error(ExitCode::usage, fmt::format("{}: the measured ceiling '{}' is {}, not a positive number", origin,
                                               one.id, number_text(one.value)));
    if (!seen.insert(one.id).second)
      throw Error(ExitCode::usage, fmt::format("{}: the measured ceiling '{}' stands twice", origin, one.id));
    const Provenance provenance{Evidence::queried, origin, one.how};
    const auto level = level_from_text(one.id);
    const Precision* precision = precision_by_id(one.id);
    if (level) {
      set_measured(spec, *level, one, provenance);
    } else if (precision != nullptr) {
      set_measured(spec, *precision, one, provenance);
    } else {
      throw Error(ExitCode::usage, fmt::format("{}: unknown ceiling '{}'; ceilings are {}{}", origin, one.id,
                                               list_names(ceiling_ids()), did_you_mean(one.id, ceiling_ids())));
    }
  }
  if (!measured.empty()) spec.basis = Source::measured;
  spec.origin = std::move(origin);
  set_ridges(spec);
  return spec;
}

const ComputeCeiling& peak_or_throw(const Ceilings& ceilings, const Precision& precision) {
  if (const ComputeCeiling* roof = ceilings.find(precision)) return *roof;
  std::vector<std::string> known;
  for (const ComputeCeiling& roof : ceilings.peaks) known.emplace_back(roof.precision->id);
  throw Error(ExitCode::usage,
              fmt::format("{} has no {} peak; --precision takes {}", ceilings.device, precision.id, list_names(known)));
}

const BandwidthCeiling& slope_or_throw(const Ceilings& ceilings, Level level) {
  if (const BandwidthCeiling* slope = ceilings.find(level)) return *slope;
  std::vector<std::string> known;
  for (const BandwidthCeiling& slope : ceilings.bandwidths) known.emplace_back(to_text(slope.level));
  throw Error(ExitCode::usage, fmt::format("the {} bandwidth of {} is not known; --level takes {}; measured "
                                           "ones (--ceilings) may have it",
                                           label_of(level), ceilings.device, list_names(known)));
}

Placement place(const LabelledPoint& point, const Ceilings& ceilings, const Precision& precision, Level level) {
  const double peak = peak_or_throw(ceilings, precision).peak;
  const double bandwidth = slope_or_throw(ceilings, level).bandwidth;
  const double attainable = attainable_flops(point.intensity, peak, bandwidth);
  const bool memory = point.intensity < ridge_point(peak, bandwidth);
  return {point, attainable, 100 * attainable / peak, memory ? BoundBy::memory : BoundBy::compute};
}

}  // namespace gpuexp
