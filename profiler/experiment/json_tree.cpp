// Builds the tree from the events of nlohmann's parser, which by itself would keep the last of two equal keys.
#include "profiler/experiment/json_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "profiler/core/error.h"

namespace gpuexp {
namespace {

struct Position {
  std::size_t line = 1, column = 1;
};

// `read` bytes had been read when the error was met; the last of them is the offending one.
Position position_of(std::string_view text, std::size_t read) {
  const std::string_view before = text.substr(0, std::min(text.size(), read > 0 ? read - 1 : 0));
  const std::size_t last_newline = before.rfind('\n');
  return {static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1,
          before.size() - (last_newline == std::string_view::npos ? 0 : last_newline + 1) + 1};
}

// nlohmann says "[json.exception.parse_error.101] parse error at line 1, column 2: <what is wrong>".
std::string reason_of(std::string_view message) {
  for (const std::string_view mark : {"column ", "] "}) {
    const std::size_t at = message.find(mark);
    if (at == std::string_view::npos) continue;
    const std::size_t colon = mark == "] " ? at : message.find(": ", at);
    if (colon == std::string_view::npos) continue;
    message = message.substr(colon + 2);
    break;
  }
  std::string text;
  for (const char c : message) {  // the message quotes the file, which may hold anything
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return text;
}

class TreeBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  JsonValue take() { return std::move(root_); }

  bool null() override { return add({}) != nullptr; }
  bool boolean(bool value) override {
    JsonValue v;
    v.kind = JsonValue::Kind::boolean;
    v.boolean = value;
    return add(std::move(v)) != nullptr;
  }
  bool number_integer(number_integer_t value) override {
    JsonValue v;
    v.kind = JsonValue::Kind::integer;
    v.integer = value;
    return add(std::move(v)) != nullptr;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= INT64_MAX) return number_integer(static_cast<number_integer_t>(value));
    JsonValue v;
    v.kind = JsonValue::Kind::big_integer;
    v.big_integer = value;
    return add(std::move(v)) != nullptr;
  }
  bool number_float(number_float_t value, const string_t& written) override {
    JsonValue v;
    v.kind = JsonValue::Kind::real;
    v.real = value;
    v.text = written;
    return add(std::move(v)) != nullptr;
  }
  bool string(string_t& value) override {
    JsonValue v;
    v.kind = JsonValue::Kind::string;
    v.text = std::move(value);
    return add(std::move(v)) != nullptr;
  }
  bool binary(binary_t&) override { return false; }  // no JSON text holds one

  bool start_object(std::size_t) override {
    open(JsonValue::Kind::object);
    keys_.emplace_back();
    return true;
  }
  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) {
      throw Error(ExitCode::usage,
                  fmt::format("{}: {}: duplicate key; each key may appear once", source_, json_path(path(), name)));
    }
    stack_.back()->members.push_back({std::move(name), {}});
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    return end_array();
  }
  bool start_array(std::size_t) override {
    open(JsonValue::Kind::array);
    return true;
  }
  bool end_array() override {
    stack_.pop_back();
    return true;
  }
  bool parse_error(std::size_t read, const std::string&, const nlohmann::detail::exception& error) override {
    const Position at = position_of(text_, read);
    throw Error(ExitCode::usage, fmt::format("{}:{}:{}: not valid JSON: {}", source_, at.line, at.column,
                                             text_.empty() ? "the file is empty" : reason_of(error.what())));
  }

 private:
  JsonValue* add(JsonValue value) {
    if (stack_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    JsonValue& parent = *stack_.back();
    if (parent.kind == JsonValue::Kind::array) {
      parent.items.push_back(std::move(value));
      return &parent.items.back();
    }
    parent.members.back().value = std::move(value);
    return &parent.members.back().value;
  }

  // Pointers on the stack stay valid: only the innermost open value grows.
  void open(JsonValue::Kind kind) {
    if (stack_.size() >= max_json_depth) {
      throw Error(ExitCode::usage,
                  fmt::format("{}: {}: nested deeper than {} levels", source_, path(), max_json_depth));
    }
    JsonValue value;
    value.kind = kind;
    stack_.push_back(add(std::move(value)));
  }

  [[nodiscard]] std::string path() const {
    std::string text;
    for (std::size_t i = 0; i < stack_.size(); ++i) {
      const JsonValue& value = *stack_[i];
      const bool innermost = i + 1 == stack_.size();
      if (value.kind == JsonValue::Kind::array) {
        if (!value.items.empty()) text = json_path(text, value.items.size() - (innermost ? 0 : 1));
      } else if (!innermost) {
        text = json_path(text, value.members.back().key);
      }
    }
    return text.empty() ? "/" : text;
  }

  std::string_view text_;
  const std::string& source_;
  JsonValue root_;
  std::vector<JsonValue*> stack_;
  std::vector<std::unordered_set<std::string>> keys_;  // of the open objects
};

}  // namespace

std::string describe(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::null:
      return "null";
    case JsonValue::Kind::boolean:
      return value.boolean ? "true" : "false";
    case JsonValue::Kind::integer:
      return fmt::format("the number {}", value.integer);
    case JsonValue::Kind::big_integer:
      return fmt::format("the number {}", value.big_integer);
    case JsonValue::Kind::real:
      return "the number " + value.text;
    case JsonValue::Kind::string:
      return fmt::format("the string \"{}\"", value.text);
    case JsonValue::Kind::array:
      return value.items.empty() ? "an empty list" : "a list";
    case JsonValue::Kind::object:
      return value.members.empty() ? "an empty object" : "an object";
  }
  return "?";
}

std::string json_path(std::string_view parent, std::string_view key) {
  std::string path(parent == "/" ? "" : parent);
  path += '/';
  for (const char c : key) {
    if (c == '~') {
      path += "~0";
    } else if (c == '/') {
      path += "~1";
    } else {
      path += c;
    }
  }
  return path;
}

std::string json_path(std::string_view parent, std::size_t index) { return json_path(parent, std::to_string(index)); }

std::string_view without_bom(std::string_view text) {
  constexpr std::string_view bom = "\xEF\xBB\xBF";
  return text.substr(0, bom.size()) == bom ? text.substr(bom.size()) : text;
}

JsonValue parse_json(std::string_view text, const std::string& source) {
  text = without_bom(text);
  if (text.size() > max_json_bytes) {
    throw Error(ExitCode::usage,
                fmt::format("{}: {} bytes; a file of at most {} bytes is read", source, text.size(), max_json_bytes));
  }
  if (without_bom(text).size() != text.size()) {  // the parser would pass over a second one too
    throw Error(ExitCode::usage, source + ":1:1: not valid JSON: a second byte order mark");
  }
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {  // where the parser would end
    throw Error(
        ExitCode::usage,
        fmt::format("{}:{}: not valid JSON: a zero byte at byte {}; save the file as UTF-8", source,
                    1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n'), nul + 1));
  }
  TreeBuilder builder(text, source);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) {
    throw Error(ExitCode::usage, source + ": not valid JSON");
  }
  return builder.take();
}

}  // namespace gpuexp
