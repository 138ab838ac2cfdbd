// What each column of a result file means to a comparison: whether it is judged, which way is worse, what noise it has.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuexp {

enum class ColumnRole {
  counter,   // emulated, predicted or measured: more (or less, see ColumnRule::less_is_worse) is more traffic
  work,      // what the point computes (seed, FLOPs, compulsory bytes): a difference makes points not comparable
  roof,      // ceilings of the device (modelled columns rest on them): a difference makes points not comparable
  derived,   // follows from counters, work and roof by arithmetic; told only when none of those differs at all
  context,   // launch configuration: told beside a change, never judged
  apart,     // identity, outcome and time: compared by rules of their own
  unjudged,  // follows from the measured time, or is no property of the kernel
};

// How two values of a measured counter may differ between runs of one binary.
struct Noise {
  double relative = 0;
  double absolute = 0;              // in the counter's unit
  std::string_view companion = {};  // a counter of which `companion_share` is allowed too
  double companion_share = 0;
};

struct ColumnRule {
  std::string name;  // of the CSV column
  ColumnRole role = ColumnRole::apart;
  bool less_is_worse = false;
  bool text = false;  // words, compared as they are
  Noise noise = {};   // of measured values; emulated and modelled ones have none
};

// The rule for a column of `backend` ("simt" | "cuda"), or nothing when no column has that name.
std::optional<ColumnRule> column_rule(const std::string& name, std::string_view backend);

// All names that --tolerance accepts beside those with a prefix (counter:, predicted:).
std::vector<std::string> judged_columns();

// --tolerance column=value; the column may be a glob. `value` is relative: 0.02 or 2%.
struct Tolerance {
  std::string column;
  double relative = 0;
};
// Throws Error(usage) that names the flag and what is accepted.
Tolerance parse_tolerance(const std::string& text);
// "0.02" or "2%" as 0.02. Throws Error(usage) naming the flag unless it is a finite number of at least 0.
double parse_share(const std::string& text, const std::string& flag);

}  // namespace gpuexp
