// Internal to profiler/roofline: what a drawing of a view holds, whatever draws it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/roofline/roofline_view.h"

namespace gpuexp {

struct DrawnPoint {
  std::size_t mark = 0;   // its entry in the legend
  std::size_t group = 0;  // points of one variant and file share a group
  double x = 0, y = 0;    // FLOP/byte, FLOP/s
  bool measured = false;  // else it lies on the roof by construction
};

// What the legend says of a mark: one point, or with many points all those of a group.
struct DrawnMark {
  std::string label;
  std::string detail;  // "0.25 FLOP/B, loaded bytes, modelled"
  std::size_t group = 0;
  bool measured = false;
};

struct DrawnRoof {
  double peak = 0;    // FLOP/s
  std::string label;  // "FP32 19.5 TFLOP/s (spec)"
};

struct Drawn {
  std::vector<DrawnPoint> points;  // those with a place
  std::vector<DrawnMark> marks;
  std::vector<DrawnRoof> roofs;  // highest first; equal peaks are one
  double x_min = 0, x_max = 0, y_min = 0, y_max = 0;
  std::vector<std::string> notes;  // the files, what is what-if, what cannot be drawn
};
// With more than `single_marks` points each mark stands for a group.
Drawn drawn(const RooflineView& view, std::size_t single_marks);

std::string slope_label(const BandwidthCeiling& slope);  // "DRAM 1,935 GB/s (spec)"
// "measured on NVIDIA H200, cold L2; what-if: this roof is of another device", "emulated (simt): bounds, no time".
std::string source_text(const ResultSource& source);

}  // namespace gpuexp
