// The seam between the part of the backend that any compiler builds and the part that needs a CUDA toolkit (gpu/).
// Without a toolkit, no_toolkit.cpp answers these.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/backend/backend.h"

namespace gpuexp::cuda {

// What the driver says of one GPU (or MIG slice, which then looks like a smaller GPU).
struct Gpu {
  int index = 0;
  std::string name;    // "NVIDIA H200"
  std::string uuid;    // "GPU-..." or "MIG-..."
  std::string bus_id;  // "0000:3b:00.0"
  int compute_capability_major = 0, compute_capability_minor = 0;
  int sm_count = 0;
  double clock_mhz = 0, memory_clock_mhz = 0;  // maximal; 0 when the driver does not say
  int bus_width_bits = 0;
  std::uint64_t memory_bytes = 0, l2_bytes = 0;
  int threads_per_sm = 0, blocks_per_sm = 0, registers_per_sm = 0, registers_per_block = 0;
  std::int64_t shared_per_sm = 0, shared_per_block = 0, shared_per_block_opt_in = 0, shared_reserved = 0;  // bytes
  bool mig = false;
};

// What CUDA finds on this machine.
struct Machine {
  std::string reason, remedy;  // why nothing can run here; both empty when something can
  int driver_version = 0;      // newest CUDA the driver supports: 13000 for 13.0; 0 = no driver
  int runtime_version = 0;     // of the toolkit in this build
  std::string driver_release;  // "580.159.04"; empty when not known
  std::vector<Gpu> gpus;
};

// "13.0" for 13000; "none" for 0.
std::string cuda_version_text(int version);

// Of the toolkit that built the GPU part: 13000 for 13.0; 0 = this build has no GPU code.
int toolkit_version();
// Initialises CUDA in the calling process: no other process forked from it later can use CUDA.
Machine inspect_machine();

// The owner of a CUDA context: measures points one after the other. After context_lost() it is of no more use.
class PointMeasurer {
 public:
  PointMeasurer() = default;
  PointMeasurer(const PointMeasurer&) = delete;
  PointMeasurer& operator=(const PointMeasurer&) = delete;
  virtual ~PointMeasurer() = default;
  virtual PointResult measure(const Point& point, const RunOptions& options) = 0;
  [[nodiscard]] virtual bool context_lost() const = 0;
};
// Throws Error(machine) when there is no GPU of this index or UUID (empty = the first).
std::unique_ptr<PointMeasurer> open_gpu(const std::string& gpu);

// The vendor's host API: which of these Perfworks metrics a chip has, and the passes they take. Needs no GPU.
struct MetricPlan {
  std::string reason;                 // why nothing could be checked, with the remedy; empty when checked
  std::vector<std::string> refusals;  // one per metric, in order; empty text = accepted
  int passes = 0;                     // of the accepted ones
};
MetricPlan plan_metrics(const std::string& chip, const std::vector<std::string>& metrics);
std::vector<std::string> metric_chips();  // empty without CUPTI

// A library that is opened at run time: CUPTI, cuBLAS, the management library.
struct LibraryFound {
  std::string name;    // "CUPTI"
  std::string path;    // empty when not found
  std::string detail;  // version, or why it is not there
};
std::vector<LibraryFound> find_libraries();

}  // namespace gpuexp::cuda
