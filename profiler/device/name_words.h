// How device and precision names are compared: letters and digits only, whatever the case.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuexp {

// "A100-PCIe 80GB" -> "a100pcie80gb".
std::string squeezed(std::string_view name);
// "A100-PCIe 80GB" -> {"a100", "pcie", "80gb"}.
std::vector<std::string> name_words(std::string_view name);

}  // namespace gpuexp
