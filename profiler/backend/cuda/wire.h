// The messages between gpuexp and the worker process that holds the CUDA context, as bytes: both are the same program,
// so the encoding is that of the machine and has no versions.
#pragma once

#include <string>
#include <string_view>

#include "profiler/backend/backend.h"
#include "profiler/backend/cuda/gpu_part.h"

namespace gpuexp::cuda {

// What is asked of the worker.
struct Request {
  enum class Kind : std::uint8_t { inspect, measure } kind = Kind::inspect;
  Point point;         // of measure
  RunOptions options;  // of measure; `cancel` does not travel
};

// What it answers. `context_lost` says that the context did not survive: the worker must be replaced.
struct Answer {
  Machine machine;     // of inspect
  PointResult result;  // of measure
  bool context_lost = false;
};

std::string encode(const Request& request);
std::string encode(const Answer& answer);
// Throw std::runtime_error when the bytes end early or are left over.
Request decode_request(std::string_view bytes);
Answer decode_answer(std::string_view bytes);

}  // namespace gpuexp::cuda
