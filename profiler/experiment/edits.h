// The text forms of --filter and --set (see PlanEdits in experiment.h).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/params.h"
#include "profiler/core/point.h"
#include "profiler/experiment/experiment.h"

namespace gpuexp {

// "16" is an integer, "0.5" a real number, anything else a word.
ParamValue value_from_text(std::string_view text);

// Equal as values: 8 and 8.0 are, 8 and "8" are not.
bool same_value(const ParamValue& a, const ParamValue& b);

// The axes that --set gives, in order. Throws Error(usage) for a malformed one or a name given twice.
std::vector<Axis> axes_from_flags(const std::vector<std::string>& sets);

// One term of a filter: variants, or values of one parameter.
struct FilterTerm {
  std::string flag;       // as it was given, for errors
  std::string parameter;  // empty: the alternatives are globs over variants
  std::vector<std::string> alternatives;
};

// The terms of all filters. Throws Error(usage) for a malformed one.
std::vector<FilterTerm> filter_terms(const std::vector<std::string>& filters);

// The points that pass every term, in order. Throws Error(usage) when a term or all of them together match nothing;
// `left_out` tells of variants without a point why they have none.
std::vector<Point> filter_points(std::vector<Point> points, const std::vector<FilterTerm>& terms,
                                 const std::string& plan_name, const std::map<std::string, std::string>& left_out);

// Whether a variant's name or one of its aliases matches.
bool variant_matches(std::string_view glob, std::string_view canonical_name);

}  // namespace gpuexp
