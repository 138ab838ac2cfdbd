// Result files in CSV. What was read is written, read and written again the same.
#include "profiler/report/result_writer.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpuexp;
  const std::string text(fuzz::text_of(data, size));
  ResultFile results;
  if (!fuzz::accepted([&] { results = parse_results(text, "input.csv"); })) return 0;
  const std::string written = to_csv_text(results);
  fuzz::require(to_csv_text(parse_results(written, "written.csv")) == written);
  return 0;
}
