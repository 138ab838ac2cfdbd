// What a backend answers while a variant's launch function runs: the other side of gpuexp::Launch (kernels/variant.h).
// Launch::state() points to one of these. Names are as the kernel file wrote them; an error that ends the point is kept
// by the context and reported when the launch function has returned, never thrown through kernel code.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuexp {

struct LaunchConfig;  // kernels/variant.h

class LaunchContext {
 public:
  LaunchContext() = default;
  LaunchContext(const LaunchContext&) = delete;
  LaunchContext& operator=(const LaunchContext&) = delete;
  virtual ~LaunchContext() = default;

  virtual std::int64_t param(std::string_view name) = 0;
  virtual bool param_is(std::string_view name, std::string_view word) = 0;
  virtual std::int64_t value(std::string_view list, std::int64_t index) = 0;
  // Device address of a buffer; null (and an error kept) when the problem has no such buffer.
  virtual void* address(std::string_view buffer, std::uint64_t element_bytes, bool writable) = 0;
  virtual void unsupported(std::string_view reason) = 0;

  // simt: runs `invoke_body(body)` once per thread of the grid.
  virtual void emulate(const LaunchConfig& config, const void* kernel, void (*invoke_body)(const void*),
                       const void* body) = 0;
  // cuda: false when the launch is refused; `stream` is a cudaStream_t.
  virtual bool cuda_begin(const LaunchConfig& config, const void* kernel) = 0;
  virtual void cuda_end() = 0;
  virtual void* stream() = 0;
  // The handle of a library ("cublas"), bound to stream(); null, with the reason kept, when it is not there.
  virtual void* library(std::string_view /*name*/) { return nullptr; }
  virtual void failed(std::string_view /*reason*/, int /*code*/) {}
};

}  // namespace gpuexp
