// Experiments: a JSON file (configs/schema/experiment.schema.json) that expands to a plan, an ordered list of points.
//
//   Plan plan = make_plan(load_experiment("tile_sweep"), {.filters = {"TILE=8,16"}, .sets = {"n=64"}});
//
// Every error is Error(usage) and names the file, the JSON path (or the flag), the accepted values and the nearest one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/point.h"

namespace gpuexp {

// A plan of more points than this is refused, with the count, before any is made.
inline constexpr std::uint64_t max_plan_points = 1'000'000;

// A parameter and the values it takes in turn, in file order.
struct Axis {
  std::string name;
  std::vector<ParamValue> values;
  std::string place;  // JSON path ("/experiments/0/axes/TILE") or flag ("--set TILE=8,16"), for errors
  bool from_flag = false;
};

// Points that match are left out. A match is partial: parameters that are not named may have any value.
struct Exclusion {
  std::string variant;      // glob; empty = any variant
  std::vector<Axis> match;  // all must hold; an axis holds when the point's value is one of its values
  std::string place;        // JSON path
};

// One entry of "experiments": variants x axes. Axes that advance together are one group; a group of one is a plain
// axis. Groups are in file order (a "zip" is one group, at its place among "axes"), and the last is the fastest.
struct Sweep {
  std::vector<std::string> variants;  // exact names or globs, in file order
  std::vector<std::vector<Axis>> groups;
  std::vector<Exclusion> exclusions;
  std::string place;             // JSON path "/experiments/0"
  bool variant_is_list = false;  // whether "variant" is a list in the file, for JSON paths in errors
};

// Settings of timing and counting; the backends' defaults (RunOptions) where the file says nothing.
struct Measure {
  std::optional<bool> cold_l2;
  std::optional<double> max_noise;   // relative
  std::optional<double> max_time_s;  // per point
  std::optional<int> min_samples;
};

// An experiment file as it was read: checked for form; names of variants and parameters are checked by make_plan, the
// device's name by the caller (profiler/device).
struct Experiment {
  std::string source;  // path as given, or "tile_sweep (shipped)"; for messages
  std::string text;    // what was read, without a byte order mark: recorded in results
  std::string name;    // fit for a file name
  std::string description;
  std::string device = "auto";   // roof to compare with; "auto" = the GPU present
  std::string backend = "auto";  // "auto" | "cuda" | "simt"
  std::vector<Sweep> sweeps;
  Measure measure;
  std::vector<std::string> counters;  // ids or groups of the counter table, or raw Perfworks names; empty = default set
  std::uint64_t seed = 1;             // of the generated inputs
  std::string output;                 // directory of the results; empty = not said
};

// Reads an experiment. `path_or_name` is a path when a file of that name exists, or when it holds a '/' or ends in
// ".json"; else the name of a shipped experiment.
Experiment load_experiment(std::string_view path_or_name);
// Same, from text; `source` is its name in messages.
Experiment parse_experiment(std::string_view text, std::string source);

// What the command line changes.
struct PlanEdits {
  // --filter: keeps the points for which every term of every filter holds. Terms are separated by spaces; a term is a
  // variant glob ("matmul/*") or a parameter ("TILE=8"); alternatives are separated by commas ("TILE=8,16"). So a whole
  // point key is a filter that keeps that point. A term that matches no point is an error.
  std::vector<std::string> filters;
  // --set: "TILE=8,16" gives the parameter these values wherever a variant takes it: an axis of that name is replaced
  // in its place (in a zip by one value, or by as many as the zip has), otherwise it becomes the last, fastest axis.
  std::vector<std::string> sets;
};

struct Plan {
  std::string name;
  Experiment experiment;
  PlanEdits edits;
  std::vector<Point> points;       // no two with the same key
  std::vector<std::string> notes;  // what a glob or --set left out, and why: one sentence each, to be printed
};

// Expands in a fixed order: sweeps in file order; the names and globs of "variant" in file order, the variants of a
// glob by name; groups in file order, the last fastest. A point met again is dropped.
//
// A parameter that an exactly named variant does not take, or a value it does not accept, is an error. Under a glob
// (and for --set) an axis applies to the variants that take it: a variant that does not take it yields one point, not
// one per value, and a value that a variant does not accept is skipped with a note; it is an error when no variant
// takes the parameter or the value. Variants broken on purpose take part only when named exactly.
Plan make_plan(const Experiment& experiment, const PlanEdits& edits = {});

// The keys of an experiment file, as the loader knows them: object is "experiment", "sweep" or "measure".
struct ExperimentKey {
  std::string_view object, key;
  std::string_view accepts;  // "a list of ..."
};
std::vector<ExperimentKey> experiment_keys();

}  // namespace gpuexp
