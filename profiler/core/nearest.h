// Names in error messages: the nearest accepted name to a mistyped one, and lists of accepted names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpuexp {

// Smallest number of single-character insertions, deletions, substitutions and swaps of neighbours that turn `a` into
// `b` (optimal string alignment distance), ignoring ASCII case. Cost O(|a| * |b|).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The name that `wanted` was most likely meant to be, or "" when none is near: at most a third of the longer one's
// characters differ (one always may), or one continues the other, or (for "problem/variant" names) the part after the
// slash is near. Ties go to the earlier candidate.
std::string nearest_name(std::string_view wanted, const std::vector<std::string>& candidates);

// "; did you mean 'matmul/tiled'?" or "" when no candidate is near: to be appended to an error message.
std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& candidates);

// "a, b, c", cut after `limit` names: "a, b and 12 more". "none" when empty.
std::string list_names(const std::vector<std::string>& names, std::size_t limit = 24);

}  // namespace gpuexp
