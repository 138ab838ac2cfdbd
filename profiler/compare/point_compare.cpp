// One point of BASE against the same point of NEW: outcome first, then every judged column, then the time.
#include "profiler/compare/point_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "profiler/compare/statistics.h"
#include "profiler/core/error.h"
#include "profiler/core/glob.h"
#include "profiler/core/text.h"
#include "profiler/report/wording.h"

namespace gpuexp {
namespace {

constexpr std::size_t most_changes = 8;  // kept of one point; the rest is counted
constexpr std::size_t fewest_for_spread = 5;
constexpr double clock_difference = 0.02;  // of the SM clock, from which it is told beside a time

const Tolerance* tolerance_for(const std::string& column, const std::vector<Tolerance>& tolerances) {
  const Tolerance* found = nullptr;
  for (const Tolerance& tolerance : tolerances)
    if (glob_matches(tolerance.column, column)) found = &tolerance;
  return found;
}

std::string_view cell(const Row& row, int column) {
  return column < 0 ? std::string_view() : row.cells[static_cast<std::size_t>(column)];
}

double number_or(const Row& row, int column, double otherwise) {
  const CellNumber number = cell_number(cell(row, column));
  const bool has = number.kind == CellNumber::Kind::count || number.kind == CellNumber::Kind::real;
  return has ? number.real : otherwise;
}

std::vector<double> usable_samples(const PointRecord* record) {
  std::vector<double> samples;
  if (record != nullptr && record->result.timing)
    for (const double sample : record->result.timing->samples_us)
      if (std::isfinite(sample) && sample > 0) samples.push_back(sample);
  return samples;
}

// The standard error of log(median), from a relative spread and a sample count, as of a normal distribution.
double median_error(double spread, double samples) { return 1.2533 * spread / std::sqrt(samples); }

// Counters are denied together: one change tells of all that are null for one reason.
void merge_nulls(std::vector<Change>& changes) {
  std::vector<Change> merged;
  for (Change& change : changes) {
    const bool null = !change.column.empty() && change.base.empty() != change.next.empty();
    const auto same = std::ranges::find_if(merged, [&](const Change& other) {
      return null && other.note == change.note && other.base.empty() == change.base.empty() && !other.column.empty();
    });
    if (same == merged.end()) {
      merged.push_back(std::move(change));
    } else {
      same->also.push_back(change.column);
    }
  }
  changes = std::move(merged);
}

// What an older gpuexp did not compute yet, or an older file has no column for, tells nothing of the kernel.
bool computed_by_one_alone(const ColumnPair& pair, const Row& base) {
  return pair.next < 0 || cell(base, pair.base).empty();
}

// Sums of counters, and FLOPs over those, come from where the counters do; other columns that follow are modelled.
bool counted(const ColumnRule& rule) {
  return rule.role == ColumnRole::derived && (rule.name.ends_with("_bytes") || rule.name.starts_with("flop_per_")) &&
         rule.name.find("compulsory") == std::string::npos;
}

// Whether `words`, separated by spaces, has one that `known` lacks.
bool has_another(std::string_view words, std::string_view known) {
  const std::string padded = fmt::format(" {} ", known);
  for (std::size_t end = 0; !words.empty(); words.remove_prefix(std::min(end + 1, words.size()))) {
    end = std::min(words.find(' '), words.size());
    if (padded.find(fmt::format(" {} ", words.substr(0, end))) == std::string::npos) return true;
  }
  return false;
}

}  // namespace

struct PointComparer::Outcome {
  Status status = Status::ok;
  bool good = false;
  bool passed = false;
  std::string what;  // "ok, verified", "failed: launch refused", "verification failed: 3 wrong elements"
};

PointComparer::PointComparer(const ResultRows& base, const ResultRows& next, const DiffOptions& options)
    : base_(base), next_(next), options_(options) {
  const std::string& backend = next.fact("backend");
  std::vector<std::string> names = base.columns().names;
  for (const std::string& name : next.columns().names)
    if (base.columns().find(name) < 0) names.push_back(name);
  for (const std::string& name : names) {
    const std::optional<ColumnRule> rule = column_rule(name, backend);
    if (!rule) continue;  // of an older schema
    ColumnPair pair{*rule, base.columns().find(name), next.columns().find(name), -1};
    if (rule->role == ColumnRole::context) context_.push_back(pair);
    if (rule->role != ColumnRole::counter && rule->role != ColumnRole::work && rule->role != ColumnRole::roof &&
        rule->role != ColumnRole::derived)
      continue;
    if (pair.base < 0) {
      only_in_next_.push_back(name);
      continue;
    }
    if (const Tolerance* tolerance = tolerance_for(name, options.tolerances))
      pair.rule.noise = {.relative = tolerance->relative};
    if (!pair.rule.noise.companion.empty()) pair.companion = base.columns().find(pair.rule.noise.companion);
    (rule->role == ColumnRole::derived ? derived_ : judged_).push_back(pair);
  }
}

bool PointComparer::timed(const ResultRows& rows, const Row& row) {
  return !cell(row, rows.columns().time_median).empty();
}

bool PointComparer::has_samples(const ResultRows& rows, const Row& row) {
  return !usable_samples(rows.record(row)).empty();
}

PointComparer::Outcome PointComparer::outcome(const ResultRows& rows, const Row& row) const {
  const Columns& columns = rows.columns();
  Outcome result;
  const std::string_view status = cell(row, columns.status), good = cell(row, columns.good),
                         verified = cell(row, columns.verified);
  const std::optional<Status> known = status_from_text(status);
  if (!known) rows.fail(row, columns.status, fmt::format("'{}' is not a status", status));
  result.status = *known;
  if (good != "true" && good != "false")
    rows.fail(row, columns.good, fmt::format("'{}' is neither true nor false", good));
  result.good = good == "true";
  if (verified != "passed" && verified != "failed" && verified != "not_run")
    rows.fail(row, columns.verified, fmt::format("'{}' is not passed, failed or not_run", verified));
  result.passed = verified == "passed";
  result.what = status;
  if (const std::string_view reason = cell(row, columns.reason); !reason.empty())
    result.what += ": " + std::string(reason);
  if (result.status != Status::ok) return result;
  if (const std::string_view findings = cell(row, columns.findings); !findings.empty())
    result.what += ", findings: " + std::string(findings);
  if (verified == "failed") {
    result.what += ", verification failed";
    if (const std::string_view wrong = cell(row, columns.wrong_elements); !wrong.empty())
      result.what += fmt::format(" ({} wrong elements)", wrong);
  } else {
    result.what += result.passed ? ", verified" : ", not verified";
  }
  return result;
}

// False when there is nothing more to compare.
bool PointComparer::compare_outcomes(const Row& base, const Row& next, PointDiff& diff) const {
  const Outcome before = outcome(base_, base), after = outcome(next_, next);
  const auto add = [&](Verdict verdict, const std::string& note) {
    Change change;
    change.verdict = verdict;
    change.base = before.what;
    change.next = after.what;
    change.note = note;
    diff.changes.push_back(std::move(change));
  };
  if (before.good && !after.good) {
    add(Verdict::worse, "");
  } else if (!before.good) {
    add(Verdict::not_comparable, after.good ? "bad in BASE: nothing to compare with" : "bad in both files");
    return false;
  } else if (before.status != after.status) {
    const bool lost = before.status == Status::ok;
    add(lost ? Verdict::worse : Verdict::not_comparable, lost ? "no longer runs" : "did not run in BASE");
    return false;
  } else if (before.passed && !after.passed) {
    add(Verdict::worse, "no longer verified");
  } else if (const std::string_view found = cell(base, base_.columns().findings),
             finds = cell(next, next_.columns().findings);
             found != finds) {
    const bool another = has_another(finds, found);
    add(another ? Verdict::worse : Verdict::not_comparable,
        another ? "the checkers find something else" : "the checkers no longer find the same");
  }
  return after.status == Status::ok || before.status == after.status;
}

void PointComparer::compare_column(const ColumnPair& pair, const Row& base, const Row& next,
                                   std::vector<Change>& changes) const {
  const std::string_view before = cell(base, pair.base), after = cell(next, pair.next);
  const bool equal = before == after;
  if (equal && (pair.rule.text || is_plain_number(before))) return;

  Change change;
  change.verdict = Verdict::not_comparable;
  change.column = pair.rule.name;
  change.base = before;
  change.next = after;
  if (pair.rule.text) {
    change.note = "this follows from other columns, none of which changed";
    if (pair.rule.role == ColumnRole::roof) change.note = "another roof";
    changes.push_back(std::move(change));
    return;
  }
  const CellNumber from = cell_number(before), to = cell_number(after);
  if (from.kind == CellNumber::Kind::malformed)
    base_.fail(base, pair.base, fmt::format("'{}' is not a number", before));
  if (to.kind == CellNumber::Kind::malformed) next_.fail(next, pair.next, fmt::format("'{}' is not a number", after));
  if (from.kind == CellNumber::Kind::not_finite || to.kind == CellNumber::Kind::not_finite) {
    change.note = "not a finite number";
  } else if (from.kind == CellNumber::Kind::null) {
    change.note = "null in BASE: " + null_reason(base_, base, pair.rule.name);
  } else if (to.kind == CellNumber::Kind::null) {
    change.note = pair.next < 0 ? "NEW has no such column" : "null in NEW: " + null_reason(next_, next, pair.rule.name);
  } else {
    const Noise& noise = pair.rule.noise;
    const bool counts = from.kind == CellNumber::Kind::count && to.kind == CellNumber::Kind::count;
    if (counts ? from.count == to.count : from.real == to.real) return;
    double allowed = std::max(noise.relative * std::abs(from.real), noise.absolute);
    if (pair.companion >= 0) allowed = std::max(allowed, noise.companion_share * number_or(base, pair.companion, 0));
    // Counts differ by whole numbers, which a double may not tell from zero.
    const double distance = counts
                                ? static_cast<double>(std::max(from.count, to.count) - std::min(from.count, to.count))
                                : std::abs(to.real - from.real);
    if (distance <= allowed) return;
    if (from.real != 0) change.factor = to.real / from.real;
    if (pair.rule.role == ColumnRole::counter) {
      const bool more = counts ? to.count > from.count : to.real > from.real;
      change.verdict = more != pair.rule.less_is_worse ? Verdict::more_traffic : Verdict::less_traffic;
      if (!change.factor) change.note = "from zero";
    } else {
      change.note = pair.rule.role == ColumnRole::work   ? "the point computes something else"
                    : pair.rule.role == ColumnRole::roof ? "another roof"
                                                         : "this follows from other columns, none of which changed";
    }
  }
  changes.push_back(std::move(change));
}

void PointComparer::compare_columns(const Row& base, const Row& next, PointDiff& diff) const {
  const std::size_t before = diff.changes.size();
  bool equal = true;  // a difference within its noise or tolerance explains one of what follows from it
  for (const ColumnPair& pair : judged_) {
    compare_column(pair, base, next, diff.changes);
    equal = equal && cell(base, pair.base) == cell(next, pair.next);
  }
  equal = equal && diff.changes.size() == before;
  for (const ColumnPair& pair : derived_)
    if (equal && !computed_by_one_alone(pair, base)) compare_column(pair, base, next, diff.changes);
  for (std::size_t i = before; i < diff.changes.size(); ++i)
    for (const auto* pairs : {&judged_, &derived_})
      for (const ColumnPair& pair : *pairs)
        if (pair.rule.name == diff.changes[i].column) diff.changes[i].source = source(pair, next);
  merge_nulls(diff.changes);
}

void PointComparer::compare_times(const Row& base, const Row& next, PointDiff& diff) const {
  const Columns &of_base = base_.columns(), &of_next = next_.columns();
  const std::string_view before = cell(base, of_base.time_median), after = cell(next, of_next.time_median);
  if (before.empty() && after.empty()) return;
  const CellNumber from = cell_number(before), to = cell_number(after);
  if (from.kind == CellNumber::Kind::malformed)
    base_.fail(base, of_base.time_median, fmt::format("'{}' is not a number", before));
  if (to.kind == CellNumber::Kind::malformed)
    next_.fail(next, of_next.time_median, fmt::format("'{}' is not a number", after));
  const auto not_comparable = [&](const std::string& note) {
    Change change;
    change.verdict = Verdict::not_comparable;
    change.column = "time_us_median";
    change.source = "measured";
    change.base = before;
    change.next = after;
    change.note = note;
    diff.changes.push_back(std::move(change));
  };
  if (before.empty() || after.empty()) {
    not_comparable(before.empty() ? "not timed in BASE" : "not timed in NEW");
    return;
  }
  if (from.kind == CellNumber::Kind::not_finite || to.kind == CellNumber::Kind::not_finite) {
    not_comparable("not a finite number");
    return;
  }
  if (!(from.real > 0) || !(to.real > 0)) {
    not_comparable("a time of zero is below the clock's resolution, not a time");
    return;
  }
  const std::string_view mode_before = cell(base, of_base.cache_mode), mode_after = cell(next, of_next.cache_mode);
  if (mode_before != mode_after && !options_.allow.contains(Difference::mode))
    throw Error(ExitCode::usage,
                fmt::format("{} was timed with a {} L2 cache in {} and with a {} one in {}; compare like with like, or "
                            "give --allow mode",
                            diff.key, mode_before.empty() ? "unknown" : mode_before, base_.file(),
                            mode_after.empty() ? "unknown" : mode_after, next_.file()));
  if (std::abs(to.real / from.real - 1) <= options_.min_change) return;
  TimeChange time;
  time.base_us = from.real;
  time.next_us = to.real;
  const std::vector<double> samples = usable_samples(base_.record(base)), more = usable_samples(next_.record(next));
  time.by_samples = samples.size() >= 2 && more.size() >= 2;
  time.base_samples = static_cast<std::uint64_t>(number_or(base, of_base.time_samples, 0));
  time.next_samples = static_cast<std::uint64_t>(number_or(next, of_next.time_samples, 0));
  if (std::abs(to.real - from.real) <= options_.min_change_us) {
    time.note = fmt::format("moved by no more than {} us, which runs of one binary differ by (--min-change-us)",
                            real_words(options_.min_change_us, 3));
  } else if (time.by_samples) {
    time.interval = ratio_interval(samples, more, 0.05);
    time.p = beyond_doubt(samples, more) ? 0.0 : rank_test_p(samples, more);
  } else {
    const double spread = number_or(base, of_base.time_spread, -1), other = number_or(next, of_next.time_spread, -1);
    if (spread < 0 || other < 0 || std::min(time.base_samples, time.next_samples) < fewest_for_spread) {
      time.note = "too few samples to know the noise";
    } else {
      const double error = std::hypot(median_error(spread, static_cast<double>(time.base_samples)),
                                      median_error(other, static_cast<double>(time.next_samples)));
      const double shift = std::log(to.real / from.real);
      time.p = error > 0 ? normal_p(shift / error) : 0.0;
      time.interval = {std::exp(shift - 1.96 * error), std::exp(shift + 1.96 * error)};
    }
  }
  const double clock = number_or(base, of_base.sm_clock, 0), clock_now = number_or(next, of_next.sm_clock, 0);
  if (clock > 0 && clock_now > 0 && std::abs(clock_now / clock - 1) > clock_difference)
    diff.notes.push_back(fmt::format("the SM clock was {} MHz in BASE and {} MHz in NEW", real_words(clock, 4),
                                     real_words(clock_now, 4)));
  diff.time = std::move(time);
}

// What was launched, when anything changed.
void PointComparer::add_context(const Row& base, const Row& next, PointDiff& diff) const {
  if (diff.changes.empty()) return;
  std::string text;
  for (const ColumnPair& pair : context_) {
    const std::string_view before = cell(base, pair.base), after = cell(next, pair.next);
    if (before.empty() || after.empty() || before == after) continue;
    text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", pair.rule.name, before, after);
  }
  if (!text.empty()) diff.notes.push_back("launch: " + text);
}

std::string PointComparer::null_reason(const ResultRows& rows, const Row& row, const std::string& column) const {
  if (const PointRecord* record = rows.record(row)) {
    const std::string id = column.substr(column.find(':') + 1);
    for (const auto* counters : {&record->result.counters, &record->result.predicted})
      if (const auto found = counters->find(id); found != counters->end() && !found->second.reason.empty())
        return found->second.reason;
    return "no reason is recorded";
  }
  return "the JSON file of the run has the reason";
}

std::string PointComparer::source(const ColumnPair& pair, const Row& next) const {
  if (pair.rule.role == ColumnRole::roof) return "spec";
  if (pair.rule.role != ColumnRole::counter && !counted(pair.rule)) return "modelled";
  if (pair.rule.name.starts_with("predicted:")) return "emulated";
  const std::string_view exceptions = cell(next, next_.columns().find("counters_source_exceptions"));
  if (const std::size_t at = (' ' + std::string(exceptions)).find(' ' + pair.rule.name + '=');
      at != std::string::npos) {
    const std::string_view word = exceptions.substr(at + pair.rule.name.size() + 1);
    return std::string(word.substr(0, word.find(' ')));
  }
  return next_.fact("backend") == "simt" ? "emulated" : "measured";
}

void PointComparer::blame(const Row& base, const Row& next, PointDiff& diff) const {
  const PointRecord *before = base_.record(base), *after = next_.record(next);
  if (after == nullptr) return;
  for (Change& change : diff.changes)
    if (change.verdict == Verdict::more_traffic || change.verdict == Verdict::less_traffic)
      change.blame = find_blame(change.column, !change.factor || *change.factor > 1, before ? &before->result : nullptr,
                                &after->result);
}

PointDiff PointComparer::compare(const Row& base, const Row& next) const {
  PointDiff diff;
  next_.key(next, diff.key);
  if (!compare_outcomes(base, next, diff)) return diff;
  compare_columns(base, next, diff);
  compare_times(base, next, diff);
  add_context(base, next, diff);
  settle(diff, options_);
  blame(base, next, diff);
  return diff;
}

double size_of(const Change& change) {
  if (!change.factor || !(*change.factor > 0)) return std::numeric_limits<double>::infinity();
  return std::abs(std::log(*change.factor));
}

void settle(PointDiff& diff, const DiffOptions& options) {
  std::ranges::stable_sort(diff.changes, [](const Change& a, const Change& b) {
    return a.verdict != b.verdict ? a.verdict > b.verdict : size_of(a) > size_of(b);
  });
  for (const Change& change : diff.changes) diff.fails = diff.fails || options.fail_on.contains(change.verdict);
  if (!diff.changes.empty()) diff.verdict = std::max(diff.verdict, diff.changes.front().verdict);
  diff.fails = diff.fails || options.fail_on.contains(diff.verdict);
  if (diff.changes.size() <= most_changes) return;
  diff.more_changes += diff.changes.size() - most_changes;
  diff.changes.resize(most_changes);
}

}  // namespace gpuexp
