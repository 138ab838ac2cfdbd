// Random numbers as pure functions of (seed, stream, index), the same on every machine: what generated inputs are made
// of.
#pragma once

#include <cstdint>

namespace gpuexp {

// The output function of splitmix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014).
constexpr std::uint64_t splitmix64(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

// 64 random bits; `stream` tells sequences of one seed apart.
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return splitmix64(splitmix64(splitmix64(seed) + stream) + index);
}

// Uniform in [0, 1), a multiple of 2^-53.
constexpr double random_unit(std::uint64_t bits) { return static_cast<double>(bits >> 11U) * 0x1p-53; }

// Uniform in 0 .. n-1 (n > 0); the bias is below n / 2^64.
constexpr std::uint64_t random_below(std::uint64_t bits, std::uint64_t n) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(bits) * n) >> 64U);
}

}  // namespace gpuexp
