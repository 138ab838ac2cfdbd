// The roofline of one point: bytes on four bases, the intensity on each, and what the device's ceilings make of them.
#include "profiler/roofline/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include "profiler/core/text.h"
#include "profiler/counters/counters.h"
#include "profiler/roofline/ceilings.h"

namespace gpuexp {
namespace {

constexpr double micro = 1e-6;
constexpr const char* no_flops = "the point does no floating-point operations";

constexpr std::array<std::string_view, 3> bound_words{"memory", "compute", "unknown"};  // in enum order
constexpr std::array<std::string_view, 3> level_words{"dram", "l2", "l1"};
constexpr std::array<std::string_view, 3> level_labels{"DRAM", "L2", "L1/shared"};
constexpr std::array<std::string_view, 3> level_meanings{
    "bytes that device memory read and wrote", "32-byte sectors that the L2 cache read and wrote",
    "32-byte sectors of global accesses, and 128 bytes for each wavefront of shared memory"};
constexpr std::array<std::string_view, 4> basis_words{"loaded", "requested", "transaction", "compulsory"};
constexpr std::array<std::string_view, 4> basis_meanings{
    "bytes all lanes load, as if there were no cache", "bytes all lanes load and store, as if there were no cache",
    "32-byte sectors that requests load and store", "bytes that the problem itself must load and store"};

// A value computed from `from`: it inherits its source and, in proportion, its uncertainty.
Quantity derived(const Quantity& from, double value, Source source) {
  Quantity result = Quantity::real(value, source);
  const double base = from.number().value_or(0);
  result.estimated = from.estimated && result.has_value();
  if (result.estimated && base != 0) result.standard_error = std::abs(value / base) * from.standard_error;
  return result;
}

// value(a, b) when both are known, else null with the reason of the first that is not.
template <class Function>
Quantity combine(const Quantity& a, const Quantity& b, Source source, Function&& value) {
  for (const Quantity* q : {&a, &b})
    if (!q->has_value()) return Quantity::null(q->reason, source);
  return Quantity::real(value(*a.number(), *b.number()), source);
}

// numerator / denominator; a zero denominator is a null with `why_zero`.
Quantity ratio(const Quantity& numerator, const Quantity& denominator, Source source, const char* why_zero,
               double unit = 1) {
  if (denominator.number() == 0.0) return Quantity::null(why_zero, source);
  return combine(numerator, denominator, source, [unit](double n, double d) { return unit * n / d; });
}

// A count of the run or, beside a measured point, of the emulator.
Quantity counter(const PointResult& result, const std::string& id) {
  const auto own = result.counters.find(id);
  if (own != result.counters.end() && own->second.has_value()) return own->second;
  const auto predicted = result.predicted.find(id);
  if (predicted != result.predicted.end() && predicted->second.has_value()) return predicted->second;
  if (own != result.counters.end()) return own->second;
  const Source source = result.backend == "cuda" ? Source::measured : Source::emulated;
  return Quantity::null(fmt::format("counter {} was not collected", id), source);
}

// a + b of one source; the weaker source wins when they differ.
Quantity sum(const Quantity& a, const Quantity& b) {
  const Source source = std::max(a.source, b.source);
  for (const Quantity* q : {&a, &b})
    if (!q->has_value()) return Quantity::null(q->reason, source);
  Quantity result = a.exact() && b.exact() ? Quantity::count(*a.exact() + *b.exact(), source)
                                           : Quantity::real(*a.number() + *b.number(), source);
  result.estimated = a.estimated || b.estimated;
  result.standard_error = std::hypot(a.standard_error, b.standard_error);
  return result;
}

// Loads plus stores of one kind ("requested"). Global atomics both load and store, and are left out only when it is
// known that there are none or when the backend says nothing of atomics at all.
Quantity moved_bytes(const PointResult& result, const std::string& kind) {
  const Quantity total = sum(counter(result, kind + "_load_bytes"), counter(result, kind + "_store_bytes"));
  const std::string id = kind + "_atomic_bytes";
  if (!result.counters.contains(id) && !result.predicted.contains(id)) return total;
  const Quantity atomic = counter(result, id);
  if (atomic.number() == 0.0) return total;
  if (!atomic.has_value() && counter(result, "global_atomic_requests").number().value_or(0) == 0) return total;
  return sum(total, sum(atomic, atomic));
}

// Loads of the L1 cache that its request counters did not see: bulk copies into shared memory.
bool loads_unseen(const PointResult& result, const Quantity& loaded) {
  return loaded.source == Source::measured && loaded.number() == 0.0 && result.compulsory_load_bytes > 0;
}

// What moved between L1 and L2. The counters of load requests do not see bulk copies into shared memory, with which
// libraries load: where they saw no load at all of a problem that must load, the sectors of the L2 cache say what
// moved.
Quantity moved_sector_bytes(const PointResult& result) {
  constexpr double sector_bytes = 32;
  const Quantity loaded = counter(result, "transaction_load_bytes");
  if (!loads_unseen(result, loaded)) return moved_bytes(result, "transaction");
  const Quantity sectors = sum(counter(result, "l2_read_sectors"), counter(result, "l2_write_sectors"));
  return sectors.has_value() ? derived(sectors, sector_bytes * *sectors.number(), Source::measured) : sectors;
}

// Operations that the chip counted, weighted as the counter table says; nullopt when it counted none of that group.
std::optional<double> counted_operations(const PointResult& result, std::string_view group) {
  std::optional<double> total;
  for (const auto& [id, quantity] : result.counters) {
    const Counter* row = find_counter(id);
    if (row == nullptr || row->group != group || quantity.source != Source::measured || !quantity.has_value()) continue;
    total = total.value_or(0) + row->flops * *quantity.number();
  }
  return total;
}

// The tensor ceiling of a point whose tensor cores did most of the counted operations, or "".
std::string tensor_precision(const PointResult& result) {
  const double tensor = counted_operations(result, "tensor").value_or(0);
  if (tensor <= counted_operations(result, "flops").value_or(0)) return {};
  constexpr std::pair<const char*, const char*> pipes[] = {{"tensor_tf32_operations", "tf32"},
                                                           {"tensor_fp16_operations", "fp16"},
                                                           {"tensor_bf16_operations", "bf16"},
                                                           {"tensor_fp16_half_sum_operations", "fp16_acc16"},
                                                           {"tensor_fp64_operations", "fp64_tensor"}};
  const auto* most = std::max_element(std::begin(pipes), std::end(pipes), [&](const auto& a, const auto& b) {
    return counter(result, a.first).number().value_or(0) < counter(result, b.first).number().value_or(0);
  });
  return most->second;
}

// The compute ceiling that fits the point's dtype, and why.
std::pair<std::string, std::string> precision_for(const PointResult& result, const AnalysisOptions& options) {
  if (!options.precision.empty()) return {std::string(find_precision(options.precision).id), "as asked"};
  if (const std::string tensor = tensor_precision(result); !tensor.empty())
    return {tensor, "tensor cores did most of the operations counted"};
  const ParamValue* value = result.point.params.find("dtype");
  if (value == nullptr) return {"fp32", "the point has no dtype; float32 on CUDA cores assumed"};
  const std::string dtype = to_text(*value);
  if (dtype == "float64") return {"fp64", "dtype float64 on CUDA cores"};
  if (dtype == "float32") return {"fp32", "dtype float32 on CUDA cores"};
  if (dtype == "float16" || dtype == "bfloat16")
    return {"fp32", fmt::format("dtype {} is multiplied and accumulated in float32 on CUDA cores", dtype)};
  return {"", fmt::format("dtype {} has no floating-point ceiling", dtype)};
}

void set_ceilings(Analysis& a, const Ceilings& ceilings, const DeviceSpec& spec) {
  a.device = spec.name;
  const BandwidthCeiling& dram = slope_or_throw(ceilings, Level::dram);
  a.bandwidth = Quantity::real(dram.bandwidth, dram.source);
  if (const Precision* precision = precision_by_id(a.precision)) {
    const ComputeCeiling* roof = ceilings.find(*precision);
    a.peak = roof != nullptr
                 ? Quantity::real(roof->peak, roof->source)
                 : Quantity::null(fmt::format("{} has no {} peak", spec.name, precision->label), Source::spec);
    a.peak_clock_mhz = roof != nullptr && roof->clock_mhz > 0 ? roof->clock_mhz : spec.clock_of(*precision) / 1e6;
  } else {
    a.peak = Quantity::null(a.precision_reason, Source::spec);
  }
  a.ridge = combine(a.peak, a.bandwidth, Source::modelled, ridge_point);
}

BasisBound bound_on(Basis basis, const Quantity& bytes, const Analysis& a) {
  BasisBound b;
  b.basis = basis;
  b.bytes = bytes;
  const Source source = bytes.source;
  const double flops = a.flops.number().value_or(0);
  const auto peak = a.peak.number();
  const double bandwidth = *a.bandwidth.number();
  if (!bytes.has_value()) {
    b.intensity = Quantity::null(bytes.reason, source);
  } else if (flops == 0) {
    b.intensity = Quantity::null(no_flops, source);
  } else if (bytes.number() == 0.0) {
    b.intensity = Quantity::null("no bytes on this basis", source);
  } else {
    b.intensity = derived(bytes, flops / *bytes.number(), source);
  }

  if (b.intensity.has_value() && peak) {
    const double intensity = *b.intensity.number();
    const double attainable = attainable_flops(intensity, *peak, bandwidth);
    b.bound_by = intensity < *peak / bandwidth ? BoundBy::memory : BoundBy::compute;
    b.attainable = b.bound_by == BoundBy::memory ? derived(b.intensity, attainable, Source::modelled)
                                                 : Quantity::real(attainable, Source::modelled);
    b.percent_of_peak = derived(b.attainable, 100 * attainable / *peak, Source::modelled);
  } else {
    const std::string& reason = b.intensity.has_value() ? a.peak.reason : b.intensity.reason;
    b.attainable = Quantity::null(reason, Source::modelled);
    b.percent_of_peak = Quantity::null(reason, Source::modelled);
    if (flops == 0 && bytes.number().value_or(0) > 0) b.bound_by = BoundBy::memory;
  }

  if (!bytes.has_value()) {
    b.bound_time_us = Quantity::null(bytes.reason, Source::modelled);
  } else if (flops > 0 && !peak) {
    b.bound_time_us = Quantity::null(a.peak.reason, Source::modelled);
  } else {
    const double by_bytes = *bytes.number() / bandwidth / micro;
    const double by_flops = flops > 0 ? flops / *peak / micro : 0;
    b.bound_time_us =
        by_bytes >= by_flops ? derived(bytes, by_bytes, Source::modelled) : Quantity::real(by_flops, Source::modelled);
  }
  return b;
}

std::string verdict_of(const Analysis& a) {
  if (a.compulsory.bound_by == BoundBy::memory) return "memory";
  // Of a library's kernel nobody knows what its lanes ask for; then the sectors tell.
  const BasisBound& uncached = a.requested.bytes.has_value() ? a.requested : a.transaction;
  if (uncached.bound_by == BoundBy::compute) return "compute";
  if (uncached.bound_by == BoundBy::memory && a.compulsory.bound_by == BoundBy::compute)
    return "memory unless caches catch the reuse";
  return "unknown";
}

void set_effective_bandwidth(Analysis& a) {
  // Fewer sectors than compulsory bytes would be a kernel that skips data; the share is then above one and is kept.
  const Quantity share =
      ratio(a.compulsory.bytes, a.transaction.bytes, Source::modelled, "no bytes were moved in sectors");
  a.effective_bandwidth = combine(share, a.bandwidth, Source::modelled, [](double s, double b) { return s * b; });
  a.effective_bandwidth_percent = share.has_value() ? Quantity::real(100 * *share.number(), Source::modelled) : share;
  a.requested_over_compulsory =
      ratio(a.requested.bytes, a.compulsory.bytes, std::max(a.requested.bytes.source, Source::emulated),
            "the problem moves no bytes");
}

std::optional<double> median(std::vector<double> samples) {
  if (samples.empty()) return std::nullopt;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(samples.begin(), middle)) / 2;
}

Quantity measured_time(const PointResult& result) {
  if (result.backend == "simt") return Quantity::null("the simt backend measures no time", Source::measured);
  if (!result.timing) return Quantity::null("the point was not timed", Source::measured);
  const auto time = median(result.timing->samples_us);
  if (!time) return Quantity::null("no time sample was kept", Source::measured);
  if (!(*time > 0)) return Quantity::null("the median time is not above zero: too short to measure", Source::measured);
  return Quantity::real(*time, Source::measured);
}

// What crossed each level; null, with the reason, where its counters are missing.
Quantity dram_traffic(const PointResult& result) {
  if (result.backend == "simt") return Quantity::null("the simt backend emulates no DRAM", Source::measured);
  return sum(counter(result, "dram_read_bytes"), counter(result, "dram_write_bytes"));
}

Quantity l2_traffic(const PointResult& result) {
  constexpr double sector_bytes = 32;
  if (result.backend == "simt") return Quantity::null("the simt backend emulates no L2 cache", Source::measured);
  const Quantity sectors = sum(counter(result, "l2_read_sectors"), counter(result, "l2_write_sectors"));
  return sectors.has_value() ? derived(sectors, sector_bytes * *sectors.number(), sectors.source) : sectors;
}

// A wavefront occupies the whole width of the data path, whatever its lanes take of it.
Quantity l1_traffic(const PointResult& result) {
  constexpr double wavefront_bytes = 128;
  if (loads_unseen(result, counter(result, "transaction_load_bytes")))
    return Quantity::null("the kernel loads by bulk copies, which the counters of requests do not see",
                          Source::measured);
  Quantity wavefronts = sum(counter(result, "shared_load_wavefronts"), counter(result, "shared_store_wavefronts"));
  const Quantity atomics = counter(result, "shared_atomic_wavefronts");
  if (atomics.number().value_or(0) > 0) wavefronts = sum(wavefronts, atomics);
  if (!wavefronts.has_value()) return wavefronts;
  return sum(moved_bytes(result, "transaction"),
             derived(wavefronts, wavefront_bytes * *wavefronts.number(), wavefronts.source));
}

void set_measured(Analysis& a, const PointResult& result) {
  a.time_us = measured_time(result);
  const auto per_second = [&](const Quantity& amount) {
    return combine(amount, a.time_us, Source::measured, [](double n, double us) { return n / (us * micro); });
  };
  a.achieved_flops = a.flops.number() == 0.0 && a.time_us.has_value() ? Quantity::null(no_flops, Source::measured)
                                                                      : per_second(a.flops);
  a.percent_of_peak = ratio(a.achieved_flops, a.peak, Source::measured, "no peak", 100);
  a.percent_of_attainable =
      ratio(a.achieved_flops, a.compulsory.attainable, Source::measured, "nothing attainable", 100);
  a.achieved_bandwidth = per_second(a.compulsory.bytes);
  a.percent_of_bandwidth = ratio(a.achieved_bandwidth, a.bandwidth, Source::measured, "no bandwidth", 100);
  const Quantity dram = dram_traffic(result);
  a.dram_bandwidth = dram.has_value() ? per_second(dram) : Quantity::null(dram.reason, Source::measured);
}

Quantity traffic_at(const PointResult& result, Level level) {
  return level == Level::dram ? dram_traffic(result) : level == Level::l2 ? l2_traffic(result) : l1_traffic(result);
}

LevelBound level_bound(Level level, const PointResult& result, const Analysis& a, const Ceilings& ceilings) {
  LevelBound b;
  b.level = level;
  b.bytes = traffic_at(result, level);
  const BandwidthCeiling* slope = ceilings.find(level);
  const Quantity ceiling =
      slope != nullptr
          ? Quantity::real(slope->bandwidth, slope->source)
          : Quantity::null(fmt::format("the {} bandwidth of {} is not known", label_of(level), a.device), Source::spec);
  if (a.flops.number() == 0.0) {
    b.intensity = Quantity::null(no_flops, b.bytes.source);
  } else if (b.bytes.number() == 0.0) {
    b.intensity = Quantity::null("no bytes crossed this level", b.bytes.source);
  } else {
    b.intensity =
        b.bytes.has_value() ? derived(b.bytes, *a.flops.number() / *b.bytes.number(), b.bytes.source) : b.bytes;
  }
  b.attainable = combine(b.intensity, ceiling, Source::modelled, [](double i, double bw) { return i * bw; });
  if (b.attainable.has_value())
    b.attainable = combine(b.attainable, a.peak, Source::modelled, [](double x, double y) { return std::min(x, y); });
  b.percent_of_attainable = ratio(a.achieved_flops, b.attainable, Source::measured, "nothing attainable", 100);
  b.bandwidth = combine(b.bytes, a.time_us, Source::measured, [](double n, double us) { return n / (us * micro); });
  b.percent_of_bandwidth = ratio(b.bandwidth, ceiling, Source::measured, "no bandwidth", 100);
  b.bound_time_us = combine(b.bytes, ceiling, Source::modelled, [](double n, double bw) { return n / bw / micro; });
  return b;
}

void set_levels(Analysis& a, const PointResult& result, const Ceilings& ceilings) {
  double lowest = a.peak.number().value_or(0);
  for (const Level level : memory_levels) {
    a.levels.push_back(level_bound(level, result, a, ceilings));
    const auto attainable = a.levels.back().attainable.number();
    if (!attainable) continue;
    if (a.lowest_roof.empty()) a.lowest_roof = "compute";
    if (*attainable < lowest) {
      lowest = *attainable;
      a.lowest_roof = to_text(level);
    }
  }
}

bool same_shape(const BlockShape& a, const BlockShape& b) {
  return a.threads == b.threads && a.static_shared_bytes == b.static_shared_bytes &&
         a.dynamic_shared_bytes == b.dynamic_shared_bytes && a.registers_per_thread == b.registers_per_thread;
}

std::vector<LaunchOccupancy> occupancies(const PointResult& result, const DeviceSpec& spec) {
  std::vector<LaunchOccupancy> list;
  for (const LaunchInfo& launch : result.launches) {
    const BlockShape block{launch.block.count(), launch.static_shared_bytes, launch.dynamic_shared_bytes,
                           launch.registers_per_thread};
    if (std::ranges::none_of(list, [&](const LaunchOccupancy& one) { return same_shape(one.block, block); }))
      list.push_back({launch.kernel, block, occupancy(spec, block)});
  }
  return list;
}

std::string mebibytes(double bytes) { return fmt::format("{:.4g} MiB", bytes / (1 << 20)); }

void warn_above_roof(Analysis& a, const PointResult& result, const DeviceSpec& spec) {
  const auto above = [](const Quantity& percent) { return percent.number().value_or(0) > 100; };
  if (above(a.percent_of_bandwidth))
    a.warnings.push_back(fmt::format(
        "{:.1f} % of DRAM bandwidth: the bytes did not all come from DRAM ({}); compare with the measured DRAM bytes, "
        "and enlarge the problem beyond the L2 cache or flush it",
        *a.percent_of_bandwidth.number(),
        a.working_set_fits_l2 ? fmt::format("the working set, {}, fits the L2 cache, {}",
                                            mebibytes(*a.working_set_bytes.number()), mebibytes(spec.l2_bytes))
                              : "a cache kept some, or not all of them were moved"));
  if (above(a.percent_of_peak)) {
    const double clock = result.timing ? result.timing->sm_clock_mhz.value_or(0) : 0;
    const Precision* precision = precision_by_id(a.precision);
    std::string at_clock;
    if (clock > 0 && precision != nullptr)
      if (const auto peak = peak_at_clock(spec, *precision, clock * 1e6))
        at_clock = fmt::format("at the measured {:.0f} MHz the peak is {:.4g} TFLOP/s; ", clock, *peak / 1e12);
    a.warnings.push_back(fmt::format(
        "{:.1f} % of the {} peak, which holds at {:.0f} MHz: {}a higher clock, another pipe (tensor cores: choose its "
        "precision) or fewer operations than counted explain it",
        *a.percent_of_peak.number(), precision != nullptr ? precision->label : a.precision, a.peak_clock_mhz,
        at_clock));
  } else if (above(a.percent_of_attainable)) {
    a.warnings.push_back(fmt::format(
        "{:.1f} % of the attainable rate: the bytes counted as compulsory did not all come from DRAM (warm cache, or a "
        "working set within L2)",
        *a.percent_of_attainable.number()));
  }
}

void warn(Analysis& a, const PointResult& result, const DeviceSpec& spec) {
  const double working_set = a.working_set_bytes.number().value_or(0);
  if (a.working_set_fits_l2)
    a.warnings.push_back(fmt::format(
        "the working set, {}, fits the L2 cache of {}, {}: bounds by DRAM bandwidth hold for a cold cache only",
        mebibytes(working_set), spec.name, mebibytes(spec.l2_bytes)));
  if (working_set > spec.memory.bytes)
    a.warnings.push_back(fmt::format("the working set, {:.4g} GB, exceeds the memory of {}, {:.4g} GB",
                                     working_set / 1e9, spec.name, spec.memory.bytes / 1e9));
  const auto cuda_cores = counted_operations(result, "flops");
  const auto tensor_cores = counted_operations(result, "tensor");
  if (result.flops > 0 && (cuda_cores || tensor_cores) && cuda_cores.value_or(0) + tensor_cores.value_or(0) == 0)
    a.warnings.push_back(fmt::format(
        "the FLOP counters are zero though the problem takes {} FLOPs: {}; the intensities use the problem's FLOPs",
        number_text(result.flops),
        tensor_cores ? "the counters collected do not see the pipe that did them"
                     : "work of tensor cores shows in the counters of group tensor only"));
  const LevelBound &dram = *a.at(Level::dram), &l2 = *a.at(Level::l2);
  if (dram.bytes.number() && l2.bytes.number() && *dram.bytes.number() > *l2.bytes.number())
    a.warnings.push_back(fmt::format(
        "more DRAM bytes ({:.4g} MB) than bytes of the L2 cache ({:.4g} MB): counters of several passes saw different "
        "runs, and ratios between them are unreliable; a kernel of more than about 20 us gives steady ones",
        *dram.bytes.number() / 1e6, *l2.bytes.number() / 1e6));
  warn_above_roof(a, result, spec);
}

}  // namespace

double ridge_point(double peak_flops, double bandwidth) { return peak_flops / bandwidth; }

double attainable_flops(double intensity, double peak_flops, double bandwidth) {
  return std::min(peak_flops, intensity * bandwidth);
}

std::string_view to_text(BoundBy bound) { return bound_words[static_cast<std::size_t>(bound)]; }
std::string_view to_text(Level level) { return level_words[static_cast<std::size_t>(level)]; }
std::string_view label_of(Level level) { return level_labels[static_cast<std::size_t>(level)]; }
std::string_view meaning_of(Level level) { return level_meanings[static_cast<std::size_t>(level)]; }
std::optional<Level> level_from_text(std::string_view text) {
  for (const Level level : memory_levels)
    if (to_text(level) == text) return level;
  return std::nullopt;
}

std::string_view to_text(Basis basis) { return basis_words[static_cast<std::size_t>(basis)]; }
std::string_view meaning_of(Basis basis) { return basis_meanings[static_cast<std::size_t>(basis)]; }

const BasisBound& Analysis::on(Basis basis) const {
  const std::array<const BasisBound*, 4> all{&loaded, &requested, &transaction, &compulsory};
  return *all[static_cast<std::size_t>(basis)];
}

const LevelBound* Analysis::at(Level level) const {
  const auto found = std::ranges::find(levels, level, &LevelBound::level);
  return found == levels.end() ? nullptr : &*found;
}

Analysis analyze(const PointResult& result, const DeviceSpec& spec, const AnalysisOptions& options) {
  Analysis a;
  std::tie(a.precision, a.precision_reason) = precision_for(result, options);
  const Ceilings own = options.ceilings == nullptr ? ceilings_of(spec) : Ceilings();
  const Ceilings& ceilings = options.ceilings == nullptr ? own : *options.ceilings;
  set_ceilings(a, ceilings, spec);
  a.flops = Quantity::real(result.flops, Source::modelled);
  const Quantity compulsory =
      Quantity::count(result.compulsory_load_bytes + result.compulsory_store_bytes, Source::modelled);
  a.working_set_bytes = compulsory;
  a.working_set_fits_l2 = *compulsory.exact() > 0 && static_cast<double>(*compulsory.exact()) <= spec.l2_bytes;

  a.loaded = bound_on(Basis::loaded, counter(result, "requested_load_bytes"), a);
  a.requested = bound_on(Basis::requested, moved_bytes(result, "requested"), a);
  a.transaction = bound_on(Basis::transaction, moved_sector_bytes(result), a);
  a.compulsory = bound_on(Basis::compulsory, compulsory, a);
  a.verdict = verdict_of(a);
  set_effective_bandwidth(a);
  set_measured(a, result);
  set_levels(a, result, ceilings);
  a.limit = limiting_roof(a);
  a.occupancy = occupancies(result, spec);
  warn(a, result, spec);
  return a;
}

}  // namespace gpuexp
