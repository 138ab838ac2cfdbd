// The shipped device files: valid, complete, consistent with themselves, dense; and the reader's errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "profiler/core/error.h"
#include "profiler/device/device_spec.h"
#include "profiler/device/name_words.h"
#include "tests/device/mini_schema.h"

namespace gpuexp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string source_dir = GPUEXP_SOURCE_DIR;

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> device_paths() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(source_dir + "/configs/devices"))
    paths.push_back(entry.path().string());
  return paths;
}

// The A100 file as JSON, to be spoilt.
json a100() { return json::parse(file_text(source_dir + "/configs/devices/a100-pcie-80gb.json")); }

std::string error_of(const std::string& text) {
  try {
    parse_device(text, "my.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(DeviceFiles, AllAreBuiltIn) {
  EXPECT_EQ(devices().size(), 21U);
  EXPECT_EQ(devices().size(), device_paths().size());
}

TEST(DeviceFiles, MatchThePublishedSchema) {
  const testing::MiniSchema schema(json::parse(file_text(source_dir + "/configs/schema/device.schema.json")));
  for (const std::string& path : device_paths())
    EXPECT_THAT(schema.check(json::parse(file_text(path))), ::testing::IsEmpty()) << path;
}

TEST(DeviceFiles, SchemaRefusesWhatTheReaderRefuses) {
  const testing::MiniSchema schema(json::parse(file_text(source_dir + "/configs/schema/device.schema.json")));
  json wrong_key = a100();
  wrong_key["boost_clock"] = 1;
  json wrong_type = a100();
  wrong_type["sm_count"]["value"] = "108";
  json no_fp32_kind = a100();
  no_fp32_kind["peaks_tflops"]["fp32"].erase("kind");
  json missing = a100();
  missing.erase("memory");
  for (const json& bad : {wrong_key, wrong_type, no_fp32_kind, missing}) {
    EXPECT_FALSE(schema.check(bad).empty());
    EXPECT_NE(error_of(bad.dump()), "no error");
  }
}

TEST(DeviceFiles, EveryValueNamesItsSource) {
  for (const DeviceSpec& spec : devices()) {
    EXPECT_GE(spec.provenance.size(), 30U) << spec.id;
    for (const auto& [path, provenance] : spec.provenance) {
      if (provenance.evidence == Evidence::remembered) continue;
      EXPECT_NE(provenance.source, "") << spec.id << " " << path;
    }
  }
  const DeviceSpec h200 = find_device("h200-nvl").spec;
  EXPECT_EQ(h200.provenance_of("sm_count").evidence, Evidence::remembered);
  EXPECT_EQ(h200.provenance_of("peaks_tflops.fp16").evidence, Evidence::derived);
  EXPECT_EQ(h200.source_of("peaks_tflops.fp16"), Source::modelled);
  EXPECT_EQ(h200.source_of("peaks_tflops.fp32"), Source::spec);
}

// A peak is lanes x clock x 2 (B01, B02); a sparse number, or a dense one halved again, is off by a factor of two (B10,
// B11).
TEST(DeviceFiles, PeaksAgreeWithRatesAndClocks) {
  int compared = 0;
  for (const DeviceSpec& spec : devices())
    for (const auto& [id, peak] : spec.peaks) {
      const Precision& precision = find_precision(id);
      const auto by_rate = peak_at_clock(spec, precision, spec.clock_of(precision));
      if (!by_rate) continue;
      ++compared;
      // B200: NVIDIA publishes neither clock nor exact peaks.
      const double tolerance = spec.family == "B200" ? 0.15 : 0.02;
      EXPECT_NEAR(peak / *by_rate, 1.0, tolerance) << spec.id << " " << id;
    }
  EXPECT_GT(compared, 120);
}

// Exactly one factor of two, for the two clock edges (B14). Datasheets round to three digits.
TEST(DeviceFiles, BandwidthAgreesWithBusAndClock) {
  int compared = 0;
  for (const DeviceSpec& spec : devices()) {
    if (!spec.memory.bus_width_bits || !spec.memory.clock_hz) continue;
    ++compared;
    EXPECT_NEAR(spec.memory.bandwidth / bus_bandwidth(*spec.memory.bus_width_bits, *spec.memory.clock_hz), 1.0, 0.01)
        << spec.id;
  }
  EXPECT_GE(compared, 14);
}

TEST(DeviceFiles, NamesAreUnambiguous) {
  for (const DeviceSpec& spec : devices()) {
    const std::vector<std::string> words = name_words(spec.name);
    for (const std::string& word : name_words(spec.family)) EXPECT_THAT(words, ::testing::Contains(word)) << spec.id;
    EXPECT_EQ(find_device(spec.id).spec.id, spec.id);
    EXPECT_EQ(find_device(spec.name).spec.id, spec.id);
    for (const std::string& alias : spec.aliases) EXPECT_EQ(find_device(alias).spec.id, spec.id) << alias;
  }
}

TEST(DeviceFiles, FiguresOfTheDatasheets) {
  const DeviceSpec a = find_device("a100").spec;
  EXPECT_EQ(a.memory.bandwidth, 1935e9);
  EXPECT_EQ(a.peak("fp32"), 19.5e12);
  EXPECT_EQ(a.peak("tf32"), 156e12);
  EXPECT_EQ(a.peak("fp16"), 312e12);  // dense; B10: not halved again
  EXPECT_EQ(a.peak("fp8"), std::nullopt);
  EXPECT_EQ(a.sm_count, 108);
  EXPECT_EQ(a.sm.shared_bytes_per_block, 163 * 1024);
  EXPECT_EQ(a.l2_bytes, 40.0 * 1024 * 1024);
  const DeviceSpec h = find_device("h100").spec;
  EXPECT_EQ(h.sm.shared_bytes_per_block, 227 * 1024);
  EXPECT_EQ(h.peak("bf16"), 989.4e12);  // B11: not 1979
  EXPECT_EQ(find_device("h100-pcie").spec.peak("bf16"), 756e12);
  EXPECT_EQ(find_device("h200").spec.memory.bandwidth, 4800e9);  // B12
}

TEST(Peaks, ByLanesClockAndTheFactorTwo) {
  EXPECT_DOUBLE_EQ(peak_flops(14 * 32, 1.15e9), 1030.4e9);     // B01: C2050, not the SFU-inflated 1288
  EXPECT_DOUBLE_EQ(peak_flops(14 * 32 / 2, 1.15e9), 515.2e9);  // B01: double precision at half rate
  EXPECT_DOUBLE_EQ(peak_flops(1664, 1.05e9), 3494.4e9);        // B02: GTX 970
  EXPECT_DOUBLE_EQ(peak_flops(68 * 64, 1.545e9), 13447.68e9);  // B15: 2080 Ti at its listed clock
  // B14: 132 SM x 1024 FMA at 1.98 GHz is the TF32 tensor rate of an H100; its FP32 rate is 66.9 TFLOP/s.
  const DeviceSpec h = find_device("h100").spec;
  EXPECT_NEAR(*peak_at_clock(h, find_precision("tf32"), 1.98e9), 535.3e12, 0.1e12);
  EXPECT_NEAR(*peak_at_clock(h, find_precision("fp32"), 1.98e9), 66.9e12, 0.1e12);
}

TEST(Precisions, AreFoundByIdAndLabel) {
  EXPECT_EQ(find_precision("TF32").id, "tf32");
  EXPECT_EQ(find_precision("FP64 tensor").id, "fp64_tensor");
  EXPECT_EQ(find_precision("fp16-vector").id, "fp16_vector");
  try {
    find_precision("tf23");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'tf32'?"));
    EXPECT_THAT(error.what(), HasSubstr("fp64, fp64_tensor, fp32, tf32"));
  }
}

TEST(Reader, AcceptsAByteOrderMarkAndCrLf) {
  std::string text("\xEF\xBB\xBF");
  for (const char c : a100().dump(2)) {
    if (c == '\n') text.push_back('\r');
    text.push_back(c);
  }
  EXPECT_EQ(parse_device(text, "my.json").name, "A100 80GB PCIe");
}

TEST(Reader, NamesThePlaceOfEveryFault) {
  struct Case {
    const char* what;
    std::function<void(json&)> spoil;
    std::vector<std::string> says;
  };
  const std::vector<Case> cases{
      {"unknown key",
       [](json& j) { j["bost_clock_mhz"] = 1; },
       {"bost_clock_mhz: unknown key", "did you mean 'boost_clock_mhz'?"}},
      {"unknown SM key",
       [](json& j) { j["sm"]["max_warp"] = 1; },
       {"sm.max_warp: unknown key", "did you mean 'max_warps'?"}},
      {"unknown precision", [](json& j) { j["peaks_tflops"]["fp33"] = 1; }, {"peaks_tflops.fp33", "did you mean"}},
      {"missing", [](json& j) { j["memory"].erase("bandwidth_gb_s"); }, {"memory.bandwidth_gb_s: missing"}},
      {"bare number", [](json& j) { j["sm_count"] = 108; }, {"sm_count: expected {\"value\": NUMBER", "not 108"}},
      {"text for a number",
       [](json& j) { j["sm_count"]["value"] = "108"; },
       {"sm_count.value: expected a number, not \"108\""}},
      {"boolean", [](json& j) { j["sm_count"]["value"] = true; }, {"sm_count.value: expected a number, not true"}},
      {"fraction", [](json& j) { j["sm_count"]["value"] = 107.5; }, {"sm_count.value: expected a whole number"}},
      {"zero bandwidth",
       [](json& j) { j["memory"]["bandwidth_gb_s"]["value"] = 0; },
       {"memory.bandwidth_gb_s.value: 0 is outside"}},
      {"negative peak",
       [](json& j) { j["peaks_tflops"]["fp32"]["value"] = -1; },
       {"peaks_tflops.fp32.value: -1 is outside"}},
      {"kind",
       [](json& j) { j["sm_count"]["kind"] = "datashet"; },
       {"sm_count.kind: unknown kind 'datashet'", "did you mean 'datasheet'?"}},
      {"source",
       [](json& j) { j["sm_count"]["source"] = "A100WB"; },
       {"sm_count.source: 'A100WB' is not under sources", "did you mean 'A100WP'?"}},
      {"no source", [](json& j) { j["sm_count"].erase("source"); }, {"sm_count.source: missing"}},
      {"compute capability",
       [](json& j) { j["compute_capability"] = "sm_80"; },
       {"compute_capability: expected MAJOR.MINOR"}},
      {"chip", [](json& j) { j["chip"] = "A100"; }, {"chip: expected the name of a chip such as", "not \"A100\""}},
      {"chip of another architecture",
       [](json& j) { j["chip"] = "GH100"; },
       {"chip: \"GH100\" is no chip of compute capability 8.0"}},
      {"family", [](json& j) { j["family"] = "-"; }, {"family: expected a name with letters or digits"}},
      {"schema", [](json& j) { j["$schema"] = 7; }, {"$schema: expected a text, not 7"}},
      {"no peaks", [](json& j) { j["peaks_tflops"] = json::object(); }, {"peaks_tflops: no peak at all"}},
      {"inconsistent warps", [](json& j) { j["sm"]["max_warps"]["value"] = 48; }, {"sm.max_warps"}},
      {"not an object", [](json& j) { j = json::array(); }, {"the file: expected an object, not array"}},
  };
  for (const Case& c : cases) {
    json spoilt = a100();
    c.spoil(spoilt);
    const std::string error = error_of(spoilt.dump());
    EXPECT_THAT(error, ::testing::StartsWith("my.json: ")) << c.what;
    for (const std::string& text : c.says) EXPECT_THAT(error, HasSubstr(text)) << c.what;
  }
}

TEST(Reader, RefusesDuplicateKeysAndWhatIsNoJson) {
  const std::string text = fmt::format(R"({{"name": "other", {})", a100().dump().substr(1));
  EXPECT_THAT(error_of(text), HasSubstr("key 'name' is given twice"));
  EXPECT_THAT(error_of("{\"name\": "), HasSubstr("my.json: not a device file: line 1, column 10: syntax error"));
  EXPECT_THAT(error_of(""), HasSubstr("my.json: not a device file: it is empty; one looks like configs/devices/"));
  EXPECT_THAT(error_of(std::string(1000, '[')), HasSubstr("nested deeper than 16 levels"));
  EXPECT_THAT(error_of(std::string(2U << 20, ' ')), HasSubstr("more than 1048576 bytes"));
  EXPECT_THAT(error_of(a100().dump() + std::string(1, '\0') + "x"), HasSubstr("it holds a zero byte"));
  json steering = a100();
  steering["name"] = "\x1b[31mA100";
  EXPECT_THAT(error_of(steering.dump()), HasSubstr("holds a control character"));
  EXPECT_THAT(error_of("{\"\xff\": 1}"), ::testing::Not(HasSubstr("\xff")));
}

TEST(Reader, ARememberedValueNeedsNoSource) {
  json j = a100();
  j["memory"]["bandwidth_gb_s"] = {{"value", 2000}, {"kind", "remembered"}};
  const DeviceSpec spec = parse_device(j.dump(), "dir/my.json");
  EXPECT_EQ(spec.memory.bandwidth, 2000e9);
  EXPECT_EQ(spec.provenance_of("memory.bandwidth_gb_s").evidence, Evidence::remembered);
  EXPECT_EQ(spec.id, "my");
}

TEST(FindDevice, ShortNamesSayWhichSkuTheyMean) {
  const DeviceMatch a = find_device("a100");
  EXPECT_EQ(a.spec.name, "A100 80GB PCIe");
  EXPECT_THAT(a.note, HasSubstr("a100 means A100 80GB PCIe (a100-pcie-80gb)"));
  EXPECT_THAT(a.note, HasSubstr("A100 80GB SXM4 (a100-sxm4-80gb)"));
  const DeviceMatch h = find_device("H100");
  EXPECT_EQ(h.spec.name, "H100 SXM5 80GB");
  EXPECT_THAT(h.note, HasSubstr("H100 NVL 94GB (h100-nvl-94gb)"));
  EXPECT_EQ(find_device("a100-pcie-80gb").note, "");
}

TEST(FindDevice, IgnoresCaseSpacesDashesAndTheMakersName) {
  for (const char* name : {"A100-PCIe-80GB", "a100 pcie 80gb", "A100PCIE80GB", "A100 80GB PCIe",
                           "NVIDIA A100 80GB PCIe", "80gb a100 pcie"})
    EXPECT_EQ(find_device(name).spec.id, "a100-pcie-80gb") << name;
  EXPECT_EQ(find_device("NVIDIA H100 80GB HBM3").spec.id, "h100-sxm5-80gb");
  EXPECT_EQ(find_device("Tesla V100-SXM2-32GB").spec.id, "v100-sxm2-32gb");
  EXPECT_EQ(find_device("NVIDIA GeForce RTX 4090").spec.id, "rtx-4090");
  EXPECT_EQ(find_device("h100-sxm").spec.id, "h100-sxm5-80gb");  // B12
  EXPECT_EQ(find_device("h100-pcie").spec.id, "h100-pcie-80gb");
}

std::string find_error(std::string_view name, ExitCode code = ExitCode::usage) {
  try {
    return fmt::format("found {}", find_device(name).spec.id);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
}

TEST(FindDevice, NothingUnknownIsEverReplaced) {
  EXPECT_THAT(find_error("NVIDIA B300 SXM6 AC"), HasSubstr("did you mean b200-sxm-180gb?"));  // B09
  EXPECT_THAT(find_error("rtx-4080"), HasSubstr("rtx-4090"));
  EXPECT_THAT(find_error("h800"), HasSubstr("unknown device 'h800'"));
  EXPECT_THAT(find_error(""), HasSubstr("unknown device ''"));
  EXPECT_THAT(find_error("nvidia"), HasSubstr("unknown device 'nvidia'"));
  EXPECT_THAT(find_error("mi300"), HasSubstr("known are a10, a100-pcie-40gb"));
  EXPECT_THAT(find_error("a100-80gb"),
              HasSubstr("is not one device: give one of A100 80GB PCIe (a100-pcie-80gb), A100 80GB SXM4"));
  EXPECT_THAT(find_error("auto", ExitCode::machine), HasSubstr("--device a100"));
}

TEST(FindDevice, APathOverrides) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "a100.json";
  json j = a100();
  j["name"] = "My card";
  std::ofstream(path) << j.dump();
  const DeviceMatch match = find_device(path.string());
  EXPECT_EQ(match.spec.name, "My card");
  EXPECT_EQ(match.spec.origin, path.string());
  std::filesystem::remove(path);
  EXPECT_THAT(find_error(path.string()), HasSubstr("cannot be read"));
  EXPECT_THAT(find_error("./"), HasSubstr("is a directory"));
  EXPECT_THAT(find_error("/dev/zero"),
              HasSubstr("/dev/zero: has more than the 1 MiB that are read of a pipe or device"));
  EXPECT_THAT(find_error("/dev/null"), HasSubstr("/dev/null: not a device file: it is empty"));
}

}  // namespace
}  // namespace gpuexp
