// The counter table: every named count that gpuexp reports, one row each. A new counter is one row in counters.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/quantity.h"
#include "profiler/counters/simt_totals.h"

namespace gpuexp {

// A Perfworks metric expression for one chip family ("*" = every chip that has no row of its own).
struct PerfworksName {
  std::string_view chip;  // "GA100", "GH100", "*", ...
  // "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", or a quotient of two, "A / B"; empty = not on this chip
  std::string_view metric;
};

struct Counter {
  // "global_load_sectors": key in JSON, column in CSV
  std::string_view id;
  // "global", "shared", "issue", "bytes", "dram", "l2", "flops", "tensor", "occupancy", "clock"
  std::string_view group;
  // "request", "sector", "line", "lane", "byte", "wavefront", "instruction", "operation", "cycle", "1", "%"
  std::string_view unit;
  std::string_view meaning;              // one sentence
  std::vector<PerfworksName> perfworks;  // empty: the cuda backend has no such counter
  // How the emulator gets it; empty: nothing emulates it. A ratio with a zero denominator is null with a reason.
  Quantity (*simt)(const SimtTotals&) = nullptr;
  // Floating-point operations that one count stands for (an FMA is 2, a packed FMA 4); 0: it counts no arithmetic.
  int flops = 0;

  // The metric on `chip`, or nullopt when the chip has none.
  [[nodiscard]] std::optional<std::string_view> metric_on(std::string_view chip) const;
};

// In report order: stable, grouped. Ids are unique.
std::span<const Counter> counter_table();
const Counter* find_counter(std::string_view id);

}  // namespace gpuexp
