// Finds or derives the roof of a GPU.
#include "profiler/backend/cuda/derived_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "profiler/core/error.h"

namespace gpuexp::cuda {
namespace {

// FMA lanes per SM by compute capability: CUDA C++ Programming Guide, "Arithmetic Instructions" (throughput table).
struct Lanes {
  int major, minor;
  double fp32, fp64;
};
constexpr std::array lanes_table{
    Lanes{7, 0, 64, 32},   Lanes{7, 2, 64, 32},  Lanes{7, 5, 64, 2},   Lanes{8, 0, 64, 32},
    Lanes{8, 6, 128, 2},   Lanes{8, 7, 128, 2},  Lanes{8, 9, 128, 2},  Lanes{9, 0, 128, 64},
    Lanes{10, 0, 128, 64}, Lanes{10, 3, 128, 2}, Lanes{12, 0, 128, 2}, Lanes{12, 1, 128, 2},
};

void add(DeviceSpec& spec, const char* path, Evidence evidence, const std::string& source,
         const std::string& note = {}) {
  spec.provenance[path] = {evidence, source, note};
}

SmLimits limits_of(const Gpu& gpu) {
  SmLimits sm;
  sm.warp_size = 32;
  sm.max_threads = gpu.threads_per_sm;
  sm.max_warps = gpu.threads_per_sm / 32;
  sm.max_blocks = gpu.blocks_per_sm;
  sm.max_threads_per_block = 1024;
  sm.registers = gpu.registers_per_sm;
  sm.registers_per_block = gpu.registers_per_block;
  sm.max_registers_per_thread = 255;
  sm.register_unit_per_warp = 256;
  sm.sub_partitions = 4;
  sm.shared_bytes = static_cast<int>(gpu.shared_per_sm);
  sm.shared_bytes_per_block = static_cast<int>(gpu.shared_per_block_opt_in);
  sm.shared_bytes_static = static_cast<int>(gpu.shared_per_block);
  sm.shared_unit_bytes = 128;
  sm.shared_reserved_bytes = static_cast<int>(gpu.shared_reserved);
  sm.shared_banks = 32;
  sm.shared_bank_bytes = 4;
  sm.l1_shared_bytes = static_cast<int>(gpu.shared_per_sm);
  return sm;
}

}  // namespace

DeviceSpec derive_device(const Gpu& gpu) {
  if (gpu.sm_count <= 0 || gpu.clock_mhz <= 0 || gpu.memory_clock_mhz <= 0 || gpu.bus_width_bits <= 0) {
    throw Error(
        ExitCode::machine,
        fmt::format("{} is not in the device list, and its driver does not tell its clocks and bus; name a roof "
                    "with --device, or a device file (./my_gpu.json)",
                    gpu.name));
  }
  const std::string asked = fmt::format("attributes of {} ({})", gpu.name, gpu.uuid);
  DeviceSpec spec;
  spec.id = gpu.uuid;
  spec.name = gpu.name;
  spec.family = gpu.name;
  spec.compute_capability = fmt::format("{}.{}", gpu.compute_capability_major, gpu.compute_capability_minor);
  spec.sm_count = gpu.sm_count;
  spec.boost_clock_hz = gpu.clock_mhz * 1e6;
  spec.memory.type = "unknown";
  spec.memory.bytes = static_cast<double>(gpu.memory_bytes);
  spec.memory.bus_width_bits = gpu.bus_width_bits;
  spec.memory.clock_hz = gpu.memory_clock_mhz * 1e6;
  spec.memory.bandwidth = bus_bandwidth(gpu.bus_width_bits, gpu.memory_clock_mhz * 1e6);
  spec.l2_bytes = static_cast<double>(gpu.l2_bytes);
  spec.sm = limits_of(gpu);
  spec.origin = "derived from the GPU's attributes";
  spec.notes.push_back(
      "not in the device list: its ceilings are modelled from what the driver says (lanes x clock, bus width x memory "
      "clock); tensor peaks are not known");
  if (gpu.mig) {
    spec.notes.push_back(
        "a MIG slice: its SMs are counted, and its bandwidth is the bus the driver reports for the slice; other slices "
        "share the card's clocks and power");
  }
  for (const char* path :
       {"sm_count", "boost_clock_mhz", "memory.size_gb", "memory.bus_width_bits", "memory.clock_mhz", "l2_bytes"}) {
    add(spec, path, Evidence::queried, asked);
  }
  add(spec, "memory.bandwidth_gb_s", Evidence::derived, asked, "bus width x memory clock x 2");
  const auto lanes = std::find_if(lanes_table.begin(), lanes_table.end(), [&](const Lanes& row) {
    return row.major == gpu.compute_capability_major && row.minor == gpu.compute_capability_minor;
  });
  if (lanes != lanes_table.end()) {
    const auto add_peak = [&](const char* precision, double fma_per_clock) {
      spec.rates[precision] = fma_per_clock;
      spec.peaks[precision] = peak_flops(fma_per_clock * gpu.sm_count, spec.boost_clock_hz);
      add(spec, fmt::format("peaks_tflops.{}", precision).c_str(), Evidence::derived, asked,
          "FMA lanes per SM (CUDA C++ Programming Guide) x SMs x clock x 2");
      add(spec, fmt::format("fma_per_sm_per_clock.{}", precision).c_str(), Evidence::datasheet,
          "CUDA C++ Programming Guide, throughput of arithmetic instructions");
    };
    add_peak("fp32", lanes->fp32);
    add_peak("fp64", lanes->fp64);
  }
  return spec;
}

DeviceSpec roof_of(const Gpu& gpu) {
  if (!gpu.mig) {
    try {
      DeviceMatch match = find_device(gpu.name);
      if (match.spec.sm_count == gpu.sm_count) return match.spec;
    } catch (const Error&) {  // not in the list, or ambiguous by its name: then by its attributes
    }
  }
  return derive_device(gpu);
}

}  // namespace gpuexp::cuda
