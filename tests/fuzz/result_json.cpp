// Result files in JSON and the journals of unfinished runs. What was read is written, read and written again the same.
#include "profiler/report/result_writer.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpuexp;
  const std::string text(fuzz::text_of(data, size));
  for (const char* name : {"input.json", "input.partial.jsonl"}) {
    ResultFile results;
    if (!fuzz::accepted([&] { results = parse_results(text, name); })) continue;
    const std::string written = to_json_text(results);
    fuzz::require(to_json_text(parse_results(written, "written.json")) == written);
  }
  return 0;
}
