// The ceilings that a GPU reaches, found in the points of configs/ceilings.json: the best rates, the plateaus of sweeps
// over the working set, and latencies from chains of two lengths.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profiler/core/point.h"
#include "profiler/core/quantity.h"
#include "profiler/device/device_spec.h"
#include "profiler/roofline/ceilings.h"

namespace gpuexp {

inline constexpr int ceilings_schema_version = 1;

// One ceiling as it was measured.
struct CeilingFigure {
  std::string id;                         // "dram_copy", "l2", "bf16", "l1_latency"
  std::string label;                      // "DRAM copy"
  std::string unit;                       // "byte/s" | "FLOP/s" | "cycle"
  Quantity value;                         // measured; null with the reason when no point tells it
  std::string point;                      // key of the point that it was read from; of a latency the longer one
  std::string how;                        // "best of 4 points", "plateau of 6 points, 1 MiB to 24 MiB"
  std::optional<double> relative_spread;  // standard deviation of the point's samples over their mean
  std::optional<double> sm_clock_mhz;     // measured while that point ran
  Quantity percent_of_spec;               // of what the specification states; null with the reason
  Quantity percent_at_clock;              // of what the units do per cycle at the measured clock; null with the reason
};

// The ceilings of one GPU: what a file in results/ceilings holds.
struct MeasuredCeilings {
  int schema_version = ceilings_schema_version;
  std::string device_id, device_name;  // of the device spec: "h200-sxm-141gb", "H200 SXM 141GB"
  std::string gpuexp_version, gpuexp_commit;
  std::vector<std::pair<std::string, std::string>> environment;  // of the run: host, GPU, driver, clocks, start
  std::vector<CeilingFigure> ceilings;
};

// A point of a sweep over the working set.
struct SweepPoint {
  double working_set_bytes = 0;
  double value = 0;
  std::size_t index = 0;  // of the point it stands for
};
// A stretch of a sweep over which the value stays the same.
struct Plateau {
  std::vector<SweepPoint> points;  // by working set
  SweepPoint middle;               // the point of median value
  double width = 0;                // largest value / smallest value - 1
};
// Plateaus in the order of their working sets. As in the Empirical Roofline Toolkit a plateau is where many values lie
// within 5 % of one; here they must be neighbours too, at least three. Longer ones win over shorter ones that they
// overlap. `sweep` need not be sorted; values that are not positive are left out.
std::vector<Plateau> find_plateaus(std::vector<SweepPoint> sweep);

// Every ceiling there is a microkernel for, in the order of reports; those that these points do not tell are null with
// the reason. A bandwidth is bytes / median time, where bytes are those that the kernel asks the level for. A latency
// is the difference of two median times, over the difference of their steps, in cycles of the measured clock.
std::vector<CeilingFigure> find_ceilings(std::span<const PointResult* const> points, const DeviceSpec& spec);

// The roofs for with_measured(): DRAM (the best of read, write, copy and triad), L2, L1 and the precisions.
std::vector<MeasuredCeiling> roofs_of(const MeasuredCeilings& measured);

// "NVIDIA H200, 2026-11-30T08:00:00Z, gpuexp 0.1.0": where measured ceilings come from, in one phrase.
std::string origin_of(const MeasuredCeilings& measured);

// Throws Error(usage) unless the ceilings are those of `spec`, or `what_if` says that another device's are meant.
void require_same_device(const MeasuredCeilings& measured, const DeviceSpec& spec, bool what_if,
                         const std::string& file);

// At most 100 columns; says what was measured, at which clock, and which share of the specification it is.
std::string ceilings_table(const MeasuredCeilings& measured);

}  // namespace gpuexp
