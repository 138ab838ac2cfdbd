// Ceilings found in points: plateaus of synthetic curves, latencies from two chains, and reasons where nothing is told.
#include "profiler/roofline/measured_ceilings.h"

#include <gmock/gmock.h>

#include <cmath>
#include <deque>
#include <limits>

#include "profiler/core/error.h"

namespace gpuexp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<SweepPoint> sweep(const std::vector<double>& values) {
  std::vector<SweepPoint> points;
  for (std::size_t i = 0; i < values.size(); ++i)
    points.push_back({std::ldexp(1024, static_cast<int>(i)), values[i], i});
  return points;
}

std::vector<double> middles(const std::vector<Plateau>& plateaus) {
  std::vector<double> values;
  for (const Plateau& plateau : plateaus) values.push_back(plateau.middle.value);
  return values;
}

TEST(Plateaus, AreFoundOnAStaircase) {
  const auto found = find_plateaus(sweep({99, 100, 101, 100, 70, 52, 50, 51, 50, 30, 10, 10, 10}));
  EXPECT_THAT(middles(found), ElementsAre(100, 51, 10));
  EXPECT_THAT(found[0].points, SizeIs(4));
  EXPECT_EQ(found[1].points.front().index, 5U);
  EXPECT_NEAR(found[0].width, 101.0 / 99 - 1, 1e-12);
}

TEST(Plateaus, NeedThreeNeighbours) {
  EXPECT_THAT(find_plateaus({}), IsEmpty());
  EXPECT_THAT(find_plateaus(sweep({100})), IsEmpty());
  EXPECT_THAT(find_plateaus(sweep({100, 100})), IsEmpty());
  EXPECT_THAT(find_plateaus(sweep({100, 100, 100})), SizeIs(1));
  // Three equal values that are no neighbours, and a slope: neither is a plateau.
  EXPECT_THAT(find_plateaus(sweep({100, 50, 100, 50, 100})), IsEmpty());
  EXPECT_THAT(find_plateaus(sweep({100, 90, 80, 70, 62, 55, 48})), IsEmpty());
}

TEST(Plateaus, EndWhereValuesLeaveFivePercent) {
  EXPECT_THAT(find_plateaus(sweep({100, 105, 110.5})), SizeIs(1));  // 1.05 / 0.95 apart
  EXPECT_THAT(find_plateaus(sweep({100, 105, 111})), IsEmpty());
}

TEST(Plateaus, DoNotDependOnTheOrderAndLeaveOutWhatIsNoRate) {
  auto points = sweep({100, 101, 102, 20, 20, 20});
  points.push_back({1, std::numeric_limits<double>::quiet_NaN(), 6});
  points.push_back({2, 0, 7});
  points.push_back({3, -5, 8});
  std::reverse(points.begin(), points.end());
  EXPECT_THAT(middles(find_plateaus(points)), ElementsAre(101, 20));
}

// Points as a run of configs/ceilings.json leaves them.
class Ceiling : public testing::Test {
 protected:
  PointResult& add(const std::string& variant, double time_us, double clock_mhz = 1000) {
    PointResult& result = points.emplace_back();
    result.point.variant = variant;
    result.backend = "cuda";
    result.verification.state = Verification::State::passed;
    result.timing = Timing{{time_us * 0.99, time_us, time_us * 1.01}, "cold", 0, clock_mhz, ""};
    return result;
  }
  PointResult& add_read(const std::string& load, std::int64_t set, std::int64_t moved, double bytes_per_s) {
    PointResult& result = add("micro/read", static_cast<double>(moved) / bytes_per_s * 1e6);
    result.point.params.set("LOAD", load);
    result.point.params.set("n", set / 4);
    result.facts.set("working_set_bytes", set);
    result.facts.set("moved_bytes", moved);
    return result;
  }
  void add_chase(std::int64_t set, double cycles, double overhead_us = 50) {
    for (const std::int64_t steps : {1000, 5000}) {
      PointResult& result = add("micro/chase", overhead_us + static_cast<double>(steps) * cycles / 2000, 2000);
      result.point.params.set("nodes", set / 128);
      result.point.params.set("steps", steps);
      result.facts.set("working_set_bytes", set);
      result.facts.set("chain_steps", steps);
    }
  }

  CeilingFigure figure(const std::string& id) {
    std::vector<const PointResult*> given;
    for (const PointResult& point : points) given.push_back(&point);
    for (CeilingFigure& found : find_ceilings(given, device))
      if (found.id == id) return found;
    ADD_FAILURE() << "no figure " << id;
    return {};
  }

  DeviceSpec device = find_device("h200").spec;
  std::deque<PointResult> points;  // references stay valid
};

TEST_F(Ceiling, IsTheBestRateWithItsPointSpreadAndShareOfTheSpecification) {
  for (const double time_us : {600.0, 500.0, 550.0}) {
    PointResult& copy = add("copy/float4", time_us);
    copy.point.params.set("us", static_cast<std::int64_t>(time_us));
    copy.compulsory_load_bytes = copy.compulsory_store_bytes = 1'200'000'000;
  }
  const CeilingFigure copy = figure("dram_copy");
  EXPECT_DOUBLE_EQ(copy.value.number().value_or(0), 2.4e9 / 500e-6);
  EXPECT_EQ(copy.value.source, Source::measured);
  EXPECT_EQ(copy.point, "copy/float4 us=500");
  EXPECT_NEAR(copy.relative_spread.value_or(0), 0.01, 1e-12);
  EXPECT_NEAR(copy.percent_of_spec.number().value_or(0), 100, 1e-9);  // 4.8 TB/s
  EXPECT_FALSE(copy.percent_at_clock.has_value());                    // DRAM has a clock of its own
}

TEST_F(Ceiling, OfArithmeticIsComparedAtTheMeasuredClockToo) {
  PointResult& fma = add("micro/fma", 1000, 990);
  fma.point.params.set("dtype", std::string("float32"));
  fma.point.params.set("chains", std::int64_t{8});
  fma.flops = 0.97 * 2 * 128 * 132 * 990e6 * 1e-3;
  EXPECT_NEAR(figure("fp32").percent_at_clock.number().value_or(0), 97, 1e-9);
  EXPECT_NEAR(figure("fp32").percent_of_spec.number().value_or(0), 100 * fma.flops / 1e-3 / 67e12, 1e-9);
  EXPECT_THAT(figure("fp64").value.reason, HasSubstr("no point of micro/fma"));
}

TEST_F(Ceiling, OfACacheIsItsPlateauWithinItsSize) {
  constexpr std::int64_t mib = 1 << 20;
  for (const std::int64_t set : {4, 8, 16, 32}) add_read("cg", set * mib, 4096 * mib, 7e12);
  for (const std::int64_t set : {128, 256, 512, 1024, 2048}) add_read("cg", set * mib, 4096 * mib, 4.4e12);
  for (const std::int64_t set : {16, 32, 64, 128}) add_read("ca", set * 1024, 4096 * mib, 30e12);
  for (const std::int64_t set : {512, 1024, 2048}) add_read("ca", set * 1024, 4096 * mib, 40e12);  // no L1 holds them
  add_read("ca", 1024 * mib, 1024 * mib, 4.5e12);
  const CeilingFigure l2 = figure("l2");
  EXPECT_NEAR(l2.value.number().value_or(0), 7e12, 1);
  EXPECT_THAT(l2.how, HasSubstr("plateau 4 MiB to 32 MiB, 4 points"));
  EXPECT_NEAR(figure("l1").value.number().value_or(0), 30e12, 1);
  EXPECT_NEAR(figure("dram_read").value.number().value_or(0), 4.5e12, 1);
}

TEST_F(Ceiling, WithoutAPlateauIsNullWithTheReason) {
  for (int i = 0; i < 5; ++i) add_read("cg", 1 << (20 + i), std::int64_t{1} << 32, 9e12 * std::pow(0.8, i));
  const CeilingFigure l2 = figure("l2");
  EXPECT_FALSE(l2.value.has_value());
  EXPECT_THAT(l2.value.reason, HasSubstr("no plateau: of the 5 points with working sets within the L2 cache"));
  EXPECT_FALSE(l2.percent_of_spec.has_value());
}

TEST_F(Ceiling, OfLatencyIsTheDifferenceOfTwoChains) {
  for (const std::int64_t kib : {16, 32, 64, 128}) add_chase(kib * 1024, 32);
  for (const std::int64_t kib : {512, 1024, 2048}) add_chase(kib * 1024, 270, 300);
  for (const std::int64_t mib : {256, 512, 1024}) add_chase(mib << 20, 700, 2000);
  EXPECT_NEAR(figure("l1_latency").value.number().value_or(0), 32, 1e-9);
  EXPECT_NEAR(figure("l2_latency").value.number().value_or(0), 270, 1e-9);
  const CeilingFigure dram = figure("dram_latency");
  EXPECT_NEAR(dram.value.number().value_or(0), 700, 1e-9);
  EXPECT_EQ(dram.unit, "cycle");
  EXPECT_THAT(dram.point, HasSubstr("steps=5000"));
  EXPECT_GT(dram.relative_spread.value_or(0), 0.01);  // the overhead's spread counts too
  EXPECT_THAT(dram.percent_of_spec.reason, HasSubstr("no specification states latencies"));
}

TEST_F(Ceiling, OfLatencyNeedsTwoLengthsAndAClock) {
  PointResult& one = add("micro/shared_chase", 100);
  one.point.params.set("steps", std::int64_t{1000});
  one.facts.set("chain_steps", std::int64_t{1000});
  EXPECT_THAT(figure("shared_latency").value.reason, HasSubstr("two lengths"));
  PointResult& two = add("micro/shared_chase", 200);
  two.point.params.set("steps", std::int64_t{5000});
  two.facts.set("chain_steps", std::int64_t{5000});
  EXPECT_NEAR(figure("shared_latency").value.number().value_or(0), 100.0 * 1000 / 4000, 1e-9);
  two.timing->sm_clock_mhz.reset();
  EXPECT_FALSE(figure("shared_latency").value.has_value());
}

TEST_F(Ceiling, OfPointsThatDidNotRunOrAreWrongIsNull) {
  PointResult& unsupported = add("micro/write", 100);
  unsupported.status = Status::unsupported;
  unsupported.reason = "cuda only: it uses tensor cores";
  PointResult& wrong = add("micro/triad", 100);
  wrong.compulsory_load_bytes = 1000;
  wrong.verification.state = Verification::State::failed;
  EXPECT_THAT(figure("dram_write").value.reason, HasSubstr("micro/write: cuda only: it uses tensor cores"));
  EXPECT_THAT(figure("dram_triad").value.reason, HasSubstr("its result is wrong"));
}

MeasuredCeilings some_ceilings() {
  MeasuredCeilings measured;
  measured.device_id = "h200-sxm-141gb";
  measured.device_name = "H200 SXM 141GB";
  measured.gpuexp_version = "0.1.0";
  measured.environment = {{"gpu", "NVIDIA H200"}, {"started", "2026-11-30T08:34:44Z"}};
  const auto figure = [](const char* id, const char* unit, double value) {
    CeilingFigure one;
    one.id = one.label = id;
    one.unit = unit;
    one.value = Quantity::real(value, Source::measured);
    one.point = std::string("point of ") + id;
    return one;
  };
  measured.ceilings = {figure("dram_read", "byte/s", 4.5e12), figure("dram_copy", "byte/s", 4.3e12),
                       figure("l1", "byte/s", 31e12),         figure("shared", "byte/s", 32e12),
                       figure("fp32", "FLOP/s", 65e12),       figure("l1_latency", "cycle", 32)};
  CeilingFigure missing;
  missing.id = missing.label = "l2";
  missing.unit = "byte/s";
  missing.value = Quantity::null("no plateau", Source::measured);
  measured.ceilings.push_back(missing);
  return measured;
}

TEST(MeasuredRoofs, ReplaceThoseOfTheSpecificationAndSaySo) {
  const MeasuredCeilings measured = some_ceilings();
  const DeviceSpec spec = find_device("h200").spec;
  const Ceilings roofs = with_measured(ceilings_of(spec), roofs_of(measured), origin_of(measured));
  ASSERT_NE(roofs.find(Level::dram), nullptr);
  EXPECT_DOUBLE_EQ(roofs.find(Level::dram)->bandwidth, 4.5e12);  // the best of what DRAM does
  EXPECT_EQ(roofs.find(Level::dram)->source, Source::measured);
  EXPECT_DOUBLE_EQ(roofs.find(Level::l1)->bandwidth, 31e12);
  EXPECT_DOUBLE_EQ(roofs.find(find_precision("fp32"))->peak, 65e12);
  EXPECT_NE(roofs.find(find_precision("fp64"))->source, Source::measured);  // not measured: as specified
  EXPECT_THAT(roofs.origin, HasSubstr("NVIDIA H200"));
}

TEST(MeasuredRoofs, OfAnotherDeviceAreRefusedUnlessWhatIf) {
  const DeviceSpec a100 = find_device("a100").spec;
  try {
    require_same_device(some_ceilings(), a100, false, "h200.json");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("h200.json"), HasSubstr("h200-sxm-141gb"),
                                             HasSubstr("a100-pcie-80gb"), HasSubstr("--what-if")));
  }
  EXPECT_NO_THROW(require_same_device(some_ceilings(), a100, true, "h200.json"));
  EXPECT_NO_THROW(require_same_device(some_ceilings(), find_device("h200").spec, false, "h200.json"));
}

TEST(MeasuredTable, FitsAndNamesWhatIsMissing) {
  const std::string text = ceilings_table(some_ceilings());
  EXPECT_THAT(text, HasSubstr("not measured:\n  l2: no plateau"));
  EXPECT_THAT(text, HasSubstr("4,500 GB/s"));
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin))
    EXPECT_LE(end - begin, 100U) << text.substr(begin, end - begin);
}

}  // namespace
}  // namespace gpuexp
