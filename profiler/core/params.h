// Parameter values and sets: the named values that fix a point (TILE=16, n=1024, dtype=float32).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace gpuexp {

// A parameter is an integer, a real number or a word. JSON booleans are not parameters.
using ParamValue = std::variant<std::int64_t, double, std::string>;

// Text as in reports and keys: integers exact, reals shortest round-trip, words as they are. Locale-proof.
std::string to_text(const ParamValue& value);

// Ordered by name, so that a point's key does not depend on the order in which a configuration listed its axes.
class ParamSet {
 public:
  using Map = std::map<std::string, ParamValue, std::less<>>;

  void set(std::string name, ParamValue value) { values_.insert_or_assign(std::move(name), std::move(value)); }
  [[nodiscard]] const ParamValue* find(std::string_view name) const;
  // Throw Error(usage) naming the parameter when it is missing or of another kind.
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double real(std::string_view name) const;  // an integer is accepted
  [[nodiscard]] const std::string& word(std::string_view name) const;

  [[nodiscard]] const Map& values() const { return values_; }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  // "TILE=16 n=1024": by name, separated by one space.
  [[nodiscard]] std::string to_text() const;

  friend bool operator==(const ParamSet&, const ParamSet&) = default;

 private:
  Map values_;
};

// What a problem or variant says of one of its parameters.
struct ParamSpec {
  std::string name;
  std::string meaning;                       // one phrase, for `gpuexp list parameters`
  ParamValue default_value;                  // ignored when default_from is set
  std::string default_from;                  // name of another parameter whose value is the default ("" = none)
  std::int64_t min = 0;                      // integers only; inclusive
  std::int64_t max = INT64_MAX;              // integers only; inclusive
  std::map<std::string, std::string> words;  // accepted words -> meaning; empty = any word
};

}  // namespace gpuexp
