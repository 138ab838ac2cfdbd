// Atomic writing and locking on POSIX file systems.
#include "profiler/report/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "profiler/core/error.h"
#include "profiler/report/result_writer.h"

namespace gpuexp {

void cannot_write(const std::filesystem::path& path, const std::string& why) {
  throw Error(ExitCode::cannot_write, path.string() + ": cannot be written: " + why);
}
void cannot_write_errno(const std::filesystem::path& path) { cannot_write(path, std::strerror(errno)); }

OpenFile::OpenFile(const std::filesystem::path& path, int flags, const std::filesystem::path& named)
    : path_(named.empty() ? path : named) {
  fd_ = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (fd_ < 0) cannot_write_errno(path_);
}
OpenFile::OpenFile(OpenFile&& other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}
OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}
OpenFile::~OpenFile() {
  if (fd_ >= 0) ::close(fd_);
}

bool OpenFile::in_place() const {
  struct stat open_file {
  }, named_file{};
  return ::fstat(fd_, &open_file) == 0 && ::stat(path_.c_str(), &named_file) == 0 &&
         open_file.st_ino == named_file.st_ino && open_file.st_dev == named_file.st_dev;
}

void OpenFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) cannot_write_errno(path_);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OpenFile::sync() {
  // Devices and some file systems have nothing to force: EINVAL, EROFS.
  if (::fsync(fd_) != 0 && errno != EINVAL && errno != EROFS) cannot_write_errno(path_);
}

std::filesystem::path write_temporary(const std::filesystem::path& path, std::string_view text) {
  return write_temporary(path, [&](OpenFile& file) { file.write(text); });
}

std::filesystem::path write_temporary(const std::filesystem::path& path,
                                      const std::function<void(OpenFile& file)>& write,
                                      const std::filesystem::path& named) {
  std::filesystem::path temporary = path;
  temporary += ".tmp";
  OpenFile file(temporary, O_WRONLY | O_CREAT | O_TRUNC, named.empty() ? path : named);
  try {
    write(file);
    file.sync();
  } catch (const Error&) {
    ::unlink(temporary.c_str());
    throw;
  }
  return temporary;
}

void rename_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) cannot_write_errno(to);
}

void sync_directory(const std::filesystem::path& directory) {
  OpenFile file(directory, O_RDONLY | O_DIRECTORY);
  file.sync();
}

namespace {

// What stands at the end of a chain of symbolic links, there or not.
std::filesystem::path end_of_links(const std::filesystem::path& path) {
  constexpr int most = 40;  // as many as the kernel follows
  std::filesystem::path end = path;
  for (int i = 0; i < most; ++i) {
    std::error_code none;
    const std::filesystem::path next = std::filesystem::read_symlink(end, none);
    if (none) return end;
    end = end.parent_path() / next;  // `next` alone when it is absolute
  }
  errno = ELOOP;
  cannot_write_errno(path);
}

// Nothing may take the place of a device, a pipe or a socket: these are written as they stand.
bool written_in_place(const std::filesystem::path& path) {
  struct stat named {};
  return ::stat(path.c_str(), &named) == 0 && !S_ISREG(named.st_mode);
}

}  // namespace

void write_atomically(const std::filesystem::path& path, const std::string& text) {
  if (written_in_place(path)) {
    OpenFile file(path, O_WRONLY);
    file.write(text);
    file.sync();
    return;
  }
  // The file that a link leads to is replaced, not the link. Errors name what the user named.
  const std::filesystem::path target = end_of_links(path);
  const std::filesystem::path temporary = write_temporary(
      target, [&](OpenFile& file) { file.write(text); }, path);
  try {
    if (::rename(temporary.c_str(), target.c_str()) != 0) cannot_write_errno(path);
  } catch (const Error&) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_directory(target.has_parent_path() ? target.parent_path() : ".");
}

DirectoryLock::DirectoryLock(const std::filesystem::path& directory, const std::string& stem) {
  const std::filesystem::path path = directory / ("." + stem + ".lock");
  // The holder removes the file when it ends, so a lock may be had on a file that is no longer there: try again.
  do {
    file_ = OpenFile(path, O_RDWR | O_CREAT);
    if (::flock(file_.fd(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return;
      cannot_write(directory / stem,
                   "another gpuexp run is writing results of this name there; wait for it, or give --out another "
                   "directory");
    }
  } while (!file_.in_place());
  held_ = true;
}

DirectoryLock::~DirectoryLock() {
  if (held_) ::unlink(file_.path().c_str());
}

}  // namespace gpuexp
