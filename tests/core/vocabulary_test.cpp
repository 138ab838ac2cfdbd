// Parameters, quantities, points: text, lookups and the rule of a good point.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "profiler/core/error.h"
#include "profiler/core/point.h"

namespace gpuexp {
namespace {

using testing::HasSubstr;

template <class Action>
std::string usage_error(Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(Params, KeyIsByNameWhateverTheOrder) {
  Point point;
  point.variant = "matmul/tiled";
  point.params.set("n", std::int64_t{1024});
  point.params.set("TILE", std::int64_t{16});
  point.params.set("density", 0.1);
  point.params.set("dtype", std::string("float32"));
  EXPECT_EQ(point.key(), "matmul/tiled TILE=16 density=0.1 dtype=float32 n=1024");
  point.params.set("TILE", std::int64_t{8});
  EXPECT_EQ(point.key(), "matmul/tiled TILE=8 density=0.1 dtype=float32 n=1024");
  Point bare;
  bare.variant = "a/b";
  EXPECT_EQ(bare.key(), "a/b");
}

TEST(Params, LookupsNameTheParameter) {
  ParamSet params;
  params.set("n", std::int64_t{-3});
  params.set("x", 0.5);
  params.set("dtype", std::string("float16"));
  EXPECT_EQ(params.integer("n"), -3);
  EXPECT_EQ(params.real("n"), -3.0);
  EXPECT_EQ(params.real("x"), 0.5);
  EXPECT_EQ(params.word("dtype"), "float16");
  EXPECT_EQ(params.find("m"), nullptr);
  EXPECT_THAT(usage_error([&] { static_cast<void>(params.integer("m")); }), HasSubstr("'m' is missing"));
  EXPECT_THAT(usage_error([&] { static_cast<void>(params.integer("x")); }), HasSubstr("'x' must be an integer"));
  EXPECT_THAT(usage_error([&] { static_cast<void>(params.real("dtype")); }), HasSubstr("'float16' is a word"));
  EXPECT_THAT(usage_error([&] { static_cast<void>(params.word("n")); }), HasSubstr("'n' must be a word"));
}

TEST(Quantity, NanAndInfinityAreNullWithAReason) {
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()}) {
    const Quantity quantity = Quantity::real(value, Source::measured);
    EXPECT_FALSE(quantity.has_value());
    EXPECT_FALSE(quantity.reason.empty());
    EXPECT_EQ(quantity.number(), std::nullopt);
  }
  EXPECT_EQ(Quantity::real(0.5, Source::spec).number(), 0.5);
  EXPECT_EQ(Quantity::real(0.5, Source::spec).exact(), std::nullopt);
}

TEST(Quantity, CountsStayExact) {
  const Quantity quantity = Quantity::count(18446744073709551615ULL, Source::emulated);
  EXPECT_EQ(quantity.exact(), 18446744073709551615ULL);
  EXPECT_TRUE(quantity.number().has_value());
}

TEST(Words, RoundTrip) {
  for (const Source source : {Source::measured, Source::emulated, Source::modelled, Source::spec})
    EXPECT_EQ(source_from_text(to_text(source)), source);
  for (const Status status :
       {Status::ok, Status::unsupported, Status::failed, Status::timed_out, Status::out_of_memory, Status::interrupted})
    EXPECT_EQ(status_from_text(to_text(status)), status);
  EXPECT_EQ(status_from_text("fine"), std::nullopt);
  EXPECT_EQ(source_from_text(""), std::nullopt);
  EXPECT_EQ(to_text(Verification::State::not_run), "not_run");
}

TEST(SourceSite, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ((SourceSite{"kernels/a/b.cu", 21, 13}).to_text(), "kernels/a/b.cu:21:13");
  EXPECT_EQ((SourceSite{"kernels/a/b.cu", 21, 0}).to_text(), "kernels/a/b.cu:21");
  EXPECT_EQ(SourceSite{}.to_text(), "unknown source");
}

PointResult verified(Verification::State state) {
  PointResult result;
  result.verification.state = state;
  return result;
}

TEST(GoodPoint, NeedsARightAnswerAndNoFinding) {
  EXPECT_TRUE(verified(Verification::State::passed).good());
  EXPECT_TRUE(verified(Verification::State::not_run).good());
  EXPECT_FALSE(verified(Verification::State::failed).good());
  PointResult found = verified(Verification::State::passed);
  found.findings.push_back({.kind = "race", .message = {}, .site = {}, .other_site = {}, .block = {}, .thread = {}});
  EXPECT_FALSE(found.good());
}

TEST(GoodPoint, FollowsTheStatus) {
  for (const auto& [status, good] : {std::pair{Status::ok, true},
                                     {Status::unsupported, true},
                                     {Status::failed, false},
                                     {Status::timed_out, false},
                                     {Status::out_of_memory, false},
                                     {Status::interrupted, false}}) {
    PointResult result = verified(Verification::State::passed);
    result.status = status;
    EXPECT_EQ(result.good(), good) << to_text(status);
  }
}

TEST(GoodPoint, BrokenOnPurposeMustShowItsFinding) {
  PointResult result = verified(Verification::State::failed);
  result.expected_finding = "race";
  EXPECT_FALSE(result.good()) << "the finding did not appear";
  result.findings.push_back(
      {.kind = "uninitialised", .message = {}, .site = {}, .other_site = {}, .block = {}, .thread = {}});
  EXPECT_FALSE(result.good()) << "another finding is no proof";
  result.findings.push_back({.kind = "race", .message = {}, .site = {}, .other_site = {}, .block = {}, .thread = {}});
  EXPECT_TRUE(result.good());
  result.status = Status::timed_out;
  EXPECT_FALSE(result.good());
}

}  // namespace
}  // namespace gpuexp
