// Races and reads of memory nobody wrote, word by word.
#include "profiler/backend/simt/word_checker.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gpuexp::simt {
namespace {

constexpr std::uint32_t kByteBits = 4;
constexpr std::uint32_t kWarpShift = 23;    // order = (warp << kWarpShift | generation) << kByteBits | bytes
constexpr std::uint64_t kFirstTable = 256;  // sectors; a power of two
constexpr std::uint32_t kMaxWarps = 32;

std::uint32_t bytes_of(std::uint32_t order) { return order & kAllBytes; }
std::uint32_t generation_of(std::uint32_t order) { return (order >> kByteBits) & ((1U << kWarpShift) - 1); }
bool plain_write(EventCode code) { return op_of(code) == AccessKind::store; }

std::uint64_t hash(std::uint64_t sector) { return (sector * 0x9e3779b97f4a7c15U) >> 20U; }

}  // namespace

bool mark_written(const BufferView& view, std::uint64_t element, std::uint64_t count) {
  std::uint8_t* written = view.written + element;
  std::uint64_t any = 0;
  std::uint64_t i = 0;
  if (element % 8 == 0) {  // the map begins on a page
    auto* eights = reinterpret_cast<std::uint64_t*>(written);
    for (; i + 8 <= count; i += 8) {
      any |= __atomic_load_n(&eights[i / 8], __ATOMIC_RELAXED);
      __atomic_store_n(&eights[i / 8], 0x0101010101010101U, __ATOMIC_RELAXED);
    }
  }
  for (; i < count; ++i) {
    any |= __atomic_load_n(&written[i], __ATOMIC_RELAXED);
    __atomic_store_n(&written[i], std::uint8_t{1}, __ATOMIC_RELAXED);
  }
  for (std::uint64_t chunk = element >> kChunkShift; chunk <= (element + count - 1) >> kChunkShift; ++chunk) {
    std::uint8_t& touched = view.written_chunks[chunk];  // written once, for all threads read it
    if (__atomic_load_n(&touched, __ATOMIC_RELAXED) == 0) __atomic_store_n(&touched, std::uint8_t{1}, __ATOMIC_RELAXED);
  }
  return any == 0;
}

void WordChecker::begin_launch(std::uint64_t shared_bytes) {
  const std::uint64_t words = shared_bytes / 4 + 8;
  if (shared_cells_.size() < words * sizeof(Cell)) {
    shared_cells_ = Mapping(words * sizeof(Cell));
    shared_written_ = Mapping(words);
  }
  cells_ = reinterpret_cast<Cell*>(shared_cells_.data());
  written_ = reinterpret_cast<std::uint8_t*>(shared_written_.data());
  if (table_.empty()) table_.resize(kFirstTable);
  syncs_.resize(kMaxWarps);
  generation_.assign(std::size_t{kMaxWarps} * kWarpLanes, 0);
}

void WordChecker::begin_block(std::uint64_t block, std::uint64_t shared_base, Findings* findings) {
  block_ = block;
  shared_base_ = shared_base;
  findings_ = findings;
  ++interval_;
  table_used_ = 0;
}

void WordChecker::forget_written(std::uint64_t offset, std::uint64_t size) {
  std::memset(written_ + offset / 4, 0, (size + offset % 4 + 3) / 4);
}

std::uint32_t WordChecker::order_of(std::uint32_t warp, std::uint32_t lane) const {
  const std::uint32_t generation = generation_[warp * kWarpLanes + lane];
  return generation == 0 ? 0 : (warp << kWarpShift | generation) << kByteBits;
}

// True when the word has just become suspect.
inline bool WordChecker::touch(Cell& cell, const Entry& entry) {
  const std::uint64_t key = static_cast<std::uint64_t>(interval_) << 32U | entry.code;
  if (cell.interval() != interval_) {
    cell.key = key;
    cell.next = 0;
    cell.flags = 0;
    cell.order = entry.order;
    cell.lanes = entry.lanes;
    cell.low = entry.low;
    cell.high = entry.high;
  } else if (cell.key == key && cell.order == entry.order) {
    cell.low = std::min(cell.low, entry.low);
    cell.high = std::max(cell.high, entry.high);
    cell.lanes |= entry.lanes;
  } else {
    return touch_again(cell, entry);
  }
  if (!plain_write(entry.code) || cell.low == cell.high || (cell.flags & kSuspect) != 0) return false;
  cell.flags |= kSuspect;
  return true;
}

// A second place, or the same in another order. True when the word has just become suspect.
bool WordChecker::touch_again(Cell& cell, const Entry& entry) {
  const bool was_suspect = (cell.flags & kSuspect) != 0;
  for (std::uint32_t at = cell.next; at != 0; at = links_[at - 1].next) {
    Entry& known = links_[at - 1].entry;
    if (known.code != entry.code || known.order != entry.order) continue;
    known.low = std::min(known.low, entry.low);
    known.high = std::max(known.high, entry.high);
    known.lanes |= entry.lanes;
    if (!plain_write(entry.code) || was_suspect) return false;
    cell.flags |= kSuspect;
    return true;
  }
  links_.push_back({entry, cell.next});
  cell.next = static_cast<std::uint32_t>(links_.size());
  if (was_suspect) return false;
  bool writes = false;
  for_entries(cell, [&](const Entry& e) { writes |= plain_write(e.code); });
  if (!writes) return false;
  cell.flags |= kSuspect;
  return true;
}

template <class F>
void WordChecker::for_entries(const Cell& cell, F&& visit) const {
  visit(cell.first());
  for (std::uint32_t at = cell.next; at != 0; at = links_[at - 1].next) visit(links_[at - 1].entry);
}

void WordChecker::first_touch_or_other(std::uint64_t word, Entry entry, std::uint32_t bytes) {
  Cell& cell = cells_[word];
  std::uint8_t& written = written_[word];
  const AccessKind op = op_of(entry.code);
  const bool unwritten = op != AccessKind::store && (written & bytes) != bytes;
  if (touch(cell, entry)) shared_suspects_.push_back(word);
  if (unwritten) {
    cell.flags |= kUnwritten;
    for (std::uint32_t rest = entry.lanes; rest != 0; rest &= rest - 1) {
      const auto thread = static_cast<std::uint16_t>(entry.low / kWarpLanes * kWarpLanes +
                                                     static_cast<std::uint32_t>(std::countr_zero(rest)));
      pending_.push_back({word, entry.code, thread, static_cast<std::uint8_t>(bytes & ~written), nullptr});
    }
  }
  if (op != AccessKind::load) written = static_cast<std::uint8_t>(written | bytes);
}

// By far most accesses find that the same place in the code has touched the word in this interval, and that nothing is
// odd about it: then only the threads change. (The first touch has seen whether the word was written.)
inline void WordChecker::touch_shared(std::uint64_t offset, int width, const Entry& entry) {
  std::uint64_t word = offset / 4;
  const std::uint64_t end = (offset + static_cast<unsigned>(width) + 3) / 4;
  const std::uint32_t bytes = bytes_at(offset, width);
  Entry mine = entry;
  mine.order |= bytes;
  const std::uint64_t key = static_cast<std::uint64_t>(interval_) << 32U | entry.code;
  for (; word != end; ++word) {
    Cell& cell = cells_[word];
    if (cell.key == key && cell.order == mine.order && cell.flags == 0 && !plain_write(entry.code)) {
      cell.low = std::min(cell.low, mine.low);
      cell.high = std::max(cell.high, mine.high);
      cell.lanes |= mine.lanes;
    } else {
      first_touch_or_other(word, mine, bytes);
    }
  }
}

void WordChecker::shared(const WarpAccess& access) {
  const int width = width_of(access.code);
  const std::uint32_t first_thread = access.warp * kWarpLanes;
  Entry entry;
  entry.code = access.code;
  std::uint32_t rest = access.mask;
  while (rest != 0) {
    // Neighbouring lanes often read one word.
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint64_t address = access.address[lane];
    std::uint32_t last = lane;
    entry.lanes = 1U << lane;
    rest &= rest - 1;
    if (access.uniform && !any_sync_) {
      entry.lanes = access.mask;
      last = 31U - static_cast<std::uint32_t>(std::countl_zero(access.mask));
      rest = 0;
    } else if (!any_sync_) {
      while (rest != 0) {
        const auto next = static_cast<std::uint32_t>(std::countr_zero(rest));
        if (access.address[next] != address) break;
        entry.lanes |= 1U << next;
        last = next;
        rest &= rest - 1;
      }
    }
    entry.low = static_cast<std::uint16_t>(first_thread + lane);
    entry.high = static_cast<std::uint16_t>(first_thread + last);
    entry.order = any_sync_ ? order_of(access.warp, lane) : 0;
    touch_shared(address - shared_base_, width, entry);
  }
}

void WordChecker::grow() {
  std::vector<SectorCells> old(table_.size() * 2);
  old.swap(table_);
  const std::uint64_t mask = table_.size() - 1;
  for (const SectorCells& cells : old) {
    if (cells.interval != interval_) continue;
    std::uint64_t at = hash(cells.sector) & mask;
    while (table_[at].interval == interval_) at = (at + 1) & mask;
    table_[at] = cells;
  }
}

// Within an interval no sector is ever freed, so probing finds every one.
WordChecker::SectorCells& WordChecker::sector_cells(std::uint64_t sector) {
  if (2 * table_used_ >= table_.size()) grow();
  const std::uint64_t mask = table_.size() - 1;
  std::uint64_t at = hash(sector) & mask;
  while (table_[at].interval == interval_ && table_[at].sector != sector) at = (at + 1) & mask;
  SectorCells& found = table_[at];
  if (found.interval != interval_) {
    found.interval = interval_;
    found.sector = sector;
    ++table_used_;
  }
  return found;
}

void WordChecker::global(const WarpAccess& access, const BufferView& view) {
  const int width = width_of(access.code);
  const AccessKind op = op_of(access.code);
  Entry entry;
  entry.code = access.code;
  SectorCells* sector = nullptr;  // of the last word: neighbouring lanes mostly share one
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint64_t address = access.address[lane];
    entry.low = entry.high = static_cast<std::uint16_t>(access.warp * kWarpLanes + lane);
    entry.lanes = 1U << lane;
    const std::uint32_t order = any_sync_ ? order_of(access.warp, lane) : 0;
    const std::uint32_t bytes = bytes_at(address, width);
    entry.order = order | bytes;
    const std::uint64_t end = (address + static_cast<unsigned>(width) + 3) / 4;
    for (std::uint64_t word = address / 4; word != end; ++word) {
      if (sector == nullptr || sector->sector != word / kSectorWords) sector = &sector_cells(word / kSectorWords);
      if (touch(sector->cells[word % kSectorWords], entry)) global_suspects_.push_back(word);
    }
    const std::uint64_t element = (address - view.begin) >> view.element_log2;
    const std::uint64_t last = (address - view.begin + static_cast<unsigned>(width) - 1) >> view.element_log2;
    for (std::uint64_t i = element; op != AccessKind::store && !view.initialised && i <= last; ++i) {
      if (view.written[i] == 0) {
        pending_.push_back({i, entry.code, entry.low, static_cast<std::uint8_t>(bytes), &view});
      }
    }
    if (op != AccessKind::load) mark_written(view, element, last - element + 1);
  }
}

void WordChecker::sync_warp(std::uint32_t warp, std::uint32_t mask) {
  any_sync_ = true;
  syncs_[warp].push_back(mask);
  const auto generation = static_cast<std::uint32_t>(syncs_[warp].size());
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    generation_[warp * kWarpLanes + static_cast<std::uint32_t>(std::countr_zero(rest))] = generation;
  }
}

// Whether every meeting of a thread of `a` with another one of `b` is ordered by __syncwarp. Both of one warp.
bool WordChecker::ordered(const Entry& a, const Entry& b) const {
  const bool swapped = generation_of(a.order) > generation_of(b.order);
  const Entry& early = swapped ? b : a;
  const Entry& late = swapped ? a : b;
  const std::vector<std::uint32_t>& syncs = syncs_[early.low / kWarpLanes];
  for (std::uint32_t rest = early.lanes; rest != 0; rest &= rest - 1) {
    const std::uint32_t lane = rest & (~rest + 1);
    std::uint32_t after = lane;  // lanes that know of what this lane did
    for (std::uint32_t g = generation_of(early.order); g < generation_of(late.order); ++g) {
      if ((syncs[g] & after) != 0) after |= syncs[g];
    }
    if ((late.lanes & ~after) != 0) return false;
  }
  return true;
}

void WordChecker::judge_pair(const Entry& a, const Entry& b, std::uint64_t place, bool is_shared) {
  if ((bytes_of(a.order) & bytes_of(b.order)) == 0) return;
  if (!plain_write(a.code) && !plain_write(b.code)) return;
  const bool one_thread = a.low == a.high && b.low == b.high && a.low == b.low;
  if (one_thread) return;
  const std::uint32_t warp = a.low / kWarpLanes;
  const bool one_warp = a.high / kWarpLanes == warp && b.low / kWarpLanes == warp && b.high / kWarpLanes == warp;
  if (one_warp && generation_of(a.order) != generation_of(b.order) && ordered(a, b)) return;
  FindingKey key{FindingKind::race, std::min(a.code, b.code), std::max(a.code, b.code)};
  FindingRecord record;
  record.occurrences = 1;
  record.block = block_;
  record.thread = std::min(a.low, b.low);
  record.address = place * 4;
  record.shared = is_shared;
  findings_->add(key, record);
}

void WordChecker::judge(const Cell& cell, std::uint64_t place, bool is_shared) {
  std::vector<Entry> entries;
  for_entries(cell, [&](const Entry& entry) { entries.push_back(entry); });
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].low != entries[i].high) judge_pair(entries[i], entries[i], place, is_shared);
    for (std::size_t j = i + 1; j < entries.size(); ++j) judge_pair(entries[i], entries[j], place, is_shared);
  }
}

// Then the read races with that write, which is the finding to report. Atomics do not race with each other: for one
// that updates what nobody initialised, the atomics of other threads are no excuse.
bool WordChecker::written_by_another(const Cell& cell, const PendingRead& read) const {
  bool other = false;
  for_entries(cell, [&](const Entry& entry) {
    if (op_of(entry.code) == AccessKind::load || op_of(entry.code) == op_of(read.code) ||
        (bytes_of(entry.order) & read.bytes) == 0)
      return;
    other |= entry.low != read.thread || entry.high != read.thread;
  });
  return other;
}

void WordChecker::judge_pending() {
  for (const PendingRead& read : pending_) {
    FindingRecord record;
    record.occurrences = 1;
    record.block = block_;
    record.thread = read.thread;
    record.shared = read.view == nullptr;
    if (record.shared) {
      if (written_by_another(cells_[read.place], read)) continue;
      record.address = read.place * 4;
    } else {
      record.address = read.view->begin + (read.place << read.view->element_log2);
      if (written_by_another(global_cell(record.address / 4), read)) continue;
    }
    findings_->add({FindingKind::uninitialised, read.code, 0}, record);
  }
  pending_.clear();
}

void WordChecker::end_interval() {
  if (!pending_.empty()) judge_pending();
  for (const std::uint64_t word : shared_suspects_) judge(cells_[word], word, true);
  for (const std::uint64_t word : global_suspects_) judge(global_cell(word), word, false);
  shared_suspects_.clear();
  global_suspects_.clear();
  links_.clear();
  table_used_ = 0;
  ++interval_;
  if (!any_sync_) return;
  any_sync_ = false;
  for (auto& masks : syncs_) masks.clear();
  std::fill(generation_.begin(), generation_.end(), 0U);
}

}  // namespace gpuexp::simt
