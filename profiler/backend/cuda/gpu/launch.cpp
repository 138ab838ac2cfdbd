// Answers launch functions on the GPU.
#include "profiler/backend/cuda/gpu/launch.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include "profiler/backend/cuda/gpu/cuda_call.h"
#include "profiler/core/error.h"

// LaunchConfig is needed whole, outside a kernel file.
#define GPUEXP_SIMT 1
#include "kernels/variant.h"

namespace gpuexp::cuda {
namespace {

constexpr std::size_t most_recorded_launches = 256;  // a report of more helps nobody

// "matmul_tiled<float, 16>" of the mangled or plain name.
std::string source_name(const char* symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string name = status == 0 && text != nullptr ? text : symbol;
  std::free(text);  // NOLINT: the demangler's contract
  name = name.substr(0, name.find('('));
  if (name.starts_with("void ")) name.erase(0, 5);
  if (name.starts_with("gpuexp_cuda_")) name.erase(0, name.find("::") + 2);  // the wrapper's namespace
  return name;
}

Dim3 dim3_of(const Extent& extent) { return {extent.x, extent.y, extent.z}; }

}  // namespace

void* LibraryHandles::get(std::string_view name) {
  if (name == "cublas") {
    if (!cublas_) cublas_ = std::make_unique<CublasHandle>(stream_);
    return cublas_->get();
  }
  if (name == "cusparse") {
    if (!cusparse_) cusparse_ = std::make_unique<CusparseHandle>(stream_);
    return cusparse_->get();
  }
  throw std::runtime_error(fmt::format("this build knows no library '{}'; it knows cublas and cusparse", name));
}

CudaLaunchContext::CudaLaunchContext(const ParamSet& params, const Workload& workload,
                                     const std::vector<void*>& addresses, cudaStream_t stream,
                                     LibraryHandles& libraries)
    : params_(params), workload_(workload), addresses_(addresses), stream_(stream), libraries_(libraries) {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaGetDeviceProperties(&device_, device), "cudaGetDeviceProperties");
}

CudaLaunchContext::~CudaLaunchContext() {
  if (prepared_ && prepared_->state != nullptr) prepared_->destroy(prepared_->state);
}

std::optional<double> CudaLaunchContext::preparation_us() const {
  return prepared_ ? std::optional(prepared_->us) : std::nullopt;
}

void* CudaLaunchContext::prepared(const Launch& launch, void* (*make)(const Launch&), void (*destroy)(void*)) {
  if (!prepared_) {
    kept(0, [&] {
      check(cudaStreamSynchronize(stream_), "the work before a preparation");
      const auto start = std::chrono::steady_clock::now();
      prepared_ = Prepared{make(launch), destroy, 0};
      check(cudaStreamSynchronize(stream_), "a preparation");
      prepared_->us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
      return 0;
    });
  }
  return prepared_ ? prepared_->state : nullptr;
}

void CudaLaunchContext::fail(Status status, std::string reason) {
  if (!problem_) problem_ = LaunchProblem{status, std::move(reason)};
}

template <class T, class Get>
T CudaLaunchContext::kept(T otherwise, Get&& get) {
  try {
    return get();
  } catch (const std::exception& error) {
    fail(Status::failed, error.what());
    return otherwise;
  }
}

std::int64_t CudaLaunchContext::param(std::string_view name) {
  return kept<std::int64_t>(1, [&] { return params_.integer(name); });
}

bool CudaLaunchContext::param_is(std::string_view name, std::string_view word) {
  return kept(false, [&] { return params_.word(name) == word; });
}

std::int64_t CudaLaunchContext::value(std::string_view list, std::int64_t index) {
  return kept<std::int64_t>(0, [&] { return workload_.host_value(list, index); });
}

void* CudaLaunchContext::address(std::string_view buffer, std::uint64_t element_bytes, bool several, bool writable) {
  const std::vector<BufferSpec>& specs = workload_.buffers();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].name != buffer) continue;
    const auto size = static_cast<std::uint64_t>(size_bytes(specs[i].dtype));
    if (!elements_fit(element_bytes, several, size)) {
      fail(Status::failed, fmt::format("the launch function asks for {} in elements of {} bytes, but they have {}",
                                       buffer, element_bytes, size));
    } else if (writable && specs[i].role == Role::in) {
      fail(Status::failed, fmt::format("the launch function asks to write the input {}", buffer));
    }
    return addresses_[i];
  }
  fail(Status::failed, fmt::format("the problem has no buffer '{}'", buffer));
  return nullptr;
}

void CudaLaunchContext::unsupported(std::string_view reason) { fail(Status::unsupported, std::string(reason)); }

void CudaLaunchContext::failed(std::string_view reason, int code) {
  fail(Status::failed, fmt::format("{} (code {})", reason, code));
}

void CudaLaunchContext::emulate(const LaunchConfig& /*config*/, const void* /*kernel*/,
                                void (* /*invoke_body*/)(const void*), const void* /*body*/) {
  fail(Status::failed, "the emulator's copy of the variant was called on the GPU");
}

CudaLaunchContext::Kernel& CudaLaunchContext::known(const void* kernel) {
  const auto [entry, fresh] = kernels_.try_emplace(kernel);
  if (fresh) {
    check(cudaFuncGetAttributes(&entry->second.attributes, kernel), "cudaFuncGetAttributes");
    const char* symbol = nullptr;
    entry->second.name = cudaFuncGetName(&symbol, kernel) == cudaSuccess ? source_name(symbol) : "unnamed kernel";
  }
  return entry->second;
}

bool CudaLaunchContext::fits(const LaunchConfig& config, Kernel& kernel) {
  const auto refuse = [&](const char* what, long long asked, long long most) {
    fail(Status::failed, fmt::format("{}: {} is {}, and this GPU allows {} at most", kernel.name, what, asked, most));
    return false;
  };
  const Extent &grid = config.grid, &block = config.block;
  if (std::min({grid.x, grid.y, grid.z, block.x - 1, block.y - 1, block.z - 1}) < 0) {
    fail(Status::failed,
         fmt::format("{}: the grid or the block has a negative extent, or the block an empty one", kernel.name));
    return false;
  }
  if (grid.x > device_.maxGridSize[0]) return refuse("grid.x", grid.x, device_.maxGridSize[0]);
  if (grid.y > device_.maxGridSize[1]) return refuse("grid.y", grid.y, device_.maxGridSize[1]);
  if (grid.z > device_.maxGridSize[2]) return refuse("grid.z", grid.z, device_.maxGridSize[2]);
  if (block.x > device_.maxThreadsDim[0]) return refuse("block.x", block.x, device_.maxThreadsDim[0]);
  if (block.y > device_.maxThreadsDim[1]) return refuse("block.y", block.y, device_.maxThreadsDim[1]);
  if (block.z > device_.maxThreadsDim[2]) return refuse("block.z", block.z, device_.maxThreadsDim[2]);
  const long long threads = block.x * block.y * block.z;
  if (threads > device_.maxThreadsPerBlock) return refuse("threads per block", threads, device_.maxThreadsPerBlock);
  if (threads > kernel.attributes.maxThreadsPerBlock) {
    fail(Status::failed,
         fmt::format("{}: its {} registers per thread allow {} threads per block at most, not {}", kernel.name,
                     kernel.attributes.numRegs, kernel.attributes.maxThreadsPerBlock, threads));
    return false;
  }
  const long long fixed = static_cast<long long>(kernel.attributes.sharedSizeBytes);
  const long long most_shared = static_cast<long long>(device_.sharedMemPerBlockOptin) - fixed;
  if (config.dynamic_shared_bytes > most_shared) {
    return refuse("dynamic shared memory in bytes", config.dynamic_shared_bytes, most_shared);
  }
  return true;
}

bool CudaLaunchContext::cuda_begin(const LaunchConfig& config, const void* function) {
  if (problem_) return false;
  return kept(false, [&] {
    const Extent &grid = config.grid, &block = config.block;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0) return false;  // nothing to compute
    Kernel& kernel = known(function);
    if (!fits(config, kernel)) return false;
    if (config.dynamic_shared_bytes > kernel.dynamic_shared_allowed) {
      check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(config.dynamic_shared_bytes)),
            "cudaFuncSetAttribute");
      kernel.dynamic_shared_allowed = config.dynamic_shared_bytes;
    }
    if (recording_) {
      blocks_ += grid.x * grid.y * grid.z;
      if (launches_.size() < most_recorded_launches) {
        launches_.push_back({kernel.name, dim3_of(grid), dim3_of(block),
                             static_cast<std::int64_t>(kernel.attributes.sharedSizeBytes), config.dynamic_shared_bytes,
                             kernel.attributes.numRegs});
      }
    }
    return true;
  });
}

void CudaLaunchContext::cuda_end() {
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return;
  fail(Status::failed, fmt::format("launch refused: {} ({})", cudaGetErrorString(error), cudaGetErrorName(error)));
}

void* CudaLaunchContext::stream() { return stream_; }

void* CudaLaunchContext::library(std::string_view name) {
  try {
    return libraries_.get(name);
  } catch (const std::exception& error) {
    fail(Status::unsupported, error.what());
    return nullptr;
  }
}

}  // namespace gpuexp::cuda
