// A point (what is run) and its result (what came of it): the records that every room passes on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/core/params.h"
#include "profiler/core/quantity.h"

namespace gpuexp {

// A variant with all parameters fixed: the unit that is run, reported and compared.
struct Point {
  std::string variant;     // "matmul/tiled", canonical (aliases resolved)
  ParamSet params;         // complete: every parameter of problem and variant, defaults filled in
  std::uint64_t seed = 1;  // of the generated inputs

  // "matmul/tiled TILE=16 dtype=float32 k=32 m=32 n=32": unique in a plan, stable, used by diff with the backend.
  [[nodiscard]] std::string key() const { return variant + (params.empty() ? "" : " " + params.to_text()); }
};

enum class Status {
  ok,           // ran; verification and findings tell whether the answer is right
  unsupported,  // this backend or machine cannot run it (cuda only, no such shape); reason says so
  failed,       // launch error, invalid configuration, emulator refusal; reason says so
  timed_out,    // hit the wall limit of a point
  out_of_memory,
  interrupted,
};
std::string_view to_text(Status status);
std::optional<Status> status_from_text(std::string_view text);

struct Dim3 {
  std::int64_t x = 1, y = 1, z = 1;
  [[nodiscard]] std::int64_t count() const { return x * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

// One kernel launch of a point as it was configured.
struct LaunchInfo {
  std::string kernel;  // source-level name
  Dim3 grid, block;
  std::int64_t static_shared_bytes = 0;     // per block
  std::int64_t dynamic_shared_bytes = 0;    // per block
  std::optional<int> registers_per_thread;  // unknown without a GPU build
};

// A place in a kernel's source.
struct SourceSite {
  std::string file;  // relative to the project's root
  int line = 0;
  int column = 0;
  [[nodiscard]] std::string to_text() const;  // "kernels/matmul/tiled.cu:21:13"
};

// One row of the per-site access table: one memory instruction of the source and the buffer it touches.
// Totals over the whole grid (scaled with exact weights when blocks were sampled).
struct SiteRow {
  SourceSite site;
  std::string buffer;   // problem buffer ("A") or shared variable ("As")
  std::string space;    // "global" | "shared" | "constant"
  std::string op;       // "load" | "store" | "atomic"
  int width_bytes = 0;  // of one lane's access
  std::uint64_t requests = 0;
  std::uint64_t lanes = 0;           // active lanes summed over requests
  std::uint64_t sectors = 0;         // global: 32-byte sectors
  std::uint64_t ideal_sectors = 0;   // global: sectors if the same bytes lay contiguous and aligned
  std::uint64_t lines = 0;           // global: 128-byte lines
  std::uint64_t wavefronts = 0;      // shared
  std::uint64_t bank_conflicts = 0;  // shared: wavefronts beyond the ideal
  bool estimated = false;
};

// Something a checker found. Any finding makes the answer bad unless the variant is broken on purpose and declares it.
struct Finding {
  std::string kind;     // "race" | "out_of_bounds" | "misaligned" | "uninitialised" | "divergent_barrier" |
                        // "inactive_lane" | "write_to_input" | "unsupported"
  std::string message;  // one sentence, with variable and index where known
  SourceSite site;
  std::optional<SourceSite> other_site;  // the second line of a race
  Dim3 block, thread;                    // indices of the (first) thread concerned
  std::uint64_t occurrences = 1;
};

struct Verification {
  enum class State { passed, failed, not_run } state = State::not_run;
  std::string scope;  // "all 1048576 elements" | "4608 elements of blocks 18/65536" | reason for not_run
  std::uint64_t checked = 0, wrong = 0;
  std::uint64_t nan = 0;          // of the wrong ones
  std::int64_t first_index = -1;  // flat index of the first wrong element
  std::string buffer;             // the buffer it is in
  double got = 0, expected = 0;   // at first_index
  double max_error = 0;  // largest |got - expected| / tolerance over the checked elements; NaN is reported as wrong
};
std::string_view to_text(Verification::State state);

// Time samples of one point (cuda backend only). Times are in microseconds.
struct Timing {
  std::vector<double> samples_us;
  std::string cache_mode;  // "cold" | "warm"
  int discarded_throttled = 0;
  std::optional<double> sm_clock_mhz;  // measured during the run
  std::string note;                    // e.g. "graph of 20 launches; resolution 0.5 us"
};

// Everything known of one point after a run. Roofline figures are derived from it by profiler/roofline, not stored by
// backends.
struct PointResult {
  Point point;
  std::string backend;  // "simt" | "cuda"
  Status status = Status::ok;
  std::string reason;  // empty when ok
  std::vector<LaunchInfo> launches;
  std::int64_t blocks_run = 0, blocks_total = 0;  // emulated blocks; equal when nothing was sampled
  double flops = 0;                               // useful FLOPs of the problem (modelled)
  std::uint64_t compulsory_load_bytes = 0, compulsory_store_bytes = 0;  // of the problem (modelled)
  ParamSet facts;  // of the workload's inputs: nnz, row lengths, format bytes (Workload::facts)
  std::map<std::string, Quantity> counters;   // by counter id
  std::map<std::string, Quantity> predicted;  // emulated counters beside a measured point (cuda backend)
  std::vector<SiteRow> sites;                 // worst first
  std::vector<Finding> findings;
  std::optional<std::string> expected_finding;  // of a variant broken on purpose
  Verification verification;
  std::optional<Timing> timing;  // absent on simt: no time is ever emulated
  std::vector<std::string> warnings;
  double wall_seconds = 0;  // how long gpuexp took over the point; never a kernel time

  // True when the point gives no reason for exit code 1.
  [[nodiscard]] bool good() const;
};

}  // namespace gpuexp
