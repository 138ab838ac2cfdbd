// What the engine's tests run kernels with: a problem whose buffers and right answers each test gives itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/problem.h"
#include "profiler/backend/backend.h"
#include "profiler/core/point.h"

namespace gpuexp::test {

constexpr Schedule kSchedules[] = {Schedule::forward, Schedule::reverse, Schedule::random};

struct Lab {
  std::vector<BufferSpec> buffers;
  std::function<double(std::size_t, std::int64_t)> input = [](std::size_t, std::int64_t) { return 0.0; };
  // Empty: nothing is verified.
  std::function<double(std::size_t, std::int64_t)> expected;
};

// Runs variant "engine/<kernel>" in the lab. `params` are added to the defaults.
PointResult run(const std::string& kernel, Lab lab, const ParamSet& params = {}, const RunOptions& options = {});

// Shorthand: in and out float32 of n elements, in[i] = i, and out's right values.
Lab floats(std::int64_t n, std::function<double(std::int64_t)> expected = {});
ParamSet with(std::initializer_list<std::pair<const char*, std::int64_t>> values);

std::uint64_t counter(const PointResult& result, const std::string& id);
// Requests of all rows of a line that matches op and space.
const SiteRow* find_site(const PointResult& result, const std::string& buffer, const std::string& op);
const Finding* find_finding(const PointResult& result, const std::string& kind);
// 1-based line of the first line of tests/simt/kernels/<file> that contains `text`.
int line_of(const std::string& file, const std::string& text);

}  // namespace gpuexp::test
