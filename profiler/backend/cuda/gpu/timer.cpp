// The sampling loop and its hazards; the header tells them.
#include "profiler/backend/cuda/gpu/timer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "profiler/backend/cuda/gpu/cuda_call.h"
#include "profiler/backend/cuda/gpu/device_tools.h"

namespace gpuexp::cuda {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr std::uint64_t shortest_delay_ns = 20'000, longest_delay_ns = 20'000'000;
constexpr double short_kernel_floors = 10;  // a kernel below so many floors is too short to time singly
constexpr double batch_us = 400;            // length of a batch of short launches
constexpr int most_batched = 1000;

}  // namespace

struct Timer::State {
  cudaStream_t stream;
  DeviceBytes flush;
  Event start = make_event(), stop = make_event();
  PinnedValue<Stamp> before, after;
  std::uint64_t delay_ns = shortest_delay_ns;
  double floor_us = 0;
  double resolution_us = 0.5;  // as documented for cudaEventElapsedTime; finer when that is seen

  State(cudaStream_t s, std::size_t l2_bytes)
      : stream(s), flush(std::max<std::size_t>(2 * l2_bytes / 256 * 256, 1U << 20U)) {
    // Ones, so that no compression of zeros makes the buffer smaller than it is.
    check(cudaMemsetAsync(flush.data(), 1, flush.size(), stream), "cudaMemsetAsync");
  }

  // One sample of `queue`; nothing when the delay ended before everything was queued.
  std::optional<Sample> sample(const std::function<void()>& queue) {
    queue_delay(delay_ns, before.get(), stream);
    check(cudaEventRecord(start.get(), stream), "cudaEventRecord");
    queue();
    check(cudaEventRecord(stop.get(), stream), "cudaEventRecord");
    const bool late = cudaEventQuery(start.get()) != cudaErrorNotReady;
    cudaGetLastError();  // "not ready" is an answer here, not an error
    queue_stamp(after.get(), stream);
    check(cudaStreamSynchronize(stream), "kernel execution");
    if (late) {
      delay_ns = std::min(delay_ns * 2, longest_delay_ns);
      if (delay_ns < longest_delay_ns) return std::nullopt;
    }
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.get(), stop.get()), "cudaEventElapsedTime");
    return Sample{static_cast<double>(milliseconds) * 1e3, clock_mhz()};
  }

  // Mean clock of the SM between the two stamps; 0 when they are of different SMs.
  [[nodiscard]] double clock_mhz() const {
    const Stamp first = *before, last = *after;
    if (first.multiprocessor != last.multiprocessor || last.nanoseconds <= first.nanoseconds) return 0;
    return static_cast<double>(last.cycles - first.cycles) * 1e3 /
           static_cast<double>(last.nanoseconds - first.nanoseconds);
  }

  // Runs until the SM clock is steady (two runs within 1 %), at least twice, at most for 0.2 s.
  double warm_up(const Timed& timed, double cap_s) {
    const auto begin = Clock::now();
    double clock = 0, time_us = 0;
    for (int run = 0;; ++run) {
      if (timed.restore) timed.restore();
      const std::optional<Sample> taken = sample(timed.launch);
      if (taken) time_us = taken->time_us;
      const double latest = clock_mhz();
      const bool steady = run >= 2 && taken && (latest == 0 || std::abs(latest - clock) <= 0.01 * clock);
      if (steady || (taken && seconds_since(begin) > std::min(0.2, cap_s / 4))) return time_us;
      clock = latest;
    }
  }

  std::vector<Sample> collect(const Timed& timed, const std::function<void()>& queue, bool cold,
                              const SamplingGoal& goal) {
    std::vector<Sample> samples;
    const auto begin = Clock::now();
    while (!enough_samples(samples, seconds_since(begin), goal)) {
      if (timed.restore) timed.restore();
      if (cold) queue_read(flush.data(), flush.size(), stream);
      if (const std::optional<Sample> taken = sample(queue)) samples.push_back(*taken);
    }
    return samples;
  }

  // `launches` launches as one graph.
  GraphExec capture(const std::function<void()>& launch, int launches) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    cudaGraph_t graph = nullptr;
    try {
      for (int i = 0; i < launches; ++i) launch();
    } catch (...) {  // the stream must leave capture mode, whatever a launch says
      if (cudaStreamEndCapture(stream, &graph) == cudaSuccess) cudaGraphDestroy(graph);
      throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    const Graph owned(graph);
    cudaGraphExec_t exec = nullptr;
    check(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
    return GraphExec(exec);
  }

  void measure_floor() {
    std::vector<double> times;
    while (times.size() < 11) {
      if (const auto taken = sample([&] { queue_empty(stream); })) times.push_back(taken->time_us);
    }
    floor_us = median(times).value_or(0);
    std::sort(times.begin(), times.end());
    for (std::size_t i = 1; i < times.size(); ++i) {
      const double step = times[i] - times[i - 1];
      if (step > 1e-3) resolution_us = std::min(resolution_us, step);  // less is rounding of a float
    }
  }
};

Timer::Timer(cudaStream_t stream, std::size_t l2_bytes) : state_(std::make_unique<State>(stream, l2_bytes)) {
  state_->measure_floor();
}
Timer::~Timer() = default;

double Timer::floor_us() const { return state_->floor_us; }

void Timer::queue_flush() { queue_read(state_->flush.data(), state_->flush.size(), state_->stream); }

TimedPoint Timer::time(const Timed& timed, bool cold_l2, SamplingGoal goal) {
  goal.resolution_us = state_->resolution_us;
  // Persisting lines would survive a flush.
  check(cudaCtxResetPersistingL2Cache(), "cudaCtxResetPersistingL2Cache");
  state_->delay_ns = shortest_delay_ns;
  TimedPoint done;
  const double single_us = state_->warm_up(timed, goal.max_time_s);
  const bool too_short = single_us < short_kernel_floors * state_->floor_us;
  std::vector<Sample> samples;
  if (too_short && !cold_l2) {
    const int launches = std::clamp(static_cast<int>(std::ceil(batch_us / std::max(single_us - state_->floor_us, 0.5))),
                                    2, most_batched);
    const GraphExec graph = state_->capture(timed.launch, launches);
    const auto replay = [&] { check(cudaGraphLaunch(graph.get(), state_->stream), "cudaGraphLaunch"); };
    samples = state_->collect(timed, replay, false, goal);
    for (Sample& sample : samples) sample.time_us /= launches;
    done.batched = true;
    done.timing.note = fmt::format(
        "too short to time singly: each sample is a CUDA graph of {} launches, divided by {}; it includes the gap "
        "between launches; resolution {:.3f} us",
        launches, launches, state_->floor_us / launches);
  } else {
    samples = state_->collect(timed, timed.launch, cold_l2, goal);
    if (too_short) {
      done.timing.note = fmt::format(
          "short: an empty kernel times at {:.1f} us between the same events, and that is part of each sample; set "
          "measure.cold_l2 to false to have such launches batched",
          state_->floor_us);
    }
  }
  const KeptSamples kept = discard_throttled(samples);
  done.timing.samples_us = kept.times_us;
  done.timing.cache_mode = cold_l2 ? "cold" : "warm";
  done.timing.discarded_throttled = kept.discarded;
  done.timing.sm_clock_mhz = kept.sm_clock_mhz;
  if (kept.unsteady) {
    done.warnings.emplace_back(
        "the SM clock varied by more than 5 % in over a third of the samples (power or temperature limit?): all were "
        "kept; compare times with care");
  }
  const std::optional<double> noise = median_noise(done.timing.samples_us);
  const bool resolved = noise && *noise * median(kept.times_us).value_or(0) <= goal.resolution_us;
  if (!resolved && (!noise || *noise > goal.max_noise)) {
    done.warnings.push_back(
        fmt::format("sampling stopped at the time cap of {} s with {} samples; the median is known to {}",
                    goal.max_time_s, done.timing.samples_us.size(),
                    noise ? fmt::format("the median is known to {:.2f} %", 100 * *noise)
                          : std::string("too few to tell how well the median is known")));
  }
  return done;
}

}  // namespace gpuexp::cuda
