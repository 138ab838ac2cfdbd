// Edit distance and the wording of suggestions.
#include "profiler/core/nearest.h"

#include <fmt/format.h>

#include <algorithm>

namespace gpuexp {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Longer names are cut: no accepted name is near to them, and the cost stays bounded whatever the input.
constexpr std::size_t longest_compared = 256;

bool continues(std::string_view shorter, std::string_view longer) {
  if (shorter.size() < 3 || shorter.size() > longer.size()) return false;
  return std::equal(shorter.begin(), shorter.end(), longer.begin(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

std::string_view after_slash(std::string_view name) { return name.substr(name.rfind('/') + 1); }

// Distance when `candidate` is near enough to be suggested, else nothing (npos).
std::size_t suggestion_cost(std::string_view wanted, std::string_view candidate) {
  const std::size_t distance = edit_distance(wanted, candidate);
  const std::size_t longer = std::max(wanted.size(), candidate.size());
  if (distance <= std::max<std::size_t>(1, longer / 3) && distance < longer) return distance;
  if (continues(wanted, candidate) || continues(candidate, wanted)) return distance;
  return std::string_view::npos;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = last[j - 1] + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::string nearest_name(std::string_view wanted, const std::vector<std::string>& candidates) {
  if (wanted.empty() || wanted.size() > longest_compared) return "";
  const std::string* best = nullptr;
  std::size_t best_cost = std::string_view::npos;
  for (const std::string& candidate : candidates) {
    std::size_t cost = suggestion_cost(wanted, candidate);
    if (const bool both_qualified = wanted.find('/') != std::string_view::npos;
        cost == std::string_view::npos && candidate.find('/') != std::string::npos) {
      // "tield" for "matmul/tiled", or "matmull/tiled_v9": the last part decides, at a higher cost than a whole match.
      const std::size_t part = suggestion_cost(after_slash(wanted), after_slash(candidate));
      if (part != std::string_view::npos && !(both_qualified && part > 0)) cost = part + longest_compared;
    }
    if (cost < best_cost) {
      best_cost = cost;
      best = &candidate;
    }
  }
  return best ? *best : "";
}

std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& candidates) {
  const std::string name = nearest_name(wanted, candidates);
  return name.empty() ? "" : fmt::format("; did you mean '{}'?", name);
}

std::string list_names(const std::vector<std::string>& names, std::size_t limit) {
  if (names.empty()) return "none";
  const std::size_t shown = std::min(names.size(), std::max<std::size_t>(limit, 1));
  std::string text = names[0];
  for (std::size_t i = 1; i < shown; ++i) text += ", " + names[i];
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

}  // namespace gpuexp
