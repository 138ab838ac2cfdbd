// Internal to profiler/report: files written so that a reader never sees half of one. All errors are
// Error(cannot_write) with the path and the system's reason.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace gpuexp {

[[noreturn]] void cannot_write(const std::filesystem::path& path, const std::string& why);
[[noreturn]] void cannot_write_errno(const std::filesystem::path& path);  // why: errno

// An open file descriptor; closed at the end of its life.
class OpenFile {
 public:
  OpenFile() = default;
  // Created with mode 0666 less the umask. Errors name `named` where it is given, and path() is that.
  OpenFile(const std::filesystem::path& path, int flags, const std::filesystem::path& named = {});
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // The file is still what its path names (nobody removed it or its directory).
  [[nodiscard]] bool in_place() const;
  void write(std::string_view text);
  void sync();

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

// Writes beside `path`, forces it to disk, and returns the temporary's path; removed again when that fails. Errors name
// `path`, or `named` where that is given.
std::filesystem::path write_temporary(const std::filesystem::path& path, std::string_view text);
// The same with a text that `write` gives piece by piece.
std::filesystem::path write_temporary(const std::filesystem::path& path,
                                      const std::function<void(OpenFile& file)>& write,
                                      const std::filesystem::path& named = {});
void rename_file(const std::filesystem::path& from, const std::filesystem::path& to);
void sync_directory(const std::filesystem::path& directory);

// Keeps a second run of the same name out of a directory while it lives.
class DirectoryLock {
 public:
  // Throws when another process holds the lock. A file system without locks is not an error: `held()` is false.
  DirectoryLock(const std::filesystem::path& directory, const std::string& stem);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  [[nodiscard]] bool held() const { return held_; }

 private:
  OpenFile file_;
  bool held_ = false;
};

}  // namespace gpuexp
