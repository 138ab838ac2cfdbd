// Symbols and source lines of the running executable, read with libelf and libdw.
#include "profiler/backend/simt/symbols.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gpuexp::simt {
namespace {

constexpr std::string_view kUnknown = "?";
constexpr std::string_view kUnitPrefix = "gpuexp_simt_";                     // namespaces of kernel files
constexpr std::string_view kShadowFolder = "profiler/backend/simt/shadow/";  // headers that stand in for CUDA's
constexpr std::string_view kAnonymous = "(anonymous namespace)::";

// ---- names ----

// Empty when `mangled` is not a mangled name.
std::string demangle(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : std::string();
}

bool is_identifier_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// "gpuexp_simt_matmul_tiled" within a demangled name; empty when it belongs to no kernel file.
std::string unit_of(std::string_view demangled) {
  std::size_t begin = demangled.find(kUnitPrefix);
  while (begin != std::string_view::npos) {
    std::size_t end = begin;
    while (end < demangled.size() && is_identifier_character(demangled[end])) ++end;
    const bool starts = begin == 0 || !is_identifier_character(demangled[begin - 1]);
    if (starts && demangled.substr(end, 2) == "::") return std::string(demangled.substr(begin, end - begin));
    begin = demangled.find(kUnitPrefix, end);
  }
  return {};
}

void erase_all(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) text.erase(at, part.size());
}

// Without the namespaces that the build puts around kernel files, wherever they appear (template arguments too).
std::string without_units(std::string text) {
  for (std::string unit = unit_of(text); !unit.empty(); unit = unit_of(text)) erase_all(text, unit + "::");
  erase_all(text, kAnonymous);
  return text;
}

// Matches brackets so that separators inside template arguments and parameter lists do not count.
class Nesting {
 public:
  void pass(char c) {
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth_;
    if (c == '>' || c == ')' || c == ']' || c == '}') --depth_;
  }
  [[nodiscard]] bool outermost() const { return depth_ == 0; }

 private:
  int depth_ = 0;
};

// "void tiled<16>(float const*, int)" -> "tiled<16>": cuts the return type and the parameter list.
std::string function_name(const std::string& demangled) {
  Nesting nesting;
  std::size_t begin = 0;
  std::size_t end = demangled.size();
  for (std::size_t i = 0; i < demangled.size(); ++i) {
    const char c = demangled[i];
    if (nesting.outermost() && c == ' ') begin = i + 1;
    if (nesting.outermost() && c == '(') {
      end = i;
      break;
    }
    nesting.pass(c);
  }
  return demangled.substr(begin, end - begin);
}

// The last component of a qualified name: "tiled<16>(float const*)::As" -> "As".
std::string last_component(const std::string& demangled) {
  Nesting nesting;
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 1 < demangled.size(); ++i) {
    nesting.pass(demangled[i]);
    if (nesting.outermost() && demangled[i] == ':' && demangled[i + 1] == ':') begin = i + 2;
  }
  return demangled.substr(begin);
}

// Whether `text` is exactly a source name with an optional discriminator: "2As", "2As_0", "2As__12_".
// Itanium C++ ABI, 5.1.8, <local-name>.
bool is_local_entity(std::string_view text) {
  std::size_t length = 0;
  std::size_t at = 0;
  while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0 && length < text.size())
    length = 10 * length + static_cast<std::size_t>(text[at++] - '0');
  if (at == 0 || length == 0 || length > text.size() - at) return false;
  std::string_view rest = text.substr(at + length);
  if (rest.empty()) return true;
  if (!rest.starts_with('_')) return false;
  rest.remove_prefix(1);
  if (rest.starts_with('_')) {
    if (!rest.ends_with('_') || rest.size() < 3) return false;
    rest = rest.substr(1, rest.size() - 2);
  } else if (rest.size() != 1) {
    return false;
  }
  return std::all_of(rest.begin(), rest.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// "_ZZN1k5tiledILi16EEvPfE2As" -> "_ZN1k5tiledILi16EEvPf"; empty when the variable is not local to a function.
std::string enclosing_function(const std::string& mangled) {
  constexpr std::string_view local = "_ZZ";
  if (!mangled.starts_with(local)) return {};
  for (std::size_t end = mangled.rfind('E'); end != std::string::npos && end > local.size();
       end = mangled.rfind('E', end - 1)) {
    if (!is_local_entity(std::string_view(mangled).substr(end + 1))) continue;
    std::string function = "_Z" + mangled.substr(local.size(), end - local.size());
    if (!demangle(function).empty()) return function;  // else the E was part of something else
  }
  return {};
}

// ---- files ----

class FileDescriptor {
 public:
  explicit FileDescriptor(const std::filesystem::path& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};
struct DwarfEnd {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};

// An ELF file kept open for as long as its data is in use. Members are closed in reverse order.
struct ElfFile {
  FileDescriptor file;
  std::unique_ptr<Elf, ElfEnd> elf;
};

std::optional<ElfFile> open_elf(const std::filesystem::path& path) {
  ElfFile opened{FileDescriptor(path), nullptr};
  if (opened.file.get() < 0) return std::nullopt;
  opened.elf.reset(elf_begin(opened.file.get(), ELF_C_READ_MMAP, nullptr));
  if (opened.elf == nullptr || elf_kind(opened.elf.get()) != ELF_K_ELF) return std::nullopt;
  return opened;
}

bool has_section(Elf* elf, std::string_view wanted, std::uint32_t type = SHT_NULL) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return false;
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    if (type != SHT_NULL && header.sh_type == type) return true;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name != nullptr && !wanted.empty() && name == wanted) return true;
  }
  return false;
}

bool has_debug_lines(Elf* elf) { return has_section(elf, ".debug_line") || has_section(elf, ".zdebug_line"); }
bool has_symbol_table(Elf* elf) { return has_section(elf, {}, SHT_SYMTAB); }

// The checksum of .gnu_debuglink: CRC-32 (IEEE 802.3, reflected) of the whole file.
std::uint32_t checksum(const std::filesystem::path& path) {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1U) != 0 ? 0xedb88320U ^ (value >> 1) : value >> 1;
    table[i] = value;
  }
  std::uint32_t crc = 0xffffffffU;
  std::ifstream stream(path, std::ios::binary);
  std::array<char, 1 << 16> buffer;
  while (stream.read(buffer.data(), buffer.size()), stream.gcount() > 0)
    for (std::streamsize i = 0; i < stream.gcount(); ++i)
      crc = table[(crc ^ static_cast<unsigned char>(buffer[static_cast<std::size_t>(i)])) & 0xffU] ^ (crc >> 8);
  return ~crc;
}

// The separate debug file of an executable that was stripped of it: by build id, then by .gnu_debuglink.
std::optional<ElfFile> open_debug_file(Elf* elf, const std::filesystem::path& executable) {
  const void* id = nullptr;
  const ssize_t id_size = dwelf_elf_gnu_build_id(elf, &id);
  if (id_size > 1) {
    std::string hex;
    for (ssize_t i = 0; i < id_size; ++i) {
      constexpr std::string_view digits = "0123456789abcdef";
      const unsigned byte = static_cast<const unsigned char*>(id)[i];
      hex += digits[byte >> 4];
      hex += digits[byte & 15U];
    }
    if (auto file = open_elf("/usr/lib/debug/.build-id/" + hex.substr(0, 2) + "/" + hex.substr(2) + ".debug"))
      return file;
  }
  GElf_Word expected = 0;
  const char* link = dwelf_elf_gnu_debuglink(elf, &expected);
  if (link == nullptr) return std::nullopt;
  const std::filesystem::path folder = executable.parent_path();
  for (const std::filesystem::path& candidate : {folder / link, folder / ".debug" / link}) {
    std::error_code failure;
    if (!std::filesystem::is_regular_file(candidate, failure) || checksum(candidate) != expected) continue;
    if (auto file = open_elf(candidate)) return file;
  }
  return std::nullopt;
}

// ---- debug information ----

bool starts_with_folder(std::string_view path, std::string_view folder) {
  return !folder.empty() && path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

// A source line as DWARF has it; the file already relative where the build made it so.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
};

// Whether the frame is the emulator's or the compiler's rather than the kernel author's.
bool is_foreign(std::string_view file) {
  return file.find(kShadowFolder) != std::string_view::npos || file.starts_with("/usr/include/") ||
         file.starts_with("/usr/lib/") || file.starts_with("/usr/local/include/") || file.starts_with("<");
}

class DebugInformation {
 public:
  explicit DebugInformation(Elf* elf) : dwarf_(dwarf_begin_elf(elf, DWARF_C_READ, nullptr)) {
    if (dwarf_ == nullptr) return;
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die;
    Dwarf_Die split;
    std::uint8_t type = 0;
    while (dwarf_get_units(dwarf_.get(), unit, &unit, nullptr, &type, &die, &split) == 0) {
      // The skeleton of a split unit has the ranges and the lines, the split unit the functions.
      units_.push_back({die, type == DW_UT_skeleton && split.cu != nullptr ? split : die, std::nullopt});
      Dwarf_Addr base = 0;
      Dwarf_Addr low = 0;
      Dwarf_Addr high = 0;
      for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &low, &high)) > 0;)
        if (low < high) ranges_.push_back({low, high, units_.size() - 1});
    }
    std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) { return a.low < b.low; });
  }

  // The innermost place outside foreign headers at an address of the file; nullopt when there is no line for it.
  std::optional<Place> place(Dwarf_Addr address) {
    Unit* unit = find(address);
    if (unit == nullptr) return std::nullopt;
    std::optional<Place> innermost = line_at(*unit, address);
    if (!innermost || !is_foreign(innermost->file)) return innermost;
    if (std::optional<Place> outer = first_own_call(*unit, address)) return outer;
    return innermost;
  }

  // Name of the variable that the function at an address of the file declares and a kernel file does not define.
  std::string declared_array(Dwarf_Addr address) {
    Unit* unit = find(address);
    Dwarf_Die* function = unit == nullptr ? nullptr : function_at(*unit, address);
    return function == nullptr ? std::string() : declared_in(*function);
  }

 private:
  struct Range {
    Dwarf_Addr low, high;
    std::size_t unit;
  };
  struct Unit {
    Dwarf_Die lines;
    Dwarf_Die functions;
    std::optional<std::vector<Dwarf_Die>> subprograms;  // with code; once they were needed
  };

  Unit* find(Dwarf_Addr address) {
    auto next = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                 [](Dwarf_Addr a, const Range& range) { return a < range.low; });
    while (next != ranges_.begin()) {
      --next;
      if (address < next->high) return &units_[next->unit];
      if (next->low + kLongestUnit < address) break;
    }
    return nullptr;
  }

  static std::string relative(Unit& unit, std::string_view path) {
    Dwarf_Attribute attribute;
    const char* folder = dwarf_formstring(dwarf_attr(&unit.lines, DW_AT_comp_dir, &attribute));
    if (folder != nullptr && starts_with_folder(path, folder)) path.remove_prefix(std::string_view(folder).size() + 1);
    return std::filesystem::path(path).lexically_normal().string();
  }

  static std::optional<Place> line_at(Unit& unit, Dwarf_Addr address) {
    Dwarf_Lines* lines = nullptr;
    std::size_t count = 0;
    if (dwarf_getsrclines(&unit.lines, &lines, &count) != 0 || count == 0) return std::nullopt;
    // The last row at or before the address; rows are sorted by address.
    std::size_t begin = 0;
    std::size_t end = count;
    while (begin < end) {
      const std::size_t middle = (begin + end) / 2;
      Dwarf_Addr at = 0;
      dwarf_lineaddr(dwarf_onesrcline(lines, middle), &at);
      if (at <= address)
        begin = middle + 1;
      else
        end = middle;
    }
    // Line 0 stands for code of no line in particular: it belongs to the statement before it.
    for (std::size_t i = begin; i-- > 0;) {
      Dwarf_Line* row = dwarf_onesrcline(lines, i);
      bool sequence_ended = false;
      dwarf_lineendsequence(row, &sequence_ended);
      if (sequence_ended) return std::nullopt;
      Place place;
      dwarf_lineno(row, &place.line);
      if (place.line == 0) continue;
      dwarf_linecol(row, &place.column);
      const char* file = dwarf_linesrc(row, nullptr, nullptr);
      if (file == nullptr) return std::nullopt;
      place.file = relative(unit, file);
      return place;
    }
    return std::nullopt;
  }

  // Walks from the innermost inlined function outwards, along the lines that called them.
  static std::optional<Place> first_own_call(Unit& unit, Dwarf_Addr address) {
    std::vector<Dwarf_Die> inlined;  // outermost first
    if (Dwarf_Die* function = function_at(unit, address)) collect_inlined(*function, address, inlined);
    for (auto scope = inlined.rbegin(); scope != inlined.rend(); ++scope) {
      std::optional<Place> call = call_site(unit, *scope);
      if (call && !is_foreign(call->file)) return call;
    }
    return std::nullopt;
  }

  // (dwarf_getscopes() does not look into namespaces, where clang puts functions.)
  static Dwarf_Die* function_at(Unit& unit, Dwarf_Addr address) {
    if (!unit.subprograms) {
      unit.subprograms.emplace();
      collect_subprograms(unit.functions, *unit.subprograms);
    }
    for (Dwarf_Die& die : *unit.subprograms)
      if (dwarf_haspc(&die, address) > 0) return &die;
    return nullptr;
  }

  template <class Visit>
  static void for_each_child(Dwarf_Die& die, Visit visit) {
    Dwarf_Die child;
    if (dwarf_child(&die, &child) != 0) return;
    do visit(child);
    while (dwarf_siblingof(&child, &child) == 0);
  }

  // Functions with code, at file scope and within namespaces and classes.
  static void collect_subprograms(Dwarf_Die& scope, std::vector<Dwarf_Die>& found) {
    for_each_child(scope, [&](Dwarf_Die& child) {
      switch (dwarf_tag(&child)) {
        case DW_TAG_subprogram:
          if (dwarf_hasattr(&child, DW_AT_low_pc) != 0 || dwarf_hasattr(&child, DW_AT_ranges) != 0)
            found.push_back(child);
          break;
        case DW_TAG_namespace:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
          collect_subprograms(child, found);
          break;
        default:
          break;
      }
    });
  }

  static void collect_inlined(Dwarf_Die& scope, Dwarf_Addr address, std::vector<Dwarf_Die>& found) {
    for_each_child(scope, [&](Dwarf_Die& child) {
      const int tag = dwarf_tag(&child);
      if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) return;
      if (dwarf_haspc(&child, address) <= 0) return;
      if (tag == DW_TAG_inlined_subroutine) found.push_back(child);
      collect_inlined(child, address, found);
    });
  }

  static std::string declared_in(Dwarf_Die& scope) {
    std::string name;
    for_each_child(scope, [&](Dwarf_Die& child) {
      if (!name.empty()) return;
      const int tag = dwarf_tag(&child);
      if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) name = declared_in(child);
      Dwarf_Attribute attribute;
      const char* symbol = tag == DW_TAG_variable && dwarf_hasattr(&child, DW_AT_declaration) != 0
                               ? dwarf_formstring(dwarf_attr(&child, DW_AT_linkage_name, &attribute))
                               : nullptr;
      const char* own = dwarf_diename(&child);
      if (symbol != nullptr && own != nullptr && std::string_view(symbol).find(kUnitPrefix) != std::string_view::npos)
        name = own;
    });
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    if (name.empty() && dwarf_attr(&scope, DW_AT_abstract_origin, &attribute) != nullptr &&
        dwarf_formref_die(&attribute, &origin) != nullptr)
      return declared_in(origin);
    return name;
  }

  static std::optional<Place> call_site(Unit& unit, Dwarf_Die& inlined) {
    Dwarf_Files* files = nullptr;
    if (dwarf_getsrcfiles(&unit.functions, &files, nullptr) != 0) return std::nullopt;
    const Dwarf_Word file = number(inlined, DW_AT_call_file);
    const char* path = dwarf_filesrc(files, file, nullptr, nullptr);
    if (path == nullptr) return std::nullopt;
    return Place{relative(unit, path), static_cast<int>(number(inlined, DW_AT_call_line)),
                 static_cast<int>(number(inlined, DW_AT_call_column))};
  }

  static Dwarf_Word number(Dwarf_Die& die, unsigned attribute_name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dwarf_formudata(dwarf_attr(&die, attribute_name, &attribute), &value) != 0) return 0;
    return value;
  }

  static constexpr Dwarf_Addr kLongestUnit = Dwarf_Addr{1} << 30;  // ends the search among nested ranges

  std::unique_ptr<Dwarf, DwarfEnd> dwarf_;
  std::vector<Unit> units_;
  std::vector<Range> ranges_;
};

// ---- the executable ----

// Where the executable was loaded (0 unless position independent).
std::uintptr_t load_bias() {
  std::uintptr_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        *static_cast<std::uintptr_t*>(result) = info->dlpi_addr;
        return 1;  // the executable comes first
      },
      &bias);
  return bias;
}

struct Function {
  std::uint64_t begin = 0, end = 0;  // addresses in the file
  std::string mangled;
};

class Executable {
 public:
  static Executable& instance() {
    static Executable executable;
    return executable;
  }

  const SourceSite& site(const void* return_address) {
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = sites_.find(return_address); found != sites_.end()) return found->second;
    }
    const std::unique_lock lock(mutex_);
    const auto [entry, added] = sites_.try_emplace(return_address);
    if (!added) return entry->second;
    entry->second = {std::string(kUnknown), 0, 0};
    if (debug_ != nullptr && return_address != nullptr) {
      // The call is the instruction before the one it returns to.
      if (std::optional<Place> place = debug_->place(file_address(return_address) - 1))
        entry->second = {std::move(place->file), place->line, place->column};
    }
    return entry->second;
  }

  const std::string& dynamic_shared(const void* address) {
    const std::unique_lock lock(mutex_);
    const auto [entry, added] = dynamic_shared_.try_emplace(address);
    if (added && debug_ != nullptr) entry->second = debug_->declared_array(file_address(address));
    return entry->second;
  }

  [[nodiscard]] bool has_symbols() const { return !functions_.empty(); }

  // Null when no function contains the address.
  [[nodiscard]] const Function* function(const void* address) const {
    const std::uint64_t at = file_address(address);
    auto next = std::upper_bound(functions_.begin(), functions_.end(), at,
                                 [](std::uint64_t a, const Function& f) { return a < f.begin; });
    if (next == functions_.begin()) return nullptr;
    --next;
    return at < next->end ? &*next : nullptr;
  }

  [[nodiscard]] const std::vector<TlsVariable>& tls() const { return tls_; }
  [[nodiscard]] const std::vector<DeviceVariable>& device() const { return device_; }

 private:
  Executable() : bias_(load_bias()) {
    elf_version(EV_CURRENT);
    std::error_code failure;
    const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", failure);
    executable_ = open_elf("/proc/self/exe");
    if (!executable_) return;
    Elf* elf = executable_->elf.get();
    if (!has_debug_lines(elf) || !has_symbol_table(elf)) separate_ = open_debug_file(elf, path);
    Elf* separate = separate_ ? separate_->elf.get() : nullptr;
    read_symbols(has_symbol_table(elf) || separate == nullptr ? elf : separate);
    Elf* debug = has_debug_lines(elf) || separate == nullptr ? elf : separate;
    if (has_debug_lines(debug)) debug_ = std::make_unique<DebugInformation>(debug);
  }

  [[nodiscard]] std::uint64_t file_address(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - bias_;
  }

  void read_symbols(Elf* elf) {
    for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_SYMTAB || header.sh_entsize == 0) continue;
      Elf_Data* data = elf_getdata(section, nullptr);
      if (data == nullptr) continue;
      const auto count = static_cast<int>(data->d_size / header.sh_entsize);
      for (int i = 0; i < count; ++i) {
        GElf_Sym symbol;
        if (gelf_getsym(data, i, &symbol) == nullptr || symbol.st_shndx == SHN_UNDEF) continue;
        if (const char* name = elf_strptr(elf, header.sh_link, symbol.st_name); name != nullptr) add(elf, symbol, name);
      }
    }
    std::sort(functions_.begin(), functions_.end(),
              [](const Function& a, const Function& b) { return a.begin < b.begin; });
    std::sort(tls_.begin(), tls_.end(), [](const TlsVariable& a, const TlsVariable& b) { return a.offset < b.offset; });
    std::sort(device_.begin(), device_.end(),
              [](const DeviceVariable& a, const DeviceVariable& b) { return a.address < b.address; });
  }

  void add(Elf* elf, const GElf_Sym& symbol, const std::string& name) {
    const bool of_kernel_file = name.find(kUnitPrefix) != std::string::npos;
    switch (GELF_ST_TYPE(symbol.st_info)) {
      case STT_FUNC:
        if (symbol.st_size != 0) functions_.push_back({symbol.st_value, symbol.st_value + symbol.st_size, name});
        break;
      case STT_TLS:
        if (of_kernel_file) add_tls(symbol, name);
        break;
      case STT_OBJECT:
        if (of_kernel_file) add_device(elf, symbol, name);
        break;
      default:
        break;
    }
  }

  void add_tls(const GElf_Sym& symbol, const std::string& name) {
    const std::string demangled = demangle(name);
    const std::string unit = unit_of(demangled);
    if (unit.empty()) return;
    tls_.push_back({symbol.st_value, symbol.st_size, last_component(demangled), enclosing_function(name), unit});
  }

  void add_device(Elf* elf, const GElf_Sym& symbol, const std::string& name) {
    const std::string demangled = demangle(name);
    const std::string unit = unit_of(demangled);
    // Guards, type information and tables of the compiler demangle to a phrase ("guard variable for ...").
    constexpr std::string_view registrar = "gpuexp_register_";
    std::string short_name = last_component(demangled);
    if (unit.empty() || symbol.st_size == 0 || name.starts_with("_ZG") || name.starts_with("_ZT") ||
        short_name.starts_with(registrar))
      return;
    device_.push_back(
        {symbol.st_value + bias_, symbol.st_size, std::move(short_name), unit, section_name(elf, symbol.st_shndx)});
  }

  static std::string section_name(Elf* elf, std::size_t index) {
    std::size_t names = 0;
    GElf_Shdr header;
    Elf_Scn* section = elf_getscn(elf, index);
    if (section == nullptr || gelf_getshdr(section, &header) == nullptr || elf_getshdrstrndx(elf, &names) != 0)
      return {};
    const char* name = elf_strptr(elf, names, header.sh_name);
    return name != nullptr ? name : std::string();
  }

  std::uintptr_t bias_;
  std::optional<ElfFile> executable_;
  std::optional<ElfFile> separate_;  // debug file
  std::unique_ptr<DebugInformation> debug_;
  std::vector<Function> functions_;
  std::vector<TlsVariable> tls_;
  std::vector<DeviceVariable> device_;
  std::shared_mutex mutex_;  // of sites_, dynamic_shared_ and, when locked exclusively, of debug_
  std::unordered_map<const void*, SourceSite> sites_;
  std::unordered_map<const void*, std::string> dynamic_shared_;
};

}  // namespace

bool has_symbols() { return Executable::instance().has_symbols(); }

const SourceSite& source_site(const void* return_address) { return Executable::instance().site(return_address); }

std::string kernel_name(const void* function) {
  const Function* found = Executable::instance().function(function);
  if (found == nullptr) return std::string(kUnknown);
  const std::string demangled = demangle(found->mangled);
  return demangled.empty() ? found->mangled : function_name(without_units(demangled));
}

const std::string& mangled_function(const void* address) {
  static const std::string none;
  const Function* found = Executable::instance().function(address);
  return found != nullptr ? found->mangled : none;
}

const std::string& dynamic_shared_name(const void* address) { return Executable::instance().dynamic_shared(address); }

std::span<const TlsVariable> tls_variables() { return Executable::instance().tls(); }

TlsBlock tls_block() {
  TlsBlock block;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        auto& found = *static_cast<TlsBlock*>(result);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type != PT_TLS || info->dlpi_tls_data == nullptr) continue;
          found = {static_cast<char*>(info->dlpi_tls_data), info->dlpi_phdr[i].p_memsz};
        }
        return 1;  // the executable comes first
      },
      &block);
  return block;
}

std::span<const DeviceVariable> device_variables() { return Executable::instance().device(); }

}  // namespace gpuexp::simt
