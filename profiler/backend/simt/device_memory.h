// The emulated device's global memory: one reserved range of addresses in which every buffer of a workload lies between
// red zones. Contents appear when first touched, so that a buffer of any size costs only what a run uses of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/problem.h"

namespace gpuexp::simt {

// A reserved, zero-filled range of address space; pages take memory once touched. Throws std::bad_alloc.
class Mapping {
 public:
  Mapping() = default;
  explicit Mapping(std::uint64_t bytes);
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Touching any byte may then take 2 MiB.
  void use_large_pages();
  // Back to zero, giving the memory back.
  void clear();

 private:
  std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
};

// Contents are made in pieces of this many bytes.
inline constexpr int kGranuleShift = 9;
inline constexpr std::uint64_t kGranuleBytes = std::uint64_t{1} << kGranuleShift;
// Every buffer starts in a slot of its own, the last slot of each being a red zone.
inline constexpr int kSlotShift = 21;

// What the hooks need to know of a buffer: as small and flat as can be.
struct BufferView {
  std::uint64_t begin = 0;           // address of element 0; a multiple of 2 MiB
  std::uint64_t size = 0;            // bytes
  std::uint8_t* granules = nullptr;  // kReady once the piece has its contents
  bool writable = false;
  bool tracked = false;                    // races can happen in it
  bool initialised = false;                // has contents before the run
  std::uint8_t element_log2 = 0;           // size of an element
  std::uint16_t index = 0;                 // in Workload::buffers()
  std::uint8_t* written = nullptr;         // per element: 1 once a kernel has written it; null for inputs
  std::uint8_t* written_chunks = nullptr;  // per 4096 elements: 1 when any of them was written
  std::uint8_t* sectors[3] = {};  // per 32-byte sector: 1 once loaded, stored, atomically updated; null = not kept
};
inline constexpr std::uint8_t kReady = 2;
inline constexpr int kChunkShift = 12;

class DeviceMemory {
 public:
  // Reserves addresses; `keep_sectors`: record distinct sectors. Throws std::bad_alloc when addresses run out.
  // `limit_bytes`: touched() beyond it makes over_limit() true.
  DeviceMemory(const Workload& workload, bool keep_sectors, std::uint64_t limit_bytes);

  [[nodiscard]] std::uint64_t base() const { return base_; }
  [[nodiscard]] std::uint64_t size() const { return arena_.size(); }
  [[nodiscard]] const BufferView* views() const { return views_.data(); }
  [[nodiscard]] const std::vector<BufferSpec>& specs() const { return workload_.buffers(); }
  // Per slot: 1 + index of its buffer's view; 0 for none.
  [[nodiscard]] const std::uint16_t* slots() const { return slots_.data(); }
  [[nodiscard]] const BufferView* find(std::uint64_t address) const;

  // Makes the granule that holds byte `offset` of the buffer. Any thread.
  void fill(const BufferView& view, std::uint64_t offset);
  [[nodiscard]] bool over_limit() const { return touched_.load(std::memory_order_relaxed) > limit_; }

  // Element i as float64, as the kernel left it; outputs in granules nobody touched read as poison.
  [[nodiscard]] double element(std::size_t buffer, std::int64_t i) const;
  [[nodiscard]] bool was_written(std::size_t buffer, std::int64_t i) const;
  // Distinct sectors of one kind (0 load, 1 store, 2 atomic), over all buffers.
  [[nodiscard]] std::uint64_t distinct_sectors(int kind) const;
  // Forgets everything: contents, writes, sectors.
  void reset();

 private:
  const Workload& workload_;
  Mapping arena_;
  std::uint64_t base_ = 0;
  std::vector<BufferView> views_;
  std::vector<std::uint16_t> slots_;
  std::vector<Mapping> maps_;
  std::atomic<std::uint64_t> touched_{0};
  std::uint64_t limit_;
};

// Writes `value` as one element of `type`, and reads it back. The value must be one of the type's.
void store_element(DType type, std::byte* to, double value);
double load_element(DType type, const std::byte* from);

}  // namespace gpuexp::simt
