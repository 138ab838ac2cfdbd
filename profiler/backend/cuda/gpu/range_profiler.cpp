// The replay loop over CUPTI's range profiler; the header tells it.
#include "profiler/backend/cuda/gpu/range_profiler.h"

#include <utility>

#include "profiler/backend/cuda/gpu/cuda_call.h"

namespace gpuexp::cuda {
namespace {

CUcontext current_context() {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &entry, 12000, cudaEnableDefault, &found),
        "cudaGetDriverEntryPointByVersion");
  CUcontext context = nullptr;
  if (entry != nullptr) reinterpret_cast<CUresult (*)(CUcontext*)>(entry)(&context);
  if (context == nullptr) throw CudaFailure(cudaErrorDeviceUninitialized, "cuCtxGetCurrent");
  return context;
}

std::vector<std::uint8_t> counter_availability(CUcontext context) {
  CUpti_Profiler_GetCounterAvailability_Params params{};
  params.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE;
  params.ctx = context;
  check_cupti(cupti().get_counter_availability(&params), "cuptiProfilerGetCounterAvailability");
  std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  check_cupti(cupti().get_counter_availability(&params), "cuptiProfilerGetCounterAvailability");
  return image;
}

}  // namespace

// Enabled from construction to destruction.
class RangeProfiler::Session {
 public:
  explicit Session(CUcontext context) {
    CUpti_RangeProfiler_Enable_Params params{};
    params.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE;
    params.ctx = context;
    check_cupti(cupti().range_enable(&params), "cuptiRangeProfilerEnable");
    object_ = params.pRangeProfilerObject;
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    CUpti_RangeProfiler_Disable_Params params{};
    params.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE;
    params.pRangeProfilerObject = object_;
    cupti().range_disable(&params);
  }

  // An empty image for the values of a set; made once per session, as it takes 2 ms.
  std::vector<std::uint8_t> counter_image(const MetricSet& set) {
    if (empty_image_.empty()) empty_image_ = make_counter_image(set);
    return empty_image_;
  }

  void configure(const MetricSet& set, std::vector<std::uint8_t>& image) {
    CUpti_RangeProfiler_SetConfig_Params params{};
    params.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE;
    params.pRangeProfilerObject = object_;
    params.configSize = set.config().size();
    params.pConfig = set.config().data();
    params.counterDataImageSize = image.size();
    params.pCounterDataImage = image.data();
    params.range = CUPTI_UserRange;
    params.replayMode = CUPTI_UserReplay;
    params.maxRangesPerPass = 1;
    params.numNestingLevels = 1;
    params.minNestingLevel = 1;
    params.targetNestingLevel = 1;
    check_cupti(cupti().range_set_config(&params), "cuptiRangeProfilerSetConfig");
  }

  // One pass; true after the last one.
  bool pass(const std::function<void()>& prepare, const std::function<void()>& launch) {
    CUpti_RangeProfiler_Start_Params start{};
    start.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE;
    start.pRangeProfilerObject = object_;
    check_cupti(cupti().range_start(&start), "cuptiRangeProfilerStart");
    prepare();
    CUpti_RangeProfiler_PushRange_Params push{};
    push.structSize = CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE;
    push.pRangeProfilerObject = object_;
    push.pRangeName = "point";
    check_cupti(cupti().range_push(&push), "cuptiRangeProfilerPushRange");
    launch();
    CUpti_RangeProfiler_PopRange_Params pop{};
    pop.structSize = CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE;
    pop.pRangeProfilerObject = object_;
    check_cupti(cupti().range_pop(&pop), "cuptiRangeProfilerPopRange");
    CUpti_RangeProfiler_Stop_Params stop{};
    stop.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE;
    stop.pRangeProfilerObject = object_;
    check_cupti(cupti().range_stop(&stop), "cuptiRangeProfilerStop");
    return stop.isAllPassSubmitted != 0;
  }

  void decode() {
    CUpti_RangeProfiler_DecodeData_Params params{};
    params.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE;
    params.pRangeProfilerObject = object_;
    check_cupti(cupti().range_decode(&params), "cuptiRangeProfilerDecodeData");
  }

 private:
  std::vector<std::uint8_t> make_counter_image(const MetricSet& set) {
    std::vector<const char*> names = set.names();
    CUpti_RangeProfiler_GetCounterDataSize_Params size{};
    size.structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE;
    size.pRangeProfilerObject = object_;
    size.pMetricNames = names.data();
    size.numMetrics = names.size();
    size.maxNumOfRanges = 1;
    size.maxNumRangeTreeNodes = 1;
    check_cupti(cupti().range_get_counter_data_size(&size), "cuptiRangeProfilerGetCounterDataSize");
    std::vector<std::uint8_t> image(size.counterDataSize);
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params initialize{};
    initialize.structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE;
    initialize.pRangeProfilerObject = object_;
    initialize.counterDataSize = image.size();
    initialize.pCounterData = image.data();
    check_cupti(cupti().range_counter_data_initialize(&initialize), "cuptiRangeProfilerCounterDataImageInitialize");
    return image;
  }

  CUpti_RangeProfiler_Object* object_ = nullptr;
  std::vector<std::uint8_t> empty_image_;
};

struct RangeProfiler::State {
  CUcontext context = nullptr;
  std::unique_ptr<Session> session;       // enabled at the first count; dropped after an error
  const MetricSet* configured = nullptr;  // what the session counts
  std::string chip;
  std::vector<std::uint8_t> availability;
  std::map<std::vector<std::string>, std::unique_ptr<MetricSet>> sets;
};

RangeProfiler::RangeProfiler(int device) : state_(std::make_unique<State>()) {
  if (!cupti().problem.empty()) throw CuptiFailure(CounterError{cupti().problem, ""});
  CUpti_Profiler_Initialize_Params initialize{};
  initialize.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE;
  check_cupti(cupti().profiler_initialize(&initialize), "cuptiProfilerInitialize");
  CUpti_Device_GetChipName_Params chip{};
  chip.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE;
  chip.deviceIndex = static_cast<std::size_t>(device);
  check_cupti(cupti().device_get_chip_name(&chip), "cuptiDeviceGetChipName");
  state_->chip = chip.pChipName;
  state_->context = current_context();
  state_->availability = counter_availability(state_->context);
}
RangeProfiler::~RangeProfiler() = default;

const std::string& RangeProfiler::chip() const { return state_->chip; }

const MetricSet& RangeProfiler::metrics(const std::vector<std::string>& names) {
  std::unique_ptr<MetricSet>& set = state_->sets[names];
  if (!set) set = std::make_unique<MetricSet>(state_->chip, names, state_->availability);
  return *set;
}

std::map<std::string, double> RangeProfiler::count(const MetricSet& set, const std::function<void()>& prepare,
                                                   const std::function<void()>& launch) {
  if (set.names().empty()) return {};
  // A session that has counted one set reads nothing of another: a new set needs a new session.
  if (state_->configured != &set) state_->session.reset();
  state_->configured = &set;
  if (!state_->session) state_->session = std::make_unique<Session>(state_->context);
  try {
    return replay(*state_->session, set, prepare, launch);
  } catch (...) {
    state_->session.reset();  // in the middle of a pass it is of no more use
    throw;
  }
}

std::map<std::string, double> RangeProfiler::replay(Session& session, const MetricSet& set,
                                                    const std::function<void()>& prepare,
                                                    const std::function<void()>& launch) {
  std::vector<std::uint8_t> image = session.counter_image(set);
  session.configure(set, image);
  // The passes are known; the bound only keeps a driver that never says "done" from looping for ever.
  for (std::size_t pass = 0; pass < 2 * set.passes() + 8; ++pass) {
    if (session.pass(prepare, launch)) {
      session.decode();
      return set.values(image);
    }
  }
  throw CuptiFailure(CounterError{"CUPTI asked for more passes than it had announced",
                                  "choose fewer counters, and report this with the output of `gpuexp doctor`"});
}

}  // namespace gpuexp::cuda
