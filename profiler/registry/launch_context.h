// What a backend answers while a variant's launch function runs: the other side of gpuexp::Launch (kernels/variant.h).
// Launch::state() points to one of these. Names are as the kernel file wrote them; an error that ends the point is kept
// by the context and reported when the launch function has returned, never thrown through kernel code.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuexp {

class Launch;  // kernels/variant.h
struct LaunchConfig;

class LaunchContext {
 public:
  LaunchContext() = default;
  LaunchContext(const LaunchContext&) = delete;
  LaunchContext& operator=(const LaunchContext&) = delete;
  virtual ~LaunchContext() = default;

  virtual std::int64_t param(std::string_view name) = 0;
  virtual bool param_is(std::string_view name, std::string_view word) = 0;
  virtual std::int64_t value(std::string_view list, std::int64_t index) = 0;
  // Device address of a buffer; null (and an error kept) when the problem has no such buffer. The launch function takes
  // it in elements of `element_bytes`, each one of the buffer's or, where `several` says so, a whole number of them.
  virtual void* address(std::string_view buffer, std::uint64_t element_bytes, bool several, bool writable) = 0;
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
  virtual void* prepared(const Launch& /*launch*/, void* (* /*make*/)(const Launch&), void (* /*destroy*/)(void*)) {
    return nullptr;
  }
  virtual void failed(std::string_view /*reason*/, int /*code*/) {}
};

// Whether elements of `taken` bytes fit a buffer whose elements have `stored` (LaunchContext::address). A buffer of
// bytes is raw memory: anything fits.
constexpr bool elements_fit(std::uint64_t taken, bool several, std::uint64_t stored) {
  return taken == stored || stored == 1 || (several && taken % stored == 0);
}

}  // namespace gpuexp
