// Internal to profiler/report: one description per record serves both writing and strict reading of JSON.
//
// A record T has `template <class Archive, ...> void fields(Archive& a, T& record)` in json_records.h, which names each
// member once: a("requests", row.requests). JsonOut turns that into an object; JsonIn reads it back, and refuses a
// missing key, an unknown key and a wrong type with the JSON path.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "profiler/core/error.h"
#include "profiler/core/text.h"

namespace gpuexp::report_json {

using Json = nlohmann::ordered_json;

// Where a reader is: the file and the JSON path, for errors.
struct Place {
  std::string file;
  std::string path;
  bool newer = false;  // the file is of a newer schema version: keys that nobody knows are passed over

  [[nodiscard]] Place key(std::string_view name) const {
    return {file, path.empty() ? std::string(name) : path + '.' + std::string(name), newer};
  }
  [[nodiscard]] Place index(std::size_t i) const {
    return {file, path + '[' + number_text(std::uint64_t{i}) + ']', newer};
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::usage, file + ": " + (path.empty() ? std::string("the top level") : path) + ": " + what);
  }
};

// What a reader found, in words.
inline std::string describe(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  return std::string(json.type_name()) + " " + text;
}

class JsonOut;
class JsonIn;

// Records whose figures can be wrong by themselves, such as a time below 0, have a
// `void check_figures(const Place&, const T&)` that says which.
template <class T>
concept HasFigures = requires(const Place& place, const T& t) {
  check_figures(place, t);
};

// --- writing ---

template <class T>
Json encode(const T& value);

// A NaN or an infinity is not JSON: null, with the reason.
inline Json encode_real(double value) {
  if (std::isfinite(value)) return value;
  return {{"value", nullptr},
          {"reason", std::isnan(value) ? "not a number"
                     : value > 0       ? "infinite"
                                       : "negative infinite"}};
}

class JsonOut {
 public:
  static constexpr bool reading = false;
  template <class T>
  void operator()(const char* key, const T& value) {
    object_[key] = encode(value);
  }
  // Left out when empty.
  template <class T>
  void optional(const char* key, const T& value) {
    if (!value.empty()) object_[key] = encode(value);
  }
  // Absent from files of older versions.
  template <class T>
  void later(const char* key, const T& value) {
    (*this)(key, value);
  }
  Json& object() { return object_; }

 private:
  Json object_ = Json::object();
};

template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {};
template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};
template <class T>
struct is_map : std::false_type {};
template <class T>
struct is_map<std::map<std::string, T>> : std::true_type {};
// Types with a text or value of their own have `Json to_json_value(const T&)` and `void from_json_value(...)`.
template <class T>
concept HasOwnValue = requires(const T& t) {
  to_json_value(t);
};

template <class T>
Json encode(const T& value) {
  if constexpr (HasOwnValue<T>) {
    return to_json_value(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return encode_real(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (is_optional<T>::value) {
    return value ? encode(*value) : Json(nullptr);
  } else if constexpr (is_vector<T>::value) {
    Json array = Json::array();
    for (const auto& element : value) array.push_back(encode(element));
    return array;
  } else if constexpr (is_map<T>::value) {
    Json object = Json::object();
    for (const auto& [key, element] : value) object[key] = encode(element);
    return object;
  } else {
    JsonOut out;
    fields(out, const_cast<T&>(value));  // JsonOut only reads; one `fields` serves both directions
    return std::move(out.object());
  }
}

// --- reading ---

template <class T>
void decode(const Json& json, const Place& place, T& value);

class JsonIn {
 public:
  static constexpr bool reading = true;
  JsonIn(const Json& object, Place place) : object_(object), place_(std::move(place)) {
    if (!object.is_object()) place_.fail("must be an object, not " + describe(object));
  }
  template <class T>
  void operator()(const char* key, T& value) {
    const auto found = object_.find(key);
    if (found == object_.end()) place_.fail("the key '" + std::string(key) + "' is missing");
    known_.insert(key);
    decode(*found, place_.key(key), value);
  }
  template <class T>
  void optional(const char* key, T& value) {
    if (object_.contains(key)) (*this)(key, value);
  }
  template <class T>
  void later(const char* key, T& value) {
    optional(key, value);
  }
  void finish() const {
    if (place_.newer) return;
    for (const auto& [key, element] : object_.items())
      if (!known_.contains(key)) place_.fail("unknown key '" + key + "'");
  }
  [[nodiscard]] const Place& place() const { return place_; }

 private:
  const Json& object_;
  Place place_;
  std::set<std::string, std::less<>> known_;
};

template <class T>
void decode_integer(const Json& json, const Place& place, T& value) {
  if (!json.is_number_integer()) place.fail("must be an integer, not " + describe(json));
  if (json.is_number_unsigned()) {
    const auto wide = json.get<std::uint64_t>();
    if (std::in_range<T>(wide)) {
      value = static_cast<T>(wide);
      return;
    }
  } else if (const auto wide = json.get<std::int64_t>(); std::in_range<T>(wide)) {
    value = static_cast<T>(wide);
    return;
  }
  place.fail("is out of range: " + describe(json));
}

inline void decode_real(const Json& json, const Place& place, double& value) {
  if (json.is_number()) {
    value = json.get<double>();
    return;
  }
  if (json.is_object() && json.size() == 2 && json.contains("value") && json["value"].is_null() &&
      json.contains("reason")) {
    const Json& reason = json["reason"];
    value = reason == "not a number" ? std::numeric_limits<double>::quiet_NaN()
            : reason == "infinite"   ? std::numeric_limits<double>::infinity()
                                     : -std::numeric_limits<double>::infinity();
    return;
  }
  place.fail("must be a number, not " + describe(json));
}

template <class T>
void decode(const Json& json, const Place& place, T& value) {
  if constexpr (std::is_same_v<T, Json>) {
    value = json;
  } else if constexpr (HasOwnValue<T>) {
    from_json_value(json, place, value);
  } else if constexpr (std::is_same_v<T, double>) {
    decode_real(json, place, value);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) place.fail("must be true or false, not " + describe(json));
    value = json.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    decode_integer(json, place, value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) place.fail("must be a text, not " + describe(json));
    value = json.get<std::string>();
  } else if constexpr (is_optional<T>::value) {
    value.reset();
    if (!json.is_null()) decode(json, place, value.emplace());
  } else if constexpr (is_vector<T>::value) {
    if (!json.is_array()) place.fail("must be a list, not " + describe(json));
    value.clear();
    for (std::size_t i = 0; i < json.size(); ++i) decode(json[i], place.index(i), value.emplace_back());
  } else if constexpr (is_map<T>::value) {
    if (!json.is_object()) place.fail("must be an object, not " + describe(json));
    value.clear();
    for (const auto& [key, element] : json.items()) decode(element, place.key(key), value[key]);
  } else {
    JsonIn in(json, place);
    fields(in, value);
    in.finish();
    if constexpr (HasFigures<T>) check_figures(place, value);
  }
}

// Parses JSON text: one leading byte order mark is skipped, duplicate keys are refused. Throws Error(usage) with the
// file and the line and column.
Json parse_strict(std::string_view text, const std::string& file);

}  // namespace gpuexp::report_json
