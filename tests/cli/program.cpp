// fork, exec, wait: nothing between the test and the program.
#include "tests/cli/program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace gpuexp::testing_cli {
namespace {

std::filesystem::path make_directory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "gpuexp_cli_XXXXXX").string();
  if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary directory");
  return pattern;
}

// In the child, before exec: only calls that are safe after fork.
void redirect(int descriptor, const char* path) {
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || dup2(file, descriptor) < 0) _exit(126);
  close(file);
}

void redirect_to_closed_pipe(int descriptor) {
  int ends[2];
  if (pipe(ends) != 0 || dup2(ends[1], descriptor) < 0) _exit(126);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace

Program::Program(const Call& call) : files_(make_directory()) {
  const std::string out = (files_ / "out").string(), err = (files_ / "err").string();
  std::vector<std::string> words = {call.program.empty() ? GPUEXP_BINARY : call.program.string()};
  words.insert(words.end(), call.arguments.begin(), call.arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ > 0) return;
  for (const auto& [name, value] : call.environment) setenv(name.c_str(), value.c_str(), 1);
  if (!call.directory.empty() && chdir(call.directory.c_str()) != 0) _exit(126);
  redirect(STDIN_FILENO, "/dev/null");
  redirect(STDERR_FILENO, err.c_str());
  if (call.standard_output == Stdout::closed_pipe) {
    redirect_to_closed_pipe(STDOUT_FILENO);
  } else {
    redirect(STDOUT_FILENO, call.standard_output == Stdout::full_device ? "/dev/full" : out.c_str());
  }
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);  // background jobs of a shell have it ignored
  execv(argv[0], argv.data());
  _exit(127);
}

Program::~Program() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(files_, ignored);
}

void Program::signal(int number) const { kill(pid_, number); }

std::string Program::err() const { return read(files_ / "err"); }

Outcome Program::wait(double limit_s) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit_s);
  int status = 0;
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) kill(pid_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  pid_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(files_ / "out"), read(files_ / "err")};
}

Outcome run(const Call& call) { return Program(call).wait(); }
Outcome run(const std::vector<std::string>& arguments) { return run(Call{arguments, {}, {}, Stdout::captured}); }

TemporaryDirectory::TemporaryDirectory() : path_(make_directory()) {}
TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryDirectory::write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
  return (path_ / name).string();
}

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace gpuexp::testing_cli
