// Hand-made results with everything a result file can hold; the counts are those of matmul n = 32 and transpose 64
// x 64.
#pragma once

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "profiler/report/result_file.h"

namespace gpuexp::test {

inline Quantity emulated(std::uint64_t count) { return Quantity::count(count, Source::emulated); }

inline SiteRow global_site(const std::string& file, int line, const std::string& buffer, const std::string& op,
                           std::uint64_t requests, std::uint64_t lanes, std::uint64_t sectors, std::uint64_t ideal) {
  SiteRow row;
  row.site = {file, line, 13};
  row.buffer = buffer;
  row.space = "global";
  row.op = op;
  row.width_bytes = 4;
  row.requests = requests;
  row.lanes = lanes;
  row.sectors = sectors;
  row.ideal_sectors = ideal;
  row.lines = sectors / 4;
  return row;
}

inline SiteRow shared_site(const std::string& file, int line, const std::string& buffer, const std::string& op,
                           std::uint64_t requests, std::uint64_t wavefronts, std::uint64_t conflicts) {
  SiteRow row;
  row.site = {file, line, 9};
  row.buffer = buffer;
  row.space = "shared";
  row.op = op;
  row.width_bytes = 4;
  row.requests = requests;
  row.lanes = requests * 32;
  row.wavefronts = wavefronts;
  row.bank_conflicts = conflicts;
  return row;
}

inline void verify_all(PointResult& result, std::uint64_t elements) {
  result.verification.state = Verification::State::passed;
  result.verification.scope = "all " + std::to_string(elements) + " elements";
  result.verification.checked = elements;
  result.verification.max_error = 0.125;
}

inline PointResult matmul_point(const std::string& variant, std::int64_t tile) {
  PointResult result;
  result.point.variant = variant;
  result.point.params.set("dtype", std::string("float32"));
  for (const char* size : {"k", "m", "n"}) result.point.params.set(size, std::int64_t{32});
  if (tile > 0) result.point.params.set("TILE", tile);
  result.backend = "simt";
  result.flops = 65536;
  result.compulsory_load_bytes = 8192;
  result.compulsory_store_bytes = 4096;
  result.launches.push_back({"kernel", {2, 2, 1}, {16, 16, 1}, 0, 0, std::nullopt});
  result.blocks_run = result.blocks_total = 4;
  verify_all(result, 1024);
  return result;
}

inline void set_global(PointResult& result, std::uint64_t load_requests, std::uint64_t load_lanes,
                       std::uint64_t load_sectors, std::uint64_t store_requests, std::uint64_t store_sectors) {
  result.counters["global_load_requests"] = emulated(load_requests);
  result.counters["global_load_lanes"] = emulated(load_lanes);
  result.counters["global_load_sectors"] = emulated(load_sectors);
  result.counters["global_store_requests"] = emulated(store_requests);
  result.counters["global_store_lanes"] = emulated(1024);
  result.counters["global_store_sectors"] = emulated(store_sectors);
  result.counters["requested_load_bytes"] = emulated(load_lanes * 4);
  result.counters["requested_store_bytes"] = emulated(4096);
  result.counters["transaction_load_bytes"] = emulated(load_sectors * 32);
  result.counters["transaction_store_bytes"] = emulated(store_sectors * 32);
}

inline PointResult naive() {
  PointResult result = matmul_point("matmul/naive", 0);
  set_global(result, 2048, 65536, 4096, 32, 128);
  result.sites = {global_site("kernels/matmul/naive.cu", 12, "B", "load", 1024, 32768, 2048, 2048),
                  global_site("kernels/matmul/naive.cu", 12, "A", "load", 1024, 32768, 2048, 2048),
                  global_site("kernels/matmul/naive.cu", 13, "C", "store", 32, 1024, 128, 128)};
  return result;
}

inline PointResult tiled2() {
  PointResult result = matmul_point("matmul/tiled", 2);
  set_global(result, 8192, 32768, 16384, 256, 512);
  result.counters["shared_load_requests"] = emulated(8192);
  result.counters["shared_load_bank_conflicts"] = emulated(0);
  result.sites = {global_site("kernels/matmul/tiled.cu", 21, "A", "load", 4096, 16384, 8192, 4096),
                  global_site("kernels/matmul/tiled.cu", 22, "B", "load", 4096, 16384, 8192, 4096),
                  global_site("kernels/matmul/tiled.cu", 30, "C", "store", 256, 1024, 512, 256)};
  return result;
}

inline PointResult tiled16() {
  PointResult result = matmul_point("matmul/tiled", 16);
  set_global(result, 128, 4096, 512, 32, 128);
  result.counters["shared_load_requests"] = emulated(2048);
  result.counters["shared_load_bank_conflicts"] = emulated(0);
  result.counters["global_load_sectors"].estimated = true;
  result.counters["global_load_sectors"].standard_error = 1.5;
  result.blocks_run = 2;
  result.verification.scope = "512 elements of blocks 2/4";
  return result;
}

inline PointResult no_barrier() {
  PointResult result = matmul_point("matmul/tiled_no_load_barrier", 8);
  set_global(result, 256, 8192, 1024, 32, 128);
  Finding race;
  race.kind = "race";
  race.message = "Bs[0][1] is read by one thread while another writes it";
  race.site = {"kernels/matmul/tiled_no_load_barrier.cu", 24, 17};
  race.other_site = SourceSite{"kernels/matmul/tiled_no_load_barrier.cu", 19, 9};
  race.thread = {1, 0, 0};
  race.block = {0, 0, 0};
  race.occurrences = 128;
  result.findings.push_back(race);
  result.expected_finding = "race";
  result.verification.state = Verification::State::failed;
  result.verification.scope = "all 1024 elements";
  result.verification.checked = 1024;
  result.verification.wrong = 1008;
  result.verification.nan = 1008;
  result.verification.first_index = 1;
  result.verification.buffer = "C";
  result.verification.got = std::numeric_limits<double>::quiet_NaN();
  result.verification.expected = 0.125;
  result.verification.max_error = std::numeric_limits<double>::infinity();
  return result;
}

inline PointResult wrong() {
  PointResult result = matmul_point("matmul/coarsened", 8);
  set_global(result, 256, 8192, 1024, 32, 128);
  result.verification.state = Verification::State::failed;
  result.verification.scope = "all 1024 elements";
  result.verification.checked = 1024;
  result.verification.wrong = 3;
  result.verification.first_index = 17;
  result.verification.buffer = "C";
  result.verification.got = 1.5;
  result.verification.expected = -0.25;
  result.verification.max_error = 1234.5;
  return result;
}

inline PointResult unsupported() {
  PointResult result = matmul_point("matmul/cublas_sgemm", 0);
  result.status = Status::unsupported;
  result.reason = "cuda only: it calls a library, \"cuBLAS\"";
  result.launches.clear();
  result.blocks_run = result.blocks_total = 0;
  result.verification = {};
  result.verification.scope = "the point did not run";
  return result;
}

inline PointResult smem() {
  PointResult result;
  result.point.variant = "transpose/smem";
  result.point.params.set("rows", std::int64_t{64});
  result.point.params.set("cols", std::int64_t{64});
  result.backend = "simt";
  result.compulsory_load_bytes = result.compulsory_store_bytes = 16384;
  result.blocks_run = result.blocks_total = 4;
  set_global(result, 128, 4096, 512, 128, 512);
  result.counters["requested_store_bytes"] = emulated(16384);
  result.counters["global_store_lanes"] = emulated(4096);
  result.counters["shared_load_requests"] = emulated(128);
  result.counters["shared_load_bank_conflicts"] = emulated(0);
  result.counters["shared_store_requests"] = emulated(128);
  result.counters["shared_store_bank_conflicts"] = emulated(3968);
  result.sites = {shared_site("kernels/transpose/smem.cu", 17, "smemArray", "store", 128, 4096, 3968),
                  shared_site("kernels/transpose/smem.cu", 20, "smemArray", "load", 128, 128, 0)};
  verify_all(result, 4096);
  return result;
}

inline ResultFile results_of(const std::vector<PointResult>& points, const std::string& backend = "simt") {
  const DeviceSpec device = find_device("a100").spec;
  ResultFile file;
  file.plan.name = "sample";
  file.plan.description = "Hand-made points.";
  file.plan.backend = backend;
  file.plan.settings = {{"schedule", "forward"}, {"seed", "1"}};
  file.plan.experiment.text = R"({"name":"sample"})";
  file.gpuexp_version = "0.1.0";
  file.gpuexp_commit = "0123456789ab";
  file.environment = {{"host", "here"}, {"compiler", "g++ 12.2.0"}, {"threads", "2"}};
  file.device = record_of(device);
  file.complete = true;
  std::set<std::string> params;
  for (const PointResult& result : points) {
    PointRecord record;
    record.result = result;
    record.result.wall_seconds = 0.25;
    if (result.status == Status::ok) record.analysis = analyze(result, device);
    if (result.timing) record.time = time_statistics(*result.timing);
    file.points.push_back(record);
    file.plan.points.push_back(result.point.key());
    for (const auto& [name, value] : result.point.params.values()) params.insert(name);
  }
  file.plan.params.assign(params.begin(), params.end());
  return file;
}

inline ResultFile sample() {
  return results_of({naive(), tiled2(), tiled16(), no_barrier(), wrong(), unsupported(), smem()});
}

// A sparse product: its gather of x wastes more than its single-lane store of y, whose ratio is as bad.
inline PointResult sparse(std::int64_t density_percent, std::uint64_t sectors) {
  PointResult result;
  result.point.variant = "spmv/warp_per_row";
  result.point.params.set("density", static_cast<double>(density_percent) / 100);
  result.point.params.set("dtype", std::string("float32"));
  result.backend = "simt";
  result.flops = 2e6;
  result.compulsory_load_bytes = 4'000'000;
  result.compulsory_store_bytes = 4096;
  result.blocks_run = result.blocks_total = 4;
  result.facts.set("nnz", std::int64_t{10'000 * density_percent});
  result.facts.set("packed_percent_of_dense", 56.25);
  set_global(result, 1000, 32'000, sectors, 1024, 1024);
  result.sites = {global_site("kernels/spmv/warp_per_row.cu", 26, "y", "store", 1024, 1024, 1024, 1024),
                  global_site("kernels/spmv/warp_per_row.cu", 22, "x", "load", 1000, 32'000, 32'000, 4000)};
  result.launches.push_back({"kernel", {4, 1, 1}, {1024, 1, 1}, 8192, 0, std::nullopt});
  verify_all(result, 1024);
  return result;
}

// The dense product with as long a result.
inline PointResult dense(std::uint64_t sectors) {
  PointResult result = sparse(1, sectors);
  result.point.variant = "gemv/block_per_row";
  result.point.params = {};
  result.point.params.set("dtype", std::string("float32"));
  result.facts = {};
  return result;
}

// A measured point, with awkward numbers.
inline PointResult measured() {
  PointResult result = matmul_point("matmul/naive", 0);
  result.backend = "cuda";
  result.counters["dram_read_bytes"] = Quantity::count(18446744073709551615ULL, Source::measured);
  result.counters["dram_write_bytes"] =
      Quantity::null("the driver refuses counters: ask for permission", Source::measured);
  result.predicted["global_load_sectors"] = emulated(4096);
  Timing timing;
  timing.samples_us = {3.5, 2.25, 9.75, 0.1};
  timing.cache_mode = "cold";
  timing.discarded_throttled = 3;
  timing.sm_clock_mhz = 1410.5;
  timing.note = "events around the launch";
  result.timing = timing;
  return result;
}

}  // namespace gpuexp::test
