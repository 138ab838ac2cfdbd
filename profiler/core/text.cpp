// Locale-proof number text and terminal widths of UTF-8.
#include "profiler/core/text.h"

#include <array>
#include <charconv>

namespace gpuexp {
namespace {

template <class T>
std::string through_chars(T value) {
  std::array<char, 40> buffer;  // the longest shortest-form double has 24 characters, the longest integer 20
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

struct Range {
  char32_t first, last;
};

// Combining marks, joiners and variation selectors.
constexpr std::array<Range, 8> zero_width{{{0x0300, 0x036F},
                                           {0x1AB0, 0x1AFF},
                                           {0x1DC0, 0x1DFF},
                                           {0x200B, 0x200F},
                                           {0x20D0, 0x20FF},
                                           {0xFE00, 0xFE0F},
                                           {0xFE20, 0xFE2F},
                                           {0xFEFF, 0xFEFF}}};
// East Asian wide and fullwidth blocks, and the emoji blocks (Unicode TR 11, by block).
constexpr std::array<Range, 10> double_width{{{0x1100, 0x115F},
                                              {0x2E80, 0x303E},
                                              {0x3041, 0xA4CF},
                                              {0xA960, 0xA97F},
                                              {0xAC00, 0xD7A3},
                                              {0xF900, 0xFAFF},
                                              {0xFE30, 0xFE6F},
                                              {0xFF00, 0xFF60},
                                              {0x1F300, 0x1FAFF},
                                              {0x20000, 0x3FFFD}}};

template <std::size_t N>
bool within(const std::array<Range, N>& ranges, char32_t c) {
  for (const Range& range : ranges)
    if (c >= range.first && c <= range.last) return true;
  return false;
}

// Length of the UTF-8 sequence at `at` and its code point; length 1 and a replacement character when it is malformed.
std::size_t decode(std::string_view text, std::size_t at, char32_t& code) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  const std::size_t length = lead < 0x80           ? 1
                             : (lead >> 5) == 0x6  ? 2
                             : (lead >> 4) == 0xE  ? 3
                             : (lead >> 3) == 0x1E ? 4
                                                   : 0;
  code = 0xFFFD;
  if (length == 0 || at + length > text.size()) return 1;
  char32_t value = length == 1 ? lead : static_cast<char32_t>(lead & (0xFF >> (length + 1)));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 1;
    value = (value << 6) | (byte(at + i) & 0x3F);
  }
  code = value;
  return length;
}

std::size_t width_of(char32_t code) {
  if (code < 0x20 || within(zero_width, code)) return 0;
  return within(double_width, code) ? 2 : 1;
}

}  // namespace

std::string number_text(double value) { return through_chars(value); }
std::string number_text(std::int64_t value) { return through_chars(value); }
std::string number_text(std::uint64_t value) { return through_chars(value); }

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    char32_t code = 0;
    at += decode(text, at, code);
    width += width_of(code);
  }
  return width;
}

std::string shortened(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  const std::string_view mark = std::string_view("...").substr(0, columns);
  std::size_t width = mark.size(), at = 0;
  while (at < text.size()) {
    char32_t code = 0;
    const std::size_t length = decode(text, at, code);
    if (width + width_of(code) > columns) break;
    width += width_of(code);
    at += length;
  }
  return std::string(text.substr(0, at)) + std::string(mark);
}

bool holds_control(std::string_view text) {
  bool found = false;  // to the end, without a way out: then the compiler takes many characters at once
  for (const char c : text)
    found |= (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\r' && c != '\t') || c == 0x7f;
  return found;
}

}  // namespace gpuexp
