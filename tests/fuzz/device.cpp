// Device files: every number of an accepted one is finite and above zero, and has its provenance.
#include <cmath>

#include "profiler/device/device_spec.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpuexp;
  DeviceSpec spec;
  if (!fuzz::accepted([&] { spec = parse_device(fuzz::text_of(data, size), "input.json"); })) return 0;
  fuzz::require(spec.id == "input" && !spec.name.empty() && !spec.peaks.empty());
  for (const double value : {spec.boost_clock_hz, spec.memory.bytes, spec.memory.bandwidth})
    fuzz::require(std::isfinite(value) && value > 0);
  for (const auto& [id, peak] : spec.peaks) {
    fuzz::require(std::isfinite(peak) && peak > 0);
    fuzz::require(spec.provenance.contains("peaks_tflops." + id));
  }
  return 0;
}
