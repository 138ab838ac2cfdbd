// Microkernels on the emulator: right at odd sizes, and moving what a ceiling's arithmetic takes them to move.
#include <gmock/gmock.h>

#include "points.h"
#include "profiler/core/error.h"

namespace gpuexp {
namespace {

using test::count;
using test::describe;
using test::run;
using test::sound;

std::int64_t fact(const PointResult& result, const char* name) { return result.facts.integer(name); }

TEST(Micro, IsRightAtOddSizes) {
  for (const char* sizes : {"n=4", "n=100 chunk=64", "n=70000 chunk=16384 passes=3 repeats=2",
                            "n=5000 chunk=4096 block=1024 ITEMS=8 LOAD=cg", "n=5000 chunk=4 block=32"}) {
    const PointResult result = run("micro/read", sizes);
    EXPECT_TRUE(sound(result)) << sizes << ": " << describe(result);
  }
  for (const char* sizes : {"n=4", "n=100 chunk=64 passes=2", "n=20000 chunk=8192 block=1024 repeats=2"}) {
    const PointResult result = run("micro/shared_read", sizes);
    EXPECT_TRUE(sound(result)) << sizes << ": " << describe(result);
  }
  for (const char* variant : {"micro/write", "micro/triad"}) {
    for (const char* sizes : {"n=4 block=1", "n=5000", "n=1028 block=64"}) {
      const PointResult result = run(variant, sizes);
      EXPECT_TRUE(sound(result)) << sizes << ": " << describe(result);
    }
  }
  for (const char* sizes : {"threads=1 steps=1", "threads=33 steps=5000 chains=1", "threads=40 steps=31 dtype=float64",
                            "threads=3 steps=100 chains=1 dtype=float64 block=1"}) {
    const PointResult result = run("micro/fma", sizes);
    EXPECT_TRUE(sound(result)) << sizes << ": " << describe(result);
  }
  for (const char* variant : {"micro/chase", "micro/shared_chase"}) {
    for (const char* sizes :
         {"nodes=1 steps=3", "nodes=2 stride=8 steps=1", "nodes=256 steps=1000", "nodes=64 stride=24 steps=129"}) {
      const PointResult result = run(variant, sizes);
      EXPECT_TRUE(sound(result)) << sizes << ": " << describe(result);
    }
  }
}

TEST(Micro, WithNothingToDoIsNoError) {
  for (const char* variant : {"micro/read", "micro/shared_read", "micro/write", "micro/triad"}) {
    const PointResult result = run(variant, "n=0");
    EXPECT_TRUE(result.good()) << describe(result);
  }
  EXPECT_TRUE(run("micro/fma", "threads=0").good());
}

TEST(Micro, MovesWhatItsFactsSay) {
  for (const char* sizes : {"n=16384 chunk=4096", "n=8192 chunk=2048 passes=3 repeats=2 LOAD=cg"}) {
    const PointResult result = run("micro/read", sizes);
    EXPECT_EQ(32 * count(result, "global_load_sectors"), static_cast<std::uint64_t>(fact(result, "moved_bytes")));
    EXPECT_EQ(count(result, "global_load_sectors"), 16 * count(result, "global_load_requests"));
  }
  const PointResult shared = run("micro/shared_read", "n=4096 chunk=2048 passes=5 repeats=3");
  const std::uint64_t rows = 2 * 3;  // blocks; each ends with a sum over its warps, 8 loads of one lane
  EXPECT_EQ(128 * (count(shared, "shared_load_wavefronts") - 8 * rows),
            static_cast<std::uint64_t>(fact(shared, "moved_bytes")));
  EXPECT_EQ(count(shared, "shared_load_bank_conflicts"), 0U);
  const PointResult write = run("micro/write", "n=4096"), triad = run("micro/triad", "n=4096");
  EXPECT_EQ(32 * count(write, "global_store_sectors"), write.compulsory_store_bytes);
  EXPECT_EQ(count(write, "global_load_sectors"), 0U);
  EXPECT_EQ(32 * count(triad, "global_load_sectors"), triad.compulsory_load_bytes);
  EXPECT_EQ(32 * count(triad, "global_store_sectors"), triad.compulsory_store_bytes);
  const PointResult fma = run("micro/fma", "threads=64 steps=10 chains=8");
  EXPECT_DOUBLE_EQ(fma.flops, 2.0 * 64 * 10 * 8);
}

TEST(Micro, AChaseIsOneLoadAfterAnother) {
  const PointResult result = run("micro/chase", "nodes=64 steps=1000");
  const std::uint64_t relocations = 2 * 64 / 32;  // requests of the kernels before and after
  EXPECT_EQ(count(result, "global_load_requests"), 1000 + relocations);
  EXPECT_EQ(count(run("micro/shared_chase", "nodes=64 steps=777"), "shared_load_requests"), 777U);
}

// A chase would be fast where it should not be if the ring closed early.
TEST(Micro, TheRingVisitsEveryNode) {
  for (const std::int64_t nodes : {1, 2, 4, 8, 1024}) {
    ParamSet sizes;
    sizes.set("nodes", nodes);
    const auto workload = find_problem("micro_chase")->make(complete_params(*find_variant("micro/chase"), sizes), 1);
    std::vector<bool> seen(static_cast<std::size_t>(nodes));
    std::int64_t at = 0;
    for (std::int64_t step = 0; step < nodes; ++step) {
      EXPECT_FALSE(seen[static_cast<std::size_t>(at / 128)]) << nodes << " nodes, step " << step;
      seen[static_cast<std::size_t>(at / 128)] = true;
      at = static_cast<std::int64_t>(workload->input(0, at / 8));
    }
    EXPECT_EQ(at, 0) << nodes;
  }
}

TEST(Micro, TensorCoresAreCudaOnlyWithReason) {
  for (const char* variant : {"micro/mma_sync", "micro/wgmma"}) {
    const PointResult result = run(variant, "");
    EXPECT_EQ(result.status, Status::unsupported);
    EXPECT_THAT(result.reason, testing::HasSubstr("tensor cores"));
  }
}

std::string refusal(const char* variant, const char* sizes) {
  try {
    return run(variant, sizes).reason;
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Micro, RefusesWhatItCannotDo) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal("micro/read", "n=6"), HasSubstr("multiple of 4"));
  EXPECT_THAT(refusal("micro/read", "n=8 block=33"), HasSubstr("multiple of 32"));
  EXPECT_THAT(refusal("micro/read", "n=8 chunk=6"), HasSubstr("chunk=6"));
  EXPECT_THAT(refusal("micro/read", "n=4611686018427387904 passes=1000000"), HasSubstr("2^63 bytes"));
  EXPECT_THAT(refusal("micro/shared_read", "n=65536 chunk=65536"), HasSubstr("192 KiB"));
  EXPECT_THAT(refusal("micro/chase", "nodes=3"), HasSubstr("power of two"));
  EXPECT_THAT(refusal("micro/chase", "nodes=4 stride=12"), HasSubstr("multiple of 8"));
  EXPECT_THAT(refusal("micro/shared_chase", "nodes=1024"), HasSubstr("48 KiB"));
  EXPECT_THAT(refusal("micro/fma", "chains=3"), HasSubstr("chains"));
}

}  // namespace
}  // namespace gpuexp
