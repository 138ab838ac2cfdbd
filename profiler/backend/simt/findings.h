// What the checkers of one block found, in the terms of the machine (code offsets, addresses); described in words only
// at the end of a point (describe_findings in launcher.cpp).
#pragma once

#include <compare>
#include <cstdint>
#include <map>

#include "profiler/backend/simt/events.h"

namespace gpuexp::simt {

enum class FindingKind : std::uint8_t {
  race,
  out_of_bounds,
  misaligned,
  uninitialised,
  divergent_barrier,
  inactive_lane,
  write_to_input,
};
const char* to_text(FindingKind kind);

struct FindingKey {
  FindingKind kind{};
  EventCode code = 0, other = 0;  // other: the second place, 0 when there is none; code <= other
  friend auto operator<=>(const FindingKey&, const FindingKey&) = default;
};

// The first occurrence in order of blocks and threads, and how many there were.
struct FindingRecord {
  std::uint64_t occurrences = 0;
  std::uint64_t block = 0;    // linear index of the block
  std::uint32_t thread = 0;   // linear index in it
  std::uint64_t address = 0;  // 0: none. In shared memory: an offset from the start of the TLS segment.
  bool shared = false;
  std::uint64_t extra = 0;  // lane concerned, where the kind has one
};

class Findings {
 public:
  void add(const FindingKey& key, const FindingRecord& one);
  void merge(const Findings& other);
  void clear() { records_.clear(); }
  [[nodiscard]] bool empty() const { return records_.empty(); }
  [[nodiscard]] const std::map<FindingKey, FindingRecord>& records() const { return records_; }

 private:
  std::map<FindingKey, FindingRecord> records_;
};

}  // namespace gpuexp::simt
