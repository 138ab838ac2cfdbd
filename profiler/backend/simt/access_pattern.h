// Access patterns in a file: what each lane of one warp instruction touches, what the model says it costs, and whether
// that agrees with counts measured elsewhere. configs/patterns/h200_access_patterns.csv is the file to copy from.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/backend/simt/memory_model.h"

namespace gpuexp::simt {

enum class MemorySpace : std::uint8_t { global, shared };
std::string_view to_text(MemorySpace space);  // "global", "shared"
std::string_view to_text(AccessKind kind);    // "load", "store", "atomic"

// Counts of one warp instruction. A count that does not exist in the pattern's space is nullopt.
struct PatternCounts {
  std::uint64_t requests = 0;                                                 // 1, or 0 when no lane is active
  std::uint64_t lanes = 0;                                                    // active lanes
  std::optional<std::uint64_t> sectors, ideal_sectors, lines;                 // global
  std::optional<std::uint64_t> wavefronts, ideal_wavefronts, bank_conflicts;  // shared
};

// Counts that the file states for a pattern, e.g. measured ones; nullopt where the cell is empty.
struct ExpectedCounts {
  std::optional<std::uint64_t> requests, sectors, wavefronts, bank_conflicts;
};

struct AccessPattern {
  std::string name;
  int width_bytes = 4;  // of one lane's access: 1, 2, 4, 8 or 16
  MemorySpace space = MemorySpace::global;
  AccessKind kind = AccessKind::load;
  std::array<std::uint64_t, kWarpLanes> byte_offsets{};  // from a 256-byte aligned buffer
  std::uint32_t active_mask = 0xffffffff;                // lane i is bit i
  ExpectedCounts expected;
  std::size_t line = 0;  // in its file, 1-based
};

// Reads a CSV file (RFC 4180; CRLF and a byte-order mark are accepted; blank lines are skipped). Its first record names
// the columns, in any order: name, width_bytes, space (global, shared), op (ld, st, atom; load, store, atomic),
// byte_offset_per_lane (32 non-negative integers separated by spaces), active_mask (0x... or decimal), and, as far as
// wanted, requests, sectors (global only), wavefronts and bank_conflicts (shared only).
// Throws Error(usage) naming file:line, the column and what is accepted, on the first bad row; also when there is no
// row.
std::vector<AccessPattern> read_access_patterns(const std::filesystem::path& file);

// The same from text; `name` stands for the file in errors.
std::vector<AccessPattern> parse_access_patterns(std::string_view csv, std::string_view name);

// What the model says of the pattern.
PatternCounts count(const AccessPattern& pattern);

// "wavefronts 4, expected 2; ..." where the counts contradict what the file states; empty when they agree, nullopt when
// the file states nothing.
std::optional<std::string> disagreement(const AccessPattern& pattern, const PatternCounts& counts);

}  // namespace gpuexp::simt
