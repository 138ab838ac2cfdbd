// A reported number: its value or the reason it could not be had, and where it came from (the truth rule).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace gpuexp {

// Where a number came from. Nothing emulated or modelled is ever printed under a heading that reads as measured.
enum class Source {
  measured,  // CUDA events, CUPTI
  emulated,  // the simt backend
  modelled,  // arithmetic on a device spec or on the problem's sizes
  spec,      // a datasheet
};
std::string_view to_text(Source source);
std::optional<Source> source_from_text(std::string_view text);

// Counts are exact 64-bit integers; everything else is a double. A null has a reason, always.
struct Quantity {
  std::variant<std::monostate, std::uint64_t, double> value;
  Source source = Source::modelled;
  std::string reason;           // why it is null; empty when there is a value
  bool estimated = false;       // from a sample of blocks whose counts differed
  double standard_error = 0.0;  // of the estimate, in the unit of the value; 0 when exact

  static Quantity count(std::uint64_t v, Source s) { return {v, s, {}, false, 0.0}; }
  static Quantity real(double v, Source s);  // a NaN or infinity becomes null with a reason
  static Quantity null(std::string why, Source s) { return {std::monostate{}, s, std::move(why), false, 0.0}; }

  [[nodiscard]] bool has_value() const { return value.index() != 0; }
  [[nodiscard]] std::optional<double> number() const;        // as double, for arithmetic
  [[nodiscard]] std::optional<std::uint64_t> exact() const;  // only when it is a count
};

}  // namespace gpuexp
