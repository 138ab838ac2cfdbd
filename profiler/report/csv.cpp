// CSV: RFC 4180 text, and one table of columns that both writes and reads a row.
#include "profiler/report/csv.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <set>

#include "profiler/core/error.h"
#include "profiler/core/nearest.h"
#include "profiler/core/text.h"
#include "profiler/counters/counters.h"
#include "profiler/report/result_writer.h"

namespace gpuexp {
namespace {

constexpr std::string_view empty_reason = "empty in the CSV; the JSON file of the run has the reason";

// --- cells ---

std::string text_of(const Quantity& quantity) {
  if (const auto count = quantity.exact()) return number_text(*count);
  const auto real = quantity.number();
  return real && Quantity::real(*real, quantity.source).has_value() ? number_text(*real) : "";
}

std::string text_of(double value) {
  return Quantity::real(value, Source::modelled).has_value() ? number_text(value) : "";
}

template <class T>
T parse_number(const CsvCell& cell, const char* wanted) {
  T value{};
  const char* end = cell.text.data() + cell.text.size();
  const auto [stop, error] = std::from_chars(cell.text.data(), end, value);
  if (error == std::errc::result_out_of_range) cell.fail("'" + std::string(cell.text) + "' is out of range");
  if (error != std::errc{} || stop != end || cell.text.empty())
    cell.fail("'" + std::string(cell.text) + "' is not " + wanted);
  return value;
}

std::uint64_t parse_count(const CsvCell& cell) { return parse_number<std::uint64_t>(cell, "a whole number"); }
double parse_real(const CsvCell& cell) {
  const double value = parse_number<double>(cell, "a number");
  if (!Quantity::real(value, Source::modelled).has_value())
    cell.fail("'" + std::string(cell.text) + "' is no finite number; a value that could not be had is an empty cell");
  if (value < 0) cell.fail("'" + std::string(cell.text) + "' is below 0: no run gives that");
  return value;
}

Quantity parse_quantity(const CsvCell& cell, Source source) {
  if (cell.text.empty()) return Quantity::null(std::string(empty_reason), source);
  std::uint64_t count = 0;
  const char* end = cell.text.data() + cell.text.size();
  if (const auto [stop, error] = std::from_chars(cell.text.data(), end, count); error == std::errc{} && stop == end)
    return Quantity::count(count, source);
  return Quantity::real(parse_real(cell), source);
}

bool parse_flag(const CsvCell& cell) {
  if (cell.text == "true") return true;
  if (cell.text != "false") cell.fail("'" + std::string(cell.text) + "' is neither true nor false");
  return false;
}

// --- kinds of columns ---

using Get = decltype(Column::get);
using Set = decltype(Column::set);

// A text of the file: `member` gives a reference to it.
Column file_text(std::string name, std::string meaning, std::string& (*member)(ResultFile&)) {
  return {std::move(name), std::move(meaning),
          [member](const ResultFile& file, const PointRecord&) { return member(const_cast<ResultFile&>(file)); },
          [member](ResultFile& file, PointRecord&, const CsvCell& cell) { member(file) = cell.text; }, true};
}

Column environment_text(std::string name, std::string meaning) {
  const Get get = [name](const ResultFile& file, const PointRecord&) {
    return environment_value(file.environment, name);
  };
  const Set set = [name](ResultFile& file, PointRecord&, const CsvCell& cell) {
    if (!cell.text.empty() && environment_value(file.environment, name).empty())
      file.environment.emplace_back(name, cell.text);
  };
  return {name, std::move(meaning), get, set, true};
}

Column result_text(std::string name, std::string meaning, std::string& (*member)(PointResult&)) {
  return {std::move(name), std::move(meaning),
          [member](const ResultFile&, const PointRecord& p) { return member(const_cast<PointResult&>(p.result)); },
          [member](ResultFile&, PointRecord& p, const CsvCell& cell) { member(p.result) = cell.text; }};
}

template <class T>
Column result_count(std::string name, std::string meaning, T& (*member)(PointResult&)) {
  return {std::move(name), std::move(meaning),
          [member](const ResultFile&, const PointRecord& p) {
            return number_text(member(const_cast<PointResult&>(p.result)));
          },
          [member](ResultFile&, PointRecord& p, const CsvCell& cell) {
            member(p.result) = parse_number<T>(cell, "a whole number");
          }};
}

// A quantity of the analysis; empty when the point has no analysis.
Column analysis_quantity(std::string name, std::string meaning, Quantity& (*member)(Analysis&)) {
  return {std::move(name), std::move(meaning),
          [member](const ResultFile&, const PointRecord& p) {
            return p.analysis ? text_of(member(const_cast<Analysis&>(*p.analysis))) : std::string();
          },
          [member](ResultFile&, PointRecord& p, const CsvCell& cell) {
            if (p.analysis) member(*p.analysis) = parse_quantity(cell, Source::modelled);
          }};
}

Column time_real(std::string name, std::string meaning, double TimeStatistics::*member) {
  return {
      std::move(name), std::move(meaning),
      [member](const ResultFile&, const PointRecord& p) { return p.time ? text_of((*p.time).*member) : std::string(); },
      [member](ResultFile&, PointRecord& p, const CsvCell& cell) {
        if (p.time) (*p.time).*member = parse_real(cell);
      }};
}

Column basis_column(std::string prefix, std::string suffix, std::string meaning, Quantity BasisBound::*member,
                    BasisBound Analysis::*basis) {
  return {prefix + suffix, std::move(meaning),
          [=](const ResultFile&, const PointRecord& p) {
            return p.analysis ? text_of((*p.analysis).*basis.*member) : std::string();
          },
          [=](ResultFile&, PointRecord& p, const CsvCell& cell) {
            if (p.analysis) (*p.analysis).*basis.*member = parse_quantity(cell, Source::modelled);
          }};
}

Column level_column(const std::string& prefix, const std::string& suffix, std::string meaning,
                    Quantity LevelBound::*member, Level level) {
  return {prefix + std::string(to_text(level)) + suffix,
          std::move(meaning),
          [=](const ResultFile&, const PointRecord& p) {
            const LevelBound* bound = p.analysis ? p.analysis->at(level) : nullptr;
            return bound == nullptr ? std::string() : text_of(bound->*member);
          },
          [=](ResultFile&, PointRecord& p, const CsvCell& cell) {
            if (!p.analysis) return;
            std::vector<LevelBound>& bounds = p.analysis->levels;
            if (bounds.empty())
              for (const Level one : memory_levels) bounds.emplace_back().level = one;
            bounds[static_cast<std::size_t>(level)].*member = parse_quantity(cell, Source::modelled);
          },
          false,
          true};
}

Column counter_column(const std::string& column, const std::string& id, std::string meaning,
                      std::map<std::string, Quantity> PointResult::*where) {
  return {column, std::move(meaning),
          [=](const ResultFile&, const PointRecord& p) {
            const auto found = (p.result.*where).find(id);
            return found == (p.result.*where).end() ? std::string() : text_of(found->second);
          },
          [=](ResultFile&, PointRecord& p, const CsvCell& cell) {
            const Source source =
                where == &PointResult::predicted || p.result.backend == "simt" ? Source::emulated : Source::measured;
            if (!cell.text.empty()) (p.result.*where)[id] = parse_quantity(cell, source);
          }};
}

// --- what counters carry beside their value ---

std::string_view base_source(const PointResult& result) { return result.backend == "simt" ? "emulated" : "measured"; }

// "id=source" of the counters whose source is not the row's counters_source, separated by spaces.
std::string source_exceptions(const PointResult& result) {
  std::string text;
  for (const auto& [id, quantity] : result.counters)
    if (quantity.has_value() && to_text(quantity.source) != base_source(result))
      text += (text.empty() ? "" : " ") + id + "=" + std::string(to_text(quantity.source));
  return text;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    if (space != 0) words.push_back(text.substr(0, space));
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
  return words;
}

Quantity& counter_named(PointRecord& point, std::string_view id, const CsvCell& cell) {
  const auto found = point.result.counters.find(std::string(id));
  if (found == point.result.counters.end())
    cell.fail("names the counter '" + std::string(id) + "', whose cell is empty");
  return found->second;
}

void read_source_exceptions(ResultFile&, PointRecord& point, const CsvCell& cell) {
  for (const std::string_view word : words_of(cell.text)) {
    const std::size_t equals = word.find('=');
    const auto source = equals == std::string_view::npos ? std::nullopt : source_from_text(word.substr(equals + 1));
    if (!source) cell.fail("'" + std::string(word) + "' is not counter=source");
    counter_named(point, word.substr(0, equals), cell).source = *source;
  }
}

// "id=standard_error" of the estimated counters.
std::string estimates(const PointResult& result) {
  std::string text;
  for (const auto& [id, quantity] : result.counters)
    if (quantity.has_value() && quantity.estimated)
      text += (text.empty() ? "" : " ") + id + "=" + text_of(quantity.standard_error);
  return text;
}

void read_estimates(ResultFile&, PointRecord& point, const CsvCell& cell) {
  for (const std::string_view word : words_of(cell.text)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) cell.fail("'" + std::string(word) + "' is not counter=standard error");
    Quantity& quantity = counter_named(point, word.substr(0, equals), cell);
    quantity.estimated = true;
    const std::string_view error = word.substr(equals + 1);
    if (!error.empty()) quantity.standard_error = parse_real({error, cell.file, cell.line, cell.column});
  }
}

// --- text of launches ---

std::string extent(const Dim3& dim) { return number_text(dim.x) + "x" + number_text(dim.y) + "x" + number_text(dim.z); }

// What all launches share, else "various".
template <class Text>
std::string of_launches(const PointResult& result, Text text) {
  std::string common;
  for (const LaunchInfo& launch : result.launches) {
    const std::string one = text(launch);
    if (!common.empty() && one != common) return "various";
    common = one;
  }
  return common;
}

template <class Text>
Column launch_column(std::string name, std::string meaning, Text text) {
  // Launches are not read back: a row cannot hold several.
  return {std::move(name), std::move(meaning),
          [text](const ResultFile&, const PointRecord& p) { return of_launches(p.result, text); },
          [](ResultFile&, PointRecord&, const CsvCell&) {}};
}

// What all shapes of block share, else "various". Like launches, not read back.
template <class Text>
Column occupancy_column(std::string name, std::string meaning, Text text) {
  return {std::move(name), std::move(meaning),
          [text](const ResultFile&, const PointRecord& p) {
            std::string common;
            if (!p.analysis) return common;
            for (const LaunchOccupancy& launch : p.analysis->occupancy) {
              const std::string one = text(launch);
              if (!common.empty() && one != common) return std::string("various");
              common = one;
            }
            return common;
          },
          [](ResultFile&, PointRecord&, const CsvCell&) {}};
}

void occupancy_columns(std::vector<Column>& table) {
  const auto first = static_cast<std::ptrdiff_t>(table.size());
  table.push_back(occupancy_column("threads_per_block", "of the launches",
                                   [](const LaunchOccupancy& l) { return number_text(l.block.threads); }));
  table.push_back(occupancy_column(
      "blocks_per_sm", "that fit on a multiprocessor at once (modelled); an upper bound while registers are unknown",
      [](const LaunchOccupancy& l) { return number_text(l.occupancy.blocks_per_sm); }));
  table.push_back(occupancy_column("occupancy_percent", "of the warps that a multiprocessor holds (modelled)",
                                   [](const LaunchOccupancy& l) { return text_of(100 * l.occupancy.fraction); }));
  table.push_back(occupancy_column("occupancy_limited_by",
                                   "`warps`, `blocks`, `registers`, `shared memory`, several joined by `+` (modelled)",
                                   [](const LaunchOccupancy& l) {
                                     std::string text;
                                     for (const std::string& limiter : l.occupancy.limiters)
                                       text += (text.empty() ? "" : "+") + limiter;
                                     return text;
                                   }));
  table.push_back(occupancy_column(
      "registers_per_thread", "as compiled for the GPU that ran it; empty for `simt`", [](const LaunchOccupancy& l) {
        return l.block.registers_per_thread ? number_text(std::int64_t{*l.block.registers_per_thread}) : std::string();
      }));
  table.push_back(occupancy_column(
      "max_registers_per_thread", "with which blocks_per_sm stays what it is (modelled)",
      [](const LaunchOccupancy& l) { return number_text(std::int64_t{l.occupancy.max_registers_for_blocks}); }));
  std::for_each(table.begin() + first, table.end(), [](Column& column) { column.later = true; });
}

std::string joined(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::string text;
  for (const auto* list : {&a, &b})
    for (const std::string& line : *list) text += (text.empty() ? "" : "; ") + line;
  return text;
}

std::string finding_kinds(const PointResult& result) {
  std::set<std::string> kinds;
  for (const Finding& finding : result.findings) kinds.insert(finding.kind);
  std::string text;
  for (const std::string& kind : kinds) text += (text.empty() ? "" : " ") + kind;
  return text;
}

// --- the table ---

void identity_columns(std::vector<Column>& table, const ColumnNames& names) {
  table.push_back({"schema_version", "of this format",
                   [](const ResultFile& f, const PointRecord&) { return number_text(std::int64_t{f.schema_version}); },
                   [](ResultFile& f, PointRecord&, const CsvCell& cell) {
                     f.schema_version = parse_number<int>(cell, "a whole number");
                     const std::string refusal = schema_refusal(f.schema_version);
                     if (!refusal.empty()) cell.fail(refusal);
                   },
                   true});
  table.push_back(file_text(
      "gpuexp_version", "that wrote the file", [](ResultFile & f) -> auto& { return f.gpuexp_version; }));
  table.push_back(file_text(
      "gpuexp_commit", "that wrote the file; empty outside a checkout",
      [](ResultFile & f) -> auto& { return f.gpuexp_commit; }));
  table.push_back(environment_text("compiler", "that built gpuexp and the emulated kernels"));
  table.push_back(file_text(
      "experiment", "name of the experiment", [](ResultFile & f) -> auto& { return f.plan.name; }));
  table.push_back(file_text(
      "backend", "`simt` (emulated) or `cuda` (measured)", [](ResultFile & f) -> auto& { return f.plan.backend; }));
  table.push_back(file_text(
      "device", "whose roofline the modelled columns use", [](ResultFile & f) -> auto& { return f.device.name; }));
  table.push_back(environment_text("gpu", "that ran the points; empty for `simt`"));
  table.push_back(environment_text("driver", "of the GPU; empty for `simt`"));
  table.push_back(environment_text("toolkit", "CUDA toolkit of the build; empty for `simt`"));
  table.push_back({"cache_mode", "`cold` or `warm` L2 while timing; empty when nothing was timed",
                   [](const ResultFile&, const PointRecord& p) {
                     return p.result.timing ? p.result.timing->cache_mode : std::string();
                   },
                   [](ResultFile&, PointRecord& p, const CsvCell& cell) {
                     if (!cell.text.empty()) p.result.timing.emplace().cache_mode = cell.text;
                   }});
  table.push_back(result_text(
      "variant", "canonical name", [](PointResult & r) -> auto& { return r.point.variant; }));
  table.push_back(result_count(
      "seed", "of the generated inputs", +[](PointResult & r) -> auto& { return r.point.seed; }));
  for (const std::string& name : names.params)
    table.push_back({"param:" + name, "parameter `" + name + "`; empty when the variant does not take it",
                     [name](const ResultFile&, const PointRecord& p) {
                       const ParamValue* value = p.result.point.params.find(name);
                       return value == nullptr ? std::string() : to_text(*value);
                     },
                     [name](ResultFile&, PointRecord& p, const CsvCell& cell) {
                       if (cell.text.empty()) return;
                       ParamValue value = std::string(cell.text);
                       const char* end = cell.text.data() + cell.text.size();
                       std::int64_t integer = 0;
                       double real = 0;
                       if (const auto i = std::from_chars(cell.text.data(), end, integer);
                           i.ptr == end && i.ec == std::errc{}) {
                         value = integer;
                       } else if (const auto r = std::from_chars(cell.text.data(), end, real);
                                  r.ptr == end && r.ec == std::errc{} && text_of(real) == cell.text) {
                         value = real;
                       }
                       p.result.point.params.set(name, std::move(value));
                     }});
}

void outcome_columns(std::vector<Column>& table) {
  table.push_back({"status", "`ok`, `unsupported`, `failed`, `timed_out`, `out_of_memory` or `interrupted`",
                   [](const ResultFile&, const PointRecord& p) { return std::string(to_text(p.result.status)); },
                   [](ResultFile&, PointRecord& p, const CsvCell& cell) {
                     const auto status = status_from_text(cell.text);
                     if (!status) cell.fail("'" + std::string(cell.text) + "' is not a status");
                     p.result.status = *status;
                     if (*status == Status::ok) p.analysis.emplace();
                   }});
  table.push_back(result_text(
      "reason", "why the status is not `ok`", [](PointResult & r) -> auto& { return r.reason; }));
  table.push_back(
      {"good", "`false` when the point makes the exit code 1",
       [](const ResultFile&, const PointRecord& p) { return std::string(p.result.good() ? "true" : "false"); },
       [](ResultFile&, PointRecord&, const CsvCell& cell) { static_cast<void>(parse_flag(cell)); }});
  table.push_back(
      {"verified", "`passed`, `failed` or `not_run`",
       [](const ResultFile&, const PointRecord& p) { return std::string(to_text(p.result.verification.state)); },
       [](ResultFile&, PointRecord& p, const CsvCell& cell) {
         for (const auto state :
              {Verification::State::passed, Verification::State::failed, Verification::State::not_run})
           if (to_text(state) == cell.text) {
             p.result.verification.state = state;
             return;
           }
         cell.fail("'" + std::string(cell.text) + "' is not passed, failed or not_run");
       }});
  table.push_back(result_text(
      "verified_scope", "which elements were compared, or why none were",
      [](PointResult & r) -> auto& { return r.verification.scope; }));
  table.push_back(result_count(
      "verified_elements", "compared with the reference",
      +[](PointResult & r) -> auto& { return r.verification.checked; }));
  table.push_back(result_count(
      "wrong_elements", "of those", +[](PointResult & r) -> auto& { return r.verification.wrong; }));
  table.push_back({"findings", "kinds of checker findings, separated by spaces",
                   [](const ResultFile&, const PointRecord& p) { return finding_kinds(p.result); },
                   [](ResultFile&, PointRecord& p, const CsvCell& cell) {
                     for (const std::string_view kind : words_of(cell.text)) {
                       Finding finding;
                       finding.kind = kind;
                       finding.message = "the JSON file of the run has the details";
                       p.result.findings.push_back(finding);
                     }
                   }});
  table.push_back({"expected_finding", "that a variant broken on purpose must show",
                   [](const ResultFile&, const PointRecord& p) { return p.result.expected_finding.value_or(""); },
                   [](ResultFile&, PointRecord& p, const CsvCell& cell) {
                     if (!cell.text.empty()) p.result.expected_finding = std::string(cell.text);
                   }});
  table.push_back({"warnings", "separated by `; `",
                   [](const ResultFile&, const PointRecord& p) {
                     return joined(p.result.warnings, p.analysis ? p.analysis->warnings : std::vector<std::string>());
                   },
                   [](ResultFile&, PointRecord& p, const CsvCell& cell) {
                     if (!cell.text.empty()) p.result.warnings.emplace_back(cell.text);
                   }});
}

void work_columns(std::vector<Column>& table) {
  table.push_back(
      {"launches", "kernel launches of the point",
       [](const ResultFile&, const PointRecord& p) { return number_text(std::uint64_t{p.result.launches.size()}); },
       [](ResultFile&, PointRecord&, const CsvCell& cell) { static_cast<void>(parse_count(cell)); }});
  table.push_back(launch_column("grid", "blocks as XxYxZ; `various` when launches differ",
                                [](const LaunchInfo& l) { return extent(l.grid); }));
  table.push_back(launch_column("block", "threads as XxYxZ", [](const LaunchInfo& l) { return extent(l.block); }));
  table.push_back(launch_column("shared_bytes_per_block", "static and dynamic shared memory", [](const LaunchInfo& l) {
    return number_text(l.static_shared_bytes + l.dynamic_shared_bytes);
  }));
  occupancy_columns(table);
  table.push_back(result_count(
      "blocks_run", "emulated blocks", +[](PointResult & r) -> auto& { return r.blocks_run; }));
  table.push_back(result_count(
      "blocks_total", "of the launches; more than blocks_run when blocks were sampled",
      +[](PointResult & r) -> auto& { return r.blocks_total; }));
  table.push_back({"flops", "useful FLOPs of the problem (modelled)",
                   [](const ResultFile&, const PointRecord& p) { return text_of(p.result.flops); },
                   [](ResultFile&, PointRecord& p, const CsvCell& cell) {
                     if (!cell.text.empty()) p.result.flops = parse_real(cell);
                   }});
  table.push_back(result_count(
      "compulsory_load_bytes", "that any implementation must load (modelled)",
      +[](PointResult & r) -> auto& { return r.compulsory_load_bytes; }));
  table.push_back(result_count(
      "compulsory_store_bytes", "that any implementation must store (modelled)",
      +[](PointResult & r) -> auto& { return r.compulsory_store_bytes; }));
}

// The hierarchical roofline.
void level_columns(std::vector<Column>& table) {
  for (const Level level : memory_levels)
    table.push_back(level_column("", "_bytes", std::string(meaning_of(level)), &LevelBound::bytes, level));
  for (const Level level : memory_levels)
    table.push_back(level_column("flop_per_", "_byte", "intensity on those bytes", &LevelBound::intensity, level));
  for (const Level level : memory_levels)
    table.push_back(
        level_column("attainable_flop_per_s_", "",
                     "roof at that intensity, under the bandwidth of " + std::string(label_of(level)) + " (modelled)",
                     &LevelBound::attainable, level));
  for (const Level level : memory_levels)
    table.push_back(level_column("percent_of_attainable_", "", "achieved over that roof (measured)",
                                 &LevelBound::percent_of_attainable, level));
  table.push_back(
      {"lowest_roof", "`dram`, `l2`, `l1` or `compute`: the lowest of those that are known (modelled)",
       [](const ResultFile&, const PointRecord& p) { return p.analysis ? p.analysis->lowest_roof : std::string(); },
       [](ResultFile&, PointRecord& p, const CsvCell& cell) {
         if (p.analysis) p.analysis->lowest_roof = cell.text;
       },
       false, true});
}

void roofline_columns(std::vector<Column>& table) {
  table.push_back(
      {"precision", "compute ceiling used",
       [](const ResultFile&, const PointRecord& p) { return p.analysis ? p.analysis->precision : std::string(); },
       [](ResultFile&, PointRecord& p, const CsvCell& cell) {
         if (p.analysis) p.analysis->precision = cell.text;
       }});
  const auto add = [&](const char* name, const char* meaning, Quantity& (*member)(Analysis&)) {
    table.push_back(analysis_quantity(name, meaning, member));
  };
  add(
      "peak_flop_per_s", "of that ceiling (spec)", [](Analysis & a) -> auto& { return a.peak; });
  add(
      "bandwidth_byte_per_s", "of DRAM (spec)", [](Analysis & a) -> auto& { return a.bandwidth; });
  add(
      "ridge_flop_per_byte", "where the two meet (modelled)", [](Analysis & a) -> auto& { return a.ridge; });
  add(
      "flop_per_load_byte", "FLOPs over the bytes all lanes loaded: the lecture's ratio",
      [](Analysis & a) -> auto& { return a.loaded.intensity; });
  struct BasisName {
    const char* name;
    BasisBound Analysis::*basis;
  };
  constexpr BasisName loaded{"loaded", &Analysis::loaded};
  constexpr BasisName requested{"requested", &Analysis::requested};
  constexpr BasisName transaction{"transaction", &Analysis::transaction};
  constexpr BasisName compulsory{"compulsory", &Analysis::compulsory};
  for (const BasisName& b : {loaded, requested, transaction, compulsory})
    table.push_back(
        basis_column(b.name, "_bytes", std::string("bytes on the ") + b.name + " basis", &BasisBound::bytes, b.basis));
  for (const BasisName& b : {requested, transaction, compulsory})
    table.push_back(basis_column(std::string("flop_per_") + b.name, "_byte",
                                 std::string("intensity on the ") + b.name + " basis", &BasisBound::intensity,
                                 b.basis));
  for (const BasisName& b : {loaded, requested, transaction, compulsory})
    table.push_back(basis_column(std::string("attainable_flop_per_s_"), b.name,
                                 std::string("roof at the ") + b.name + " intensity (modelled)",
                                 &BasisBound::attainable, b.basis));
  add(
      "bound_time_us",
      "shortest time the roof allows when every byte moves once, whatever the caches do (modelled): a bound, not a "
      "time",
      [](Analysis & a) -> auto& { return a.compulsory.bound_time_us; });
  for (const BasisName& b : {loaded, requested, transaction})
    table.push_back(basis_column("bound_time_us_", b.name,
                                 std::string("the same if all ") + b.name + " bytes came from DRAM (modelled)",
                                 &BasisBound::bound_time_us, b.basis));
  table.push_back(
      {"bound_by", "`memory`, `compute`, `memory unless caches catch the reuse` or `unknown` (modelled)",
       [](const ResultFile&, const PointRecord& p) { return p.analysis ? p.analysis->verdict : std::string(); },
       [](ResultFile&, PointRecord& p, const CsvCell& cell) {
         if (p.analysis) p.analysis->verdict = cell.text;
       }});
  level_columns(table);
  add(
      "effective_bandwidth_byte_per_s", "DRAM bandwidth times the compulsory share of the sector bytes (modelled)",
      [](Analysis & a) -> auto& { return a.effective_bandwidth; });
  add(
      "effective_bandwidth_percent", "of the peak bandwidth (modelled)",
      [](Analysis & a) -> auto& { return a.effective_bandwidth_percent; });
  add(
      "requested_over_compulsory", "bytes of all lanes over compulsory bytes",
      [](Analysis & a) -> auto& { return a.requested_over_compulsory; });
}

void time_columns(std::vector<Column>& table) {
  table.push_back(
      {"time_samples", "usable samples (measured); empty when nothing was timed",
       [](const ResultFile&, const PointRecord& p) { return p.time ? number_text(p.time->samples) : std::string(); },
       [](ResultFile&, PointRecord& p, const CsvCell& cell) {
         if (!cell.text.empty()) p.time.emplace().samples = parse_count(cell);
       }});
  table.push_back(time_real("time_us_median", "of the samples (measured)", &TimeStatistics::median_us));
  table.push_back(time_real("time_us_min", "of the samples (measured)", &TimeStatistics::min_us));
  table.push_back(time_real("time_us_max", "of the samples (measured)", &TimeStatistics::max_us));
  table.push_back({"time_relative_spread", "standard deviation over mean; empty below two samples (measured)",
                   [](const ResultFile&, const PointRecord& p) {
                     return p.time && p.time->relative_spread ? text_of(*p.time->relative_spread) : std::string();
                   },
                   [](ResultFile&, PointRecord& p, const CsvCell& cell) {
                     if (p.time && !cell.text.empty()) p.time->relative_spread = parse_real(cell);
                   }});
  table.push_back(
      {"time_samples_discarded", "because the GPU throttled (measured)",
       [](const ResultFile&, const PointRecord& p) {
         return p.result.timing ? number_text(std::int64_t{p.result.timing->discarded_throttled}) : std::string();
       },
       [](ResultFile&, PointRecord& p, const CsvCell& cell) {
         if (p.result.timing && !cell.text.empty())
           p.result.timing->discarded_throttled = static_cast<int>(std::min<std::uint64_t>(parse_count(cell), INT_MAX));
       }});
  table.push_back({"sm_clock_mhz", "during the run (measured)",
                   [](const ResultFile&, const PointRecord& p) {
                     return p.result.timing && p.result.timing->sm_clock_mhz ? text_of(*p.result.timing->sm_clock_mhz)
                                                                             : std::string();
                   },
                   [](ResultFile&, PointRecord& p, const CsvCell& cell) {
                     if (p.result.timing && !cell.text.empty()) p.result.timing->sm_clock_mhz = parse_real(cell);
                   }});
  const auto add = [&](const char* name, const char* meaning, Quantity& (*member)(Analysis&)) {
    table.push_back(analysis_quantity(name, meaning, member));
  };
  add(
      "achieved_flop_per_s", "useful FLOPs over the median time (measured)",
      [](Analysis & a) -> auto& { return a.achieved_flops; });
  add(
      "percent_of_peak", "achieved over peak_flop_per_s (measured)",
      [](Analysis & a) -> auto& { return a.percent_of_peak; });
  add(
      "percent_of_attainable", "achieved over the compulsory roof (measured)",
      [](Analysis & a) -> auto& { return a.percent_of_attainable; });
  add(
      "achieved_byte_per_s", "compulsory bytes over the median time (measured)",
      [](Analysis & a) -> auto& { return a.achieved_bandwidth; });
  add(
      "percent_of_bandwidth", "achieved_byte_per_s over bandwidth_byte_per_s (measured)",
      [](Analysis & a) -> auto& { return a.percent_of_bandwidth; });
  add(
      "dram_byte_per_s", "DRAM bytes over the median time (measured)",
      [](Analysis & a) -> auto& { return a.dram_bandwidth; });
}

void counter_columns(std::vector<Column>& table, const ColumnNames& names) {
  std::vector<Column> counters;
  for (const Counter& counter : counter_table())
    counters.push_back(counter_column(std::string(counter.id), std::string(counter.id),
                                      std::string(counter.meaning) + " [" + std::string(counter.unit) + "]",
                                      &PointResult::counters));
  for (const std::string& id : names.raw)
    counters.push_back(
        counter_column("counter:" + id, id, "counter asked for by its raw name", &PointResult::counters));
  for (const std::string& id : names.predicted)
    counters.push_back(
        counter_column("predicted:" + id, id, "the emulated count beside the measured one", &PointResult::predicted));
  // Behind the counters, so that a reader has them when it learns where they came from.
  table.insert(table.end(), std::make_move_iterator(counters.begin()), std::make_move_iterator(counters.end()));
  table.push_back({"counters_source", "of the counter columns: `emulated` or `measured`",
                   [](const ResultFile&, const PointRecord& p) {
                     return p.result.counters.empty() ? std::string() : std::string(base_source(p.result));
                   },
                   [](ResultFile&, PointRecord& p, const CsvCell& cell) {
                     if (!cell.text.empty() && cell.text != base_source(p.result))
                       cell.fail("'" + std::string(cell.text) + "' does not fit the backend " + p.result.backend);
                   }});
  table.push_back({"counters_source_exceptions", "`counter=source` of those with another source, separated by spaces",
                   [](const ResultFile&, const PointRecord& p) { return source_exceptions(p.result); },
                   read_source_exceptions});
  table.push_back({"counters_estimated", "`counter=standard error` of those estimated from a sample of blocks",
                   [](const ResultFile&, const PointRecord& p) { return estimates(p.result); }, read_estimates});
}

std::vector<std::string> sorted(const std::set<std::string>& names) { return {names.begin(), names.end()}; }

}  // namespace

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

CsvText parse_csv(std::string_view text, const std::string& file) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  CsvText csv;
  std::size_t line = 1, at = 0;
  const auto fail = [&](const char* what) {
    throw Error(ExitCode::usage, file + ": line " + number_text(std::uint64_t{line}) + ", cell " +
                                     number_text(std::uint64_t{csv.rows.back().size() + 1}) + ": " + what);
  };
  // Reads one cell from `at`; leaves `at` on the comma or line end behind it.
  const auto read_cell = [&] {
    std::string cell;
    if (at < text.size() && text[at] == '"') {
      for (++at; at < text.size();) {
        const char c = text[at++];
        if (c == '\n') ++line;
        if (c == '"') {
          if (at == text.size() || text[at] != '"') return cell;
          ++at;
        }
        cell += c;
      }
      fail("the quoted cell is not closed");
    }
    for (; at < text.size() && text[at] != ',' && text[at] != '\n' && text[at] != '\r'; ++at) {
      if (text[at] == '"') fail("a quote inside an unquoted cell");
      cell += text[at];
    }
    return cell;
  };
  while (at < text.size()) {
    csv.lines.push_back(line);
    csv.rows.emplace_back();
    for (;; ++at) {
      std::string cell = read_cell();
      if (at < text.size() && text[at] != ',' && text[at] != '\n' && text[at] != '\r')
        fail("text behind a closing quote");
      if (holds_control(cell)) fail("holds a control character");
      csv.rows.back().push_back(std::move(cell));
      if (at == text.size() || text[at] != ',') break;
    }
    if (at < text.size() && text[at] == '\r') ++at;
    if (at < text.size() && text[at] == '\n') ++at;
    ++line;
  }
  return csv;
}

void CsvCell::fail(const std::string& what) const {
  throw Error(ExitCode::usage,
              file + ": line " + number_text(std::uint64_t{line}) + ", column '" + column + "': " + what);
}

ColumnNames column_names(const ResultFile& results) {
  std::set<std::string> params(results.plan.params.begin(), results.plan.params.end());
  std::set<std::string> raw, predicted;
  for (const PointRecord& point : results.points) {
    for (const auto& [name, value] : point.result.point.params.values()) params.insert(name);
    for (const auto& [id, quantity] : point.result.counters)
      if (find_counter(id) == nullptr) raw.insert(id);
    for (const auto& [id, quantity] : point.result.predicted) predicted.insert(id);
  }
  return {sorted(params), sorted(raw), sorted(predicted)};
}

std::vector<Column> columns(const ColumnNames& names) {
  std::vector<Column> table;
  identity_columns(table, names);
  outcome_columns(table);
  work_columns(table);
  time_columns(table);
  roofline_columns(table);
  counter_columns(table, names);
  return table;
}

std::vector<CsvColumn> csv_columns(const ResultFile& results) {
  std::vector<CsvColumn> list;
  for (Column& column : columns(column_names(results)))
    list.push_back({std::move(column.name), std::move(column.meaning)});
  return list;
}

std::string to_csv_text(const ResultFile& results) {
  const std::vector<Column> table = columns(column_names(results));
  std::string text;
  const auto end_row = [&] {
    text.back() = '\r';  // in place of the last comma
    text += '\n';
  };
  for (const Column& column : table) text += csv_cell(column.name) + ',';
  end_row();
  for (const PointRecord& point : results.points) {
    for (const Column& column : table) text += csv_cell(column.get(results, point)) + ',';
    end_row();
  }
  return text;
}

}  // namespace gpuexp
