// Checking emulated results against the problem's reference.
#include "profiler/backend/simt/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <string>

namespace gpuexp::simt {
namespace {

struct Element {
  std::size_t buffer;
  std::int64_t index;
};

bool is_output(const BufferSpec& spec) { return spec.role != Role::in; }

// All elements that can be checked, or every n-th of them.
std::vector<Element> written_elements(const DeviceMemory& memory) {
  std::vector<Element> elements;
  for (std::size_t b = 0; b < memory.specs().size(); ++b) {
    const BufferView& view = memory.views()[b];
    const BufferSpec& spec = memory.specs()[b];
    if (!is_output(spec)) continue;
    constexpr std::int64_t chunk = std::int64_t{1} << kChunkShift;
    for (std::int64_t begin = 0; begin < spec.elements; begin += chunk) {
      if (view.written_chunks[begin >> kChunkShift] == 0) continue;
      for (std::int64_t i = begin; i < std::min(begin + chunk, spec.elements); ++i) {
        if (view.written[i] != 0) elements.push_back({b, i});
      }
    }
  }
  return elements;
}

// At most `wanted` of `total`, by a stride that shares no factor with common row lengths.
std::uint64_t stride_for(std::uint64_t total, std::uint64_t wanted) {
  if (total <= wanted) return 1;
  const std::uint64_t stride = (total + wanted - 1) / wanted;
  return stride | 1U;
}

std::vector<Element> every_element(const DeviceMemory& memory, std::uint64_t stride) {
  std::vector<Element> elements;
  std::uint64_t skip = 0;
  for (std::size_t b = 0; b < memory.specs().size(); ++b) {
    const BufferSpec& spec = memory.specs()[b];
    if (!is_output(spec)) continue;
    auto i = static_cast<std::int64_t>(skip);
    for (; i < spec.elements; i += static_cast<std::int64_t>(stride)) elements.push_back({b, i});
    skip = static_cast<std::uint64_t>(i - spec.elements);
  }
  return elements;
}

struct Tally {
  std::uint64_t wrong = 0, nan = 0;
  std::size_t first = SIZE_MAX;  // position in the list
  double got = 0, expected = 0, max_error = 0;
};

Tally check(const Workload& workload, const DeviceMemory& memory, const std::vector<Element>& elements,
            std::size_t begin, std::size_t end) {
  Tally tally;
  for (std::size_t at = begin; at < end; ++at) {
    const auto [buffer, i] = elements[at];
    const Expected expected = workload.expected(buffer, i);
    const double got = memory.element(buffer, i);
    const double error = std::abs(got - expected.value);
    const double allowed = tolerance(expected, workload.accumulator(), memory.specs()[buffer].dtype);
    const bool right = error <= allowed || got == expected.value;
    if (!right) {
      ++tally.wrong;
      if (std::isnan(got)) ++tally.nan;
      if (tally.first == SIZE_MAX) {
        tally.first = at;
        tally.got = got;
        tally.expected = expected.value;
      }
    }
    if (allowed > 0 && !std::isnan(error)) tally.max_error = std::max(tally.max_error, error / allowed);
  }
  return tally;
}

std::string scope_text(std::uint64_t checked, std::uint64_t total, std::int64_t blocks_run, std::int64_t blocks_total) {
  std::string text = checked == total ? fmt::format("all {} elements", total)
                                      : fmt::format("{} of {} elements, evenly spread", checked, total);
  if (blocks_run != blocks_total) {
    text = checked == total ? fmt::format("{} elements of blocks {}/{}", checked, blocks_run, blocks_total)
                            : fmt::format("{} of {} elements of blocks {}/{}, evenly spread", checked, total,
                                          blocks_run, blocks_total);
  }
  return text;
}

}  // namespace

Verification verify(const Workload& workload, const DeviceMemory& memory, std::int64_t blocks_run,
                    std::int64_t blocks_total, WorkerPool& pool, int threads, const VerifyLimits& limits,
                    const std::function<bool()>& should_stop) {
  Verification result;
  const bool sampled = blocks_run != blocks_total;
  std::vector<Element> elements;
  std::uint64_t total = 0;
  if (sampled) {
    elements = written_elements(memory);
    total = elements.size();
  } else {
    for (const BufferSpec& spec : memory.specs()) {
      if (is_output(spec)) total += static_cast<std::uint64_t>(spec.elements);
    }
  }
  if (total == 0) {
    if (sampled) {
      result.scope = "the blocks that ran wrote nothing";
      return result;
    }
    result.state = Verification::State::passed;
    result.scope = "all 0 elements";
    return result;
  }

  const std::vector<Element> probe =
      sampled ? std::vector<Element>{elements[total / 2]} : every_element(memory, std::max<std::uint64_t>(total, 1));
  const std::int64_t terms = workload.expected(probe.front().buffer, probe.front().index).terms;
  const std::uint64_t affordable = std::clamp<std::uint64_t>(
      limits.terms / static_cast<std::uint64_t>(std::max<std::int64_t>(terms, 1)), 64, limits.elements);
  const std::uint64_t stride = stride_for(total, affordable);
  if (!sampled) {
    elements = every_element(memory, stride);
  } else if (stride > 1) {
    std::vector<Element> some;
    for (std::size_t i = 0; i < elements.size(); i += stride) some.push_back(elements[i]);
    elements = std::move(some);
  }

  constexpr std::size_t piece = 256;
  const std::size_t pieces = (elements.size() + piece - 1) / piece;
  std::vector<Tally> tallies(pieces);
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stopped{false};
  pool.run(std::min(threads, static_cast<int>(std::min<std::size_t>(pieces, 1024))), [&](BlockRunner& /*runner*/, int) {
    for (std::size_t p = next++; p < pieces; p = next++) {
      if (should_stop()) stopped = true;
      if (stopped) return;
      tallies[p] = check(workload, memory, elements, p * piece, std::min((p + 1) * piece, elements.size()));
    }
  });
  if (stopped) {
    result.scope = "stopped before it was finished";
    return result;
  }
  result.checked = elements.size();
  result.scope = scope_text(elements.size(), total, blocks_run, blocks_total);
  for (const Tally& tally : tallies) {
    result.wrong += tally.wrong;
    result.nan += tally.nan;
    result.max_error = std::max(result.max_error, tally.max_error);
    if (tally.first == SIZE_MAX || result.first_index >= 0) continue;
    result.first_index = elements[tally.first].index;
    result.buffer = memory.specs()[elements[tally.first].buffer].name;
    result.got = tally.got;
    result.expected = tally.expected;
  }
  result.state = result.wrong == 0 ? Verification::State::passed : Verification::State::failed;
  return result;
}

}  // namespace gpuexp::simt
