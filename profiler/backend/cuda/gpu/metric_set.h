// A set of Perfworks metrics on one chip: which of them the chip has, what to program, and values by name afterwards.
// The host side of counting: CUPTI's tables, no GPU, no driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "profiler/backend/cuda/gpu/cupti.h"

namespace gpuexp::cuda {

class MetricSet {
 public:
  // Perfworks names, or quotients of two, "A / B". What the chip does not have is left out; refusals() tells.
  // `availability` is the GPU's own image, empty without a GPU. Throws CuptiFailure when CUPTI does not know the chip.
  MetricSet(std::string chip, const std::vector<std::string>& metrics, std::vector<std::uint8_t> availability = {});

  [[nodiscard]] const std::vector<std::string>& refusals() const { return refusals_; }  // one per metric; "" = accepted
  [[nodiscard]] const std::vector<const char*>& names() const { return names_; }        // Perfworks names to be counted
  [[nodiscard]] std::size_t passes() const { return passes_; }
  [[nodiscard]] std::span<const std::uint8_t> config() const { return config_; }  // what the GPU is programmed with
  // Values of the accepted metrics in the first range of a decoded counter image; not finite: a quotient by 0.
  [[nodiscard]] std::map<std::string, double> values(std::span<const std::uint8_t> counter_image) const;

 private:
  struct CloseHost {
    void operator()(CUpti_Profiler_Host_Object* host) const;
  };
  using Host = std::unique_ptr<CUpti_Profiler_Host_Object, CloseHost>;
  [[nodiscard]] Host open_host() const;

  std::string chip_;
  std::vector<std::uint8_t> availability_;
  std::vector<std::string> metrics_, refusals_;
  std::set<std::string, std::less<>> counted_;  // names that the accepted metrics are made of
  std::vector<const char*> names_;              // the same
  Host host_;
  std::vector<std::uint8_t> config_;
  std::size_t passes_ = 0;
};

}  // namespace gpuexp::cuda
