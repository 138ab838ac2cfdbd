// The row reader of gpuexp diff and all that follows: the input as BASE and NEW, and as NEW beside a sound file, the
// first seed (GPUEXP_FUZZ_BASE). The verdicts add up, and every format of the report can be written.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "profiler/compare/compare.h"
#include "profiler/compare/diff_output.h"
#include "profiler/report/terminal.h"
#include "tests/fuzz/fuzz.h"

namespace gpuexp::fuzz {
namespace {

// In memory where the system has such a place.
const std::string& input_path() {
  static const std::string path = [] {
    const std::string parent = std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "/tmp";
    return parent + "/gpuexp_fuzz_diff_" + std::to_string(getpid()) + ".simt.csv";
  }();
  return path;
}

void check(const std::filesystem::path& base) {
  DiffOptions options;
  options.allow = parse_allow("device,toolkit,mode,schema");
  Diff diff;
  if (!accepted([&] { diff = compare(base, input_path(), options); })) return;
  std::size_t points = 0;
  for (const std::size_t count : diff.counts) points += count;
  require(diff.files.size() == 1 && points >= diff.compared);
  if (base == input_path()) require(diff.counts[static_cast<std::size_t>(Verdict::missing)] == 0);
  require(!diff_json(diff).empty() && !diff_junit(diff).empty() && !diff_markdown(diff, 50).empty());
  require(!diff_text(diff, TerminalStyle{}, 50).empty());
}

}  // namespace
}  // namespace gpuexp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpuexp::fuzz;
  std::ofstream(input_path(), std::ios::binary) << text_of(data, size);
  check(input_path());
  if (const char* base = std::getenv("GPUEXP_FUZZ_BASE"); base != nullptr) check(base);
  return 0;
}
