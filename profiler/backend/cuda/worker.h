// The worker: a child process that holds the CUDA context, so that whatever a kernel does to it (an illegal address, an
// endless loop, a crash inside a vendor library) ends that process and not the run. It is forked from gpuexp itself,
// which therefore must never initialise CUDA. One worker serves many points; a new one is started when it is gone.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <optional>
#include <string>

#include "profiler/backend/cuda/wire.h"

namespace gpuexp::cuda {

// How an exchange with the worker ended.
struct Exchange {
  enum class End {
    answered,
    timed_out,  // the worker was killed at the limit
    cancelled,  // the worker was killed because the user interrupted
    died,       // `how` says of what
  } end = End::died;
  Answer answer;    // when answered
  std::string how;  // "signal 11 (Segmentation fault)"
};

class Worker {
 public:
  Worker() = default;
  ~Worker() { stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Sends the request, to a new worker when there is none, and waits. Throws Error(machine) when none can be started.
  Exchange ask(const Request& request, double limit_s, const std::atomic<bool>* cancel);
  void stop();
  [[nodiscard]] bool running() const { return process_ > 0; }

 private:
  void start();
  // Kills the worker and says how it ended.
  std::string reap(bool kill_it);

  pid_t process_ = -1;
  int socket_ = -1;
};

// What a worker does with a request; also called in this process when isolation is off (under a debugger or another
// tool that cannot follow forks). One thread at a time.
Answer serve(const Request& request);

}  // namespace gpuexp::cuda
