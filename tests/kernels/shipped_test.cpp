// The shipped experiments expand to the points they promise, under names and values that exist.
#include <gtest/gtest.h>

#include <set>

#include "points.h"
#include "profiler/experiment/experiment.h"

namespace gpuexp {
namespace {

struct Shipped {
  const char* name;
  std::size_t points;
};
class ShippedExperiments : public testing::TestWithParam<Shipped> {};

TEST_P(ShippedExperiments, ExpandToTheirPoints) {
  const std::string path = std::string(GPUEXP_SOURCE_DIR) + "/configs/" + GetParam().name + ".json";
  const Plan plan = make_plan(load_experiment(path));
  EXPECT_EQ(plan.name, GetParam().name);
  EXPECT_EQ(plan.experiment.device, "a100");
  EXPECT_FALSE(plan.experiment.description.empty());
  EXPECT_EQ(plan.points.size(), GetParam().points);
  EXPECT_TRUE(plan.notes.empty());
  std::set<std::string> keys;
  for (const Point& point : plan.points) EXPECT_TRUE(keys.insert(point.key()).second) << point.key();
}

INSTANTIATE_TEST_SUITE_P(All, ShippedExperiments,
                         testing::Values(Shipped{"tile_sweep", 3 * 7}, Shipped{"coarsening", 6 + 18},
                                         Shipped{"register_tiling", 2 + 14}, Shipped{"transpose", 7},
                                         Shipped{"coalescing", 22 + 21}, Shipped{"barriers", 3 + 4},
                                         Shipped{"vector", 6}, Shipped{"patterns", 126}, Shipped{"yardsticks", 4 + 6},
                                         Shipped{"batch_sweep", 20 + 30}));

// From the naive product upwards: each line of the file is one rung, at one size, and the library's are on it.
TEST(ShippedExperiments, TheLadderHasARungALine) {
  const Plan plan = make_plan(load_experiment(std::string(GPUEXP_SOURCE_DIR) + "/configs/ladder.json"));
  EXPECT_EQ(plan.points.size(), plan.experiment.sweeps.size());
  EXPECT_EQ(plan.points.front().variant, "matmul/naive");
  std::set<std::string> rungs;
  for (const Point& point : plan.points) {
    rungs.insert(point.variant);
    EXPECT_EQ(point.params.integer("n"), 4096);
    EXPECT_EQ(point.params.integer("m"), 4096);
  }
  for (const char* rung : {"matmul/tiled", "matmul/register_tiled", "matmul/cublas_sgemm", "matmul/cublas_tf32"})
    EXPECT_TRUE(rungs.contains(rung)) << rung;
}

}  // namespace
}  // namespace gpuexp
