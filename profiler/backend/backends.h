// How a backend becomes part of a build: it registers itself beside its definition. (Link it as an object library, so
// that the linker keeps the registrar.) A build without it needs no word about it anywhere else.
#pragma once

#include <memory>

#include "profiler/backend/backend.h"

namespace gpuexp {

struct RegisterBackend {
  // `make` is called once per make_backends(); backends are listed in order of `rank`, the preferred first.
  RegisterBackend(int rank, std::unique_ptr<Backend> (*make)());
};

inline constexpr int kCudaRank = 0;  // measures
inline constexpr int kSimtRank = 1;  // emulates

}  // namespace gpuexp
