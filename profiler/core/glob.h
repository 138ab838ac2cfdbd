// Globs over variant names and parameter values: '*' is any run of characters ('/' too), '?' any one character.
#pragma once

#include <string_view>

namespace gpuexp {

// Whether the text is a glob rather than an exact name.
bool is_glob(std::string_view text);

// Whether the whole of `text` matches. Linear memory, at worst O(|glob| * |text|) time.
bool glob_matches(std::string_view glob, std::string_view text);

}  // namespace gpuexp
