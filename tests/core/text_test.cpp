// Numbers as text under any locale, and terminal widths.
#include "profiler/core/text.h"

#include <gtest/gtest.h>

#include <charconv>
#include <clocale>
#include <cmath>
#include <limits>
#include <locale>

namespace gpuexp {
namespace {

// A locale that writes 1.234,5.
struct CommaPunctuation : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(NumberText, IsShortestAndReadsBack) {
  EXPECT_EQ(number_text(0.25), "0.25");
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(1e22), "1e+22");
  EXPECT_EQ(number_text(-0.0), "-0");
  for (const double value : {1.0 / 3.0, 5e-324, std::numeric_limits<double>::max(), 123456.789, 2.0 / 3e-7}) {
    const std::string text = number_text(value);
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    EXPECT_EQ(back, value) << text;
  }
}

TEST(NumberText, IntegersAreExact) {
  EXPECT_EQ(number_text(std::uint64_t{18446744073709551615ULL}), "18446744073709551615");
  EXPECT_EQ(number_text(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
}

TEST(NumberText, IgnoresTheLocale) {
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new CommaPunctuation));
  EXPECT_EQ(number_text(86.5), "86.5");
  EXPECT_EQ(number_text(123456.789), "123456.789");
  EXPECT_EQ(number_text(std::int64_t{123456}), "123456");
  std::locale::global(before);
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("µs"), 2U);
  EXPECT_EQ(display_width("e\u0301"), 1U);     // combining accent
  EXPECT_EQ(display_width("行列"), 4U);        // wide
  EXPECT_EQ(display_width("\U0001F680"), 2U);  // emoji
  EXPECT_EQ(display_width("\xFFz"), 2U);       // not UTF-8: one column each
  EXPECT_EQ(display_width("\xE2\x82"), 2U);    // cut short
}

TEST(Shortened, NeverSplitsACharacter) {
  EXPECT_EQ(shortened("matmul", 6), "matmul");
  EXPECT_EQ(shortened("matmul/tiled", 8), "matmu...");
  EXPECT_EQ(shortened("行列行列", 6), "行...");
  EXPECT_EQ(shortened("matmul", 2), "..");
  EXPECT_EQ(shortened("matmul", 0), "");
}

TEST(HoldsControl, OfWhatSteersATerminalAlone) {
  for (const char* text : {"\x1b[31m", "a\x07", "\x7f", "a\bb"}) EXPECT_TRUE(holds_control(text));
  for (const char* text : {"", "matmul/tiled TILE=16", "two\r\n\tlines", "行列 µs"}) EXPECT_FALSE(holds_control(text));
}

}  // namespace
}  // namespace gpuexp
