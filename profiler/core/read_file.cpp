// Reading up to a limit.
#include "profiler/core/read_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "profiler/core/error.h"
#include "profiler/core/text.h"

namespace gpuexp {
namespace {

constexpr std::uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;
constexpr std::uint64_t first_read = 64 * kib;

std::string size_words(std::uint64_t bytes) {
  if (bytes % gib == 0) return number_text(bytes / gib) + " GiB";
  if (bytes % mib == 0) return number_text(bytes / mib) + " MiB";
  return number_text(bytes) + " bytes";
}

}  // namespace

bool is_stream(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto type = std::filesystem::status(path, ignored).type();
  using enum std::filesystem::file_type;
  return type == fifo || type == character || type == socket || type == block;
}

std::uint64_t limit_for(const std::filesystem::path& path, FileLimit limit) {
  return is_stream(path) ? limit.other : limit.regular;
}

void refuse_size(const std::filesystem::path& path, std::uint64_t limit) {
  throw Error(ExitCode::usage, path.string() + ": has more than the " + size_words(limit) + " that are read of " +
                                   (is_stream(path) ? "a pipe or device" : "such a file"));
}

std::string read_file(const std::filesystem::path& path, FileLimit limit, const std::string& hint) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    throw Error(ExitCode::usage, path.string() + ": is a directory" + hint);
  const auto cannot_read = [&] {
    throw Error(ExitCode::usage, path.string() + ": cannot be read: " + std::strerror(errno == 0 ? EIO : errno) + hint);
  };
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) cannot_read();
  const std::uint64_t most = limit_for(path, limit);
  const std::uint64_t size = std::filesystem::file_size(path, unknown);  // 0 where the system makes the text up
  if (!unknown && size > most) refuse_size(path, most);

  std::string text;
  std::uint64_t wanted = unknown || size == 0 ? first_read : size + 1;
  while (text.size() <= most) {
    const std::size_t used = text.size();
    text.resize(used + std::min(wanted, most + 1 - used));  // one byte too many tells that there are more
    in.read(text.data() + used, static_cast<std::streamsize>(text.size() - used));
    text.resize(used + static_cast<std::size_t>(in.gcount()));
    if (in.bad()) cannot_read();
    if (in.eof()) return text;
    wanted = std::max<std::uint64_t>(text.size(), first_read);
  }
  refuse_size(path, most);
}

}  // namespace gpuexp
