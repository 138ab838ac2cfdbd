// Chooses how much of an output can be checked, and checks it.
#include "profiler/backend/cuda/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <random>
#include <string>

#include "profiler/backend/cuda/elements.h"

namespace gpuexp::cuda {
namespace {

// Adds the elements of one buffer to a verification; may be used by several threads, each with its own.
class Checker {
 public:
  Checker(const Workload& workload, const Output& output)
      : workload_(workload), output_(output), spec_(workload.buffers()[output.buffer]), pipe_(workload.accumulator()) {}

  void check(std::int64_t i, Verification& v) const {
    const Expected right = workload_.expected(output_.buffer, i);
    const double got = load_element(spec_.dtype, output_.bytes.data(), i);
    const double allowed = tolerance(right, pipe_, spec_.dtype), error = std::abs(got - right.value);
    ++v.checked;
    if (error <= allowed) {
      if (allowed > 0) v.max_error = std::max(v.max_error, error / allowed);
      return;
    }
    ++v.wrong;
    if (std::isnan(got)) ++v.nan;
    v.max_error = std::max(v.max_error, std::isnan(error) || allowed == 0 ? HUGE_VAL : error / allowed);
    if (v.first_index < 0 || i < v.first_index) {
      v.first_index = i;
      v.buffer = spec_.name;
      v.got = got;
      v.expected = right.value;
    }
  }

 private:
  const Workload& workload_;
  const Output& output_;
  const BufferSpec& spec_;
  DType pipe_;
};

// The first wrong element is the lowest of the first buffer that has one.
void merge(Verification& into, const Verification& part) {
  const bool earlier = part.first_index >= 0 &&
                       (into.first_index < 0 || (into.buffer == part.buffer && part.first_index < into.first_index));
  if (earlier) {
    into.first_index = part.first_index;
    into.buffer = part.buffer;
    into.got = part.got;
    into.expected = part.expected;
  }
  into.checked += part.checked;
  into.wrong += part.wrong;
  into.nan += part.nan;
  into.max_error = std::max(into.max_error, part.max_error);
}

Verification check_all(const Checker& checker, std::int64_t elements, int threads) {
  Verification total;
  std::mutex guard;
  in_parallel(elements, threads, [&](std::int64_t first, std::int64_t last) {
    Verification part;
    for (std::int64_t i = first; i < last; ++i) checker.check(i, part);
    const std::scoped_lock lock(guard);
    merge(total, part);
  });
  return total;
}

// The ends, where edges are, and elements drawn evenly at random; sorted, without repetition.
std::vector<std::int64_t> sample_indices(std::int64_t elements, std::int64_t samples) {
  const std::int64_t ends = std::min(elements, samples / 4);
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < ends; ++i) {
    indices.push_back(i);
    indices.push_back(elements - 1 - i);
  }
  std::mt19937_64 draw(elements);  // the same elements in every run of this size
  while (static_cast<std::int64_t>(indices.size()) < samples) {
    indices.push_back(static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(elements)));
  }
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

Verification check_samples(const Checker& checker, std::int64_t elements, std::int64_t samples, int threads) {
  const std::vector<std::int64_t> indices = sample_indices(elements, std::min(samples, elements));
  Verification total;
  std::mutex guard;
  in_parallel(std::ssize(indices), threads, [&](std::int64_t first, std::int64_t last) {
    Verification part;
    for (std::int64_t i = first; i < last; ++i) checker.check(indices[static_cast<std::size_t>(i)], part);
    const std::scoped_lock lock(guard);
    merge(total, part);
  });
  return total;
}

// Records a failed whole check that no sampled element showed.
void add_whole(const WholeCheck& whole, const Workload& workload, const Output& output, Verification& v) {
  v.max_error = std::max(v.max_error, std::isnan(whole.max_error) ? HUGE_VAL : whole.max_error);
  if (whole.first_wrong < 0 || v.wrong > 0) return;
  const BufferSpec& spec = workload.buffers()[output.buffer];
  v.wrong = 1;
  v.first_index = whole.first_wrong;
  v.buffer = spec.name;
  v.got = load_element(spec.dtype, output.bytes.data(), whole.first_wrong);
  v.expected = workload.expected(output.buffer, whole.first_wrong).value;
  v.nan = std::isnan(v.got) ? 1 : 0;
}

std::string verify_output(const Workload& workload, const Output& output, const VerifyLimits& limits,
                          Verification& total) {
  const BufferSpec& spec = workload.buffers()[output.buffer];
  const Checker checker(workload, output);
  const double terms =
      static_cast<double>(std::max<std::int64_t>(workload.expected(output.buffer, spec.elements / 2).terms, 1));
  if (static_cast<double>(spec.elements) * terms <= limits.most_terms) {
    merge(total, check_all(checker, spec.elements, limits.threads));
    return fmt::format("all {} elements", spec.elements);
  }
  const auto read = [&](std::int64_t first, std::int64_t count, double* values) {
    for (std::int64_t i = 0; i < count; ++i) values[i] = load_element(spec.dtype, output.bytes.data(), first + i);
  };
  if (const std::optional<WholeCheck> whole = workload.check_whole(output.buffer, read)) {
    Verification part = check_samples(checker, spec.elements, limits.samples, limits.threads);
    const std::uint64_t exact = part.checked;
    add_whole(*whole, workload, output, part);
    merge(total, part);
    return fmt::format("{} and {} of {} elements exactly", whole->method, exact, spec.elements);
  }
  const Verification part = check_samples(checker, spec.elements, limits.samples_alone, limits.threads);
  merge(total, part);
  return fmt::format("{} of {} elements (both ends and a random sample)", part.checked, spec.elements);
}

}  // namespace

Verification verify(const Workload& workload, const std::vector<Output>& outputs, const VerifyLimits& limits) {
  Verification total;
  for (const Output& output : outputs) {
    const BufferSpec& spec = workload.buffers()[output.buffer];
    if (spec.elements == 0) continue;
    const std::string scope = verify_output(workload, output, limits, total);
    total.scope += fmt::format("{}{}{}", total.scope.empty() ? "" : "; ",
                               outputs.size() > 1 ? spec.name + ": " : std::string(), scope);
  }
  if (total.scope.empty()) total.scope = "nothing to check: the outputs have no elements";
  total.state = total.wrong == 0 ? Verification::State::passed : Verification::State::failed;
  return total;
}

}  // namespace gpuexp::cuda
