// What a result file records of the machine and the build.
#pragma once

#include "profiler/backend/backend.h"
#include "profiler/report/result_file.h"

namespace gpuexp {

// "g++ 12.2.0", "clang 14.0.6": what compiled gpuexp and the emulated kernels.
std::string compiler_text();

// host, os, cpu, cpu_cores, compiler, started (UTC, ISO 8601), then what the backend says.
Environment environment_of(const Backend& backend);

}  // namespace gpuexp
