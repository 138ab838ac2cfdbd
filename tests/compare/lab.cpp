// Hand-made results: the transposes' counts are those of 32 x 32 tiles.
#include "tests/compare/lab.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>
#include <stdexcept>

namespace gpuexp::test {
namespace {

SiteRow site(const std::string& file, int line, const std::string& buffer, const std::string& space,
             const std::string& op, std::uint64_t requests) {
  SiteRow row;
  row.site = {"kernels/transpose/" + file, line, 9};
  row.buffer = buffer;
  row.space = space;
  row.op = op;
  row.width_bytes = 4;
  row.requests = requests;
  row.lanes = 32 * requests;
  return row;
}

PointRecord transpose(const std::string& name, std::int64_t rows) {
  PointRecord record;
  PointResult& result = record.result;
  result.point.variant = "transpose/" + name;
  result.point.params.set("dtype", std::string("float32"));
  result.point.params.set("rows", rows);
  result.backend = "simt";
  const auto elements = static_cast<std::uint64_t>(rows * rows);
  const std::uint64_t requests = elements / 32;
  result.compulsory_load_bytes = result.compulsory_store_bytes = 4 * elements;
  result.blocks_run = result.blocks_total = rows * rows / 1024;
  result.launches.push_back({"transpose", {rows / 32, rows / 32, 1}, {32, 32, 1}, 0, 0, std::nullopt});
  result.verification.state = Verification::State::passed;
  result.verification.checked = elements;
  result.verification.scope = "all elements";
  const auto set = [&](const std::string& id, std::uint64_t value) {
    result.counters[id] = Quantity::count(value, Source::emulated);
  };
  const bool naive = name == "naive", conflicts = name == "smem";
  SiteRow load = site(name + ".cu", 18, "A", "global", "load", requests);
  SiteRow store = site(name + ".cu", 24, "B", "global", "store", requests);
  load.sectors = load.ideal_sectors = store.ideal_sectors = 4 * requests;
  store.sectors = (naive ? 32 : 4) * requests;
  set("global_load_requests", requests);
  set("global_load_sectors", load.sectors);
  set("global_store_requests", requests);
  set("global_store_sectors", store.sectors);
  set("transaction_load_bytes", 32 * load.sectors);
  set("transaction_store_bytes", 32 * store.sectors);
  result.counters["dram_read_bytes"] = Quantity::null("the emulator has no DRAM", Source::emulated);
  result.sites = {store, load};
  if (!naive) {
    SiteRow put = site(name + ".cu", 19, "tile", "shared", "store", requests);
    SiteRow get = site(name + ".cu", 23, "tile", "shared", "load", requests);
    put.wavefronts = (conflicts ? 32 : 1) * requests;
    put.bank_conflicts = put.wavefronts - requests;
    get.wavefronts = requests;
    set("shared_load_requests", requests);
    set("shared_load_wavefronts", requests);
    set("shared_load_bank_conflicts", 0);
    set("shared_store_requests", requests);
    set("shared_store_wavefronts", put.wavefronts);
    set("shared_store_bank_conflicts", put.bank_conflicts);
    result.sites.push_back(put);
    result.sites.push_back(get);
  }
  result.counters["simt_efficiency"] = Quantity::real(1.0, Source::emulated);
  return record;
}

ResultFile header(const std::string& name, const std::string& backend) {
  ResultFile results;
  results.plan.name = name;
  results.plan.backend = backend;
  results.gpuexp_version = "0.1.0";
  results.gpuexp_commit = "0123456789ab";
  results.environment = {{"host", "lab"}, {"compiler", "g++ 12.2.0"}};
  results.device.id = "a100-pcie-80gb";
  results.device.name = "A100 80GB PCIe";
  results.complete = true;
  return results;
}

void finish(ResultFile& results) {
  for (const PointRecord& record : results.points) {
    results.plan.points.push_back(record.result.point.key());
    for (const auto& [name, value] : record.result.point.params.values())
      if (std::ranges::find(results.plan.params, name) == results.plan.params.end())
        results.plan.params.push_back(name);
  }
  std::ranges::sort(results.plan.params);
}

}  // namespace

Lab::Lab() {
  std::string pattern = (std::filesystem::temp_directory_path() / "gpuexp_compare_XXXXXX").string();
  if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary directory");
  path_ = pattern;
}
Lab::~Lab() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path Lab::write(const std::string& name, const std::string& text) const {
  std::filesystem::create_directories((path_ / name).parent_path());
  std::ofstream(path_ / name, std::ios::binary) << text;
  return path_ / name;
}
std::filesystem::path Lab::json(const std::string& name, const ResultFile& results) const {
  return write(name, to_json_text(results));
}
std::filesystem::path Lab::csv(const std::string& name, const ResultFile& results) const {
  return write(name, to_csv_text(results));
}
Diff Lab::by_json(const ResultFile& base, const ResultFile& next, const DiffOptions& options) const {
  return compare(json("base.json", base), json("new.json", next), options);
}
Diff Lab::by_csv(const ResultFile& base, const ResultFile& next, const DiffOptions& options) const {
  return compare(csv("base.csv", base), csv("new.csv", next), options);
}

ResultFile emulated_results() {
  ResultFile results = header("transpose", "simt");
  for (const char* name : {"naive", "smem", "smem_padded"})
    for (const std::int64_t rows : {64, 256}) results.points.push_back(transpose(name, rows));
  finish(results);
  return results;
}

void update_time(PointRecord& record) { record.time = time_statistics(*record.result.timing); }

ResultFile measured_results(int points, double noise, std::uint64_t seed) {
  ResultFile results = header("products", "cuda");
  results.environment.insert(results.environment.end(), {{"gpu", "NVIDIA H200"},
                                                         {"gpu_uuid", "GPU-1"},
                                                         {"gpu_sm_count", "132"},
                                                         {"driver", "580.1"},
                                                         {"toolkit", "CUDA 13.0"}});
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(1, noise);
  for (int i = 0; i < points; ++i) {
    PointRecord& record = results.points.emplace_back();
    PointResult& result = record.result;
    result.point.variant = "matmul/tiled";
    result.point.params.set("n", std::int64_t{64} * (i + 1));
    result.backend = "cuda";
    result.flops = 1e6 * (i + 1);
    result.verification.state = Verification::State::passed;
    result.counters["global_load_sectors"] = Quantity::real(4096.0 * (i + 1), Source::measured);
    result.counters["dram_read_bytes"] = Quantity::real(1e6 * (i + 1) * normal(random), Source::measured);
    result.counters["sm_cycles"] = Quantity::real(1e5 * normal(random), Source::measured);
    result.timing.emplace().cache_mode = "cold";
    result.timing->sm_clock_mhz = 1980;
    for (int k = 0; k < 10; ++k) result.timing->samples_us.push_back(100.0 * (i + 1) * normal(random));
    update_time(record);
  }
  finish(results);
  return results;
}

PointRecord& point(ResultFile& results, const std::string& key_part) {
  for (PointRecord& record : results.points)
    if (record.result.point.key().find(key_part) != std::string::npos) return record;
  throw std::runtime_error("no point " + key_part);
}

const PointDiff& diff_of(const Diff& diff, const std::string& key_part) {
  for (const FileDiff& file : diff.files)
    for (const PointDiff& point : file.points)
      if (point.key.find(key_part) != std::string::npos) return point;
  ADD_FAILURE() << "no change of " << key_part;
  static const PointDiff none;
  return none;
}

std::size_t count(const Diff& diff, Verdict verdict) { return diff.counts[static_cast<std::size_t>(verdict)]; }

}  // namespace gpuexp::test
