// The columns of the report's tables.
#include "profiler/report/point_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "profiler/report/point_numbers.h"
#include "profiler/report/wording.h"

namespace gpuexp {
namespace {

using Points = std::vector<const PointRecord*>;
using Ids = std::vector<std::string>;

// --- cells ---

std::string real_cell(const std::optional<double>& value, int digits = 4) {
  return value ? real_words(*value, digits) : "";
}

std::function<std::string(const PointRecord&)> sum_of(const Ids& ids) {
  return [ids](const PointRecord& point) {
    const std::optional<Quantity> total = total_of(point, ids);
    return total ? words(*total) : std::string();
  };
}

// Sum of `numerators` over sum of `denominators`; empty without any or over zero.
std::function<std::string(const PointRecord&)> ratio_of(const Ids& numerators, const Ids& denominators,
                                                        double unit = 1) {
  return [=](const PointRecord& point) {
    const auto above = total_of(point, numerators), below = total_of(point, denominators);
    if (!above || !below || !(*below->number() > 0)) return std::string();
    return (above->estimated ? "~" : "") + real_words(unit * *above->number() / *below->number(), 3);
  };
}

std::function<std::string(const PointRecord&)> emulated_of(const std::string& id) {
  return [id](const PointRecord& point) {
    const Quantity* counter = emulated_counter(point, id);
    return counter == nullptr ? std::string() : words(*counter);
  };
}

std::function<std::string(const PointRecord&)> of_analysis(const std::function<Quantity(const Analysis&)>& quantity,
                                                           double divisor = 1) {
  return [=](const PointRecord& point) {
    return point.analysis ? words(quantity(*point.analysis), divisor) : std::string();
  };
}

// FLOP per byte that crossed a level, where the backend counted it.
std::function<std::string(const PointRecord&)> intensity_at(Level level) {
  return [level](const PointRecord& point) {
    const LevelBound* bound = point.analysis ? point.analysis->at(level) : nullptr;
    const Source counted = point.result.backend == "simt" ? Source::emulated : Source::measured;
    return bound == nullptr || bound->bytes.source != counted ? std::string() : words(bound->intensity);
  };
}

// Of the access table; without one, over all shared accesses.
std::string worst_conflicts(const PointRecord& point) {
  double worst = -1;
  bool estimated = false;
  for (const SiteRow& row : point.result.sites) {
    if (row.space != "shared" || row.requests == 0) continue;
    const double conflicts = static_cast<double>(row.bank_conflicts) / static_cast<double>(row.requests);
    if (conflicts <= worst) continue;
    worst = conflicts;
    estimated = row.estimated;
  }
  if (worst >= 0) return (estimated ? "~" : "") + real_words(worst, 3);
  return ratio_of({"shared_load_bank_conflicts", "shared_store_bank_conflicts"},
                  {"shared_load_requests", "shared_store_requests"})(point);
}

// Lanes or sectors of the loads of one global buffer, by the access table.
std::uint64_t of_buffer(const PointRecord& point, const std::string& buffer, std::uint64_t SiteRow::*count) {
  std::uint64_t total = 0;
  for (const SiteRow& row : point.result.sites)
    if (row.space == "global" && row.op == "load" && row.buffer == buffer) total += row.*count;
  return total;
}

std::optional<double> dram_bytes(const PointRecord& point) {
  const Quantity* read = counter_of(point, "dram_read_bytes");
  const Quantity* write = counter_of(point, "dram_write_bytes");
  return read != nullptr && write != nullptr ? std::optional(*read->number() + *write->number()) : std::nullopt;
}

std::string dram_over(const PointRecord& point, const BasisBound Analysis::*basis) {
  const std::optional<double> dram = dram_bytes(point);
  const double bytes = point.analysis ? ((*point.analysis).*basis).bytes.number().value_or(0) : 0;
  return dram && bytes > 0 ? real_words(*dram / bytes, 3) : "";
}

}  // namespace

std::string flat_heading(const ColumnSpec& spec) {
  std::string text = spec.what;
  for (const std::string& line : spec.heading) {
    if (text.ends_with('-')) {
      text.pop_back();
      text += line;
    } else {
      text += (text.empty() ? "" : " ") + line;
    }
  }
  return text;
}

// --- summary ---

std::vector<ColumnSpec> timed_columns(const ResultFile& results) {
  const auto measured = Origin::measured;
  return {
      {{"median", "us"},
       "",
       99,
       measured,
       [](const auto& p) { return p.time ? real_words(p.time->median_us) : std::string(); },
       ""},
      {{"spread", "%"},
       "spread: standard deviation over mean of the time samples",
       60,
       measured,
       [](const auto& p) {
         return p.time && p.time->relative_spread ? real_words(100 * *p.time->relative_spread, 2) : std::string();
       },
       ""},
      {{"GFLOP/s"}, "", 98, measured, of_analysis([](const Analysis& a) { return a.achieved_flops; }, 1e9), ""},
      {{"% of", "peak"}, "", 91, measured, of_analysis([](const Analysis& a) { return a.percent_of_peak; }), ""},
      {{"% of", "roof"},
       "% of roof: of the lowest roof, the one under bounded by",
       92,
       measured,
       of_analysis([](const Analysis& a) { return a.limit.percent_reached; }),
       ""},
      {{"useful", "GB/s"},
       "useful GB/s: compulsory bytes over the median time",
       93,
       measured,
       of_analysis([](const Analysis& a) { return a.achieved_bandwidth; }, 1e9),
       ""},
      {{"DRAM", "GB/s"}, "", 67, measured, of_analysis([](const Analysis& a) { return a.dram_bandwidth; }, 1e9), ""},
      {{"% of", "library"},
       "% of library: the library's time over this one's, same sizes and precision",
       97,
       measured,
       [&results](const auto& p) { return real_cell(percent_of_library(p, results), 3); },
       ""},
      {{"% of", "copy"},
       "% of copy: useful GB/s over that of the fastest copy of this run",
       96,
       measured,
       [&results](const auto& p) { return real_cell(percent_of_copy(p, results), 3); },
       ""},
      {{"SM", "MHz"},
       "",
       30,
       measured,
       [](const auto& p) { return p.result.timing ? real_cell(p.result.timing->sm_clock_mhz) : std::string(); },
       ""},
  };
}

std::vector<ColumnSpec> access_columns() {
  const auto counted = Origin::counted;
  return {
      {{"sectors", "per", "load"},
       "sectors per load: 32-byte pieces of global memory that one warp instruction moves; 32 lanes of 4 bytes need 4",
       90,
       counted,
       ratio_of({"global_load_sectors"}, {"global_load_requests"}),
       ""},
      {{"sectors", "per", "store"}, "", 70, counted, ratio_of({"global_store_sectors"}, {"global_store_requests"}), ""},
      {{"lanes", "per", "request"},
       "lanes per request: of a warp's 32, how many take part in a global access",
       75,
       counted,
       ratio_of({"global_load_lanes", "global_store_lanes"}, {"global_load_requests", "global_store_requests"}),
       ""},
      {{"worst", "shared", "conflicts"},
       "worst shared conflicts: at the worst access site, passes over shared memory beyond the ideal, per warp "
       "instruction; 0 is best, 31 is 32-way",
       80,
       counted,
       worst_conflicts,
       ""},
      {{"FLOP per", "loaded", "byte"},
       "FLOP per loaded byte: useful operations over the bytes all lanes load",
       85,
       Origin::emulated,
       of_analysis([](const Analysis& a) { return a.loaded.intensity; }),
       ""},
  };
}

std::vector<ColumnSpec> bound_columns() {
  const auto modelled = Origin::modelled;
  return {
      {{"attain-", "able", "GFLOP/s"},
       "attainable: under the lowest roof, the one under bounded by",
       82,
       modelled,
       of_analysis([](const Analysis& a) { return a.limit.attainable; }, 1e9),
       ""},
      {{"% of", "peak"},
       "% of peak: of the attainable GFLOP/s",
       45,
       modelled,
       of_analysis([](const Analysis& a) { return a.limit.percent_of_peak; }),
       ""},
      {{"bound", "us"},
       "bound us: least time under that roof; a bound, not a time",
       88,
       modelled,
       of_analysis([](const Analysis& a) { return a.limit.bound_time_us; }),
       ""},
      {{"bound us", "bytes", "once"},
       "bound us, bytes once: least time if every byte moved once, whatever caches do",
       65,
       modelled,
       of_analysis([](const Analysis& a) { return a.compulsory.bound_time_us; }),
       ""},
      {{"bounded", "by"},
       "bounded by: the lowest roof: DRAM, L2, L1 with shared memory, compute; DRAM sectors = as if no cache caught a "
       "sector, DRAM once = each byte moved once, where nobody counted DRAM bytes",
       95,
       modelled,
       [](const auto& p) { return p.analysis ? label_of(p.analysis->limit) : std::string(); },
       ""},
  };
}

// Plain counts by kind of access, where the points are so small that only the counts matter.
std::vector<ColumnSpec> raw_columns() {
  struct Count {
    const char* name;
    const char* heading;
    const char* meaning;
    int importance;
  };
  constexpr const char* requests = "req.: requests, one per warp instruction; sect.: 32-byte sectors of global memory";
  constexpr const char* wavefronts =
      "wave.: wavefronts, passes over shared memory; confl.: bank conflicts, wavefronts beyond the ideal";
  constexpr Count of_global[] = {{"requests", "req.", requests, 70}, {"sectors", "sect.", requests, 90}};
  constexpr Count of_shared[] = {{"requests", "req.", requests, 80},
                                 {"wavefronts", "wave.", wavefronts, 90},
                                 {"bank_conflicts", "confl.", wavefronts, 89}};
  std::vector<ColumnSpec> columns;
  const auto add = [&](const char* space, const auto& counts) {
    int rank = 0;
    for (const char* op : {"load", "store", "atomic"}) {
      for (const Count& count : counts)
        columns.push_back({{op, count.heading},
                           count.meaning,
                           count.importance - rank,
                           Origin::counted,
                           sum_of({fmt::format("{}_{}_{}", space, op, count.name)}),
                           space});
      rank += 3;
    }
  };
  add("global", of_global);
  add("shared", of_shared);
  return columns;
}

// --- further tables ---

std::vector<ColumnSpec> traffic_columns() {
  const auto counted = Origin::counted;
  return {
      {{"lane", "loads"},
       "lane loads: values that single threads load",
       76,
       Origin::emulated,
       emulated_of("global_load_lanes"),
       ""},
      {{"lane", "stores"}, "", 30, Origin::emulated, emulated_of("global_store_lanes"), ""},
      {{"load", "sectors"}, "", 80, counted, sum_of({"global_load_sectors"}), ""},
      {{"store", "sectors"}, "", 78, counted, sum_of({"global_store_sectors"}), ""},
      {{"atomic", "sectors"}, "", 50, counted, sum_of({"global_atomic_sectors"}), ""},
      {{"all", "sectors"},
       "all sectors: loads, stores and atomics",
       85,
       counted,
       sum_of({"global_load_sectors", "global_store_sectors", "global_atomic_sectors"}),
       ""},
      {{"DRAM", "MB"},
       "",
       90,
       Origin::measured,
       [](const auto& p) {
         const auto bytes = dram_bytes(p);
         return bytes ? real_words(*bytes / 1e6) : std::string();
       },
       ""},
      {{"DRAM", "over", "once"},
       "DRAM over once: bytes read and written over the bytes that must move",
       88,
       Origin::measured,
       [](const auto& p) { return dram_over(p, &Analysis::compulsory); },
       ""},
      {{"DRAM", "over", "sectors"},
       "DRAM over sectors: what caches left of the sector bytes",
       87,
       Origin::measured,
       [](const auto& p) { return dram_over(p, &Analysis::transaction); },
       ""},
      {{"requested", "over", "once"},
       "requested over once: bytes that lanes load and store over the bytes that must move",
       75,
       Origin::emulated,
       of_analysis([](const Analysis& a) { return a.requested_over_compulsory; }),
       ""},
  };
}

std::vector<ColumnSpec> roofline_columns() {
  const auto counted = Origin::counted, modelled = Origin::modelled;
  std::vector<ColumnSpec> columns{
      {{"loaded"},
       "",
       60,
       Origin::emulated,
       of_analysis([](const Analysis& a) { return a.loaded.intensity; }),
       "FLOP per byte"},
      {{"requested"},
       "FLOP per byte requested: of loads and stores of all lanes",
       80,
       Origin::emulated,
       of_analysis([](const Analysis& a) { return a.requested.intensity; }),
       "FLOP per byte"},
      {{"in", "sectors"},
       "",
       70,
       counted,
       of_analysis([](const Analysis& a) { return a.transaction.intensity; }),
       "FLOP per byte"},
      {{"once"},
       "FLOP per byte once: if every byte moved once (compulsory)",
       78,
       modelled,
       of_analysis([](const Analysis& a) { return a.compulsory.intensity; }),
       "FLOP per byte"},
      {{"of", "L1"},
       "FLOP per byte of L1, L2, DRAM: of what crossed that level, as it was counted; L1 with shared memory",
       58,
       counted,
       intensity_at(Level::l1),
       "FLOP per byte"},
      {{"of", "L2"}, "", 57, Origin::measured, intensity_at(Level::l2), "FLOP per byte"},
      {{"of", "DRAM"}, "", 57, Origin::measured, intensity_at(Level::dram), "FLOP per byte"},
  };
  std::ranges::move(bound_columns(), std::back_inserter(columns));
  columns.pop_back();  // what bounds a point is in the summary
  columns.push_back({{"bound us", "sectors", "from DRAM"},
                     "bound us, sectors from DRAM: least time if no cache saves a sector",
                     66,
                     modelled,
                     of_analysis([](const Analysis& a) { return a.transaction.bound_time_us; }),
                     ""});
  columns.push_back({{"% of", "sectors", "useful"},
                     "% of sectors useful: compulsory bytes over sector bytes",
                     60,
                     modelled,
                     of_analysis([](const Analysis& a) { return a.effective_bandwidth_percent; }),
                     ""});
  columns.push_back({{"effective", "GB/s"},
                     "effective GB/s: DRAM bandwidth times the useful share of the sector bytes",
                     55,
                     modelled,
                     of_analysis([](const Analysis& a) { return a.effective_bandwidth; }, 1e9),
                     ""});
  return columns;
}

std::vector<ColumnSpec> issue_columns() {
  const auto counted = Origin::counted;
  const auto shared = [](const char* count) {
    Ids ids;
    for (const char* op : {"load", "store", "atomic"}) ids.push_back(fmt::format("shared_{}_{}", op, count));
    return ids;
  };
  return {
      {{"requests"}, "", 80, counted, sum_of(shared("requests")), "all shared"},
      {{"wavefronts"},
       "wavefronts: passes over shared memory",
       82,
       counted,
       sum_of(shared("wavefronts")),
       "all shared"},
      {{"conflicts"},
       "conflicts: wavefronts beyond the ideal",
       81,
       counted,
       sum_of(shared("bank_conflicts")),
       "all shared"},
      {{"load", "lanes"}, "", 50, Origin::emulated, emulated_of("shared_load_lanes"), "shared"},
      {{"load", "wavefronts"}, "", 45, counted, sum_of({"shared_load_wavefronts"}), "shared"},
      {{"store", "lanes"}, "", 50, Origin::emulated, emulated_of("shared_store_lanes"), "shared"},
      {{"store", "wavefronts"}, "", 45, counted, sum_of({"shared_store_wavefronts"}), "shared"},
      {{"memory", "instr."},
       "memory instr.: memory instructions issued, per warp",
       70,
       Origin::emulated,
       emulated_of("memory_instructions"),
       ""},
      {{"SIMT", "eff. %"},
       "SIMT eff. %: active lanes over 32 times the memory instructions",
       75,
       Origin::emulated,
       [](const auto& p) {
         const Quantity* efficiency = emulated_counter(p, "simt_efficiency");
         return efficiency == nullptr ? std::string()
                                      : (efficiency->estimated ? "~" : "") + real_words(100 * *efficiency->number(), 3);
       },
       ""},
      {{"barriers"}, "", 40, Origin::emulated, emulated_of("barriers"), ""},
      {{"shuffles", "etc."},
       "shuffles etc.: shuffles, votes, reductions and __syncwarp, per warp",
       35,
       Origin::emulated,
       emulated_of("warp_intrinsics"),
       ""},
      {{"instruc-", "tions"}, "", 65, counted, sum_of({"instructions"}), ""},
      {{"achieved", "occup. %"}, "", 64, counted, sum_of({"achieved_occupancy"}), ""},
  };
}

std::vector<ColumnSpec> buffer_columns(const Points& points) {
  std::vector<std::string> buffers;  // that are loaded
  for (const PointRecord* point : points)
    for (const SiteRow& row : point->result.sites)
      if (row.space == "global" && row.op == "load" && std::ranges::find(buffers, row.buffer) == buffers.end())
        buffers.push_back(row.buffer);
  // The one with the most sectors first; it is kept where not all fit.
  const auto all_sectors = [&](const std::string& buffer) {
    std::uint64_t total = 0;
    for (const PointRecord* point : points) total += of_buffer(*point, buffer, &SiteRow::sectors);
    return total;
  };
  std::ranges::sort(buffers);
  std::ranges::stable_sort(buffers, std::ranges::greater{}, all_sectors);
  const bool alike = std::ranges::all_of(points, [&](const PointRecord* point) {
    return std::ranges::all_of(buffers, [&](const std::string& buffer) {
      return of_buffer(*point, buffer, &SiteRow::lanes) == of_buffer(*point, buffers.front(), &SiteRow::lanes) &&
             of_buffer(*point, buffer, &SiteRow::sectors) == of_buffer(*point, buffers.front(), &SiteRow::sectors);
    });
  });
  if (alike) return {};
  std::vector<ColumnSpec> columns;
  const auto add = [&](const char* what, std::uint64_t SiteRow::*count, int importance) {
    for (const std::string& buffer : buffers) {
      const auto text = [=](const PointRecord& p) {
        return p.result.sites.empty() ? "" : count_words(of_buffer(p, buffer, count));
      };
      columns.push_back({{buffer.empty() ? "unnamed" : buffer}, "", importance, Origin::emulated, text, what});
      importance -= 2;
    }
  };
  add("lanes of", &SiteRow::lanes, 90);
  add("sectors of", &SiteRow::sectors, 89);
  return columns;
}

}  // namespace gpuexp
