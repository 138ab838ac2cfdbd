// The rules, one row per column that is not in the counter table.
#include "profiler/compare/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "profiler/core/error.h"
#include "profiler/core/glob.h"
#include "profiler/core/nearest.h"
#include "profiler/counters/counters.h"

namespace gpuexp {
namespace {

struct FixedColumn {
  std::string_view name;
  ColumnRole role;
  bool text = false;
};

constexpr FixedColumn fixed_columns[] = {
    {"schema_version", ColumnRole::apart},
    {"gpuexp_version", ColumnRole::apart},
    {"gpuexp_commit", ColumnRole::apart},
    {"compiler", ColumnRole::apart},
    {"experiment", ColumnRole::apart},
    {"backend", ColumnRole::apart},
    {"device", ColumnRole::apart},
    {"gpu", ColumnRole::apart},
    {"driver", ColumnRole::apart},
    {"toolkit", ColumnRole::apart},
    {"cache_mode", ColumnRole::apart},
    {"variant", ColumnRole::apart},
    {"seed", ColumnRole::work},
    {"status", ColumnRole::apart},
    {"reason", ColumnRole::apart},
    {"good", ColumnRole::apart},
    {"verified", ColumnRole::apart},
    {"verified_scope", ColumnRole::apart},
    {"verified_elements", ColumnRole::unjudged},
    {"wrong_elements", ColumnRole::apart},
    {"findings", ColumnRole::apart},
    {"expected_finding", ColumnRole::apart},
    {"warnings", ColumnRole::unjudged},
    {"launches", ColumnRole::context, true},
    {"grid", ColumnRole::context, true},
    {"block", ColumnRole::context, true},
    {"shared_bytes_per_block", ColumnRole::context, true},
    {"blocks_run", ColumnRole::context, true},
    {"blocks_total", ColumnRole::context, true},
    // Registers are known only where the kernels were compiled for a GPU, and occupancy follows from them: whether a
    // file has them depends on the build, not on the kernel.
    {"threads_per_block", ColumnRole::context, true},
    {"blocks_per_sm", ColumnRole::context, true},
    {"occupancy_percent", ColumnRole::context, true},
    {"occupancy_limited_by", ColumnRole::context, true},
    {"registers_per_thread", ColumnRole::context, true},
    {"max_registers_per_thread", ColumnRole::context, true},
    {"flops", ColumnRole::work},
    {"compulsory_load_bytes", ColumnRole::work},
    {"compulsory_store_bytes", ColumnRole::work},
    {"time_samples", ColumnRole::apart},
    {"time_us_median", ColumnRole::apart},
    {"time_us_min", ColumnRole::unjudged},
    {"time_us_max", ColumnRole::unjudged},
    {"time_relative_spread", ColumnRole::apart},
    {"time_samples_discarded", ColumnRole::unjudged},
    {"sm_clock_mhz", ColumnRole::apart},
    {"achieved_flop_per_s", ColumnRole::unjudged},
    {"percent_of_peak", ColumnRole::unjudged},
    {"percent_of_attainable", ColumnRole::unjudged},
    {"achieved_byte_per_s", ColumnRole::unjudged},
    {"percent_of_bandwidth", ColumnRole::unjudged},
    {"dram_byte_per_s", ColumnRole::unjudged},
    {"precision", ColumnRole::roof, true},
    {"peak_flop_per_s", ColumnRole::roof},
    {"bandwidth_byte_per_s", ColumnRole::roof},
    {"ridge_flop_per_byte", ColumnRole::roof},
    {"flop_per_load_byte", ColumnRole::derived},
    {"loaded_bytes", ColumnRole::derived},
    {"requested_bytes", ColumnRole::derived},
    {"transaction_bytes", ColumnRole::derived},
    {"compulsory_bytes", ColumnRole::derived},
    {"flop_per_requested_byte", ColumnRole::derived},
    {"flop_per_transaction_byte", ColumnRole::derived},
    {"flop_per_compulsory_byte", ColumnRole::derived},
    {"attainable_flop_per_s_loaded", ColumnRole::derived},
    {"attainable_flop_per_s_requested", ColumnRole::derived},
    {"attainable_flop_per_s_transaction", ColumnRole::derived},
    {"attainable_flop_per_s_compulsory", ColumnRole::derived},
    {"bound_time_us", ColumnRole::derived},
    {"bound_time_us_loaded", ColumnRole::derived},
    {"bound_time_us_requested", ColumnRole::derived},
    {"bound_time_us_transaction", ColumnRole::derived},
    {"bound_by", ColumnRole::derived, true},
    {"dram_bytes", ColumnRole::derived},
    {"l2_bytes", ColumnRole::derived},
    {"l1_bytes", ColumnRole::derived},
    {"flop_per_dram_byte", ColumnRole::derived},
    {"flop_per_l2_byte", ColumnRole::derived},
    {"flop_per_l1_byte", ColumnRole::derived},
    {"attainable_flop_per_s_dram", ColumnRole::derived},
    {"attainable_flop_per_s_l2", ColumnRole::derived},
    {"attainable_flop_per_s_l1", ColumnRole::derived},
    // These follow from the time, too.
    {"percent_of_attainable_dram", ColumnRole::unjudged},
    {"percent_of_attainable_l2", ColumnRole::unjudged},
    {"percent_of_attainable_l1", ColumnRole::unjudged},
    {"lowest_roof", ColumnRole::derived, true},
    {"effective_bandwidth_byte_per_s", ColumnRole::derived},
    {"effective_bandwidth_percent", ColumnRole::derived},
    {"requested_over_compulsory", ColumnRole::derived},
    {"counters_source", ColumnRole::apart},
    {"counters_source_exceptions", ColumnRole::apart},
    {"counters_estimated", ColumnRole::unjudged},
};

bool less_is_worse(std::string_view counter) {
  return counter == "simt_efficiency" || counter == "threads_per_instruction";
}

// From repeated runs of one binary on an H200: counts of the L1 and of instructions repeat exactly, shared wavefronts
// to a fraction of a per cent of themselves (which is a lot of the conflicts), L2 and DRAM traffic to some per cent,
// and to some hundred KB of what other activity moves.
Noise measured_noise(const Counter& counter) {
  constexpr double mebibyte = 1024 * 1024, sector = 32;
  if (counter.group == "dram") return {.relative = 0.1, .absolute = mebibyte};
  if (counter.group == "l2") return {.relative = 0.1, .absolute = mebibyte / sector};
  if (counter.id == "shared_load_bank_conflicts")
    return {.relative = 0.01, .companion = "shared_load_wavefronts", .companion_share = 0.01};
  if (counter.id == "shared_store_bank_conflicts")
    return {.relative = 0.01, .companion = "shared_store_wavefronts", .companion_share = 0.01};
  if (counter.id == "shared_atomic_bank_conflicts")
    return {.relative = 0.01, .companion = "shared_atomic_wavefronts", .companion_share = 0.01};
  return {.relative = 0.01};
}

// Cycles follow the clock and the time, occupancy the order of blocks: times are judged by their own test.
bool follows_time(const Counter& counter) { return counter.group == "clock" || counter.group == "occupancy"; }

ColumnRule counter_rule(const std::string& column, std::string_view id, bool measured) {
  ColumnRule rule{.name = column, .role = ColumnRole::counter, .less_is_worse = less_is_worse(id)};
  const Counter* counter = find_counter(id);
  if (!measured) return rule;
  if (counter != nullptr && follows_time(*counter)) rule.role = ColumnRole::unjudged;
  // A counter asked for by its raw name is unknown here: only a large change says something.
  rule.noise = counter != nullptr ? measured_noise(*counter) : Noise{.relative = 0.1};
  return rule;
}

}  // namespace

std::optional<ColumnRule> column_rule(const std::string& name, std::string_view backend) {
  const bool measured = backend != "simt";
  if (name.starts_with("param:")) return ColumnRule{.name = name, .role = ColumnRole::apart};
  if (name.starts_with("predicted:")) return counter_rule(name, std::string_view(name).substr(10), false);
  if (name.starts_with("counter:")) return counter_rule(name, std::string_view(name).substr(8), measured);
  if (find_counter(name) != nullptr) return counter_rule(name, name, measured);
  const auto* fixed = std::ranges::find(fixed_columns, name, &FixedColumn::name);
  if (fixed == std::end(fixed_columns)) return std::nullopt;
  return ColumnRule{.name = name, .role = fixed->role, .text = fixed->text};
}

std::vector<std::string> judged_columns() {
  std::vector<std::string> names;
  for (const FixedColumn& column : fixed_columns)
    if (column.role == ColumnRole::work || column.role == ColumnRole::roof || column.role == ColumnRole::derived)
      names.emplace_back(column.name);
  for (const Counter& counter : counter_table()) names.emplace_back(counter.id);
  return names;
}

double parse_share(const std::string& text, const std::string& flag) {
  std::string_view digits = text;
  double unit = 1;
  if (digits.ends_with("%")) {
    digits.remove_suffix(1);
    unit = 100;
  }
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (digits.empty() || error != std::errc{} || stop != end || !std::isfinite(value) || value < 0)
    throw Error(ExitCode::usage, fmt::format("{} {}: '{}' is not a share; write 0.02 or 2%", flag, text, text));
  return value / unit;
}

Tolerance parse_tolerance(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    throw Error(
        ExitCode::usage,
        fmt::format("--tolerance {}: expected COLUMN=SHARE, such as dram_read_bytes=0.05 or 'dram_*=5%'", text));
  Tolerance tolerance{text.substr(0, equals), parse_share(text.substr(equals + 1), "--tolerance")};
  if (tolerance.column.starts_with("counter:") || tolerance.column.starts_with("predicted:")) return tolerance;
  const std::vector<std::string> known = judged_columns();
  if (std::ranges::none_of(known, [&](const std::string& name) { return glob_matches(tolerance.column, name); }))
    throw Error(
        ExitCode::usage,
        fmt::format("--tolerance {}: no column that is compared has the name '{}'{}; see 'gpuexp list counters'", text,
                    tolerance.column, did_you_mean(tolerance.column, known)));
  return tolerance;
}

}  // namespace gpuexp
