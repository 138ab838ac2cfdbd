// Quantities: their sources as words, and the rule that a NaN or an infinity is never reported as a number.
#include "profiler/core/quantity.h"

#include <array>
#include <cmath>

namespace gpuexp {
namespace {

constexpr std::array<std::string_view, 4> source_words{"measured", "emulated", "modelled", "spec"};  // in enum order

}  // namespace

std::string_view to_text(Source source) { return source_words[static_cast<std::size_t>(source)]; }

std::optional<Source> source_from_text(std::string_view text) {
  for (std::size_t i = 0; i < source_words.size(); ++i)
    if (source_words[i] == text) return static_cast<Source>(i);
  return std::nullopt;
}

Quantity Quantity::real(double v, Source s) {
  if (std::isnan(v)) return null("the value is not a number", s);
  if (std::isinf(v)) return null("the value is infinite", s);
  return {v, s, {}, false, 0.0};
}

std::optional<double> Quantity::number() const {
  if (const auto* count = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*count);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

std::optional<std::uint64_t> Quantity::exact() const {
  if (const auto* count = std::get_if<std::uint64_t>(&value)) return *count;
  return std::nullopt;
}

}  // namespace gpuexp
