// Build tool: makes kernel objects fit for the emulator. prepare_kernel_objects <output folder> <object>...
//
// - Every __shared__ variable (a thread-local one, in a section of its own) gets padding behind it, so that an overflow
//   never lands in another variable. Symbol sizes stay, so that the emulator knows the bounds.
// - memcpy, memmove and memset become the emulator's own, which count.
// - `extern __shared__` arrays, which nothing defines, all become the emulator's one dynamic shared block.
// - What would break counting or linking unseen is refused: initialised shared variables, and inline functions outside
//   the kernel file's own namespace, which other objects might link to and so run instrumented.
//
// x86-64 ELF only, like the emulator.
#include <elf.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::uint64_t kPadding = 256;  // bytes; also the alignment of shared variables
constexpr std::string_view kDynamicBlock = "gpuexp_simt_dynamic_shared";
constexpr std::string_view kDynamicBlockFunction = "gpuexp_simt_dynamic_shared_address";

// A relocatable object in memory. Sizes of sections without contents and names of symbols can change; nothing moves.
class Object {
 public:
  explicit Object(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    if (!file || bytes_.size() < sizeof(Elf64_Ehdr)) throw std::runtime_error("cannot be read");
    const Elf64_Ehdr* header = at<Elf64_Ehdr>(0);
    if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_machine != EM_X86_64 ||
        header->e_type != ET_REL) {
      throw std::runtime_error("is not an x86-64 relocatable object; the emulator supports no other platform");
    }
  }

  void pad_shared_variables() {
    for (std::uint64_t i = 0; i < sections(); ++i) {
      Elf64_Shdr* section = this->section(i);
      if ((section->sh_flags & SHF_TLS) == 0 || section->sh_size == 0) continue;
      if (section->sh_type != SHT_NOBITS) {
        throw std::runtime_error("has an initialised __shared__ variable (or a thread_local one), which CUDA forbids");
      }
      section->sh_size = (section->sh_size + 2 * kPadding - 1) / kPadding * kPadding;
    }
  }

  void bind_dynamic_shared() {
    Elf64_Shdr* table = find(SHT_SYMTAB);
    if (table == nullptr) return;
    const std::uint64_t names = table->sh_link;
    const auto block_name = static_cast<Elf64_Word>(section(names)->sh_size);
    const auto function_name = static_cast<Elf64_Word>(block_name + kDynamicBlock.size() + 1);
    std::set<std::string, std::less<>> arrays;
    for_each_symbol([&](Elf64_Sym& symbol, std::string_view name) {
      if (symbol.st_shndx != SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_TLS || !name.starts_with("_Z")) return;
      arrays.emplace(name.substr(2));
      symbol.st_name = block_name;
    });
    if (arrays.empty()) return;
    // clang reaches an extern array through a function, emitted here, that would initialise it first if it had to be.
    for_each_symbol([&](Elf64_Sym& symbol, std::string_view name) {
      if (!name.starts_with("_ZTW") || arrays.count(name.substr(4)) == 0) return;
      symbol.st_name = function_name;
      symbol.st_shndx = SHN_UNDEF;
      symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
      symbol.st_value = symbol.st_size = 0;
    });
    append_names(names, {std::string(kDynamicBlock), std::string(kDynamicBlockFunction)});
  }

  // Copies that the compiler or the kernel leaves to the C library are counted by functions of the emulator.
  void bind_copies() {
    Elf64_Shdr* table = find(SHT_SYMTAB);
    if (table == nullptr) return;
    const std::uint64_t names = table->sh_link;
    const std::uint64_t size = section(names)->sh_size;
    std::vector<std::string> added;
    std::uint64_t added_size = 0;
    for_each_symbol([&](Elf64_Sym& symbol, std::string_view name) {
      const bool copies = name == "memcpy" || name == "memmove" || name == "memset";
      if (!copies || symbol.st_shndx != SHN_UNDEF) return;
      added.push_back("gpuexp_simt_" + std::string(name));
      symbol.st_name = static_cast<Elf64_Word>(size + added_size);
      added_size += added.back().size() + 1;
    });
    if (!added.empty()) append_names(names, added);
  }

  void check_inline_functions() {
    std::string bad;
    for_each_symbol([&](const Elf64_Sym& symbol, std::string_view name) {
      if (ELF64_ST_BIND(symbol.st_info) != STB_WEAK || symbol.st_shndx == SHN_UNDEF) return;
      const bool own = name.find("gpuexp_simt_") != std::string_view::npos ||
                       name.find("N6gpuexp6Launch") != std::string_view::npos ||
                       name.find("NK6gpuexp6Launch") != std::string_view::npos || name.starts_with("DW.ref");
      if (!own) bad += "\n  " + std::string(name);
    });
    if (!bad.empty()) {
      throw std::runtime_error(
          "emits functions that the rest of the program might link to (mark them __device__, or keep them out of "
          "kernel "
          "files):" +
          bad);
    }
  }

  void write(const std::filesystem::path& path) const {
    std::ofstream file(path, std::ios::binary);
    file.write(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
    if (!file.flush()) throw std::runtime_error("cannot be written to " + path.string());
  }

 private:
  template <class T>
  T* at(std::uint64_t offset) {
    if (offset + sizeof(T) > bytes_.size()) throw std::runtime_error("is cut short");
    return reinterpret_cast<T*>(bytes_.data() + offset);
  }
  std::uint64_t sections() { return at<Elf64_Ehdr>(0)->e_shnum; }
  Elf64_Shdr* section(std::uint64_t i) { return at<Elf64_Shdr>(at<Elf64_Ehdr>(0)->e_shoff + i * sizeof(Elf64_Shdr)); }
  Elf64_Shdr* find(std::uint32_t type) {
    for (std::uint64_t i = 0; i < sections(); ++i) {
      if (section(i)->sh_type == type) return section(i);
    }
    return nullptr;
  }

  template <class F>
  void for_each_symbol(F&& visit) {
    const Elf64_Shdr* table = find(SHT_SYMTAB);
    if (table == nullptr) return;
    const std::uint64_t names = section(table->sh_link)->sh_offset;
    for (std::uint64_t i = 1; i < table->sh_size / sizeof(Elf64_Sym); ++i) {
      Elf64_Sym* symbol = at<Elf64_Sym>(table->sh_offset + i * sizeof(Elf64_Sym));
      visit(*symbol, std::string_view(at<char>(names + symbol->st_name)));
    }
  }

  // The string table moves to the end of the file, where it can grow.
  void append_names(std::uint64_t table, const std::vector<std::string>& names) {
    const std::uint64_t offset = section(table)->sh_offset;
    const std::uint64_t size = section(table)->sh_size;
    std::vector<char> strings(bytes_.begin() + static_cast<std::ptrdiff_t>(offset),
                              bytes_.begin() + static_cast<std::ptrdiff_t>(offset + size));
    for (const std::string& name : names) {
      strings.insert(strings.end(), name.begin(), name.end());
      strings.push_back('\0');
    }
    section(table)->sh_offset = bytes_.size();
    section(table)->sh_size = strings.size();
    bytes_.insert(bytes_.end(), strings.begin(), strings.end());
  }

  std::vector<char> bytes_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::filesystem::path> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    std::fputs("usage: prepare_kernel_objects OUTPUT_FOLDER OBJECT...\n", stderr);
    return 2;
  }
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    try {
      Object object(arguments[i]);
      object.check_inline_functions();
      object.pad_shared_variables();
      object.bind_dynamic_shared();
      object.bind_copies();
      object.write(arguments.front() / arguments[i].filename());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", arguments[i].c_str(), error.what());
      return 1;
    }
  }
  return 0;
}
