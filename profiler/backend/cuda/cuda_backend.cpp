// The side of the backend that lives in gpuexp itself: it asks the worker, and adds the emulator's prediction.
#include "profiler/backend/cuda/cuda_backend.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <thread>

#include "profiler/backend/cuda/counter_errors.h"
#include "profiler/backend/cuda/counter_request.h"
#include "profiler/backend/cuda/derived_device.h"
#include "profiler/backend/cuda/doctor.h"
#include "profiler/backend/cuda/machine_facts.h"
#include "profiler/backend/cuda/worker.h"
#include "profiler/core/error.h"
#include "profiler/registry/registry.h"

namespace gpuexp {
namespace cuda {
namespace {

// Under compute-sanitizer, ncu or cuda-gdb a forked worker is out of the tool's sight: then points run in this process,
// and a lost context ends the run.
bool isolation_off() {
  const char* value = std::getenv("GPUEXP_CUDA_IN_PROCESS");
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

constexpr double inspect_limit_s = 60;  // a first start of the driver can take many seconds

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(std::unique_ptr<Backend> predictor) : predictor_(std::move(predictor)) {}

  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] std::string_view description() const override {
    return "runs on an NVIDIA GPU: times from CUDA events, counters from CUPTI";
  }

  [[nodiscard]] Availability availability() const override {
    const Machine& m = machine();
    return {m.reason.empty(), m.reason, m.remedy};
  }

  [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment() const override {
    const Machine& m = machine();
    std::vector<std::pair<std::string, std::string>> pairs;
    if (!m.gpus.empty()) {
      const Gpu& gpu = chosen();
      pairs = {
          {"gpu", gpu.name},
          {"gpu_uuid", gpu.uuid},
          {"gpu_compute_capability", fmt::format("{}.{}", gpu.compute_capability_major, gpu.compute_capability_minor)},
          {"gpu_sm_count", std::to_string(gpu.sm_count)},
          {"gpu_max_sm_clock_mhz", fmt::format("{}", gpu.clock_mhz)},
          {"gpu_max_memory_clock_mhz", fmt::format("{}", gpu.memory_clock_mhz)},
          {"gpu_l2_bytes", std::to_string(gpu.l2_bytes)}};
    }
    pairs.emplace_back("driver", m.driver_release.empty() ? fmt::format("CUDA {}", cuda_version_text(m.driver_version))
                                                          : m.driver_release);
    pairs.emplace_back("toolkit", fmt::format("CUDA {}", cuda_version_text(m.runtime_version)));
    return pairs;
  }

  PointResult run(const Point& point, const RunOptions& options) override {
    last_gpu_ = options.gpu;
    const Variant* variant = find_variant(point.variant);
    if (options.predict && predictor_ != nullptr && variant != nullptr && variant->cuda_only.empty()) {
      // Both work at the same time; the emulator leaves two cores to the worker and to this thread.
      RunOptions emulated = options;
      const int cores = static_cast<int>(std::thread::hardware_concurrency());
      if (emulated.threads == 0) emulated.threads = std::max(1, cores - 2);
      if (!isolation_off()) start_worker(options);
      std::future<PointResult> prediction =
          std::async(std::launch::async, [&] { return predictor_->run(point, emulated); });
      PointResult result = measure(point, options);
      add_prediction(result, prediction.get());
      return result;
    }
    return measure(point, options);
  }

  [[nodiscard]] std::vector<Check> diagnose() const override { return checks_of(look_around(machine())); }

  [[nodiscard]] std::vector<std::string> counter_chips() const override { return metric_chips(); }

  [[nodiscard]] CounterPlan plan_counters(std::string_view chip,
                                          const std::vector<std::string>& counters) const override {
    CounterPlan plan{std::string(chip), resolve_counters(chip, counters), 0, {}};
    std::vector<std::string> metrics;
    for (const CounterPlan::Entry& entry : plan.entries)
      if (!entry.metric.empty()) metrics.push_back(entry.metric);
    const MetricPlan checked = plan_metrics(plan.chip, metrics);
    plan.reason = checked.reason;
    plan.passes = checked.passes;
    std::size_t next = 0;
    for (CounterPlan::Entry& entry : plan.entries) {
      if (!entry.metric.empty() && next < checked.refusals.size()) entry.refusal = checked.refusals[next++];
    }
    return plan;
  }

  [[nodiscard]] std::vector<std::string> default_counters(std::string_view chip, const Point& point) const override {
    return cuda::default_counters(chip, point);
  }

  [[nodiscard]] std::shared_ptr<const DeviceSpec> device(const std::string& gpu) const override {
    return std::make_shared<const DeviceSpec>(roof_of(choose_gpu(machine(), gpu)));
  }

 private:
  // Asked once, of a worker, because asking initialises CUDA; without a driver there is nothing to ask.
  const Machine& machine() const {
    if (machine_) return *machine_;
    if (toolkit_version() == 0) {
      machine_ = inspect_machine();
    } else if (!driver().present) {
      machine_ =
          Machine{fmt::format("no NVIDIA driver: {}", driver().problem),
                  running_in_container() ? "start the container with GPUs (--gpus all), on a host that has the driver"
                                         : "install the NVIDIA driver; `gpuexp doctor` tells more",
                  0,
                  0,
                  driver_release(),
                  {}};
    } else {
      machine_ = ask_machine();
    }
    return *machine_;
  }

  Machine ask_machine() const {
    Request request;
    request.kind = Request::Kind::inspect;
    try {
      if (isolation_off()) return serve(request).machine;
      const Exchange exchange = worker_.ask(request, inspect_limit_s, nullptr);
      if (exchange.end == Exchange::End::answered) return exchange.answer.machine;
      return {fmt::format("the CUDA driver did not start: the worker process ended by {}", exchange.how),
              "see `nvidia-smi` and `dmesg`",
              0,
              0,
              driver_release(),
              {}};
    } catch (const std::exception& error) {
      return {error.what(), "run `gpuexp doctor`", driver().cuda_version, toolkit_version(), driver_release(), {}};
    }
  }

  const Gpu& chosen() const {
    try {
      return choose_gpu(machine(), last_gpu_);
    } catch (const Error&) {
      return machine().gpus.front();
    }
  }

  void start_worker(const RunOptions& options) {
    if (worker_.running()) return;
    Request request;
    request.kind = Request::Kind::inspect;  // forks it before the emulator's threads exist
    worker_.ask(request, inspect_limit_s, options.cancel);
  }

  PointResult measure(const Point& point, const RunOptions& options) {
    const auto start = std::chrono::steady_clock::now();
    PointResult result;
    result.point = point;
    result.backend = "cuda";
    Request request{Request::Kind::measure, point, options};
    try {
      if (isolation_off()) {
        result = serve(request).result;
      } else {
        take(result, worker_.ask(request, options.point_time_limit_s, options.cancel), options);
      }
    } catch (const std::exception& error) {
      result.status = Status::failed;
      result.reason = error.what();
    }
    result.point = point;
    result.backend = "cuda";
    result.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  }

  static void take(PointResult& result, Exchange exchange, const RunOptions& options) {
    switch (exchange.end) {
      case Exchange::End::answered:
        result = std::move(exchange.answer.result);
        return;
      case Exchange::End::timed_out:
        result.status = Status::timed_out;
        result.reason = fmt::format("not done after {} s; the kernel may not end", options.point_time_limit_s);
        return;
      case Exchange::End::cancelled:
        result.status = Status::interrupted;
        result.reason = "interrupted";
        return;
      case Exchange::End::died:
        result.status = Status::failed;
        result.reason = fmt::format("the process that ran it ended by {}", exchange.how);
        return;
    }
  }

  // The emulator's counters go beside the measured ones; its access table and findings are of the same source lines.
  static void add_prediction(PointResult& result, PointResult emulated) {
    if (emulated.status != Status::ok && emulated.findings.empty()) {
      result.warnings.push_back(
          fmt::format("no prediction: the emulator says {}: {}", to_text(emulated.status), emulated.reason));
      return;
    }
    result.predicted = std::move(emulated.counters);
    result.sites = std::move(emulated.sites);
    for (Finding& finding : emulated.findings) {
      finding.message = "emulated: " + finding.message;
      result.findings.push_back(std::move(finding));
    }
    if (emulated.blocks_run < emulated.blocks_total) {
      result.warnings.push_back(
          fmt::format("the prediction comes from {} of {} blocks", emulated.blocks_run, emulated.blocks_total));
    }
  }

  std::unique_ptr<Backend> predictor_;
  mutable Worker worker_;
  mutable std::optional<Machine> machine_;
  std::string last_gpu_;
};

}  // namespace
}  // namespace cuda

std::unique_ptr<Backend> make_cuda_backend(std::unique_ptr<Backend> predictor) {
  return std::make_unique<cuda::CudaBackend>(std::move(predictor));
}

}  // namespace gpuexp
