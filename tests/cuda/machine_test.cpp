// Which GPU is meant, the roof it gets, and what doctor says of machines that lack something.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/backend/cuda/derived_device.h"
#include "profiler/backend/cuda/doctor.h"
#include "profiler/backend/cuda/machine_facts.h"
#include "profiler/core/error.h"

namespace gpuexp::cuda {
namespace {

using testing::HasSubstr;

Gpu h200() {
  Gpu gpu;
  gpu.name = "NVIDIA H200";
  gpu.uuid = "GPU-42931fbe-70e3-4299-602a-19289aaf5d7a";
  gpu.compute_capability_major = 9;
  gpu.sm_count = 132;
  gpu.clock_mhz = 1980;
  gpu.memory_clock_mhz = 3201;
  gpu.bus_width_bits = 6016;
  gpu.memory_bytes = 150'000'000'000;
  gpu.l2_bytes = 62914560;
  gpu.threads_per_sm = 2048;
  gpu.blocks_per_sm = 32;
  gpu.registers_per_sm = 65536;
  gpu.registers_per_block = 65536;
  gpu.shared_per_sm = 233472;
  gpu.shared_per_block = 49152;
  gpu.shared_per_block_opt_in = 232448;
  gpu.shared_reserved = 1024;
  return gpu;
}

Machine two_gpus() {
  Machine machine;
  machine.driver_version = machine.runtime_version = 13000;
  machine.gpus = {h200(), h200()};
  machine.gpus[1].index = 1;
  machine.gpus[1].uuid = "GPU-00000000-1111-2222-3333-444444444444";
  return machine;
}

TEST(ChooseGpu, ByIndexUuidAndDefault) {
  const Machine machine = two_gpus();
  EXPECT_EQ(choose_gpu(machine, "").index, 0);
  EXPECT_EQ(choose_gpu(machine, "1").index, 1);
  EXPECT_EQ(choose_gpu(machine, "GPU-00000000-1111-2222-3333-444444444444").index, 1);
  EXPECT_EQ(choose_gpu(machine, "GPU-4293").index, 0);
}

TEST(ChooseGpu, MissingOrAmbiguousIsAMachineErrorThatListsThem) {
  const Machine machine = two_gpus();
  for (const char* wrong : {"2", "-1", "GPU-9", "GPU-", "H200", "0 "}) {
    try {
      choose_gpu(machine, wrong);
      ADD_FAILURE() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::machine) << wrong;
      EXPECT_THAT(error.what(), HasSubstr("1 (NVIDIA H200, GPU-00000000")) << wrong;
    }
  }
  Machine none;
  none.reason = "CUDA finds no GPU";
  none.remedy = "check nvidia-smi";
  EXPECT_THROW(choose_gpu(none, ""), Error);
}

TEST(Roof, AListedGpuGetsItsDatasheet) {
  const DeviceSpec roof = roof_of(h200());
  EXPECT_EQ(roof.id, "h200-sxm-141gb");
  EXPECT_EQ(roof.memory.bandwidth, 4.8e12);
}

TEST(Roof, UnlistedGpusAndSlicesAreDerivedFromTheirAttributes) {
  Gpu unknown = h200();
  unknown.name = "NVIDIA X1";
  const DeviceSpec roof = roof_of(unknown);
  EXPECT_EQ(roof.name, "NVIDIA X1");
  EXPECT_DOUBLE_EQ(*roof.peak("fp32"), 132 * 128 * 2 * 1.98e9);
  EXPECT_DOUBLE_EQ(*roof.peak("fp64"), 132 * 64 * 2 * 1.98e9);
  EXPECT_FALSE(roof.peak("bf16").has_value());
  EXPECT_DOUBLE_EQ(roof.memory.bandwidth, 6016.0 / 8 * 3201e6 * 2);
  EXPECT_EQ(roof.provenance_of("memory.bandwidth_gb_s").evidence, Evidence::derived);
  EXPECT_EQ(roof.provenance_of("peaks_tflops.fp32").evidence, Evidence::derived);

  Gpu slice = h200();
  slice.name = "NVIDIA H200 MIG 1g.18gb";
  slice.mig = true;
  slice.sm_count = 16;
  const DeviceSpec of_slice = roof_of(slice);
  EXPECT_DOUBLE_EQ(*of_slice.peak("fp32"), 16 * 128 * 2 * 1.98e9);
  EXPECT_THAT(of_slice.notes.back(), HasSubstr("MIG slice"));

  Gpu fewer = h200();  // the right name, but not the whole card
  fewer.sm_count = 100;
  EXPECT_EQ(roof_of(fewer).sm_count, 100);

  Gpu silent = unknown;
  silent.memory_clock_mhz = 0;
  EXPECT_THROW(roof_of(silent), Error);
}

Surroundings healthy() {
  Surroundings a;
  a.toolkit = a.driver = true;
  a.machine = two_gpus();
  a.libraries = {{"CUPTI", "/lib/libcupti.so", ""}, {"cuBLAS", "/lib/libcublas.so", ""}};
  a.profiling_admin_only = 0;
  return a;
}

const Check& check_named(const std::vector<Check>& checks, const std::string& name) {
  for (const Check& check : checks)
    if (check.name == name) return check;
  throw std::runtime_error("no check named " + name);
}

TEST(Doctor, AHealthyMachinePassesEverything) {
  for (const Check& check : checks_of(healthy())) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.found;
    EXPECT_EQ(check.remedy, "") << check.name;
  }
}

TEST(Doctor, EachFailureHasItsRemedy) {
  Surroundings a = healthy();
  a.toolkit = false;
  EXPECT_THAT(check_named(checks_of(a), "toolkit").remedy, HasSubstr("GPUEXP_CUDA=ON"));

  a = healthy();
  a.driver = false;
  a.driver_problem = "libcuda.so.1: not found";
  a.container = true;
  EXPECT_FALSE(check_named(checks_of(a), "driver").ok);
  EXPECT_THAT(check_named(checks_of(a), "driver").remedy, HasSubstr("--gpus all"));

  a = healthy();
  a.machine.driver_version = 12040;
  EXPECT_THAT(check_named(checks_of(a), "driver").remedy, HasSubstr("update the driver"));

  a = healthy();
  a.profiling_admin_only = 1;
  EXPECT_THAT(check_named(checks_of(a), "counter permission").remedy, HasSubstr("NVreg_RestrictProfilingToAdminUsers"));
  a.root = true;
  EXPECT_TRUE(check_named(checks_of(a), "counter permission").ok);

  a = healthy();
  a.dcgm = true;
  EXPECT_THAT(check_named(checks_of(a), "other profilers").remedy, HasSubstr("dcgmi profile --pause"));

  a = healthy();
  a.libraries[0] = {"CUPTI", "", "libcupti.so.13: not found; install it"};
  EXPECT_FALSE(check_named(checks_of(a), "CUPTI").ok);
  EXPECT_THAT(check_named(checks_of(a), "CUPTI").remedy, HasSubstr("times are still measured"));

  a = healthy();
  a.machine.gpus.clear();
  a.machine.reason = "CUDA finds no GPU";
  a.machine.remedy = "check nvidia-smi";
  EXPECT_FALSE(check_named(checks_of(a), "GPU").ok);
}

TEST(Doctor, ReadsTheDriversParameters) {
  EXPECT_EQ(profiling_admin_only("ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n"), 1);
  EXPECT_EQ(profiling_admin_only("RmProfilingAdminOnly: 0\n"), 0);
  EXPECT_EQ(profiling_admin_only("RmProfilingAdminOnly:"), -1);
  EXPECT_EQ(profiling_admin_only(""), -1);
}

TEST(Machine, VersionsAsText) {
  EXPECT_EQ(cuda_version_text(13000), "13.0");
  EXPECT_EQ(cuda_version_text(12080), "12.8");
  EXPECT_EQ(cuda_version_text(0), "none");
}

}  // namespace
}  // namespace gpuexp::cuda
