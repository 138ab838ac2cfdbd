// From a counter's name to the sites that count towards it, and to the worst of them.
#include "profiler/compare/blame.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/report/wording.h"

namespace gpuexp {
namespace {

// What a counter counts at a site.
struct Metric {
  std::string_view space, op;  // of the sites that count
  std::string_view name;       // in words
  std::uint64_t (*value)(const SiteRow&) = nullptr;
  std::uint64_t (*excess)(const SiteRow&) = nullptr;  // beyond the ideal
};

std::uint64_t requests(const SiteRow& row) { return row.requests; }
std::uint64_t lanes(const SiteRow& row) { return row.lanes; }
std::uint64_t bytes(const SiteRow& row) { return row.lanes * static_cast<std::uint64_t>(std::max(0, row.width_bytes)); }
std::uint64_t sectors(const SiteRow& row) { return row.sectors; }
std::uint64_t lines(const SiteRow& row) { return row.lines; }
std::uint64_t wavefronts(const SiteRow& row) { return row.wavefronts; }
std::uint64_t bank_conflicts(const SiteRow& row) { return row.bank_conflicts; }
std::uint64_t excess_sectors(const SiteRow& row) { return row.sectors - std::min(row.sectors, row.ideal_sectors); }

// Takes `prefix` off the front of `text` when it is there.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<Metric> metric_of(std::string_view counter) {
  take(counter, "predicted:");
  Metric metric;
  const bool transaction = take(counter, "transaction_");
  if (transaction || take(counter, "requested_") || take(counter, "global_")) {
    metric.space = "global";
  } else if (take(counter, "shared_")) {
    metric.space = "shared";
  } else {
    return std::nullopt;
  }
  for (const std::string_view op : {"load", "store", "atomic"})
    if (counter.starts_with(op) && counter.substr(op.size()).starts_with("_")) metric.op = op;
  if (metric.op.empty()) return std::nullopt;
  counter.remove_prefix(metric.op.size() + 1);
  struct Kind {
    std::string_view suffix, name;
    std::uint64_t (*value)(const SiteRow&);
    std::uint64_t (*excess)(const SiteRow&);
  };
  constexpr Kind kinds[] = {{"requests", "requests", requests, requests},
                            {"lanes", "lanes", lanes, lanes},
                            {"sectors", "sectors", sectors, excess_sectors},
                            {"sectors_per_request", "sectors", sectors, excess_sectors},
                            {"lines", "lines", lines, lines},
                            {"wavefronts", "wavefronts", wavefronts, bank_conflicts},
                            {"bank_conflicts", "bank conflicts", bank_conflicts, bank_conflicts},
                            {"bytes", "bytes", bytes, bytes}};
  const auto* kind = std::ranges::find(kinds, counter, &Kind::suffix);
  if (kind == std::end(kinds)) return std::nullopt;
  metric.name = transaction ? "sectors" : kind->name;
  metric.value = transaction ? sectors : kind->value;
  metric.excess = transaction ? excess_sectors : kind->excess;
  return metric;
}

std::vector<const SiteRow*> counting_sites(const PointResult* point, const Metric& metric) {
  std::vector<const SiteRow*> rows;
  if (point != nullptr)
    for (const SiteRow& row : point->sites)
      if (row.space == metric.space && row.op == metric.op) rows.push_back(&row);
  return rows;
}

std::uint64_t sum(const std::vector<const SiteRow*>& rows, const Metric& metric, const std::string& buffer) {
  std::uint64_t total = 0;
  for (const SiteRow* row : rows)
    if (row->buffer == buffer) total += metric.value(*row);
  return total;
}

const SiteRow* largest(const std::vector<const SiteRow*>& rows, std::uint64_t (*value)(const SiteRow&),
                       const std::string* buffer) {
  const SiteRow* best = nullptr;
  for (const SiteRow* row : rows) {
    if (buffer != nullptr && row->buffer != *buffer) continue;
    if (best == nullptr || value(*row) > value(*best)) best = row;
  }
  return best;
}

// The buffer whose accesses grew (or shrank) most between the files; empty when none did.
std::optional<std::string> changed_buffer(const std::vector<const SiteRow*>& base,
                                          const std::vector<const SiteRow*>& next, const Metric& metric,
                                          bool increased) {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> totals;
  for (const SiteRow* row : base) totals[row->buffer].first += metric.value(*row);
  for (const SiteRow* row : next) totals[row->buffer].second += metric.value(*row);
  std::optional<std::string> worst;
  std::uint64_t most = 0;
  for (const auto& [buffer, values] : totals) {
    const auto [from, to] = increased ? values : std::pair{values.second, values.first};
    if (to <= from || to - from <= most) continue;
    most = to - from;
    worst = buffer;
  }
  return worst;
}

Blame blame(const SiteRow& row, const Metric& metric) {
  Blame result;
  result.site = row.site;
  result.access = row.op + (row.op == "load" ? " of " : row.op == "store" ? " to " : " on ") + row.buffer;
  result.metric = metric.name;
  result.requests = row.requests;
  return result;
}

}  // namespace

std::string Blame::to_text() const {
  std::string text = fmt::format("{}{}, {}: {} ", site.to_text(), in_base ? " of BASE" : "", access, metric);
  if (base) text += count_words(*base) + " -> ";
  text += count_words(next);
  if (requests > 0 && metric != "requests" && !in_base)
    text += fmt::format(" ({} per request)", real_words(static_cast<double>(next) / static_cast<double>(requests), 3));
  return text;
}

std::optional<Blame> find_blame(const std::string& column, bool increased, const PointResult* base,
                                const PointResult* next) {
  const std::optional<Metric> metric = metric_of(column);
  if (!metric || next == nullptr || (next->sites.empty() && (base == nullptr || base->sites.empty())))
    return std::nullopt;
  const auto before = counting_sites(base, *metric), after = counting_sites(next, *metric);
  if (base == nullptr || base->sites.empty()) {
    const SiteRow* worst = largest(after, metric->excess, nullptr);
    if (worst == nullptr || metric->value(*worst) == 0) return std::nullopt;
    Blame result = blame(*worst, *metric);
    result.next = metric->value(*worst);
    return result;
  }
  const std::optional<std::string> buffer = changed_buffer(before, after, *metric, increased);
  if (!buffer) return std::nullopt;
  const SiteRow* in_next = largest(after, metric->value, &*buffer);
  const SiteRow* in_base = largest(before, metric->value, &*buffer);
  const bool from_base = in_next == nullptr || (!increased && in_base != nullptr);
  const SiteRow* row = from_base ? in_base : in_next;
  if (row == nullptr) return std::nullopt;
  Blame result = blame(*row, *metric);
  result.in_base = from_base;
  result.base = sum(before, *metric, *buffer);
  result.next = sum(after, *metric, *buffer);
  // Of all sites of this access, as the metric is.
  Metric of_requests = *metric;
  of_requests.value = requests;
  result.requests = sum(from_base ? before : after, of_requests, *buffer);
  return result;
}

}  // namespace gpuexp
