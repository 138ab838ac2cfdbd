// Splitting rows, and the checks that keep a file of another kind from passing as a result.
#include "profiler/compare/result_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cmath>
#include <cstring>

#include "profiler/compare/columns.h"
#include "profiler/core/error.h"
#include "profiler/core/nearest.h"
#include "profiler/core/text.h"
#include "profiler/report/result_writer.h"

namespace gpuexp {
namespace {

constexpr std::size_t chunk = std::size_t{1} << 20;        // bytes read at a time
constexpr std::size_t longest_row = std::size_t{1} << 24;  // bytes; a longer one is no result

constexpr std::string_view file_columns[] = {"schema_version", "gpuexp_version", "gpuexp_commit", "compiler",
                                             "experiment",     "backend",        "device",        "gpu",
                                             "driver",         "toolkit"};

// Cells of the row at `at`. Returns the offset behind the row's line end, or npos when the text ends within the row and
// `complete` is false. Throws what is wrong with the cell, without its place.
struct BadCell {
  std::size_t cell;
  const char* what;
};

std::size_t split_row(std::string_view text, std::size_t at, bool complete, Row& row) {
  row.cells.clear();
  row.unquoted.clear();
  for (;;) {
    if (at < text.size() && text[at] == '"') {
      const std::size_t first = ++at;
      bool doubled = false;
      for (;;) {
        at = text.find('"', at);
        if (at == std::string_view::npos) {
          if (!complete) return std::string_view::npos;
          throw BadCell{row.cells.size(), "the quoted cell is not closed"};
        }
        if (at + 1 == text.size() && !complete) return std::string_view::npos;
        if (at + 1 == text.size() || text[at + 1] != '"') break;
        doubled = true;
        at += 2;
      }
      std::string_view cell = text.substr(first, at - first);
      if (doubled) {
        std::string& plain = row.unquoted.emplace_back();
        for (std::size_t i = 0; i < cell.size(); ++i) {
          plain += cell[i];
          if (cell[i] == '"') ++i;
        }
        cell = plain;
      }
      row.cells.push_back(cell);
      ++at;
      if (at < text.size() && text[at] != ',' && text[at] != '\r' && text[at] != '\n')
        throw BadCell{row.cells.size() - 1, "text behind a closing quote"};
    } else {
      const std::size_t first = at;
      while (at < text.size() && text[at] != ',' && text[at] != '\n' && text[at] != '\r') {
        if (text[at] == '"') throw BadCell{row.cells.size(), "a quote inside an unquoted cell"};
        ++at;
      }
      row.cells.push_back(text.substr(first, at - first));
    }
    if (at == text.size()) return complete ? at : std::string_view::npos;
    if (text[at] == ',') {
      ++at;
      continue;
    }
    if (text[at] == '\r') {
      if (at + 1 == text.size() && !complete) return std::string_view::npos;
      ++at;
      if (at < text.size() && text[at] != '\n') return at;
    }
    return at < text.size() ? at + 1 : at;
  }
}

void refuse_control(const Row& row, std::string_view text) {
  if (!holds_control(text)) return;
  const auto cell = std::ranges::find_if(row.cells, holds_control);
  throw BadCell{static_cast<std::size_t>(cell - row.cells.begin()), "holds a control character"};
}

}  // namespace

int Columns::find(std::string_view name) const {
  const auto found = index.find(name);
  return found == index.end() ? -1 : found->second;
}

ResultRows::ResultRows(const std::filesystem::path& path, Loading loading, int newest_schema)
    : file_(path.string()), newest_schema_(newest_schema) {
  const std::optional<ResultFormat> named = result_format(path);
  if (named != ResultFormat::csv || is_stream(path)) {
    std::string text = read_result_text(path);
    if (named.value_or(result_format_of(text)) == ResultFormat::csv) {
      buffer_ = std::move(text);
    } else {
      records_ = parse_results(text, file_, newest_schema);
      buffer_ = to_csv_text(*records_);
    }
  } else {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) throw Error(ExitCode::usage, file_ + ": is a directory");
    if (const auto size = std::filesystem::file_size(path, ignored); !ignored && size > result_file_limit.regular)
      refuse_size(path, result_file_limit.regular);
    errno = 0;
    in_.open(path, std::ios::binary);
    if (!in_.is_open())
      throw Error(ExitCode::usage, file_ + ": cannot be read: " + std::strerror(errno == 0 ? EIO : errno));
    streamed_ = true;
    if (loading == Loading::whole)
      if (const auto size = std::filesystem::file_size(path, ignored); !ignored) buffer_.reserve(size + chunk);
    do {
      if (!refill()) break;
    } while (loading == Loading::whole);
  }
  read_header();
  read_facts();
}

// Appends the next chunk behind what is not used up. False at the end of the file.
bool ResultRows::refill() {
  if (!streamed_) return false;
  const std::size_t used = buffer_.size();
  buffer_.resize(used + chunk);
  in_.read(buffer_.data() + used, static_cast<std::streamsize>(chunk));
  const auto got = static_cast<std::size_t>(in_.gcount());
  buffer_.resize(used + got);
  if (in_.bad()) throw Error(ExitCode::usage, file_ + ": cannot be read: " + std::strerror(errno == 0 ? EIO : errno));
  if (got < chunk) streamed_ = false;
  return got > 0;
}

bool ResultRows::split_next(Row& row) {
  row.line = line_;
  try {
    for (;;) {
      if (at_ == buffer_.size() && !streamed_) return false;
      row.offset = at_;
      const std::size_t end = at_ < buffer_.size() ? split_row(buffer_, at_, !streamed_, row) : std::string::npos;
      if (end != std::string::npos) {
        refuse_control(row, std::string_view(buffer_).substr(at_, end - at_));
        line_ += static_cast<std::size_t>(std::count(buffer_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                     buffer_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
        at_ = end;
        return true;
      }
      if (buffer_.size() - at_ > longest_row)
        throw Error(ExitCode::usage, fmt::format("{}: line {}: a row of more than 16 MiB: this is not a gpuexp result "
                                                 "file",
                                                 file_, line_));
      buffer_.erase(0, at_);
      at_ = 0;
      refill();
    }
  } catch (const BadCell& bad) {
    throw Error(ExitCode::usage, fmt::format("{}: line {}, cell {}: {}", file_, line_, bad.cell + 1, bad.what));
  }
}

void ResultRows::read_header() {
  if (std::string_view(buffer_).starts_with("\xEF\xBB\xBF")) at_ = 3;
  Row header;
  if (!split_next(header)) throw Error(ExitCode::usage, file_ + ": is empty: this is not a gpuexp result file");
  if (header.cells.front() != "schema_version")
    throw Error(ExitCode::usage,
                file_ + ": line 1: the first column must be 'schema_version': this is not a gpuexp result file");
  find_columns(header);
}

void ResultRows::find_columns(const Row& header) {
  const auto refuse = [&](const std::string& what) { throw Error(ExitCode::usage, file_ + ": line 1: " + what); };
  for (const std::string_view cell : header.cells) {
    const std::string name(cell);
    const int position = static_cast<int>(columns_.names.size());
    columns_.names.push_back(name);
    if (!columns_.index.emplace(name, position).second) refuse("the column '" + name + "' stands twice");
    if (name.starts_with("param:")) columns_.params.emplace_back(name.substr(6), position);
    const std::optional<ColumnRule> rule = column_rule(name, "simt");
    const bool of_a_run = rule && rule->role != ColumnRole::apart && !rule->text;
    if (of_a_run || name.starts_with("time_") || name == "sm_clock_mhz") columns_.figures.push_back(position);
  }
  std::ranges::sort(columns_.params);
  const auto required = [&](std::string_view name) {
    const int position = columns_.find(name);
    if (position < 0) refuse(fmt::format("the column '{}' is missing: this is not a gpuexp result file", name));
    return position;
  };
  columns_.schema_version = required("schema_version");
  columns_.backend = required("backend");
  columns_.variant = required("variant");
  columns_.status = required("status");
  columns_.good = required("good");
  columns_.verified = required("verified");
  columns_.cache_mode = columns_.find("cache_mode");
  columns_.reason = columns_.find("reason");
  columns_.wrong_elements = columns_.find("wrong_elements");
  columns_.findings = columns_.find("findings");
  columns_.time_samples = columns_.find("time_samples");
  columns_.time_median = columns_.find("time_us_median");
  columns_.time_min = columns_.find("time_us_min");
  columns_.time_max = columns_.find("time_us_max");
  columns_.time_spread = columns_.find("time_relative_spread");
  columns_.sm_clock = columns_.find("sm_clock_mhz");
  for (const std::string_view name : file_columns)
    if (const int position = columns_.find(name); position >= 0) columns_.per_file.emplace_back(name, position);
}

// From the first row, or from the records, which tell more and need no row.
void ResultRows::read_facts() {
  if (records_) {
    schema_version_ = records_->schema_version;
    for (const auto& [name, value] : records_->environment) facts_[name] = value;
    facts_["gpuexp_version"] = records_->gpuexp_version;
    facts_["gpuexp_commit"] = records_->gpuexp_commit;
    facts_["experiment"] = records_->plan.name;
    facts_["backend"] = records_->plan.backend;
    facts_["device"] = records_->device.name;
    return;
  }
  Row row;
  if (!split_next(row)) {
    if (!buffer_.ends_with('\n') && !buffer_.ends_with('\r'))
      throw Error(ExitCode::usage, file_ + ": line 1: the header has no line end: the file was cut off");
    refuse_unknown_columns();
    return;
  }
  if (row.cells.size() == columns_.names.size()) {
    for (const auto& [name, position] : columns_.per_file) facts_[name] = std::string(row.cells[position]);
    const CellNumber version = cell_number(row.cells[columns_.schema_version]);
    if (version.kind != CellNumber::Kind::count || version.count > INT_MAX)
      fail(row, columns_.schema_version,
           fmt::format("'{}' is not a schema version", row.cells[columns_.schema_version]));
    const std::string refusal = schema_refusal(static_cast<std::int64_t>(version.count), newest_schema_);
    if (!refusal.empty()) fail(row, columns_.schema_version, refusal);
    schema_version_ = static_cast<int>(version.count);
  }
  at_ = row.offset;  // to be split again by next()
  line_ = row.line;
  if (schema_version_ == result_schema_version) refuse_unknown_columns();  // others have columns of their own
}

// Of this version every column is known; an older one may have columns that are gone, a newer one some to come.
void ResultRows::refuse_unknown_columns() const {
  std::vector<std::string> known;
  for (const CsvColumn& column : csv_columns({})) known.push_back(column.name);
  for (const std::string& name : columns_.names)
    if (!column_rule(name, "simt") && std::ranges::find(known, name) == known.end())
      throw Error(ExitCode::usage,
                  fmt::format("{}: line 1: unknown column '{}'{}", file_, name, did_you_mean(name, known)));
}

bool ResultRows::next(Row& row) {
  if (!split_next(row)) return false;
  row.index = rows_++;
  check(row);
  return true;
}

void ResultRows::check(const Row& row) const {
  if (row.cells.size() != columns_.names.size())
    throw Error(ExitCode::usage, fmt::format("{}: line {}: has {} cells, the header has {}", file_, row.line,
                                             row.cells.size(), columns_.names.size()));
  if (records_) return;
  check_figures(row);
  for (const auto& [name, position] : columns_.per_file)
    if (row.cells[position] != fact(name))
      fail(row, position,
           fmt::format("'{}' differs from '{}' in the first row: two runs are mixed", row.cells[position], fact(name)));
}

// What no run can give: a number below 0, a median outside its samples.
void ResultRows::check_figures(const Row& row) const {
  for (const int position : columns_.figures)
    if (row.cells[position].starts_with('-'))
      fail(row, position, fmt::format("'{}' is below 0: no run gives that", row.cells[position]));
  if (columns_.time_min < 0 || columns_.time_median < 0 || columns_.time_max < 0) return;
  const CellNumber least = cell_number(row.cells[columns_.time_min]);
  const CellNumber median = cell_number(row.cells[columns_.time_median]);
  const CellNumber most = cell_number(row.cells[columns_.time_max]);
  // A time of 0 or none is not comparable, which the comparison says of its point.
  const auto is_time = [](const CellNumber& n) { return std::isfinite(n.real) && n.real > 0; };
  if (is_time(least) && is_time(median) && is_time(most) && (median.real < least.real || median.real > most.real))
    fail(row, columns_.time_median,
         fmt::format("the median {} lies outside its samples from {} to {}", row.cells[columns_.time_median],
                     row.cells[columns_.time_min], row.cells[columns_.time_max]));
}

void ResultRows::at(std::size_t offset, Row& row) const { split_row(buffer_, offset, true, row); }

const std::string& ResultRows::fact(std::string_view name) const {
  static const std::string none;
  const auto found = facts_.find(name);
  return found == facts_.end() ? none : found->second;
}

const PointRecord* ResultRows::record(const Row& row) const {
  return records_ && row.index < records_->points.size() ? &records_->points[row.index] : nullptr;
}

void ResultRows::key(const Row& row, std::string& key) const {
  key = row.cells[columns_.variant];
  for (const auto& [name, position] : columns_.params) {
    const std::string_view value = row.cells[position];
    if (value.empty()) continue;
    key += ' ';
    key += name;
    key += '=';
    key += value;
  }
}

void ResultRows::fail(const Row& row, int column, const std::string& what) const {
  throw Error(ExitCode::usage,
              fmt::format("{}: line {}, column '{}': {}", file_, row.line, columns_.names[column], what));
}

CellNumber cell_number(std::string_view cell) {
  CellNumber number;
  if (cell.empty()) return number;
  const char* end = cell.data() + cell.size();
  if (const auto [stop, error] = std::from_chars(cell.data(), end, number.count); error == std::errc{} && stop == end) {
    number.kind = CellNumber::Kind::count;
    number.real = static_cast<double>(number.count);
    return number;
  }
  const auto [stop, error] = std::from_chars(cell.data(), end, number.real);
  if (stop != end || error == std::errc::invalid_argument) {
    number.kind = CellNumber::Kind::malformed;
  } else if (error == std::errc::result_out_of_range || !std::isfinite(number.real)) {
    number.kind = CellNumber::Kind::not_finite;
  } else {
    number.kind = CellNumber::Kind::real;
  }
  return number;
}

bool is_plain_number(std::string_view cell) {
  bool digits = true;
  for (const char c : cell) digits = digits && c >= '0' && c <= '9';
  if (digits && cell.size() < 20) return true;
  const CellNumber::Kind kind = cell_number(cell).kind;
  return kind == CellNumber::Kind::null || kind == CellNumber::Kind::count || kind == CellNumber::Kind::real;
}

}  // namespace gpuexp
