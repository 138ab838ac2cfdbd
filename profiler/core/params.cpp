// Parameter sets: lookup by name with errors that name the parameter, and their text.
#include "profiler/core/params.h"

#include "profiler/core/error.h"
#include "profiler/core/text.h"

namespace gpuexp {
namespace {

const char* kind_of(const ParamValue& value) {
  return std::holds_alternative<std::int64_t>(value) ? "an integer"
         : std::holds_alternative<double>(value)     ? "a real number"
                                                     : "a word";
}

const ParamValue& required(const ParamSet& params, std::string_view name) {
  if (const ParamValue* value = params.find(name)) return *value;
  throw Error(ExitCode::usage, "parameter '" + std::string(name) + "' is missing (given: " +
                                   (params.empty() ? std::string("none") : params.to_text()) + ")");
}

[[noreturn]] void wrong_kind(std::string_view name, const ParamValue& value, const char* wanted) {
  throw Error(ExitCode::usage, "parameter '" + std::string(name) + "' must be " + wanted + "; '" + to_text(value) +
                                   "' is " + kind_of(value));
}

}  // namespace

std::string to_text(const ParamValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return number_text(*integer);
  if (const auto* real = std::get_if<double>(&value)) return number_text(*real);
  return std::get<std::string>(value);
}

const ParamValue* ParamSet::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

std::int64_t ParamSet::integer(std::string_view name) const {
  const ParamValue& value = required(*this, name);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  wrong_kind(name, value, "an integer");
}

double ParamSet::real(std::string_view name) const {
  const ParamValue& value = required(*this, name);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  wrong_kind(name, value, "a number");
}

const std::string& ParamSet::word(std::string_view name) const {
  const ParamValue& value = required(*this, name);
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  wrong_kind(name, value, "a word");
}

std::string ParamSet::to_text() const {
  std::string text;
  for (const auto& [name, value] : values_) {
    if (!text.empty()) text += ' ';
    text += name;
    text += '=';
    text += gpuexp::to_text(value);
  }
  return text;
}

}  // namespace gpuexp
