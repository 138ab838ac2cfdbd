// The worst access sites: places of a kernel's source by the share of the moved bytes, or of the passes over shared
// memory, that are in vain.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "profiler/report/findings.h"

namespace gpuexp {
namespace {

constexpr double sector_bytes = 32;
constexpr double wavefront_bytes = 128;
constexpr double warp_lanes = 32;
constexpr std::size_t most_sites = 6;
constexpr std::size_t most_levels = 4;  // ways in which one site is used, told one by one

using Points = std::vector<const PointRecord*>;

bool is_shared(const SiteRow& row) { return row.space == "shared"; }

// All that a point moves through the L1 cache and shared memory.
struct Traffic {
  double sectors = 0, wavefronts = 0;
  [[nodiscard]] double bytes() const { return sectors * sector_bytes + wavefronts * wavefront_bytes; }
};

Traffic traffic_of(const PointRecord& point) {
  Traffic traffic;
  for (const SiteRow& row : point.result.sites) {
    traffic.sectors += row.space == "global" ? static_cast<double>(row.sectors) : 0;
    traffic.wavefronts += is_shared(row) ? static_cast<double>(row.wavefronts) : 0;
  }
  return traffic;
}

// How one site is used at a point, by averages and shares: what does not depend on the size of the problem.
struct Use {
  double per_request = 0;  // sectors, or wavefronts
  double ideal = 0;        // per request
  double lanes = 0;        // per request
  double used = 1;         // global: used share of the moved bytes
  double share = 0;        // of the point's sectors, or wavefronts
  double in_vain = 0;      // share of the point's sector bytes, or wavefronts, that this site moves in vain
  bool estimated = false;

  // As lanes see it; the share of the whole may differ.
  [[nodiscard]] bool like(const Use& other) const {
    const auto near = [](double a, double b) { return std::abs(a - b) <= 0.02 * std::max(std::abs(a), std::abs(b)); };
    return near(per_request, other.per_request) && near(ideal, other.ideal) && near(lanes, other.lanes);
  }
};

Use use_of(const SiteRow& row, const Traffic& traffic) {
  const auto requests = static_cast<double>(row.requests);
  Use use;
  use.lanes = static_cast<double>(row.lanes) / requests;
  use.estimated = row.estimated;
  if (is_shared(row)) {
    const auto wavefronts = static_cast<double>(row.wavefronts);
    const auto conflicts = static_cast<double>(std::min(row.bank_conflicts, row.wavefronts));
    use.per_request = wavefronts / requests;
    use.ideal = (wavefronts - conflicts) / requests;
    use.share = wavefronts / traffic.wavefronts;
    use.in_vain = conflicts / traffic.wavefronts;
    // Conflicts of a few accesses in a kernel that hardly uses shared memory cost nothing.
    if (conflicts * wavefront_bytes < 0.01 * traffic.bytes()) use.in_vain = 0;
  } else {
    const auto sectors = static_cast<double>(row.sectors);
    const double used_bytes = static_cast<double>(row.lanes) * row.width_bytes;
    use.per_request = sectors / requests;
    use.ideal = static_cast<double>(row.ideal_sectors) / requests;
    use.used = std::min(1.0, used_bytes / (sectors * sector_bytes));
    use.share = sectors / traffic.sectors;
    use.in_vain = use.share * (1 - use.used);
  }
  return use;
}

// One way in which a site is used, and the points where it is.
struct UseLevel {
  Use use;
  Points points;
};

// A place, or several places of one file and variant that are used alike.
struct Site {
  const SiteRow* row = nullptr;
  std::string variant;
  std::string places;            // "kernels/matmul/tiled.cu:28 load of A, :29 load of B, :30, :31 load of C"
  std::vector<UseLevel> levels;  // the worst first
  std::size_t count = 1;

  [[nodiscard]] double in_vain() const { return levels.front().use.in_vain * static_cast<double>(count); }
};

// "load of A".
std::string access_words(const SiteRow& row) {
  const char* preposition = row.op == "load" ? "of" : row.op == "store" ? "to" : "on";
  return fmt::format("{} {} {}", row.op, preposition, row.buffer.empty() ? "an unnamed buffer" : row.buffer);
}

std::string place_words(const SiteRow& row) {
  return fmt::format("{}:{} {}", row.site.file, row.site.line, access_words(row));
}

// Adds another place of the same file; what is accessed alike is told once, behind the last.
void add_place(std::string& places, const SiteRow& row) {
  const std::string access = " " + access_words(row);
  if (places.ends_with(access)) places.erase(places.size() - access.size());
  places += fmt::format(", :{}{}", row.site.line, access);
}

// Every site with at least one notable use, in the order of the points.
std::vector<Site> sites_of(const Points& points) {
  constexpr double notable = 0.01;
  using Key = std::tuple<std::string, std::string, int, int, std::string, std::string>;
  std::map<Key, std::size_t> index;
  std::vector<Site> sites;
  for (const PointRecord* point : points) {
    if (point->result.expected_finding) continue;  // nobody tunes a kernel that is broken on purpose
    const Traffic traffic = traffic_of(*point);
    for (const SiteRow& row : point->result.sites) {
      if ((row.space != "global" && !is_shared(row)) || row.requests == 0) continue;
      if (is_shared(row) ? row.wavefronts == 0 : row.sectors == 0) continue;
      const Use use = use_of(row, traffic);
      if (!(use.in_vain > notable)) continue;
      const std::string& variant = point->result.point.variant;
      const Key key{variant, row.site.file, row.site.line, row.site.column, row.buffer, row.op};
      const auto [at, fresh] = index.try_emplace(key, sites.size());
      if (fresh) sites.push_back({&row, variant, place_words(row), {}, 1});
      std::vector<UseLevel>& levels = sites[at->second].levels;
      const auto same = std::ranges::find_if(levels, [&](const UseLevel& level) { return level.use.like(use); });
      if (same == levels.end()) {
        levels.push_back({use, {point}});
      } else {
        same->points.push_back(point);
        if (use.in_vain > same->use.in_vain) same->use = use;
      }
    }
  }
  for (Site& site : sites)
    std::ranges::stable_sort(site.levels, std::ranges::greater{}, [](const UseLevel& l) { return l.use.in_vain; });
  return sites;
}

bool used_alike(const Site& a, const Site& b) {
  return a.variant == b.variant && a.row->site.file == b.row->site.file && a.row->space == b.row->space &&
         a.row->op == b.row->op && std::ranges::equal(a.levels, b.levels, [](const UseLevel& x, const UseLevel& y) {
           return x.use.like(y.use) && x.points == y.points;
         });
}

// The worst first, those used alike as one.
std::vector<Site> ranked_sites(const Points& points) {
  std::vector<Site> ranked;
  for (Site& site : sites_of(points)) {
    const auto same = std::ranges::find_if(ranked, [&](const Site& other) { return used_alike(site, other); });
    if (same == ranked.end()) {
      ranked.push_back(std::move(site));
    } else {
      add_place(same->places, *site.row);
      ++same->count;
    }
  }
  std::ranges::stable_sort(ranked, std::ranges::greater{}, &Site::in_vain);
  return ranked;
}

// "32 wavefronts per request where 1 would do (31 bank conflicts)".
std::string use_words(const SiteRow& row, const Use& use) {
  const std::string would_do = real_words(use.ideal, 3);
  if (is_shared(row)) {
    const std::string conflicts = real_plural(use.per_request - use.ideal, "bank conflict");
    std::string text = fmt::format("{} per request where {} would do ({})", real_plural(use.per_request, "wavefront"),
                                   would_do, conflicts);
    if (use.lanes < warp_lanes) text += fmt::format(", {} of 32 lanes active", real_words(use.lanes, 3));
    return text;
  }
  std::string text = real_plural(use.per_request, "sector") + " per request";
  if (use.lanes < warp_lanes) text += fmt::format(" for {} of 32 lanes", real_words(use.lanes, 3));
  if (use.ideal < 0.99 * use.per_request) text += fmt::format(" where {} would do", would_do);
  return text + fmt::format(", {} of the bytes used", percent_words(100 * use.used));
}

// "98.5 % of the kernel's sectors".
std::string share_words(const Site& site) {
  const Use& use = site.levels.front().use;
  const double share = 100 * use.share * static_cast<double>(site.count);
  return fmt::format("{} of the kernel's {}", percent_words(std::min(share, 100.0)),
                     is_shared(*site.row) ? "shared wavefronts" : "sectors");
}

// A further way in which the site is used: "2 sectors for 4 lanes, 25 % used".
std::string short_words(const SiteRow& row, const Use& use) {
  if (is_shared(row)) return real_plural(use.per_request, "wavefront");
  return fmt::format("{} for {}, {} used", real_plural(use.per_request, "sector"), real_plural(use.lanes, "lane"),
                     percent_words(100 * use.used));
}

// What else there is besides the worst: one by one when that is short, else as a range.
std::string other_words(const Site& site, const ProblemGroup& group) {
  if (site.levels.size() == 1) return "";
  std::string text;
  if (site.levels.size() <= most_levels) {
    for (std::size_t i = 1; i < site.levels.size(); ++i) {
      const std::string params = group.labels.shared_params(site.levels[i].points);
      text += fmt::format("{}{}: {}", text.empty() ? " " : "; ",
                          params.empty() ? plural(site.levels[i].points.size(), "other point") : params,
                          short_words(*site.row, site.levels[i].use));
    }
    return text + ".";
  }
  double least = 1e300, most = 0;
  for (std::size_t i = 1; i < site.levels.size(); ++i) {
    const Use& use = site.levels[i].use;
    const double value = is_shared(*site.row) ? use.per_request : 100 * use.used;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  return fmt::format(" In {}: {} to {}.", plural(site.levels.size() - 1, "other case"), real_words(least, 3),
                     is_shared(*site.row) ? real_plural(most, "wavefront") : percent_words(most) + " used");
}

std::string site_sentence(const Site& site, const ProblemGroup& group) {
  const UseLevel& worst = site.levels.front();
  return fmt::format("{}: {}: {}{}; {}{}.{}", group.labels.of_all(worst.points), site.places,
                     site.count > 1 ? "each " : "", use_words(*site.row, worst.use), share_words(site),
                     worst.use.estimated ? ", estimated" : "", other_words(site, group));
}

}  // namespace

std::string sites_section(const ProblemGroup& group, const TerminalStyle& style) {
  const std::vector<Site> sites = ranked_sites(group.points);
  if (sites.empty()) return "";
  const std::size_t shown = std::min(sites.size(), most_sites);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += list_item(site_sentence(sites[i], group), style);
  return heading(fmt::format("Worst access sites of {} (emulated; by what they move in vain)", group.problem), style) +
         text + more_line(sites.size() - shown, "sites");
}

}  // namespace gpuexp
