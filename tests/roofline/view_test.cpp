// What `gpuexp roofline` prints: the lectures' figures, the same in every format, within 100 columns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "profiler/core/error.h"
#include "profiler/core/text.h"
#include "profiler/roofline/ceilings.h"
#include "profiler/roofline/roofline_view.h"
#include "profiler/roofline/units.h"

namespace gpuexp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text)
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  return lines;
}

RooflineView view_of(const char* device, const char* precision = nullptr) {
  return lecture_view(find_device(device), precision == nullptr ? nullptr : &find_precision(precision));
}

// Placement of a kernel by label.
Placement placed(const char* device, const char* precision, const char* label) {
  const DeviceSpec spec = find_device(device).spec;
  for (const LabelledPoint& point : lecture_points(find_precision(precision).element_bytes))
    if (point.label == label) return place(point, spec, find_precision(precision));
  ADD_FAILURE() << "no kernel " << label;
  return {};
}

TEST(Placement, TheLecturesFigures) {
  EXPECT_EQ(placed("a100", "fp32", "matmul naive").point.intensity, 0.25);
  EXPECT_DOUBLE_EQ(placed("a100", "fp32", "matmul naive").attainable, 483.75e9);
  EXPECT_NEAR(placed("a100", "fp32", "matmul naive").percent_of_peak, 2.48, 0.005);
  EXPECT_NEAR(placed("a100", "fp32", "matmul tiled, TILE=16").percent_of_peak, 40, 0.5);
  EXPECT_NEAR(placed("a100", "fp32", "matmul tiled, TILE=32").percent_of_peak, 80, 1);
  EXPECT_EQ(placed("a100", "fp32", "matmul, block tile 128x128").bound_by, BoundBy::compute);
  EXPECT_NEAR(placed("a100", "tf32", "matmul, block tile 128x128").percent_of_peak, 39.7, 0.05);
  EXPECT_NEAR(placed("a100", "tf32", "matmul, block tile 128x256").percent_of_peak, 52.9, 0.05);
  EXPECT_EQ(placed("a100", "tf32", "matmul, block tile 128x256").bound_by, BoundBy::memory);
  EXPECT_DOUBLE_EQ(placed("a100", "fp32", "vector add").point.intensity, 1.0 / 12);
  EXPECT_DOUBLE_EQ(placed("a100", "fp32", "axpy").point.intensity, 1.0 / 6);
  EXPECT_EQ(placed("h100", "fp32", "gemv, matrix read once").point.intensity, 0.5);
  EXPECT_NEAR(placed("h100", "fp32", "gemv, matrix read once").attainable, 1.68e12, 0.005e12);
  EXPECT_NEAR(placed("h100", "fp32", "matmul naive").percent_of_peak, 1.25, 0.005);
  // Half the element, twice the intensity.
  EXPECT_EQ(placed("a100", "fp16", "matmul naive").point.intensity, 0.5);
}

TEST(Ceilings, OfTheA100) {
  const Ceilings c = ceilings_of(find_device("a100").spec);
  ASSERT_EQ(c.bandwidths.size(), 3U);
  EXPECT_EQ(c.bandwidths[0].bandwidth, 1935e9);
  EXPECT_EQ(c.bandwidths[0].source, Source::spec);
  EXPECT_EQ(c.bandwidths[1].id, "l2");
  EXPECT_DOUBLE_EQ(c.bandwidths[1].bandwidth, 5120 * 1.41e9);
  EXPECT_EQ(c.bandwidths[1].source, Source::modelled);
  EXPECT_DOUBLE_EQ(c.bandwidths[2].bandwidth, 128 * 108 * 1.41e9);
  EXPECT_EQ(c.bandwidths[2].how, "128 B/clk/SM x 108 SM x 1410 MHz");
  std::map<std::string_view, const ComputeCeiling*> by_id;
  for (const ComputeCeiling& roof : c.peaks) by_id[roof.precision->id] = &roof;
  EXPECT_NEAR(by_id.at("fp32")->ridges[0], 10.08, 0.005);
  EXPECT_NEAR(by_id.at("tf32")->ridges[0], 80.6, 0.05);
  EXPECT_EQ(by_id.at("fp16")->peak, 312e12);
  EXPECT_FALSE(by_id.contains("fp8"));
}

// B04: a ceiling says at which clock it holds.
TEST(Ceilings, SayTheirClock) {
  for (const ComputeCeiling& roof : ceilings_of(find_device("h100").spec).peaks)
    EXPECT_EQ(roof.clock_mhz, roof.precision->tensor && roof.precision->id != "fp64_tensor" ? 1830 : 1980)
        << roof.precision->id;
}

TEST(Ceilings, APeakTheDeviceLacksIsAnErrorThatListsThoseItHas) {
  try {
    view_of("a100", "fp8");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(),
                HasSubstr("A100 80GB PCIe has no fp8 peak; --precision takes fp64, fp64_tensor, fp32, tf32"));
  }
}

TEST(Table, HoldsTheFiguresTheSkuAndTheSources) {
  const std::string text = roofline_table(view_of("a100"));
  for (const char* wanted :
       {"a100 means A100 80GB PCIe (a100-pcie-80gb)", "DRAM             1,935 GB/s  spec", "19.5 TFLOP/s  spec",
        "156 TFLOP/s  spec", "312 TFLOP/s  spec", "10.08", "80.62", "483.75 GFLOP/s    2.48 %  memory", "39.7 %",
        "79.4 %", "52.9 %", "2*128*256 / ((128+256) * 4 B)", "1410 MHz", "modelled  128 B/clk/SM x 108 SM x 1410 MHz"})
    EXPECT_THAT(text, HasSubstr(wanted));
  EXPECT_THAT(roofline_table(view_of("h100")), HasSubstr("838 GFLOP/s    1.25 %"));
  EXPECT_THAT(roofline_table(view_of("v100")), Not(HasSubstr("TF32 tensor")));
}

TEST(Table, FitsAHundredColumnsForEveryDeviceAndPrecision) {
  for (const DeviceSpec& spec : devices())
    for (const Precision& precision : precisions()) {
      if (!spec.peak(precision.id)) continue;
      const RooflineView view = lecture_view({spec, ""}, &precision);
      for (const bool unicode : {true, false})
        for (const std::string& line : lines_of(roofline_table(view) + roofline_plot(view, {100, unicode, false})))
          EXPECT_LE(display_width(line), 100U) << spec.id << ": " << line;
    }
}

TEST(Json, IsCompleteAndMarked) {
  const json j = json::parse(roofline_json(view_of("a100")));
  EXPECT_EQ(j["device"]["id"], "a100-pcie-80gb");
  EXPECT_THAT(j["device"]["name_note"].get<std::string>(), HasSubstr("a100 means"));
  EXPECT_EQ(j["ceilings"]["bandwidth"][0]["bytes_per_s"], 1935e9);
  for (const char* kind : {"bandwidth", "compute"})
    for (const json& ceiling : j["ceilings"][kind]) {
      EXPECT_TRUE(ceiling["source"] == "spec" || ceiling["source"] == "modelled");
      EXPECT_NE(ceiling["provenance"]["from"], "");
    }
  int naive = 0;
  for (const json& point : j["points"]) {
    EXPECT_EQ(point["source"], "modelled");
    if (point["label"] == "matmul naive" && point["precision"] == "fp32") {
      ++naive;
      EXPECT_EQ(point["attainable_per_s"], 483.75e9);
      EXPECT_EQ(point["basis"], "loaded");
      EXPECT_EQ(point["bound_by"], "memory");
    }
  }
  EXPECT_EQ(naive, 1);
}

TEST(Csv, EveryRowHasEveryColumn) {
  const auto lines = lines_of(roofline_csv(view_of("h200")));
  EXPECT_EQ(lines.back(), "");
  const auto columns = static_cast<std::ptrdiff_t>(13);
  int points = 0;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    const std::string bare = std::regex_replace(lines[i], std::regex("\"[^\"]*\""), "");
    EXPECT_EQ(std::count(bare.begin(), bare.end(), ',') + 1, columns) << lines[i];
    points += lines[i].find(",point,") != std::string::npos;
  }
  EXPECT_EQ(points, 20);
}

TEST(Plot, AsciiIsAsciiAndColourOnlyWhenAsked) {
  const RooflineView view = view_of("a100");
  const std::string ascii = roofline_plot(view, {100, false, false});
  EXPECT_TRUE(std::all_of(ascii.begin(), ascii.end(),
                          [](char c) { return static_cast<unsigned char>(c) < 127 && c != '\x1b'; }));
  EXPECT_THAT(roofline_plot(view, {100, true, false}), Not(HasSubstr("\x1b")));
  const std::string colour = roofline_plot(view, {100, false, true});
  EXPECT_THAT(colour, HasSubstr("\x1b[1;33m"));
  EXPECT_EQ(std::regex_replace(colour, std::regex("\x1b\\[[0-9;]*m"), ""), ascii);
}

// On the slope, at the ridge and on the flat roof: found again by their letters.
TEST(Plot, PutsEveryPointInItsPlace) {
  RooflineView view = view_of("a100", "fp32");
  const auto row_of_letter = [](const RooflineView& v, char letter) {
    const auto lines = lines_of(roofline_plot(v, {100, false, false}));
    for (int row = 0; row < 22; ++row) {
      const std::string& line = lines[static_cast<std::size_t>(row)];
      const auto column = line.find(letter, 10);
      if (column != std::string::npos) return std::pair(row, static_cast<int>(column) - 10);
    }
    return std::pair(-1, -1);
  };
  view.sections[0].points = {{"low", "", Basis::loaded, 0.5, Source::modelled},
                             {"ridge", "", Basis::loaded, 10.0775, Source::modelled},
                             {"high", "", Basis::loaded, 20, Source::modelled}};
  const auto low = row_of_letter(view, 'a');
  const auto ridge = row_of_letter(view, 'b');
  const auto high = row_of_letter(view, 'c');
  EXPECT_EQ(ridge.first, high.first);  // on the flat roof
  EXPECT_GT(low.first, ridge.first);   // rows count from the top
  EXPECT_LT(low.second, ridge.second);
  EXPECT_LT(ridge.second, high.second);
  // x is logarithmic: a factor of 20.2 from a to b, of 1.98 from b to c.
  EXPECT_NEAR((ridge.second - low.second) / std::log(10.0775 / 0.5),
              (high.second - ridge.second) / std::log(20 / 10.0775), 2);
}

TEST(Plot, DegenerateInput) {
  RooflineView view = view_of("a100", "fp32");
  view.sections[0].points = {{"none", "", Basis::loaded, 0, Source::modelled}};
  EXPECT_THAT(roofline_plot(view, {20, false, false}), HasSubstr("none"));
  view.sections[0].points.clear();
  for (const std::string& line : lines_of(roofline_plot(view, {10'000, true, false})))
    EXPECT_LE(display_width(line), 100U);
}

TEST(Units, ReadLikeTheLectures) {
  EXPECT_EQ(rate_text(483.75e9, "FLOP/s"), "483.75 GFLOP/s");
  EXPECT_EQ(rate_text(19.5e12, "FLOP/s"), "19.5 TFLOP/s");
  EXPECT_EQ(rate_text(1.9789e15, "FLOP/s"), "1.9789 PFLOP/s");
  EXPECT_EQ(rate_text(0, "FLOP/s"), "0 FLOP/s");
  EXPECT_EQ(bandwidth_text(1935e9), "1,935 GB/s");
  EXPECT_EQ(bandwidth_text(300e9), "300 GB/s");
  EXPECT_EQ(bandwidth_text(19491.84e9), "19,492 GB/s");
  EXPECT_EQ(intensity_text(1.0 / 12), "0.083");
  EXPECT_EQ(intensity_text(10.0775), "10.08");
  EXPECT_EQ(percent_text(2.4808), "2.48 %");
  EXPECT_EQ(percent_text(100), "100 %");
}

}  // namespace
}  // namespace gpuexp
