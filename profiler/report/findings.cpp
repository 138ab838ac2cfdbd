// The findings in words: bounds, comparisons, the worst access sites, failures, what was sampled, warnings.
#include "profiler/report/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "profiler/core/text.h"
#include "profiler/report/text_table.h"

namespace gpuexp {
namespace {

constexpr double sector_bytes = 32;
constexpr double warp_lanes = 32;
constexpr std::size_t most_lines = 8;  // of one section; the JSON file has the rest

using Points = std::vector<const PointRecord*>;

std::string item(const std::string& text, const TerminalStyle& style) { return wrapped(text, style.width, "  - "); }

std::string more(std::size_t left_out, const char* what) {
  return left_out == 0 ? "" : fmt::format("    ... and {} more {} in the result file\n", left_out, what);
}

// Points by variant, in order of first appearance.
std::vector<Points> by_variant(const Points& points) {
  std::vector<Points> variants;
  for (const PointRecord* point : points) {
    const auto same = std::ranges::find_if(variants, [&](const Points& list) {
      return list.front()->result.point.variant == point->result.point.variant;
    });
    if (same == variants.end()) {
      variants.push_back({point});
    } else {
      same->push_back(point);
    }
  }
  return variants;
}

// "0.25" or "0.25 to 4" over the points that have the number; empty when none has.
template <class Number>
std::string range_words(const Points& points, Number number) {
  std::optional<double> least, most;
  for (const PointRecord* point : points) {
    const std::optional<double> value = number(*point);
    if (!value) continue;
    least = std::min(least.value_or(*value), *value);
    most = std::max(most.value_or(*value), *value);
  }
  if (!least) return "";
  const std::string low = real_words(*least, 3), high = real_words(*most, 3);
  return low == high ? low : low + " to " + high;
}

// " n=1024,4096": a parameter whose values only these points of the variant have; empty when there is none.
std::string what_sets_apart(const Points& points, const Points& variant, const PointLabels& labels) {
  if (points.size() == variant.size()) return "";
  constexpr std::size_t most_values = 4;
  for (const PointLabels::Varying& parameter : labels.varying()) {
    std::vector<std::string> own;
    for (const PointRecord* point : points)
      if (const std::string value = param_text(*point, parameter.name); std::ranges::find(own, value) == own.end())
        own.push_back(value);
    const bool shared = std::ranges::any_of(variant, [&](const PointRecord* point) {
      return std::ranges::find(points, point) == points.end() &&
             std::ranges::find(own, param_text(*point, parameter.name)) != own.end();
    });
    if (shared || own.size() > most_values) continue;
    std::string text = " " + parameter.heading + "=";
    for (const std::string& value : own) text += (text.ends_with('=') ? "" : ",") + value;
    return text;
  }
  return "";
}

// --- what bounds the points ---

std::string bound_sentence(const Points& points, const std::string& verdict) {
  const auto loaded = range_words(points, [](const PointRecord& p) { return p.analysis->loaded.intensity.number(); });
  const auto attainable = range_words(points, [](const PointRecord& p) {
    const auto flops = p.analysis->loaded.attainable.number();
    return flops ? std::optional(*flops / 1e9) : std::nullopt;
  });
  const auto percent =
      range_words(points, [](const PointRecord& p) { return p.analysis->loaded.percent_of_peak.number(); });
  const auto best = range_words(points, [](const PointRecord& p) { return p.analysis->compulsory.intensity.number(); });
  const auto ridge = range_words(points, [](const PointRecord& p) { return p.analysis->ridge.number(); });
  if (loaded.empty() || attainable.empty()) {
    const auto share =
        range_words(points, [](const PointRecord& p) { return p.analysis->effective_bandwidth_percent.number(); });
    if (share.empty()) return verdict + ".";
    if (share == "100")
      return verdict + ". Every byte moved in sectors is one that the problem must move: no bandwidth is wasted.";
    return fmt::format(
        "{}. The compulsory bytes are {} % of the bytes moved in sectors, so at most {} % of the DRAM "
        "bandwidth does useful work.",
        verdict, share, share);
  }
  if (verdict == "compute")
    return fmt::format("compute, even if no cache helps: {} FLOP per loaded byte lies above the ridge of {}.", loaded,
                       ridge);
  std::string text = fmt::format(
      "{} FLOP per loaded byte, ridge at {}: at most {} GFLOP/s ({} % of peak) if every "
      "loaded byte comes from DRAM",
      loaded, ridge, attainable, percent);
  if (verdict == "memory")
    return "memory. " + text + fmt::format("; {} FLOP/byte if every byte moved once, still below the ridge.", best);
  return "memory, unless caches catch the reuse. " + text +
         fmt::format("; {} FLOP/byte if every byte moved once, which compute would bound.", best);
}

// --- how a point uses global memory ---

struct GlobalUse {
  double requests = 0, lanes = 0, sectors = 0, used_bytes = 0;
  void add(const SiteRow& row) {
    requests += static_cast<double>(row.requests);
    lanes += static_cast<double>(row.lanes);
    sectors += static_cast<double>(row.sectors);
    used_bytes += static_cast<double>(row.lanes) * row.width_bytes;
  }
  [[nodiscard]] double lanes_per_request() const { return requests > 0 ? lanes / requests : 0; }
  [[nodiscard]] double sectors_per_request() const { return requests > 0 ? sectors / requests : 0; }
  // Sector bytes over lane bytes; broadcasts are below one.
  [[nodiscard]] double waste() const { return used_bytes > 0 ? sectors * sector_bytes / used_bytes : 0; }
};

bool is_global(const SiteRow& row) { return row.space == "global"; }
bool is_shared(const SiteRow& row) { return row.space == "shared"; }

GlobalUse global_use(const PointRecord& point) {
  GlobalUse use;
  for (const SiteRow& row : point.result.sites)
    if (is_global(row)) use.add(row);
  return use;
}

std::string lanes_words(double lanes_per_request) {
  return fmt::format("{} of 32 lanes active per request", real_words(lanes_per_request, 3));
}

std::string sectors_words(double sectors) {
  const std::string number = real_words(sectors, 3);
  return number + (number == "1" ? " sector" : " sectors");
}

std::string active_words(double lanes) {
  const std::string number = real_words(lanes, 3);
  return number + (number == "1" ? " active lane" : " active lanes");
}

// Why a point moves what it moves: "a request moves 2 sectors (64 B) for 4 of 32 active lanes (16 B)".
std::string use_words(const GlobalUse& use) {
  const double per_request = use.requests > 0 ? use.used_bytes / use.requests : 0;
  std::string text =
      fmt::format("a request moves {} ({} B) for the {} B of its {} (of 32)", sectors_words(use.sectors_per_request()),
                  real_words(use.sectors_per_request() * sector_bytes, 3), real_words(per_request, 3),
                  active_words(use.lanes_per_request()));
  if (use.waste() > 1) text += fmt::format(", so {} % of the moved bytes are used", real_words(100 / use.waste(), 3));
  return text;
}

// --- against the naive variant ---

bool is_naive(const PointRecord& point) { return point.result.point.variant.ends_with("/naive"); }

// The naive point with the same values wherever both take a parameter.
const PointRecord* baseline_of(const PointRecord& point, const Points& naive) {
  for (const PointRecord* candidate : naive) {
    const auto agrees = [&](const auto& parameter) {
      const ParamValue* own = point.result.point.params.find(parameter.first);
      return own == nullptr || *own == parameter.second;
    };
    if (std::ranges::all_of(candidate->result.point.params.values(), agrees)) return candidate;
  }
  return nullptr;
}

// Loads or stores of one point over those of the other.
struct SectorRatio {
  Quantity own, other;
  [[nodiscard]] double value() const {
    const double base = other.number().value_or(0);
    return base > 0 ? own.number().value_or(0) / base : 0;
  }
};

struct Comparison {
  const PointRecord* point;
  const PointRecord* baseline;
  SectorRatio loads, stores;
  double sector_bytes, lane_bytes;  // ratios of all: this over naive
};

SectorRatio sector_ratio(const PointRecord& point, const PointRecord& baseline, const char* counter) {
  const auto of = [&](const PointRecord& p) {
    const auto found = p.result.counters.find(counter);
    return found == p.result.counters.end() ? Quantity::null("not counted", Source::emulated) : found->second;
  };
  return {of(point), of(baseline)};
}

std::optional<Comparison> compare(const PointRecord& point, const Points& naive) {
  // A wrong answer is no better for costing less.
  const bool comparable = point.analysis && point.result.good() && !point.result.expected_finding && !is_naive(point);
  const PointRecord* baseline = comparable ? baseline_of(point, naive) : nullptr;
  if (baseline == nullptr) return std::nullopt;
  const auto ratio = [&](const BasisBound Analysis::*basis) {
    const double own = ((*point.analysis).*basis).bytes.number().value_or(0);
    const double other = ((*baseline->analysis).*basis).bytes.number().value_or(0);
    return other > 0 ? own / other : 0;
  };
  const Comparison result{&point,
                          baseline,
                          sector_ratio(point, *baseline, "global_load_sectors"),
                          sector_ratio(point, *baseline, "global_store_sectors"),
                          ratio(&Analysis::transaction),
                          ratio(&Analysis::requested)};
  if (!(result.sector_bytes > 0) || !(result.lane_bytes > 0)) return std::nullopt;
  return result;
}

// "4x the load sectors (16,384 against 4,096)"; empty when there are none or as many.
std::string ratio_words(const SectorRatio& ratio, const char* what) {
  if (!(ratio.value() > 0) || std::abs(ratio.value() - 1) < 0.01) return "";
  return fmt::format("{}x the {} sectors ({} against {})", real_words(ratio.value(), 3), what, words(ratio.own),
                     words(ratio.other));
}

// What the comparison is of, sizes aside: the variant, the parameters that the baseline does not take, and the
// direction.
std::string kind_of(const Comparison& c) {
  std::string kind = c.point->result.point.variant + (c.sector_bytes > 1 ? " worse" : " better");
  for (const auto& [name, value] : c.point->result.point.params.values())
    if (c.baseline->result.point.params.find(name) == nullptr) kind += " " + name + "=" + to_text(value);
  return kind;
}

std::string comparison_sentence(const Comparison& c, const ProblemGroup& group) {
  const std::string loads = ratio_words(c.loads, "load"), stores = ratio_words(c.stores, "store");
  const std::string both = loads + (loads.empty() || stores.empty() ? "" : " and ") + stores;
  const GlobalUse use = global_use(*c.point);
  return fmt::format("{}: {} of {}, with {}x the bytes requested by lanes{}.", group.labels.of(*c.point), both,
                     c.baseline->result.point.variant, real_words(c.lane_bytes, 3),
                     use.requests > 0 ? ": " + use_words(use) : "");
}

// --- access sites ---

struct RatedSite {
  const PointRecord* point;
  const SiteRow* row;
  double waste;  // global: sector bytes over lane bytes; shared: wavefronts over the ideal
};

double ideal_wavefronts(const SiteRow& row) {
  return static_cast<double>(row.wavefronts - std::min(row.bank_conflicts, row.wavefronts));
}

double waste_of(const SiteRow& row) {
  if (is_shared(row)) {
    const double ideal = ideal_wavefronts(row);
    return ideal > 0 ? static_cast<double>(row.wavefronts) / ideal : 1;
  }
  GlobalUse use;
  use.add(row);
  return use.waste();
}

// Every wasteful site at the points where it is worst, the worst first; a site is a place, its buffer and its
// operation.
std::vector<RatedSite> worst_sites(const Points& points) {
  constexpr double notable = 1.05;
  constexpr std::size_t most_per_site = 2;
  std::map<std::tuple<std::string, int, int, std::string, std::string>, std::vector<RatedSite>> by_site;
  std::vector<std::vector<RatedSite>*> order;
  for (const PointRecord* point : points)
    for (const SiteRow& row : point->result.sites) {
      if ((!is_global(row) && !is_shared(row)) || row.requests == 0) continue;
      const RatedSite rated{point, &row, waste_of(row)};
      if (!(rated.waste > notable)) continue;
      auto& list = by_site[{row.site.file, row.site.line, row.site.column, row.buffer, row.op}];
      if (list.empty()) order.push_back(&list);
      // Other sizes usually waste as much: told once.
      const bool told = std::ranges::any_of(
          list, [&](const RatedSite& other) { return std::abs(other.waste - rated.waste) < 0.01 * rated.waste; });
      if (!told) list.push_back(rated);
    }
  std::vector<RatedSite> sites;
  for (auto* list : order) {
    std::ranges::stable_sort(*list, std::ranges::greater{}, &RatedSite::waste);
    sites.insert(sites.end(), list->begin(),
                 list->begin() + static_cast<std::ptrdiff_t>(std::min(list->size(), most_per_site)));
  }
  std::ranges::stable_sort(sites, std::ranges::greater{}, &RatedSite::waste);
  return sites;
}

std::string place_words(const SiteRow& row) {
  SourceSite line = row.site;
  line.column = 0;
  const char* preposition = row.op == "load" ? "of" : row.op == "store" ? "to" : "on";
  return fmt::format("{} {} {} {}", line.to_text(), row.op, preposition,
                     row.buffer.empty() ? "an unnamed buffer" : row.buffer);
}

std::string site_sentence(const RatedSite& site, const ProblemGroup& group) {
  const SiteRow& row = *site.row;
  const auto per_request = [&](double count) { return real_words(count / static_cast<double>(row.requests), 3); };
  const double lanes = static_cast<double>(row.lanes) / static_cast<double>(row.requests);
  std::string text = group.labels.of(*site.point) + ": " + place_words(row) + ": ";
  if (is_shared(row)) {
    text += fmt::format("{} wavefronts per request, ideal {} ({} bank conflicts per request)",
                        per_request(static_cast<double>(row.wavefronts)), per_request(ideal_wavefronts(row)),
                        per_request(static_cast<double>(row.bank_conflicts)));
  } else {
    text += fmt::format("{} per request, ideal {} ({} % of the moved bytes used)",
                        sectors_words(static_cast<double>(row.sectors) / static_cast<double>(row.requests)),
                        per_request(static_cast<double>(row.ideal_sectors)), real_words(100 / site.waste, 3));
  }
  if (lanes < warp_lanes) text += ", " + lanes_words(lanes);
  return text + (row.estimated ? ", estimated." : ".");
}

// --- what went wrong ---

std::string value_words(double value) { return std::isnan(value) ? "NaN" : number_text(value); }

std::string verification_sentence(const Verification& v) {
  std::string text =
      fmt::format("the result is wrong: {} of {}", count_words(v.wrong), plural(v.checked, "checked element"));
  if (v.nan > 0) text += fmt::format(" ({} NaN)", count_words(v.nan));
  if (v.first_index >= 0)
    text += fmt::format("; the first is {}[{}]: got {}, expected {}", v.buffer, v.first_index, value_words(v.got),
                        value_words(v.expected));
  if (std::isfinite(v.max_error) && v.max_error > 0)
    text += fmt::format("; largest error {} times the tolerance", real_words(v.max_error, 3));
  return text + (v.scope.empty() ? "." : fmt::format(" (checked: {}).", v.scope));
}

std::string index_words(const Dim3& index) { return fmt::format("({},{},{})", index.x, index.y, index.z); }

std::string finding_sentence(const Finding& finding, const PointResult& result) {
  const bool expected = result.expected_finding == finding.kind;
  std::string text =
      finding.kind + (expected ? " (expected of this variant, broken on purpose)" : "") + ": " + finding.message;
  if (!text.ends_with('.')) text += '.';
  text += " At " + finding.site.to_text();
  if (finding.other_site) text += " and " + finding.other_site->to_text();
  text += fmt::format(", block {} thread {}", index_words(finding.block), index_words(finding.thread));
  if (finding.occurrences > 1) text += fmt::format(", {} times", count_words(finding.occurrences));
  return text + ".";
}

// The sentences of one point that someone must look at, or that a variant broken on purpose was run for.
std::vector<std::string> problem_sentences(const PointResult& result) {
  std::vector<std::string> sentences;
  if (result.status != Status::ok && result.status != Status::unsupported)
    sentences.push_back(std::string(to_text(result.status)) + ": " + result.reason);
  if (result.expected_finding && !result.good() && result.status == Status::ok)
    sentences.push_back("broken on purpose, but the finding it must produce (" + *result.expected_finding +
                        ") did not appear.");
  for (const Finding& finding : result.findings) sentences.push_back(finding_sentence(finding, result));
  if (result.verification.state == Verification::State::failed)
    sentences.push_back(verification_sentence(result.verification));
  return sentences;
}

// The text with its numbers taken out ("6.1e-05"): warnings that differ in nothing else are told once.
std::string without_numbers(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    if (std::isdigit(static_cast<unsigned char>(text[at])) != 0) {
      at = std::min(text.find_first_not_of("0123456789.,e+-", at), text.size());
    } else {
      result += text[at++];
    }
  }
  return result;
}

struct Told {
  std::string first_label, text;
  std::size_t others = 0;
};

void tell(std::vector<Told>& list, const std::string& label, const std::string& text) {
  const auto same =
      std::ranges::find(list, without_numbers(text), [](const Told& told) { return without_numbers(told.text); });
  if (same == list.end()) {
    list.push_back({label, text, 0});
  } else {
    ++same->others;
  }
}

std::string told_items(const std::vector<Told>& list, const TerminalStyle& style, const char* what) {
  std::string text;
  for (std::size_t i = 0; i < std::min(list.size(), most_lines); ++i) {
    const Told& told = list[i];
    const std::string others = told.others == 0 ? "" : fmt::format(" (and {} like it)", plural(told.others, "point"));
    text += item(told.first_label + others + ": " + told.text, style);
  }
  return text + more(list.size() - std::min(list.size(), most_lines), what);
}

}  // namespace

std::string heading(const std::string& text, const TerminalStyle& style) {
  std::string lines = wrapped(text, style.width);
  lines.pop_back();  // the line end, which no colour should reach over
  return "\n" + bold(lines, style.colour) + "\n";
}

std::string bounds_section(const ProblemGroup& group, const ResultFile& results, const TerminalStyle& style) {
  std::string text;
  for (const Points& variant : by_variant(group.points)) {
    std::map<std::string, Points> by_verdict;
    std::vector<std::string> order;
    for (const PointRecord* point : variant) {
      if (!point->analysis) continue;
      Points& list = by_verdict[point->analysis->verdict];
      if (list.empty()) order.push_back(point->analysis->verdict);
      list.push_back(point);
    }
    for (const std::string& verdict : order) {
      const Points& points = by_verdict[verdict];
      const std::string who = points.size() == 1
                                  ? group.labels.of(*points.front())
                                  : fmt::format("{}{} ({} points)", points.front()->result.point.variant,
                                                what_sets_apart(points, variant, group.labels), points.size());
      text += item(who + ": bounded by " + bound_sentence(points, verdict), style);
    }
  }
  return text.empty()
             ? ""
             : heading(fmt::format("What bounds {} (modelled on {})", group.problem, results.device.name), style) +
                   text;
}

std::string comparison_section(const ProblemGroup& group, const ResultFile&, const TerminalStyle& style) {
  Points naive;
  for (const PointRecord* point : group.points)
    if (is_naive(*point) && point->analysis) naive.push_back(point);
  // Other sizes usually compare alike: the first of each kind is told.
  std::map<std::string, std::size_t> told;
  std::vector<Comparison> worse, better;
  for (const PointRecord* point : group.points) {
    const auto comparison = compare(*point, naive);
    if (!comparison) continue;
    std::vector<Comparison>* list = comparison->sector_bytes > 1.01   ? &worse
                                    : comparison->sector_bytes < 0.99 ? &better
                                                                      : nullptr;
    if (list != nullptr && told[kind_of(*comparison)]++ == 0) list->push_back(*comparison);
  }
  std::ranges::stable_sort(worse, std::ranges::greater{}, &Comparison::sector_bytes);
  std::ranges::stable_sort(better, {}, &Comparison::sector_bytes);
  constexpr std::size_t most_worse = 4, most_better = 2;
  std::string text;
  const auto tell = [&](const char* word, const std::vector<Comparison>& list, std::size_t most) {
    for (std::size_t i = 0; i < std::min(list.size(), most); ++i) {
      const std::size_t others = told[kind_of(list[i])] - 1;
      text += item(word + comparison_sentence(list[i], group) +
                       (others == 0 ? "" : fmt::format(" (Much the same in {}.)", plural(others, "other point"))),
                   style);
    }
  };
  tell("worse: ", worse, most_worse);
  tell("better: ", better, most_better);
  if (text.empty()) return "";
  return heading(fmt::format("Against {}/naive (emulated sectors; a sector is 32 bytes)", group.problem), style) + text;
}

std::string sites_section(const ProblemGroup& group, const TerminalStyle& style) {
  const std::vector<RatedSite> sites = worst_sites(group.points);
  if (sites.empty()) return "";
  std::string text;
  const std::size_t shown = std::min(sites.size(), most_lines);
  for (std::size_t i = 0; i < shown; ++i) text += item(site_sentence(sites[i], group), style);
  return heading(fmt::format("Worst access sites of {} (emulated; each where it is worst)", group.problem), style) +
         text + more(sites.size() - shown, "sites");
}

std::string problems_section(const std::vector<ProblemGroup>& groups, const TerminalStyle& style) {
  std::string bad, expected;
  std::size_t lines = 0, left_out = 0;
  std::vector<Told> unsupported;
  for (const ProblemGroup& group : groups)
    for (const PointRecord* point : group.points) {
      if (point->result.status == Status::unsupported) tell(unsupported, group.labels.of(*point), point->result.reason);
      for (const std::string& sentence : problem_sentences(point->result)) {
        if (++lines > 4 * most_lines) {
          ++left_out;
          continue;
        }
        (point->result.good() ? expected : bad) += item(group.labels.of(*point) + ": " + sentence, style);
      }
    }
  std::string text;
  if (!bad.empty()) text += heading("What is wrong", style) + bad;
  if (!expected.empty()) text += heading("Broken on purpose, and found", style) + expected;
  text += more(left_out, "such lines");
  if (!unsupported.empty()) text += heading("Not run", style) + told_items(unsupported, style, "reasons");
  return text;
}

std::string sampling_section(const std::vector<ProblemGroup>& groups, const TerminalStyle& style) {
  std::string text;
  std::size_t lines = 0, left_out = 0;
  for (const ProblemGroup& group : groups)
    for (const PointRecord* point : group.points) {
      const PointResult& result = point->result;
      if (result.blocks_run >= result.blocks_total) continue;
      if (++lines > most_lines) {
        ++left_out;
        continue;
      }
      text += item(
          fmt::format("{}: blocks {}/{}; verified: {}", group.labels.of(*point), result.blocks_run, result.blocks_total,
                      result.verification.scope.empty() ? std::string(to_text(result.verification.state))
                                                        : result.verification.scope),
          style);
    }
  if (text.empty()) return "";
  return heading("Sampled (counts scaled to all blocks; ~ marks estimates; checkers saw only these blocks)", style) +
         text + more(left_out, "sampled points");
}

std::string warnings_section(const std::vector<ProblemGroup>& groups, const TerminalStyle& style) {
  std::vector<Told> told;
  for (const ProblemGroup& group : groups)
    for (const PointRecord* point : group.points) {
      for (const std::string& warning : point->result.warnings) tell(told, group.labels.of(*point), warning);
      if (!point->analysis) continue;
      for (const std::string& warning : point->analysis->warnings) tell(told, group.labels.of(*point), warning);
    }
  return told.empty() ? "" : heading("Warnings", style) + told_items(told, style, "warnings");
}

}  // namespace gpuexp
