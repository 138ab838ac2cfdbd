// Problems without a run: element types, generated inputs, references against independent arithmetic, sizes refused.
#include "kernels/problem.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "points.h"
#include "profiler/core/error.h"

namespace gpuexp {
namespace {

using test::params;
using testing::HasSubstr;

std::unique_ptr<Workload> make(std::string_view variant, const std::string& text, std::uint64_t seed = 1) {
  const Variant& found = *find_variant(variant);
  return find_problem(found.problem)->make(complete_params(found, params(text)), seed);
}

std::string problem_refusal(std::string_view variant, const std::string& text) {
  try {
    make(variant, text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(DTypes, RoundToNearestEvenWithSubnormalsAndOverflow) {
  const double inf = std::numeric_limits<double>::infinity();
  struct Row {
    DType type;
    double from, to;
  };
  const Row rows[] = {
      {DType::float16, 1.0 + 0x1p-11, 1.0},               // a tie goes to the even neighbour below
      {DType::float16, 1.0 + 3 * 0x1p-11, 1.0 + 0x1p-9},  // and above
      {DType::float16, 65504.0, 65504.0},
      {DType::float16, 65519.9, 65504.0},
      {DType::float16, 65520.0, inf},
      {DType::float16, -1e9, -inf},
      {DType::float16, 0x1p-24, 0x1p-24},  // the smallest subnormal
      {DType::float16, 0x1p-25, 0.0},      // half of it is a tie with zero
      {DType::float16, 0x1.8p-25, 0x1p-24},
      {DType::bfloat16, 1.0 + 0x1p-8, 1.0},
      {DType::bfloat16, 1.0 + 3 * 0x1p-8, 1.0 + 0x1p-6},
      {DType::bfloat16, 3.4e38, inf},
      {DType::float32, 1.0 + 0x1p-24, 1.0},
      {DType::float64, 0.1, 0.1},
      {DType::uint8, 300.0, 255.0},
      {DType::uint8, -1.0, 0.0},
      {DType::int32, 2.5, 2.0},
  };
  for (const Row& row : rows) EXPECT_EQ(round_to(row.type, row.from), row.to) << to_text(row.type) << " " << row.from;
  EXPECT_TRUE(std::isnan(round_to(DType::float16, std::nan(""))));
  EXPECT_EQ(dtype_from_text("bfloat16"), DType::bfloat16);
  EXPECT_THROW(dtype_from_text("float8"), Error);
}

TEST(Inputs, AreUniformAndDependOnSeedStreamAndIndexAlone) {
  double sum = 0, squares = 0;
  constexpr int n = 20000;
  for (int i = 0; i < n; ++i) {
    const double value = uniform_input(1, 0, i);
    ASSERT_GE(value, -1.0);
    ASSERT_LT(value, 1.0);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / n, 0.0, 0.02);
  EXPECT_NEAR(squares / n, 1.0 / 3.0, 0.02);
  EXPECT_EQ(uniform_input(7, 1, 5), uniform_input(7, 1, 5));
  EXPECT_NE(uniform_input(7, 1, 5), uniform_input(8, 1, 5));
  EXPECT_NE(uniform_input(7, 1, 5), uniform_input(7, 2, 5));
  EXPECT_NE(uniform_input(7, 1, 5), uniform_input(7, 1, 6));
}

TEST(Tolerance, GrowsWithTheReductionAndRefusesNothingElse) {
  const Expected short_sum{1.0, 4.0, 10}, long_sum{1.0, 4.0, 8192};
  EXPECT_LT(tolerance(short_sum, DType::float32, DType::float32), tolerance(long_sum, DType::float32, DType::float32));
  EXPECT_DOUBLE_EQ(tolerance(short_sum, DType::float32, DType::float32), 12 * 0x1p-24 * 4.0 + 0x1p-24);
  EXPECT_GT(tolerance(short_sum, DType::float32, DType::float16), tolerance(short_sum, DType::float32, DType::float32));
}

// References against a plain triple loop, odd sizes, both ways of generating inputs.
TEST(Matmul, ReferenceIsTheProductOfTheRoundedInputs) {
  for (const char* dtype : {"float32", "float16"}) {
    const auto workload = make("matmul/naive", std::string("m=3 n=5 k=7 dtype=") + dtype, 42);
    EXPECT_EQ(workload->flops(), 210.0);  // 2 m n k
    for (int row = 0; row < 3; ++row) {
      for (int col = 0; col < 5; ++col) {
        double sum = 0, magnitude = 0;
        for (int p = 0; p < 7; ++p) {
          const double term = workload->input(0, row * 7 + p) * workload->input(1, p * 5 + col);
          sum += term;
          magnitude += std::abs(term);
        }
        const Expected expected = workload->expected(2, row * 5 + col);
        EXPECT_DOUBLE_EQ(expected.value, sum);
        EXPECT_DOUBLE_EQ(expected.magnitude, magnitude);
        EXPECT_EQ(expected.terms, 7);
      }
    }
    EXPECT_EQ(workload->input(0, 4), round_to(dtype_from_text(dtype), workload->input(0, 4)));
  }
}

TEST(Matmul, WholeCheckFindsOneWrongElementAndNaN) {
  const std::int64_t m = 37, n = 41;
  const auto workload = make("matmul/naive", "m=37 n=41 k=300");
  std::vector<double> product(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m * n; ++i) {
    product[static_cast<std::size_t>(i)] = round_to(DType::float32, workload->expected(2, i).value);
  }
  const auto check = [&] {
    return workload->check_whole(2, [&](std::int64_t first, std::int64_t count, double* values) {
      std::copy_n(product.begin() + first, count, values);
    });
  };
  ASSERT_TRUE(check().has_value());
  EXPECT_EQ(check()->first_wrong, -1);
  EXPECT_LE(check()->max_error, 1.0);
  const std::int64_t at = 20 * n + 7;
  product[static_cast<std::size_t>(at)] += 0.1;
  EXPECT_EQ(check()->first_wrong, 20 * n);
  EXPECT_GT(check()->max_error, 1.0);
  product[static_cast<std::size_t>(at)] = std::nan("");
  EXPECT_EQ(check()->first_wrong, 20 * n);
}

TEST(Matmul, GeneratesLargeInputsWithoutKeepingThem) {
  // B has 2^40 elements: nothing may be kept, and an element far inside must still be right.
  const auto workload = make("matmul/naive", "m=1 n=549755813888 k=2");
  const std::int64_t column = 549755813887;
  const double sum = workload->input(0, 0) * workload->input(1, column) +
                     workload->input(0, 1) * workload->input(1, 549755813888 + column);
  EXPECT_DOUBLE_EQ(workload->expected(2, column).value, sum);
}

TEST(Matmul, CompulsoryBytesAreEachMatrixOnce) {
  const auto workload = make("matmul/naive", "m=3 n=5 k=7");
  EXPECT_EQ(workload->compulsory_load_bytes(), 4U * (21 + 35));
  EXPECT_EQ(workload->compulsory_store_bytes(), 4U * 15);
  const auto half = make("matmul/naive", "m=3 n=5 k=7 dtype=float16");
  EXPECT_EQ(half->compulsory_load_bytes(), 2U * (21 + 35));
  EXPECT_EQ(half->compulsory_store_bytes(), 4U * 15);
}

TEST(Matmul, EmptyProductsAreZero) {
  const auto workload = make("matmul/naive", "m=2 n=2 k=0");
  EXPECT_EQ(workload->flops(), 0.0);
  EXPECT_EQ(workload->expected(2, 3).value, 0.0);
}

TEST(Sizes, ThatOverflowAreRefusedWithTheParameter) {
  EXPECT_THAT(problem_refusal("matmul/naive", "n=1099511627776"),
              AllOf(HasSubstr("m=1099511627776"), HasSubstr("2^63")));
  EXPECT_THAT(problem_refusal("transpose/naive", "rows=1099511627776"),
              AllOf(HasSubstr("rows=1099511627776"), HasSubstr("2^63")));
  EXPECT_THAT(problem_refusal("vector/add", "n=9223372036854775807"),
              AllOf(HasSubstr("n=9223372036854775807"), HasSubstr("2^63")));
  EXPECT_THAT(problem_refusal("access/strided", "stride=1099511627776 count=1099511627776"),
              HasSubstr("stride=1099511627776"));
}

TEST(Transpose, ReferenceSwapsTheIndices) {
  const auto workload = make("transpose/naive", "rows=3 cols=5");
  for (int row = 0; row < 3; ++row) {
    for (int col = 0; col < 5; ++col) {
      EXPECT_EQ(workload->expected(1, col * 3 + row).value, workload->input(0, row * 5 + col));
    }
  }
  EXPECT_EQ(workload->compulsory_load_bytes() + workload->compulsory_store_bytes(), 2U * 15 * 4);
}

TEST(Vector, IntensitiesAreATwelfthAndASixth) {
  const auto add = make("vector/add", "n=1000"), axpy = make("vector/axpy", "n=1000 a=3");
  const auto bytes = [](const Workload& w) {
    return static_cast<double>(w.compulsory_load_bytes() + w.compulsory_store_bytes());
  };
  EXPECT_DOUBLE_EQ(add->flops() / bytes(*add), 1.0 / 12.0);
  EXPECT_DOUBLE_EQ(axpy->flops() / bytes(*axpy), 1.0 / 6.0);
  EXPECT_DOUBLE_EQ(axpy->expected(1, 9).value, 3 * axpy->input(0, 9) + axpy->input(1, 9));
}

// Files of patterns.
class PatternFile : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() / (std::string("gpuexp_patterns_") + info->name() + ".csv");
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void write(const std::string& rows) {
    std::ofstream(path_) << "name,width_bytes,space,op,byte_offset_per_lane,active_mask\n" << rows;
  }
  std::vector<std::string> labels(const std::string& pattern) {
    std::vector<std::string> result;
    ParamSet given;
    given.set("file", path_.string());
    given.set("pattern", pattern);
    for (const ParamSet& point : expand_params(*find_variant("access/pattern"), given)) {
      result.push_back(point.word("pattern"));
    }
    return result;
  }
  std::string error_of(const std::string& pattern) {
    try {
      labels(pattern);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  static std::string lanes(std::int64_t stride, std::int64_t start = 0) {
    std::string text;
    for (int lane = 0; lane < 32; ++lane) text += (lane > 0 ? " " : "") + std::to_string(start + lane * stride);
    return text;
  }

  std::filesystem::path path_;
};

TEST_F(PatternFile, BecomesOnePointPerRowNamedAfterIt) {
  write("a,4,shared,ld," + lanes(4) + ",0xffffffff\na,4,shared,st," + lanes(4) + ",0xffffffff\na,4,shared,ld," +
        lanes(8) + ",0xff\nb,8,global,ld," + lanes(8) + ",0xffffffff\n");
  EXPECT_THAT(labels("*"), testing::ElementsAre("a/load", "a/store", "a/load#2", "b/load"));
  EXPECT_THAT(labels("a/*"), testing::ElementsAre("a/load", "a/store", "a/load#2"));
  EXPECT_THAT(labels("b/load"), testing::ElementsAre("b/load"));
  EXPECT_THAT(error_of("c/load"), AllOf(HasSubstr("'c/load'"), HasSubstr("b/load")));
}

TEST_F(PatternFile, IsRefusedWithItsLineWhenAnAddressIsMisaligned) {
  write("a,8,global,ld," + lanes(8, 4) + ",0xffffffff\n");
  EXPECT_THAT(error_of("*"), AllOf(HasSubstr(":2:"), HasSubstr("byte_offset_per_lane"), HasSubstr("4")));
}

TEST_F(PatternFile, IsRefusedWithItsLineWhenAnOffsetIsTooFar) {
  write("ok,4,global,ld," + lanes(4) + ",0xffffffff\nfar,8,global,ld," + lanes(1 << 30, 8) + "000,0xffffffff\n");
  EXPECT_THAT(error_of("*"), AllOf(HasSubstr(":3:"), HasSubstr("too far")));
}

TEST_F(PatternFile, IsNamedWhenItIsNotThere) {
  EXPECT_THAT(error_of("*"), HasSubstr(path_.string()));
  EXPECT_THAT(
      [] {
        ParamSet given;
        given.set("file", std::string("h200_access_pattern"));
        expand_params(*find_variant("access/pattern"), given);
      },
      testing::ThrowsMessage<Error>(HasSubstr("did you mean 'h200_access_patterns'")));
}

}  // namespace
}  // namespace gpuexp
