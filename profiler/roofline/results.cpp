// Placing measured and emulated points.
#include "profiler/roofline/results.h"

#include <fmt/format.h>

#include <array>

#include "profiler/roofline/units.h"

namespace gpuexp {
namespace {

ResultPlacement placement(std::string_view basis, const Quantity& intensity, const Quantity& attainable,
                          const Analysis& a) {
  ResultPlacement placed{basis, *intensity.number(), intensity.source, *attainable.number(), BoundBy::memory, {}, {}};
  if (placed.attainable >= a.peak.number().value_or(0)) placed.bound_by = BoundBy::compute;
  placed.achieved = a.achieved_flops.number();
  if (placed.achieved) placed.percent_of_attainable = 100 * *placed.achieved / placed.attainable;
  return placed;
}

// Where DRAM bytes were not counted: those that L1 asked for, in whole sectors as memory moves them.
constexpr std::array bases_without_dram{Basis::transaction, Basis::loaded, Basis::requested, Basis::compulsory};

}  // namespace

PlacementOrReason place(const ResultPoint& point, Level level) {
  const Analysis& a = point.analysis;
  const LevelBound* bound = a.at(level);
  if (bound != nullptr && bound->attainable.has_value())
    return {placement(to_text(level), bound->intensity, bound->attainable, a), {}};
  if (level == Level::dram)
    for (const Basis basis : bases_without_dram)
      if (const BasisBound& on = a.on(basis); on.attainable.has_value())
        return {placement(to_text(basis), on.intensity, on.attainable, a), {}};
  const Quantity* why = bound == nullptr               ? nullptr
                        : bound->intensity.has_value() ? &bound->attainable
                                                       : &bound->intensity;
  return {std::nullopt, why == nullptr ? "nothing is known of this level" : why->reason};
}

std::vector<std::string> above_ceilings(const ResultPoint& point, const ResultSource& source) {
  const Analysis& a = point.analysis;
  std::vector<std::string> found;
  if (source.what_if &&
      (a.percent_of_peak.number().value_or(0) > 100 || a.percent_of_bandwidth.number().value_or(0) > 100))
    found.push_back(
        fmt::format("above a ceiling of {}, but measured on {}: no error, and no forecast; {} would be "
                    "bound by that ceiling",
                    a.device, source.ran_on, a.device));
  for (const LevelBound& level : a.levels)
    if (const double percent = level.percent_of_bandwidth.number().value_or(0); percent > 100 && !source.what_if)
      found.push_back(fmt::format(
          "{} of the {} bandwidth: {}", percent_text(percent), label_of(level.level),
          level.level == Level::dram
              ? "the time is of a warm cache but the bytes of a cold one, or this is the roof of another SKU"
              : "the clock was above the one at which that ceiling holds, or this is the roof of another SKU"));
  return found;
}

}  // namespace gpuexp
