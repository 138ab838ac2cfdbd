// Internal to profiler/report: the members of every record of a result file, in the file's order (see json_codec.h).
#pragma once

#include <string>
#include <vector>

#include "profiler/report/crossovers.h"
#include "profiler/report/json_codec.h"
#include "profiler/report/result_file.h"

namespace gpuexp {

// Found by argument-dependent lookup from json_codec.h.
report_json::Json to_json_value(const Quantity& quantity);
void from_json_value(const report_json::Json& json, const report_json::Place& place, Quantity& quantity);
report_json::Json to_json_value(const ParamSet& params);
void from_json_value(const report_json::Json& json, const report_json::Place& place, ParamSet& params);
report_json::Json to_json_value(Status status);
void from_json_value(const report_json::Json& json, const report_json::Place& place, Status& status);
report_json::Json to_json_value(Verification::State state);
void from_json_value(const report_json::Json& json, const report_json::Place& place, Verification::State& state);
report_json::Json to_json_value(Basis basis);
void from_json_value(const report_json::Json& json, const report_json::Place& place, Basis& basis);
report_json::Json to_json_value(const JsonText& json);
void from_json_value(const report_json::Json& json, const report_json::Place& place, JsonText& value);
report_json::Json to_json_value(Level level);
void from_json_value(const report_json::Json& json, const report_json::Place& place, Level& level);
report_json::Json to_json_value(BoundBy bound);
void from_json_value(const report_json::Json& json, const report_json::Place& place, BoundBy& bound);

template <class Archive>
void fields(Archive& a, Dim3& dim) {
  a("x", dim.x);
  a("y", dim.y);
  a("z", dim.z);
}

template <class Archive>
void fields(Archive& a, LaunchInfo& launch) {
  a("kernel", launch.kernel);
  a("grid", launch.grid);
  a("block", launch.block);
  a("static_shared_bytes", launch.static_shared_bytes);
  a("dynamic_shared_bytes", launch.dynamic_shared_bytes);
  a("registers_per_thread", launch.registers_per_thread);
}

template <class Archive>
void fields(Archive& a, SourceSite& site) {
  a("file", site.file);
  a("line", site.line);
  a("column", site.column);
}

template <class Archive>
void fields(Archive& a, SiteRow& row) {
  fields(a, row.site);
  a("buffer", row.buffer);
  a("space", row.space);
  a("op", row.op);
  a("width_bytes", row.width_bytes);
  a("requests", row.requests);
  a("lanes", row.lanes);
  a("sectors", row.sectors);
  a("ideal_sectors", row.ideal_sectors);
  a("lines", row.lines);
  a("wavefronts", row.wavefronts);
  a("bank_conflicts", row.bank_conflicts);
  a("estimated", row.estimated);
}

template <class Archive>
void fields(Archive& a, Finding& finding) {
  a("kind", finding.kind);
  a("message", finding.message);
  a("site", finding.site);
  a("other_site", finding.other_site);
  a("block", finding.block);
  a("thread", finding.thread);
  a("occurrences", finding.occurrences);
}

// A real of a verification: null with the reason where nothing was compared, or nothing was wrong.
struct ComparedReal {
  double& value;
  bool known = false;
  std::string reason;
};
report_json::Json to_json_value(const ComparedReal& real);
void from_json_value(const report_json::Json& json, const report_json::Place& place, ComparedReal& real);

template <class Archive>
void fields(Archive& a, Verification& verification) {
  a("state", verification.state);
  a("scope", verification.scope);
  a("checked", verification.checked);
  a("wrong", verification.wrong);
  a("nan", verification.nan);
  a("first_index", verification.first_index);
  a("buffer", verification.buffer);
  const bool compared = verification.checked > 0, wrong = verification.wrong > 0;
  const std::string none = verification.scope.empty() ? "nothing was compared" : verification.scope;
  const std::string no_first = compared ? "no element was wrong" : none;
  ComparedReal got{verification.got, wrong, no_first}, expected{verification.expected, wrong, no_first};
  ComparedReal max_error{verification.max_error, compared, none};
  a("got", got);
  a("expected", expected);
  a("max_error", max_error);
}

template <class Archive>
void fields(Archive& a, Timing& timing) {
  a("samples_us", timing.samples_us);
  a("cache_mode", timing.cache_mode);
  a("discarded_throttled", timing.discarded_throttled);
  a("sm_clock_mhz", timing.sm_clock_mhz);
  a("note", timing.note);
}

// What no run can give: a finite number below 0, a time that is no number, a median outside its samples. Each throws
// Error(usage) with the JSON path.
void check_figures(const report_json::Place& place, const Timing& timing);
void check_figures(const report_json::Place& place, const TimeStatistics& time);
void check_figures(const report_json::Place& place, const PointRecord& record);
void check_figures(const report_json::Place& place, const Verification& verification);

template <class Archive>
void fields(Archive& a, TimeStatistics& time) {
  a("samples", time.samples);
  a("median_us", time.median_us);
  a("min_us", time.min_us);
  a("max_us", time.max_us);
  a("relative_spread", time.relative_spread);
}

template <class Archive>
void fields(Archive& a, BasisBound& bound) {
  a("basis", bound.basis);
  a("bytes", bound.bytes);
  a("flop_per_byte", bound.intensity);
  a("attainable_flop_per_s", bound.attainable);
  a("percent_of_peak", bound.percent_of_peak);
  a("bound_time_us", bound.bound_time_us);
  a("bound_by", bound.bound_by);
}

template <class Archive>
void fields(Archive& a, LevelBound& bound) {
  a("level", bound.level);
  a("bytes", bound.bytes);
  a("flop_per_byte", bound.intensity);
  a("attainable_flop_per_s", bound.attainable);
  a("percent_of_attainable", bound.percent_of_attainable);
  a("byte_per_s", bound.bandwidth);
  a("percent_of_bandwidth", bound.percent_of_bandwidth);
  a.later("bound_time_us", bound.bound_time_us);
}

template <class Archive>
void fields(Archive& a, Limit& limit) {
  a("roof", limit.roof);
  a("basis", limit.basis);
  a("flop_per_byte", limit.intensity);
  a("attainable_flop_per_s", limit.attainable);
  a("percent_of_peak", limit.percent_of_peak);
  a("bound_time_us", limit.bound_time_us);
  a("percent_reached", limit.percent_reached);
}

template <class Archive>
void fields(Archive& a, LaunchOccupancy& launch) {
  Occupancy& occupancy = launch.occupancy;
  a("kernel", launch.kernel);
  a("threads_per_block", launch.block.threads);
  a("static_shared_bytes", launch.block.static_shared_bytes);
  a("dynamic_shared_bytes", launch.block.dynamic_shared_bytes);
  a("registers_per_thread", launch.block.registers_per_thread);
  a("blocks_per_sm", occupancy.blocks_per_sm);
  a("warps_per_block", occupancy.warps_per_block);
  a("active_warps", occupancy.active_warps);
  a("fraction", occupancy.fraction);
  a("limited_by", occupancy.limiters);
  a("blocks_by_warps", occupancy.limit_warps);
  a("blocks_by_block_slots", occupancy.limit_blocks);
  a("blocks_by_registers", occupancy.limit_registers);
  a("blocks_by_shared_memory", occupancy.limit_shared);
  a("shared_bytes_allocated", occupancy.shared_bytes_allocated);
  a("registers_known", occupancy.registers_known);
  a("max_registers_to_launch", occupancy.max_registers_to_launch);
  a("max_registers_for_blocks", occupancy.max_registers_for_blocks);
  a("impossible", occupancy.impossible);
  a("notes", occupancy.notes);
}

template <class Archive>
void fields(Archive& a, Analysis& analysis) {
  a("device", analysis.device);
  a("precision", analysis.precision);
  a("precision_reason", analysis.precision_reason);
  a("peak_flop_per_s", analysis.peak);
  a("peak_clock_mhz", analysis.peak_clock_mhz);
  a("bandwidth_byte_per_s", analysis.bandwidth);
  a("ridge_flop_per_byte", analysis.ridge);
  a("flops", analysis.flops);
  a("flop_per_load_byte", analysis.loaded.intensity);  // the lecture's ratio; also loaded.flop_per_byte
  a("loaded", analysis.loaded);
  a("requested", analysis.requested);
  a("transaction", analysis.transaction);
  a("compulsory", analysis.compulsory);
  a("bound_by", analysis.verdict);
  a("bound_time_us",
    analysis.compulsory.bound_time_us);  // the bound that no cache can beat; also compulsory.bound_time_us
  a("effective_bandwidth_byte_per_s", analysis.effective_bandwidth);
  a("effective_bandwidth_percent", analysis.effective_bandwidth_percent);
  a("requested_over_compulsory", analysis.requested_over_compulsory);
  a("working_set_bytes", analysis.working_set_bytes);
  a("working_set_fits_l2", analysis.working_set_fits_l2);
  a("time_us", analysis.time_us);
  a("achieved_flop_per_s", analysis.achieved_flops);
  a("percent_of_peak", analysis.percent_of_peak);
  a("percent_of_attainable", analysis.percent_of_attainable);
  a("achieved_byte_per_s", analysis.achieved_bandwidth);
  a("percent_of_bandwidth", analysis.percent_of_bandwidth);
  a("dram_byte_per_s", analysis.dram_bandwidth);
  a.optional("levels", analysis.levels);
  a.optional("lowest_roof", analysis.lowest_roof);
  a.later("limit", analysis.limit);
  a.optional("occupancy", analysis.occupancy);
  a("warnings", analysis.warnings);
}

template <class Archive>
void fields(Archive& a, PointRecord& record) {
  PointResult& result = record.result;
  a("variant", result.point.variant);
  a("params", result.point.params);
  a("seed", result.point.seed);
  a("backend", result.backend);
  a("status", result.status);
  a("reason", result.reason);
  a("launches", result.launches);
  a("blocks_run", result.blocks_run);
  a("blocks_total", result.blocks_total);
  a("flops", result.flops);
  a("compulsory_load_bytes", result.compulsory_load_bytes);
  a("compulsory_store_bytes", result.compulsory_store_bytes);
  a.optional("facts", result.facts);
  a("counters", result.counters);
  a.optional("predicted", result.predicted);
  a("sites", result.sites);
  a("findings", result.findings);
  a("expected_finding", result.expected_finding);
  a("verification", result.verification);
  a("timing", result.timing);
  a("time", record.time);
  a("analysis", record.analysis);
  a("warnings", result.warnings);
}

template <class Archive>
void fields(Archive& a, CeilingRecord& ceiling) {
  a("name", ceiling.name);
  a("unit", ceiling.unit);
  a("value", ceiling.value);
  a("evidence", ceiling.source);
}

template <class Archive>
void fields(Archive& a, DeviceRecord& device) {
  a("id", device.id);
  a("name", device.name);
  a("note", device.note);
  a("ceilings", device.ceilings);
}

template <class Archive>
void fields(Archive& a, PlanRecord& plan) {
  a("name", plan.name);
  a("description", plan.description);
  a("backend", plan.backend);
  a("settings", plan.settings);
  a("params", plan.params);
  a("points", plan.points);
  a("experiment", plan.experiment);
}

// Wall seconds of one point: not a property of the kernel, so kept in the environment object.
struct WallTime {
  std::string point;
  double seconds = 0;
};
template <class Archive>
void fields(Archive& a, WallTime& wall) {
  a("point", wall.point);
  a("seconds", wall.seconds);
}
void check_figures(const report_json::Place& place, const WallTime& wall);

template <class Archive>
void fields(Archive& a, CrossoverStretch& stretch) {
  a("series", stretch.series);
  a("from", stretch.from);
  a("to", stretch.to);
}

template <class Archive>
void fields(Archive& a, Crossover& crossover) {
  a("parameter", crossover.parameter);
  a("at", crossover.at);
  a("cost", crossover.cost);
  a("other_cases", crossover.other_cases);
  a("lowest", crossover.lowest);
  a("crossings", crossover.crossings);
}

report_json::Json environment_json(const ResultFile& results);
void read_environment(const report_json::Json& json, const report_json::Place& place, ResultFile& results);

}  // namespace gpuexp
