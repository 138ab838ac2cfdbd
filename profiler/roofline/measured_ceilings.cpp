// Which points tell which ceiling, and how it is read from them.
#include "profiler/roofline/measured_ceilings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "profiler/core/error.h"
#include "profiler/core/glob.h"
#include "profiler/core/text.h"
#include "profiler/roofline/units.h"

namespace gpuexp {
namespace {

constexpr double plateau_tolerance = 0.05;  // of the Empirical Roofline Toolkit: its fraction is 1.05
constexpr std::size_t shortest_plateau = 3;

// --- what points say ---

double integer_or(const ParamSet& set, std::string_view name, double otherwise) {
  const ParamValue* found = set.find(name);
  if (found == nullptr) return otherwise;
  const auto* value = std::get_if<std::int64_t>(found);
  return value == nullptr ? otherwise : static_cast<double>(*value);
}

bool has_word(const PointResult& result, std::string_view name, std::string_view word) {
  const ParamValue* found = result.point.params.find(name);
  const auto* value = found == nullptr ? nullptr : std::get_if<std::string>(found);
  return value != nullptr && *value == word;
}

double working_set(const PointResult& result) {
  return integer_or(result.facts, "working_set_bytes",
                    static_cast<double>(result.compulsory_load_bytes + result.compulsory_store_bytes));
}
double moved_bytes(const PointResult& result) {
  return integer_or(result.facts, "moved_bytes",
                    static_cast<double>(result.compulsory_load_bytes + result.compulsory_store_bytes));
}
bool reads_again(const PointResult& result) { return moved_bytes(result) > working_set(result); }
double chain_steps(const PointResult& result) { return integer_or(result.facts, "chain_steps", 0); }

struct Samples {
  double median_us = 0, mean_us = 0, deviation_us = 0;
};
// Nothing when the point has no usable time.
std::optional<Samples> samples_of(const PointResult& result) {
  if (result.status != Status::ok || !result.good() || !result.timing || result.timing->samples_us.empty()) return {};
  std::vector<double> times = result.timing->samples_us;
  std::ranges::sort(times);
  if (!(times.front() > 0) || !std::isfinite(times.back())) return {};
  Samples found;
  const std::size_t half = times.size() / 2;
  found.median_us = times.size() % 2 != 0 ? times[half] : (times[half - 1] + times[half]) / 2;
  for (const double time : times) found.mean_us += time / static_cast<double>(times.size());
  double squares = 0;
  for (const double time : times) squares += (time - found.mean_us) * (time - found.mean_us);
  if (times.size() > 1) found.deviation_us = std::sqrt(squares / static_cast<double>(times.size() - 1));
  return found;
}

// --- what is looked for ---

enum class Kind { rate, plateau, latency, latency_plateau };
enum class Within { anywhere, l1, l2, beyond_l1, beyond_l2 };  // sizes of the working sets that count

struct Definition {
  std::string_view id, label, unit;
  Kind kind;
  std::string_view variants;  // glob
  std::function<bool(const PointResult&)> takes;
  Within within = Within::anywhere;
};

bool any_point(const PointResult& /*result*/) { return true; }
std::function<bool(const PointResult&)> fma_of(std::string_view dtype, bool one_chain) {
  return [dtype, one_chain](const PointResult& result) {
    return has_word(result, "dtype", dtype) && (integer_or(result.point.params, "chains", 0) == 1) == one_chain;
  };
}
std::function<bool(const PointResult&)> tensor_of(std::string_view dtype) {
  return [dtype](const PointResult& result) {
    return has_word(result, "dtype", dtype) && result.point.params.find("tiles") != nullptr;
  };
}
bool reads_once(const PointResult& result) { return !reads_again(result); }
bool sweeps_past_l1(const PointResult& result) { return reads_again(result) && has_word(result, "LOAD", "cg"); }
bool sweeps_through_l1(const PointResult& result) { return reads_again(result) && has_word(result, "LOAD", "ca"); }

const std::vector<Definition>& definitions() {
  static const std::vector<Definition> all{
      {"dram_read", "DRAM read", "byte/s", Kind::rate, "micro/read", reads_once},
      {"dram_write", "DRAM write", "byte/s", Kind::rate, "micro/write", any_point},
      {"dram_copy", "DRAM copy", "byte/s", Kind::rate, "copy/*", any_point},
      {"dram_triad", "DRAM triad", "byte/s", Kind::rate, "micro/triad", any_point},
      {"l2", "L2 reads", "byte/s", Kind::plateau, "micro/read", sweeps_past_l1, Within::l2},
      {"l1", "L1 reads", "byte/s", Kind::plateau, "micro/read", sweeps_through_l1, Within::l1},
      {"shared", "shared memory reads", "byte/s", Kind::rate, "micro/shared_read", any_point},
      {"fp64", "FP64 FMA", "FLOP/s", Kind::rate, "micro/fma", fma_of("float64", false)},
      {"fp32", "FP32 FMA", "FLOP/s", Kind::rate, "micro/fma", fma_of("float32", false)},
      {"tf32", "TF32 tensor", "FLOP/s", Kind::rate, "micro/*", tensor_of("tf32")},
      {"fp16", "FP16 tensor", "FLOP/s", Kind::rate, "micro/*", tensor_of("float16")},
      {"bf16", "BF16 tensor", "FLOP/s", Kind::rate, "micro/*", tensor_of("bfloat16")},
      {"fma_latency", "FP32 FMA latency", "cycle", Kind::latency, "micro/fma", fma_of("float32", true)},
      {"fma64_latency", "FP64 FMA latency", "cycle", Kind::latency, "micro/fma", fma_of("float64", true)},
      {"shared_latency", "shared memory latency", "cycle", Kind::latency, "micro/shared_chase", any_point},
      {"l1_latency", "L1 latency", "cycle", Kind::latency_plateau, "micro/chase", any_point, Within::l1},
      {"l2_latency", "L2 latency", "cycle", Kind::latency_plateau, "micro/chase", any_point, Within::beyond_l1},
      {"dram_latency", "DRAM latency", "cycle", Kind::latency_plateau, "micro/chase", any_point, Within::beyond_l2},
  };
  return all;
}

// --- reading a figure ---

// A candidate for a figure: one point, or two of a latency.
struct Reading {
  const PointResult* point = nullptr;
  double value = 0;  // in the figure's unit
  double spread = 0;
};

bool lies_within(double bytes, Within within, const DeviceSpec& spec) {
  const double l1 = spec.sm.l1_shared_bytes, l2 = spec.l2_bytes;
  switch (within) {
    case Within::anywhere:
      return true;
    case Within::l1:
      return bytes <= l1;
    case Within::l2:
      return bytes <= l2;
    case Within::beyond_l1:
      return bytes > l1 && bytes <= l2;
    case Within::beyond_l2:
      return bytes > l2;
  }
  return false;
}

std::string_view place_of(Within within) {
  switch (within) {
    case Within::anywhere:
      break;
    case Within::l1:
      return "within the L1 cache";
    case Within::l2:
      return "within the L2 cache";
    case Within::beyond_l1:
      return "between the L1 and the L2 cache";
    case Within::beyond_l2:
      return "beyond the L2 cache";
  }
  return "";
}

std::string size_text(double bytes) {
  const double mib = bytes / (1 << 20U);
  return mib >= 1 ? fmt::format("{:.4g} MiB", mib) : fmt::format("{:.4g} KiB", bytes / 1024);
}

std::vector<Reading> rates_of(const std::vector<const PointResult*>& points, bool flops) {
  std::vector<Reading> readings;
  for (const PointResult* point : points) {
    const auto samples = samples_of(*point);
    if (!samples) continue;
    const double amount = flops ? point->flops : moved_bytes(*point);
    readings.push_back({point, amount / (samples->median_us * 1e-6), samples->deviation_us / samples->mean_us});
  }
  return readings;
}

// Points that differ in `steps` alone, the shortest and the longest of each group: the time of the steps between them.
std::vector<Reading> latencies_of(const std::vector<const PointResult*>& points) {
  std::map<std::string, std::vector<const PointResult*>> groups;
  for (const PointResult* point : points) {
    if (!samples_of(*point) || !point->timing->sm_clock_mhz) continue;
    Point rest = point->point;
    rest.params.set("steps", std::int64_t{0});
    groups[rest.key()].push_back(point);
  }
  std::vector<Reading> readings;
  for (auto& [key, group] : groups) {
    std::ranges::sort(group, {}, [](const PointResult* point) { return chain_steps(*point); });
    const PointResult &few = *group.front(), &many = *group.back();
    const double steps = chain_steps(many) - chain_steps(few);
    if (!(steps > 0)) continue;
    const Samples shorter = *samples_of(few), longer = *samples_of(many);
    // Cycles of each run at its own clock, should the clock have moved between them.
    const double cycles = longer.median_us * *many.timing->sm_clock_mhz - shorter.median_us * *few.timing->sm_clock_mhz;
    const double deviation = std::hypot(longer.deviation_us, shorter.deviation_us) * *many.timing->sm_clock_mhz;
    if (cycles > 0) readings.push_back({&many, cycles / steps, deviation / cycles});
  }
  return readings;
}

const Reading& best_of(const std::vector<Reading>& readings, bool lowest) {
  return *std::ranges::min_element(readings, {}, [&](const Reading& r) { return lowest ? r.value : -r.value; });
}

void set_reading(CeilingFigure& figure, const Reading& reading, std::string how) {
  figure.value = Quantity::real(reading.value, Source::measured);
  figure.point = reading.point->point.key();
  figure.how = std::move(how);
  figure.relative_spread = reading.spread;
  figure.sm_clock_mhz = reading.point->timing->sm_clock_mhz;
}

// The plateau of the level, among the points whose working sets the level holds: of a bandwidth the highest, of a
// latency the lowest.
void set_plateau(CeilingFigure& figure, const std::vector<Reading>& readings, const Definition& wanted,
                 const DeviceSpec& spec) {
  std::vector<SweepPoint> sweep;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    const double bytes = working_set(*readings[i].point);
    if (lies_within(bytes, wanted.within, spec)) sweep.push_back({bytes, readings[i].value, i});
  }
  const std::vector<Plateau> plateaus = find_plateaus(sweep);
  if (plateaus.empty()) {
    figure.value = Quantity::null(
        fmt::format("no plateau: of the {} points with working sets {} no {} neighbours lie within {:.0f} % of a value",
                    sweep.size(), place_of(wanted.within), shortest_plateau, 100 * plateau_tolerance),
        Source::measured);
    return;
  }
  const auto by_value = [](const Plateau& plateau) { return plateau.middle.value; };
  const bool lowest = wanted.kind == Kind::latency_plateau;
  const Plateau& chosen =
      lowest ? *std::ranges::min_element(plateaus, {}, by_value) : *std::ranges::max_element(plateaus, {}, by_value);
  set_reading(
      figure, readings[chosen.middle.index],
      fmt::format("plateau {} to {}, {} points, {:.1f} % wide", size_text(chosen.points.front().working_set_bytes),
                  size_text(chosen.points.back().working_set_bytes), chosen.points.size(), 100 * chosen.width));
}

// Why no point gave a reading: what the first of them says.
std::string reason_without(const std::vector<const PointResult*>& points, const Definition& wanted) {
  if (points.empty()) return fmt::format("no point of {} is among the results", wanted.variants);
  for (const PointResult* point : points) {
    if (!point->reason.empty()) return fmt::format("{}: {}", point->point.variant, point->reason);
    if (!point->good()) return fmt::format("{}: its result is wrong", point->point.variant);
  }
  if (!points.front()->timing) return fmt::format("{}: it was not timed", points.front()->point.variant);
  return wanted.unit == "cycle" ? "chains of two lengths and the measured clock are needed" : "no usable time";
}

// --- against the specification ---

struct Stated {
  std::optional<double> spec;       // in the figure's unit
  std::optional<double> per_cycle;  // of the whole GPU
};

Stated stated_for(std::string_view id, const DeviceSpec& spec, const Ceilings& ceilings) {
  const auto slope = [&](Level level) {
    const BandwidthCeiling* found = ceilings.find(level);
    return found == nullptr ? std::optional<double>() : found->bandwidth;
  };
  if (id.starts_with("dram_") && !id.ends_with("latency")) return {slope(Level::dram), std::nullopt};
  if (id == "l2") return {slope(Level::l2), spec.l2_bytes_per_clock};
  if (id == "l1" || id == "shared") {
    if (!spec.l1_bytes_per_clock) return {};
    return {slope(Level::l1), *spec.l1_bytes_per_clock * spec.sm_count};
  }
  const Precision* precision = precision_by_id(id);
  if (precision == nullptr) return {};
  return {spec.peak(id), peak_at_clock(spec, *precision, 1.0)};
}

void compare_with_spec(CeilingFigure& figure, const DeviceSpec& spec, const Ceilings& ceilings) {
  const auto value = figure.value.number();
  const Stated stated = stated_for(figure.id, spec, ceilings);
  const auto percent = [&](std::optional<double> of, std::string_view missing) {
    if (!value) return Quantity::null("not measured", Source::measured);
    if (!of) return Quantity::null(std::string(missing), Source::measured);
    return Quantity::real(100 * *value / *of, Source::measured);
  };
  figure.percent_of_spec =
      percent(stated.spec, figure.unit == "cycle" ? "no specification states latencies" : "the device file has none");
  std::optional<double> at_clock;
  if (stated.per_cycle && figure.sm_clock_mhz) at_clock = *stated.per_cycle * *figure.sm_clock_mhz * 1e6;
  figure.percent_at_clock = percent(at_clock, "no rate per cycle is known, or no clock was measured");
}

std::string value_text(const CeilingFigure& figure) {
  const auto value = figure.value.number();
  if (!value) return "-";
  if (figure.unit == "byte/s") return bandwidth_text(*value);
  if (figure.unit == "cycle") return fmt::format("{:.1f} cycles", *value);
  return rate_text(*value, figure.unit);
}

std::string percent_or_dash(const Quantity& quantity) {
  const auto value = quantity.number();
  return value ? percent_text(*value) : "-";
}

std::string environment_entry(const MeasuredCeilings& measured, std::string_view name) {
  for (const auto& [key, value] : measured.environment)
    if (key == name) return value;
  return "";
}

}  // namespace

std::vector<Plateau> find_plateaus(std::vector<SweepPoint> sweep) {
  std::erase_if(sweep, [](const SweepPoint& point) { return !(point.value > 0) || !std::isfinite(point.value); });
  std::ranges::stable_sort(sweep, {}, &SweepPoint::working_set_bytes);
  // Within 5 % of a common value: at most this factor from the smallest to the largest.
  constexpr double widest = (1 + plateau_tolerance) / (1 - plateau_tolerance);
  std::size_t first = 0, count = 0;
  for (std::size_t begin = 0; begin < sweep.size(); ++begin) {
    double low = sweep[begin].value, high = low;
    std::size_t end = begin + 1;
    for (; end < sweep.size(); ++end) {
      const double value = sweep[end].value;
      if (std::max(high, value) > widest * std::min(low, value)) break;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (end - begin > count) {
      first = begin;
      count = end - begin;
    }
  }
  if (count < shortest_plateau) return {};
  const auto at = [&](std::size_t i) { return sweep.begin() + static_cast<std::ptrdiff_t>(i); };
  Plateau longest{{at(first), at(first + count)}, {}, 0};
  std::vector<SweepPoint> by_value = longest.points;
  std::ranges::sort(by_value, {}, &SweepPoint::value);
  longest.middle = by_value[by_value.size() / 2];
  longest.width = by_value.back().value / by_value.front().value - 1;
  std::vector<Plateau> all = find_plateaus({sweep.begin(), at(first)});
  all.push_back(std::move(longest));
  for (Plateau& after : find_plateaus({at(first + count), sweep.end()})) all.push_back(std::move(after));
  return all;
}

std::vector<CeilingFigure> find_ceilings(std::span<const PointResult* const> points, const DeviceSpec& spec) {
  const Ceilings stated = ceilings_of(spec);
  std::vector<CeilingFigure> figures;
  for (const Definition& wanted : definitions()) {
    CeilingFigure figure;
    figure.id = wanted.id;
    figure.label = wanted.label;
    figure.unit = wanted.unit;
    std::vector<const PointResult*> taken;
    for (const PointResult* point : points)
      if (glob_matches(wanted.variants, point->point.variant) && wanted.takes(*point)) taken.push_back(point);
    const bool latency = wanted.unit == "cycle";
    const std::vector<Reading> readings = latency ? latencies_of(taken) : rates_of(taken, wanted.unit == "FLOP/s");
    if (readings.empty()) {
      figure.value = Quantity::null(reason_without(taken, wanted), Source::measured);
    } else if (wanted.kind == Kind::plateau || wanted.kind == Kind::latency_plateau) {
      set_plateau(figure, readings, wanted, spec);
    } else {
      set_reading(
          figure, best_of(readings, latency),
          fmt::format("{} of {} {}", latency ? "lowest" : "best", readings.size(), latency ? "chains" : "points"));
    }
    compare_with_spec(figure, spec, stated);
    figures.push_back(std::move(figure));
  }
  return figures;
}

std::vector<MeasuredCeiling> roofs_of(const MeasuredCeilings& measured) {
  std::vector<MeasuredCeiling> roofs;
  std::optional<MeasuredCeiling> dram;
  for (const CeilingFigure& figure : measured.ceilings) {
    const auto value = figure.value.number();
    if (!value || figure.unit == "cycle") continue;
    const MeasuredCeiling roof{figure.id, *value, figure.sm_clock_mhz.value_or(0), figure.point};
    if (figure.id.starts_with("dram_")) {
      if (!dram || *value > dram->value) dram = MeasuredCeiling{"dram", *value, 0, figure.point};
    } else if (level_from_text(figure.id) || precision_by_id(figure.id) != nullptr) {
      roofs.push_back(roof);
    }
  }
  if (dram) roofs.insert(roofs.begin(), *dram);
  return roofs;
}

std::string origin_of(const MeasuredCeilings& measured) {
  const std::string gpu = environment_entry(measured, "gpu"), started = environment_entry(measured, "started");
  return fmt::format("microkernels on {}{}{}, gpuexp {}", gpu.empty() ? measured.device_name : gpu,
                     started.empty() ? "" : ", ", started, measured.gpuexp_version);
}

void require_same_device(const MeasuredCeilings& measured, const DeviceSpec& spec, bool what_if,
                         const std::string& file) {
  if (what_if || measured.device_id == spec.id) return;
  throw Error(ExitCode::usage,
              fmt::format("{}: these ceilings were measured on {} ({}), not on {} ({}); name a file of that device, "
                          "--device {}, or --what-if to stand one under the other's roof",
                          file, measured.device_name, measured.device_id, spec.name, spec.id, measured.device_id));
}

std::string ceilings_table(const MeasuredCeilings& measured) {
  std::string text = fmt::format("Measured ceilings of {}\n{}\n\n", measured.device_name, origin_of(measured));
  constexpr std::string_view row = "{:<21} {:>14} {:>8} {:>9} {:>8} {:>8}  {}\n";
  text += fmt::format(row, "ceiling", "measured", "spread", "SM clock", "of spec", "at clock", "how");
  std::string missing;
  for (const CeilingFigure& figure : measured.ceilings) {
    if (!figure.value.has_value())
      missing += wrapped_text(fmt::format("{}: {}", figure.label, figure.value.reason), "  ");
    text += fmt::format(row, figure.label, value_text(figure),
                        figure.relative_spread ? fmt::format("{:.2f} %", 100 * *figure.relative_spread) : "-",
                        figure.sm_clock_mhz ? fmt::format("{:.0f} MHz", *figure.sm_clock_mhz) : "-",
                        percent_or_dash(figure.percent_of_spec), percent_or_dash(figure.percent_at_clock),
                        shortened(figure.how.substr(0, figure.how.find(',')), 24));
  }
  if (!missing.empty()) text += "\nnot measured:\n" + missing;
  text +=
      "\nspread: standard deviation of the time samples over their mean; of spec: of the ceiling that the\n"
      "device file gives; at clock: of what the units do per cycle, times the SM clock measured in the run.\n"
      "Bandwidths and rates are over the median time; latencies are time x that clock / steps.\n";
  return text;
}

}  // namespace gpuexp
