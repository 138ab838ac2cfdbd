// The counter table: well-formed, and right on known totals.
#include "profiler/counters/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace gpuexp {
namespace {

using ::testing::HasSubstr;

bool is_snake_case(std::string_view id) {
  return !id.empty() && id.front() >= 'a' && id.front() <= 'z' && id.back() != '_' && id.find("__") == id.npos &&
         std::all_of(id.begin(), id.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

TEST(CounterTable, IdsAreUniqueAndSnakeCase) {
  std::set<std::string_view> ids;
  for (const Counter& counter : counter_table()) {
    EXPECT_TRUE(is_snake_case(counter.id)) << counter.id;
    EXPECT_TRUE(ids.insert(counter.id).second) << counter.id << " appears twice";
    EXPECT_EQ(find_counter(counter.id), &counter);
  }
  EXPECT_EQ(find_counter("global_load_sector"), nullptr);
  EXPECT_EQ(find_counter(""), nullptr);
}

TEST(CounterTable, GroupsUnitsAndMeaningsAreOfTheVocabulary) {
  const std::set<std::string_view> groups{"global", "shared", "issue",  "bytes",     "dram",
                                          "l2",     "flops",  "tensor", "occupancy", "clock"};
  const std::set<std::string_view> units{"request",     "sector",    "line",  "lane", "byte", "wavefront",
                                         "instruction", "operation", "cycle", "1",    "%"};
  std::set<std::string_view> finished;
  std::string_view current;
  for (const Counter& counter : counter_table()) {
    EXPECT_TRUE(groups.contains(counter.group)) << counter.id;
    EXPECT_TRUE(units.contains(counter.unit)) << counter.id;
    EXPECT_TRUE(counter.meaning.ends_with('.')) << counter.id;
    if (counter.group != current) {
      EXPECT_TRUE(finished.insert(counter.group).second) << counter.id << " is out of group";
    }
    current = counter.group;
  }
  EXPECT_EQ(finished, groups);
}

TEST(CounterTable, EveryCounterHasASource) {
  for (const Counter& counter : counter_table())
    EXPECT_TRUE(counter.simt != nullptr || !counter.perfworks.empty()) << counter.id;
}

TEST(CounterTable, PerfworksNamesAreWellFormedAndOncePerChip) {
  for (const Counter& counter : counter_table()) {
    std::set<std::string_view> chips;
    for (const PerfworksName& name : counter.perfworks) {
      EXPECT_TRUE(chips.insert(name.chip).second) << counter.id << " on " << name.chip;
      if (name.metric.empty()) continue;
      const std::size_t divided = name.metric.find(" / ");  // a quotient of two
      for (const std::string_view part :
           {name.metric.substr(0, divided), name.metric.substr(divided == name.metric.npos ? 0 : divided + 3)}) {
        EXPECT_NE(part.find("__"), part.npos) << name.metric;
        EXPECT_NE(part.find('.'), part.npos) << name.metric << " needs a rollup";
      }
    }
    if (!counter.perfworks.empty()) {
      EXPECT_TRUE(chips.contains("*")) << counter.id;
    }
  }
}

TEST(CounterTable, ChipsWithTheirOwnNames) {
  const auto metric = [](std::string_view id, std::string_view chip) {
    const Counter* counter = find_counter(id);
    EXPECT_NE(counter, nullptr) << id;
    const auto name = counter->metric_on(chip);
    return std::string(name.value_or("none"));
  };
  EXPECT_EQ(metric("dram_read_bytes", "GH100"), "dram__bytes_read.sum");
  EXPECT_EQ(metric("dram_read_bytes", "GB100"), "dram__bytes_read.sum");
  EXPECT_EQ(metric("dram_read_bytes", "GB202"), "dram__bytes_op_read.sum");  // rejects dram__bytes_read.sum
  EXPECT_EQ(metric("dram_write_bytes", "GB207"), "dram__bytes_op_write.sum");
  EXPECT_EQ(metric("dram_read_bytes", "GA10B"), "none");  // memory of the CPU
  EXPECT_EQ(metric("tensor_fp16_operations", "GA100"), "sm__ops_path_tensor_src_fp16_dst_fp32.sum");
  EXPECT_EQ(metric("tensor_fp16_operations", "GH100"), "sm__ops_path_tensor_src_fp16.sum");
  EXPECT_EQ(metric("tensor_fp16_half_sum_operations", "GH100"), "none");
  EXPECT_EQ(metric("tensor_tf32_operations", "GV100"), "none");
  EXPECT_EQ(metric("fp32x2_fma_instructions", "GH100"), "none");
  EXPECT_EQ(metric("fp32x2_fma_instructions", "GB100"), "smsp__sass_thread_inst_executed_op_ffma2_pred_on.sum");
  EXPECT_EQ(metric("global_load_sectors", "a chip not yet made"), "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum");
  EXPECT_EQ(metric("memory_instructions", "GH100"), "none");
}

// One FMA, multiply and add on packed floats are 2 + 2 + 4 = 8 operations; a weight of 1 for FMUL2 would give 7.
TEST(CounterTable, WeightsOfArithmetic) {
  int flops = 0;
  for (const char* id : {"fp32x2_fma_instructions", "fp32x2_add_instructions", "fp32x2_mul_instructions"})
    flops += find_counter(id)->flops;
  EXPECT_EQ(flops, 8);
  EXPECT_EQ(find_counter("fp32_fma_instructions")->flops, 2);
  EXPECT_EQ(find_counter("fp64_add_instructions")->flops, 1);
  EXPECT_EQ(find_counter("tensor_tf32_operations")->flops, 1);
  for (const Counter& counter : counter_table())
    EXPECT_EQ(counter.flops > 0, counter.group == "flops" || counter.group == "tensor") << counter.id;
}

SimtTotals known_totals() {
  SimtTotals t;
  t.global_load = {100, 3200, 12800, 400, 110, 50};
  t.global_store = {10, 320, 1280, 320, 320, 40};
  t.global_atomic = {3, 5, 20, 4, 3, 2};
  t.shared_load = {64, 2048, 8192, 2112, 2048};
  t.shared_store = {8, 256, 1024, 8, 0};
  t.shared_atomic = {2, 64, 256, 4, 2};
  t.memory_instructions = 187;
  t.memory_instruction_lanes = 5893;
  t.barriers = 12;
  t.warp_intrinsics = 5;
  return t;
}

Quantity emulated(std::string_view id, const SimtTotals& totals) {
  const Counter* counter = find_counter(id);
  EXPECT_NE(counter, nullptr) << id;
  EXPECT_NE(counter->simt, nullptr) << id;
  return counter->simt(totals);
}

TEST(CounterTable, CountsOfKnownTotals) {
  const SimtTotals totals = known_totals();
  const std::map<std::string_view, std::uint64_t> expected{
      {"global_load_requests", 100},
      {"global_load_lanes", 3200},
      {"global_load_sectors", 400},
      {"global_load_lines", 110},
      {"global_store_requests", 10},
      {"global_store_lanes", 320},
      {"global_store_sectors", 320},
      {"global_store_lines", 320},
      {"global_atomic_requests", 3},
      {"global_atomic_lanes", 5},
      {"global_atomic_sectors", 4},
      {"global_atomic_lines", 3},
      {"shared_load_requests", 64},
      {"shared_load_lanes", 2048},
      {"shared_load_bytes", 8192},
      {"shared_load_wavefronts", 2112},
      {"shared_load_bank_conflicts", 2048},
      {"shared_store_requests", 8},
      {"shared_store_lanes", 256},
      {"shared_store_bytes", 1024},
      {"shared_store_wavefronts", 8},
      {"shared_store_bank_conflicts", 0},
      {"shared_atomic_requests", 2},
      {"shared_atomic_lanes", 64},
      {"shared_atomic_bytes", 256},
      {"shared_atomic_wavefronts", 4},
      {"shared_atomic_bank_conflicts", 2},
      {"memory_instructions", 187},
      {"barriers", 12},
      {"warp_intrinsics", 5},
      {"requested_load_bytes", 12800},
      {"requested_store_bytes", 1280},
      {"requested_atomic_bytes", 20},
      {"transaction_load_bytes", 12800},
      {"transaction_store_bytes", 10240},
      {"transaction_atomic_bytes", 128},
      {"distinct_load_sectors", 50},
      {"distinct_store_sectors", 40},
      {"distinct_atomic_sectors", 2},
  };
  std::size_t counts = 0;
  for (const Counter& counter : counter_table()) {
    if (counter.simt == nullptr || counter.unit == "1") continue;
    ++counts;
    ASSERT_TRUE(expected.contains(counter.id)) << counter.id << " is not tested";
    const Quantity value = counter.simt(totals);
    EXPECT_EQ(value.exact(), expected.at(counter.id)) << counter.id;
    EXPECT_EQ(value.source, Source::emulated) << counter.id;
  }
  EXPECT_EQ(counts, expected.size());
}

TEST(CounterTable, RatiosAreOfTotals) {
  const SimtTotals totals = known_totals();
  EXPECT_EQ(emulated("global_load_sectors_per_request", totals).number(), 4.0);
  EXPECT_EQ(emulated("global_store_sectors_per_request", totals).number(), 32.0);
  EXPECT_DOUBLE_EQ(emulated("global_atomic_sectors_per_request", totals).number().value(), 4.0 / 3.0);
  EXPECT_DOUBLE_EQ(emulated("simt_efficiency", totals).number().value(), 5893.0 / (32.0 * 187.0));
}

// Two sites, 10 of 10 and 0 of 30: together 25 %, not the mean of 100 % and 0 %, nor their sum.
TEST(CounterTable, RatiosAreNeverAveraged) {
  SimtTotals totals;
  totals.memory_instructions = 10 + 30;
  totals.memory_instruction_lanes = 10 * 32 + 0;
  EXPECT_EQ(emulated("simt_efficiency", totals).number(), 0.25);
}

TEST(CounterTable, RatioOfNothingIsNullWithAReason) {
  for (const Counter& counter : counter_table()) {
    if (counter.simt == nullptr) continue;
    const Quantity value = counter.simt(SimtTotals{});
    if (counter.unit == "1") {
      EXPECT_FALSE(value.has_value()) << counter.id;
      EXPECT_FALSE(value.reason.empty()) << counter.id;
    } else {
      EXPECT_EQ(value.exact(), 0U) << counter.id;
    }
  }
}

TEST(CounterTable, DistinctSectorsOfASampleAreUnknown) {
  SimtTotals totals = known_totals();
  totals.global_load.distinct_sectors = 0;
  const Quantity value = emulated("distinct_load_sectors", totals);
  EXPECT_FALSE(value.has_value());
  EXPECT_THAT(value.reason, HasSubstr("some blocks"));
}

TEST(CounterTable, LargeCountsAreExact) {
  SimtTotals totals;
  totals.global_load.requests = (1ULL << 62) + 1;
  EXPECT_EQ(emulated("global_load_requests", totals).exact(), (1ULL << 62) + 1);
}

}  // namespace
}  // namespace gpuexp
