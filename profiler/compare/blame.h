// Which line of a kernel's source a changed counter comes from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "profiler/core/point.h"

namespace gpuexp {

struct Blame {
  SourceSite site;
  bool in_base = false;               // the site is BASE's: the accesses are gone from NEW, or fewer there
  std::string access;                 // "store to tile"
  std::string metric;                 // "bank conflicts"
  std::optional<std::uint64_t> base;  // the metric at all sites of this access in BASE; nothing when BASE has no sites
  std::uint64_t next = 0;             // in NEW
  std::uint64_t requests = 0;         // in the file that the site is of

  // "kernels/transpose/smem.cu:19:20, store to tile: bank conflicts 0 -> 65,011,712 (31 per request)"
  [[nodiscard]] std::string to_text() const;
};

// The site whose share in the change of `column` (a counter, or "predicted:" of one) is largest. Sites of the two files
// are matched by buffer and operation, because an edit moves lines. Without BASE's sites: the site with the most beyond
// the ideal in NEW. Nothing when no site counts towards this counter, or NEW has no sites.
std::optional<Blame> find_blame(const std::string& column, bool increased, const PointResult* base,
                                const PointResult* next);

}  // namespace gpuexp
