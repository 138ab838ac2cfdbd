// Buffer elements as bytes: filling inputs and reading outputs, from and to float64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "kernels/problem.h"

namespace gpuexp::cuda {

// Element `i` of a buffer of this type. The value must be representable: inputs are rounded to their dtype already.
void store_element(DType type, std::byte* buffer, std::int64_t i, double value);
double load_element(DType type, const std::byte* buffer, std::int64_t i);

// Calls `work(first, last)` for parts of 0..count-1 on `threads` threads; what one throws is thrown here.
void in_parallel(std::int64_t count, int threads, const std::function<void(std::int64_t, std::int64_t)>& work);

// All elements of an input buffer, as the workload defines them.
void fill_input(const Workload& workload, std::size_t buffer, std::span<std::byte> bytes, int threads);

}  // namespace gpuexp::cuda
