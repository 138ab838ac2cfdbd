// Screening intervals for those that need to be judged word by word.
#include "profiler/backend/simt/checker.h"

#include <bit>

namespace gpuexp::simt {
namespace {

constexpr std::size_t kMostLogged = 16384;     // accesses of an interval
constexpr std::size_t kMostPatterns = 1024;    // 280 bytes each
constexpr std::uint32_t kExactIntervals = 31;  // before the screen is tried again

}  // namespace

void Checker::Screen::begin_interval() {
  log.clear();
  mode = exact_intervals == 0 ? Mode::untouched : Mode::exact;
  if (exact_intervals != 0) --exact_intervals;
}

void Checker::begin_launch(std::uint64_t shared_bytes) {
  words_.begin_launch(shared_bytes);
  const std::uint64_t bytes = (shared_bytes / 4 + 8) * sizeof(std::uint32_t);
  if (shared_stamps_.size() < bytes) shared_stamps_ = Mapping(bytes);
  stamps_ = reinterpret_cast<std::uint32_t*>(shared_stamps_.data());
  shared_.exact_intervals = global_.exact_intervals = 0;
  known_.clear();
}

void Checker::begin_block(std::uint64_t block, std::uint64_t shared_base, Findings* findings) {
  words_.begin_block(block, shared_base, findings);
  begin_interval();
}

void Checker::end_interval() {
  words_.end_interval();
  begin_interval();
}

void Checker::begin_interval() {
  ++interval_;
  patterns_.clear();
  shared_.begin_interval();
  global_.begin_interval();
}

void Checker::go_exact(Screen& screen) {
  if (screen.mode == Mode::exact) return;
  screen.mode = Mode::exact;
  screen.exact_intervals = kExactIntervals;
  std::array<std::uint64_t, kWarpLanes> address;
  for (const Logged& logged : screen.log) {
    const Pattern& pattern = patterns_[logged.pattern];
    for (std::size_t lane = 0; lane < kWarpLanes; ++lane) address[lane] = logged.base + pattern.deltas[lane];
    const WarpAccess access{pattern.code, pattern.mask, logged.warp, address.data(), pattern.uniform};
    if (logged.view == nullptr) {
      words_.shared(access);
    } else {
      words_.global(access, *logged.view);
    }
  }
}

bool Checker::note(Screen& screen, const WarpAccess& access, const AddressOrigin& pattern, const BufferView* view) {
  if (pattern.site == AddressOrigin::kNoSite || screen.log.size() == kMostLogged) return false;
  if (pattern.site >= known_.size()) known_.resize(pattern.site + 16);
  const std::uint64_t base = access.address[std::countr_zero(access.mask)];
  Known& known = known_[pattern.site];
  if (known.interval != interval_ || known.version != pattern.version) {
    if (patterns_.size() == kMostPatterns) return false;
    known = {interval_, pattern.version, static_cast<std::uint32_t>(patterns_.size())};
    Pattern& copy = patterns_.emplace_back();
    copy.code = access.code;
    copy.mask = access.mask;
    copy.uniform = access.uniform;
    for (std::size_t lane = 0; lane < kWarpLanes; ++lane) copy.deltas[lane] = access.address[lane] - base;
  }
  screen.log.push_back({known.pattern, access.warp, base, view});
  return true;
}

// Reads of what the block has written while it only reads, or first writes while it only writes.
bool Checker::innocent_shared(const WarpAccess& access) {
  const AccessKind op = op_of(access.code);
  const int width = width_of(access.code);
  const std::uint64_t words = static_cast<std::uint64_t>(width + 3) / 4;
  const std::uint64_t base = words_.shared_base();
  std::uint8_t* written = words_.written();
  if (op == AccessKind::load) {
    if (shared_.mode == Mode::writing) return false;
    shared_.mode = Mode::reading;
    std::uint32_t missing = 0;
    const int lanes = access.uniform ? 1 : kWarpLanes;  // inactive lanes repeat an active one
    if (width == 4) {
      for (int i = 0; i < lanes; ++i) missing |= kAllBytes & ~written[(access.address[i] - base) / 4];
      return missing == 0;
    }
    for (int i = 0; i < lanes; ++i) {
      const std::uint64_t offset = access.address[i] - base;
      for (std::uint64_t word = 0; word < words; ++word) {
        missing |= bytes_at(offset, width) & ~static_cast<std::uint32_t>(written[offset / 4 + word]);
      }
    }
    return missing == 0;
  }
  if (op != AccessKind::store || shared_.mode == Mode::reading) return false;
  shared_.mode = Mode::writing;
  const auto interval = static_cast<std::uint32_t>(interval_ << 4U);
  std::uint32_t met = 0;  // bytes written twice; an old stamp that looks new again costs only time
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t offset = access.address[std::countr_zero(rest)] - base;
    const std::uint32_t bytes = bytes_at(offset, width);
    for (std::uint64_t word = offset / 4; word < offset / 4 + words; ++word) {
      const std::uint32_t before = (stamps_[word] & ~kAllBytes) == interval ? stamps_[word] & kAllBytes : 0;
      met |= before & bytes;
      stamps_[word] = interval | before | bytes;
      written[word] = static_cast<std::uint8_t>(written[word] | bytes);
    }
  }
  return met == 0;
}

// Writes of elements that no block has written, while the block only writes. Others may be innocent too, but are few.
bool Checker::innocent_global(const WarpAccess& access, bool consecutive, const BufferView& view) {
  if (op_of(access.code) != AccessKind::store) return false;
  global_.mode = Mode::writing;
  const auto width = static_cast<std::uint64_t>(width_of(access.code));
  const auto element = [&](std::uint64_t address) { return (address - view.begin) >> view.element_log2; };
  if (consecutive && width >> view.element_log2 != 0) {
    return mark_written(view, element(access.address[0]), kWarpLanes * width >> view.element_log2);
  }
  bool first = true;
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = access.address[std::countr_zero(rest)];
    const std::uint64_t from = element(address);
    first &= mark_written(view, from, element(address + width - 1) - from + 1);
  }
  return first;
}

void Checker::shared(const WarpAccess& access, const AddressOrigin& pattern) {
  if (shared_.mode != Mode::exact) {
    if (innocent_shared(access) && note(shared_, access, pattern, nullptr)) return;
    go_exact(shared_);
  }
  words_.shared(access);
}

void Checker::global(const WarpAccess& access, const AddressOrigin& pattern, const BufferView& view) {
  if (global_.mode != Mode::exact) {
    if (innocent_global(access, pattern.consecutive, view) && note(global_, access, pattern, &view)) return;
    go_exact(global_);
  }
  words_.global(access, view);
}

void Checker::sync_warp(std::uint32_t warp, std::uint32_t mask) {
  go_exact(shared_);
  go_exact(global_);
  words_.sync_warp(warp, mask);
}

}  // namespace gpuexp::simt
