// Files compiled into the binary (cmake/Embed.cmake): the device specs, the shipped experiments, access
// patterns and matrices.
#pragma once

#include <span>
#include <string_view>

namespace gpuexp {

struct EmbeddedFile {
  std::string_view name;  // file name without extension: "tile_sweep"
  std::string_view text;
};

// Sorted by name.
std::span<const EmbeddedFile> embedded_devices();      // configs/devices/*.json
std::span<const EmbeddedFile> embedded_experiments();  // configs/*.json
std::span<const EmbeddedFile> embedded_patterns();     // configs/patterns/*.csv
std::span<const EmbeddedFile> embedded_matrices();     // configs/matrices/*.mtx

}  // namespace gpuexp
