// The interface of a backend: runs one point and says everything it found. cuda/ and simt/ implement it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/core/point.h"

namespace gpuexp {

// Whether a backend can run here; when not, why and what to do about it.
struct Availability {
  bool available = false;
  std::string reason;
  std::string remedy;
};

enum class Schedule { forward, reverse, random };  // order of warps within a block and lanes within a warp

// What a run asks of a backend. Backend-specific fields are ignored by the others.
struct RunOptions {
  const std::atomic<bool>* cancel = nullptr;  // set by SIGINT; the point in hand ends as `interrupted`
  double point_time_limit_s = 120.0;          // wall limit of one point
  std::uint64_t memory_limit_bytes = 0;       // of one point's buffers; 0 = what the machine has free
  bool verify = true;

  // simt
  int threads = 0;                                // OS threads; 0 = one per core. Results do not depend on it.
  std::uint64_t lane_access_budget = 40'000'000;  // per point; blocks are sampled beyond it. 0 = run every block
  Schedule schedule = Schedule::forward;
  std::uint64_t schedule_seed = 1;  // of Schedule::random

  // cuda
  std::string gpu;  // index or UUID; empty = 0
  bool cold_l2 = true;
  double max_noise = 0.005;  // relative; stop sampling below it
  double max_time_s = 2.0;   // stop sampling beyond it
  int min_samples = 10;
  std::vector<std::string> counters;  // ids, groups or raw Perfworks names; empty = the default set
  bool count = true;                  // false: no hardware counters, times only
  bool predict = true;                // also emulate the point, for PointResult::predicted and ::sites
};

// One thing that `gpuexp doctor` looked at.
struct Check {
  std::string name;  // "driver", "counter permission", ...
  bool ok = false;
  std::string found;   // what was seen, one phrase
  std::string remedy;  // what to do about it; empty when ok
};

// What a choice of counters means on one chip: found through the vendor's tables, so it needs no GPU.
struct CounterPlan {
  struct Entry {
    std::string counter;  // id of the counter table, or the raw name as given
    std::string metric;   // Perfworks name on this chip; empty when the chip has none
    std::string refusal;  // why it cannot be counted there; empty when it can
  };
  std::string chip;
  std::vector<Entry> entries;
  int passes = 0;      // runs of the point that the accepted ones take together
  std::string reason;  // why nothing could be checked (no CUPTI, unknown chip), with the remedy; empty when checked
};

struct DeviceSpec;  // profiler/device/device_spec.h

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;         // "simt", "cuda"
  [[nodiscard]] virtual std::string_view description() const = 0;  // one sentence
  [[nodiscard]] virtual Availability availability() const = 0;     // cheap, never throws
  // What a result file records of the machine: ("gpu", "NVIDIA H200"), ("driver", ...), ("threads", "2"), ...
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> environment() const = 0;
  // Whatever goes wrong within the point is a status with a reason in the result; only a broken backend throws.
  virtual PointResult run(const Point& point, const RunOptions& options) = 0;

  // What works on this machine and what does not, with remedies: for `gpuexp doctor`.
  [[nodiscard]] virtual std::vector<Check> diagnose() const { return {}; }
  // Chips whose counters can be checked without a GPU ("GA100", "GH100", ...).
  [[nodiscard]] virtual std::vector<std::string> counter_chips() const { return {}; }
  // Which of `counters` the chip has, and in how many passes; an empty list means the whole table. Throws Error(usage)
  // for a name that is neither a counter, a group nor of the form of a Perfworks metric.
  [[nodiscard]] virtual CounterPlan plan_counters(std::string_view chip,
                                                  const std::vector<std::string>& /*counters*/) const {
    return {std::string(chip), {}, 0, "this backend counts no hardware events"};
  }
  // What an empty RunOptions::counters counts of this point on a chip: ids of the counter table. Empty with a backend
  // that counts no hardware events.
  [[nodiscard]] virtual std::vector<std::string> default_counters(std::string_view /*chip*/,
                                                                  const Point& /*point*/) const {
    return {};
  }
  // The roof of the GPU present, by index or UUID (empty = the first): its entry of the device list, or ceilings
  // derived from its attributes. Null with another backend. Throws Error(machine) when there is no such GPU.
  [[nodiscard]] virtual std::shared_ptr<const DeviceSpec> device(const std::string& /*gpu*/) const { return nullptr; }
};

// Every backend of this build, in order of preference (cuda before simt); "cuda" is always listed.
std::vector<std::unique_ptr<Backend>> make_backends();

}  // namespace gpuexp
