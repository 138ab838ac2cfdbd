// Which variant costs least along a numeric parameter, and where that changes: found in the points of a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/report/result_file.h"

namespace gpuexp {

// Values of the parameter over which one series costs least (or as little as the least).
struct CrossoverStretch {
  std::string series;  // the variant, with the parameters that tell it from its others: "matmul/coarsened COARSE=4"
  double from = 0, to = 0;  // of the values that were run
};

struct Crossover {
  std::string parameter;          // along which: "density", or "k=m=n" of several that are always equal
  std::string at;                 // what else is fixed: "TILE=8 k=m=n=32"; may be empty
  std::string cost;               // CSV column that is compared: time_us_median (measured), else bound_time_us or
                                  // bound_time_us_transaction (modelled)
  std::uint64_t other_cases = 0;  // in which else the same was found as at `at`
  std::vector<CrossoverStretch> lowest;  // by rising parameter; one when it is the same series throughout
  std::vector<Quantity> crossings;  // between neighbours in `lowest`, interpolated; null where nothing lies between
};

// Those that cross first. Points that failed, and series that cost the same everywhere, tell nothing.
std::vector<Crossover> crossovers_of(const ResultFile& results);

}  // namespace gpuexp
