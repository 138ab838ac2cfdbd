// Symbols, source sites and the shadow vector types on real executables: data/traced_kernels.cu, built like every
// kernel (see traced_kernels.cmake), prints what it knows of its own accesses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace gpuexp::simt {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const fs::path kKernels = fs::path(GPUEXP_SOURCE_DIR) / "tests/simt/data/traced_kernels.cu";
constexpr const char* kUnit = "gpuexp_simt_traced_kernels";

struct Outcome {
  int status = -1;
  std::string output;
};

Outcome run(const std::string& command) {
  Outcome outcome;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) outcome.output.append(buffer, n);
  const int status = ::pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

std::string quoted(const fs::path& path) { return "'" + path.string() + "'"; }

using Fields = std::vector<std::string>;

std::vector<Fields> parse(const std::string& output) {
  std::vector<Fields> lines;
  std::istringstream stream(output);
  for (std::string line; std::getline(stream, line);) {
    lines.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, '\t');) lines.back().push_back(field);
  }
  return lines;
}

struct Access {
  std::string what;      // "read16"
  std::string site;      // "tests/simt/data/traced_kernels.cu:17:3"
  std::string variable;  // "As of _ZN..." or "-"
};
struct Kernel {
  std::string name, mangled;
  std::vector<Access> accesses;
  // Reads before writes; g++ announces the two sides of a plain copy in the other order.
  [[nodiscard]] std::string widths() const {
    std::vector<std::string> sorted;
    for (const Access& access : accesses) sorted.push_back(access.what);
    std::sort(sorted.begin(), sorted.end());
    std::string text;
    for (const std::string& what : sorted) text += (text.empty() ? "" : " ") + what;
    return text;
  }
};
struct Report {
  std::map<std::string, Kernel> kernels;
  std::vector<Fields> others;
};

Report read_report(const std::string& output) {
  Report report;
  Kernel* kernel = nullptr;
  for (const Fields& line : parse(output)) {
    if (line.at(0) == "kernel") {
      kernel = &report.kernels[line.at(1)];
      kernel->name = line.at(2);
      kernel->mangled = line.size() > 3 ? line[3] : "";
    } else if (line.at(0) == "access") {
      kernel->accesses.push_back({line.at(1), line.at(2), line.at(3)});
    } else {
      report.others.push_back(line);
    }
  }
  return report;
}

Report report_of(const fs::path& executable) {
  const Outcome outcome = run(quoted(executable));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  return read_report(outcome.output);
}

const fs::path kTraced = GPUEXP_TRACED_FOLDER;

// "kernels.cu:LINE" of the line that ends in "// @marker".
std::string marked(const std::string& marker) {
  std::ifstream stream(kKernels);
  int number = 1;
  for (std::string line; std::getline(stream, line); ++number)
    if (line.ends_with("// @" + marker)) return "tests/simt/data/traced_kernels.cu:" + std::to_string(number) + ":";
  ADD_FAILURE() << "no line is marked " << marker;
  return {};
}

class Symbols : public ::testing::Test {
 protected:
  Symbols() : report_(report_of(kTraced / "traced_usual")) {
    std::string pattern = (fs::temp_directory_path() / "gpuexp_symbols_XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) folder_ = pattern;
  }
  ~Symbols() override {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  const Kernel& kernel(const std::string& name) {
    EXPECT_TRUE(report_.kernels.contains(name)) << name;
    return report_.kernels[name];
  }

  Report report_;
  fs::path folder_;  // of this test's own
};

using VectorTypes = Symbols;

// ---- names ----

TEST_F(Symbols, KernelNamesAreThoseOfTheSource) {
  EXPECT_EQ(kernel("tile<16>").name, "tile<16>");
  EXPECT_EQ(kernel("tile<8>").name, "tile<8>");
  EXPECT_EQ(kernel("local_name<double, 4>").name, "local_name<double, 4>");
  EXPECT_EQ(kernel("dynamic").name, "dynamic");
  EXPECT_THAT(kernel("tile<16>").mangled, StartsWith("_ZN26gpuexp_simt_traced_kernels4tileILi16E"));
}

TEST_F(Symbols, SharedVariablesBelongToTheirKernels) {
  std::map<std::string, Fields> by_function;
  std::vector<std::string> at_file_scope;
  for (const Fields& line : report_.others) {
    if (line[0] != "tls") continue;
    EXPECT_EQ(line.at(4), kUnit);
    EXPECT_EQ(line.at(5), "1") << "lies in the TLS segment";
    if (line[3].empty())
      at_file_scope.push_back(line[1]);
    else
      by_function[line[3]] = {line[1], line[2]};
  }
  EXPECT_THAT(by_function[kernel("tile<16>").mangled], ElementsAre("As", std::to_string(16 * 17 * 4)));
  EXPECT_THAT(by_function[kernel("tile<8>").mangled], ElementsAre("As", std::to_string(8 * 9 * 4)));
  EXPECT_THAT(by_function[kernel("local_name<double, 4>").mangled], ElementsAre("As", "32"));
  EXPECT_THAT(by_function[kernel("f4_shared").mangled], ElementsAre("rows", std::to_string(4 * 5 * 16)));
  EXPECT_THAT(by_function[kernel("half_shared").mangled], ElementsAre("rows", std::to_string(8 * 9 * 2)));
  EXPECT_THAT(at_file_scope, ElementsAre("pool"));
}

TEST_F(Symbols, AccessesFallIntoTheirSharedVariables) {
  const Kernel& tile = kernel("tile<16>");
  ASSERT_EQ(tile.widths(), "read4 read4 write4 write4");
  EXPECT_EQ(tile.accesses[0].variable, "-");
  EXPECT_EQ(tile.accesses[1].variable, "As of " + tile.mangled);
  EXPECT_EQ(tile.accesses[2].variable, "As of " + tile.mangled);
  EXPECT_EQ(kernel("dynamic").accesses.at(1).variable, "pool of ");
}

TEST_F(Symbols, DeviceVariables) {
  std::map<std::string, Fields> variables;
  for (const Fields& line : report_.others)
    if (line[0] == "device") variables[line[1]] = line;
  ASSERT_TRUE(variables.contains("scale"));
  ASSERT_TRUE(variables.contains("coefficients"));
  EXPECT_EQ(variables["scale"].at(2), "4");
  EXPECT_EQ(variables["scale"].at(3), kUnit);
  EXPECT_EQ(variables["coefficients"].at(2), "32");
  EXPECT_EQ(variables["coefficients"].at(4), "gpuexp_constant");
}

// ---- sites ----

TEST_F(Symbols, SitesAreThoseOfTheSource) {
  const Kernel& tile = kernel("tile<16>");
  ASSERT_EQ(tile.accesses.size(), 4U);
  EXPECT_THAT(tile.accesses[0].site, StartsWith(marked("tile_store")));
  EXPECT_THAT(tile.accesses[1].site, StartsWith(marked("tile_store")));
  EXPECT_THAT(tile.accesses[2].site, StartsWith(marked("tile_load")));
  EXPECT_THAT(tile.accesses[3].site, StartsWith(marked("tile_load")));
  EXPECT_THAT(kernel("local_name<double, 4>").accesses.at(0).site, StartsWith(marked("local_name")));
  EXPECT_THAT(kernel("dynamic").accesses.at(1).site, StartsWith(marked("dynamic")));
  for (const auto& [name, traced] : report_.kernels) {
    for (const Access& access : traced.accesses) {
      EXPECT_THAT(access.site, StartsWith("tests/simt/data/traced_kernels.cu:")) << name;
      EXPECT_THAT(access.site, ::testing::Not(::testing::EndsWith(":0"))) << name;
    }
  }
}

TEST_F(Symbols, ColumnsTellAccessesOfALineApart) {
  const Kernel& tile = kernel("tile<16>");
  EXPECT_NE(tile.accesses.at(0).site, tile.accesses.at(1).site);
}

TEST_F(Symbols, ShadowHeadersAreWalkedOutOf) {
  const Kernel& hints = kernel("hints");
  ASSERT_EQ(hints.widths(), "read4 read4 write4 write4");
  EXPECT_THAT(hints.accesses[0].site, StartsWith(marked("ldg")));
  EXPECT_THAT(hints.accesses[1].site, StartsWith(marked("ldcs")));
  EXPECT_THAT(hints.accesses[2].site, StartsWith(marked("ldg")));  // the statement begins there
  EXPECT_THAT(hints.accesses[3].site, StartsWith(marked("stcs")));
}

TEST_F(Symbols, DeviceFunctionsOfTheKernelFileKeepTheirLines) {
  const Kernel& called = kernel("called");
  ASSERT_EQ(called.widths(), "read4 write4");
  EXPECT_THAT(called.accesses[0].site, StartsWith(marked("first_of")));
  EXPECT_THAT(called.accesses[1].site, StartsWith(marked("called")));
}

TEST_F(Symbols, AddressesOfNothingAreUnknown) {
  std::map<std::string, Fields> others;
  for (const Fields& line : report_.others) others[line[0]] = line;
  EXPECT_THAT(others["nowhere"], ElementsAre("nowhere", "?:0:0", "?", "?:0:0"));
  EXPECT_EQ(others["main"].at(1), "record");
}

// ---- other kinds of executables ----

std::string sites(const Report& report) {
  std::string text;
  for (const auto& [name, kernel] : report.kernels) {
    text += name + " is " + kernel.name + "\n";
    for (const Access& access : kernel.accesses) text += access.what + " " + access.site + " " + access.variable + "\n";
  }
  return text;
}

TEST_F(Symbols, EveryKindOfExecutableTellsTheSame) {
  EXPECT_EQ(sites(report_of(kTraced / "traced_fixed")), sites(report_));
  EXPECT_EQ(sites(report_of(kTraced / "traced_split")), sites(report_));
  const fs::path compressed = folder_ / "compressed";
  ASSERT_EQ(run("objcopy --compress-debug-sections=zlib " + quoted(kTraced / "traced_usual") + " " + quoted(compressed))
                .status,
            0);
  EXPECT_EQ(sites(report_of(compressed)), sites(report_));
}

TEST_F(Symbols, StrippedExecutablesKnowNothingAndWork) {
  const fs::path stripped = folder_ / "stripped";
  ASSERT_EQ(run("objcopy --strip-all " + quoted(kTraced / "traced_usual") + " " + quoted(stripped)).status, 0);
  const Report report = report_of(stripped);
  ASSERT_EQ(report.kernels.size(), report_.kernels.size());
  for (const auto& [name, kernel] : report.kernels) {
    EXPECT_EQ(kernel.name, "?");
    EXPECT_EQ(kernel.mangled, "");
    for (const Access& access : kernel.accesses) EXPECT_EQ(access.site, "?:0:0");
  }
  for (const Fields& line : report.others) EXPECT_THAT(line[0], ::testing::AnyOf("nowhere", "main"));
}

TEST_F(Symbols, WithoutDebugInformationNamesRemain) {
  const fs::path bare = folder_ / "bare";
  ASSERT_EQ(run("objcopy --strip-debug " + quoted(kTraced / "traced_usual") + " " + quoted(bare)).status, 0);
  const Report report = report_of(bare);
  EXPECT_EQ(report.kernels.at("tile<16>").name, "tile<16>");
  EXPECT_EQ(report.kernels.at("tile<16>").accesses.at(0).site, "?:0:0");
}

TEST_F(Symbols, SeparateDebugFiles) {
  const fs::path linked = folder_ / "separate";
  const std::string usual = quoted(kTraced / "traced_usual");
  ASSERT_EQ(run("cd " + quoted(folder_) + " && objcopy --only-keep-debug " + usual + " separate.debug && objcopy " +
                "--strip-all --add-gnu-debuglink=separate.debug " + usual + " separate")
                .status,
            0);
  EXPECT_EQ(sites(report_of(linked)), sites(report_));
  // In .debug/ below it as well.
  fs::create_directory(folder_ / ".debug");
  fs::rename(folder_ / "separate.debug", folder_ / ".debug/separate.debug");
  EXPECT_EQ(sites(report_of(linked)), sites(report_));
  // A file of that name that is not its debug file is not believed.
  std::ofstream(folder_ / ".debug/separate.debug", std::ios::app) << "changed";
  EXPECT_EQ(report_of(linked).kernels.at("tile<16>").name, "?");
}

// ---- the shadow vector types: accesses of a kernel, in the order of the hooks ----

TEST_F(VectorTypes, OneAccessPerVectorOfUpTo16Bytes) {
  const std::map<std::string, std::string> expected {
    {"f1_copy", "read4 write4"}, {"f2_copy", "read8 write8"}, {"f2_sum", "read8 write4"}, {"f2_make", "write8"},
        {"f2_component", "read4 write4"}, {"f4_copy", "read16 write16"}, {"f4_sum", "read16 write4"},
        {"f4_cast", "read16 write4"}, {"f4_scale", "read16 write16"}, {"f4_make", "write16"},
        {"f4_ldg", "read16 write16"}, {"f4_loop", "read16 read16 write4"},
        {"f4_shared", "read16 read16 write16 write16"}, {"d2_sum", "read16 write8"}, {"uc2_sum", "read2 write4"},
        {"uc4_copy", "read4 write4"}, {"uc4_sum", "read4 write4"}, {"s4_sum", "read8 write4"},
        {"i4_copy", "read16 write16"}, {"ll2_sum", "read16 write8"}, {"half_add", "read2 read2 write2"},
        {"half2_sum", "read4 write2"}, {"bf162_float", "read4 write8"},
#if !defined( \
    __clang__)  // which leaves a copy from memory to memory to memcpy; EngineSpaces.WholeObjects sees it counted
        {"half_shared", "read2 read2 write2 write2"},
#endif
        {"particle", "read16 write16"},
  };
  for (const auto& [name, widths] : expected) EXPECT_EQ(kernel(name).widths(), widths) << name;
}

TEST_F(VectorTypes, LargerOnesTakeTwoAccessesOf16Bytes) {
  EXPECT_EQ(kernel("d4_copy").widths(), "read16 read16 write16 write16");
  EXPECT_EQ(kernel("d4_sum").widths(), "read16 read16 write8");
}

TEST_F(VectorTypes, ThreeComponentsAreThreeAccesses) {
  EXPECT_EQ(kernel("f3_copy").widths(), "read4 read4 read4 write4 write4 write4");
  EXPECT_EQ(kernel("f3_sum").widths(), "read4 read4 read4 write4");
  EXPECT_EQ(kernel("d3_copy").widths(), "read8 read8 read8 write8 write8 write8");
  EXPECT_EQ(kernel("particle_velocity").widths(), "read4 read4 read4 write4 write4 write4");
}

TEST_F(VectorTypes, MathTouchesNoMemory) { EXPECT_EQ(kernel("math").widths(), "read4 read4 write4 write4"); }

TEST_F(VectorTypes, KernelObjectsShareNoFunctions) {
  const Outcome symbols = run("nm -C --defined-only " + quoted(fs::path(GPUEXP_TRACED_OBJECT)));
  ASSERT_EQ(symbols.status, 0);
  for (std::istringstream stream(symbols.output); stream;) {
    std::string line;
    std::getline(stream, line);
    const bool weak_code = line.find(" W ") != std::string::npos;
    if (weak_code) {
      EXPECT_THAT(line, HasSubstr(kUnit));
    }
  }
}

}  // namespace
}  // namespace gpuexp::simt
