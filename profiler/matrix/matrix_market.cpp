// Reads Matrix Market files line by line in one pass, counting lines as it goes, so that every refusal has its line.
#include "profiler/matrix/matrix_market.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <system_error>
#include <vector>

#include "profiler/core/error.h"
#include "profiler/core/nearest.h"
#include "profiler/core/read_file.h"

namespace gpuexp {
namespace {

enum class Field { real, integer, pattern };
enum class Symmetry { general, symmetric, skew };

constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// A token fit to print: control characters and bytes beyond ASCII become '?', and long ones are cut.
std::string printable(std::string_view token) {
  constexpr std::size_t longest = 40;
  std::string text(token.substr(0, longest));
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return token.size() > longest ? text + "..." : text;
}

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::string_view banner = "%%matrixmarket";  // in lower case

// Whether a file that starts so can still turn out to have the banner.
bool may_have_banner(std::string_view start) {
  if (byte_order_mark.starts_with(start.substr(0, byte_order_mark.size())))
    start.remove_prefix(std::min(start.size(), byte_order_mark.size()));
  while (!start.empty() && is_space(start.front())) start.remove_prefix(1);
  return banner.starts_with(lower_case(start.substr(0, banner.size())));
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& file)
      : at_(text.data()), end_(text.data() + text.size()), file_(file) {}

  Coo parse() {
    read_header();
    read_sizes();
    if (array_) {
      read_array();
    } else {
      read_coordinates();
    }
    expect_end();
    return std::move(matrix_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::usage, fmt::format("{}:{}: {}", file_, line_, what));
  }

  // ---- lines and tokens ----

  void skip_spaces() {
    while (at_ != end_ && is_space(*at_)) ++at_;
  }
  [[nodiscard]] bool at_line_end() const { return at_ == end_ || *at_ == '\n'; }
  void skip_line() {
    const void* newline = at_ == end_ ? nullptr : std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
    if (newline == nullptr) {
      at_ = end_;
      return;
    }
    at_ = static_cast<const char*>(newline) + 1;
    ++line_;
  }
  // Moves to the first token of the next line that holds one; false at the end of the file.
  bool next_content() {
    for (;;) {
      skip_spaces();
      if (at_ == end_) return false;
      if (*at_ == '\n') {
        ++at_;
        ++line_;
      } else if (*at_ == '%') {
        skip_line();
      } else {
        return true;
      }
    }
  }
  // The token at hand, which may be empty at the end of a line; moves behind it.
  std::string_view token() {
    skip_spaces();
    const char* begin = at_;
    while (!at_line_end() && !is_space(*at_)) ++at_;
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }
  // Nothing more may stand on this line; moves to the next.
  void finish_line(const char* what) {
    skip_spaces();
    if (!at_line_end()) fail(fmt::format("unexpected '{}' after {}", printable(token()), what));
    if (at_ != end_) {
      ++at_;
      ++line_;
    }
  }

  // ---- header and sizes ----

  void read_header() {
    if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(byte_order_mark)) at_ += 3;
    if (lower_case(token()) != banner) {
      fail(
          "not a Matrix Market file: the first line must be "
          "'%%MatrixMarket matrix <coordinate|array> <real|integer|pattern> <general|symmetric|skew-symmetric>'");
    }
    const std::string object = header_word("object");
    if (object != "matrix") {
      fail(fmt::format("object '{}' is not supported; accepted: matrix", printable(object)));
    }
    array_ = choose("format", header_word("format"), {"coordinate", "array"}) == 1;
    const std::string field = header_word("field"), symmetry = header_word("symmetry");
    if (field == "complex") fail("complex matrices are not supported; accepted fields: real, integer, pattern");
    field_ = static_cast<Field>(choose("field", field, {"real", "integer", "pattern"}));
    if (symmetry == "hermitian") {
      fail(fmt::format("hermitian means complex values, but the field is {} (and complex is not supported)", field));
    }
    symmetry_ = static_cast<Symmetry>(choose("symmetry", symmetry, {"general", "symmetric", "skew-symmetric"}));
    if (field_ == Field::pattern && array_) fail("'array pattern' holds nothing: a pattern needs coordinates");
    if (field_ == Field::pattern && symmetry_ == Symmetry::skew) {
      fail("a pattern has no signs, so that it cannot be skew-symmetric; accepted: general, symmetric");
    }
    finish_line("the header");
  }

  std::string header_word(const char* what) {
    const std::string_view word = token();
    if (word.empty()) fail(fmt::format("the header ends before its {}", what));
    return lower_case(word);
  }

  std::size_t choose(const char* what, const std::string& word, const std::vector<std::string>& accepted) const {
    const auto found = std::find(accepted.begin(), accepted.end(), word);
    if (found == accepted.end()) {
      fail(fmt::format("unknown {} '{}'; accepted: {}{}", what, printable(word), list_names(accepted),
                       did_you_mean(word.substr(0, 40), accepted)));
    }
    return static_cast<std::size_t>(found - accepted.begin());
  }

  std::int64_t size_value(const char* what) {
    const std::string_view text = token();
    if (text.empty()) fail(fmt::format("the size line ends before the {}", what));
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) {
      fail(fmt::format("{} '{}' does not fit 64 bits", what, printable(text)));
    }
    if (error != std::errc() || stop != text.data() + text.size() || value < 0) {
      fail(fmt::format("{} '{}' is not a whole number of 0 or more", what, printable(text)));
    }
    return value;
  }

  void read_sizes() {
    if (!next_content()) fail("the file ends before its size line");
    matrix_.rows = extent("number of rows");
    matrix_.cols = extent("number of columns");
    if (symmetry_ != Symmetry::general && matrix_.rows != matrix_.cols) {
      fail(fmt::format("a {} matrix must be square, not {} x {}",
                       symmetry_ == Symmetry::skew ? "skew-symmetric" : "symmetric", matrix_.rows, matrix_.cols));
    }
    declared_ = array_ ? array_entries() : size_value("number of entries");
    finish_line("the sizes");
    reserve();
  }

  std::int64_t extent(const char* what) {
    const std::int64_t value = size_value(what);
    if (value > max_extent) fail(fmt::format("{} {} is more than the {} supported", what, value, max_extent));
    return value;
  }

  // Both factors are at most max_extent: no overflow.
  [[nodiscard]] std::int64_t array_entries() const {
    const std::int64_t n = matrix_.rows;
    if (symmetry_ == Symmetry::symmetric) return n * (n + 1) / 2;
    if (symmetry_ == Symmetry::skew) return n == 0 ? 0 : n * (n - 1) / 2;
    return n * matrix_.cols;
  }

  // For no more entries than the rest of the file can hold, whatever it declares: the shortest entry takes 2 bytes in
  // an array and 4 or 6 in a list, and the last one's line end may lack.
  void reserve() {
    const std::int64_t shortest = array_ ? 2 : field_ == Field::pattern ? 4 : 6;
    const std::int64_t expected = std::min<std::int64_t>(declared_, (end_ - at_ + 1) / shortest);
    const auto entries = static_cast<std::size_t>(expected) * (symmetry_ == Symmetry::general ? 1 : 2);
    matrix_.row.reserve(entries);
    matrix_.col.reserve(entries);
    matrix_.value.reserve(entries);
  }

  // ---- entries ----

  void add(std::int64_t row, std::int64_t col, double value) {
    matrix_.row.push_back(static_cast<std::int32_t>(row));
    matrix_.col.push_back(static_cast<std::int32_t>(col));
    matrix_.value.push_back(value);
    if (symmetry_ == Symmetry::general || row == col) return;
    matrix_.row.push_back(static_cast<std::int32_t>(col));
    matrix_.col.push_back(static_cast<std::int32_t>(row));
    matrix_.value.push_back(symmetry_ == Symmetry::skew ? -value : value);
  }

  void read_coordinates() {
    for (std::int64_t entry = 0; entry < declared_; ++entry) {
      if (!next_content()) fail_truncated(entry);
      const std::int64_t row = index("row", matrix_.rows);
      const std::int64_t col = index("column", matrix_.cols);
      const double value = field_ == Field::pattern ? 1.0 : number();
      if (symmetry_ != Symmetry::general && row != col) check_triangle(row, col);
      add(row, col, value);
      finish_line("the entry");
    }
  }

  void check_triangle(std::int64_t row, std::int64_t col) {
    const int triangle = row > col ? 1 : 2;
    if (triangle_ == 0) triangle_ = triangle;
    if (triangle_ == triangle) return;
    fail(
        fmt::format("entry ({}, {}) lies in the other triangle than those before it: a symmetric file stores one of "
                    "them",
                    row + 1, col + 1));
  }

  // Column after column; of a symmetric matrix the lower triangle, of a skew-symmetric one without its diagonal.
  void read_array() {
    std::int64_t entry = 0;
    if (declared_ == 0) return;
    for (std::int64_t col = 0; col < matrix_.cols; ++col) {
      const std::int64_t first = symmetry_ == Symmetry::general ? 0 : symmetry_ == Symmetry::symmetric ? col : col + 1;
      for (std::int64_t row = first; row < matrix_.rows; ++row, ++entry) {
        if (!next_content()) fail_truncated(entry);
        add(row, col, number());
        finish_line("the value");
      }
    }
  }

  [[noreturn]] void fail_truncated(std::int64_t read) const {
    fail(fmt::format("truncated: {} entries are declared, expected {} more", declared_, declared_ - read));
  }

  void expect_end() {
    if (!next_content()) return;
    fail(fmt::format("more entries than the {} declared: '{}'", declared_, printable(token())));
  }

  // A one-based index, returned zero-based.
  std::int64_t index(const char* what, std::int64_t extent) {
    skip_spaces();
    const char* begin = at_;
    std::uint64_t value = 0;
    while (at_ != end_ && is_digit(*at_) && at_ - begin < 18) value = value * 10 + static_cast<unsigned>(*at_++ - '0');
    if (at_ == begin || (!at_line_end() && !is_space(*at_)) || value == 0 || value > static_cast<std::uint64_t>(extent))
      fail_index(begin, what, extent);
    return static_cast<std::int64_t>(value) - 1;
  }

  [[noreturn]] void fail_index(const char* begin, const char* what, std::int64_t extent) {
    at_ = begin;
    const std::string_view text = token();
    if (text.empty()) fail(fmt::format("the entry ends before its {} index", what));
    const bool digits = std::all_of(text.begin() + (text[0] == '-' ? 1 : 0), text.end(), is_digit) && text != "-";
    if (!digits) fail(fmt::format("{} index '{}' is not a whole number", what, printable(text)));
    fail(fmt::format("{} index {} is outside 1..{}", what, printable(text), extent));
  }

  double number() {
    skip_spaces();
    if (field_ == Field::integer) return integer_number();
    double value = 0;
    if (quick_real(value) || library_real(value)) return value;
    return careful_real();
  }

  // Decimals of up to 19 digits and small exponents, the usual case: exact, because both the digits and the power of
  // ten are exact in float64 (Clinger, How to Read Floating Point Numbers Accurately, 1990). False for anything else.
  bool quick_real(double& value) {
    static constexpr std::array<double, 23> powers{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char* p = at_;
    const bool negative = p != end_ && *p == '-';
    if (negative) ++p;
    std::uint64_t digits = 0;
    const char* begin = p;
    while (p != end_ && is_digit(*p)) digits = digits * 10 + static_cast<unsigned>(*p++ - '0');
    std::int64_t count = p - begin;
    int exponent = 0;
    if (p != end_ && *p == '.') {
      const char* fraction = ++p;
      while (p != end_ && is_digit(*p)) digits = digits * 10 + static_cast<unsigned>(*p++ - '0');
      const std::int64_t places = p - fraction;
      count += places;
      if (count > 19) return false;
      exponent = -static_cast<int>(places);
    }
    if (count == 0 || count > 19) return false;
    if (p != end_ && (*p == 'e' || *p == 'E')) {
      const auto [stop, written] = short_exponent(p + 1);
      if (stop == nullptr) return false;
      p = stop;
      exponent += written;
    }
    if ((p != end_ && *p != '\n' && !is_space(*p)) || digits > (std::uint64_t{1} << 53U)) return false;
    if (exponent < -22 || exponent > 22) return false;
    const auto whole = static_cast<double>(digits);
    const double magnitude = exponent < 0 ? whole / powers[-exponent] : whole * powers[exponent];
    value = negative ? -magnitude : magnitude;
    at_ = p;
    return true;
  }

  struct Exponent {
    const char* stop;  // null when it is none of up to 3 digits
    int value;
  };
  [[nodiscard]] Exponent short_exponent(const char* p) const {
    const bool negative = p != end_ && *p == '-';
    if (p != end_ && (*p == '-' || *p == '+')) ++p;
    const char* begin = p;
    int value = 0;
    while (p != end_ && is_digit(*p) && p - begin < 4) value = value * 10 + (*p++ - '0');
    if (p == begin || p - begin > 3) return {nullptr, 0};
    return {p, negative ? -value : value};
  }

  // As many digits as there are; false when the token is anything but a finite decimal in plain notation.
  bool library_real(double& value) {
    const auto [stop, error] = std::from_chars(at_, end_, value);
    if (error != std::errc() || (stop != end_ && *stop != '\n' && !is_space(*stop)) || !std::isfinite(value))
      return false;
    at_ = stop;
    return true;
  }

  // What is left: signs and exponents that the library does not know, and whatever has to be refused.
  double careful_real() {
    const std::string_view written = token();
    if (written.empty()) fail("the entry ends before its value");
    std::string text(written.front() == '+' ? written.substr(1) : written);
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == 'd' || c == 'D'; }, 'e');
    double value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const char first = text.empty() ? '+' : text[text[0] == '-' ? 1 : 0];  // a text of "-" has the string's end there
    const bool decimal = (is_digit(first) || first == '.') && (text.size() == written.size() || text[0] != '-');
    const std::string lower = lower_case(written);
    if (lower.find("nan") != std::string::npos || lower.find("inf") != std::string::npos) {
      fail(fmt::format("value '{}' is not finite", printable(written)));
    }
    if (!decimal || error == std::errc::invalid_argument || stop != text.data() + text.size()) {
      fail(fmt::format("value '{}' is not a number", printable(written)));
    }
    if (error == std::errc::result_out_of_range) return out_of_range(text, written);
    return value;
  }

  // Too small is 0; too large is refused. The library does not tell which: the decimal exponent of the first digit
  // does.
  [[nodiscard]] double out_of_range(const std::string& text, std::string_view written) const {
    const std::size_t e = text.find_first_of("eE");
    std::int64_t exponent = 0;
    bool huge_exponent = false;
    if (e != std::string::npos) {
      const char* begin = text.data() + e + 1 + (text[e + 1] == '+' ? 1 : 0);
      huge_exponent = std::from_chars(begin, text.data() + text.size(), exponent).ec != std::errc();
    }
    const std::string_view mantissa(text.data(), std::min(e, text.size()));
    const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
    const std::size_t first = mantissa.find_first_of("123456789");
    if (first == std::string_view::npos) return 0.0;
    const std::int64_t place =
        static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) - (first < point ? 1 : 0);
    const bool small = huge_exponent ? text[e + 1] == '-' : exponent < -place;
    if (!small) fail(fmt::format("value '{}' is beyond float64", printable(written)));
    return text[0] == '-' ? -0.0 : 0.0;
  }

  double integer_number() {
    const std::string_view written = token();
    if (written.empty()) fail("the entry ends before its value");
    const std::string_view text = written.front() == '+' ? written.substr(1) : written;
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) {
      fail(fmt::format("value '{}' does not fit 64 bits", printable(written)));
    }
    if (error != std::errc() || stop != text.data() + text.size() || (text.size() < written.size() && text[0] == '-')) {
      fail(fmt::format("value '{}' is not a whole number, but the field is integer", printable(written)));
    }
    return static_cast<double>(value);
  }

  const char* at_;
  const char* end_;
  const std::string& file_;
  std::int64_t line_ = 1;
  bool array_ = false;
  Field field_ = Field::real;
  Symmetry symmetry_ = Symmetry::general;
  std::int64_t declared_ = 0;  // entries that the file holds
  int triangle_ = 0;           // of the off-diagonal entries so far: 0 none, 1 lower, 2 upper
  Coo matrix_;
};

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void cannot_read(const std::string& path, int error) {
  throw Error(ExitCode::usage, fmt::format("{}: cannot read: {}", path, std::generic_category().message(error)));
}

// The text of a matrix is held in memory beside the matrix.
constexpr FileLimit matrix_file_limit{std::uint64_t{1} << 34U, std::uint64_t{1} << 30U};

constexpr std::size_t matrix_file_beginning = std::size_t{1} << 16U;

// The whole file. Read rather than mapped: a file that shrinks meanwhile is then an error, not a signal.
class FileText {
 public:
  explicit FileText(const std::string& path) {
    const Descriptor file(path);
    struct stat info = {};
    if (file.get() < 0 || fstat(file.get(), &info) != 0) cannot_read(path, errno);
    if (S_ISDIR(info.st_mode)) cannot_read(path, EISDIR);
    const std::uint64_t most = limit_for(path, matrix_file_limit);
    if (static_cast<std::uint64_t>(info.st_size) > most) refuse_size(path, most);
    // Pipes have no size; they grow the buffer.
    grow(static_cast<std::size_t>(std::max<off_t>(info.st_size, 0)) + 1);
    for (;;) {
      if (size_ > most) refuse_size(path, most);
      if (size_ == capacity_) grow(2 * capacity_ + (std::size_t{1} << 16U));
      const bool beginning = size_ < matrix_file_beginning;
      const std::size_t room = capacity_ - size_;
      const ssize_t got =
          read(file.get(), text_.get() + size_, beginning ? std::min(room, matrix_file_beginning) : room);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) cannot_read(path, errno);
      if (got == 0) return;
      size_ += static_cast<std::size_t>(got);
      // Whatever is no matrix, such as a device or a file of gigabytes, is refused by its beginning.
      if (beginning && !may_have_banner(text())) parse_matrix_market(text(), path);
    }
  }
  [[nodiscard]] std::string_view text() const { return {text_.get(), size_}; }

 private:
  void grow(std::size_t capacity) {
    std::unique_ptr<char[]> larger(new char[capacity]);  // not zeroed: it is about to be written
    if (size_ > 0) std::memcpy(larger.get(), text_.get(), size_);
    text_ = std::move(larger);
    capacity_ = capacity;
  }
  std::unique_ptr<char[]> text_;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace

Coo read_matrix_market(const std::string& path) {
  const FileText file(path);
  return parse_matrix_market(file.text(), path);
}

Coo parse_matrix_market(std::string_view text, const std::string& file) { return Parser(text, file).parse(); }

}  // namespace gpuexp
