// The findings in words: bounds, comparisons, the worst access sites, failures, what was sampled, warnings.
#include "profiler/report/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <sstream>

#include "profiler/core/text.h"
#include "profiler/report/point_numbers.h"
#include "profiler/report/text_table.h"

namespace gpuexp {
namespace {

constexpr double sector_bytes = 32;
constexpr int warp_lanes = 32;
constexpr std::size_t most_lines = 8;  // of one section; the JSON file has the rest

using Points = std::vector<const PointRecord*>;

// Sentences, each with whom it is about; like ones are told once.
class Sentences {
 public:
  void add(const std::string& who, const std::string& sentence) {
    const auto same = std::ranges::find(list_, sentence, &Entry::sentence);
    if (same == list_.end()) {
      list_.push_back({who, sentence});
    } else {
      same->who += ", " + who;
    }
  }
  [[nodiscard]] std::string items(const TerminalStyle& style) const { return items(style, list_.size(), ""); }
  // At most `most` of them, and how many more of `what` there are.
  [[nodiscard]] std::string items(const TerminalStyle& style, std::size_t most, const std::string& what) const {
    std::string text;
    const std::size_t shown = std::min(most, list_.size());
    for (std::size_t i = 0; i < shown; ++i) text += list_item(list_[i].who + ": " + list_[i].sentence, style);
    return text + more_line(list_.size() - shown, what);
  }

 private:
  struct Entry {
    std::string who, sentence;
  };
  std::vector<Entry> list_;
};

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

// The rate that a roof allows: FLOPs or, of what computes nothing, bytes that must move; per second.
std::optional<double> rate_under(const PointRecord& point, const Limit& limit) {
  if (limit.attainable.has_value()) return limit.attainable.number();
  return useful_bandwidth_under(*point.analysis, limit);
}

// What the roof of this name says of points that it limits: "DRAM sectors: at most 60.5 to 3866 GFLOP/s, 0.31 to 19.8 %
// of peak, at 0.0312 to 2 FLOP/byte; if caches caught all reuse, 9742, under L1/shared."
std::string bound_sentence(const Points& points, const std::string& roof) {
  const auto over = [&](const std::function<std::optional<double>(const PointRecord&)>& number) {
    return range_words(points, number);
  };
  const bool computes = points.front()->analysis->limit.attainable.has_value();
  const std::string rate = over([](const PointRecord& p) {
    const auto value = rate_under(p, p.analysis->limit);
    return value ? std::optional(*value / 1e9) : std::nullopt;
  });
  if (rate.empty()) return roof + ".";
  const std::string share = over([&](const PointRecord& p) {
    const Analysis& a = *p.analysis;
    if (computes) return a.limit.percent_of_peak.number();
    const auto value = rate_under(p, a.limit), dram = a.bandwidth.number();
    return value && dram ? std::optional(100 * *value / *dram) : std::nullopt;
  });
  std::string text = fmt::format("{}: at most {} {}, {} % of {}", roof, rate, computes ? "GFLOP/s" : "useful GB/s",
                                 share, computes ? "peak" : "the DRAM bandwidth");
  if (const std::string intensity = over([](const PointRecord& p) { return p.analysis->limit.intensity.number(); });
      !intensity.empty())
    text += fmt::format(", at {} FLOP/byte", intensity);
  if (const std::string reached = over([](const PointRecord& p) { return p.analysis->limit.percent_reached.number(); });
      !reached.empty())
    return text + fmt::format("; {} % of that was reached.", reached);
  std::string others;  // the roofs that no cache lifts, where they are not the one that limits
  const std::string lifted = over([&](const PointRecord& p) -> std::optional<double> {
    const Limit best = limiting_roof(*p.analysis, Reuse::caught);
    const auto now = rate_under(p, p.analysis->limit), then = rate_under(p, best);
    if (!now || !then || *then < 1.01 * *now) return std::nullopt;
    const std::string label = label_of(best);
    if (others.find(label) == std::string::npos) others += (others.empty() ? "" : " or ") + label;
    return *then / 1e9;
  });
  return text + (lifted.empty() ? "." : fmt::format("; with perfect caches {}, by {}.", lifted, others));
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

GlobalUse global_use(const PointRecord& point) {
  GlobalUse use;
  for (const SiteRow& row : point.result.sites)
    if (row.space == "global") use.add(row);
  return use;
}

// Why a point moves what it moves: "a request moves 2 sectors (64 B) for 4 of 32 lanes (16 B), so 25 % of the moved
// bytes are used".
std::string use_words(const GlobalUse& use) {
  const double per_request = use.requests > 0 ? use.used_bytes / use.requests : 0;
  std::string text = fmt::format("a request moves {} ({} B) for {} of {} lanes ({} B)",
                                 real_plural(use.sectors_per_request(), "sector"),
                                 real_words(use.sectors_per_request() * sector_bytes, 3),
                                 real_words(use.lanes_per_request(), 3), warp_lanes, real_words(per_request, 3));
  if (use.waste() > 1) text += fmt::format(", so {} of the moved bytes are used", percent_words(100 / use.waste()));
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
  return fmt::format("{} ({} against {})", times_words(ratio.value(), what + std::string(" sectors")), words(ratio.own),
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

// The words of `text` that are not words of `other`.
std::string without_words_of(const std::string& text, const std::string& other) {
  std::istringstream words_in(text);
  std::string rest;
  for (std::string word; words_in >> word;)
    if ((" " + other + " ").find(" " + word + " ") == std::string::npos) rest += (rest.empty() ? "" : " ") + word;
  return rest;
}

// One kind of comparison: the first of it, and the points that it stands for.
struct ComparisonKind {
  Comparison first;
  Points points;
};

// Without whom it is about: "worse at n=32: 4x the load sectors (16,384 against 4,096); its lanes ask for half the
// bytes: ...".
std::string comparison_sentence(const char* word, const ComparisonKind& kind, const ProblemGroup& group) {
  const Comparison& c = kind.first;
  std::string text = word;
  const std::string all = group.labels.shared_params(kind.points);
  const std::string one = group.labels.shared_params({c.point});
  if (all != one) text += " at " + without_words_of(one, all);
  const std::string loads = ratio_words(c.loads, "load"), stores = ratio_words(c.stores, "store");
  text += ": " + loads + (loads.empty() || stores.empty() ? "" : ", ") + stores;
  if (c.sector_bytes > 1 || std::abs(c.lane_bytes - 1) > 0.01)
    text += "; its lanes ask for " + times_words(c.lane_bytes, "bytes");
  const GlobalUse use = global_use(*c.point);
  const bool wasteful = use.requests > 0 && (use.waste() > 1.01 || use.lanes_per_request() < 0.99 * warp_lanes);
  return text + (wasteful ? ": " + use_words(use) + "." : ".");
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
  if (std::isfinite(v.max_error) && v.max_error > 1)  // below, only NaN is wrong
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

// What is bad about a point, in a word or two each: the kinds of its findings, a wrong result, how it ended.
std::vector<std::string> bad_kinds(const PointResult& result) {
  std::vector<std::string> kinds;
  if (result.good() || result.status == Status::unsupported) return kinds;
  const auto add = [&](const std::string& kind) {
    if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
  };
  if (result.status != Status::ok) add(std::string(to_text(result.status)));
  if (result.status == Status::ok && result.expected_finding)
    add(fmt::format("no {}, which it must show", *result.expected_finding));
  for (const Finding& finding : result.findings) add(finding.kind);
  if (result.verification.state == Verification::State::failed) add("wrong result");
  return kinds;
}

// How much of each point of a variant was run.
std::string sampling_sentence(const Points& points, const ProblemGroup& group) {
  const auto blocks = [](const PointResult& result) {
    return fmt::format("blocks {}/{}", result.blocks_run, result.blocks_total);
  };
  if (points.size() == 1) {
    const PointResult& result = points.front()->result;
    const Verification& v = result.verification;
    return fmt::format("{}: {}; verified: {}", group.labels.of(*points.front()), blocks(result),
                       v.scope.empty() ? std::string(to_text(v.state)) : v.scope);
  }
  constexpr std::size_t most = 3;
  std::string text = group.labels.of_all(points) + ": ";
  for (std::size_t i = 0; i < std::min(points.size(), most); ++i)
    text += fmt::format("{}{} at {}", i == 0 ? "" : ", ", blocks(points[i]->result),
                        without_words_of(group.labels.shared_params({points[i]}), group.labels.shared_params(points)));
  if (points.size() > most) text += fmt::format(" and {} more", points.size() - most);
  const bool verified = std::ranges::all_of(points, [](const PointRecord* point) {
    return point->result.verification.state != Verification::State::not_run;
  });
  return text + (verified ? "; verified in these blocks." : ".");
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
    text += list_item(told.first_label + others + ": " + told.text, style);
  }
  return text + more_line(list.size() - std::min(list.size(), most_lines), what);
}

}  // namespace

std::string heading(const std::string& text, const TerminalStyle& style) {
  std::string lines = wrapped(text, style.width);
  lines.pop_back();  // the line end, which no colour should reach over
  return "\n" + bold(lines, style.colour) + "\n";
}

std::string list_item(const std::string& text, const TerminalStyle& style) {
  return wrapped(text, style.width, "  - ");
}

std::string more_line(std::size_t left_out, const std::string& what) {
  return left_out == 0 ? "" : fmt::format("    ... and {} more {} in the result file\n", left_out, what);
}

std::string bounds_section(const ProblemGroup& group, const ResultFile& results, const TerminalStyle& style) {
  if (counts_alone_matter(group.points)) return "";
  Points analysed;
  for (const PointRecord* point : group.points)
    if (point->analysis && !point->result.expected_finding && !point->analysis->limit.roof.empty())
      analysed.push_back(point);
  Sentences sentences;
  for (Points variant : by_variant(analysed)) {
    // Beside points that compute, those that have nothing to compute (an empty matrix) tell nothing.
    const auto computes = [](const PointRecord* point) { return point->analysis->limit.attainable.has_value(); };
    if (std::ranges::any_of(variant, computes)) std::erase_if(variant, std::not_fn(computes));
    std::vector<std::pair<std::string, Points>> by_roof;
    for (const PointRecord* point : variant) {
      const std::string roof = label_of(point->analysis->limit);
      auto same = std::ranges::find(by_roof, roof, [](const auto& one) { return one.first; });
      if (same == by_roof.end()) same = by_roof.insert(same, {roof, {}});
      same->second.push_back(point);
    }
    for (const auto& [roof, points] : by_roof) {
      const std::string apart = what_sets_apart(points, variant, group.labels);
      std::string who = points.front()->result.point.variant + apart;
      if (apart.empty() && points.size() < variant.size()) {
        who += fmt::format(" ({} of {})", points.size(), plural(variant.size(), "point"));
      } else if (points.size() > 1) {
        who += fmt::format(" ({} points)", points.size());
      }
      sentences.add(who, bound_sentence(points, roof));
    }
  }
  constexpr std::size_t most_bounds = 14;
  const std::string text = sentences.items(style, most_bounds, "bounds");
  return text.empty()
             ? ""
             : heading(fmt::format("What bounds {} (modelled on {})", group.problem, results.device.name), style) +
                   text;
}

std::string comparison_section(const ProblemGroup& group, const TerminalStyle& style) {
  Points naive;
  for (const PointRecord* point : group.points)
    if (is_naive(*point) && point->analysis) naive.push_back(point);
  // Other sizes usually compare alike: the first of each kind is told.
  std::map<std::string, std::size_t> index;
  std::vector<ComparisonKind> worse, better;
  for (const PointRecord* point : group.points) {
    const auto comparison = compare(*point, naive);
    if (!comparison) continue;
    const bool is_worse = comparison->sector_bytes > 1.01;
    if (!is_worse && comparison->sector_bytes > 0.99) continue;
    std::vector<ComparisonKind>& list = is_worse ? worse : better;
    const auto [at, fresh] = index.try_emplace(kind_of(*comparison), list.size());
    if (fresh) {
      list.push_back({*comparison, {point}});
    } else {
      list[at->second].points.push_back(point);
    }
  }
  const auto sectors = [](const ComparisonKind& kind) { return kind.first.sector_bytes; };
  std::ranges::stable_sort(worse, std::ranges::greater{}, sectors);
  std::ranges::stable_sort(better, {}, sectors);
  constexpr std::size_t most_worse = 3, most_better = 2;
  Sentences sentences;
  const auto tell = [&](const char* word, const std::vector<ComparisonKind>& list, std::size_t most) {
    for (std::size_t i = 0; i < std::min(list.size(), most); ++i)
      sentences.add(group.labels.of_all(list[i].points), comparison_sentence(word, list[i], group));
  };
  tell("worse", worse, most_worse);
  tell("better", better, most_better);
  const std::string text = sentences.items(style);
  if (text.empty()) return "";
  const std::size_t left_out =
      std::max(worse.size(), most_worse) - most_worse + std::max(better.size(), most_better) - most_better;
  return heading(fmt::format("Against {}/naive (emulated sectors of 32 bytes)", group.problem), style) + text +
         more_line(left_out, "such differences");
}

std::string problems_line(const std::vector<ProblemGroup>& groups, const TerminalStyle& style) {
  struct Kind {
    std::string name, first;
    std::size_t others = 0;
  };
  std::vector<Kind> kinds;
  for (const ProblemGroup& group : groups)
    for (const PointRecord* point : group.points)
      for (const std::string& name : bad_kinds(point->result)) {
        const auto same = std::ranges::find(kinds, name, &Kind::name);
        if (same == kinds.end()) {
          kinds.push_back({name, group.labels.of(*point)});
        } else {
          ++same->others;
        }
      }
  if (kinds.empty()) return "";
  std::string text;
  for (const Kind& kind : kinds)
    text += fmt::format("{}{}: {}{}", text.empty() ? "" : "; ", kind.name, kind.first,
                        kind.others == 0 ? "" : " and " + plural(kind.others, "more point"));
  return painted(wrapped(text + ". Details under What is wrong, below the tables.", style.width, "  BAD  "), Tone::bad,
                 style.colour);
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
        (point->result.good() ? expected : bad) += list_item(group.labels.of(*point) + ": " + sentence, style);
      }
    }
  std::string text;
  if (!bad.empty()) text += heading("What is wrong", style) + bad;
  if (!expected.empty()) text += heading("Broken on purpose, and found", style) + expected;
  text += more_line(left_out, "such lines");
  if (!unsupported.empty()) text += heading("Not run", style) + told_items(unsupported, style, "reasons");
  return text;
}

std::string expectations_section(const std::vector<ProblemGroup>& groups, const TerminalStyle& style) {
  std::string text;
  std::size_t lines = 0;
  for (const ProblemGroup& group : groups)
    for (const PointRecord* point : group.points) {
      std::string differences;
      for (const Expectation& one : expectations_of(*point))
        if (one.counted != nullptr && !one.holds())
          differences += fmt::format("{}{} {} ({}), expected {}", differences.empty() ? "" : "; ", one.counter,
                                     words(*one.counted), to_text(one.counted->source), one.expected);
      if (differences.empty() || ++lines > most_lines) continue;
      text += list_item(group.labels.of(*point) + ": " + differences + ".", style);
    }
  if (text.empty()) return "";
  return heading("Not as expected", style) + text + more_line(lines - std::min(lines, most_lines), "such points");
}

std::string sampling_section(const std::vector<ProblemGroup>& groups, const TerminalStyle& style) {
  std::string text;
  std::size_t left_out = 0, lines = 0;
  for (const ProblemGroup& group : groups) {
    Points sampled;
    std::ranges::copy_if(group.points, std::back_inserter(sampled), [](const PointRecord* point) {
      return point->result.blocks_run < point->result.blocks_total;
    });
    for (const Points& variant : by_variant(sampled)) {
      if (++lines > most_lines) {
        ++left_out;
        continue;
      }
      text += list_item(sampling_sentence(variant, group), style);
    }
  }
  if (text.empty()) return "";
  return heading("Sampled (counts scaled to all blocks; ~ marks estimates; checkers saw only these blocks)", style) +
         text + more_line(left_out, "sampled variants");
}

std::string warnings_section(const std::vector<ProblemGroup>& groups, const TerminalStyle& style) {
  std::vector<Told> told;
  for (const ProblemGroup& group : groups) {
    const bool bounds_matter = !counts_alone_matter(group.points);
    for (const PointRecord* point : group.points) {
      for (const std::string& warning : point->result.warnings) tell(told, group.labels.of(*point), warning);
      if (!point->analysis || !bounds_matter) continue;
      for (const std::string& warning : point->analysis->warnings) tell(told, group.labels.of(*point), warning);
    }
  }
  return told.empty() ? "" : heading("Warnings", style) + told_items(told, style, "warnings");
}

}  // namespace gpuexp
