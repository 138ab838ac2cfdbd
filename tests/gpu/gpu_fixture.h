// What the GPU tests share: one backend for all, and a skip with the reason where there is no GPU.
#pragma once

#include <gtest/gtest.h>

#include <atomic>

#include <memory>
#include <string>

#include "profiler/backend/backend.h"
#include "profiler/backend/cuda/cuda_backend.h"
#include "profiler/backend/simt/simt_backend.h"
#include "profiler/registry/registry.h"

namespace gpuexp {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    const Availability availability = backend().availability();
    if (!availability.available) GTEST_SKIP() << availability.reason << "; " << availability.remedy;
  }

  static Backend& backend() {
    static const std::unique_ptr<Backend> one = make_cuda_backend(make_simt_backend());
    return *one;
  }

  // A point of `variant` with these parameters, the rest by default.
  static Point point(const std::string& variant, const ParamSet& given = {}) {
    Point p;
    p.variant = variant;
    p.params = complete_params(*find_variant(variant), given);
    return p;
  }

  static ParamSet with(const std::string& name, std::int64_t value) {
    ParamSet params;
    params.set(name, value);
    return params;
  }

  // Few samples: for tests that are not about time.
  static RunOptions quick() {
    RunOptions options;
    options.max_time_s = 0.002;
    options.min_samples = 1;
    return options;
  }
};

}  // namespace gpuexp
