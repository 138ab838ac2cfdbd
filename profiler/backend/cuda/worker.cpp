// Forking, talking to and reaping the worker. A message is its length (8 bytes) and its bytes, over a socket pair.
#include "profiler/backend/cuda/worker.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <system_error>

#include "profiler/core/error.h"

namespace gpuexp::cuda {
namespace {

using Clock = std::chrono::steady_clock;

bool send_all(int socket, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool send_message(int socket, const std::string& bytes) {
  const auto size = static_cast<std::uint64_t>(bytes.size());
  return send_all(socket, &size, sizeof size) && send_all(socket, bytes.data(), bytes.size());
}

// Blocks until everything is there; false at the end of the stream.
bool receive_all(int socket, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = recv(socket, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

std::optional<std::string> receive_message(int socket) {
  std::uint64_t size = 0;
  if (!receive_all(socket, &size, sizeof size)) return std::nullopt;
  std::string bytes(size, '\0');
  if (!receive_all(socket, bytes.data(), bytes.size())) return std::nullopt;
  return bytes;
}

// The child's life. It leaves by _exit alone: destructors and exit handlers of CUDA's libraries may crash after a
// context was lost, and all answers are with the parent by then.
[[noreturn]] void live(int socket) {
  std::signal(SIGINT, SIG_IGN);        // Ctrl-C goes to the whole group; the parent decides
  prctl(PR_SET_PDEATHSIG, SIGKILL);    // nobody would read the answers
  dup2(STDERR_FILENO, STDOUT_FILENO);  // what kernels and libraries print must not mix with a report
  while (const std::optional<std::string> bytes = receive_message(socket)) {
    Answer answer;
    try {
      answer = serve(decode_request(*bytes));
    } catch (const std::exception& error) {
      answer.result.backend = "cuda";
      answer.result.status = Status::failed;
      answer.result.reason = error.what();
    }
    if (!send_message(socket, encode(answer)) || answer.context_lost) break;
  }
  _exit(0);
}

bool is_set(const std::atomic<bool>* flag) { return flag != nullptr && flag->load(); }

}  // namespace

Answer serve(const Request& request) {
  static std::unique_ptr<PointMeasurer> measurer;  // the context lives as long as the process
  static std::string gpu;
  Answer answer;
  if (request.kind == Request::Kind::inspect) {
    answer.machine = inspect_machine();
    return answer;
  }
  if (!measurer || gpu != request.options.gpu) {
    measurer.reset();
    measurer = open_gpu(request.options.gpu);
    gpu = request.options.gpu;
  }
  answer.result = measurer->measure(request.point, request.options);
  answer.context_lost = measurer->context_lost();
  return answer;
}

void Worker::start() {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    throw Error(ExitCode::machine, fmt::format("cannot start the worker process: {}", std::strerror(errno)));
  }
  process_ = fork();
  if (process_ == 0) {
    close(sockets[0]);
    live(sockets[1]);
  }
  close(sockets[1]);
  socket_ = sockets[0];
  if (process_ < 0) {
    close(socket_);
    throw Error(ExitCode::machine, fmt::format("cannot start the worker process: {}", std::strerror(errno)));
  }
}

std::string Worker::reap(bool kill_it) {
  if (process_ <= 0) return "it had not started";
  if (kill_it) kill(process_, SIGKILL);
  close(socket_);
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  socket_ = -1;
  if (WIFSIGNALED(status)) return fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

void Worker::stop() {
  if (process_ > 0) reap(true);  // nothing it holds needs an orderly end; see live()
}

Exchange Worker::ask(const Request& request, double limit_s, const std::atomic<bool>* cancel) {
  if (process_ <= 0) start();
  Exchange exchange;
  const auto give_up =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(limit_s, 1e7)));
  if (!send_message(socket_, encode(request))) {
    exchange.how = reap(true);
    return exchange;
  }
  for (;;) {
    pollfd waiting{socket_, POLLIN, 0};
    const int ready = poll(&waiting, 1, 50);  // ms: how soon an interruption is noticed
    if (ready > 0) break;
    if (is_set(cancel)) {
      exchange.end = Exchange::End::cancelled;
      exchange.how = reap(true);
      return exchange;
    }
    if (Clock::now() > give_up) {
      exchange.end = Exchange::End::timed_out;
      exchange.how = reap(true);
      return exchange;
    }
  }
  const std::optional<std::string> bytes = receive_message(socket_);
  if (!bytes) {
    exchange.how = reap(false);
    return exchange;
  }
  exchange.answer = decode_answer(*bytes);
  exchange.end = Exchange::End::answered;
  if (exchange.answer.context_lost) reap(true);
  return exchange;
}

}  // namespace gpuexp::cuda
