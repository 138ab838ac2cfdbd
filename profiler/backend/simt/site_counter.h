// Counts warp requests per access site: one row per place in the code and buffer or shared variable.
//
// Most sites repeat one pattern of addresses, moved as a whole. Each remembers its last pattern and what it cost, so
// that a repetition is one comparison; the memory model is asked only for new ones.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "profiler/backend/simt/checker.h"
#include "profiler/backend/simt/device_memory.h"
#include "profiler/backend/simt/events.h"

namespace gpuexp::simt {

enum class Space : std::uint8_t { global, shared, constant };

// Name of an `extern __shared__` array that debug information does not tell.
inline constexpr const char* kUnnamedShared = "dynamic shared memory";

// A shared variable of the running kernel, or its dynamic block.
struct SharedVariable {
  std::string name;
  std::uint64_t offset = 0, size = 0;  // in the TLS segment, bytes
};

struct SiteKey {
  EventCode code = 0;
  Space space{};
  std::uint16_t object = 0;  // index of the buffer or shared variable
  friend auto operator<=>(const SiteKey&, const SiteKey&) = default;
};

// Sums over requests. An array, so that scaling and comparing treat all alike.
enum SiteField : std::uint8_t {
  kRequests,
  kLanes,
  kSectors,
  kIdealSectors,
  kLines,
  kWavefronts,
  kBankConflicts,
  kSiteFields
};
using SiteCounts = std::array<std::uint64_t, kSiteFields>;

// What one block, or several, counted.
struct BlockCounts {
  std::map<SiteKey, SiteCounts> sites;
  std::uint64_t barriers = 0, warp_intrinsics = 0;
  void add(const BlockCounts& other);
};

class SiteCounter {
 public:
  void begin_launch(const DeviceMemory& memory, std::span<const SharedVariable> variables);
  // The calling thread's TLS segment.
  void set_shared_base(std::uint64_t base) { shared_base_ = base; }

  // One merged access of a warp; `address` of inactive lanes is overwritten.
  void access(EventCode code, std::uint32_t mask, std::uint32_t warp, std::uint64_t* address, Checker& checker);
  void barrier() { ++barriers_; }
  void warp_intrinsic() { ++warp_intrinsics_; }
  [[nodiscard]] std::uint64_t lane_accesses() const { return lane_accesses_; }
  // Everything counted since the last call.
  BlockCounts take();

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Site {
    EventCode code = 0;
    std::uint32_t mask = 0;                         // of the last pattern; 0 = none
    std::uint64_t low_mask = 0;                     // bits of the base address on which the cost depends,
    std::uint64_t low_bits = 0;                     // and their values
    std::uint64_t range_begin = 0, range_size = 0;  // of the buffer or variable it lay in
    std::uint64_t hits = 0;                         // requests with this pattern not yet in the row
    SiteCounts cost{};                              // of one request
    std::uint32_t row = kNone;
    Space space{};
    bool uniform = false;
    bool checked = false;              // the checker wants to see it
    AddressOrigin pattern;             // as the checker knows the last pattern
    const BufferView* view = nullptr;  // global only
    std::uint8_t sector_count = 0;
    std::array<std::int32_t, 64> sectors{};  // of the pattern, relative to the base's sector
    std::array<std::uint64_t, kWarpLanes> deltas{};
  };
  struct Row {
    SiteKey key;
    SiteCounts counts{};
  };
  struct Range {
    Space space{};
    std::uint16_t object = 0;
    std::uint64_t begin = 0, size = 0;
    const BufferView* view = nullptr;
  };

  Site& site(EventCode code);
  [[nodiscard]] Range range_of(std::uint64_t address) const;
  void flush(Site& site);
  void learn(Site& site, std::uint32_t mask, const std::uint64_t* address, const Range& range);
  void new_pattern(Site& site, std::uint32_t mask, std::uint32_t warp, std::uint64_t* address, Checker& checker);
  void after(const Site& site, std::uint32_t warp, const std::uint64_t* address, Checker& checker) const;
  std::uint32_t row(const SiteKey& key);

  const DeviceMemory* memory_ = nullptr;
  std::span<const SharedVariable> variables_;
  std::uint64_t shared_base_ = 0;
  std::uint64_t shared_begin_ = 0, shared_end_ = 0;  // of the variables, in the segment
  std::vector<std::uint32_t> index_;                 // by code offset: 1 + index of the site
  std::vector<Site> sites_;
  std::vector<Row> rows_;
  std::uint64_t barriers_ = 0, warp_intrinsics_ = 0, lane_accesses_ = 0;
};

}  // namespace gpuexp::simt
