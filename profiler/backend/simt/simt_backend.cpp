// One point from its names to its result: launch function, blocks, counters, findings, verification.
#include "profiler/backend/simt/simt_backend.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <fstream>
#include <new>
#include <thread>

#include "profiler/backend/simt/describe.h"
#include "profiler/backend/simt/grid_runner.h"
#include "profiler/backend/simt/symbols.h"
#include "profiler/backend/simt/verify.h"
#include "profiler/backend/simt/worker_pool.h"
#include "profiler/core/error.h"
#include "profiler/core/nearest.h"
#include "profiler/counters/counters.h"
#include "profiler/registry/launch_context.h"
#include "profiler/registry/registry.h"

#define GPUEXP_SIMT 1
#include "kernels/variant.h"

extern "C" {
extern thread_local char gpuexp_simt_dynamic_shared[228 * 1024];
}

namespace gpuexp {
namespace simt {
namespace {

// CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability" (8.0 and 9.0).
constexpr std::int64_t kMaxGridX = 2147483647, kMaxGridYZ = 65535;
constexpr std::int64_t kMaxBlockXY = 1024, kMaxBlockZ = 64;
constexpr std::uint64_t kMaxStaticShared = 48 * 1024, kMaxShared = 227 * 1024;

using Clock = std::chrono::steady_clock;

struct PlannedLaunch {
  LaunchConfig config;
  const void* kernel = nullptr;
};

Dim3 dim(const Extent& extent) { return {extent.x, extent.y, extent.z}; }
std::string text(const Extent& extent) { return fmt::format("{} x {} x {}", extent.x, extent.y, extent.z); }
bool is_empty(const Extent& extent) { return extent.x == 0 || extent.y == 0 || extent.z == 0; }

int hardware_threads() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

// Bytes that the machine can still give; 0 when it does not say.
std::uint64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  std::uint64_t kib = 0;
  while (file >> key >> kib) {
    std::getline(file, unit);
    if (key == "MemAvailable:") return kib * 1024;
  }
  return 0;
}

// Shared memory of a kernel: its variables by the symbol table, and the dynamic block behind `extern __shared__`.
SharedLayout layout_of(const void* kernel, std::uint64_t dynamic_bytes) {
  const std::string& kernel_symbol = mangled_function(kernel);
  SharedLayout layout;
  const TlsBlock tls = tls_block();
  layout.segment_bytes = tls.size;
  for (const TlsVariable& variable : tls_variables()) {
    const bool own = variable.function == kernel_symbol;
    const bool of_file = variable.function.empty() && kernel_symbol.find(variable.unit) != std::string::npos;
    if ((!own && !of_file) || variable.size == 0) continue;
    layout.variables.push_back({variable.name, variable.offset, variable.size});
    layout.static_bytes += variable.size;
  }
  if (dynamic_bytes > 0) {
    const auto offset = static_cast<std::uint64_t>(gpuexp_simt_dynamic_shared - tls.begin);
    const std::string& name = dynamic_shared_name(kernel);
    layout.variables.push_back({name.empty() ? kUnnamedShared : name, offset, dynamic_bytes});
  }
  layout.run = Mapping(tls.size + 1);
  for (const SharedVariable& variable : layout.variables) {
    for (std::uint64_t i = 0; i < variable.size; ++i) {
      layout.run.data()[variable.offset + i] = static_cast<std::byte>(std::min<std::uint64_t>(variable.size - i, 16));
    }
  }
  return layout;
}

// Why a launch is not possible on any CUDA device; empty when it is. All in 64 bits.
std::string refusal_of(const PlannedLaunch& launch, std::uint64_t static_shared) {
  const Extent& grid = launch.config.grid;
  const Extent& block = launch.config.block;
  const std::string kernel = kernel_name(launch.kernel);
  const auto negative = [](const Extent& e) { return e.x < 0 || e.y < 0 || e.z < 0; };
  if (negative(grid) || grid.x > kMaxGridX || grid.y > kMaxGridYZ || grid.z > kMaxGridYZ) {
    return fmt::format("{}: a grid of {} blocks is invalid: at most {} x {} x {}", kernel, text(grid), kMaxGridX,
                       kMaxGridYZ, kMaxGridYZ);
  }
  const bool bad_block = negative(block) || is_empty(block) || block.x > kMaxBlockXY || block.y > kMaxBlockXY ||
                         block.z > kMaxBlockZ || block.x * block.y * block.z > kMaxBlockThreads;
  if (bad_block) {
    return fmt::format("{}: a block of {} threads is invalid: at most {} threads, at most {} x {} x {}", kernel,
                       text(block), kMaxBlockThreads, kMaxBlockXY, kMaxBlockXY, kMaxBlockZ);
  }
  if (static_shared > kMaxStaticShared) {
    return fmt::format("{}: {} bytes of static shared memory: at most {}", kernel, static_shared, kMaxStaticShared);
  }
  const long long dynamic = launch.config.dynamic_shared_bytes;
  if (dynamic < 0 || static_shared + static_cast<std::uint64_t>(dynamic) > kMaxShared) {
    return fmt::format("{}: {} bytes of static and {} of dynamic shared memory: at most {} together", kernel,
                       static_shared, dynamic, kMaxShared);
  }
  return {};
}

// What the launch function of the variant sees. It is called twice: first to learn the launches, then to run them.
class Context final : public LaunchContext {
 public:
  Context(const Point& point, const Workload& workload, DeviceMemory& memory)
      : point_(point), workload_(workload), memory_(memory) {}

  std::function<void(const PlannedLaunch&, void (*)(const void*), const void*)> on_launch;

  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] const std::string& unsupported_reason() const { return unsupported_; }
  [[nodiscard]] bool usable() const { return error_.empty() && unsupported_.empty(); }
  void fail(const std::string& reason) {
    if (error_.empty()) error_ = reason;
  }

  std::int64_t param(std::string_view name) override {
    return guarded([&] { return point_.params.integer(name); });
  }
  bool param_is(std::string_view name, std::string_view word) override {
    return guarded([&] { return point_.params.word(name) == word; });
  }
  std::int64_t value(std::string_view list, std::int64_t index) override {
    return guarded([&] { return workload_.host_value(list, index); });
  }

  void* address(std::string_view buffer, std::uint64_t element_bytes, bool several, bool writable) override {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < memory_.specs().size(); ++i) {
      const BufferSpec& spec = memory_.specs()[i];
      names.push_back(spec.name);
      if (spec.name != buffer) continue;
      const auto size = static_cast<std::uint64_t>(size_bytes(spec.dtype));
      if (!elements_fit(element_bytes, several, size)) {
        fail(fmt::format("the variant takes elements of {} bytes from buffer {}, whose {} elements have {}",
                         element_bytes, buffer, to_text(spec.dtype), size));
      }
      if (writable && spec.role == Role::in) fail(fmt::format("the variant asks to write to {}, an input", buffer));
      return reinterpret_cast<void*>(memory_.views()[i].begin);
    }
    fail(fmt::format("the problem has no buffer '{}'; it has {}{}", buffer, list_names(names),
                     did_you_mean(buffer, names)));
    return nullptr;
  }

  void unsupported(std::string_view reason) override {
    if (unsupported_.empty()) unsupported_ = reason;
  }

  void emulate(const LaunchConfig& config, const void* kernel, void (*invoke_body)(const void*),
               const void* body) override {
    if (usable()) on_launch({config, kernel}, invoke_body, body);
  }
  bool cuda_begin(const LaunchConfig& /*config*/, const void* /*kernel*/) override { return false; }
  void cuda_end() override {}
  void* stream() override { return nullptr; }

 private:
  // An exception must not cross the kernel file's code, which is compiled without them.
  template <class F>
  auto guarded(F&& ask) -> decltype(ask()) {
    try {
      return ask();
    } catch (const std::exception& problem) {
      fail(problem.what());
      return {};
    }
  }

  const Point& point_;
  const Workload& workload_;
  DeviceMemory& memory_;
  std::string error_, unsupported_;
};

// Everything about the run of one point.
class PointRun {
 public:
  PointRun(const Point& point, const RunOptions& options, WorkerPool& pool, int threads)
      : options_(options), pool_(pool), threads_(threads) {
    result_.point = point;
    result_.backend = "simt";
    deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(std::min(options.point_time_limit_s, 1e7)));
  }

  PointResult run() {
    const auto begin = Clock::now();
    try {
      prepare_and_run();
    } catch (const std::bad_alloc&) {
      end(Status::out_of_memory, "the machine cannot give the memory that this point needs; make it smaller");
    } catch (const std::exception& error) {
      end(Status::failed, error.what());
    }
    result_.wall_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return std::move(result_);
  }

 private:
  void end(Status status, const std::string& reason) {
    result_.status = status;
    result_.reason = reason;
    if (result_.verification.state == Verification::State::not_run && result_.verification.scope.empty()) {
      result_.verification.scope = reason;
    }
  }

  void prepare_and_run();
  bool plan(const VariantInstance& instance, Context& context);
  bool decide_whole(const VariantInstance& instance, Context& context);
  void launch_all(const VariantInstance& instance, Context& context);
  std::unique_ptr<LaunchJob> job_for(const PlannedLaunch& launch, const SharedLayout& layout,
                                     void (*invoke_body)(const void*), const void* body);
  bool check_memory();
  bool stopped(const LaunchJob& job);
  void add_counts(const GridCounts& counts, const LaunchJob& job);
  void forget_counts();
  void fill_counters();
  void check_results();

  const RunOptions& options_;
  WorkerPool& pool_;
  int threads_;
  Clock::time_point deadline_;
  PointResult result_;
  std::unique_ptr<Workload> workload_;
  std::unique_ptr<DeviceMemory> memory_;
  std::uint64_t memory_limit_ = 0;
  std::vector<PlannedLaunch> launches_;
  std::uint64_t sample_blocks_ = 0;  // 0 = run all blocks
  SimtTotals totals_;
  std::array<double, kTotalFields> variance_{};
  std::array<bool, kTotalFields> estimated_{};
};

void PointRun::prepare_and_run() {
  const Variant* variant = find_variant(result_.point.variant);
  if (variant == nullptr) return end(Status::failed, fmt::format("unknown variant '{}'", result_.point.variant));
  if (!variant->broken.empty()) result_.expected_finding = variant->broken;
  if (!variant->cuda_only.empty()) return end(Status::unsupported, "cuda only: " + variant->cuda_only);
  const VariantInstance* instance = variant->instance_for(result_.point.params);
  if (instance == nullptr || instance->simt == nullptr) {
    return end(Status::unsupported, fmt::format("{} is not compiled for these parameters", variant->name));
  }
  const Problem* problem = find_problem(variant->problem);
  if (problem == nullptr) return end(Status::failed, fmt::format("unknown problem '{}'", variant->problem));
  workload_ = problem->make(result_.point.params, result_.point.seed);
  result_.flops = workload_->flops();
  result_.compulsory_load_bytes = workload_->compulsory_load_bytes();
  result_.compulsory_store_bytes = workload_->compulsory_store_bytes();
  result_.facts = workload_->facts();

  memory_limit_ = options_.memory_limit_bytes != 0 ? options_.memory_limit_bytes : available_memory();
  if (memory_limit_ == 0) memory_limit_ = UINT64_MAX;
  memory_ = std::make_unique<DeviceMemory>(*workload_, false, memory_limit_);
  Context context(result_.point, *workload_, *memory_);
  if (!plan(*instance, context)) return;
  if (!decide_whole(*instance, context)) return;
  if (!check_memory()) return;
  memory_ = std::make_unique<DeviceMemory>(*workload_, sample_blocks_ == 0, memory_limit_);
  Context final_context(result_.point, *workload_, *memory_);
  launch_all(*instance, final_context);
  if (result_.status != Status::ok) return;
  fill_counters();
  check_results();
}

// Learns what would be launched, and refuses what no device can launch.
bool PointRun::plan(const VariantInstance& instance, Context& context) {
  context.on_launch = [&](const PlannedLaunch& launch, void (*)(const void*), const void*) {
    const Extent& grid = launch.config.grid;
    if (is_empty(grid) && grid.x >= 0 && grid.y >= 0 && grid.z >= 0) return;  // nothing to compute
    const SharedLayout layout = layout_of(launch.kernel, 0);
    const std::string refusal = refusal_of(launch, layout.static_bytes);
    if (!refusal.empty()) return context.fail(refusal);
    launches_.push_back(launch);
    result_.blocks_total += dim(grid).count();
    result_.launches.push_back({kernel_name(launch.kernel), dim(grid), dim(launch.config.block),
                                static_cast<std::int64_t>(layout.static_bytes), launch.config.dynamic_shared_bytes,
                                std::nullopt});
  };
  instance.simt(Launch(static_cast<LaunchContext*>(&context)));
  if (!context.unsupported_reason().empty()) end(Status::unsupported, context.unsupported_reason());
  if (!context.error().empty()) end(Status::failed, context.error());
  return context.usable();
}

std::unique_ptr<LaunchJob> PointRun::job_for(const PlannedLaunch& launch, const SharedLayout& layout,
                                             void (*invoke_body)(const void*), const void* body) {
  auto job = std::make_unique<LaunchJob>(dim(launch.config.grid), dim(launch.config.block));
  job->kernel = launch.kernel;
  job->kernel_symbol = mangled_function(launch.kernel);
  job->invoke_body = invoke_body;
  job->body = body;
  job->shared = &layout;
  job->memory = memory_.get();
  job->schedule = options_.schedule;
  job->schedule_seed = options_.schedule_seed;
  job->cancel = options_.cancel;
  job->deadline = deadline_;
  return job;
}

bool PointRun::stopped(const LaunchJob& job) {
  switch (job.stopped()) {
    case Stop::none:
      return false;
    case Stop::cancelled:
      end(Status::interrupted, "interrupted");
      break;
    case Stop::timed_out:
      end(Status::timed_out,
          fmt::format("{}: not finished within {} s", kernel_name(job.kernel), options_.point_time_limit_s));
      break;
    case Stop::over_memory:
      end(Status::out_of_memory,
          fmt::format("its buffers take more than {} bytes; raise the limit or make it smaller", memory_limit_));
      break;
    case Stop::refused:
      end(Status::failed, job.refusal());
      break;
    case Stop::needs_all_blocks:
      end(Status::failed, "a sampled block used a global atomic");
      break;
  }
  return true;
}

// Whether all blocks are run (sample_blocks_ = 0) or a sample: by the cost of one block of the largest stratum. Several
// launches, launches with global atomics and data-dependent workloads always run whole.
bool PointRun::decide_whole(const VariantInstance& instance, Context& context) {
  if (options_.lane_access_budget == 0 || launches_.size() != 1 || workload_->data_dependent()) return true;
  const Dim3 grid = dim(launches_.front().config.grid);
  const std::vector<SampledBlock> least = plan_sample(grid, 0);
  if (least.size() == static_cast<std::size_t>(grid.count())) return true;
  const std::vector<Stratum> strata = strata_of(grid);
  const auto largest = std::max_element(strata.begin(), strata.end(),
                                        [](const Stratum& a, const Stratum& b) { return a.blocks() < b.blocks(); });
  const std::uint64_t probe = sample(*largest, grid, 3).back();  // neither its first nor its last block, if it has more
  bool good = true;
  context.on_launch = [&](const PlannedLaunch& launch, void (*invoke_body)(const void*), const void* body) {
    if (is_empty(launch.config.grid)) return;
    const SharedLayout layout =
        layout_of(launch.kernel, static_cast<std::uint64_t>(launch.config.dynamic_shared_bytes));
    const auto job = job_for(launch, layout, invoke_body, body);
    const BlockCost cost = probe_block(pool_, *job, probe);
    if (job->stopped() == Stop::needs_all_blocks) return;
    if (stopped(*job)) {
      good = false;
      return;
    }
    const std::uint64_t budget = options_.lane_access_budget;
    if (cost.lane_accesses == 0) return;
    // Threads that access nothing are started all the same.
    const std::uint64_t least_effort =
        std::max(cost.lane_accesses, static_cast<std::uint64_t>(dim(launch.config.block).count()));
    if (budget / least_effort >= static_cast<std::uint64_t>(grid.count())) return;
    // A request of few lanes takes the emulator as long as one of several.
    constexpr std::uint64_t least_lanes = 8;
    const std::uint64_t effort = std::max(least_effort, least_lanes * cost.requests);
    // Samples beyond the least sharpen estimates, which few counters need: they get a part of the budget.
    constexpr std::uint64_t part = 4;
    sample_blocks_ = std::max<std::uint64_t>(budget / part / effort, least.size());
  };
  instance.simt(Launch(static_cast<LaunchContext*>(&context)));
  return good;
}

// A run of all blocks touches every byte, so its memory can be refused before it starts.
bool PointRun::check_memory() {
  if (sample_blocks_ != 0) return true;
  std::uint64_t bytes = 0;
  for (const BufferSpec& spec : workload_->buffers()) {
    bytes += static_cast<std::uint64_t>(spec.elements) * static_cast<std::uint64_t>(size_bytes(spec.dtype));
  }
  if (bytes <= memory_limit_) return true;
  end(Status::out_of_memory,
      fmt::format("its buffers take {} bytes, and {} are allowed or available; make it smaller", bytes, memory_limit_));
  return false;
}

void PointRun::launch_all(const VariantInstance& instance, Context& context) {
  bool again = false;
  context.on_launch = [&](const PlannedLaunch& launch, void (*invoke_body)(const void*), const void* body) {
    if (result_.status != Status::ok || again || is_empty(launch.config.grid)) return;
    const SharedLayout layout =
        layout_of(launch.kernel, static_cast<std::uint64_t>(launch.config.dynamic_shared_bytes));
    const auto job = job_for(launch, layout, invoke_body, body);
    const GridCounts counts = sample_blocks_ == 0
                                  ? run_all_blocks(pool_, threads_, *job)
                                  : run_sample(pool_, threads_, *job, plan_sample(job->grid(), sample_blocks_));
    if (job->stopped() == Stop::needs_all_blocks) {
      again = true;
      return;
    }
    add_counts(counts, *job);
    stopped(*job);
  };
  instance.simt(Launch(static_cast<LaunchContext*>(&context)));
  if (!context.error().empty()) return end(Status::failed, context.error());
  // What is wrong within blocks may also make blocks write over each other: then their order shows, and only that of
  // one thread is always the same.
  const bool unsound = result_.status == Status::ok && threads_ > 1 && !result_.findings.empty();
  if (!again && !unsound) return;
  if (again) sample_blocks_ = 0;  // only some blocks use atomics, and the probe was not one of them
  if (unsound) threads_ = 1;
  forget_counts();
  if (!check_memory()) return;
  memory_ = std::make_unique<DeviceMemory>(*workload_, sample_blocks_ == 0, memory_limit_);
  Context afresh(result_.point, *workload_, *memory_);
  launch_all(instance, afresh);
}

void PointRun::forget_counts() {
  result_.findings.clear();
  result_.sites.clear();
  result_.blocks_run = 0;
  totals_ = {};
  variance_ = {};
  estimated_ = {};
}

// A store that several threads make to one place at once.
bool races_with_itself(const Finding& finding) {
  return finding.kind == "race" && (!finding.other_site || finding.other_site->to_text() == finding.site.to_text());
}

void PointRun::add_counts(const GridCounts& counts, const LaunchJob& job) {
  std::vector<Finding> findings = describe_findings(counts.findings, job);
  if (workload_->equal_stores()) std::erase_if(findings, races_with_itself);
  merge_findings(result_.findings, findings);
  merge_sites(result_.sites, describe_sites(counts, job));
  auto sum = std::bit_cast<TotalFields>(totals_);
  const auto more = std::bit_cast<TotalFields>(counts.totals);
  for (std::size_t i = 0; i < kTotalFields; ++i) {
    sum[i] += more[i];
    variance_[i] += counts.variance[i];
    estimated_[i] = estimated_[i] || counts.estimated[i];
  }
  totals_ = std::bit_cast<SimtTotals>(sum);
  result_.blocks_run += static_cast<std::int64_t>(counts.blocks_run);
}

// A counter's error follows from those of the totals that it depends on: each is moved by its standard error in turn
// (the totals taken as independent). Distinct sectors exist only when every block was run.
void PointRun::fill_counters() {
  const bool sampled = sample_blocks_ != 0;
  if (!sampled) {
    totals_.global_load.distinct_sectors = memory_->distinct_sectors(0);
    totals_.global_store.distinct_sectors = memory_->distinct_sectors(1);
    totals_.global_atomic.distinct_sectors = memory_->distinct_sectors(2);
  }
  for (const Counter& counter : counter_table()) {
    if (counter.simt == nullptr) continue;
    Quantity value = counter.simt(totals_);
    if (sampled) {
      SimtTotals other = totals_;
      for (GlobalTotals* kind : {&other.global_load, &other.global_store, &other.global_atomic}) {
        kind->distinct_sectors += 1000;
      }
      if (counter.simt(other).number() != value.number()) {
        result_.counters.emplace(counter.id,
                                 Quantity::null("not known from a sample of blocks; the problem's compulsory "
                                                "bytes stand for it",
                                                Source::emulated));
        continue;
      }
    }
    double variance = 0;
    for (std::size_t i = 0; i < kTotalFields && value.has_value(); ++i) {
      if (!estimated_[i]) continue;
      auto fields = std::bit_cast<TotalFields>(totals_);
      const double error = std::sqrt(variance_[i]);
      const auto step = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(error));
      fields[i] += step;
      const std::optional<double> moved = counter.simt(std::bit_cast<SimtTotals>(fields)).number();
      if (!moved || *moved == *value.number()) continue;
      value.estimated = true;
      const double slope = (*moved - *value.number()) / static_cast<double>(step);
      variance += slope * slope * variance_[i];
    }
    value.standard_error = std::sqrt(variance);
    result_.counters.emplace(counter.id, std::move(value));
  }
}

void PointRun::check_results() {
  if (!options_.verify) {
    result_.verification.scope = "not asked for";
    return;
  }
  const auto late = [&] { return Clock::now() > deadline_ || (options_.cancel != nullptr && options_.cancel->load()); };
  result_.verification =
      verify(*workload_, *memory_, result_.blocks_run, result_.blocks_total, pool_, threads_, {}, late);
  if (!late() || result_.verification.state != Verification::State::not_run) return;
  const bool cancelled = options_.cancel != nullptr && options_.cancel->load();
  end(cancelled ? Status::interrupted : Status::timed_out,
      cancelled ? "interrupted" : fmt::format("not verified within {} s", options_.point_time_limit_s));
}

}  // namespace
}  // namespace simt

struct SimtBackend::State {
  std::unique_ptr<simt::WorkerPool> pool;
};

SimtBackend::SimtBackend() : state_(std::make_unique<State>()) {}
SimtBackend::~SimtBackend() = default;

std::string_view SimtBackend::description() const {
  return "emulates every thread of the kernel on the CPU and counts its memory accesses exactly; needs no GPU";
}

Availability SimtBackend::availability() const {
  if (simt::has_symbols()) return {true, {}, {}};
  return {false,
          "this program was stripped of its symbols, from which the emulator knows the kernels' shared variables",
          "use it as it was built, or put its debug file beside it"};
}

std::vector<std::pair<std::string, std::string>> SimtBackend::environment() const {
  const int threads = state_->pool ? state_->pool->size() : simt::hardware_threads();
#if defined(__clang__)
  const std::string compiler = fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  const std::string compiler = fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
  return {{"threads", std::to_string(threads)}, {"kernel_compiler", compiler}};
}

PointResult SimtBackend::run(const Point& point, const RunOptions& options) {
  if (const Availability here = availability(); !here.available) {
    PointResult result;
    result.point = point;
    result.backend = name();
    result.status = Status::failed;
    result.reason = result.verification.scope = fmt::format("{}; {}", here.reason, here.remedy);
    return result;
  }
  const int threads = options.threads > 0 ? options.threads : simt::hardware_threads();
  if (!state_->pool || state_->pool->size() < threads) state_->pool = std::make_unique<simt::WorkerPool>(threads);
  return simt::PointRun(point, options, *state_->pool, threads).run();
}

std::unique_ptr<Backend> make_simt_backend() { return std::make_unique<SimtBackend>(); }

// What kernel files call (kernels/variant.h)
// ---------------------------------------------------------------------------

namespace {
LaunchContext& context_of(const Launch& launch) { return *static_cast<LaunchContext*>(launch.state()); }
}  // namespace

long long Launch::param(const char* name) const { return context_of(*this).param(name); }
bool Launch::param_is(const char* name, const char* word) const { return context_of(*this).param_is(name, word); }
long long Launch::value(const char* list, long long index) const { return context_of(*this).value(list, index); }
void Launch::unsupported(const char* reason) const { context_of(*this).unsupported(reason); }
void* Launch::stream() const { return context_of(*this).stream(); }
void* Launch::library(const char* name) const { return context_of(*this).library(name); }
void Launch::failed(const char* reason, int code) const { context_of(*this).failed(reason, code); }
void* Launch::prepared(void* (*make)(const Launch&), void (*destroy)(void*)) const {
  return context_of(*this).prepared(*this, make, destroy);
}
void* Launch::address(const char* buffer, unsigned long element_bytes, bool several, bool writable) const {
  return context_of(*this).address(buffer, element_bytes, several, writable);
}
void Launch::emulate(const LaunchConfig& config, const void* kernel, void (*invoke_body)(const void*),
                     const void* body) const {
  context_of(*this).emulate(config, kernel, invoke_body, body);
}
bool Launch::cuda_begin(const LaunchConfig& config, const void* kernel) const {
  return context_of(*this).cuda_begin(config, kernel);
}
void Launch::cuda_end() const { context_of(*this).cuda_end(); }

}  // namespace gpuexp
