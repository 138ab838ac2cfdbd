// Amounts as reports print them: FLOP/s with a fitting prefix, GB/s with thousands, intensities in few digits.
#pragma once

#include <string>
#include <string_view>

namespace gpuexp {

std::string rate_text(double per_second, std::string_view unit);  // (483.75e9, "FLOP/s") -> "483.75 GFLOP/s"
std::string bandwidth_text(double bytes_per_second);              // 1.935e12 -> "1,935 GB/s"
std::string intensity_text(double flop_per_byte);                 // 10.0775 -> "10.08", 0.0833 -> "0.083"
std::string percent_text(double percent);                         // 2.4808 -> "2.48 %", 79.4 -> "79.4 %"

// `text` broken at spaces to lines of at most `columns`, each indented and ended by a newline.
std::string wrapped_text(std::string_view text, std::string_view indent, std::size_t columns = 100);

}  // namespace gpuexp
