// Names and source lines of the running executable, from its ELF symbol table and DWARF: what turns an address seen by
// the emulator into "kernels/matmul/tiled.cu:21:13", `As` or `tiled<16>`.
//
// Everything is loaded on first use and cached; all functions may be called from any thread and never throw for what
// the executable lacks: without debug information a site's file is "?", without symbols (stripped) a name is "?".
// Debug information in a separate file is found by .gnu_debuglink beside the executable, in .debug/ below it, and by
// build id below /usr/lib/debug.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "profiler/core/point.h"

namespace gpuexp::simt {

// Whether the executable has its symbol table, here or in a separate file. Without it nothing is known of the kernels'
// shared variables, so that the emulator cannot work.
bool has_symbols();

// The innermost place in a kernel's own source whose call returns to `return_address`: inlined frames that lie in the
// emulator's shadow headers or in system headers are walked outwards. {"?", 0, 0} when unknown.
// The reference stays valid for the life of the program. First call per address ~1 ms, later calls ~50 ns.
const SourceSite& source_site(const void* return_address);

// "tiled<16>" for a kernel's address: demangled, without return type, parameters, and the namespace of its file.
std::string kernel_name(const void* function);

// Linker name of the function that contains `address` ("_ZN23gpuexp_simt_matmul_tiled5tiledILi16EEEvPKfS2_Pfi"); empty
// when unknown. Valid for the life of the program.
const std::string& mangled_function(const void* address);

// Name of the `extern __shared__` array that the function with `address` declares: "memory". Empty when debug
// information does not tell: clang records none, and one at file scope belongs to no function.
const std::string& dynamic_shared_name(const void* address);

// A thread-local variable of a kernel file, i.e. a __shared__ variable.
struct TlsVariable {
  std::uint64_t offset = 0;  // from the start of the executable's TLS segment, bytes
  std::uint64_t size = 0;    // bytes
  std::string name;          // "As"
  std::string function;      // linker name of the function it is declared in; empty at file scope (extern __shared__)
  std::string unit;          // namespace of its kernel file: "gpuexp_simt_matmul_tiled"
};
// Those in kernel files' namespaces (gpuexp_simt_*), by offset.
std::span<const TlsVariable> tls_variables();

// Where the calling thread's copy of the executable's TLS segment starts, and its size; {nullptr, 0} without one.
struct TlsBlock {
  char* begin = nullptr;
  std::uint64_t size = 0;
};
TlsBlock tls_block();

// A variable of a kernel file in ordinary static storage: __device__ or __constant__.
struct DeviceVariable {
  std::uintptr_t address = 0;  // in this process
  std::uint64_t size = 0;      // bytes
  std::string name;            // "coefficients"
  std::string unit;            // namespace of its kernel file
  std::string section;         // ELF section it lies in: ".bss", ".rodata", or one that the shadow headers chose
};
// By address.
std::span<const DeviceVariable> device_variables();

}  // namespace gpuexp::simt
