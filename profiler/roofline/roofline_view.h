// A device's roofline as people and programs read it: tables, JSON, CSV, a drawing for the terminal and one as SVG.
#pragma once

#include <string>
#include <vector>

#include "profiler/device/device_spec.h"
#include "profiler/roofline/ceilings.h"
#include "profiler/roofline/model.h"
#include "profiler/roofline/results.h"

namespace gpuexp {

// Modelled points placed under one compute ceiling.
struct RooflineSection {
  const Precision* precision = nullptr;
  std::vector<LabelledPoint> points;
};

struct RooflineView {
  DeviceSpec spec;
  std::string note;           // which SKU a short name was taken for
  Ceilings ceilings;          // of the specification, or measured
  Level level = Level::dram;  // whose slope points stand under
  std::vector<RooflineSection> sections;
  RooflineResults results;  // of result files; then there are no sections
};

struct ViewOptions {
  const Precision* precision = nullptr;  // null: FP32 and, where there is one, TF32
  Level level = Level::dram;
};

// The lectures' kernels under the ceilings of a device. Throws Error(usage) when it has no such peak or slope.
RooflineView lecture_view(const DeviceMatch& device, Ceilings ceilings, const ViewOptions& options);
// Points of result files there. The analyses of `results` must rest on `ceilings` and `options.precision`. Throws
// Error(usage) when the level's bandwidth is not known.
RooflineView results_view(const DeviceMatch& device, Ceilings ceilings, RooflineResults results, Level level);

std::string roofline_table(const RooflineView& view);  // at most 100 columns
std::string roofline_json(const RooflineView& view);
std::string roofline_csv(const RooflineView& view);  // RFC 4180; one row per ceiling, ridge and placed point

struct PlotOptions {
  int columns = 100;
  bool unicode = true;
  bool color = false;
};
// Log-log: the bandwidth slopes, the flat roofs in use, the points as letters with a legend.
std::string roofline_plot(const RooflineView& view, const PlotOptions& options);
// The same as one SVG file that needs nothing else. Filled marks are measured, hollow ones lie on the roof.
std::string roofline_svg(const RooflineView& view);

}  // namespace gpuexp
