// What the emulator predicts, the GPU counts: requests and sectors to the digit, wavefronts of single accesses too.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <set>

#include "kernels/problem.h"
#include "tests/gpu/gpu_fixture.h"

namespace gpuexp {
namespace {

const std::vector<std::string> global_counts{"global_load_requests", "global_load_sectors", "global_store_requests",
                                             "global_store_sectors"};
const std::vector<std::string> shared_counts{"shared_load_requests",       "shared_load_wavefronts",
                                             "shared_load_bank_conflicts", "shared_store_requests",
                                             "shared_store_wavefronts",    "shared_store_bank_conflicts"};

class Prediction : public GpuTest {
 protected:
  static RunOptions counting(const std::vector<std::string>& counters) {
    RunOptions options = quick();
    options.lane_access_budget = 0;  // every block, so that the prediction is exact
    options.counters = counters;
    return options;
  }

  // Names of those counters that were measured and predicted, and differ.
  static std::string differences(const PointResult& result, const std::vector<std::string>& counters) {
    std::string text;
    for (const std::string& id : counters) {
      const auto measured = result.counters.find(id), predicted = result.predicted.find(id);
      if (measured == result.counters.end() || predicted == result.predicted.end()) {
        text += id + " is missing; ";
      } else if (!measured->second.has_value()) {
        text += id + " is null: " + measured->second.reason + "; ";
      } else if (measured->second.exact() != predicted->second.exact()) {
        text += id + ": measured " + std::to_string(measured->second.number().value_or(-1)) + ", predicted " +
                std::to_string(predicted->second.number().value_or(-1)) + "; ";
      }
    }
    return text;
  }
};

// Variants whose loops over a row have a trip count that differs from lane to lane. nvcc unrolls such a loop into a
// main and a remainder loop, and a warp whose lanes are at different counts issues the loads of both: more requests
// than the source's one loop has, of fewer lanes each.
const std::set<std::string> unrolled_by_trip_count{"spmv/binned", "spmv/merge", "spmv/subwarp_per_row",
                                                   "spmv/thread_per_row"};

// Requests are counted as instructions; the L1 cache counts them too, in passes of their own.
const std::vector<std::pair<std::string, std::string>> counted_in_l1{
    {"global_load_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
    {"global_store_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
    {"global_atomic_return_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"},
    {"global_reduction_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"}};

std::string l1_differences(const PointResult& result) {
  std::string text;
  for (const auto& [id, metric] : counted_in_l1) {
    const Quantity &issued = result.counters.at(id), &arrived = result.counters.at(metric);
    if (!issued.has_value() || issued.exact() != arrived.exact()) {
      text += id + ": " + std::to_string(issued.number().value_or(-1)) + " issued, " +
              std::to_string(arrived.number().value_or(-1)) + " in the L1 cache; ";
    }
  }
  return text;
}

std::vector<std::string> with_l1(std::vector<std::string> counters) {
  for (const auto& [id, metric] : counted_in_l1) {
    counters.push_back(id);
    counters.push_back(metric);
  }
  return counters;
}

TEST_F(Prediction, AtomicsAreCountedAsInTheL1Cache) {
  const PointResult result = backend().run(point("fault/atomics", with("n", 1700)), counting(with_l1({})));
  EXPECT_EQ(l1_differences(result), "") << result.reason;
  EXPECT_EQ(result.counters.at("global_reduction_requests").number(), 27.0);  // of 850 lanes
  EXPECT_EQ(result.counters.at("global_atomic_return_requests").number(), 27.0);
}

TEST_F(Prediction, GlobalRequestsAndSectorsOfEveryVariant) {
  int compared = 0;
  for (const Variant& variant : variants()) {
    if (!variant.cuda_only.empty() || !variant.broken.empty()) continue;
    if (variant.problem == "access_pattern") continue;  // has tests of its own
    ParamSet sizes;
    for (const ParamSpec& spec : params_of(variant)) {
      if (spec.name == "n" && variant.problem == "matmul") sizes.set("n", std::int64_t{130});
      if (spec.name == "rows" && variant.problem == "transpose") sizes.set("rows", std::int64_t{200});
    }
    const PointResult result = backend().run(point(variant.name, sizes), counting(with_l1(global_counts)));
    EXPECT_EQ(result.status, Status::ok) << variant.name << ": " << result.reason;
    EXPECT_EQ(result.verification.state, Verification::State::passed) << variant.name;
    EXPECT_EQ(l1_differences(result), "") << result.point.key();
    ++compared;
    if (unrolled_by_trip_count.contains(variant.name)) {
      const double measured = result.counters.at("global_load_requests").number().value_or(0);
      const double predicted = result.predicted.at("global_load_requests").number().value_or(0);
      EXPECT_GE(measured, predicted) << variant.name;
      EXPECT_LE(measured, 1.25 * predicted) << variant.name;
    } else {
      EXPECT_EQ(differences(result, global_counts), "") << result.point.key();
    }
  }
  std::cout << compared << " variants compared\n";
  EXPECT_GT(compared, 8);
}

// Counters of the pattern's own kind and operation: setting it up and checking it show as others.
std::vector<std::string> counters_of(const std::string& space, const std::string& op) {
  const std::string kind = space + (op == "ld" || op == "load" ? "_load_" : "_store_");
  if (space == "global") return {kind + "requests", kind + "sectors"};
  return {kind + "requests", kind + "wavefronts", kind + "bank_conflicts"};
}

class Patterns : public Prediction {
 protected:
  struct Case {
    Point point;
    std::vector<std::string> counters;
  };

  // The loads and stores of a file (atomics are counted elsewhere), those of one kind together: the profiler is set up
  // anew when the counters change.
  static std::vector<Case> cases_of(const std::string& file) {
    ParamSet params;
    params.set("file", file);
    const Variant& variant = *find_variant("access/pattern");
    std::vector<Case> cases;
    for (const ParamSet& expanded : expand_params(variant, params)) {
      const auto workload = find_problem(variant.problem)->make(expanded, 1);
      const std::int64_t operation = workload->host_value("operation", 0);
      if (operation > 1) continue;
      Case& one = cases.emplace_back();
      one.point.variant = variant.name;
      one.point.params = expanded;
      one.counters =
          counters_of(workload->host_value("shared", 0) != 0 ? "shared" : "global", operation == 0 ? "load" : "store");
    }
    std::stable_sort(cases.begin(), cases.end(), [](const Case& x, const Case& y) { return x.counters < y.counters; });
    return cases;
  }

  // Runs every pattern of a file; returns how many were compared.
  static int compare_file(const std::string& file) {
    int compared = 0;
    for (const Case& one : cases_of(file)) {
      const PointResult result = backend().run(one.point, counting(one.counters));
      const std::string& name = one.point.params.word("pattern");
      EXPECT_EQ(result.status, Status::ok) << name << ": " << result.reason;
      EXPECT_EQ(differences(result, one.counters), "") << name;
      ++compared;
    }
    return compared;
  }
};

TEST_F(Patterns, TheTableMeasuredAgain) {
  const int compared = compare_file("h200_access_patterns");
  std::cout << compared << " patterns of the table compared\n";
  EXPECT_EQ(compared, 126);
}

// Random offsets, widths and masks, so that the rules are not only right for the patterns they were found with.
TEST_F(Patterns, RandomOnes) {
  const char* asked = std::getenv("GPUEXP_PATTERN_SEED");
  const auto seed = static_cast<unsigned>(asked != nullptr ? std::strtoul(asked, nullptr, 10) : 20'251'130U);
  std::cout << "seed " << seed << " (set GPUEXP_PATTERN_SEED for another, GPUEXP_PATTERN_COUNT for fewer than 1000)\n";
  std::mt19937 draw(seed);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(draw() % n); };
  const std::string path = testing::TempDir() + "random_patterns.csv";
  std::ofstream file(path);
  file << "name,width_bytes,space,op,byte_offset_per_lane,active_mask,wavefronts,bank_conflicts,requests,sectors\n";
  const char* fewer = std::getenv("GPUEXP_PATTERN_COUNT");
  const int patterns = fewer != nullptr ? std::atoi(fewer) : 1000;
  for (int i = 0; i < patterns; ++i) {
    const unsigned width = 1U << below(5);
    const unsigned span = 1U << (1 + below(9));  // elements within reach: from all in one place to far apart
    const unsigned mode = below(3);              // anywhere, a stride, pairs that share
    const unsigned stride = 1 + below(40);
    file << "r" << i << "," << width << "," << (below(2) == 0 ? "shared" : "global") << ","
         << (below(2) == 0 ? "ld" : "st") << ",";
    for (unsigned lane = 0; lane < 32; ++lane) {
      const unsigned element = mode == 0 ? below(span) : mode == 1 ? lane * stride % 512 : (lane / 2) * stride % 512;
      file << (lane == 0 ? "" : " ") << element * width;
    }
    const unsigned mask = below(4) == 0 ? 0xffffffffU : static_cast<unsigned>(draw());
    file << "," << (mask == 0 ? 1U : mask) << ",,,,\n";
  }
  file.close();
  const int compared = compare_file(path);
  std::cout << compared << " random patterns compared\n";
  EXPECT_EQ(compared, patterns);
}

}  // namespace
}  // namespace gpuexp
