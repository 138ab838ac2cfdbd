// The simt backend: runs points on the CPU, thread by thread, and counts what each warp asks of memory.
#pragma once

#include <memory>

#include "profiler/backend/backend.h"

namespace gpuexp {

class SimtBackend final : public Backend {
 public:
  SimtBackend();
  ~SimtBackend() override;

  [[nodiscard]] std::string_view name() const override { return "simt"; }
  [[nodiscard]] std::string_view description() const override;
  [[nodiscard]] Availability availability() const override;
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment() const override;
  PointResult run(const Point& point, const RunOptions& options) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::unique_ptr<Backend> make_simt_backend();

}  // namespace gpuexp
