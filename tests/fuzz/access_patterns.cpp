// Access-pattern files: the counts of an accepted pattern keep within what 32 lanes can do.
#include "profiler/backend/simt/access_pattern.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpuexp;
  std::vector<simt::AccessPattern> patterns;
  if (!fuzz::accepted([&] { patterns = simt::parse_access_patterns(fuzz::text_of(data, size), "input"); })) return 0;
  fuzz::require(!patterns.empty());
  for (const simt::AccessPattern& pattern : patterns) {
    const simt::PatternCounts counts = simt::count(pattern);
    fuzz::require(counts.requests <= 1);
    fuzz::require(counts.sectors.value_or(0) <= 64 && counts.wavefronts.value_or(0) <= 128);
    static_cast<void>(simt::disagreement(pattern, counts));
  }
  return 0;
}
