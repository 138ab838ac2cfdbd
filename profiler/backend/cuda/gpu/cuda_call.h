// Errors of CUDA calls as exceptions, and owners of what CUDA hands out. Destructors never throw: a call that fails
// while a point is being cleaned up has failed before, and was reported then.
#pragma once

#include <cuda_runtime_api.h>
#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace gpuexp::cuda {

class CudaFailure : public std::runtime_error {
 public:
  CudaFailure(cudaError_t error, const char* call)
      : std::runtime_error(std::string(call) + ": " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")"),
        error_(error) {}
  [[nodiscard]] cudaError_t error() const noexcept { return error_; }

 private:
  cudaError_t error_;
};

// Throws CudaFailure unless the call succeeded.
inline void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // so that a later check does not report this error again
  throw CudaFailure(error, call);
}

// Bytes on the device; of at least 256, so that an empty buffer has an address too.
class DeviceBytes {
 public:
  DeviceBytes() = default;
  explicit DeviceBytes(std::size_t size) : size_(size) {
    check(cudaMalloc(&data_, size < 256 ? 256 : size), "cudaMalloc");
  }
  DeviceBytes(DeviceBytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceBytes& operator=(DeviceBytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  ~DeviceBytes() {
    if (data_ != nullptr) cudaFree(data_);
  }
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

// Handles of the runtime, closed when they go out of scope.
template <class Handle, auto destroy>
struct HandleDeleter {
  using pointer = Handle;
  void operator()(Handle handle) const { destroy(handle); }
};
template <class Handle, auto destroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, HandleDeleter<Handle, destroy>>;

using Event = Owned<cudaEvent_t, cudaEventDestroy>;
using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Graph = Owned<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;

inline Event make_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event), "cudaEventCreate");
  return Event(event);
}
inline Stream make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return Stream(stream);
}

// Host memory that the device can write to, of one T.
template <class T>
class PinnedValue {
 public:
  PinnedValue() { check(cudaHostAlloc(&data_, sizeof(T), cudaHostAllocMapped), "cudaHostAlloc"); }
  PinnedValue(const PinnedValue&) = delete;
  PinnedValue& operator=(const PinnedValue&) = delete;
  ~PinnedValue() { cudaFreeHost(data_); }
  [[nodiscard]] T* get() const { return static_cast<T*>(data_); }
  T& operator*() const { return *get(); }

 private:
  void* data_ = nullptr;
};

}  // namespace gpuexp::cuda
