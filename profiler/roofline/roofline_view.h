// A device's roofline as people and programs read it: tables, JSON, CSV and a drawing for the terminal.
#pragma once

#include <string>
#include <vector>

#include "profiler/device/device_spec.h"
#include "profiler/roofline/model.h"

namespace gpuexp {

// Points placed under one compute ceiling.
struct RooflineSection {
  const Precision* precision = nullptr;
  std::vector<LabelledPoint> points;
};

struct RooflineView {
  DeviceSpec spec;
  std::string note;  // which SKU a short name was taken for
  std::vector<RooflineSection> sections;
};

// Sections for one precision or, when `precision` is null, for those of float32 data: FP32 and, where there is one,
// TF32. Throws Error(usage) when the device has no such peak.
RooflineView lecture_view(const DeviceMatch& device, const Precision* precision);

std::string roofline_table(const RooflineView& view);  // at most 100 columns
std::string roofline_json(const RooflineView& view);
std::string roofline_csv(const RooflineView& view);  // RFC 4180; one row per ceiling, ridge and placed point

struct PlotOptions {
  int columns = 100;
  bool unicode = true;
  bool color = false;
};
// Log-log: the bandwidth slopes, the flat roofs of the view's sections, its points as letters with a legend.
std::string roofline_plot(const RooflineView& view, const PlotOptions& options);

}  // namespace gpuexp
