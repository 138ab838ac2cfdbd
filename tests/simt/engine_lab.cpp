// The problem "engine", and how its points are run.
#include "tests/simt/engine_lab.h"

#include <gtest/gtest.h>

#include <fstream>
#include <utility>

#include "profiler/backend/simt/simt_backend.h"
#include "profiler/core/error.h"
#include "profiler/registry/registry.h"

namespace gpuexp::test {
namespace {

Lab& current() {
  static Lab lab;
  return lab;
}

class LabWorkload final : public Workload {
 public:
  explicit LabWorkload(Lab lab) : lab_(std::move(lab)) {}
  [[nodiscard]] const std::vector<BufferSpec>& buffers() const override { return lab_.buffers; }
  [[nodiscard]] double flops() const override { return 0; }
  [[nodiscard]] double input(std::size_t buffer, std::int64_t i) const override { return lab_.input(buffer, i); }
  [[nodiscard]] Expected expected(std::size_t buffer, std::int64_t i) const override {
    const double value = lab_.expected ? lab_.expected(buffer, i) : 0.0;
    return {value, std::abs(value), 1};
  }

 private:
  Lab lab_;
};

class LabProblem final : public Problem {
 public:
  [[nodiscard]] std::string_view name() const override { return "engine"; }
  [[nodiscard]] std::string_view description() const override { return "test problem of the emulator"; }
  [[nodiscard]] std::vector<ParamSpec> params() const override {
    return {{"n", "elements", std::int64_t{1024}, "", 0, INT64_MAX, {}}};
  }
  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet& /*params*/, std::uint64_t /*seed*/) const override {
    return std::make_unique<LabWorkload>(current());
  }
};

const RegisterProblem<LabProblem> registered;

}  // namespace

PointResult run(const std::string& kernel, Lab lab, const ParamSet& params, const RunOptions& options) {
  static SimtBackend backend;
  const Variant* variant = find_variant("engine/" + kernel);
  if (variant == nullptr) throw Error(ExitCode::usage, "no test kernel " + kernel);
  RunOptions used = options;
  used.verify = options.verify && lab.expected != nullptr;
  current() = std::move(lab);
  Point point;
  point.variant = variant->name;
  point.params = complete_params(*variant, params);
  return backend.run(point, used);
}

Lab floats(std::int64_t n, std::function<double(std::int64_t)> expected) {
  Lab lab;
  lab.buffers = {{"in", DType::float32, n, Role::in}, {"out", DType::float32, n, Role::out}};
  lab.input = [](std::size_t, std::int64_t i) { return static_cast<double>(i % 1000003); };
  if (expected) lab.expected = [expected = std::move(expected)](std::size_t, std::int64_t i) { return expected(i); };
  return lab;
}

ParamSet with(std::initializer_list<std::pair<const char*, std::int64_t>> values) {
  ParamSet params;
  for (const auto& [name, value] : values) params.set(name, value);
  return params;
}

std::uint64_t counter(const PointResult& result, const std::string& id) {
  const auto at = result.counters.find(id);
  if (at == result.counters.end()) {
    ADD_FAILURE() << "no counter " << id;
    return 0;
  }
  return at->second.exact().value_or(UINT64_MAX);
}

const SiteRow* find_site(const PointResult& result, const std::string& buffer, const std::string& op) {
  for (const SiteRow& row : result.sites) {
    if (row.buffer == buffer && row.op == op) return &row;
  }
  return nullptr;
}

const Finding* find_finding(const PointResult& result, const std::string& kind) {
  for (const Finding& finding : result.findings) {
    if (finding.kind == kind) return &finding;
  }
  return nullptr;
}

int line_of(const std::string& file, const std::string& text) {
  std::ifstream stream(std::string(GPUEXP_SOURCE_DIR) + "/tests/simt/kernels/" + file);
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    if (line.find(text) != std::string::npos) return number;
  }
  ADD_FAILURE() << file << " has no line with " << text;
  return 0;
}

}  // namespace gpuexp::test
