// The roofs of a device with where each comes from, and where a kernel's intensity meets them.
#pragma once

#include <string>
#include <vector>

#include "profiler/device/device_spec.h"
#include "profiler/roofline/model.h"
#include "profiler/roofline/roofline.h"

namespace gpuexp {

// A slope of the roofline.
struct BandwidthCeiling {
  std::string id;                // "dram" | "l2" | "l1"
  std::string label;             // "DRAM", "L2 reads", "L1 and shared"
  double bandwidth = 0;          // byte/s
  Source source = Source::spec;  // spec when printed as such, modelled when bytes per clock x clock
  double clock_mhz = 0;          // at which it holds, 0 for DRAM
  std::string how;               // "128 B/clk/SM x 108 SM x 1410 MHz"; empty for DRAM
  Provenance provenance;         // of the number it rests on
};

// A flat roof, dense.
struct ComputeCeiling {
  const Precision* precision = nullptr;
  double peak = 0;               // FLOP/s (OP/s)
  double clock_mhz = 0;          // at which it holds
  Source source = Source::spec;  // modelled when derived
  Provenance provenance;
  std::vector<double> ridges;  // FLOP/byte with each bandwidth ceiling, in their order
};

struct Ceilings {
  std::vector<BandwidthCeiling> bandwidths;  // DRAM first
  std::vector<ComputeCeiling> peaks;         // in the order of precisions()
};
Ceilings ceilings_of(const DeviceSpec& spec);

// Where a point lands under DRAM and one peak. All modelled.
struct Placement {
  LabelledPoint point;
  double attainable = 0;  // FLOP/s
  double percent_of_peak = 0;
  BoundBy bound_by = BoundBy::unknown;
};
// Throws Error(usage) naming the precisions it has when the device has no such peak.
Placement place(const LabelledPoint& point, const DeviceSpec& spec, const Precision& precision);
// The compute ceiling of the device; throws as above.
double peak_or_throw(const DeviceSpec& spec, const Precision& precision);

}  // namespace gpuexp
