// Verification of outputs on the host, and element conversions.
#include "profiler/backend/cuda/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "profiler/backend/cuda/elements.h"

namespace gpuexp::cuda {
namespace {

using testing::HasSubstr;

// y[i] = i, with `terms` terms each; a whole check that compares sums when asked to offer one.
class Ramp final : public Workload {
 public:
  Ramp(std::int64_t elements, std::int64_t terms, bool whole)
      : terms_(terms), whole_(whole), buffers_{{"y", DType::float32, elements, Role::out}} {}
  [[nodiscard]] const std::vector<BufferSpec>& buffers() const override { return buffers_; }
  [[nodiscard]] double flops() const override { return 0; }
  [[nodiscard]] double input(std::size_t, std::int64_t) const override { return 0; }
  [[nodiscard]] Expected expected(std::size_t, std::int64_t i) const override {
    return {static_cast<double>(i), static_cast<double>(i), terms_};
  }
  [[nodiscard]] std::optional<WholeCheck> check_whole(std::size_t, const ElementReader& read) const override {
    if (!whole_) return std::nullopt;
    WholeCheck check{"sum of all", 0, -1};
    for (std::int64_t i = 0; i < buffers_[0].elements; ++i) {
      double value = 0;
      read(i, 1, &value);
      const double error = std::abs(value - static_cast<double>(i));
      if (!(error <= 0.5) && check.first_wrong < 0) check.first_wrong = i;
      check.max_error = std::max(check.max_error, std::isnan(error) ? HUGE_VAL : error / 0.5);
    }
    return check;
  }

 private:
  std::int64_t terms_;
  bool whole_;
  std::vector<BufferSpec> buffers_;
};

std::vector<std::byte> right_output(const Workload& workload) {
  const BufferSpec& spec = workload.buffers()[0];
  std::vector<std::byte> bytes(static_cast<std::size_t>(spec.elements * 4));
  for (std::int64_t i = 0; i < spec.elements; ++i) store_element(spec.dtype, bytes.data(), i, static_cast<double>(i));
  return bytes;
}

TEST(Verify, AllElementsWhenAffordable) {
  const Ramp ramp(10'001, 3, false);
  const Verification v = verify(ramp, {{0, right_output(ramp)}}, {.threads = 3});
  EXPECT_EQ(v.state, Verification::State::passed);
  EXPECT_EQ(v.checked, 10'001U);
  EXPECT_EQ(v.scope, "all 10001 elements");
}

TEST(Verify, NamesHowManyTheFirstGotAndExpected) {
  const Ramp ramp(20'000, 3, false);
  std::vector<std::byte> bytes = right_output(ramp);
  store_element(DType::float32, bytes.data(), 15'000, std::nan(""));
  store_element(DType::float32, bytes.data(), 7'001, -1.0);
  const Verification v = verify(ramp, {{0, bytes}}, {.threads = 4});
  EXPECT_EQ(v.state, Verification::State::failed);
  EXPECT_EQ(v.wrong, 2U);
  EXPECT_EQ(v.nan, 1U);
  EXPECT_EQ(v.first_index, 7'001);
  EXPECT_EQ(v.buffer, "y");
  EXPECT_EQ(v.got, -1.0);
  EXPECT_EQ(v.expected, 7'001.0);
}

TEST(Verify, PoisonFailsEverywhere) {
  const Ramp ramp(1000, 1, false);
  const std::vector<std::byte> poison(4000, std::byte{0xff});
  const Verification v = verify(ramp, {{0, poison}});
  EXPECT_EQ(v.wrong, 1000U);
  EXPECT_EQ(v.nan, 1000U);
}

TEST(Verify, LargeOutputsUseTheWholeCheckAndExactElements) {
  const Ramp ramp(50'000, 1'000'000, true);
  std::vector<std::byte> bytes = right_output(ramp);
  const Verification right = verify(ramp, {{0, bytes}});
  EXPECT_EQ(right.state, Verification::State::passed);
  EXPECT_THAT(right.scope, HasSubstr("sum of all and "));
  EXPECT_THAT(right.scope, HasSubstr("of 50000 elements exactly"));
  // One wrong element anywhere: also one that no sample meets.
  for (const std::int64_t wrong : {0, 25'003, 49'999}) {
    std::vector<std::byte> copy = bytes;
    store_element(DType::float32, copy.data(), wrong, 1e9);
    const Verification v = verify(ramp, {{0, copy}});
    EXPECT_EQ(v.state, Verification::State::failed) << wrong;
    EXPECT_EQ(v.first_index, wrong);
    EXPECT_EQ(v.got, 1e9);
  }
}

TEST(Verify, WithoutAWholeCheckAStatedSample) {
  const Ramp ramp(100'000, 1'000'000, false);
  const Verification v = verify(ramp, {{0, right_output(ramp)}});
  EXPECT_EQ(v.state, Verification::State::passed);
  EXPECT_GT(v.checked, 4000U);
  EXPECT_LT(v.checked, 100'000U);
  EXPECT_THAT(v.scope, HasSubstr("of 100000 elements (both ends and a random sample)"));
}

TEST(Verify, NoElementsIsNothingToCheck) {
  const Ramp ramp(0, 1, true);
  const Verification v = verify(ramp, {{0, {}}});
  EXPECT_EQ(v.state, Verification::State::passed);
  EXPECT_EQ(v.checked, 0U);
}

TEST(Elements, EveryHalfAndBfloat16SurvivesLoadAndStore) {
  for (const DType type : {DType::float16, DType::bfloat16}) {
    for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
      const auto in = static_cast<std::uint16_t>(bits);
      std::byte bytes[4]{};
      std::memcpy(bytes + 2, &in, 2);
      const double value = load_element(type, bytes, 1);
      if (std::isnan(value)) continue;  // NaNs need not keep their payload
      EXPECT_EQ(round_to(type, value), value);
      store_element(type, bytes, 0, value);
      std::uint16_t out = 0;
      std::memcpy(&out, bytes, 2);
      ASSERT_EQ(out, in) << to_text(type) << " " << value;
    }
  }
}

TEST(Elements, OtherTypes) {
  for (const DType type : {DType::float64, DType::float32, DType::int64, DType::int32, DType::uint8}) {
    std::byte bytes[16]{};
    store_element(type, bytes, 1, 201.0);
    EXPECT_EQ(load_element(type, bytes, 1), 201.0) << to_text(type);
    EXPECT_EQ(load_element(type, bytes, 0), 0.0) << to_text(type);
  }
}

TEST(Elements, ParallelLoopsCoverEachIndexOnceAndPassErrorsOn) {
  for (const std::int64_t count : {0, 1, 4095, 8192, 100'003}) {
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
    in_parallel(count, 7, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) ++seen[static_cast<std::size_t>(i)];
    });
    for (const auto& times : seen) ASSERT_EQ(times, 1) << count;
  }
  EXPECT_THROW(in_parallel(100'000, 4, [](std::int64_t, std::int64_t) { throw std::runtime_error("x"); }),
               std::runtime_error);
}

}  // namespace
}  // namespace gpuexp::cuda
