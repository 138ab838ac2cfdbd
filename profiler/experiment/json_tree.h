// Strict JSON for files that people write: keeps the order of keys, refuses duplicate keys, names line and column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuexp {

// Nesting and size beyond which a file is refused: no experiment comes near, and memory stays bounded.
inline constexpr std::size_t max_json_depth = 32;
inline constexpr std::size_t max_json_bytes = 4u << 20;

struct JsonMember;

struct JsonValue {
  enum class Kind { null, boolean, integer, big_integer, real, string, array, object };
  Kind kind = Kind::null;
  bool boolean = false;
  std::int64_t integer = 0;       // Kind::integer
  std::uint64_t big_integer = 0;  // Kind::big_integer: above 2^63 - 1
  double real = 0;
  std::string text;  // of a string; of a real, as it was written
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;  // in file order, keys unique
};

struct JsonMember {
  std::string key;
  JsonValue value;
};

// "an object", "the string \"a\"", "the number 3": for messages of the kind "expected ..., not ...".
std::string describe(const JsonValue& value);

// Path of a member or an element, as a JSON Pointer (RFC 6901).
std::string json_path(std::string_view parent, std::string_view key);
std::string json_path(std::string_view parent, std::size_t index);

// Parses a whole document. One leading UTF-8 byte order mark and CRLF line ends are accepted. Throws Error(usage):
// "<source>:<line>:<column>: <what is wrong>" for syntax (columns count bytes from 1), "<source>: <JSON path>: ..." for
// duplicate keys and too deep nesting.
JsonValue parse_json(std::string_view text, const std::string& source);

// The text without a leading byte order mark.
std::string_view without_bom(std::string_view text);

}  // namespace gpuexp
