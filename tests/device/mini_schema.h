// A JSON Schema checker for tests: the part of draft 2020-12 that the published schemas use. A keyword it does not know
// is an error of the schema, so that nothing is ever taken as checked that was not.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace gpuexp::testing {

class MiniSchema {
 public:
  explicit MiniSchema(nlohmann::json schema) : root_(std::move(schema)) {}

  // Problems as "path: what"; empty when the document is valid.
  std::vector<std::string> check(const nlohmann::json& document) const {
    std::vector<std::string> problems;
    check(root_, document, "$", problems);
    return problems;
  }

 private:
  using Json = nlohmann::json;

  const Json& resolved(const std::string& reference) const {
    return root_.at(Json::json_pointer(reference.substr(1)));  // "#/$defs/number"
  }

  static bool has_type(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "number") return value.is_number();
    if (type == "integer") return value.is_number_integer();
    if (type == "boolean") return value.is_boolean();
    return false;
  }

  void check(const Json& schema, const Json& value, const std::string& path, std::vector<std::string>& problems) const {
    static const std::set<std::string> known{
        "$schema",      "title",   "description", "$defs",     "$ref",    "type",  "enum", "properties",
        "required",     "minimum", "maximum",     "minLength", "pattern", "items", "$id",  "additionalProperties",
        "minProperties"};
    const auto problem = [&](const std::string& what) { problems.push_back(path + ": " + what); };
    for (const auto& [keyword, unused] : schema.items())
      if (!known.contains(keyword)) problem("schema keyword " + keyword + " is not known to the test");
    if (schema.contains("$ref")) check(resolved(schema["$ref"]), value, path, problems);
    if (schema.contains("type") && !has_type(value, schema["type"])) return problem("is not " + schema["type"].dump());
    if (schema.contains("enum") && std::count(schema["enum"].begin(), schema["enum"].end(), value) == 0)
      problem("is none of " + schema["enum"].dump());
    if (value.is_number()) {
      if (schema.contains("minimum") && value < schema["minimum"]) problem("is too small");
      if (schema.contains("maximum") && value > schema["maximum"]) problem("is too large");
    }
    if (value.is_string()) check_string(schema, value.get<std::string>(), problem);
    if (value.is_array() && schema.contains("items"))
      for (std::size_t i = 0; i < value.size(); ++i)
        check(schema["items"], value[i], fmt::format("{}[{}]", path, i), problems);
    if (value.is_object()) check_object(schema, value, path, problems);
  }

  template <class Problem>
  static void check_string(const Json& schema, const std::string& value, Problem&& problem) {
    if (schema.contains("minLength") && value.size() < schema["minLength"].get<std::size_t>()) problem("is too short");
    if (schema.contains("pattern") && !std::regex_search(value, std::regex(schema["pattern"].get<std::string>())))
      problem("does not match " + schema["pattern"].dump());
  }

  void check_object(const Json& schema, const Json& value, const std::string& path,
                    std::vector<std::string>& problems) const {
    static const Json none = Json::object();
    const Json& properties = schema.contains("properties") ? schema["properties"] : none;
    if (schema.contains("required"))
      for (const auto& name : schema["required"])
        if (!value.contains(name.get<std::string>())) problems.push_back(path + ": lacks " + name.dump());
    if (schema.contains("minProperties") && value.size() < schema["minProperties"].get<std::size_t>())
      problems.push_back(path + ": has too few members");
    for (const auto& [key, member] : value.items()) {
      const std::string inner = path + "." + key;
      if (properties.contains(key)) {
        check(properties[key], member, inner, problems);
      } else if (schema.contains("additionalProperties")) {
        const Json& additional = schema["additionalProperties"];
        if (additional.is_object()) check(additional, member, inner, problems);
        if (additional.is_boolean() && !additional.get<bool>()) problems.push_back(inner + ": unknown key");
      }
    }
  }

  Json root_;
};

}  // namespace gpuexp::testing
