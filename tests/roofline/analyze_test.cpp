// What the roofline says of a point: the lectures' figures, cases from the field, and what it says when numbers lack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/core/error.h"
#include "profiler/counters/counters.h"
#include "profiler/roofline/model.h"
#include "profiler/roofline/roofline.h"

namespace gpuexp {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const DeviceSpec& a100() {
  static const DeviceSpec spec = find_device("a100").spec;
  return spec;
}

struct Bytes {
  std::uint64_t requested_load = 0, requested_store = 0, transaction_load = 0, transaction_store = 0;
};

PointResult simt_point(double flops, std::uint64_t compulsory_load, std::uint64_t compulsory_store,
                       const Bytes& bytes) {
  PointResult result;
  result.backend = "simt";
  result.point.params.set("dtype", std::string("float32"));
  result.flops = flops;
  result.compulsory_load_bytes = compulsory_load;
  result.compulsory_store_bytes = compulsory_store;
  const auto count = [&](const char* id, std::uint64_t n) {
    result.counters[id] = Quantity::count(n, Source::emulated);
  };
  count("requested_load_bytes", bytes.requested_load);
  count("requested_store_bytes", bytes.requested_store);
  count("transaction_load_bytes", bytes.transaction_load);
  count("transaction_store_bytes", bytes.transaction_store);
  return result;
}

// n x n matmul in float32 whose lanes load 2 n^3 / tile elements.
PointResult matmul_point(std::uint64_t n, std::uint64_t tile) {
  const std::uint64_t loads = 2 * n * n * n / tile * 4;
  const double d = static_cast<double>(n);
  return simt_point(matmul_flops(d, d, d), 2 * n * n * 4, n * n * 4, {loads, n * n * 4, loads / 2, n * n * 4});
}

PointResult cuda_point(double flops, std::uint64_t load, std::uint64_t store, std::vector<double> samples_us) {
  PointResult result;
  result.backend = "cuda";
  result.point.params.set("dtype", std::string("float32"));
  result.flops = flops;
  result.compulsory_load_bytes = load;
  result.compulsory_store_bytes = store;
  result.timing.emplace();
  result.timing->samples_us = std::move(samples_us);
  return result;
}

double number(const Quantity& q) {
  EXPECT_TRUE(q.has_value()) << q.reason;
  return q.number().value_or(-1);
}

TEST(Roofline, Arithmetic) {
  EXPECT_NEAR(ridge_point(19.5e12, 1935e9), 10.08, 0.005);
  EXPECT_NEAR(ridge_point(156e12, 1935e9), 80.6, 0.05);
  EXPECT_NEAR(ridge_point(989e12, 3.35e12), 295, 0.5);  // B17
  EXPECT_DOUBLE_EQ(attainable_flops(0.25, 19.5e12, 1935e9), 483.75e9);
  EXPECT_DOUBLE_EQ(attainable_flops(1000, 19.5e12, 1935e9), 19.5e12);
}

TEST(Model, FlopsAndIntensities) {
  EXPECT_EQ(matmul_flops(3, 5, 7), 210);                              // B20: not 2 m m n = 90
  EXPECT_NEAR(matmul_intensity(1024, 1024, 1024, 2), 341.3, 0.05);    // B18
  EXPECT_NEAR(matmul_intensity(1024, 1024, 1024, 4), 170.67, 0.005);  // B18: the element size counts
  EXPECT_EQ(tile_intensity(1, 1, 4), 0.25);
  EXPECT_EQ(tile_intensity(16, 16, 4), 4);
  EXPECT_EQ(tile_intensity(16, 16, 2), 8);
  EXPECT_EQ(tile_intensity(128, 128, 4), 32);
  EXPECT_NEAR(tile_intensity(128, 256, 4), 42.667, 0.001);
}

TEST(Analyze, NaiveMatmulAsInTheLecture) {
  const Analysis a = analyze(matmul_point(32, 1), a100());
  EXPECT_EQ(a.device, "A100 80GB PCIe");
  EXPECT_EQ(a.precision, "fp32");
  EXPECT_NEAR(number(a.ridge), 10.08, 0.005);
  EXPECT_EQ(number(a.loaded.intensity), 0.25);  // flop_per_load_byte
  EXPECT_NEAR(number(a.requested.intensity), 0.246, 0.0005);
  EXPECT_NEAR(number(a.compulsory.intensity), 5.33, 0.005);
  EXPECT_NEAR(number(a.requested_over_compulsory), 21.7, 0.05);
  EXPECT_DOUBLE_EQ(number(a.loaded.attainable), 483.75e9);
  EXPECT_NEAR(number(a.loaded.percent_of_peak), 2.48, 0.005);
  EXPECT_EQ(a.loaded.bound_by, BoundBy::memory);
  EXPECT_NEAR(number(a.loaded.bound_time_us), 262144 / 1935e9 * 1e6, 1e-9);
  EXPECT_EQ(a.loaded.bytes.exact(), 262144U);
  EXPECT_EQ(a.verdict, "memory");
}

TEST(Analyze, EveryNumberCarriesItsSource) {
  const Analysis a = analyze(matmul_point(32, 1), a100());
  EXPECT_EQ(a.peak.source, Source::spec);
  EXPECT_EQ(a.bandwidth.source, Source::spec);
  EXPECT_EQ(a.ridge.source, Source::modelled);
  EXPECT_EQ(a.flops.source, Source::modelled);
  EXPECT_EQ(a.loaded.intensity.source, Source::emulated);
  EXPECT_EQ(a.transaction.intensity.source, Source::emulated);
  EXPECT_EQ(a.compulsory.intensity.source, Source::modelled);
  EXPECT_EQ(a.loaded.attainable.source, Source::modelled);
  EXPECT_EQ(a.requested_over_compulsory.source, Source::emulated);
  // Half of a printed sparse rate is arithmetic, not a datasheet's number.
  EXPECT_EQ(analyze(matmul_point(32, 1), find_device("h200").spec, {"tf32"}).peak.source, Source::modelled);
}

TEST(Analyze, TheLadder) {
  EXPECT_NEAR(number(analyze(matmul_point(1024, 16), a100()).loaded.percent_of_peak), 39.7, 0.05);
  EXPECT_NEAR(number(analyze(matmul_point(1024, 32), a100()).loaded.percent_of_peak), 79.4, 0.05);
  const Analysis block = analyze(matmul_point(1024, 128), a100());
  EXPECT_EQ(block.loaded.bound_by, BoundBy::compute);
  EXPECT_EQ(number(block.loaded.percent_of_peak), 100);
  EXPECT_EQ(block.verdict, "compute");
  EXPECT_NEAR(number(analyze(matmul_point(1024, 128), a100(), {"tf32"}).loaded.percent_of_peak), 39.7, 0.05);
  EXPECT_EQ(analyze(matmul_point(1024, 1), a100()).verdict, "memory unless caches catch the reuse");
  EXPECT_NEAR(number(analyze(matmul_point(32, 1), find_device("h100").spec).loaded.percent_of_peak), 1.25, 0.005);
}

TEST(Analyze, VectorKernels) {
  const std::uint64_t n = 1 << 20;
  const Analysis add = analyze(simt_point(n, 8 * n, 4 * n, {8 * n, 4 * n, 8 * n, 4 * n}), a100());
  EXPECT_DOUBLE_EQ(number(add.requested.intensity), 1.0 / 12);
  EXPECT_DOUBLE_EQ(number(add.loaded.intensity), 1.0 / 8);
  const Analysis axpy = analyze(simt_point(2 * n, 8 * n, 4 * n, {8 * n, 4 * n, 8 * n, 4 * n}), a100());
  EXPECT_DOUBLE_EQ(number(axpy.requested.intensity), 1.0 / 6);
  EXPECT_EQ(axpy.verdict, "memory");
}

// 8192 x 8192 floats: rows read in whole sectors, columns written one element a sector.
TEST(Analyze, TransposeHasNoFlopsButABoundAndAnEffectiveBandwidth) {
  const std::uint64_t bytes = 8192ULL * 8192 * 4;
  const Analysis naive = analyze(simt_point(0, bytes, bytes, {bytes, bytes, bytes, 8 * bytes}), a100());
  EXPECT_EQ(naive.compulsory.bytes.exact(), 536870912U);
  EXPECT_DOUBLE_EQ(number(naive.transaction.bytes) / number(naive.compulsory.bytes), 4.5);
  EXPECT_NEAR(number(naive.effective_bandwidth_percent), 22.2, 0.05);
  EXPECT_NEAR(number(naive.effective_bandwidth), 430e9, 1e9);
  EXPECT_NEAR(number(naive.transaction.bound_time_us), 4.5 * 536870912 / 1935e9 * 1e6, 1e-6);
  EXPECT_FALSE(naive.requested.intensity.has_value());
  EXPECT_THAT(naive.requested.intensity.reason, HasSubstr("no floating-point operations"));
  EXPECT_THAT(naive.requested.attainable.reason, HasSubstr("no floating-point operations"));
  EXPECT_EQ(naive.verdict, "memory");
  const Analysis smem = analyze(simt_point(0, bytes, bytes, {bytes, bytes, bytes, bytes}), a100());
  EXPECT_EQ(number(smem.effective_bandwidth_percent), 100);
}

TEST(Analyze, AtomicsLoadAndStore) {
  PointResult result = simt_point(0, 1024, 4, {1024, 0, 1024, 0});
  result.counters["requested_atomic_bytes"] = Quantity::count(128, Source::emulated);
  result.counters["transaction_atomic_bytes"] = Quantity::count(32, Source::emulated);
  const Analysis a = analyze(result, a100());
  EXPECT_EQ(a.requested.bytes.exact(), 1024U + 256);
  EXPECT_EQ(a.transaction.bytes.exact(), 1024U + 64);
  // A measured point whose chip does not count atomics' bytes: none when it counted no atomic, else unknown.
  result.counters["requested_atomic_bytes"] = Quantity::null("no such metric", Source::measured);
  result.counters["global_atomic_requests"] = Quantity::count(0, Source::measured);
  EXPECT_EQ(analyze(result, a100()).requested.bytes.exact(), 1024U);
  result.counters["global_atomic_requests"] = Quantity::count(7, Source::measured);
  EXPECT_EQ(analyze(result, a100()).requested.bytes.reason, "no such metric");
}

TEST(Analyze, TheCeilingFollowsTheDtype) {
  PointResult result = matmul_point(32, 1);
  result.point.params.set("dtype", std::string("float16"));
  const Analysis half = analyze(result, a100());
  EXPECT_EQ(half.precision, "fp32");
  EXPECT_THAT(half.precision_reason, HasSubstr("accumulated in float32 on CUDA cores"));
  result.point.params.set("dtype", std::string("float64"));
  EXPECT_EQ(number(analyze(result, a100()).peak), 9.7e12);
  result.point.params.set("dtype", std::string("int32"));
  const Analysis integer = analyze(result, a100());
  EXPECT_FALSE(integer.peak.has_value());
  EXPECT_THAT(integer.loaded.attainable.reason, HasSubstr("int32 has no floating-point ceiling"));
  EXPECT_EQ(analyze(simt_point(0, 0, 0, {}), a100(), {"TF32"}).precision, "tf32");
  EXPECT_EQ(number(analyze(matmul_point(32, 1), a100(), {"tf32"}).peak), 156e12);  // B14: not the FP32 ceiling
  EXPECT_THROW(analyze(result, a100(), {"fp33"}), Error);
  const Analysis none = analyze(matmul_point(32, 1), a100(), {"fp8"});
  EXPECT_THAT(none.peak.reason, HasSubstr("A100 80GB PCIe has no FP8 tensor peak"));
  EXPECT_FALSE(none.ridge.has_value());
}

TEST(Analyze, ANumberThatLacksHasAReason) {
  PointResult result = matmul_point(32, 1);
  result.counters.erase("transaction_store_bytes");
  result.counters["requested_load_bytes"] = Quantity::null("blocks were sampled", Source::emulated);
  const Analysis a = analyze(result, a100());
  EXPECT_THAT(a.transaction.bytes.reason, HasSubstr("transaction_store_bytes was not collected"));
  EXPECT_EQ(a.loaded.intensity.reason, "blocks were sampled");
  EXPECT_EQ(a.requested.bound_time_us.reason, "blocks were sampled");
  EXPECT_FALSE(a.effective_bandwidth.has_value());
  EXPECT_TRUE(a.compulsory.intensity.has_value());
  EXPECT_THAT(a.time_us.reason, HasSubstr("simt backend measures no time"));
  EXPECT_THAT(a.achieved_flops.reason, HasSubstr("simt backend measures no time"));
  EXPECT_THAT(a.dram_bandwidth.reason, HasSubstr("emulates no DRAM"));
}

TEST(Analyze, AnEmptyProblemDividesByNothing) {
  const Analysis a = analyze(simt_point(0, 0, 0, {}), a100());
  for (const Basis basis : {Basis::loaded, Basis::requested, Basis::transaction, Basis::compulsory}) {
    EXPECT_FALSE(a.on(basis).intensity.has_value());
    EXPECT_NE(a.on(basis).intensity.reason, "");
    EXPECT_EQ(number(a.on(basis).bound_time_us), 0);
  }
  EXPECT_THAT(a.effective_bandwidth_percent.reason, HasSubstr("no bytes"));
  EXPECT_THAT(a.requested_over_compulsory.reason, HasSubstr("no bytes"));
  EXPECT_EQ(a.verdict, "unknown");
  EXPECT_THAT(a.warnings, IsEmpty());
}

TEST(Analyze, AnEstimateStaysAnEstimate) {
  PointResult result = matmul_point(1024, 1);
  Quantity& loads = result.counters["requested_load_bytes"];
  loads.estimated = true;
  loads.standard_error = 0.01 * *loads.number();
  const Analysis a = analyze(result, a100());
  EXPECT_TRUE(a.loaded.intensity.estimated);
  EXPECT_NEAR(a.loaded.intensity.standard_error, 0.0025, 1e-12);
  EXPECT_TRUE(a.loaded.attainable.estimated);
  EXPECT_NEAR(a.loaded.attainable.standard_error, 4.8375e9, 1);
  EXPECT_TRUE(a.requested.bytes.estimated);
  EXPECT_FALSE(a.compulsory.intensity.estimated);
}

TEST(Analyze, WorkingSetAgainstL2AndMemory) {
  EXPECT_TRUE(analyze(matmul_point(32, 1), a100()).working_set_fits_l2);
  EXPECT_THAT(analyze(matmul_point(32, 1), a100()).warnings,
              Contains(HasSubstr("fits the L2 cache of A100 80GB PCIe, 40 MiB")));
  const Analysis large = analyze(matmul_point(4096, 1), a100());
  EXPECT_FALSE(large.working_set_fits_l2);
  EXPECT_THAT(large.warnings, IsEmpty());
  const std::uint64_t huge = 90'000'000'000;
  EXPECT_THAT(analyze(simt_point(0, huge, 0, {huge, 0, huge, 0}), a100()).warnings,
              Contains(HasSubstr("exceeds the memory of A100 80GB PCIe, 80 GB")));
}

TEST(Analyze, MeasuredPoint) {
  const std::uint64_t bytes = 1'000'000'000;
  PointResult result = cuda_point(2e9, bytes, bytes, {1250, 1240, 1300, 1260});
  result.counters["dram_read_bytes"] = Quantity::count(1'010'000'000, Source::measured);
  result.counters["dram_write_bytes"] = Quantity::count(990'000'000, Source::measured);
  result.predicted["requested_load_bytes"] = Quantity::count(bytes, Source::emulated);
  const Analysis a = analyze(result, a100());
  EXPECT_DOUBLE_EQ(number(a.time_us), 1255);
  EXPECT_EQ(a.time_us.source, Source::measured);
  EXPECT_NEAR(number(a.achieved_flops), 2e9 / 1255e-6, 1);
  EXPECT_NEAR(number(a.achieved_bandwidth), 2e9 / 1255e-6, 1);
  EXPECT_NEAR(number(a.percent_of_bandwidth), 82.4, 0.05);
  EXPECT_NEAR(number(a.percent_of_attainable), 82.4, 0.05);
  EXPECT_NEAR(number(a.dram_bandwidth), 2e9 / 1255e-6, 1);
  EXPECT_EQ(a.loaded.intensity.source, Source::emulated);  // predicted beside the measured
  EXPECT_THAT(a.warnings, IsEmpty());
}

// As cuBLAS's TF32 kernel of n = 1024 on an H200: bulk copies load what the counters of load requests do not see.
TEST(Analyze, LoadsThatTheRequestCountersDoNotSeeAreTakenFromTheL2Cache) {
  PointResult result = cuda_point(2.0 * 1024 * 1024 * 1024, 8 << 20, 4 << 20, {15.2});
  const auto count = [&](const char* id, std::uint64_t n) {
    result.counters[id] = Quantity::count(n, Source::measured);
  };
  count("transaction_load_bytes", 0);
  count("transaction_store_bytes", 64);
  EXPECT_FALSE(analyze(result, a100()).transaction.bytes.has_value());  // null with the reason, never 64 bytes
  EXPECT_THAT(analyze(result, a100()).transaction.bytes.reason, HasSubstr("l2_read_sectors"));
  count("l2_read_sectors", 2'000'000);
  count("l2_write_sectors", 100'000);
  const Analysis a = analyze(result, a100());
  EXPECT_EQ(a.transaction.bytes.number(), 2'100'000 * 32.0);
  EXPECT_EQ(a.transaction.bytes.source, Source::measured);
  EXPECT_LT(*a.effective_bandwidth_percent.number(), 100);
  EXPECT_EQ(a.verdict, "compute");           // 32 FLOP per byte, above the ridge of float32
  count("transaction_load_bytes", 1 << 20);  // when it sees loads, the L2 cache has no say
  EXPECT_EQ(analyze(result, a100()).transaction.bytes.number(), (1 << 20) + 64.0);
}

// B22: 4 MiB written in 3.868 us on a card of 960 GB/s is 112.95 %: reported, explained, not clamped.
TEST(Analyze, MoreThanAHundredPercentIsExplainedNotClamped) {
  DeviceSpec card = find_device("rtx-5090").spec;
  card.memory.bandwidth = 960e9;
  const Analysis fill = analyze(cuda_point(0, 0, 4 << 20, {3.868}), card);
  EXPECT_NEAR(number(fill.percent_of_bandwidth), 112.95, 0.01);
  EXPECT_THAT(fill.warnings, Contains(HasSubstr("113.0 % of DRAM bandwidth")));
  EXPECT_THAT(fill.warnings, Contains(HasSubstr("fits the L2 cache")));

  // B15: above the peak at the listed clock; the measured clock explains it.
  PointResult fast = cuda_point(23e12, 4e9, 4e9, {1e6});
  fast.timing->sm_clock_mhz = 1755;
  const Analysis a = analyze(fast, a100());
  EXPECT_NEAR(number(a.percent_of_peak), 117.9, 0.1);
  EXPECT_EQ(a.peak_clock_mhz, 1410);
  EXPECT_THAT(
      a.warnings,
      Contains(HasSubstr(
          "117.9 % of the FP32 peak, which holds at 1410 MHz: at the measured 1755 MHz the peak is 24.26 TFLOP/s")));
}

// B07: a half-precision GEMM of a library runs on tensor cores and shows no FLOPs in the counters of CUDA cores.
TEST(Analyze, ZeroFlopCountersAreNotZeroFlops) {
  PointResult result = cuda_point(2e12, 1e9, 1e9, {10'000});
  result.counters["fp32_fma_instructions"] = Quantity::count(0, Source::measured);
  result.counters["fp16_fma_instructions"] = Quantity::count(0, Source::measured);
  const Analysis blind = analyze(result, a100());
  EXPECT_EQ(blind.precision, "fp32");
  EXPECT_EQ(number(blind.compulsory.intensity), 1000);
  EXPECT_THAT(blind.warnings, Contains(HasSubstr("the FLOP counters are zero though the problem takes 2")));
  result.counters["tensor_fp16_operations"] = Quantity::count(2'000'000'000'000, Source::measured);
  const Analysis seeing = analyze(result, a100());
  EXPECT_EQ(seeing.precision, "fp16");
  EXPECT_EQ(number(seeing.peak), 312e12);
  EXPECT_THAT(seeing.precision_reason, HasSubstr("tensor cores"));
  EXPECT_THAT(seeing.warnings, IsEmpty());
  EXPECT_EQ(analyze(result, a100(), {"fp32"}).precision, "fp32");
}

// B06: one m16n8k8 product of tensor cores is 2048 operations, an FMA counted as two; no counter of CUDA cores sees it.
TEST(Analyze, OneTensorInstruction) {
  PointResult result = cuda_point(matmul_flops(16, 8, 8), 0, 128, {10});
  result.counters["fp32_fma_instructions"] = Quantity::count(0, Source::measured);
  result.counters["tensor_tf32_operations"] = Quantity::count(2048, Source::measured);
  const Analysis a = analyze(result, a100());
  EXPECT_EQ(result.flops, 2048);
  EXPECT_EQ(number(a.compulsory.intensity), 16);  // over the 128 bytes written
  EXPECT_EQ(a.precision, "tf32");
  EXPECT_EQ(number(a.peak), 156e12);
}

// B05, B26: a fused multiply-add is two operations, and a packed instruction does twice as many as its plain one.
TEST(Analyze, OperationsAreCountedAsThePeakCountsThem) {
  const auto weight = [](const char* id) { return find_counter(id)->flops; };
  EXPECT_EQ(weight("fp32_fma_instructions"), 2);
  EXPECT_EQ(weight("fp32_add_instructions"), 1);
  EXPECT_EQ(weight("fp32x2_add_instructions") + weight("fp32x2_mul_instructions") + weight("fp32x2_fma_instructions"),
            8);
  EXPECT_EQ(weight("fp16_fma_instructions"), 4);  // counts instructions on pairs
  // The peak has the same two: lanes x clock x 2.
  EXPECT_DOUBLE_EQ(*peak_at_clock(a100(), find_precision("fp32"), 1.41e9), 108 * 64 * 1.41e9 * 2);
}

// B23, B24: a stream of 8 MiB through an L2 cache of 32 MiB is no DRAM bandwidth, whatever it reaches; of 256 MiB it
// is.
TEST(Analyze, AWorkingSetWithinL2IsNoDramBandwidth) {
  const DeviceSpec card = find_device("rtx-4090").spec;
  const std::uint64_t small = 8 << 20, large = 256 << 20;
  const Analysis cached = analyze(cuda_point(0, small, small, {4}), card);
  EXPECT_GT(number(cached.percent_of_bandwidth), 100);
  EXPECT_THAT(cached.warnings, Contains(HasSubstr("fits the L2 cache")));
  EXPECT_THAT(cached.warnings,
              Contains(HasSubstr("the bytes did not all come from DRAM (the working set, 16 MiB, fits")));
  EXPECT_THAT(analyze(cuda_point(0, large, large, {600}), card).warnings, IsEmpty());
}

// B25: counters of different passes saw different runs; a ratio that cannot be is told, not clamped.
TEST(Analyze, MoreDramBytesThanL2BytesAreUnreliable) {
  PointResult result = cuda_point(1e6, 1 << 20, 0, {8});
  const auto count = [&](const char* id, std::uint64_t n) {
    result.counters[id] = Quantity::count(n, Source::measured);
  };
  count("dram_read_bytes", 3'000'000);
  count("dram_write_bytes", 0);
  count("l2_read_sectors", 50'000);
  count("l2_write_sectors", 0);
  const Analysis a = analyze(result, a100());
  EXPECT_THAT(a.warnings, Contains(HasSubstr("more DRAM bytes (3 MB) than bytes of the L2 cache (1.6 MB)")));
  EXPECT_DOUBLE_EQ(number(a.at(Level::dram)->intensity), 1e6 / 3e6);
  count("l2_read_sectors", 500'000);
  EXPECT_THAT(analyze(result, a100()).warnings, Not(Contains(HasSubstr("more DRAM bytes"))));
}

// B09, B10, B11: a rate of sparse products, or of another device, overstates a share by the ratio of the peaks.
TEST(Analyze, SharesRestOnTheDensePeakOfTheDeviceAsked) {
  PointResult result = cuda_point(494.7e12, 1, 1, {1e6});
  EXPECT_NEAR(number(analyze(result, find_device("h100").spec, {"bf16"}).percent_of_peak), 50, 0.05);  // not 25
  EXPECT_NEAR(number(analyze(result, find_device("h100-pcie").spec, {"bf16"}).percent_of_peak), 65.4, 0.05);
  EXPECT_NEAR(number(analyze(result, a100(), {"bf16"}).percent_of_peak), 158.6, 0.05);
  EXPECT_THAT(analyze(result, a100(), {"bf16"}).warnings, Contains(HasSubstr("158.6 % of the BF16 tensor peak")));
}

TEST(Analyze, ATimeThatIsNoTimeIsRefused) {
  EXPECT_THAT(analyze(cuda_point(1, 1, 1, {0, 0, 0}), a100()).time_us.reason, HasSubstr("not above zero"));  // F09
  EXPECT_THAT(analyze(cuda_point(1, 1, 1, {}), a100()).time_us.reason, HasSubstr("no time sample"));
  PointResult untimed = cuda_point(1, 1, 1, {1});
  untimed.timing.reset();
  EXPECT_THAT(analyze(untimed, a100()).achieved_flops.reason, HasSubstr("was not timed"));
}

TEST(Analyze, HasTheOccupancyOfEachShapeOfBlockOnce) {
  PointResult point = matmul_point(32, 32);
  point.launches = {{"first", {1, 1, 1}, {32, 32, 1}, 8192, 0, std::nullopt},
                    {"second", {9, 1, 1}, {32, 32, 1}, 8192, 0, std::nullopt},
                    {"third", {1, 1, 1}, {64, 1, 1}, 0, 0, 40}};
  const Analysis analysis = analyze(point, a100());
  ASSERT_EQ(analysis.occupancy.size(), 2U);
  const LaunchOccupancy& first = analysis.occupancy[0];
  EXPECT_EQ(first.kernel, "first");
  EXPECT_EQ(first.block.threads, 1024);
  EXPECT_EQ(first.occupancy.blocks_per_sm, 2);
  EXPECT_EQ(first.occupancy.max_registers_to_launch, 64);
  EXPECT_EQ(first.occupancy.max_registers_for_blocks, 32) << "of 2,048 resident threads";
  EXPECT_FALSE(first.occupancy.registers_known);
  EXPECT_TRUE(analysis.occupancy[1].occupancy.registers_known);
}

}  // namespace
}  // namespace gpuexp
