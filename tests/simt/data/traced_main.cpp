// Runs the kernels of traced_kernels.cu one by one with hooks of its own and prints, as lines of fields separated by
// tabs, what they accessed and what the symbol reader knows about it. Built and run by symbols_test.cpp.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "profiler/backend/simt/symbols.h"

namespace gpuexp_simt_traced_kernels {
struct Entry {
  const char* name;
  const void* kernel;
  void (*run)(char* in, char* out);
};
extern const Entry entries[];
extern const int entry_count;
thread_local float pool[16];  // what the emulator's build does for extern __shared__ arrays
}  // namespace gpuexp_simt_traced_kernels

namespace {

struct Access {
  const void* return_address;
  const char* kind;
  int bytes;
  const void* address;
};
alignas(64) char buffer_in[1024];
alignas(64) char buffer_out[1024];
std::vector<Access> accesses;
gpuexp::simt::TlsBlock tls;

bool within(const void* address, const char* begin, std::uint64_t size) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto from = reinterpret_cast<std::uintptr_t>(begin);
  return at >= from && at < from + size;
}

void record(const void* return_address, const void* address, const char* kind, int bytes) {
  const bool memory = within(address, buffer_in, sizeof buffer_in) || within(address, buffer_out, sizeof buffer_out) ||
                      within(address, tls.begin, tls.size);
  if (memory) accesses.push_back({return_address, kind, bytes, address});
}

std::string text(const gpuexp::SourceSite& site) {
  return site.file + ":" + std::to_string(site.line) + ":" + std::to_string(site.column);
}

}  // namespace

#define HOOK(name, kind, bytes) \
  extern "C" void __tsan_##name(void* address) { record(__builtin_return_address(0), address, kind, bytes); }
#define HOOKS(bytes)                                   \
  HOOK(read##bytes, "read", bytes)                     \
  HOOK(write##bytes, "write", bytes)                   \
  HOOK(unaligned_read##bytes, "unaligned_read", bytes) \
  HOOK(unaligned_write##bytes, "unaligned_write", bytes)
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)
extern "C" void __tsan_read_range(void* address, unsigned long bytes) {
  record(__builtin_return_address(0), address, "read_range", static_cast<int>(bytes));
}
extern "C" void __tsan_write_range(void* address, unsigned long bytes) {
  record(__builtin_return_address(0), address, "write_range", static_cast<int>(bytes));
}
extern "C" void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
  record(__builtin_return_address(0), from, "memcpy", static_cast<int>(bytes));
  return __builtin_memcpy(to, from, bytes);
}
extern "C" void* __tsan_memset(void* to, int value, unsigned long bytes) {
  record(__builtin_return_address(0), to, "memset", static_cast<int>(bytes));
  return __builtin_memset(to, value, bytes);
}
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __sanitizer_cov_trace_pc() {}

int main() {
  using namespace gpuexp::simt;
  using namespace gpuexp_simt_traced_kernels;
  tls = tls_block();
  for (const TlsVariable& v : tls_variables())
    std::printf("tls\t%s\t%llu\t%s\t%s\t%d\n", v.name.c_str(), static_cast<unsigned long long>(v.size),
                v.function.c_str(), v.unit.c_str(), v.offset + v.size <= tls.size);
  for (const DeviceVariable& v : device_variables())
    std::printf("device\t%s\t%llu\t%s\t%s\n", v.name.c_str(), static_cast<unsigned long long>(v.size), v.unit.c_str(),
                v.section.c_str());
  for (int i = 0; i < entry_count; ++i) {
    const Entry& entry = entries[i];
    accesses.clear();
    entry.run(buffer_in, buffer_out);
    std::printf("kernel\t%s\t%s\t%s\n", entry.name, kernel_name(entry.kernel).c_str(),
                mangled_function(entry.kernel).c_str());
    for (const Access& access : accesses) {
      std::string variable = "-";
      for (const TlsVariable& v : tls_variables())
        if (within(access.address, tls.begin + v.offset, v.size)) variable = v.name + " of " + v.function;
      std::printf("access\t%s%d\t%s\t%s\n", access.kind, access.bytes, text(source_site(access.return_address)).c_str(),
                  variable.c_str());
    }
  }
  // Addresses that belong to nothing.
  std::printf("nowhere\t%s\t%s\t%s\n", text(source_site(nullptr)).c_str(), kernel_name(buffer_in).c_str(),
              text(source_site(buffer_in)).c_str());
  // Main itself is compiled without debug information.
  std::printf("main\t%s\n", kernel_name(reinterpret_cast<const void*>(&record)).c_str());
}
