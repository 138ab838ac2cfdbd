// Runs one point on the GPU: allocate, fill, poison, run, verify, time, verify again, count, in that order.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <thread>

#include "kernels/problem.h"
#include "profiler/backend/cuda/counter_request.h"
#include "profiler/backend/cuda/elements.h"
#include "profiler/backend/cuda/gpu/cuda_call.h"
#include "profiler/backend/cuda/gpu/device_tools.h"
#include "profiler/backend/cuda/gpu/launch.h"
#include "profiler/backend/cuda/gpu/range_profiler.h"
#include "profiler/backend/cuda/gpu/timer.h"
#include "profiler/backend/cuda/machine_facts.h"
#include "profiler/backend/cuda/verify.h"
#include "profiler/core/error.h"
#include "profiler/registry/registry.h"

#define GPUEXP_SIMT 1
#include "kernels/variant.h"

namespace gpuexp::cuda {
namespace {

int host_threads() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

std::size_t bytes_of(const BufferSpec& spec) {
  return static_cast<std::size_t>(spec.elements) * static_cast<std::size_t>(size_bytes(spec.dtype));
}

// Ends a point early with a status and its reason.
struct PointEnds {
  Status status;
  std::string reason;
};

// A problem's buffers on the device, filled. Kept from point to point, as a sweep of a variant's parameters uses the
// same inputs again and again.
class Buffers {
 public:
  Buffers(std::unique_ptr<Workload> workload, cudaStream_t stream)
      : workload_(std::move(workload)), stream_(stream), sum_(sizeof(unsigned long long)) {
    for (std::size_t i = 0; i < workload_->buffers().size(); ++i) {
      const BufferSpec& spec = workload_->buffers()[i];
      memory_.emplace_back(bytes_of(spec));
      addresses_.push_back(memory_.back().data());
      pristine_.emplace_back();
      sums_.push_back(0);
      if (spec.role != Role::out) fill(i);
    }
  }

  [[nodiscard]] const Workload& workload() const { return *workload_; }
  [[nodiscard]] const std::vector<void*>& addresses() const { return addresses_; }

  // 0xff bytes are a NaN in every floating type and -1 in the integers: an element that no thread writes stands out.
  void poison_outputs() {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if (workload_->buffers()[i].role == Role::out) {
        check(cudaMemsetAsync(memory_[i].data(), 0xff, memory_[i].size(), stream_), "cudaMemsetAsync");
      }
    }
    restore();
  }

  [[nodiscard]] bool has_inout() const {
    return std::any_of(pristine_.begin(), pristine_.end(),
                       [](const DeviceBytes& copy) { return copy.data() != nullptr; });
  }
  // Puts in-out buffers back to their values before the run.
  void restore() {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if (pristine_[i].data() == nullptr) continue;
      check(
          cudaMemcpyAsync(memory_[i].data(), pristine_[i].data(), memory_[i].size(), cudaMemcpyDeviceToDevice, stream_),
          "cudaMemcpyAsync");
    }
  }

  // Equal sums mean equal outputs.
  unsigned long long output_sum() {
    unsigned long long total = 0;
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if (workload_->buffers()[i].role != Role::in) total = total * 31 + checksum(i);
    }
    return total;
  }

  // Names of inputs that no longer hold what they were filled with.
  std::vector<std::string> changed_inputs() {
    std::vector<std::string> changed;
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if (workload_->buffers()[i].role == Role::in && checksum(i) != sums_[i]) {
        changed.push_back(workload_->buffers()[i].name);
        fill(i);
      }
    }
    return changed;
  }

  // Outputs with the same bits as some that were right before are right: variants of one problem often agree bit for
  // bit, and copying and checking a large output takes longer than running the kernel.
  Verification verify_outputs(unsigned long long sum) {
    if (const auto known = right_.find(sum); known != right_.end()) return known->second;
    Verification fresh = check_outputs();
    if (fresh.state == Verification::State::passed) right_.emplace(sum, fresh);
    return fresh;
  }

 private:
  Verification check_outputs() {
    std::vector<std::vector<std::byte>> copies;
    std::vector<Output> outputs;
    copies.reserve(memory_.size());
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if (workload_->buffers()[i].role == Role::in) continue;
      std::vector<std::byte>& copy = copies.emplace_back(memory_[i].size());
      check(cudaMemcpyAsync(copy.data(), memory_[i].data(), copy.size(), cudaMemcpyDeviceToHost, stream_),
            "cudaMemcpyAsync");
      outputs.push_back({i, copy});
    }
    check(cudaStreamSynchronize(stream_), "copy of the outputs");
    VerifyLimits limits;
    limits.threads = host_threads();
    return verify(*workload_, outputs, limits);
  }

  void fill(std::size_t i) {
    std::vector<std::byte> host(memory_[i].size());
    fill_input(*workload_, i, host, host_threads());
    check(cudaMemcpyAsync(memory_[i].data(), host.data(), host.size(), cudaMemcpyHostToDevice, stream_),
          "cudaMemcpyAsync");
    if (workload_->buffers()[i].role == Role::inout) {
      pristine_[i] = DeviceBytes(host.size());
      check(cudaMemcpyAsync(pristine_[i].data(), host.data(), host.size(), cudaMemcpyHostToDevice, stream_),
            "cudaMemcpyAsync");
    }
    check(cudaStreamSynchronize(stream_), "copy of the inputs");
    sums_[i] = checksum(i);
  }

  unsigned long long checksum(std::size_t i) {
    check(cudaMemsetAsync(sum_.data(), 0, sizeof(unsigned long long), stream_), "cudaMemsetAsync");
    queue_checksum(memory_[i].data(), memory_[i].size(), static_cast<unsigned long long*>(sum_.data()), stream_);
    unsigned long long sum = 0;
    check(cudaMemcpyAsync(&sum, sum_.data(), sizeof sum, cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "checksum kernel");
    return sum;
  }

  std::unique_ptr<Workload> workload_;
  cudaStream_t stream_;
  DeviceBytes sum_;
  std::vector<DeviceBytes> memory_, pristine_;
  std::vector<void*> addresses_;
  std::vector<unsigned long long> sums_;              // of inputs, as filled
  std::map<unsigned long long, Verification> right_;  // outputs that were verified, by their sum
};

class Measurer final : public PointMeasurer {
 public:
  explicit Measurer(const Gpu& gpu) : gpu_(gpu) {
    check(cudaSetDevice(gpu.index), "cudaSetDevice");
    stream_ = make_stream();
    libraries_ = std::make_unique<LibraryHandles>(stream_.get());
    timer_ = std::make_unique<Timer>(stream_.get(), gpu.l2_bytes);
  }

  PointResult measure(const Point& point, const RunOptions& options) override {
    PointResult result;
    result.point = point;
    result.backend = "cuda";
    const auto start = std::chrono::steady_clock::now();
    try {
      measure_into(result, options);
    } catch (const PointEnds& end) {
      result.status = end.status;
      result.reason = end.reason;
    } catch (const CudaFailure& failure) {
      result.status = failure.error() == cudaErrorMemoryAllocation ? Status::out_of_memory : Status::failed;
      result.reason = failure.what();
    } catch (const std::bad_alloc&) {
      result.status = Status::out_of_memory;
      result.reason = "the host has no memory for a copy of the buffers; use a smaller problem";
    } catch (const Error& error) {
      result.status = Status::failed;
      result.reason = error.what();
    }
    if (result.status != Status::ok) drop_buffers();
    result.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  }

  [[nodiscard]] bool context_lost() const override { return lost_; }

 private:
  void measure_into(PointResult& result, const RunOptions& options) {
    const Variant& variant = *find_variant(result.point.variant);
    const VariantInstance* instance = variant.instance_for(result.point.params);
    if (!variant.broken.empty()) result.expected_finding = variant.broken;
    if (instance == nullptr || instance->cuda == nullptr) {
      throw PointEnds{Status::unsupported, "this build holds no GPU code for these compile-time parameters"};
    }
    Buffers& buffers = prepare(variant, result, options);
    CudaLaunchContext context(result.point.params, buffers.workload(), buffers.addresses(), stream_.get(), *libraries_);
    const Launch launch(static_cast<LaunchContext*>(&context));
    const auto queue = [&] {
      instance->cuda(launch);
      if (context.problem()) throw PointEnds{context.problem()->status, context.problem()->reason};
    };

    buffers.poison_outputs();
    context.record(true);
    queue();
    context.record(false);
    result.launches = context.launches();
    result.blocks_run = result.blocks_total = context.blocks();
    check(cudaStreamSynchronize(stream_.get()), "kernel execution");
    const unsigned long long first_sum = buffers.output_sum();
    if (options.verify) {
      result.verification = buffers.verify_outputs(first_sum);
    } else {
      result.verification.scope = "verification was switched off";
    }
    if (result.verification.state == Verification::State::failed) {
      result.warnings.emplace_back("not timed: the result is wrong");
    } else {
      time(result, options, buffers, queue);
      note_preparation(result, context);
      verify_again(result, options, buffers, first_sum);
    }
    count(result, options, buffers, queue);
    for (const std::string& name : buffers.changed_inputs()) {
      result.findings.push_back({"write_to_input",
                                 fmt::format("the kernel changed its input {}", name),
                                 {variant.source_file, 0, 0},
                                 std::nullopt,
                                 {},
                                 {},
                                 1});
    }
  }

  // The buffers of this problem with these parameters, filled; those of the last point when they fit.
  Buffers& prepare(const Variant& variant, PointResult& result, const RunOptions& options) {
    const Problem& problem = *find_problem(variant.problem);
    ParamSet own;
    for (const ParamSpec& spec : problem.params()) own.set(spec.name, *result.point.params.find(spec.name));
    const std::string key = fmt::format("{} {} seed={}", problem.name(), own.to_text(), result.point.seed);
    if (!buffers_ || key != buffers_key_) {
      drop_buffers();
      std::unique_ptr<Workload> workload = problem.make(result.point.params, result.point.seed);
      check_memory(*workload, options);
      buffers_ = std::make_unique<Buffers>(std::move(workload), stream_.get());
      buffers_key_ = key;
    }
    const Workload& workload = buffers_->workload();
    result.flops = workload.flops();
    result.compulsory_load_bytes = workload.compulsory_load_bytes();
    result.compulsory_store_bytes = workload.compulsory_store_bytes();
    result.facts = workload.facts();
    return *buffers_;
  }

  static void check_memory(const Workload& workload, const RunOptions& options) {
    std::size_t free_bytes = 0, total_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
    constexpr double reserve = 256e6;  // what the runtime and the libraries still take
    const double limit = options.memory_limit_bytes > 0 ? static_cast<double>(options.memory_limit_bytes)
                                                        : static_cast<double>(free_bytes) - reserve;
    double wanted = 0;
    for (const BufferSpec& spec : workload.buffers()) {
      wanted += static_cast<double>(spec.elements) * static_cast<double>(size_bytes(spec.dtype)) *
                (spec.role == Role::inout ? 2 : 1);
    }
    if (wanted > limit) {
      throw PointEnds{
          Status::out_of_memory,
          fmt::format("the buffers take {:.2f} GB and {:.2f} GB of GPU memory may be used; use a smaller problem",
                      wanted / 1e9, limit / 1e9)};
    }
  }

  template <class Queue>
  void time(PointResult& result, const RunOptions& options, Buffers& buffers, const Queue& queue) {
    Timed timed{queue, {}};
    if (buffers.has_inout()) timed.restore = [&] { buffers.restore(); };
    TimedPoint done =
        timer_->time(timed, options.cold_l2, {options.max_noise, options.max_time_s, options.min_samples});
    result.timing = std::move(done.timing);
    result.warnings.insert(result.warnings.end(), done.warnings.begin(), done.warnings.end());
    if (done.batched && buffers.has_inout()) {
      buffers.restore();
      queue();
    }
  }

  static void note_preparation(PointResult& result, const CudaLaunchContext& context) {
    if (!result.timing || !context.preparation_us()) return;
    std::string& note = result.timing->note;
    note += fmt::format("{}prepared once before the timed runs, which do not include it: {:.0f} us by the host's clock",
                        note.empty() ? "" : "; ", *context.preparation_us());
  }

  // Kernels may go wrong only when they run again: what the timed runs left must be right too.
  static void verify_again(PointResult& result, const RunOptions& options, Buffers& buffers,
                           unsigned long long first_sum) {
    if (!options.verify) return;
    const unsigned long long sum = buffers.output_sum();
    if (sum == first_sum) return;
    const Verification again = buffers.verify_outputs(sum);
    if (again.state != Verification::State::failed) return;
    result.verification = again;
    result.verification.scope += ", after the timed runs (the first run was right)";
  }

  // The profiler of this context; null, with the reason kept, when counters cannot be had: that will not change, so it
  // is tried once.
  RangeProfiler* profiler() {
    if (!profiler_ && counters_problem_.empty()) {
      try {
        profiler_ = std::make_unique<RangeProfiler>(gpu_.index);
      } catch (const CuptiFailure& failure) {
        counters_problem_ = failure.what();
      }
    }
    return profiler_.get();
  }

  template <class Queue>
  void count(PointResult& result, const RunOptions& options, Buffers& buffers, const Queue& queue) {
    if (!options.count) return;
    RangeProfiler* counting = profiler();
    const std::string chip = counting != nullptr ? counting->chip() : "";
    const std::vector<CounterPlan::Entry> entries =
        resolve_counters(chip, options.counters.empty() ? default_counters(chip, result.point) : options.counters);
    if (counting == nullptr) return set_null(result, entries, counters_problem_);
    std::vector<std::string> names;
    for (const CounterPlan::Entry& entry : entries)
      if (!entry.metric.empty()) names.push_back(entry.metric);
    const auto prepare = [&] {
      buffers.restore();
      if (options.cold_l2) timer_->queue_flush();
      check(cudaStreamSynchronize(stream_.get()), "flush before counting");
    };
    const auto launch = [&] {
      queue();
      check(cudaStreamSynchronize(stream_.get()), "kernel execution while counting");
    };
    try {
      const MetricSet& set = counting->metrics(names);
      set_values(result, entries, counting->count(set, prepare, launch), set, names);
    } catch (const CuptiFailure& failure) {
      set_null(result, entries, failure.what());
    }
  }

  static void set_null(PointResult& result, const std::vector<CounterPlan::Entry>& entries, const std::string& reason) {
    for (const CounterPlan::Entry& entry : entries) {
      result.counters[entry.counter] = Quantity::null(entry.refusal.empty() ? reason : entry.refusal, Source::measured);
    }
    result.warnings.push_back("no hardware counters: " + reason);
  }

  static void set_values(PointResult& result, const std::vector<CounterPlan::Entry>& entries,
                         const std::map<std::string, double>& values, const MetricSet& set,
                         const std::vector<std::string>& names) {
    const bool all_zero =
        !values.empty() && std::all_of(values.begin(), values.end(), [](const auto& v) { return v.second == 0; });
    if (all_zero && !result.launches.empty()) {
      return set_null(
          result, entries,
          "every counter reads 0 although kernels ran: the reading is invalid (a CUPTI older than the GPU, or "
          "a GPU that needs a reset: see dmesg for Xid messages)");
    }
    for (const CounterPlan::Entry& entry : entries) {
      Quantity& quantity = result.counters[entry.counter];
      const auto value = values.find(entry.metric);
      if (value != values.end()) {
        quantity = measured(entry.metric, value->second);
        continue;
      }
      const auto at = std::find(names.begin(), names.end(), entry.metric);
      const std::string refusal =
          at == names.end() ? entry.refusal : set.refusals()[static_cast<std::size_t>(at - names.begin())];
      quantity = Quantity::null(refusal, Source::measured);
    }
  }

  // Counts are exact below 2^53, as CUPTI hands them out as float64.
  static Quantity measured(const std::string& metric, double value) {
    if (!std::isfinite(value)) return Quantity::null("nothing to divide by was counted", Source::measured);
    const bool whole = counts_whole(metric) && value >= 0 && value < 0x1p53 && value == std::floor(value);
    return whole ? Quantity::count(static_cast<std::uint64_t>(value), Source::measured)
                 : Quantity::real(value, Source::measured);
  }

  // After an error the buffers' contents are not known; and when the context went with it, this measurer is done.
  void drop_buffers() {
    buffers_.reset();
    buffers_key_.clear();
    cudaGetLastError();
    lost_ = lost_ || cudaDeviceSynchronize() != cudaSuccess;
  }

  Gpu gpu_;
  Stream stream_;
  std::unique_ptr<LibraryHandles> libraries_;
  std::unique_ptr<Timer> timer_;
  std::unique_ptr<RangeProfiler> profiler_;
  std::string counters_problem_;
  std::unique_ptr<Buffers> buffers_;
  std::string buffers_key_;
  bool lost_ = false;
};

}  // namespace

std::unique_ptr<PointMeasurer> open_gpu(const std::string& gpu) {
  const Machine machine = inspect_machine();
  const Gpu chosen = choose_gpu(machine, gpu);
  try {
    return std::make_unique<Measurer>(chosen);
  } catch (const CudaFailure& failure) {
    throw Error(ExitCode::machine,
                fmt::format("GPU {} ({}) cannot be used: {}", chosen.index, chosen.name, failure.what()));
  }
}

}  // namespace gpuexp::cuda
