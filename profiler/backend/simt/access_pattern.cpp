// Reading access patterns from CSV and asking the memory model about them.
#include "profiler/backend/simt/access_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "profiler/core/error.h"
#include "profiler/core/nearest.h"
#include "profiler/core/read_file.h"

namespace gpuexp::simt {
namespace {

[[noreturn]] void refuse(std::string_view file, std::size_t line, const std::string& message) {
  throw Error(ExitCode::usage, fmt::format("{}:{}: {}", file, line, message));
}

struct Record {
  std::vector<std::string> fields;
  std::size_t line = 0;  // on which it begins
};

// RFC 4180, with lone line feeds accepted as line ends.
class CsvReader {
 public:
  CsvReader(std::string_view text, std::string_view file) : text_(text), file_(file) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text_.starts_with(byte_order_mark)) text_.remove_prefix(byte_order_mark.size());
  }

  // The next record that is not a blank line, or nullopt at the end.
  std::optional<Record> next() {
    while (!text_.empty()) {
      Record record{{}, line_};
      bool more = true;
      while (more) {
        record.fields.push_back(field());
        more = separator();
      }
      const bool blank = record.fields.size() == 1 && record.fields.front().empty();
      if (!blank) return record;
    }
    return std::nullopt;
  }

 private:
  std::string field() { return text_.starts_with('"') ? quoted() : plain(); }

  std::string plain() {
    const std::size_t end = std::min(text_.find_first_of(",\"\r\n"), text_.size());
    if (text_.substr(end).starts_with('"'))
      refuse(file_, line_, "a quote within an unquoted field; quote the whole field");
    std::string value(text_.substr(0, end));
    text_.remove_prefix(end);
    return value;
  }

  std::string quoted() {
    const std::size_t opened = line_;
    std::string value;
    text_.remove_prefix(1);
    while (true) {
      const std::size_t quote = text_.find('"');
      if (quote == std::string_view::npos) refuse(file_, opened, "a quoted field is not closed");
      const std::string_view part = text_.substr(0, quote);
      for (const char c : part) line_ += c == '\n';
      value += part;
      text_.remove_prefix(quote + 1);
      if (!text_.starts_with('"')) return value;
      value += '"';
      text_.remove_prefix(1);
    }
  }

  // Consumes what follows a field; true for a comma.
  bool separator() {
    if (text_.empty()) return false;
    if (text_.starts_with(',')) {
      text_.remove_prefix(1);
      return true;
    }
    const std::size_t length = text_.starts_with("\r\n") ? 2 : 1;
    if (length == 1 && !text_.starts_with('\n') && !text_.starts_with('\r'))
      refuse(file_, line_, "text after the closing quote of a field");
    text_.remove_prefix(length);
    ++line_;
    return false;
  }

  std::string_view text_;
  std::string_view file_;
  std::size_t line_ = 1;
};

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::optional<std::uint64_t> to_integer(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value, hexadecimal ? 16 : 10);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  return value;
}

enum class Column { name, width, space, op, offsets, mask, requests, sectors, wavefronts, conflicts };

struct ColumnSpec {
  Column column;
  std::string_view name;
  bool required;
};
constexpr std::array kColumns{
    ColumnSpec{Column::name, "name", true},
    ColumnSpec{Column::width, "width_bytes", true},
    ColumnSpec{Column::space, "space", true},
    ColumnSpec{Column::op, "op", true},
    ColumnSpec{Column::offsets, "byte_offset_per_lane", true},
    ColumnSpec{Column::mask, "active_mask", true},
    ColumnSpec{Column::requests, "requests", false},
    ColumnSpec{Column::sectors, "sectors", false},
    ColumnSpec{Column::wavefronts, "wavefronts", false},
    ColumnSpec{Column::conflicts, "bank_conflicts", false},
};

const ColumnSpec* find_column(std::string_view name) {
  for (const ColumnSpec& spec : kColumns)
    if (spec.name == name) return &spec;
  return nullptr;
}

// Which field of a record holds which column.
class Header {
 public:
  Header(const Record& record, std::string_view file) : fields_(record.fields.size()) {
    std::vector<std::string> accepted;
    for (const ColumnSpec& spec : kColumns) accepted.emplace_back(spec.name);
    for (std::size_t i = 0; i < record.fields.size(); ++i) {
      const std::string_view name = trim(record.fields[i]);
      const ColumnSpec* spec = find_column(name);
      if (spec == nullptr)
        refuse(file, record.line,
               fmt::format("unknown column '{}'; columns are {}{}", name, list_names(accepted),
                           did_you_mean(std::string(name), accepted)));
      std::optional<std::size_t>& index = index_[static_cast<std::size_t>(spec->column)];
      if (index) refuse(file, record.line, fmt::format("column {} appears twice", name));
      index = i;
    }
    for (const ColumnSpec& spec : kColumns)
      if (spec.required && !index_[static_cast<std::size_t>(spec.column)])
        refuse(
            file, record.line,
            fmt::format(
                "column {} is missing; required are name, width_bytes, space, op, byte_offset_per_lane and active_mask",
                spec.name));
  }

  [[nodiscard]] std::size_t fields() const { return fields_; }
  // The cell, without blanks around it; empty when the file has no such column.
  [[nodiscard]] std::string_view cell(const Record& record, Column column) const {
    const std::optional<std::size_t>& index = index_[static_cast<std::size_t>(column)];
    return index ? trim(record.fields[*index]) : std::string_view{};
  }

 private:
  std::size_t fields_;
  std::array<std::optional<std::size_t>, kColumns.size()> index_;
};

// One row to one pattern.
class RowParser {
 public:
  RowParser(const Header& header, const Record& record, std::string_view file)
      : header_(header), record_(record), file_(file) {}

  AccessPattern parse() const {
    if (record_.fields.size() != header_.fields())
      refuse(file_, record_.line,
             fmt::format("{} fields, but the header names {} columns", record_.fields.size(), header_.fields()));
    AccessPattern pattern;
    pattern.line = record_.line;
    pattern.name = cell(Column::name);
    if (pattern.name.empty()) bad("name", "", "a name");
    pattern.width_bytes = width();
    pattern.space = space();
    pattern.kind = kind();
    pattern.active_mask = mask();
    offsets(pattern);
    pattern.expected.requests = expected(Column::requests, "requests");
    pattern.expected.sectors = expected(Column::sectors, "sectors");
    pattern.expected.wavefronts = expected(Column::wavefronts, "wavefronts");
    pattern.expected.bank_conflicts = expected(Column::conflicts, "bank_conflicts");
    const bool global = pattern.space == MemorySpace::global;
    if (!global && pattern.expected.sectors) bad("sectors", cell(Column::sectors), "an empty cell in space shared");
    if (global && pattern.expected.wavefronts)
      bad("wavefronts", cell(Column::wavefronts), "an empty cell in space global");
    if (global && pattern.expected.bank_conflicts)
      bad("bank_conflicts", cell(Column::conflicts), "an empty cell in space global");
    return pattern;
  }

 private:
  [[nodiscard]] std::string_view cell(Column column) const { return header_.cell(record_, column); }

  [[noreturn]] void bad(std::string_view column, std::string_view value, std::string_view accepted) const {
    refuse(file_, record_.line, fmt::format("column {}: '{}' is not accepted; expected {}", column, value, accepted));
  }

  int width() const {
    const std::string_view text = cell(Column::width);
    const std::optional<std::uint64_t> value = to_integer(text);
    if (!value || *value > kMaxLaneAccessBytes || !is_lane_width(static_cast<int>(*value)))
      bad("width_bytes", text, "1, 2, 4, 8 or 16");
    return static_cast<int>(*value);
  }

  MemorySpace space() const {
    const std::string_view text = cell(Column::space);
    if (text == "global") return MemorySpace::global;
    if (text == "shared") return MemorySpace::shared;
    bad("space", text, "global or shared");
  }

  AccessKind kind() const {
    const std::string_view text = cell(Column::op);
    if (text == "ld" || text == "load") return AccessKind::load;
    if (text == "st" || text == "store") return AccessKind::store;
    if (text == "atom" || text == "atomic") return AccessKind::atomic;
    bad("op", text, "ld, st or atom (load, store, atomic)");
  }

  std::uint32_t mask() const {
    const std::string_view text = cell(Column::mask);
    const std::optional<std::uint64_t> value = to_integer(text);
    if (!value || *value > UINT32_MAX) bad("active_mask", text, "0x0 to 0xffffffff, bit i for lane i");
    return static_cast<std::uint32_t>(*value);
  }

  void offsets(AccessPattern& pattern) const {
    constexpr std::string_view column = "byte_offset_per_lane";
    constexpr std::string_view blanks = " \t\r\n";
    std::string_view rest = cell(Column::offsets);
    int lane = 0;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find_first_of(blanks), rest.size());
      const std::string_view text = rest.substr(0, end);
      rest.remove_prefix(std::min(rest.find_first_not_of(blanks, end), rest.size()));
      if (lane < kWarpLanes) pattern.byte_offsets[static_cast<std::size_t>(lane)] = offset(pattern, lane, text);
      ++lane;
    }
    if (lane != kWarpLanes)
      refuse(file_, record_.line,
             fmt::format("column {}: {} offsets; expected {}, one for each lane, separated by spaces", column, lane,
                         kWarpLanes));
  }

  std::uint64_t offset(const AccessPattern& pattern, int lane, std::string_view text) const {
    const std::optional<std::uint64_t> value = to_integer(text);
    const auto width = static_cast<std::uint64_t>(pattern.width_bytes);
    const bool active = ((pattern.active_mask >> lane) & 1U) != 0;
    // An offset is a signed 64-bit difference of pointers, so its last byte must be one too.
    if (!value || *value > static_cast<std::uint64_t>(INT64_MAX) - (width - 1))
      refuse(file_, record_.line,
             fmt::format("column byte_offset_per_lane: lane {}: '{}' is not accepted; expected an integer from 0 to {}",
                         lane, text, static_cast<std::uint64_t>(INT64_MAX) - (width - 1)));
    if (active && *value % width != 0)
      refuse(
          file_, record_.line,
          fmt::format("column byte_offset_per_lane: lane {}: {} is misaligned; expected a multiple of width_bytes, {}",
                      lane, text, width));
    return *value;
  }

  std::optional<std::uint64_t> expected(Column column, std::string_view name) const {
    const std::string_view text = cell(column);
    if (text.empty()) return std::nullopt;
    const std::optional<std::uint64_t> value = to_integer(text);
    if (!value) bad(name, text, "a count (0 or more), or an empty cell");
    return value;
  }

  const Header& header_;
  const Record& record_;
  std::string_view file_;
};

}  // namespace

std::string_view to_text(MemorySpace space) { return space == MemorySpace::global ? "global" : "shared"; }

std::string_view to_text(AccessKind kind) {
  switch (kind) {
    case AccessKind::load:
      return "load";
    case AccessKind::store:
      return "store";
    case AccessKind::atomic:
      return "atomic";
  }
  return "?";
}

std::vector<AccessPattern> parse_access_patterns(std::string_view csv, std::string_view name) {
  CsvReader reader(csv, name);
  const std::optional<Record> first = reader.next();
  if (!first)
    refuse(name, 1, "empty; expected a header (name,width_bytes,space,op,byte_offset_per_lane,active_mask) and rows");
  const Header header(*first, name);
  std::vector<AccessPattern> patterns;
  while (const std::optional<Record> record = reader.next())
    patterns.push_back(RowParser(header, *record, name).parse());
  if (patterns.empty()) refuse(name, first->line, "no pattern below the header");
  return patterns;
}

std::vector<AccessPattern> read_access_patterns(const std::filesystem::path& file) {
  constexpr std::uint64_t most = std::uint64_t{1} << 24U;
  return parse_access_patterns(read_file(file, {most, most},
                                         "; expected a CSV file of access patterns; a relative path starts "
                                         "at the working directory"),
                               file.string());
}

PatternCounts count(const AccessPattern& pattern) {
  PatternCounts counts;
  counts.requests = pattern.active_mask != 0 ? 1 : 0;
  counts.lanes = static_cast<std::uint64_t>(std::popcount(pattern.active_mask));
  if (pattern.space == MemorySpace::global) {
    const GlobalCost cost = global_cost(pattern.byte_offsets, pattern.active_mask, pattern.width_bytes);
    counts.sectors = cost.sectors;
    counts.ideal_sectors = cost.ideal_sectors;
    counts.lines = cost.lines;
  } else {
    const SharedCost cost = shared_cost(pattern.byte_offsets, pattern.active_mask, pattern.width_bytes, pattern.kind);
    counts.wavefronts = cost.wavefronts;
    counts.ideal_wavefronts = cost.ideal;
    counts.bank_conflicts = cost.bank_conflicts();
  }
  return counts;
}

std::optional<std::string> disagreement(const AccessPattern& pattern, const PatternCounts& counts) {
  const ExpectedCounts& expected = pattern.expected;
  std::string text;
  bool stated = false;
  const auto compare = [&](std::string_view name, std::optional<std::uint64_t> got,
                           std::optional<std::uint64_t> wanted) {
    if (!wanted) return;
    stated = true;
    if (got == wanted) return;
    text += fmt::format("{}{} {}, expected {}", text.empty() ? "" : "; ", name, got.value_or(0), *wanted);
  };
  compare("requests", counts.requests, expected.requests);
  compare("sectors", counts.sectors, expected.sectors);
  compare("wavefronts", counts.wavefronts, expected.wavefronts);
  compare("bank_conflicts", counts.bank_conflicts, expected.bank_conflicts);
  if (!stated) return std::nullopt;
  return text;
}

}  // namespace gpuexp::simt
