// Reads a file that a user names, up to a limit: no path, device or pipe makes the program read without end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace gpuexp {

// Bytes that a file may have. What is no regular file, such as a pipe, does not tell how much will come, so less is
// read.
struct FileLimit {
  std::uint64_t regular;
  std::uint64_t other;
};

// The whole file. Throws Error(usage) with the path and the reason: a directory, not there, not readable, more than the
// limit. `hint` follows "is a directory" and "cannot be read", such as "; name an experiment file in it".
std::string read_file(const std::filesystem::path& path, FileLimit limit, const std::string& hint = "");

// Pipes, devices, sockets: anything that has no size beforehand, and often no telling name.
bool is_stream(const std::filesystem::path& path);

// Throws Error(usage) as read_file() does for a file that has grown beyond its limit.
[[noreturn]] void refuse_size(const std::filesystem::path& path, std::uint64_t limit);

// The limit that goes for this path.
std::uint64_t limit_for(const std::filesystem::path& path, FileLimit limit);

}  // namespace gpuexp
