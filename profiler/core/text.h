// Numbers and words as text, the same under every locale: what reports, keys and result files are written with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpuexp {

// Shortest decimal text that reads back as the same double ("0.25", "1e-07"); "nan", "inf", "-inf" otherwise.
std::string number_text(double value);
std::string number_text(std::int64_t value);
std::string number_text(std::uint64_t value);

// Columns that UTF-8 text takes on a terminal: combining marks take none, East Asian wide characters and emoji two.
// A byte that is not part of valid UTF-8 counts as one column.
std::size_t display_width(std::string_view text);

// Whether the text holds a control character, which could steer the terminal that it is printed on. Line ends and tabs,
// which texts of several lines have, are none here.
bool holds_control(std::string_view text);

// At most `columns` columns of `text`; what was cut off ends in "...". Characters are never split.
std::string shortened(std::string_view text, std::size_t columns);

}  // namespace gpuexp
