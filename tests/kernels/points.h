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

// "n=32 density=0.1 dtype=float16": integers and reals where they read as such, words elsewhere.
inline ParamSet params(const std::string& text) {
  ParamSet set;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const std::string value = word.substr(equals + 1);
    std::int64_t integer = 0;
    double real = 0;
    const char* const last = value.data() + value.size();
    const auto [end, error] = std::from_chars(value.data(), last, integer);
    const auto [real_end, real_error] = std::from_chars(value.data(), last, real);
    if (error == std::errc() && end == last) {
      set.set(word.substr(0, equals), integer);
    } else if (real_error == std::errc() && real_end == last) {
      set.set(word.substr(0, equals), real);
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

// Emulated variants of the problem, cuda-only ones left out.
inline std::vector<std::string> emulated(std::string_view pattern) {
  std::vector<std::string> names;
  for (const Variant* variant : match_variants(pattern)) {
    if (variant->cuda_only.empty()) names.push_back(variant->name);
  }
  return names;
}

// For points of billions of elements: a small sample of blocks still has interior, edges and corners.
inline RunOptions small_sample() {
  RunOptions options;
  options.lane_access_budget = 500'000;
  return options;
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

// Sum over the sites of a space and operation, whatever the buffer.
template <class Field>
std::uint64_t over_space(const PointResult& result, std::string_view space, std::string_view op,
                         Field SiteRow::*field) {
  std::uint64_t sum = 0;
  for (const SiteRow& row : result.sites) {
    if (row.space == space && row.op == op) sum += row.*field;
  }
  return sum;
}

// Counters whose value is not the sum of the access sites it stands for; empty when all agree.
inline std::string counters_off_sites(const PointResult& result) {
  struct Row {
    const char *counter, *space, *op;
    std::uint64_t SiteRow::*field;
  };
  constexpr Row rows[] = {{"global_load_requests", "global", "load", &SiteRow::requests},
                          {"global_load_sectors", "global", "load", &SiteRow::sectors},
                          {"global_store_requests", "global", "store", &SiteRow::requests},
                          {"global_store_sectors", "global", "store", &SiteRow::sectors},
                          {"shared_load_requests", "shared", "load", &SiteRow::requests},
                          {"shared_load_wavefronts", "shared", "load", &SiteRow::wavefronts},
                          {"shared_load_bank_conflicts", "shared", "load", &SiteRow::bank_conflicts},
                          {"shared_store_requests", "shared", "store", &SiteRow::requests},
                          {"shared_store_wavefronts", "shared", "store", &SiteRow::wavefronts},
                          {"shared_store_bank_conflicts", "shared", "store", &SiteRow::bank_conflicts}};
  std::string off;
  for (const Row& row : rows) {
    const std::uint64_t sum = over_space(result, row.space, row.op, row.field);
    const std::uint64_t counted = count(result, row.counter);
    if (counted != sum)
      off += std::string(row.counter) + " " + std::to_string(counted) + " != " + std::to_string(sum) + "; ";
  }
  return off;
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
