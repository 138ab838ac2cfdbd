// What a launch function meets on the GPU: parameters, device addresses, and launches checked before they are made.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/problem.h"
#include "profiler/backend/cuda/gpu/cublas.h"
#include "profiler/backend/cuda/gpu/cusparse.h"
#include "profiler/core/point.h"
#include "profiler/registry/launch_context.h"

namespace gpuexp::cuda {

// Why a launch function did not do its work.
struct LaunchProblem {
  Status status = Status::failed;
  std::string reason;
};

// Libraries live as long as the context, not as long as a point.
class LibraryHandles {
 public:
  explicit LibraryHandles(cudaStream_t stream) : stream_(stream) {}
  // Throws std::runtime_error with reason and remedy.
  void* get(std::string_view name);

 private:
  cudaStream_t stream_;
  std::unique_ptr<CublasHandle> cublas_;
  std::unique_ptr<CusparseHandle> cusparse_;
};

class CudaLaunchContext final : public LaunchContext {
 public:
  // `addresses`: of the workload's buffers, in their order. All references outlive the context.
  CudaLaunchContext(const ParamSet& params, const Workload& workload, const std::vector<void*>& addresses,
                    cudaStream_t stream, LibraryHandles& libraries);
  ~CudaLaunchContext() override;
  CudaLaunchContext(const CudaLaunchContext&) = delete;
  CudaLaunchContext& operator=(const CudaLaunchContext&) = delete;

  // What went wrong since construction; nothing when all is well.
  [[nodiscard]] const std::optional<LaunchProblem>& problem() const { return problem_; }
  // Launches seen while recording was on.
  [[nodiscard]] const std::vector<LaunchInfo>& launches() const { return launches_; }
  [[nodiscard]] std::int64_t blocks() const { return blocks_; }
  void record(bool on) { recording_ = on; }
  // How long what the variant prepares once took, by the host's clock; nothing when it prepares nothing.
  [[nodiscard]] std::optional<double> preparation_us() const;

  std::int64_t param(std::string_view name) override;
  bool param_is(std::string_view name, std::string_view word) override;
  std::int64_t value(std::string_view list, std::int64_t index) override;
  void* address(std::string_view buffer, std::uint64_t element_bytes, bool several, bool writable) override;
  void unsupported(std::string_view reason) override;
  void emulate(const LaunchConfig& config, const void* kernel, void (*invoke_body)(const void*),
               const void* body) override;
  bool cuda_begin(const LaunchConfig& config, const void* kernel) override;
  void cuda_end() override;
  void* stream() override;
  void* library(std::string_view name) override;
  void* prepared(const Launch& launch, void* (*make)(const Launch&), void (*destroy)(void*)) override;
  void failed(std::string_view reason, int code) override;

 private:
  struct Kernel {
    std::string name;
    cudaFuncAttributes attributes{};
    long long dynamic_shared_allowed = 0;
  };
  // What the variant prepared once (Launch::prepared).
  struct Prepared {
    void* state = nullptr;
    void (*destroy)(void*) = nullptr;
    double us = 0;
  };
  void fail(Status status, std::string reason);
  // Calls `get`; what it throws becomes the point's problem, since nothing may be thrown through kernel code.
  template <class T, class Get>
  T kept(T otherwise, Get&& get);
  Kernel& known(const void* kernel);
  bool fits(const LaunchConfig& config, Kernel& kernel);

  const ParamSet& params_;
  const Workload& workload_;
  const std::vector<void*>& addresses_;
  cudaStream_t stream_;
  LibraryHandles& libraries_;
  cudaDeviceProp device_{};
  std::map<const void*, Kernel> kernels_;
  std::optional<LaunchProblem> problem_;
  std::optional<Prepared> prepared_;
  std::vector<LaunchInfo> launches_;
  std::int64_t blocks_ = 0;
  bool recording_ = false;
};

}  // namespace gpuexp::cuda
