// Which roof limits a point: one answer for every report.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "profiler/roofline/roofline.h"

namespace gpuexp {
namespace {

constexpr double microsecond = 1e-6;

// A roof with the time that it alone asks for.
struct Candidate {
  std::string_view roof, basis;
  double time_us = 0;
  const Quantity* bytes = nullptr;  // none for compute
};

// DRAM bytes that nobody counted, by what stands in for them: without caches whatever is more.
const BasisBound& uncounted_dram(const Analysis& a, Reuse reuse) {
  if (reuse == Reuse::caught || a.time_us.has_value()) return a.compulsory;
  return a.transaction.bytes.number().value_or(0) > a.compulsory.bytes.number().value_or(0) ? a.transaction
                                                                                            : a.compulsory;
}

std::optional<Candidate> dram_candidate(const Analysis& a, Reuse reuse) {
  const LevelBound* dram = a.at(Level::dram);
  if (dram != nullptr && dram->bytes.has_value())
    return Candidate{to_text(Level::dram), to_text(Level::dram), dram->bound_time_us.number().value_or(0),
                     &dram->bytes};
  const BasisBound& stand_in = uncounted_dram(a, reuse);
  const auto bytes = stand_in.bytes.number(), bandwidth = a.bandwidth.number();
  if (!bytes || !bandwidth) return std::nullopt;
  return Candidate{to_text(Level::dram), to_text(stand_in.basis), *bytes / *bandwidth / microsecond, &stand_in.bytes};
}

// All that is known; compute comes last and must be slower than the rest to win.
std::vector<Candidate> candidates_of(const Analysis& a, Reuse reuse) {
  std::vector<Candidate> list;
  if (const auto dram = dram_candidate(a, reuse)) list.push_back(*dram);
  for (const Level level : {Level::l2, Level::l1})
    if (const LevelBound* bound = a.at(level); bound != nullptr && bound->bound_time_us.has_value())
      list.push_back({to_text(level), to_text(level), *bound->bound_time_us.number(), &bound->bytes});
  if (const double flops = a.flops.number().value_or(0); flops > 0)
    list.push_back({"compute", "", flops / *a.peak.number() / microsecond});
  return list;
}

Quantity modelled_over(double value, const Quantity* bytes) {
  Quantity result = Quantity::real(value, Source::modelled);
  if (bytes == nullptr || !bytes->estimated) return result;
  result.estimated = true;
  result.standard_error = value * bytes->standard_error / *bytes->number();
  return result;
}

Limit unknown_limit(const std::string& why) {
  const Quantity null = Quantity::null(why, Source::modelled);
  return {"", "", null, null, null, null, Quantity::null(why, Source::measured)};
}

}  // namespace

Limit limiting_roof(const Analysis& a, Reuse reuse) {
  const double flops = a.flops.number().value_or(0);
  if (flops > 0 && !a.peak.has_value()) return unknown_limit(a.peak.reason);
  const std::vector<Candidate> candidates = candidates_of(a, reuse);
  const auto slowest = std::ranges::max_element(candidates, {}, &Candidate::time_us);
  if (slowest == candidates.end() || !(slowest->time_us > 0))
    return unknown_limit("the point moves and computes nothing");

  Limit limit = unknown_limit("the point does no floating-point operations");
  limit.roof = slowest->roof;
  limit.basis = slowest->basis;
  limit.bound_time_us = modelled_over(slowest->time_us, slowest->bytes);
  if (flops > 0) {
    const double attainable = flops / (slowest->time_us * microsecond);
    limit.attainable = modelled_over(attainable, slowest->bytes);
    limit.percent_of_peak = modelled_over(100 * attainable / *a.peak.number(), slowest->bytes);
    limit.intensity = slowest->bytes == nullptr ? Quantity::null("compute is no roof over bytes", Source::modelled)
                                                : modelled_over(flops / *slowest->bytes->number(), slowest->bytes);
    if (slowest->bytes != nullptr) limit.intensity.source = slowest->bytes->source;
  }
  limit.percent_reached = a.time_us.has_value()
                              ? Quantity::real(100 * slowest->time_us / *a.time_us.number(), Source::measured)
                              : Quantity::null(a.time_us.reason, Source::measured);
  return limit;
}

std::optional<double> useful_bandwidth_under(const Analysis& a, const Limit& limit) {
  const auto bytes = a.compulsory.bytes.number(), us = limit.bound_time_us.number();
  return bytes && us && *us > 0 ? std::optional(*bytes / (*us * microsecond)) : std::nullopt;
}

std::string label_of(const Limit& limit) {
  const auto level = level_from_text(limit.roof);
  if (!level) return limit.roof;
  std::string label(label_of(*level));
  if (limit.basis == to_text(Basis::transaction)) label += " sectors";
  if (limit.basis == to_text(Basis::compulsory)) label += " once";
  return label;
}

}  // namespace gpuexp
