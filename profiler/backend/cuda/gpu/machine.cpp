// Asks the CUDA runtime what is there, and turns what it cannot do into reasons and remedies.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <string>

#include "profiler/backend/cuda/gpu/cupti.h"
#include "profiler/backend/cuda/gpu/cusparse.h"
#include "profiler/backend/cuda/gpu/library.h"
#include "profiler/backend/cuda/machine_facts.h"

namespace gpuexp::cuda {
namespace {

std::string uuid_text(const cudaDeviceProp& properties, bool mig) {
  std::string text = mig ? "MIG-" : "GPU-";
  for (std::size_t i = 0; i < sizeof properties.uuid.bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(properties.uuid.bytes[i]));
  }
  return text;
}

int attribute(cudaDeviceAttr name, int device) {
  int value = 0;
  cudaDeviceGetAttribute(&value, name, device);  // 0 = the driver does not say
  return value;
}

Gpu describe(int index) {
  cudaDeviceProp p{};
  Gpu gpu;
  gpu.index = index;
  if (cudaGetDeviceProperties(&p, index) != cudaSuccess) return gpu;
  gpu.name = p.name;
  gpu.mig = gpu.name.find(" MIG ") != std::string::npos;
  gpu.uuid = uuid_text(p, gpu.mig);
  gpu.bus_id = fmt::format("{:04x}:{:02x}:{:02x}.0", p.pciDomainID, p.pciBusID, p.pciDeviceID);
  gpu.compute_capability_major = p.major;
  gpu.compute_capability_minor = p.minor;
  gpu.sm_count = p.multiProcessorCount;
  gpu.clock_mhz = attribute(cudaDevAttrClockRate, index) / 1e3;
  gpu.memory_clock_mhz = attribute(cudaDevAttrMemoryClockRate, index) / 1e3;
  gpu.bus_width_bits = p.memoryBusWidth;
  gpu.memory_bytes = p.totalGlobalMem;
  gpu.l2_bytes = static_cast<std::uint64_t>(p.l2CacheSize);
  gpu.threads_per_sm = p.maxThreadsPerMultiProcessor;
  gpu.blocks_per_sm = p.maxBlocksPerMultiProcessor;
  gpu.registers_per_sm = p.regsPerMultiprocessor;
  gpu.registers_per_block = p.regsPerBlock;
  gpu.shared_per_sm = static_cast<std::int64_t>(p.sharedMemPerMultiprocessor);
  gpu.shared_per_block = static_cast<std::int64_t>(p.sharedMemPerBlock);
  gpu.shared_per_block_opt_in = static_cast<std::int64_t>(p.sharedMemPerBlockOptin);
  gpu.shared_reserved = static_cast<std::int64_t>(p.reservedSharedMemPerBlock);
  return gpu;
}

// What to do about a runtime that finds no GPU it can use.
std::string remedy_for(cudaError_t error, const Machine& machine) {
  switch (error) {
    case cudaErrorInsufficientDriver:
      return machine.driver_version == 0
                 ? "install the NVIDIA driver (in a container: start it with --gpus all)"
                 : fmt::format("the driver supports CUDA {} and this build needs {}: update the driver",
                               cuda_version_text(machine.driver_version), cuda_version_text(machine.runtime_version));
    case cudaErrorNoDevice:
      return "check `nvidia-smi`, CUDA_VISIBLE_DEVICES, and in a container --gpus all";
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
      return "the driver was updated while it ran: reboot; on NVSwitch machines start nvidia-fabricmanager";
    default:
      return "see `nvidia-smi` and `dmesg`";
  }
}

}  // namespace

int toolkit_version() { return CUDART_VERSION; }

Machine inspect_machine() {
  Machine machine;
  machine.runtime_version = CUDART_VERSION;
  cudaDriverGetVersion(&machine.driver_version);
  machine.driver_release = driver_release();
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    cudaGetLastError();
    machine.reason = fmt::format("CUDA finds no GPU: {} ({})", cudaGetErrorString(error), cudaGetErrorName(error));
    machine.remedy = remedy_for(error, machine);
    return machine;
  }
  for (int i = 0; i < count; ++i) machine.gpus.push_back(describe(i));
  if (count == 0) {
    machine.reason = "CUDA finds no GPU";
    machine.remedy = remedy_for(cudaErrorNoDevice, machine);
  }
  return machine;
}

std::vector<LibraryFound> find_libraries() {
  std::vector<LibraryFound> found;
  const Cupti& c = cupti();
  found.push_back({"CUPTI", c.problem.empty() ? c.path : "",
                   c.problem.empty() ? fmt::format("API version {}", c.version) : c.problem});
  const Library blas({fmt::format("libcublas.so.{}", CUDART_VERSION / 1000), "libcublas.so"});
  found.push_back({"cuBLAS", blas.path(), blas.open() ? "" : blas.problem()});
  const Library& sparse = cusparse_library();
  found.push_back({"cuSPARSE", sparse.path(), sparse.open() ? "" : sparse.problem()});
  return found;
}

}  // namespace gpuexp::cuda
