// Speed of the Matrix Market reader in bytes of text per second on one core, by kind of entry, and of the conversion to
// CSR; and of cutting rows into pieces, the preprocessing of spmv/adaptive, in nonzeros per second. The text is
// generated in memory: the disk is left out.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <iterator>
#include <string>

#include "profiler/core/random.h"
#include "profiler/matrix/generators.h"
#include "profiler/matrix/matrix_market.h"

namespace gpuexp {
namespace {

constexpr std::int64_t extent = 1000000, entries = 1000000;

enum Kind { pattern, six_digits, seventeen_digits };

std::string generated_text(Kind kind) {
  std::string text = fmt::format("%%MatrixMarket matrix coordinate {} general\n{} {} {}\n",
                                 kind == pattern ? "pattern" : "real", extent, extent, entries);
  const auto out = std::back_inserter(text);
  for (std::int64_t i = 0; i < entries; ++i) {
    const auto column = random_below(random_bits(1, 0, static_cast<std::uint64_t>(i)), extent) + 1;
    const double value = random_unit(random_bits(1, 1, static_cast<std::uint64_t>(i)));
    fmt::format_to(out, "{} {}", i + 1, column);
    if (kind == six_digits) fmt::format_to(out, " {:.6g}", value);
    if (kind == seventeen_digits) fmt::format_to(out, " {:.16e}", value);
    text += '\n';
  }
  return text;
}

void read_text(benchmark::State& state) {
  const std::string text = generated_text(static_cast<Kind>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(parse_matrix_market(text, "generated"));
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(read_text)
    ->ArgName("kind")
    ->Arg(pattern)
    ->Arg(six_digits)
    ->Arg(seventeen_digits)
    ->Unit(benchmark::kMillisecond);

void convert_to_csr(benchmark::State& state) {
  const Coo coo = parse_matrix_market(generated_text(six_digits), "generated");
  for (auto _ : state) benchmark::DoNotOptimize(to_csr(coo));
  state.SetItemsProcessed(entries * static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(convert_to_csr)->Unit(benchmark::kMillisecond);

void cut_into_pieces(benchmark::State& state, const Csr& matrix) {
  for (auto _ : state) benchmark::DoNotOptimize(cut_rows(matrix, 2048, 8 * 2048));
  state.SetItemsProcessed(matrix.nnz() * static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK_CAPTURE(cut_into_pieces, powerlaw_10000, power_law_matrix(10000, 10000, 16, 0.8, 1))
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(cut_into_pieces, powerlaw_400000, power_law_matrix(400000, 400000, 16, 0.8, 1))
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(cut_into_pieces, poisson2d_1200, poisson2d_matrix(1200))->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace gpuexp
