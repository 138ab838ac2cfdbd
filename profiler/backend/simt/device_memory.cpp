// The emulated device's global memory: reservation, contents on first touch, and what was written.
#include "profiler/backend/simt/device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

namespace gpuexp::simt {
namespace {

constexpr std::uint64_t kSlotBytes = std::uint64_t{1} << kSlotShift;
constexpr std::uint8_t kFilling = 1;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

// IEEE binary16 and bfloat16 from values that they hold exactly.
std::uint16_t to_half(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 48) & 0x8000U);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00U);
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (value == 0) return sign;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent);  // in [0.5, 1)
  if (exponent < -13) {                                            // subnormal: multiples of 2^-24
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::ldexp(std::abs(value), 24)));
  }
  const auto mantissa = static_cast<unsigned>(std::ldexp(fraction, 11)) & 0x3ffU;
  return static_cast<std::uint16_t>(sign | static_cast<unsigned>(exponent + 14) << 10U | mantissa);
}

double from_half(std::uint16_t half) {
  const int exponent = (half >> 10) & 0x1f;
  const int mantissa = half & 0x3ff;
  double value = 0;
  if (exponent == 31) {
    value = mantissa != 0 ? std::nan("") : HUGE_VAL;
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, -24);
  } else {
    value = std::ldexp(mantissa + 1024, exponent - 25);
  }
  return (half & 0x8000) != 0 ? -value : value;
}

template <class T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}
template <class T>
T get(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

Mapping::Mapping(std::uint64_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(memory);
}

Mapping::~Mapping() {
  if (data_ != nullptr) munmap(data_, size_);
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void Mapping::use_large_pages() {
  if (data_ != nullptr) madvise(data_, size_, MADV_HUGEPAGE);
}

void Mapping::clear() {
  if (data_ != nullptr) madvise(data_, size_, MADV_DONTNEED);
}

void store_element(DType type, std::byte* to, double value) {
  switch (type) {
    case DType::float64:
      return put(to, value);
    case DType::float32:
      return put(to, static_cast<float>(value));
    case DType::float16:
      return put(to, to_half(value));
    case DType::bfloat16:
      return put(to, static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16U));
    case DType::int64:
      return put(to, static_cast<std::int64_t>(value));
    case DType::int32:
      return put(to, static_cast<std::int32_t>(value));
    case DType::uint8:
      return put(to, static_cast<std::uint8_t>(value));
  }
}

double load_element(DType type, const std::byte* from) {
  switch (type) {
    case DType::float64:
      return get<double>(from);
    case DType::float32:
      return static_cast<double>(get<float>(from));
    case DType::float16:
      return from_half(get<std::uint16_t>(from));
    case DType::bfloat16:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(get<std::uint16_t>(from)) << 16U));
    case DType::int64:
      return static_cast<double>(get<std::int64_t>(from));
    case DType::int32:
      return get<std::int32_t>(from);
    case DType::uint8:
      return get<std::uint8_t>(from);
  }
  return std::nan("");
}

DeviceMemory::DeviceMemory(const Workload& workload, bool keep_sectors, std::uint64_t limit_bytes)
    : workload_(workload), limit_(limit_bytes) {
  std::uint64_t total = kSlotBytes;  // a red zone before the first buffer
  for (const BufferSpec& spec : specs()) {
    const auto bytes = static_cast<std::uint64_t>(spec.elements) * static_cast<std::uint64_t>(size_bytes(spec.dtype));
    BufferView view;
    view.begin = total;
    view.size = bytes;
    view.index = static_cast<std::uint16_t>(views_.size());
    view.element_log2 = static_cast<std::uint8_t>(std::countr_zero(static_cast<std::uint64_t>(size_bytes(spec.dtype))));
    view.writable = view.tracked = spec.role != Role::in;
    view.initialised = spec.role != Role::out;
    total += round_up(bytes, kSlotBytes) + kSlotBytes;
    views_.push_back(view);
  }
  arena_ = Mapping(total + kSlotBytes);
  // A run of all blocks touches nearly all of it. Page by page, two threads would wait for each other in the kernel.
  constexpr std::uint64_t most_for_large_pages = std::uint64_t{256} << 20U;
  if (keep_sectors && total <= most_for_large_pages) arena_.use_large_pages();
  base_ = round_up(reinterpret_cast<std::uint64_t>(arena_.data()), kSlotBytes);
  slots_.assign((total >> kSlotShift) + 2, 0);

  const auto add_map = [&](std::uint64_t bytes) {
    maps_.emplace_back(bytes + 1);
    return reinterpret_cast<std::uint8_t*>(maps_.back().data());
  };
  for (BufferView& view : views_) {
    const std::uint64_t first = view.begin >> kSlotShift;
    for (std::uint64_t slot = 0; slot <= view.size >> kSlotShift; ++slot) {
      slots_[first + slot] = static_cast<std::uint16_t>(view.index + 1);
    }
    view.begin += base_;
    view.granules = add_map((view.size >> kGranuleShift) + 1);
    if (view.tracked) {
      view.written = add_map(view.size >> view.element_log2);
      view.written_chunks = add_map((view.size >> view.element_log2 >> kChunkShift) + 1);
    }
    if (keep_sectors) {
      for (std::uint8_t*& map : view.sectors) map = add_map(view.size / 32 + 1);
    }
  }
}

const BufferView* DeviceMemory::find(std::uint64_t address) const {
  if (address - base_ >= arena_.size()) return nullptr;
  const std::uint64_t slot = (address - base_) >> kSlotShift;
  const std::uint16_t index = slot < slots_.size() ? slots_[slot] : std::uint16_t{0};
  return index == 0 ? nullptr : &views_[index - 1U];
}

void DeviceMemory::fill(const BufferView& view, std::uint64_t offset) {
  const std::uint64_t granule = offset >> kGranuleShift;
  std::atomic_ref<std::uint8_t> state(view.granules[granule]);
  std::uint8_t expected = 0;
  if (!state.compare_exchange_strong(expected, kFilling, std::memory_order_acquire)) {
    while (state.load(std::memory_order_acquire) != kReady) std::this_thread::yield();
    return;
  }
  const std::uint64_t begin = granule << kGranuleShift;
  const std::uint64_t end = std::min(begin + kGranuleBytes, view.size);
  auto* bytes = reinterpret_cast<std::byte*>(view.begin);
  const BufferSpec& spec = specs()[view.index];
  if (spec.role == Role::out) {
    std::memset(bytes + begin, 0xff, end - begin);  // NaN in every floating-point type
  } else {
    const std::uint64_t element = std::uint64_t{1} << view.element_log2;
    for (std::uint64_t at = begin; at < end; at += element) {
      store_element(spec.dtype, bytes + at,
                    workload_.input(view.index, static_cast<std::int64_t>(at >> view.element_log2)));
    }
  }
  // Granules of one page count as the share that they are: a sparse access pattern touches more than it fills.
  touched_.fetch_add(kGranuleBytes, std::memory_order_relaxed);
  state.store(kReady, std::memory_order_release);
}

double DeviceMemory::element(std::size_t buffer, std::int64_t i) const {
  const BufferView& view = views_[buffer];
  const std::uint64_t offset = static_cast<std::uint64_t>(i) << view.element_log2;
  if (view.granules[offset >> kGranuleShift] != kReady) {
    // What nobody touched is as it was: an input, or poison.
    return specs()[buffer].role == Role::out ? std::nan("") : workload_.input(buffer, i);
  }
  return load_element(specs()[buffer].dtype, reinterpret_cast<const std::byte*>(view.begin + offset));
}

bool DeviceMemory::was_written(std::size_t buffer, std::int64_t i) const {
  const BufferView& view = views_[buffer];
  return view.written != nullptr && view.written[i] != 0;
}

std::uint64_t DeviceMemory::distinct_sectors(int kind) const {
  std::uint64_t sum = 0;
  for (const BufferView& view : views_) {
    const std::uint8_t* map = view.sectors[kind];
    if (map == nullptr) continue;
    for (std::uint64_t i = 0; i <= view.size / 32; ++i) sum += map[i];
  }
  return sum;
}

void DeviceMemory::reset() {
  arena_.clear();
  for (Mapping& map : maps_) map.clear();
  touched_ = 0;
}

}  // namespace gpuexp::simt
