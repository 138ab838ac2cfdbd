// Compares what an emulated run left in the output buffers with the problem's reference.
#pragma once

#include "profiler/backend/simt/device_memory.h"
#include "profiler/backend/simt/worker_pool.h"
#include "profiler/core/point.h"

namespace gpuexp::simt {

struct VerifyLimits {
  std::uint64_t elements = std::uint64_t{1} << 20U;
  std::uint64_t terms = std::uint64_t{1} << 24U;  // of reductions, over all checked elements
};

// Checks elements of all out and inout buffers with !(error <= tolerance), so that NaN fails. When the run was sampled,
// only elements that a kernel wrote; otherwise all, an unwritten one being wrong. Beyond the limits a fixed, spread
// subset. `should_stop` ends it early, as not_run.
Verification verify(const Workload& workload, const DeviceMemory& memory, std::int64_t blocks_run,
                    std::int64_t blocks_total, WorkerPool& pool, int threads, const VerifyLimits& limits,
                    const std::function<bool()>& should_stop);

}  // namespace gpuexp::simt
