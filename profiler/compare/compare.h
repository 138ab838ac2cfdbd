// The regression gate: two result files, or two directories of them, compared point by point. docs/diff.md tells the
// rules to users.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/compare/blame.h"
#include "profiler/compare/columns.h"
#include "profiler/report/result_file.h"

namespace gpuexp {

// What became of a point, from harmless to worst.
enum class Verdict {
  same,
  added,           // "new": only in NEW
  faster,          // the time is shorter, beyond chance and by the minimum change
  less_traffic,    // a counter is better
  undecided,       // the median moved by the minimum change, but chance can explain it
  not_comparable,  // no number on one side, NaN, a time of zero, other work or another roof, failed in BASE
  more_traffic,    // a counter is worse
  slower,
  missing,  // only in BASE
  worse,    // good in BASE, not in NEW: failed, wrong, a finding, no longer verified
};
inline constexpr std::size_t verdict_count = 10;
std::string_view to_text(Verdict verdict);  // "more traffic"

// A few enumerators.
template <class Enum>
class EnumSet {
 public:
  EnumSet() = default;
  EnumSet(std::initializer_list<Enum> elements) {
    for (const Enum element : elements) insert(element);
  }
  void insert(Enum element) { bits_ |= bit(element); }
  [[nodiscard]] bool contains(Enum element) const { return (bits_ & bit(element)) != 0; }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(std::popcount(bits_)); }
  [[nodiscard]] bool empty() const { return bits_ == 0; }

 private:
  static std::uint32_t bit(Enum element) { return std::uint32_t{1} << static_cast<unsigned>(element); }
  std::uint32_t bits_ = 0;
};

// What --allow names: differences between the files that are refused otherwise.
enum class Difference { device, toolkit, mode, schema };

struct DiffOptions {
  EnumSet<Verdict> fail_on = {Verdict::slower, Verdict::more_traffic, Verdict::missing, Verdict::worse,
                              Verdict::not_comparable};
  EnumSet<Difference> allow;
  std::vector<Tolerance> tolerances;  // the last that matches a column counts
  double min_change = 0.02;           // of the median time, relative
  // Two runs of one binary on one H200 differed by up to 0.96 us on kernels of 3 us, with both samples narrow: what
  // starting a kernel takes varies from process to process.
  double min_change_us = 1.0;
  double alpha = 0.01;     // probability of any false slower or faster in one comparison of two files
  bool keep_same = false;  // list the points that are the same, too (for JUnit)
};
// "slower,traffic,missing": also faster, less-traffic, undecided, new, worse, not-comparable, any, none.
// Throws Error(usage) naming the flag, the accepted words and the nearest.
EnumSet<Verdict> parse_fail_on(const std::string& list);
std::vector<std::string> fail_on_words();  // that the list may hold
EnumSet<Difference> parse_allow(const std::string& list);

// One value that changed.
struct Change {
  Verdict verdict = Verdict::same;
  std::string column;             // of the CSV; "" when it is not about one
  std::string source;             // "measured" | "emulated" | "modelled" | ""
  std::string base, next;         // as in the files; "" = null
  std::optional<double> factor;   // NEW over BASE; nothing when BASE is zero or one is null
  std::string note;               // why, in words; may be empty
  std::vector<std::string> also;  // further columns that are null for the same reason
  std::optional<Blame> blame;
};

struct TimeChange {
  double base_us = 0, next_us = 0;  // medians
  std::uint64_t base_samples = 0, next_samples = 0;
  bool by_samples = false;                            // by rank test of the samples; otherwise by medians and spreads
  std::optional<std::pair<double, double>> interval;  // of NEW over BASE
  std::optional<double> p;                            // as tested
  std::optional<double> adjusted_p;                   // Holm, over all timed points
  std::string note;
};

struct PointDiff {
  std::string key;
  Verdict verdict = Verdict::same;  // of the worst change
  bool fails = false;               // one of its changes is in fail_on
  std::vector<Change> changes;      // worst first
  std::size_t more_changes = 0;     // beyond those kept
  std::vector<std::string> notes;
  std::optional<TimeChange> time;  // when the median moved by the minimum change
};

// Of one pair of files.
struct FileDiff {
  std::string name;                  // "tile_sweep.simt"
  std::string base_file, next_file;  // "" when there is none
  std::string experiment, backend;
  std::vector<std::string> notes;
  std::size_t base_points = 0, next_points = 0;
  std::size_t compared = 0;                         // in both files
  std::size_t timed = 0;                            // with a time in both
  std::size_t not_run = 0;                          // unsupported in both files: nothing to compare
  std::array<std::size_t, verdict_count> counts{};  // by verdict
  std::vector<PointDiff> points;                    // those that are not the same, worst first
  std::vector<std::string> same;                    // keys, with DiffOptions::keep_same
};

struct Diff {
  DiffOptions options;
  std::string base, next;       // as given
  std::vector<FileDiff> files;  // in name order
  std::vector<std::string> notes;
  std::array<std::size_t, verdict_count> counts{};
  std::size_t compared = 0, not_run = 0, failing = 0;  // points
  bool nothing_compared = false;  // no point has run in both: never a success, whatever fail_on says
  [[nodiscard]] bool failed() const { return failing > 0 || nothing_compared; }
};

// Compares two result files (JSON, CSV or journal, mixed as one likes), or every result file of a directory with that
// of the same name in the other. Throws Error(usage): unreadable or malformed input with its place, files of different
// backends, and devices, toolkits, cache modes or schema versions that differ and are not allowed.
Diff compare(const std::filesystem::path& base, const std::filesystem::path& next, const DiffOptions& options);

}  // namespace gpuexp
