// The cuda backend: runs points on an NVIDIA GPU, in a worker process that holds the CUDA context.
#pragma once

#include <memory>

#include "profiler/backend/backend.h"

namespace gpuexp {

// Always succeeds: without a toolkit in the build, a driver or a GPU, availability() says why and what to do about it.
// `predictor` emulates the same points (PointResult::predicted and ::sites); null = no predictions.
std::unique_ptr<Backend> make_cuda_backend(std::unique_ptr<Backend> predictor);

}  // namespace gpuexp
