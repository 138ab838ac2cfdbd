// The backend's own kernels: what timing and verification need on the device. All are asynchronous on their stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace gpuexp::cuda {

// Clocks of one multiprocessor at one moment.
struct Stamp {
  std::uint64_t cycles = 0;       // of the SM: counts at its current clock
  std::uint64_t nanoseconds = 0;  // of the GPU's global timer
  std::uint32_t multiprocessor = 0;
};

// Keeps the stream busy for `nanoseconds`, so that what is queued behind it starts without waiting for the host; writes
// the clocks of its start. `stamp` is pinned host memory.
void queue_delay(std::uint64_t nanoseconds, Stamp* stamp, cudaStream_t stream);
// Writes the clocks at this place of the stream.
void queue_stamp(Stamp* stamp, cudaStream_t stream);
// Does nothing: what a launch and its events cost by themselves.
void queue_empty(cudaStream_t stream);
// Reads `size` bytes (a multiple of 16). Reading twice the L2's size evicts all else and leaves the L2 full of clean
// lines; writing would leave dirty ones, whose eviction the next kernel would pay for.
void queue_read(const void* data, std::size_t size, cudaStream_t stream);
// Adds a hash of the bytes and their places to *sum (device memory): equal sums mean equal contents.
void queue_checksum(const void* data, std::size_t size, unsigned long long* sum, cudaStream_t stream);

}  // namespace gpuexp::cuda
