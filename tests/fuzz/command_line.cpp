// The small languages of the command line: --set, --filter, --schedule, --fail-on, --allow, --tolerance, --min-change.
// The first byte chooses the flag, the rest is its value; --set and --filter change a plan over
// tests/experiment/lab.cpp, and take one value per line.
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "profiler/compare/compare.h"
#include "profiler/experiment/experiment.h"
#include "profiler/run/choose.h"
#include "tests/fuzz/fuzz.h"

namespace gpuexp::fuzz {
namespace {

const Experiment& experiment() {
  static const Experiment value = parse_experiment(
      R"({"name": "fuzz", "experiments": [
          {"variant": "lab/*", "axes": {"n": [1, 2]}},
          {"variant": "lab/tiled", "axes": {"TILE": [1, 2]}, "zip": {"n": [8, 16], "m": [3, 5]}}]})",
      "fuzz.json");
  return value;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; lines.size() < 4 && std::getline(in, line);) lines.push_back(line);
  return lines;
}

void check_plan(const PlanEdits& edits) {
  accepted([&] { require(!make_plan(experiment(), edits).points.empty()); });
}

void check_flag(char flag, const std::string& value) {
  switch (flag) {
    case 'f':
      return check_plan({lines_of(value), {}});
    case 's':
      return check_plan({{}, lines_of(value)});
    case 'r':
      accepted([&] {
        RunOptions options;
        parse_schedule(value, options);
      });
      return;
    case 'v':
      accepted([&] { parse_fail_on(value); });
      return;
    case 'a':
      accepted([&] { parse_allow(value); });
      return;
    case 't':
      accepted([&] { parse_tolerance(value); });
      return;
    default:
      accepted([&] {
        const double share = parse_share(value, "--min-change");
        require(std::isfinite(share) && share >= 0);
      });
  }
}

}  // namespace
}  // namespace gpuexp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 4096) return 0;
  const std::string_view text = gpuexp::fuzz::text_of(data, size);
  gpuexp::fuzz::check_flag(text[0], std::string(text.substr(1)));
  return 0;
}
