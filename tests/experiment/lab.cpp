// A problem and variants of the tests' own, so that the tests of plans do not change with the shipped kernels.
//
//   lab/plain              n, m (default n), dtype, share
//   lab/tiled              + TILE 1 2 4 8 16, dtype float32 float16 (alias lab/v2)
//   lab/coarse             + TILE 8 16, COARSE 1 2 4 (not all combinations)
//   lab/fancy              cuda only
//   lab/broken             broken on purpose
#define GPUEXP_SIMT 1
#include "kernels/problem.h"
#include "kernels/variant.h"
#include "profiler/core/error.h"

namespace gpuexp {
namespace {

class Lab final : public Problem {
 public:
  [[nodiscard]] std::string_view name() const override { return "lab"; }
  [[nodiscard]] std::string_view description() const override { return "nothing, for tests"; }
  [[nodiscard]] std::vector<ParamSpec> params() const override {
    return {{"n", "size", std::int64_t{1024}, "", 0, 4096, {}},
            {"m", "other size", std::int64_t{0}, "n", 0, 4096, {}},
            {"dtype", "type", std::string("float32"), "", 0, 0, {{"float32", ""}, {"float16", ""}}},
            {"share", "a fraction", 0.5, "", 0, 0, {}}};
  }
  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet&, std::uint64_t) const override {
    throw Error(ExitCode::usage, "the lab computes nothing");
  }
};

const RegisterProblem<Lab> registered;

void launch(const Launch&) {}

void add_tile(VariantBuilder& variant, long long tile) {
  variant.instance(launch, {{"TILE", tile}, {"dtype", "float32"}});
  variant.instance(launch, {{"TILE", tile}, {"dtype", "float16"}});
}

const RegisterVariant plain("lab/plain", __FILE__, "simt",
                            [](VariantBuilder& variant) { variant.idea("plain").instance(launch, {}); });
const RegisterVariant tiled("lab/tiled", __FILE__, "simt", [](VariantBuilder& variant) {
  variant.idea("tiled").alias("lab/v2").fixed("TILE", {"TILE", 16}, "side");
  for (const long long tile : {1, 2, 4, 8, 16}) add_tile(variant, tile);
});
const RegisterVariant coarse("lab/coarse", __FILE__, "simt", [](VariantBuilder& variant) {
  variant.idea("coarse").fixed("TILE", {"TILE", 8}, "side").fixed("COARSE", {"COARSE", 1}, "factor");
  variant.instance(launch, {{"TILE", 8}, {"COARSE", 1}}).instance(launch, {{"TILE", 8}, {"COARSE", 2}});
  variant.instance(launch, {{"TILE", 16}, {"COARSE", 1}}).instance(launch, {{"TILE", 16}, {"COARSE", 4}});
});
const RegisterVariant fancy("lab/fancy", __FILE__, "simt", [](VariantBuilder& variant) {
  variant.idea("fancy").cuda_only("tensor cores").instance(launch, {});
});
const RegisterVariant broken("lab/broken", __FILE__, "simt", [](VariantBuilder& variant) {
  variant.idea("broken").broken("race").instance(launch, {});
});

}  // namespace
}  // namespace gpuexp
