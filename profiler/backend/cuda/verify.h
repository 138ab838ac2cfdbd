// Verification of outputs copied from the GPU against the float64 reference.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/problem.h"
#include "profiler/core/point.h"

namespace gpuexp::cuda {

// The bytes of one output or in-out buffer.
struct Output {
  std::size_t buffer = 0;  // index in Workload::buffers()
  std::span<const std::byte> bytes;
};

struct VerifyLimits {
  double most_terms = 2e9;            // reduction steps worth spending on checking every element
  std::int64_t samples = 512;         // elements checked exactly beside a whole check
  std::int64_t samples_alone = 8192;  // elements checked when the problem has no whole check
  int threads = 1;
};

// Every element when that is affordable; else the problem's whole check (Freivalds) and some exact elements, or
// elements alone; `scope` says which. An element passes when |got - expected| <= tolerance, so NaN fails.
Verification verify(const Workload& workload, const std::vector<Output>& outputs, const VerifyLimits& limits = {});

}  // namespace gpuexp::cuda
