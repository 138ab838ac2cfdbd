// Speed of the emulator in lane accesses per second, with everything on: counts, sites, checkers. Every block is run.
//
// `lane_accesses` is a rate; wall time is what counts, as the emulator uses several threads.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "tests/kernels/points.h"

namespace gpuexp {
namespace {

double lane_accesses(const PointResult& result) {
  double sum = 0;
  for (const SiteRow& row : result.sites) sum += static_cast<double>(row.lanes);
  return sum;
}

void emulate(benchmark::State& state, const char* variant, const std::string& parameters) {
  const Point what = test::point(variant, parameters);
  RunOptions options;
  options.lane_access_budget = 0;
  options.verify = false;
  options.threads = static_cast<int>(state.range(0));
  double accesses = 0;
  for (auto step : state) {
    const PointResult result = test::simt().run(what, options);
    if (result.status != Status::ok) {
      state.SkipWithError(result.reason.c_str());
      return;
    }
    accesses += lane_accesses(result);
  }
  state.counters["lane_accesses"] = benchmark::Counter(accesses, benchmark::Counter::kIsRate);
}

#define GPUEXP_BENCHMARK(name, variant, parameters)     \
  BENCHMARK_CAPTURE(emulate, name, variant, parameters) \
      ->Arg(1)                                          \
      ->Arg(2)                                          \
      ->ArgName("threads")                              \
      ->UseRealTime()                                   \
      ->Unit(benchmark::kMillisecond)

GPUEXP_BENCHMARK(matmul_naive_256, "matmul/naive", "n=256");
GPUEXP_BENCHMARK(matmul_tiled_16_512, "matmul/tiled", "n=512 TILE=16");
GPUEXP_BENCHMARK(matmul_tiled_32_256, "matmul/tiled", "n=256 TILE=32");
GPUEXP_BENCHMARK(matmul_tiled_32_512, "matmul/tiled", "n=512 TILE=32");
GPUEXP_BENCHMARK(transpose_naive_2048, "transpose/naive", "rows=2048");
GPUEXP_BENCHMARK(transpose_smem_2048, "transpose/smem", "rows=2048");
GPUEXP_BENCHMARK(transpose_padded_1024, "transpose/smem_padded", "rows=1024");
GPUEXP_BENCHMARK(transpose_padded_2048, "transpose/smem_padded", "rows=2048");
GPUEXP_BENCHMARK(vector_add_4m, "vector/add", "n=4194304");

}  // namespace
}  // namespace gpuexp
