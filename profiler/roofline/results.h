// Points of result files under a roof: where each stands, what it reached of what the roof allows there, what bounds
// it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "profiler/roofline/roofline.h"

namespace gpuexp {

// A file whose points are placed.
struct ResultSource {
  std::string path;
  std::string label;                  // shortest text that tells it from the other files
  std::string backend;                // "cuda" (measured) | "simt" (emulated)
  std::string ran_on;                 // the GPU; empty for simt and when the file does not tell
  std::string cache_mode;             // "cold" | "warm"; empty when nothing was timed
  bool what_if = false;               // measured on another device than the one whose roof this is
  std::vector<std::string> left_out;  // points that are not placed: "3 unsupported (cuda only)"
};

struct ResultPoint {
  std::size_t source = 0;  // index of its file
  std::string key;         // variant and all parameters
  std::string variant;     // "matmul/tiled"
  std::string label;       // variant and the parameters that tell it from the others of its file
  Analysis analysis;       // under this roof
};

struct RooflineResults {
  std::vector<ResultSource> sources;
  std::vector<ResultPoint> points;
};

// Where a point stands at one memory level.
struct ResultPlacement {
  // "dram", "l2" or "l1" when the bytes were counted at that level; a Basis in place of DRAM bytes that nobody counted.
  std::string_view basis;
  double intensity = 0;                 // FLOP/byte
  Source source = Source::measured;     // of the intensity
  double attainable = 0;                // FLOP/s; modelled
  BoundBy bound_by = BoundBy::unknown;  // the side of this level's ridge; what limits the point is Analysis::limit
  std::optional<double> achieved;       // FLOP/s, measured; nothing for emulated points
  std::optional<double> percent_of_attainable;  // measured
  [[nodiscard]] double height() const { return achieved.value_or(attainable); }
};
// Nothing, with the reason, when its FLOPs or bytes there are not known.
struct PlacementOrReason {
  std::optional<ResultPlacement> placement;
  std::string reason;
};
PlacementOrReason place(const ResultPoint& point, Level level);

// A phrase for each rate above a ceiling: what exceeds it, and what usually explains that.
std::vector<std::string> above_ceilings(const ResultPoint& point, const ResultSource& source);

}  // namespace gpuexp
