// The registry: names, aliases, globs, parameter completion, and what it refuses at start.
#include "profiler/registry/registry.h"

#include <gmock/gmock.h>

#include <cstdio>

#include "points.h"
#include "profiler/core/error.h"

// Registrations as a kernel file makes them.
#define GPUEXP_SIMT 1
#include "kernels/variant.h"

namespace gpuexp {
namespace {

using test::params;
using testing::ElementsAre;
using testing::HasSubstr;

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

std::vector<std::string> names(std::string_view pattern) {
  std::vector<std::string> result;
  for (const Variant* variant : match_variants(pattern)) result.push_back(variant->name);
  return result;
}

TEST(Registry, HoldsVariantsSortedByNameWithTheirSource) {
  ASSERT_FALSE(variants().empty());
  EXPECT_TRUE(std::is_sorted(variants().begin(), variants().end(),
                             [](const Variant& a, const Variant& b) { return a.name < b.name; }));
  EXPECT_EQ(find_variant("matmul/tiled")->source_file, "kernels/matmul/tiled.cu");
  EXPECT_EQ(find_variant("matmul/tiled")->problem, "matmul");
  EXPECT_EQ(find_variant("vector/axpy")->problem, "vector_axpy");
  EXPECT_EQ(find_variant("matmul/tyled"), nullptr);
  EXPECT_EQ(find_problem("no such problem"), nullptr);
}

TEST(Registry, EveryVariantSaysWhatItIsAndCompletesItsDefaults) {
  for (const Variant& variant : variants()) {
    EXPECT_FALSE(variant.idea.empty()) << variant.name;
    ASSERT_NE(find_problem(variant.problem), nullptr) << variant.name;
    const ParamSet defaults = complete_params(variant, {});
    EXPECT_EQ(defaults.values().size(), params_of(variant).size()) << variant.name;
    EXPECT_NE(variant.instance_for(defaults), nullptr) << variant.name;
    for (const ParamSpec& spec : params_of(variant)) EXPECT_FALSE(spec.meaning.empty()) << variant.name << spec.name;
  }
}

TEST(Registry, AliasesNameTheSameVariant) {
  EXPECT_EQ(find_variant("transpose/v1"), find_variant("transpose/naive"));
  EXPECT_EQ(find_variant("transpose/v2"), find_variant("transpose/smem"));
  EXPECT_EQ(find_variant("transpose/v3"), find_variant("transpose/smem_padded"));
}

TEST(Registry, GlobsLeaveOutWhatIsBrokenOnPurpose) {
  EXPECT_THAT(names("matmul/tiled"), ElementsAre("matmul/tiled"));
  EXPECT_THAT(names("matmul/tiled*"), ElementsAre("matmul/tiled"));
  EXPECT_THAT(names("matmul/tiled_unguarded"), ElementsAre("matmul/tiled_unguarded"));
  EXPECT_THAT(names("transpose/v?"), ElementsAre("transpose/naive", "transpose/smem", "transpose/smem_padded"));
  EXPECT_THAT(names("vector/*"), ElementsAre("vector/add", "vector/axpy"));
  EXPECT_THAT(message_of([] { match_variants("matmul/tiled_*"); }),
              AllOf(HasSubstr("broken on purpose"), HasSubstr("matmul/tiled_no_load_barrier")));
  EXPECT_THAT(message_of([] { match_variants("matmul/tild"); }), HasSubstr("did you mean 'matmul/tiled'"));
  EXPECT_THAT(message_of([] { match_variants("nothing/*"); }), HasSubstr("nothing/*"));
}

TEST(Registry, CompletesDefaultsAndTakesThemFromOtherParameters) {
  const ParamSet complete = complete_params(*find_variant("matmul/tiled"), params("n=10 k=3"));
  EXPECT_EQ(complete.to_text(), "TILE=16 dtype=float32 k=3 m=10 n=10");
  const ParamSet square = complete_params(*find_variant("transpose/naive"), params("rows=5"));
  EXPECT_EQ(square.integer("cols"), 5);
}

struct BadParams {
  const char* variant;
  const char* params;
  std::vector<std::string> says;
};

class Refuses : public testing::TestWithParam<BadParams> {};

TEST_P(Refuses, NamingTheParameterAndWhatIsAccepted) {
  const BadParams& bad = GetParam();
  const std::string message = message_of([&] { complete_params(*find_variant(bad.variant), params(bad.params)); });
  for (const std::string& part : bad.says) EXPECT_THAT(message, HasSubstr(part));
}

INSTANTIATE_TEST_SUITE_P(
    Parameters, Refuses,
    testing::Values(BadParams{"matmul/tiled", "TIEL=8", {"matmul/tiled", "'TIEL'", "did you mean 'TILE'", "dtype"}},
                    BadParams{"matmul/tiled", "TILE=3", {"TILE", "3 is not compiled in", "1, 2, 4, 8, 16, 32"}},
                    BadParams{"matmul/tiled", "TILE=30", {"nearest: 32"}},
                    BadParams{"matmul/tiled", "TILE=big", {"TILE", "'big' is not an integer"}},
                    BadParams{"matmul/tiled", "dtype=float23", {"dtype", "float16, float32", "did you mean 'float32'"}},
                    BadParams{"matmul/tiled", "dtype=32", {"dtype", "not a word"}},
                    BadParams{"matmul/tiled", "n=-1", {"n", "-1", "0.."}},
                    BadParams{"matmul/naive", "block=33", {"block", "33", "1..32"}},
                    BadParams{"matmul/register_tiled", "BM=32 BN=64", {"combination", "BM=32", "BN=64", "accepted"}},
                    BadParams{"matmul/tiled_unguarded", "TILE=8 dtype=float16", {"dtype", "float32"}}));

TEST(Registry, NarrowsWhatIsListedToWhatWasCompiled) {
  const std::vector<ParamSpec> specs = params_of(*find_variant("matmul/tiled_unguarded"));
  const auto spec = [&](std::string_view name) {
    return *std::find_if(specs.begin(), specs.end(), [&](const ParamSpec& s) { return s.name == name; });
  };
  EXPECT_EQ(spec("dtype").words.size(), 1U);
  EXPECT_EQ(spec("TILE").min, 2);
  EXPECT_EQ(spec("TILE").max, 32);
  EXPECT_EQ(find_variant("matmul/tiled")->compiled_values("TILE").size(), 6U);
  EXPECT_TRUE(find_variant("matmul/tiled")->compiled_values("n").empty());
}

// Two copies of one definition, as the emulator's and the GPU's object files make them.
void first_launch(const Launch& /*run*/) {}
void second_launch(const Launch& /*run*/) {}
template <void (*launch)(const Launch&)>
void define_twin(VariantBuilder& variant) {
  variant.problem("vector_add").idea("for this test").instance(launch, {{"dtype", "float32"}});
}
const RegisterVariant twin_simt("twin/both", "kernels/twin/both.cu", "simt", define_twin<first_launch>);
const RegisterVariant twin_cuda("twin/both", "/some/where/kernels/twin/both.cu", "cuda", define_twin<second_launch>);
void define_cuda_only(VariantBuilder& variant) {
  define_twin<first_launch>(variant);
  variant.cuda_only("it calls a library");
}
const RegisterVariant needs_gpu("twin/gpu", "kernels/twin/gpu.cu", "simt", define_cuda_only);

TEST(Registry, MergesTheEmulatorsAndTheGpusCopy) {
  const Variant* twin = find_variant("twin/both");
  ASSERT_NE(twin, nullptr);
  ASSERT_EQ(twin->instances.size(), 1U);
  EXPECT_EQ(twin->instances[0].simt, &first_launch);
  EXPECT_EQ(twin->instances[0].cuda, &second_launch);
  EXPECT_EQ(twin->source_file, "kernels/twin/both.cu");
}

TEST(Registry, KeepsVariantsThatNeedHardwareWithoutAnEmulatedLaunch) {
  const Variant* variant = find_variant("twin/gpu");
  ASSERT_NE(variant, nullptr);
  EXPECT_EQ(variant->cuda_only, "it calls a library");
  EXPECT_EQ(variant->instances[0].simt, nullptr);
}

// What a build may not contain. Each case registers one definition more in a process of its own, before the registry's
// first use there.
struct BadDefinition {
  const char* name;
  const char* backend;
  void (*define)(VariantBuilder&);
  const char* says;
};

void define_other_idea(VariantBuilder& variant) {
  define_twin<second_launch>(variant);
  variant.idea("another one");
}
void define_alias(VariantBuilder& variant) {
  define_twin<first_launch>(variant);
  variant.alias("transpose/v1");
}
void define_silent(VariantBuilder& variant) {
  variant.problem("vector_add").instance(first_launch, {{"dtype", "float32"}});
}
void define_undeclared(VariantBuilder& variant) {
  variant.problem("vector_add").idea("for this test").instance(first_launch, {{"TILE", 8}});
}
void define_nothing(VariantBuilder& variant) { variant.problem("vector_add").idea("for this test"); }
void define_orphan(VariantBuilder& variant) {
  variant.idea("for this test").instance(first_launch, {{"dtype", "float32"}});
}
void define_twice(VariantBuilder& variant) {
  define_twin<first_launch>(variant);
  define_twin<first_launch>(variant);
}

class BadBuild : public testing::TestWithParam<BadDefinition> {};

TEST_P(BadBuild, IsAClearErrorAtStart) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const BadDefinition& bad = GetParam();
  const auto start = [&] {
    const RegisterVariant extra(bad.name, "kernels/twin/extra.cu", bad.backend, bad.define);
    try {
      std::fprintf(stderr, "%zu variants", variants().size());
      std::exit(0);
    } catch (const Error& error) {
      std::fputs(error.what(), stderr);
      std::exit(static_cast<int>(error.code()));
    }
  };
  EXPECT_EXIT(start(), testing::ExitedWithCode(2), bad.says);
}

INSTANTIATE_TEST_SUITE_P(
    Definitions, BadBuild,
    testing::Values(BadDefinition{"twin/both", "simt", define_twin<first_launch>,
                                  "extra.cu.*'twin/both'.*also defined in .*both.cu"},
                    BadDefinition{"twin/gpu", "cuda", define_other_idea,
                                  "'twin/gpu' differs between its emulator and its GPU copy"},
                    BadDefinition{"twin/new", "simt", define_alias, "'transpose/v1' names both"},
                    BadDefinition{"twin/new", "simt", define_silent, "has no idea"},
                    BadDefinition{"twin/new", "simt", define_undeclared, "does not say what its parameter TILE means"},
                    BadDefinition{"twin/new", "simt", define_nothing, "has no instance"},
                    BadDefinition{"twin/new", "simt", define_orphan, "problem 'twin', which nobody registers"},
                    BadDefinition{"twin/new", "simt", define_twice, "two instances for dtype=float32"}));

}  // namespace
}  // namespace gpuexp
