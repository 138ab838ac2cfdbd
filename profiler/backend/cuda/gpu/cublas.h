// cuBLAS, opened at run time. Kernel files call it by its own names (cublasSgemm, ...): cublas.cpp defines those
// functions and forwards to the library, so that a program without it starts and says so when a point needs it.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace gpuexp::cuda {

// A cuBLAS handle of the calling thread's context, bound to a stream.
class CublasHandle {
 public:
  // Throws std::runtime_error with the reason and the remedy when the library is missing or cannot start.
  explicit CublasHandle(cudaStream_t stream);
  ~CublasHandle();
  CublasHandle(const CublasHandle&) = delete;
  CublasHandle& operator=(const CublasHandle&) = delete;
  [[nodiscard]] void* get() const { return handle_; }

 private:
  void* handle_ = nullptr;
};

}  // namespace gpuexp::cuda
