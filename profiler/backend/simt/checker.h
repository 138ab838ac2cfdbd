// Races and reads of memory nobody wrote.
//
// Most intervals between barriers are innocent in a way that is quickly seen: a block only reads its shared memory, all
// of it written before, or only writes it, no word twice; and likewise the output buffers. As long as that holds, the
// checker keeps no more than a log of the accesses. The first that is different hands the log, and what follows in the
// interval, to the WordChecker, which judges exactly. So what is found does not depend on the screening.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "profiler/backend/simt/device_memory.h"
#include "profiler/backend/simt/findings.h"
#include "profiler/backend/simt/word_checker.h"

namespace gpuexp::simt {

// Where an access's addresses come from, so that the log can name them instead of holding them.
struct AddressOrigin {
  std::uint32_t site = kNoSite;
  std::uint32_t version = 0;  // differs from the site's earlier patterns
  bool consecutive = false;   // all 32 lanes, each `width` after the one before
  static constexpr std::uint32_t kNoSite = 0xffffffff;
};

class Checker {
 public:
  // As WordChecker's.
  void begin_launch(std::uint64_t shared_bytes);
  void begin_block(std::uint64_t block, std::uint64_t shared_base, Findings* findings);
  void forget_written(std::uint64_t offset, std::uint64_t size) { words_.forget_written(offset, size); }
  void end_interval();

  void shared(const WarpAccess& access, const AddressOrigin& pattern);
  void global(const WarpAccess& access, const AddressOrigin& pattern, const BufferView& view);
  void sync_warp(std::uint32_t warp, std::uint32_t mask);

 private:
  enum class Mode : std::uint8_t { untouched, reading, writing, exact };
  struct Logged {
    std::uint32_t pattern = 0;  // index in patterns_
    std::uint32_t warp = 0;
    std::uint64_t base = 0;  // address of the first active lane
    const BufferView* view = nullptr;
  };
  struct Pattern {
    EventCode code = 0;
    std::uint32_t mask = 0;
    bool uniform = false;
    std::array<std::uint64_t, kWarpLanes> deltas{};  // from the first active lane
  };
  // Of one memory space in this interval.
  struct Screen {
    Mode mode = Mode::untouched;
    std::uint32_t exact_intervals = 0;  // to come: where one interval needed it, the next will
    std::vector<Logged> log;
    void begin_interval();
  };
  // Which of patterns_ is a site's last one.
  struct Known {
    std::uint64_t interval = 0;
    std::uint32_t version = 0;
    std::uint32_t pattern = 0;
  };

  [[nodiscard]] bool innocent_shared(const WarpAccess& access);
  [[nodiscard]] bool innocent_global(const WarpAccess& access, bool consecutive, const BufferView& view);
  // Notes an innocent access; false when the log is full or the access has no pattern.
  bool note(Screen& screen, const WarpAccess& access, const AddressOrigin& pattern, const BufferView* view);
  void begin_interval();
  void go_exact(Screen& screen);

  WordChecker words_;
  Screen shared_, global_;
  std::vector<Pattern> patterns_;
  std::vector<Known> known_;  // by site
  Mapping shared_stamps_;
  std::uint32_t* stamps_ = nullptr;  // per word of shared memory: interval << 4 | bytes written in it
  std::uint64_t interval_ = 1;
};

}  // namespace gpuexp::simt
