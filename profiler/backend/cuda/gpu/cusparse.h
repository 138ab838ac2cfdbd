// cuSPARSE, opened at run time. Kernel files call it by its own names: cusparse.cpp defines those functions and
// forwards to the library, so that a program without it starts and says so when a point needs it.
#pragma once

#include <cuda_runtime_api.h>

#include "profiler/backend/cuda/gpu/library.h"

namespace gpuexp::cuda {

// The library, opened by the first call.
const Library& cusparse_library();

// A cuSPARSE handle of the calling thread's context, bound to a stream.
class CusparseHandle {
 public:
  // Throws std::runtime_error with the reason and the remedy when the library is missing or cannot start.
  explicit CusparseHandle(cudaStream_t stream);
  ~CusparseHandle();
  CusparseHandle(const CusparseHandle&) = delete;
  CusparseHandle& operator=(const CusparseHandle&) = delete;
  [[nodiscard]] void* get() const { return handle_; }

 private:
  void* handle_ = nullptr;
};

}  // namespace gpuexp::cuda
