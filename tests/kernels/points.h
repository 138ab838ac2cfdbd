// Runs one point on the emulator, written as a user would: run("matmul/tiled", "n=32 TILE=8").
#pragma once

#include <charconv>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/backend/backend.h"
#include "profiler/registry/registry.h"

namespace gpuexp::test {

// "n=32 dtype=float16": integers where they read as integers, words elsewhere.
inline ParamSet params(const std::string& text) {
  ParamSet set;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const std::string value = word.substr(equals + 1);
    std::int64_t integer = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), integer);
    if (error == std::errc() && end == value.data() + value.size()) {
      set.set(word.substr(0, equals), integer);
    } else {
      set.set(word.substr(0, equals), value);
    }
  }
  return set;
}

inline Backend& simt() {
  static const auto backends = make_backends();
  for (const auto& backend : backends) {
    if (backend->name() == "simt") return *backend;
  }
  throw std::logic_error("no simt backend in this build");
}

inline Point point(std::string_view variant, const std::string& text) {
  const Variant& found = *match_variants(variant).front();
  return {found.name, complete_params(found, params(text)), 1};
}

inline PointResult run(std::string_view variant, const std::string& text, const RunOptions& options = {}) {
  return simt().run(point(variant, text), options);
}

// An exact count; fails loudly (UINT64_MAX) when the counter is missing, null or not a count.
inline std::uint64_t count(const PointResult& result, std::string_view counter) {
  const auto found = result.counters.find(std::string(counter));
  return found == result.counters.end() ? UINT64_MAX : found->second.exact().value_or(UINT64_MAX);
}

// Sum over the access sites of one buffer and operation: lanes, requests, ...
template <class Field>
std::uint64_t over_sites(const PointResult& result, std::string_view buffer, std::string_view op,
                         Field SiteRow::*field) {
  std::uint64_t sum = 0;
  for (const SiteRow& row : result.sites) {
    if (row.buffer == buffer && row.op == op) sum += row.*field;
  }
  return sum;
}

// "failed: reason; race at kernels/..." for messages when a point is not as it should be.
inline std::string describe(const PointResult& result) {
  std::string text = result.point.key() + ": " + std::string(to_text(result.status)) + " " + result.reason;
  for (const Finding& finding : result.findings) {
    text += "; " + finding.kind + " at " + finding.site.to_text() + ": " + finding.message;
  }
  text += "; verification " + std::string(to_text(result.verification.state)) + " (" + result.verification.scope +
          "), wrong " + std::to_string(result.verification.wrong);
  return text;
}

// Ran, found nothing, and every element that was checked is right.
inline bool sound(const PointResult& result) {
  return result.status == Status::ok && result.findings.empty() &&
         result.verification.state == Verification::State::passed && result.verification.wrong == 0;
}

}  // namespace gpuexp::test
