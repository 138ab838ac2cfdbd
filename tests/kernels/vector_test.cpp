// Vector kernels on the emulator; and that a kernel which does nothing, or too little, is found out.
#include <gmock/gmock.h>

#include "points.h"

// Variants of this test's own are registered as a kernel file would.
#define GPUEXP_SIMT 1
#include "kernels/variant.h"

namespace gpuexp {
namespace {

using test::describe;
using test::over_sites;
using test::run;
using test::sound;

TEST(Vector, IsRightAtEverySize) {
  for (const char* variant : {"vector/add", "vector/axpy"}) {
    for (const char* size :
         {"n=0", "n=1", "n=31", "n=255", "n=256", "n=257", "n=100000", "n=5 block=1", "n=5000 block=1024"}) {
      const PointResult result = run(variant, size);
      EXPECT_EQ(result.status, Status::ok) << describe(result);
      EXPECT_TRUE(result.good()) << describe(result);
      EXPECT_TRUE(std::string(size) == "n=0" || sound(result)) << describe(result);
    }
  }
}

TEST(Vector, MovesEachElementOnceInWholeSectors) {
  const PointResult add = run("vector/add", "n=1024"), axpy = run("vector/axpy", "n=1024");
  EXPECT_EQ(over_sites(add, "x", "load", &SiteRow::sectors) + over_sites(add, "y", "load", &SiteRow::sectors), 256U);
  EXPECT_EQ(over_sites(add, "z", "store", &SiteRow::sectors), 128U);
  EXPECT_EQ(over_sites(axpy, "y", "load", &SiteRow::lanes), 1024U);
  EXPECT_EQ(over_sites(axpy, "y", "store", &SiteRow::lanes), 1024U);
  EXPECT_DOUBLE_EQ(add.flops / static_cast<double>(add.compulsory_load_bytes + add.compulsory_store_bytes), 1.0 / 12);
  EXPECT_DOUBLE_EQ(axpy.flops / static_cast<double>(axpy.compulsory_load_bytes + axpy.compulsory_store_bytes), 1.0 / 6);
}

TEST(Vector, BeyondTwoToThe31Elements) {
  const PointResult result = run("vector/axpy", "n=2147483649", test::small_sample());
  EXPECT_TRUE(sound(result)) << describe(result);
  EXPECT_LT(result.blocks_run, result.blocks_total);
}

TEST(Vector, AGridBeyondTheHardwareIsRefusedNotWrapped) {
  const PointResult result = run("vector/add", "n=4294967552 block=1");
  EXPECT_NE(result.status, Status::ok);
  EXPECT_THAT(result.reason, testing::HasSubstr("grid"));
}

// A kernel that writes nothing must fail: outputs are poisoned, and hold nothing right by chance.
void launch_nothing(const Launch& /*launch*/) {}
const RegisterVariant nothing("null/add", "tests/kernels/vector_test.cpp", "simt", [](VariantBuilder& variant) {
  variant.problem("vector_add").idea("does nothing").instance(launch_nothing, {{"dtype", "float32"}});
});

TEST(Verification, FindsAKernelThatDoesNothing) {
  const PointResult result = run("null/add", "n=100");
  EXPECT_FALSE(result.good()) << describe(result);
}

}  // namespace
}  // namespace gpuexp
