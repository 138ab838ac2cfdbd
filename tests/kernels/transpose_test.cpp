// The transpose variants on the emulator: the lecture's sectors and wavefronts, and every shape.
#include <gmock/gmock.h>

#include "points.h"

namespace gpuexp {
namespace {

using test::describe;
using test::over_sites;
using test::run;
using test::sound;

std::uint64_t global_sectors(const PointResult& result) {
  return over_sites(result, "A", "load", &SiteRow::sectors) + over_sites(result, "B", "store", &SiteRow::sectors);
}

struct Row {
  const char* variant;
  std::uint64_t load_sectors, store_sectors, shared_requests, wavefronts;
};

TEST(TransposeCounts, AreTheLecturesAt64) {
  for (const Row& row : {Row{"transpose/v1", 512, 4'096, 0, 0}, Row{"transpose/v2", 512, 512, 256, 4'224},
                         Row{"transpose/v3", 512, 512, 256, 256}}) {
    const PointResult result = run(row.variant, "rows=64");
    ASSERT_TRUE(sound(result)) << describe(result);
    EXPECT_EQ(over_sites(result, "A", "load", &SiteRow::sectors), row.load_sectors) << row.variant;
    EXPECT_EQ(over_sites(result, "B", "store", &SiteRow::sectors), row.store_sectors) << row.variant;
    EXPECT_EQ(over_sites(result, "tile", "load", &SiteRow::requests) +
                  over_sites(result, "tile", "store", &SiteRow::requests),
              row.shared_requests)
        << row.variant;
    EXPECT_EQ(over_sites(result, "tile", "load", &SiteRow::wavefronts) +
                  over_sites(result, "tile", "store", &SiteRow::wavefronts),
              row.wavefronts)
        << row.variant;
    EXPECT_EQ(test::counters_off_sites(result), "");
  }
}

TEST(TransposeCounts, TheStoreIntoTheTileConflictsAndTheLoadDoesNot) {
  const PointResult result = run("transpose/smem", "rows=64");
  EXPECT_EQ(over_sites(result, "tile", "store", &SiteRow::bank_conflicts), 128U * 31);
  EXPECT_EQ(over_sites(result, "tile", "load", &SiteRow::bank_conflicts), 0U);
}

TEST(TransposeCounts, AColumnOfPaddingDoesNotClearNarrowTiles) {
  // 16-wide tile, a warp of 16 x 2 lanes storing by columns: stride 16 puts 8 distinct words in a bank, stride 17 two.
  const PointResult plain = run("transpose/smem", "rows=16 TILE=16"),
                    padded = run("transpose/smem_padded", "rows=16 TILE=16");
  EXPECT_EQ(over_sites(plain, "tile", "store", &SiteRow::wavefronts), 8U * 8);
  EXPECT_EQ(over_sites(padded, "tile", "store", &SiteRow::wavefronts), 8U * 2);
}

TEST(TransposeCounts, AtFullSizeTheNaiveKernelMovesFourAndAHalfTimesTheBytes) {
  const double compulsory = 2.0 * 8192 * 8192 * 4;
  const PointResult naive = run("transpose/naive", "rows=8192"), padded = run("transpose/smem_padded", "rows=8192");
  ASSERT_TRUE(sound(naive)) << describe(naive);
  ASSERT_TRUE(sound(padded)) << describe(padded);
  EXPECT_LT(naive.blocks_run, naive.blocks_total);
  EXPECT_EQ(naive.compulsory_load_bytes + naive.compulsory_store_bytes, 536'870'912U);
  EXPECT_DOUBLE_EQ(32.0 * static_cast<double>(global_sectors(naive)) / compulsory, 4.5);
  EXPECT_DOUBLE_EQ(32.0 * static_cast<double>(global_sectors(padded)) / compulsory, 1.0);
}

// Beyond the padded tile nothing is left for the model to object to: each sector once, and no bank conflict.
TEST(TransposeCounts, EveryTileBeyondThePaddedOneMovesEachSectorOnceWithoutConflicts) {
  for (const char* variant : {"transpose/rows_per_thread", "transpose/swizzled", "transpose/vectorised"}) {
    for (const VariantInstance& instance : match_variants(variant).front()->instances) {
      const PointResult result = run(variant, instance.params.to_text() + " rows=256 cols=128");
      ASSERT_TRUE(sound(result)) << describe(result);
      const std::uint64_t bytes = result.compulsory_load_bytes + result.compulsory_store_bytes;
      EXPECT_EQ(32 * global_sectors(result), bytes) << result.point.key();
      EXPECT_EQ(test::count(result, "shared_store_bank_conflicts"), 0U) << result.point.key();
      EXPECT_EQ(test::count(result, "shared_load_bank_conflicts"), 0U) << result.point.key();
    }
  }
}

TEST(TransposeCounts, VectorsTakeAQuarterOfTheRequests) {
  const PointResult single = run("transpose/swizzled", "rows=128"), vectors = run("transpose/vectorised", "rows=128"),
                    halves = run("transpose/vectorised", "rows=128 dtype=float16");
  const auto requests = [](const PointResult& result) {
    return over_sites(result, "A", "load", &SiteRow::requests) + over_sites(result, "B", "store", &SiteRow::requests);
  };
  EXPECT_EQ(requests(single), 4 * requests(vectors));
  EXPECT_EQ(requests(vectors), 2 * requests(halves));
  EXPECT_EQ(halves.compulsory_load_bytes, 128U * 128 * 2);
}

TEST(TransposeShapes, AreRightInEveryVariant) {
  for (const char* shape : {"rows=1", "rows=1 cols=100", "rows=100 cols=1", "rows=33 cols=70", "rows=70 cols=33",
                            "rows=31 cols=32", "rows=15 cols=17", "rows=9 cols=7"}) {
    for (const Variant* variant : match_variants("transpose/*")) {
      for (const VariantInstance& instance : variant->instances) {
        if (instance.simt == nullptr) continue;
        const PointResult result = run(variant->name, instance.params.to_text() + " " + shape);
        EXPECT_TRUE(sound(result)) << describe(result);
      }
    }
  }
}

TEST(TransposeShapes, TheOrderOfBlocksChangesNoCount) {
  for (const char* shape : {"rows=192 cols=70", "rows=128 cols=192"}) {
    const PointResult beside = run("transpose/vectorised", std::string("down=0 ") + shape),
                      below = run("transpose/vectorised", std::string("down=1 ") + shape);
    EXPECT_TRUE(sound(beside) && sound(below)) << describe(beside) << describe(below);
    EXPECT_EQ(global_sectors(beside), global_sectors(below));
    EXPECT_EQ(beside.launches[0].grid.x, below.launches[0].grid.y);
  }
}

TEST(TransposeShapes, WithoutElementsAreFine) {
  for (const char* shape : {"rows=0", "rows=0 cols=5", "rows=5 cols=0"}) {
    for (const Variant* variant : match_variants("transpose/*")) {
      const PointResult result = run(variant->name, shape);
      EXPECT_EQ(result.status, Status::ok) << describe(result);
      EXPECT_TRUE(result.good()) << describe(result);
    }
  }
}

TEST(TransposeLimits, MoreRowsThanTheGridHasBlocksOnY) {
  struct Limit {
    const char *variant, *params;
  };
  for (const Limit& limit :
       {Limit{"transpose/naive", "rows=2097153 cols=1"}, Limit{"transpose/naive", "rows=65536 cols=2 block=1"},
        Limit{"transpose/smem", "rows=1048577 cols=3 TILE=16"},
        Limit{"transpose/smem_padded", "rows=1048561 cols=1 TILE=16"}}) {
    const PointResult result = run(limit.variant, limit.params, test::small_sample());
    EXPECT_TRUE(sound(result)) << describe(result);
    ASSERT_EQ(result.launches.size(), 1U);
    EXPECT_EQ(result.launches[0].grid.y, 65'535);
  }
  for (const Limit& limit :
       {Limit{"transpose/rows_per_thread", "rows=4194305 cols=1"}, Limit{"transpose/swizzled", "rows=4194305 cols=1"},
        Limit{"transpose/vectorised", "rows=2097153 cols=1 ROWS=32 COLS=32 down=0"},
        Limit{"transpose/vectorised", "rows=1 cols=2097153 ROWS=32 COLS=32 down=1"}}) {
    const PointResult result = run(limit.variant, limit.params, test::small_sample());
    EXPECT_TRUE(sound(result)) << describe(result);
    ASSERT_EQ(result.launches.size(), 1U);
    EXPECT_EQ(result.launches[0].grid.z, 2) << limit.variant;
  }
}

TEST(TransposeLimits, BeyondTwoToThe31Elements) {
  for (const char* variant : {"transpose/v1", "transpose/v2", "transpose/v3", "transpose/rows_per_thread",
                              "transpose/swizzled", "transpose/vectorised"}) {
    const PointResult result = run(variant, "rows=65537 cols=32768", test::small_sample());
    EXPECT_TRUE(sound(result)) << describe(result);
  }
}

}  // namespace
}  // namespace gpuexp
