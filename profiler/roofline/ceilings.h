// The roofs of a device with where each comes from, and where a kernel's intensity meets them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/device/device_spec.h"
#include "profiler/roofline/model.h"
#include "profiler/roofline/roofline.h"

namespace gpuexp {

// A slope of the roofline.
struct BandwidthCeiling {
  Level level = Level::dram;
  std::string label;              // "DRAM", "L2 reads", "L1 and shared"
  double bandwidth = 0;           // byte/s
  Source source = Source::spec;   // spec as printed, modelled when bytes per clock x clock, measured by a microkernel
  double clock_mhz = 0;           // of the SMs, at which it holds; 0 for DRAM and when unknown
  std::string how;                // "128 B/clk/SM x 108 SM x 1410 MHz", or which microkernel; empty for DRAM as printed
  Provenance provenance;          // of the number it rests on
  std::optional<double> of_spec;  // of a measured one: the ceiling of the specification, byte/s
};

// A flat roof, dense.
struct ComputeCeiling {
  const Precision* precision = nullptr;
  double peak = 0;               // FLOP/s (OP/s)
  double clock_mhz = 0;          // at which it holds; 0 when unknown
  Source source = Source::spec;  // modelled when derived, measured by a microkernel
  std::string how;               // of a measured one: which microkernel
  Provenance provenance;
  std::vector<double> ridges;     // FLOP/byte with each bandwidth ceiling, in their order
  std::optional<double> of_spec;  // of a measured one: the peak of the specification
};

struct Ceilings {
  std::string device;                        // name of the specification
  Source basis = Source::spec;               // spec, or measured when some were replaced by measured ones
  std::string origin;                        // of measured ones: the file, the GPU, when; empty for a specification
  std::vector<BandwidthCeiling> bandwidths;  // DRAM first
  std::vector<ComputeCeiling> peaks;         // in the order of precisions()

  [[nodiscard]] const BandwidthCeiling* find(Level level) const;               // null when not known
  [[nodiscard]] const ComputeCeiling* find(const Precision& precision) const;  // null when there is none
};
// As the device's files say.
Ceilings ceilings_of(const DeviceSpec& spec);

// A ceiling that a microkernel reached on the device.
struct MeasuredCeiling {
  std::string id;        // "dram", "l2", "l1", or the id of a precision
  double value = 0;      // byte/s or FLOP/s (OP/s)
  double clock_mhz = 0;  // of the SMs while it was measured; 0 when unknown
  std::string how;       // "triad over 4 GiB"
};
// `spec` with the measured ceilings in place of its own; what was not measured stays as it is and keeps its source.
// Throws Error(usage), naming `origin`, for an unknown or doubled id and for a value that is no positive number.
Ceilings with_measured(Ceilings spec, const std::vector<MeasuredCeiling>& measured, std::string origin);

// Where a point lands under one slope and one peak. All modelled.
struct Placement {
  LabelledPoint point;
  double attainable = 0;  // FLOP/s
  double percent_of_peak = 0;
  BoundBy bound_by = BoundBy::unknown;
};
// Throws Error(usage) naming what it has when the device has no such peak or slope.
Placement place(const LabelledPoint& point, const Ceilings& ceilings, const Precision& precision,
                Level level = Level::dram);
const ComputeCeiling& peak_or_throw(const Ceilings& ceilings, const Precision& precision);
const BandwidthCeiling& slope_or_throw(const Ceilings& ceilings, Level level);

}  // namespace gpuexp
