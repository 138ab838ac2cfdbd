// The one header a kernel file needs beside cuda_runtime.h: how to register a variant and how to launch its kernels.
// The same file is compiled by nvcc for the GPU and by the host compiler for the emulator, so this header holds no
// standard containers and emits no code that both copies would share by name.
#pragma once

#include <initializer_list>

#if defined(GPUEXP_SIMT)
#define GPUEXP_UNINSTRUMENTED __attribute__((no_sanitize("thread"), no_sanitize_coverage))
#if defined(__clang__)
#undef GPUEXP_UNINSTRUMENTED
// no_sanitize alone leaves clang's function entry hooks in.
#define GPUEXP_UNINSTRUMENTED __attribute__((no_sanitize("thread", "coverage"), disable_sanitizer_instrumentation))
#endif
#endif

namespace gpuexp {

// Sizes of a grid or a block. 64 bits wide, so that no product wraps before the backend has checked the limits.
struct Extent {
  long long x = 1, y = 1, z = 1;
};

struct LaunchConfig {
  Extent grid, block;
  long long dynamic_shared_bytes = 0;
};

// ceil(a / b) for a >= 0, b > 0: the number of blocks of b that cover a.
constexpr long long ceil_div(long long a, long long b) { return a / b + (a % b != 0); }

#if defined(GPUEXP_SIMT)
struct ThisBackend {  // distinct types keep the two copies of the launch template apart at link time
  static constexpr const char* name = "simt";
};
#elif defined(__CUDACC__)
struct ThisCudaBackend {
  static constexpr const char* name = "cuda";
};
using ThisBackend = ThisCudaBackend;
#else
#error "kernel files are compiled by nvcc or for the emulator; other code includes profiler/registry/registry.h"
#endif

// Whether a T may hold several elements of a buffer: a vector type (float4, __half2) or a 32-bit word of packed ones. A
// plain number may not: a double is no pair of floats.
template <class T>
inline constexpr bool holds_several = __is_class(T);
template <>
inline constexpr bool holds_several<unsigned> = true;

// What a launch function sees of the point in hand. A launch function sizes the grid, asks for its buffers by name and
// calls `run(config, kernel, arguments...)`, once or several times. Errors (unknown name, wrong element size, grid
// beyond the hardware's limits) end the point with a reason; the call then does nothing.
class Launch {
 public:
  // Integer value of a parameter of the problem or of the variant.
  [[nodiscard]] long long param(const char* name) const;
  // True when the word-valued parameter (dtype, ...) has this value.
  [[nodiscard]] bool param_is(const char* name, const char* word) const;
  // Entry of a list that the problem keeps on the host (Workload::host_value), for arguments passed by value.
  [[nodiscard]] long long value(const char* list, long long index = 0) const;
  // Device address of an input buffer (T: its element type, a vector of it, or `unsigned` for words of packed
  // elements).
  template <class T>
  [[nodiscard]] const T* in(const char* buffer) const {
    return static_cast<const T*>(address(buffer, sizeof(T), holds_several<T>, false));
  }
  // Device address of an output or in-out buffer.
  template <class T>
  [[nodiscard]] T* out(const char* buffer) const {
    return static_cast<T*>(address(buffer, sizeof(T), holds_several<T>, true));
  }
  // This shape or parameter combination is outside what the variant can do: the point is `unsupported`.
  void unsupported(const char* reason) const;

  // Launches `kernel` with `config`; arguments convert to the kernel's parameter types. A grid with a zero extent
  // launches nothing, as there is nothing to compute.
  template <class Backend = ThisBackend, class... P, class... A>
  void operator()(const LaunchConfig& config, void (*kernel)(P...), A... arguments) const {
#if defined(GPUEXP_SIMT)
    const auto body = [=]() GPUEXP_UNINSTRUMENTED { kernel(static_cast<P>(arguments)...); };
    using Body = decltype(body);
    emulate(config, reinterpret_cast<const void*>(kernel), &invoke<const Body>, &body);
#else
    if (cuda_begin(config, reinterpret_cast<const void*>(kernel))) {
      const dim3 grid(static_cast<unsigned>(config.grid.x), static_cast<unsigned>(config.grid.y),
                      static_cast<unsigned>(config.grid.z));
      const dim3 block(static_cast<unsigned>(config.block.x), static_cast<unsigned>(config.block.y),
                       static_cast<unsigned>(config.block.z));
      // clang-format off
      kernel<<<grid, block, static_cast<size_t>(config.dynamic_shared_bytes), static_cast<cudaStream_t>(stream())>>>(
          static_cast<P>(arguments)...);
      // clang-format on
      cuda_end();
    }
#endif
  }

  // The CUDA stream to launch on, for variants that call a library (cuda backend only).
  [[nodiscard]] void* stream() const;
  // The handle of a library, bound to stream(): "cublas" is a cublasHandle_t. Null when the library is not there: the
  // point is then `unsupported` with the reason, and the launch function returns (cuda backend only).
  [[nodiscard]] void* library(const char* name) const;
  // What `make` returns when first called for this point: descriptors, plans and work areas of a library, which are no
  // part of the work to be timed. How long `make` took is reported with the point. `destroy` is called on it when the
  // point ends. Null when `make` returned null, as it does after unsupported() or failed() (cuda backend only).
  [[nodiscard]] void* prepared(void* (*make)(const Launch&), void (*destroy)(void*)) const;
  // A library call returned an error: the point fails with this reason and the library's code.
  void failed(const char* reason, int code) const;

  explicit Launch(void* state) : state_(state) {}  // backends only
  [[nodiscard]] void* state() const { return state_; }

 private:
  void* address(const char* buffer, unsigned long element_bytes, bool several, bool writable) const;
  void emulate(const LaunchConfig& config, const void* kernel, void (*invoke_body)(const void*),
               const void* body) const;
  bool cuda_begin(const LaunchConfig& config, const void* kernel) const;  // false: refused, with the reason recorded
  void cuda_end() const;                                                  // records a launch error

#if defined(GPUEXP_SIMT)
  template <class Body>
  GPUEXP_UNINSTRUMENTED static void invoke(const void* body) {
    (*static_cast<Body*>(body))();
  }
#endif

  void* state_;  // of the backend
};

// A compile-time parameter's value in one instance: {"TILE", 16} or {"dtype", "float32"}.
struct FixedParam {
  constexpr FixedParam(const char* n, long long v) : name(n), number(v) {}
  constexpr FixedParam(const char* n, int v) : name(n), number(v) {}  // a literal 0 is a null pointer too
  constexpr FixedParam(const char* n, const char* w) : name(n), word(w) {}
  const char* name;
  long long number = 0;
  const char* word = nullptr;
};

// What a variant's definition says of it. Each call adds one fact; see kernels/matmul/tiled.cu.
class VariantBuilder {
 public:
  VariantBuilder& idea(const char* sentence);  // why it is faster than the rung before it
  VariantBuilder& alias(const char* name);     // a second name, "transpose/v2"
  VariantBuilder& problem(const char* name);   // when it is not the part of the variant's name before the slash
  // A run-time parameter with its default and range.
  VariantBuilder& param(const char* name, long long default_value, const char* meaning, long long min = 1,
                        long long max = 1LL << 40);
  // Meaning and default of a compile-time parameter (its values are those of the instances).
  VariantBuilder& fixed(const char* name, FixedParam default_value, const char* meaning);
  // One instantiation: the values of all compile-time parameters, and its launch function.
  VariantBuilder& instance(void (*launch)(const Launch&), std::initializer_list<FixedParam> values);
  // It needs hardware or a library that the emulator does not have; `why` ends the sentence "cuda only: ...".
  VariantBuilder& cuda_only(const char* why);
  // Broken on purpose: its point is good when the checker reports this finding ("race", "out_of_bounds").
  VariantBuilder& broken(const char* finding);

  explicit VariantBuilder(void* state) : state_(state) {}

 private:
  void* state_;  // of the registry
};

// Registers at static initialisation.
struct RegisterVariant {
  RegisterVariant(const char* name, const char* file, const char* backend, void (*define)(VariantBuilder&));
};

}  // namespace gpuexp

// GPUEXP_VARIANT("matmul/tiled") { variant.idea("...").instance(...); }   once or several times at a kernel file's end.
#define GPUEXP_VARIANT(variant_name) GPUEXP_VARIANT_AT(variant_name, __COUNTER__)
#define GPUEXP_VARIANT_AT(variant_name, n) GPUEXP_VARIANT_AS(variant_name, n)
#define GPUEXP_VARIANT_AS(variant_name, n)                                                                        \
  static void gpuexp_define_##n(::gpuexp::VariantBuilder& variant);                                               \
  static const ::gpuexp::RegisterVariant gpuexp_register_##n(variant_name, __FILE__, ::gpuexp::ThisBackend::name, \
                                                             gpuexp_define_##n);                                  \
  static void gpuexp_define_##n([[maybe_unused]] ::gpuexp::VariantBuilder& variant)
