// What every harness shares. A harness gives arbitrary bytes to one reader and holds it to two things: it accepts or it
// refuses with an Error(usage) that says something; and what it accepted holds together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "profiler/core/error.h"

namespace gpuexp::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// False when `read` refused. Anything else that it throws is a finding.
template <class Read>
bool accepted(Read&& read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    require(error.code() == ExitCode::usage && error.what()[0] != '\0');
    return false;
  }
}

}  // namespace gpuexp::fuzz
