// Counting warp requests per access site.
#include "profiler/backend/simt/site_counter.h"

#include <algorithm>
#include <bit>

namespace gpuexp::simt {
namespace {

constexpr std::uint64_t kLineMask = kLineBytes - 1;

// Whether all lanes lie at `deltas` from `base`. Plain loops over 32 words, which compilers vectorise.
inline bool same_pattern(const std::uint64_t* address, const std::uint64_t* deltas, std::uint64_t base) {
  std::uint64_t difference = 0;
  for (int lane = 0; lane < kWarpLanes; ++lane) difference |= (address[lane] - base) ^ deltas[lane];
  return difference == 0;
}

}  // namespace

void BlockCounts::add(const BlockCounts& other) {
  for (const auto& [key, counts] : other.sites) {
    SiteCounts& mine = sites[key];
    for (std::size_t i = 0; i < kSiteFields; ++i) mine[i] += counts[i];
  }
  barriers += other.barriers;
  warp_intrinsics += other.warp_intrinsics;
}

void SiteCounter::begin_launch(const DeviceMemory& memory, std::span<const SharedVariable> variables) {
  memory_ = &memory;
  variables_ = variables;
  shared_begin_ = shared_end_ = 0;
  for (const SharedVariable& variable : variables) {
    if (shared_end_ == 0) shared_begin_ = variable.offset;
    shared_begin_ = std::min(shared_begin_, variable.offset);
    shared_end_ = std::max(shared_end_, variable.offset + variable.size);
  }
  index_.clear();
  sites_.clear();
  rows_.clear();
  barriers_ = warp_intrinsics_ = lane_accesses_ = 0;
}

SiteCounter::Site& SiteCounter::site(EventCode code) {
  // Accesses return to different addresses, so that the offset tells them apart.
  const std::uint64_t offset = offset_of(code);
  if (offset >= index_.size()) index_.resize(offset + 256, 0);
  std::uint32_t& index = index_[offset];
  if (index == 0) {
    Site& site = sites_.emplace_back();
    site.code = code;
    site.pattern.site = index = static_cast<std::uint32_t>(sites_.size());
  }
  return sites_[index - 1];
}

SiteCounter::Range SiteCounter::range_of(std::uint64_t address) const {
  const std::uint64_t offset = address - shared_base_;
  if (offset - shared_begin_ < shared_end_ - shared_begin_) {
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      const SharedVariable& variable = variables_[i];
      if (offset - variable.offset < variable.size) {
        return {Space::shared, static_cast<std::uint16_t>(i), shared_base_ + variable.offset, variable.size, nullptr};
      }
    }
  }
  if (const BufferView* view = memory_->find(address); view != nullptr) {
    return {Space::global, view->index, view->begin, view->size, view};
  }
  return {Space::constant, 0, 0, 0, nullptr};
}

std::uint32_t SiteCounter::row(const SiteKey& key) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].key == key) return static_cast<std::uint32_t>(i);
  }
  rows_.push_back({key, {}});
  return static_cast<std::uint32_t>(rows_.size() - 1);
}

void SiteCounter::flush(Site& site) {
  if (site.hits == 0) return;
  for (std::size_t i = 0; i < kSiteFields; ++i) rows_[site.row].counts[i] += site.hits * site.cost[i];
  site.hits = 0;
}

void SiteCounter::learn(Site& site, std::uint32_t mask, const std::uint64_t* address, const Range& range) {
  const int width = width_of(site.code);
  const std::uint64_t base = address[std::countr_zero(mask)];
  site.row = row({site.code, range.space, range.object});
  site.mask = mask;
  site.range_begin = range.begin;
  site.range_size = range.size;
  site.space = range.space;
  site.view = range.view;
  std::uint64_t any = 0;
  std::uint64_t uneven = ~mask;
  for (std::size_t lane = 0; lane < kWarpLanes; ++lane) {
    any |= site.deltas[lane] = address[lane] - base;
    uneven |= site.deltas[lane] ^ lane * static_cast<std::uint64_t>(width);
  }
  site.uniform = any == 0;
  ++site.pattern.version;
  site.pattern.consecutive = uneven == 0;
  // The cost stays when all addresses move by whole lines; of one address, always; and in shared memory, where the
  // banks only rotate, when they move by whole words. Lanes that are whole lines apart never share one, wherever the
  // first of them lies, because no access straddles a sector.
  site.low_mask = kLineMask;
  if (range.space == Space::shared) site.low_mask = kBankBytes - 1;
  if (site.uniform || (range.space != Space::shared && (any & kLineMask) == 0)) site.low_mask = 0;
  site.low_bits = base & site.low_mask;
  site.cost = {};
  site.cost[kRequests] = 1;
  site.cost[kLanes] = static_cast<std::uint64_t>(std::popcount(mask));
  const LaneAddresses addresses(address, kWarpLanes);
  site.sector_count = 0;
  if (range.space == Space::global) {
    const GlobalCost cost = global_cost(addresses, mask, width);
    site.cost[kSectors] = cost.sectors;
    site.cost[kIdealSectors] = cost.ideal_sectors;
    site.cost[kLines] = cost.lines;
    site.checked = range.view->tracked;
    if (range.view->sectors[0] != nullptr) {
      for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const std::uint64_t at = address[std::countr_zero(rest)];
        const auto sector = static_cast<std::int32_t>(static_cast<std::int64_t>(at / kSectorBytes) -
                                                      static_cast<std::int64_t>(base / kSectorBytes));
        const auto end = site.sectors.begin() + site.sector_count;
        if (end == site.sectors.begin() || std::find(site.sectors.begin(), end, sector) == end) {
          site.sectors[site.sector_count++] = sector;
        }
      }
    }
  } else if (range.space == Space::shared) {
    const SharedCost cost = shared_cost(addresses, mask, width, op_of(site.code));
    site.cost[kWavefronts] = cost.wavefronts;
    site.cost[kBankConflicts] = cost.bank_conflicts();
    site.checked = true;
  } else {
    site.checked = false;
  }
}

// Called with a pattern that is not the site's last one.
void SiteCounter::new_pattern(Site& site, std::uint32_t mask, std::uint32_t warp, std::uint64_t* address,
                              Checker& checker) {
  flush(site);
  const Range range = range_of(address[std::countr_zero(mask)]);
  std::uint32_t same = 0, same_space = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint32_t bit = 1U << lane;
    if (address[lane] - range.begin < range.size) {
      same |= bit;
    } else if (range_of(address[lane]).space == range.space) {
      same_space |= bit;
    }
  }
  if (range.space == Space::constant) same = mask & (same | same_space);
  if (same == mask) {
    learn(site, mask, address, range);
    ++site.hits;
    after(site, warp, address, checker);
    return;
  }
  // Lanes in several buffers: one request per space, labelled with the first lane's buffer; nothing to remember.
  const std::uint32_t group = same | same_space;
  learn(site, group, address, range);
  for (std::size_t i = 0; i < kSiteFields; ++i) rows_[site.row].counts[i] += site.cost[i];
  site.mask = 0;
  for (std::uint32_t rest = group; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    std::uint64_t one[kWarpLanes];
    std::fill(one, one + kWarpLanes, address[lane]);
    Site single;
    single.code = site.code;
    learn(single, 1U << lane, one, range_of(address[lane]));
    after(single, warp, one, checker);
  }
  const std::uint32_t others = mask & ~group;
  if (others == 0) return;
  const std::uint64_t base = address[std::countr_zero(others)];
  for (std::size_t lane = 0; lane < kWarpLanes; ++lane) {
    if ((others >> lane & 1U) == 0) address[lane] = base;
  }
  new_pattern(site, others, warp, address, checker);
  flush(site);
  site.mask = 0;
}

inline void SiteCounter::after(const Site& site, std::uint32_t warp, const std::uint64_t* address,
                               Checker& checker) const {
  if (site.checked) {
    const WarpAccess access{site.code, site.mask, warp, address, site.uniform};
    if (site.space == Space::shared) {
      checker.shared(access, site.pattern);
    } else {
      checker.global(access, site.pattern, *site.view);
    }
  }
  if (site.sector_count == 0) return;
  const std::uint64_t base = address[std::countr_zero(site.mask)];
  std::uint8_t* map = site.view->sectors[static_cast<std::size_t>(op_of(site.code))];
  const std::uint64_t first = (base - site.view->begin) / kSectorBytes;
  for (int i = 0; i < site.sector_count; ++i) {
    __atomic_store_n(&map[first + static_cast<std::uint64_t>(site.sectors[i])], std::uint8_t{1}, __ATOMIC_RELAXED);
  }
}

void SiteCounter::access(EventCode code, std::uint32_t mask, std::uint32_t warp, std::uint64_t* address,
                         Checker& checker) {
  Site& site = this->site(code);
  const std::uint64_t base = address[std::countr_zero(mask)];
  if (mask != 0xffffffffU) {
    for (std::size_t lane = 0; lane < kWarpLanes; ++lane) {
      if ((mask >> lane & 1U) == 0) address[lane] = base;
    }
  }
  lane_accesses_ += static_cast<std::uint64_t>(std::popcount(mask));
  const bool hit = site.mask == mask && (base & site.low_mask) == site.low_bits &&
                   base - site.range_begin < site.range_size && same_pattern(address, site.deltas.data(), base);
  if (!hit) return new_pattern(site, mask, warp, address, checker);
  ++site.hits;
  after(site, warp, address, checker);
}

BlockCounts SiteCounter::take() {
  BlockCounts counts;
  for (Site& site : sites_) flush(site);
  for (Row& row : rows_) {
    if (row.counts[kRequests] != 0) counts.sites[row.key] = row.counts;
    row.counts = {};
  }
  counts.barriers = barriers_;
  counts.warp_intrinsics = warp_intrinsics_;
  barriers_ = warp_intrinsics_ = 0;
  return counts;
}

}  // namespace gpuexp::simt
