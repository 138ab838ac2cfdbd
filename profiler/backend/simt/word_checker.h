// The exact half of the checker: races and reads of memory nobody wrote, found from a block's merged accesses word by
// word. (checker.h sees first whether an interval needs it.)
//
// Between two barriers (an interval) every touched 4-byte word remembers which places in the code touched it, each with
// its lowest and highest thread. That is enough to know whether two different threads met there, and does not depend on
// the order in which threads ran. Words where a race is possible are judged when the interval ends, and so are reads of
// words that nobody had written by the time of the read.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "profiler/backend/simt/device_memory.h"
#include "profiler/backend/simt/findings.h"

namespace gpuexp::simt {

// One merged access as the checkers see it.
struct WarpAccess {
  EventCode code = 0;
  std::uint32_t mask = 0;
  std::uint32_t warp = 0;
  const std::uint64_t* address = nullptr;  // of 32 lanes; inactive ones hold the first active lane's
  bool uniform = false;                    // all active lanes the same address
};

inline constexpr std::uint32_t kAllBytes = 15;  // of a word, a bit each
// Bytes of the word at `offset` that an access of `width` bytes touches; of every word of a wider one, all.
inline std::uint32_t bytes_at(std::uint64_t offset, int width) {
  return width >= 4 ? kAllBytes : ((1U << static_cast<unsigned>(width)) - 1) << (offset % 4);
}

// Marks elements of a tracked buffer as written; false when one was before.
bool mark_written(const BufferView& view, std::uint64_t element, std::uint64_t count);

class WordChecker {
 public:
  // Words of shared memory are numbered from `shared_base`; `shared_bytes` is the extent that can be touched.
  void begin_launch(std::uint64_t shared_bytes);
  void begin_block(std::uint64_t block, std::uint64_t shared_base, Findings* findings);
  // Nobody in the block has written these bytes of shared memory.
  void forget_written(std::uint64_t offset, std::uint64_t size);
  void end_interval();

  // Of a word of shared memory: the bytes that the block has written, as a mask of 4 bits.
  [[nodiscard]] std::uint8_t* written() { return written_; }
  [[nodiscard]] std::uint64_t shared_base() const { return shared_base_; }

  void shared(const WarpAccess& access);
  void global(const WarpAccess& access, const BufferView& view);
  // The lanes of `mask` are ordered: what they did before happens before what they do after.
  void sync_warp(std::uint32_t warp, std::uint32_t mask);

 private:
  // A place in the code and the threads that touched a word from it.
  struct Entry {
    EventCode code = 0;
    std::uint16_t low = 0, high = 0;  // threads
    std::uint32_t lanes = 0;          // those of warp low / 32
    std::uint32_t order = 0;          // generation of the warp << 4 | bytes of the word; see order_of()
  };
  struct Cell {
    std::uint64_t key = 0;    // interval << 32 | code of `first`
    std::uint32_t next = 0;   // 1 + index of a further entry of the interval; 0 = none
    std::uint32_t order = 0;  // of `first`
    std::uint32_t lanes = 0;  // of `first`
    std::uint16_t low = 0, high = 0;
    std::uint8_t flags = 0;  // of the interval
    [[nodiscard]] std::uint32_t interval() const { return static_cast<std::uint32_t>(key >> 32U); }
    [[nodiscard]] Entry first() const { return {static_cast<EventCode>(key), low, high, lanes, order}; }
  };
  static constexpr std::uint8_t kSuspect = 1;    // a race is possible
  static constexpr std::uint8_t kUnwritten = 2;  // read before it was written
  // Global memory has too many words for a cell each: a hash table holds the sectors touched in this interval.
  static constexpr std::uint64_t kSectorWords = kSectorBytes / 4;
  struct SectorCells {
    std::uint64_t sector = 0;    // address / 32
    std::uint32_t interval = 0;  // in which it was claimed; that of another interval is free
    std::array<Cell, kSectorWords> cells;
  };
  struct Link {
    Entry entry;
    std::uint32_t next = 0;
  };
  struct PendingRead {
    std::uint64_t place;  // shared: word; global: address of the word
    EventCode code;
    std::uint16_t thread;
    std::uint8_t bytes;
    const BufferView* view;  // null: shared
  };

  [[nodiscard]] std::uint32_t order_of(std::uint32_t warp, std::uint32_t lane) const;
  void touch_shared(std::uint64_t offset, int width, const Entry& entry);
  void first_touch_or_other(std::uint64_t word, Entry entry, std::uint32_t bytes);
  bool touch(Cell& cell, const Entry& entry);
  bool touch_again(Cell& cell, const Entry& entry);
  SectorCells& sector_cells(std::uint64_t sector);
  Cell& global_cell(std::uint64_t word) { return sector_cells(word / kSectorWords).cells[word % kSectorWords]; }
  void grow();
  void judge(const Cell& cell, std::uint64_t place, bool is_shared);
  void judge_pair(const Entry& a, const Entry& b, std::uint64_t place, bool is_shared);
  [[nodiscard]] bool ordered(const Entry& a, const Entry& b) const;
  [[nodiscard]] bool written_by_another(const Cell& cell, const PendingRead& read) const;
  void judge_pending();
  template <class F>
  void for_entries(const Cell& cell, F&& visit) const;

  Mapping shared_cells_, shared_written_;
  Cell* cells_ = nullptr;
  std::uint8_t* written_ = nullptr;
  std::vector<SectorCells> table_;
  std::uint64_t table_used_ = 0;
  std::vector<Link> links_;
  std::vector<std::uint64_t> shared_suspects_, global_suspects_;
  std::vector<PendingRead> pending_;
  std::uint32_t interval_ = 0;
  std::uint64_t block_ = 0, shared_base_ = 0;
  Findings* findings_ = nullptr;

  // __syncwarp within the interval: per warp the masks so far, and per lane the number of the last one it took part in.
  std::vector<std::vector<std::uint32_t>> syncs_;
  std::vector<std::uint32_t> generation_;  // by thread
  bool any_sync_ = false;
};

}  // namespace gpuexp::simt
