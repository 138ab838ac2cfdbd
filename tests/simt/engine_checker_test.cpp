// What the checkers find, where they say it is, and that right kernels give no finding.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <tuple>

#include "profiler/backend/simt/checker.h"
#include "profiler/core/random.h"
#include "tests/simt/engine_lab.h"

namespace gpuexp::test {
namespace {

PointResult check(const std::string& kernel, Schedule schedule = Schedule::forward) {
  RunOptions options;
  options.schedule = schedule;
  options.schedule_seed = 7;
  PointResult result = run(kernel, floats(128), {}, options);
  EXPECT_EQ(result.status, Status::ok) << kernel << ": " << result.reason;
  return result;
}

int line(const std::string& text) { return line_of("checked.cu", text); }

void expect_one(const PointResult& result, const std::string& kind, const std::string& text) {
  ASSERT_EQ(result.findings.size(), 1U) << result.point.variant;
  EXPECT_EQ(result.findings.front().kind, kind);
  EXPECT_EQ(result.findings.front().site.line, line(text));
  EXPECT_EQ(result.findings.front().site.file, "tests/simt/kernels/checked.cu");
}

TEST(EngineChecker, MissingBarrierIsARaceWithBothLinesUnderEverySchedule) {
  for (const Schedule schedule : kSchedules) {
    const PointResult result = check("missing_barrier", schedule);
    const Finding* race = find_finding(result, "race");
    ASSERT_NE(race, nullptr);
    ASSERT_TRUE(race->other_site.has_value());
    EXPECT_EQ(race->site.line, line("// races as writer"));
    EXPECT_EQ(race->other_site->line, line("// races as reader"));
    EXPECT_EQ(race->occurrences, 64U);
    EXPECT_EQ(race->thread, (Dim3{0, 0, 0}));
    EXPECT_NE(race->message.find("tile"), std::string::npos) << race->message;
    EXPECT_EQ(result.findings.size(), 1U);
    EXPECT_FALSE(result.good());
  }
}

TEST(EngineChecker, WritesToOneWord) {
  for (const Schedule schedule : kSchedules) {
    const PointResult result = check("same_word", schedule);
    ASSERT_EQ(result.findings.size(), 1U);
    expect_one(result, "race", "// all write one word");
    EXPECT_EQ(result.findings.front().occurrences, 2U);  // one word in each of two blocks
  }
}

TEST(EngineChecker, BytesOfOneWordAreTheirOwn) {
  for (const Schedule schedule : kSchedules) {
    EXPECT_TRUE(check("neighbouring_bytes", schedule).findings.empty());
    expect_one(check("shared_byte", schedule), "race", "// two threads per byte");
  }
}

TEST(EngineChecker, SoundKernelsGiveNoFinding) {
  for (const char* kernel : {"own_word", "warp_tail", "half_synced_right", "shared_atomics", "exits_before_barrier"}) {
    for (const Schedule schedule : kSchedules) {
      const PointResult result = check(kernel, schedule);
      EXPECT_TRUE(result.findings.empty()) << kernel << ": " << result.findings.front().message;
    }
  }
}

TEST(EngineChecker, SyncwarpOrdersItsLanesOnly) {
  for (const Schedule schedule : kSchedules) {
    const PointResult unordered = check("warp_tail_unordered", schedule);
    const Finding* race = find_finding(unordered, "race");
    ASSERT_NE(race, nullptr);
    EXPECT_EQ(race->site.line, line("// unordered sum"));
    const PointResult half = check("half_synced", schedule);
    ASSERT_EQ(half.findings.size(), 1U);
    EXPECT_EQ(half.findings.front().kind, "race");
    EXPECT_EQ(half.findings.front().occurrences, 32U);
    EXPECT_NE(find_finding(check("shuffle_is_no_barrier", schedule), "race"), nullptr);
  }
}

TEST(EngineChecker, RaceInGlobalMemory) {
  for (const Schedule schedule : kSchedules) {
    const PointResult result = check("global_race", schedule);
    ASSERT_EQ(result.findings.size(), 1U);
    expect_one(result, "race", "// two threads per element");
    EXPECT_EQ(result.findings.front().occurrences, 32U);
    EXPECT_NE(result.findings.front().message.find("out[0]"), std::string::npos) << result.findings.front().message;
  }
}

TEST(EngineChecker, OutOfBounds) {
  for (const Schedule schedule : kSchedules) {
    const PointResult beyond = check("beyond_global", schedule);
    ASSERT_EQ(beyond.findings.size(), 1U);
    expect_one(beyond, "out_of_bounds", "// last ones beyond");
    EXPECT_EQ(beyond.findings.front().occurrences, 6U);
    EXPECT_EQ(beyond.findings.front().thread.x, 58);
    EXPECT_NE(beyond.findings.front().message.find("in[128]"), std::string::npos) << beyond.findings.front().message;
    const PointResult before = check("before_global", schedule);
    ASSERT_EQ(before.findings.size(), 1U);
    expect_one(before, "out_of_bounds", "// first one before");
    EXPECT_NE(before.findings.front().message.find("in[-1]"), std::string::npos) << before.findings.front().message;
    const PointResult shared = check("beyond_shared", schedule);
    ASSERT_EQ(shared.findings.size(), 1U);
    expect_one(shared, "out_of_bounds", "// last thread overflows");
    EXPECT_EQ(shared.findings.front().thread.x, 63);
    expect_one(check("null_pointer", schedule), "out_of_bounds", "// dereferences null");
  }
}

TEST(EngineChecker, OtherBadAccesses) {
  expect_one(check("misaligned"), "misaligned", "// reads across words");
  expect_one(check("writes_input"), "write_to_input", "// writes to in");
  const PointResult shared = check("uninitialised_shared");
  ASSERT_EQ(shared.findings.size(), 1U);
  expect_one(shared, "uninitialised", "// reads the last one");
  EXPECT_EQ(shared.findings.front().thread.x, 63);
  expect_one(check("uninitialised_global"), "uninitialised", "// adds to nothing");
}

TEST(EngineChecker, ThreadsThatWaitForEachOther) {
  const PointResult barrier = check("divergent_barrier");
  ASSERT_EQ(barrier.findings.size(), 1U);
  expect_one(barrier, "divergent_barrier", "// one barrier");
  ASSERT_TRUE(barrier.findings.front().other_site.has_value());
  EXPECT_EQ(barrier.findings.front().other_site->line, line("// another barrier"));
  const PointResult mixed = check("shuffle_against_barrier");
  ASSERT_EQ(mixed.findings.size(), 1U);
  expect_one(mixed, "divergent_barrier", "// waits for all lanes");
  ASSERT_TRUE(mixed.findings.front().other_site.has_value());
  EXPECT_EQ(mixed.findings.front().other_site->line, line("// where the others are"));
}

TEST(EngineChecker, InactiveLanes) {
  const PointResult exited = check("shuffle_from_exited");
  ASSERT_EQ(exited.findings.size(), 1U);
  expect_one(exited, "inactive_lane", "// lane 8 reads lane 16");
  EXPECT_EQ(exited.findings.front().occurrences, 8U);
  EXPECT_EQ(exited.findings.front().thread.x, 8);
  const PointResult unnamed = check("shuffle_not_in_mask");
  ASSERT_EQ(unnamed.findings.size(), 1U);
  expect_one(unnamed, "inactive_lane", "// half of the lanes are not named");
  EXPECT_EQ(unnamed.findings.front().occurrences, 16U);
}

TEST(EngineChecker, EndlessKernelsTimeOut) {
  for (const char* kernel : {"endless", "endless_silent", "endless_barrier"}) {
    RunOptions options;
    options.point_time_limit_s = 0.3;
    const PointResult result = run(kernel, floats(128), {}, options);
    EXPECT_EQ(result.status, Status::timed_out) << kernel;
    EXPECT_LT(result.wall_seconds, 20) << kernel;
  }
  std::atomic<bool> cancel{true};
  RunOptions options;
  options.cancel = &cancel;
  EXPECT_EQ(run("endless", floats(128), {}, options).status, Status::interrupted);
  EXPECT_TRUE(check("own_word").findings.empty());  // the fibers left behind do no harm
}

TEST(EngineChecker, FaultsOfTheProcessorEndThePointAlone) {
  const std::pair<const char*, const char*> cases[] = {
      {"divides_by_zero", "// divides by zero"}, {"traps", "// traps"}, {"calls_null", "// calls nowhere"}};
  for (const auto& [kernel, text] : cases) {
    const PointResult result = run(kernel, floats(128));
    EXPECT_EQ(result.status, Status::failed) << kernel;
    const std::string place = "checked.cu:" + std::to_string(line_of("checked.cu", text)) + ":";
    EXPECT_NE(result.reason.find(place), std::string::npos) << result.reason;
    EXPECT_NE(result.reason.find(kernel), std::string::npos) << result.reason;
    EXPECT_TRUE(check("own_word").findings.empty()) << "after " << kernel;
  }
}

TEST(EngineChecker, AFaultAtAnUnknownPlaceNamesTheKernel) {
  const PointResult result = run("returns_nowhere", floats(128));
  EXPECT_EQ(result.status, Status::failed);
  EXPECT_EQ(result.reason.rfind("returns_nowhere touches memory", 0), 0U) << result.reason;
  EXPECT_TRUE(check("own_word").findings.empty());
}

TEST(EngineChecker, SharedMemoryThatIsOnlyReadOrOnlyWrittenCounts) {
  const PointResult read = check("only_reads_shared");
  expect_one(read, "uninitialised", "// reads what nobody wrote");
  EXPECT_EQ(counter(read, "shared_load_requests"), 2U);
  const PointResult written = check("only_writes_shared");
  EXPECT_TRUE(written.findings.empty());
  EXPECT_EQ(counter(written, "shared_store_requests"), 2U);
}

TEST(EngineChecker, FunctionsThatAreNotInlinedAreRefused) {
  const PointResult result = run("calls_function", floats(128));
  EXPECT_EQ(result.status, Status::failed);
  EXPECT_NE(result.reason.find("not_inlined"), std::string::npos) << result.reason;
  EXPECT_NE(result.reason.find("checked.cu"), std::string::npos) << result.reason;
}

TEST(EngineSpaces, SharedVariablesOfFilesAndDeviceFunctions) {
  const PointResult file = run("file_scope_shared", floats(32, [](std::int64_t i) { return double(31 - i); }));
  ASSERT_EQ(file.status, Status::ok) << file.reason;
  EXPECT_EQ(file.verification.state, Verification::State::passed);
  EXPECT_TRUE(file.findings.empty());
  EXPECT_EQ(file.launches.front().static_shared_bytes, 128);
  const PointResult device = run("device_function_shared", floats(32));
  EXPECT_EQ(device.status, Status::failed);
  EXPECT_NE(device.reason.find("helper"), std::string::npos) << device.reason;
}

TEST(EngineSpaces, ConstantsCountAsTheirOwnSpace) {
  const PointResult result = run("reads_constant", floats(32, [](std::int64_t i) { return double(i * (i % 4 + 1)); }));
  ASSERT_EQ(result.status, Status::ok) << result.reason;
  EXPECT_EQ(result.verification.state, Verification::State::passed);
  const SiteRow* load = find_site(result, "constant", "load");
  ASSERT_NE(load, nullptr);
  EXPECT_EQ(load->space, "constant");
  EXPECT_EQ(load->requests, 1U);
}

TEST(EngineSpaces, WholeObjects) {
  const auto copied = [](std::int64_t n) {
    Lab lab = floats(128, [](std::int64_t i) { return double(i); });
    lab.buffers[1].elements = n;
    return lab;
  };
  for (const char* kernel : {"copies_struct", "copies_float3", "copies_memory"}) {
    const PointResult result = run(kernel, copied(30));
    ASSERT_EQ(result.status, Status::ok) << result.reason;
    EXPECT_EQ(result.verification.state, Verification::State::passed) << kernel;
    EXPECT_EQ(counter(result, "global_load_requests"), 3U) << kernel;
    EXPECT_EQ(counter(result, "global_load_lanes"), 30U) << kernel;
    EXPECT_EQ(counter(result, "global_store_requests"), 3U) << kernel;
  }
  const PointResult half = run("copies_half", copied(15));
  ASSERT_EQ(half.status, Status::ok) << half.reason;
  EXPECT_EQ(half.verification.state, Verification::State::passed);
  EXPECT_EQ(counter(half, "global_load_requests"), 1U);
  EXPECT_EQ(counter(half, "global_load_lanes"), 30U);
  EXPECT_EQ(counter(half, "global_load_sectors"), 2U);
  EXPECT_EQ(counter(half, "global_store_requests"), 1U);
  const PointResult pair = run("copies_pair", copied(30));
  ASSERT_EQ(pair.status, Status::ok) << pair.reason;
  EXPECT_EQ(pair.verification.state, Verification::State::passed);
  EXPECT_EQ(counter(pair, "global_load_requests"), 2U);
  EXPECT_EQ(counter(pair, "global_store_requests"), 2U);
  const PointResult wide = run("copies_float4", copied(128));
  EXPECT_EQ(wide.verification.state, Verification::State::passed);
  EXPECT_EQ(counter(wide, "global_load_requests"), 1U);
  EXPECT_EQ(counter(wide, "global_load_sectors"), 16U);
}

TEST(EngineSpaces, LocalArrays) {
  const PointResult large = run("large_local", floats(128));
  ASSERT_EQ(large.status, Status::ok) << large.reason;
  EXPECT_NE(find_site(large, "out", "store"), nullptr);
  EXPECT_EQ(counter(large, "global_load_lanes"), 2U * 8192U);  // the array itself counts as registers
  const PointResult huge = run("huge_local", floats(128));
  EXPECT_EQ(huge.status, Status::failed);
  EXPECT_NE(huge.reason.find("local memory"), std::string::npos) << huge.reason;
  EXPECT_TRUE(run("own_word", floats(128)).good());
}

// A stream of accesses as a block's warps make them, innocent in many intervals and not in others.
class RandomAccesses {
 public:
  // `calm`: every thread keeps to its own words.
  RandomAccesses(std::uint64_t seed, bool calm) : state_(seed), calm_(calm) {}

  std::uint64_t below(std::uint64_t n) { return random_below(state_ = splitmix64(state_), n); }
  // One of `mood`'s: 0 stores, 1 loads, 2 anything; of a region of 4096 bytes from `begin`.
  simt::WarpAccess access(std::uint64_t mood, std::uint64_t begin) {
    using simt::AccessKind;
    const std::uint64_t site = below(6);
    const AccessKind op = mood == 0 ? AccessKind::store : mood == 1 ? AccessKind::load : AccessKind(below(3));
    const std::uint64_t width_log2 = !calm_ && below(8) == 0 ? below(5) : 2;
    const std::uint64_t width = std::uint64_t{1} << width_log2;
    simt::WarpAccess made;
    made.code = static_cast<simt::EventCode>((site * 100 + static_cast<std::uint64_t>(op) * 10 + width_log2 + 1)
                                             << simt::kKindBits) |
                simt::access_kind(op, static_cast<int>(width_log2));
    made.warp = static_cast<std::uint32_t>(below(2));
    made.mask = below(3) == 0 ? static_cast<std::uint32_t>(below(1U << 31U) * 2 + 1) : 0xffffffffU;
    const std::uint64_t elements = 4096 / width;
    const std::uint64_t first = mood == 0 ? made.warp * 32 + below(4) * 64 : below(elements);
    const std::uint64_t stride = !calm_ && below(4) == 0 ? below(elements) : 1;
    const bool scattered = !calm_ && below(8) == 0;
    for (std::uint64_t lane = 0; lane < 32; ++lane) {
      const std::uint64_t element = scattered ? below(elements) : first + lane * stride;
      addresses_[lane] = begin + element % elements * width;
    }
    const std::uint64_t active = addresses_[static_cast<std::size_t>(std::countr_zero(made.mask))];
    made.uniform = true;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      if ((made.mask >> lane & 1U) == 0) addresses_[lane] = active;
      made.uniform &= addresses_[lane] == active;
    }
    made.address = addresses_.data();
    return made;
  }

 private:
  std::uint64_t state_;
  bool calm_;
  std::array<std::uint64_t, 32> addresses_{};
};

// An output buffer of 1024 float32 at address 1 MiB.
struct OutputView {
  OutputView() {
    view.begin = std::uint64_t{1} << 20U;
    view.size = 4096;
    view.element_log2 = 2;
    view.writable = view.tracked = true;
    view.written = written.data();
    view.written_chunks = chunks.data();
  }
  alignas(8) std::array<std::uint8_t, 1024> written{};
  std::array<std::uint8_t, 1> chunks{};
  simt::BufferView view;
};

std::vector<std::tuple<simt::FindingKey, std::uint64_t, std::uint64_t, std::uint32_t, std::uint64_t>> listed(
    const simt::Findings& findings) {
  std::vector<std::tuple<simt::FindingKey, std::uint64_t, std::uint64_t, std::uint32_t, std::uint64_t>> rows;
  for (const auto& [key, record] : findings.records()) {
    rows.emplace_back(key, record.occurrences, record.block, record.thread, record.address);
  }
  return rows;
}

TEST(EngineChecker, ScreeningChangesNoFinding) {
  constexpr std::uint64_t shared_base = 4096, shared_bytes = 4096;
  std::uint64_t innocent_runs = 0, guilty_runs = 0;
  std::uint32_t version = 1;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const bool calm = seed % 4 == 0;
    RandomAccesses random(seed, calm);
    simt::Checker screened;
    simt::WordChecker exact;
    simt::Findings by_screened, by_exact;
    OutputView for_screened, for_exact;
    screened.begin_launch(shared_bytes);
    exact.begin_launch(shared_bytes);
    for (std::uint64_t block = 0; block < 3; ++block) {
      screened.begin_block(block, shared_base, &by_screened);
      exact.begin_block(block, shared_base, &by_exact);
      screened.forget_written(0, shared_bytes);
      exact.forget_written(0, shared_bytes);
      for (std::uint64_t interval = 0; interval < 6; ++interval) {
        const std::uint64_t mood = calm || interval == 0 ? 0 : random.below(3);
        for (std::uint64_t count = random.below(12); count > 0; --count) {
          if (mood == 2 && random.below(8) == 0) {
            const auto mask = static_cast<std::uint32_t>(random.below(1U << 31U) + 1);
            screened.sync_warp(0, mask);
            exact.sync_warp(0, mask);
          }
          const bool global = random.below(3) == 0;
          const simt::WarpAccess access = random.access(mood, global ? for_screened.view.begin : shared_base);
          bool consecutive = access.mask == 0xffffffffU;
          for (std::uint64_t lane = 0; lane < 32; ++lane) {
            consecutive &= access.address[lane] - access.address[0] ==
                           lane * static_cast<std::uint64_t>(simt::width_of(access.code));
          }
          const simt::AddressOrigin pattern{static_cast<std::uint32_t>(random.below(4)), version++, consecutive};
          const auto both = [&](const simt::WarpAccess& one) {
            if (global) {
              screened.global(one, pattern, for_screened.view);
              exact.global(one, for_exact.view);
            } else {
              screened.shared(one, pattern);
              exact.shared(one);
            }
          };
          both(access);
          // The pattern again, two warps' words further on.
          std::array<std::uint64_t, 32> moved;
          std::transform(access.address, access.address + 32, moved.begin(), [](std::uint64_t a) { return a + 256; });
          simt::WarpAccess again = access;
          again.address = moved.data();
          const std::uint64_t end = (global ? for_screened.view.begin : shared_base) + 4096 - 16;
          if (*std::max_element(moved.begin(), moved.end()) <= end) both(again);
        }
        screened.end_interval();
        exact.end_interval();
      }
    }
    EXPECT_EQ(listed(by_screened), listed(by_exact)) << "seed " << seed;
    EXPECT_EQ(for_screened.written, for_exact.written) << "seed " << seed;
    (by_exact.empty() ? innocent_runs : guilty_runs) += 1;
  }
  EXPECT_GT(innocent_runs, 10U);
  EXPECT_GT(guilty_runs, 100U);
}

}  // namespace
}  // namespace gpuexp::test
