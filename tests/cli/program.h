// Runs the gpuexp binary as a user would and keeps what it printed.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace gpuexp::testing_cli {

struct Outcome {
  int exit_code = -1;  // 128 + signal when a signal ended it
  std::string out, err;
};

enum class Stdout { captured, closed_pipe, full_device };

struct Call {
  std::vector<std::string> arguments;
  std::filesystem::path directory;                 // working directory; empty = this one
  std::map<std::string, std::string> environment;  // added to this process's
  Stdout standard_output = Stdout::captured;
  std::filesystem::path program = {};  // empty = gpuexp
};

// A started program; output goes to files, so that it never blocks.
class Program {
 public:
  explicit Program(const Call& call);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  void signal(int number) const;
  // What it wrote to standard error so far.
  [[nodiscard]] std::string err() const;
  // Waits; after `limit_s` seconds it is killed and the exit code is 128 + SIGKILL.
  Outcome wait(double limit_s = 120);

 private:
  std::filesystem::path files_;
  pid_t pid_ = -1;
};

Outcome run(const Call& call);
Outcome run(const std::vector<std::string>& arguments);

// A directory that is removed with everything in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Writes a file in it and returns its path.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

std::string read(const std::filesystem::path& path);

}  // namespace gpuexp::testing_cli
