// Experiment files: read, and expanded to a plan over the variants of tests/experiment/lab.cpp.
#include <set>

#include "profiler/experiment/experiment.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpuexp;
  Experiment experiment;
  if (!fuzz::accepted([&] { experiment = parse_experiment(fuzz::text_of(data, size), "input"); })) return 0;
  fuzz::require(!experiment.name.empty() && !experiment.sweeps.empty());
  Plan plan;
  if (!fuzz::accepted([&] { plan = make_plan(experiment); })) return 0;
  fuzz::require(!plan.points.empty());
  std::set<std::string> keys;
  for (const Point& point : plan.points) fuzz::require(keys.insert(point.key()).second);
  return 0;
}
