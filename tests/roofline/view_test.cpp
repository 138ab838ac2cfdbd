// What `gpuexp roofline` prints: the lectures' figures, the same in every format, within 100 columns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
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
  const DeviceMatch match = find_device(device);
  return lecture_view(match, ceilings_of(match.spec),
                      {precision == nullptr ? nullptr : &find_precision(precision), Level::dram});
}

// Placement of a kernel by label.
Placement placed(const char* device, const char* precision, const char* label) {
  const DeviceSpec spec = find_device(device).spec;
  for (const LabelledPoint& point : lecture_points(find_precision(precision).element_bytes))
    if (point.label == label) return place(point, ceilings_of(spec), find_precision(precision));
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
  EXPECT_EQ(c.bandwidths[1].level, Level::l2);
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

// Another level, another slope: the same bytes as if they all came from there.
TEST(Placement, UnderTheSlopeOfALevel) {
  const Ceilings c = ceilings_of(find_device("a100").spec);
  const LabelledPoint naive{"matmul naive", "", Basis::loaded, 0.25, Source::modelled};
  EXPECT_DOUBLE_EQ(place(naive, c, find_precision("fp32"), Level::l2).attainable, 0.25 * 5120 * 1.41e9);
  EXPECT_DOUBLE_EQ(place(naive, c, find_precision("fp32"), Level::l1).attainable, 0.25 * 128 * 108 * 1.41e9);
  const DeviceMatch device = find_device("a100");
  const std::string text =
      roofline_table(lecture_view(device, ceilings_of(device.spec), {&find_precision("fp32"), Level::l2}));
  EXPECT_THAT(text, HasSubstr("Under FP32 (19.5 TFLOP/s) and L2 reads (7,219 GB/s), ridge 2.7 FLOP/B"));
  Ceilings without = ceilings_of(device.spec);
  without.bandwidths.erase(without.bandwidths.begin() + 1);
  try {
    lecture_view(device, without, {nullptr, Level::l2});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_STREQ(error.what(),
                 "the L2 bandwidth of A100 80GB PCIe is not known; --level takes dram, l1; measured ones (--ceilings) "
                 "may have it");
  }
}

TEST(Ceilings, MeasuredOnesTakeThePlaceOfTheSpecificationsAndSaySo) {
  const DeviceMatch device = find_device("h200");
  const Ceilings spec = ceilings_of(device.spec);
  const Ceilings c = with_measured(spec, {{"dram", 4.2e12, 1755, "copy over 4 GiB"}, {"fp32", 60e12, 1755, "fma"}},
                                   "ceilings.json, NVIDIA H200");
  EXPECT_EQ(spec.basis, Source::spec);
  EXPECT_EQ(c.basis, Source::measured);
  EXPECT_EQ(c.find(Level::dram)->source, Source::measured);
  EXPECT_EQ(c.find(Level::dram)->of_spec, 4.8e12);
  EXPECT_EQ(c.find(Level::l1)->source, spec.find(Level::l1)->source);  // not measured: stays what it was
  const ComputeCeiling& fp32 = *c.find(find_precision("fp32"));
  EXPECT_EQ(fp32.source, Source::measured);
  EXPECT_EQ(fp32.clock_mhz, 1755);
  EXPECT_DOUBLE_EQ(fp32.ridges[0], 60e12 / 4.2e12);
  ASSERT_EQ(c.peaks.size(), spec.peaks.size());
  for (std::size_t i = 0; i < c.peaks.size(); ++i) EXPECT_EQ(c.peaks[i].precision, spec.peaks[i].precision);

  const RooflineView view = lecture_view(device, c, {&find_precision("fp32"), Level::dram});
  const std::string text = roofline_table(view);
  for (const char* wanted : {"ceilings: measured (ceilings.json, NVIDIA H200)", "measured  87.5 % of spec at 1755 MHz",
                             "and DRAM (4,200 GB/s, measured)", "60 TFLOP/s  measured"})
    EXPECT_THAT(text, HasSubstr(wanted));
  for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(line), 100U) << line;
  const json j = json::parse(roofline_json(view));
  EXPECT_EQ(j["ceilings"]["basis"], "measured");
  EXPECT_EQ(j["ceilings"]["bandwidth"][0]["source"], "measured");
  EXPECT_EQ(j["ceilings"]["bandwidth"][0]["percent_of_spec"], 87.5);
  EXPECT_FALSE(j["ceilings"]["bandwidth"][1].contains("percent_of_spec"));
  EXPECT_THAT(roofline_csv(view), HasSubstr("bandwidth_ceiling,DRAM,,4.2e+12,"));
  EXPECT_THAT(roofline_svg(view), HasSubstr("DRAM 4,200 GB/s (measured)"));
  EXPECT_THAT(roofline_plot(view, {100, false, false}), HasSubstr("DRAM 4,200 GB/s (measured)"));
}

TEST(Ceilings, AMeasuredCeilingThatIsNoneIsRefused) {
  const Ceilings spec = ceilings_of(find_device("h200").spec);
  const auto refused = [&](const std::vector<MeasuredCeiling>& measured) -> std::string {
    try {
      with_measured(spec, measured, "c.json");
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refused({{"fp33", 1, 0, ""}}),
              HasSubstr("c.json: unknown ceiling 'fp33'; ceilings are dram, l2, l1, fp64"));
  EXPECT_THAT(refused({{"dram", 0, 0, ""}}), HasSubstr("'dram' is 0, not a positive number"));
  EXPECT_THAT(refused({{"l1", std::nan(""), 0, ""}}), HasSubstr("not a positive number"));
  EXPECT_THAT(refused({{"l1", 1, 0, ""}, {"l1", 2, 0, ""}}), HasSubstr("stands twice"));
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
      const RooflineView view = lecture_view({spec, ""}, ceilings_of(spec), {&precision, Level::dram});
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
  const auto columns = static_cast<std::ptrdiff_t>(23);
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
      const std::string line =
          std::regex_replace(lines[static_cast<std::size_t>(row)], std::regex("FP32 .*\\(spec\\)"), "");
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

// --- points of result files ---

// A point that took `time_us` for `flops`, with DRAM, L2 and L1 bytes as the chip counted them.
ResultPoint measured_point(const DeviceSpec& spec, const std::string& label, double flops, double time_us,
                           std::uint64_t dram, std::uint64_t l2_sectors, std::uint64_t l1_sectors,
                           std::uint64_t wavefronts) {
  PointResult result;
  result.backend = "cuda";
  result.point.variant = "matmul/" + label;
  result.point.params.set("dtype", std::string("float32"));
  result.flops = flops;
  result.compulsory_load_bytes = 1 << 30;
  result.timing.emplace().samples_us = {time_us};
  const auto count = [&](const char* id, std::uint64_t n) {
    result.counters[id] = Quantity::count(n, Source::measured);
  };
  count("dram_read_bytes", dram);
  count("dram_write_bytes", 0);
  count("l2_read_sectors", l2_sectors);
  count("l2_write_sectors", 0);
  count("transaction_load_bytes", 32 * l1_sectors);
  count("transaction_store_bytes", 0);
  count("shared_load_wavefronts", wavefronts);
  count("shared_store_wavefronts", 0);
  return {0, result.point.key(), result.point.variant, label, analyze(result, spec)};
}

RooflineView view_of_results(const char* device, std::vector<ResultPoint> points, ResultSource source) {
  const DeviceMatch match = find_device(device);
  return results_view(match, ceilings_of(match.spec), {{std::move(source)}, std::move(points)}, Level::dram);
}

TEST(Results, HierarchicalIntensitiesAndTheLowestRoof) {
  const DeviceSpec spec = find_device("a100").spec;
  // 1e12 FLOP in 200 ms: 5 TFLOP/s; 20, 4 and 0.4 FLOP per byte of DRAM, L2 and L1.
  const ResultPoint point = measured_point(spec, "tiled", 1e12, 200'000, 50'000'000'000, 250'000'000'000 / 32,
                                           500'000'000'000 / 32, 15'625'000'000);
  const Analysis& a = point.analysis;
  ASSERT_EQ(a.levels.size(), 3U);
  EXPECT_DOUBLE_EQ(*a.at(Level::dram)->intensity.number(), 20);
  EXPECT_DOUBLE_EQ(*a.at(Level::l2)->intensity.number(), 4);
  EXPECT_DOUBLE_EQ(*a.at(Level::l1)->bytes.number(), 500e9 + 128 * 15.625e9);  // sectors, and whole wavefronts
  EXPECT_DOUBLE_EQ(*a.at(Level::l1)->intensity.number(), 0.4);
  EXPECT_DOUBLE_EQ(*a.at(Level::dram)->attainable.number(), 19.5e12);
  EXPECT_DOUBLE_EQ(*a.at(Level::l1)->attainable.number(), 0.4 * 128 * 108 * 1.41e9);
  EXPECT_NEAR(*a.at(Level::dram)->percent_of_attainable.number(), 25.64, 0.005);
  EXPECT_NEAR(*a.at(Level::l1)->percent_of_attainable.number(), 64.13, 0.005);
  EXPECT_NEAR(*a.at(Level::l1)->percent_of_bandwidth.number(), 64.13, 0.005);
  EXPECT_EQ(a.lowest_roof, "l1");
  EXPECT_EQ(a.at(Level::l2)->intensity.source, Source::measured);
  EXPECT_EQ(a.at(Level::l2)->attainable.source, Source::modelled);

  const PlacementOrReason dram = place(point, Level::dram), l1 = place(point, Level::l1);
  EXPECT_EQ(dram.placement->basis, "dram");
  EXPECT_EQ(dram.placement->bound_by, BoundBy::compute);
  EXPECT_EQ(l1.placement->bound_by, BoundBy::memory);
  EXPECT_DOUBLE_EQ(*l1.placement->achieved, 5e12);
}

// The one answer to what limits a point, for every report: the slowest roof whose bytes are known, DRAM's by sectors or
// once where nobody counted its bytes.
TEST(Results, TheLimitIsTheSlowestRoofAndSaysOverWhichBytes) {
  const DeviceSpec spec = find_device("a100").spec;
  PointResult tiled;
  tiled.backend = "simt";
  tiled.flops = 1e9;
  tiled.compulsory_load_bytes = 1'000'000;
  const auto count = [&](const char* id, std::uint64_t n) {
    tiled.counters[id] = Quantity::count(n, Source::emulated);
  };
  count("requested_load_bytes", 1'000'000'000);
  count("requested_store_bytes", 0);
  count("transaction_load_bytes", 2'000'000'000);  // 0.5 FLOP/byte: worse than the lanes' bytes
  count("transaction_store_bytes", 0);
  count("shared_load_wavefronts", 1'000'000);
  count("shared_store_wavefronts", 0);
  const Analysis sectors = analyze(tiled, spec);
  EXPECT_EQ(label_of(sectors.limit), "DRAM sectors");
  EXPECT_EQ(sectors.limit.basis, "transaction");
  EXPECT_DOUBLE_EQ(*sectors.limit.attainable.number(), 0.5 * 1935e9);
  EXPECT_DOUBLE_EQ(*sectors.limit.bound_time_us.number(), 2e9 / 1935e9 * 1e6);
  EXPECT_DOUBLE_EQ(*sectors.limit.intensity.number(), 0.5);
  EXPECT_EQ(sectors.limit.attainable.source, Source::modelled);
  EXPECT_EQ(sectors.limit.intensity.source, Source::emulated);
  EXPECT_FALSE(sectors.limit.percent_reached.has_value());
  const Limit cached = limiting_roof(sectors, Reuse::caught);  // then 2 GB and the wavefronts cross L1 all the same
  EXPECT_EQ(label_of(cached), "L1/shared");
  EXPECT_DOUBLE_EQ(*cached.bound_time_us.number(), (2e9 + 128e6) / (128 * 108 * 1.41e9) * 1e6);

  count("shared_load_wavefronts", 1'000'000'000);  // bank conflicts, say
  EXPECT_EQ(label_of(analyze(tiled, spec).limit), "L1/shared");
  tiled.flops = 1e15;
  EXPECT_EQ(label_of(analyze(tiled, spec).limit), "compute");
  EXPECT_FALSE(analyze(tiled, spec).limit.intensity.has_value());
  tiled.flops = 0;  // as of a transpose: a time, and no rate
  EXPECT_EQ(label_of(analyze(tiled, spec).limit), "L1/shared");
  EXPECT_FALSE(analyze(tiled, spec).limit.attainable.has_value());
  tiled.compulsory_load_bytes = 1'000'000'000'000;
  EXPECT_EQ(label_of(analyze(tiled, spec).limit), "DRAM once");

  PointResult timed;  // caches worked: that no cache helps is no bound on it
  timed.backend = "cuda";
  timed.flops = 1e9;
  timed.compulsory_load_bytes = 1'935'000'000;
  timed.timing.emplace().samples_us = {2000};
  const Limit once = analyze(timed, spec).limit;
  EXPECT_EQ(label_of(once), "DRAM once");
  EXPECT_DOUBLE_EQ(*once.percent_reached.number(), 50);
  timed.point.params.set("dtype", std::string("int32"));  // no ceiling: what compute allows is not known
  EXPECT_EQ(label_of(analyze(timed, spec).limit), "");
  EXPECT_THAT(analyze(timed, spec).limit.attainable.reason, HasSubstr("no floating-point ceiling"));
  EXPECT_EQ(label_of(analyze(PointResult(), spec).limit), "");
}

// What nobody counted is null with its reason, and is not drawn at a guess.
TEST(Results, NothingIsAssumedOfALevelThatWasNotCounted) {
  PointResult result;
  result.backend = "simt";
  result.flops = 1e9;
  result.compulsory_load_bytes = 1'000'000;
  result.counters["requested_load_bytes"] = Quantity::count(4'000'000'000, Source::emulated);
  const ResultPoint point{0, "matmul/naive", "matmul/naive", "naive", analyze(result, find_device("a100").spec)};
  EXPECT_THAT(point.analysis.at(Level::dram)->bytes.reason, HasSubstr("emulates no DRAM"));
  EXPECT_THAT(point.analysis.at(Level::l2)->bytes.reason, HasSubstr("emulates no L2"));
  EXPECT_THAT(point.analysis.at(Level::l1)->bytes.reason, HasSubstr("shared_load_wavefronts was not collected"));
  EXPECT_EQ(point.analysis.lowest_roof, "");
  const PlacementOrReason dram = place(point, Level::dram);
  ASSERT_TRUE(dram.placement);
  EXPECT_EQ(dram.placement->basis, "loaded");  // as in the lectures
  EXPECT_FALSE(dram.placement->achieved);
  EXPECT_DOUBLE_EQ(dram.placement->height(), 483.75e9);
  EXPECT_FALSE(place(point, Level::l2).placement);
  EXPECT_THAT(place(point, Level::l2).reason, HasSubstr("emulates no L2"));
}

// As cuBLAS's bulk copies do: no load was seen, so what L1 moved is not known.
TEST(Results, LoadsThatWereNotSeenAreNoL1Bytes) {
  const ResultPoint point = measured_point(find_device("h200").spec, "cublas", 1e12, 20'000, 1e9, 1e9, 0, 1e9);
  EXPECT_THAT(point.analysis.at(Level::l1)->bytes.reason, HasSubstr("bulk copies"));
  EXPECT_TRUE(point.analysis.at(Level::l2)->intensity.has_value());
}

TEST(Results, InEveryFormatWithWhatIf) {
  const DeviceSpec spec = find_device("a100").spec;
  const ResultPoint point = measured_point(spec, "tiled", 1e12, 200'000, 50'000'000'000, 250'000'000'000 / 32,
                                           500'000'000'000 / 32, 15'625'000'000);
  ResultSource source{"out/a.cuda.json", "a.cuda.json", "cuda", "NVIDIA H200", "cold", true, {"2 points unsupported"}};
  const RooflineView view = view_of_results("a100", {point}, source);
  const std::string text = roofline_table(view);
  for (const char* wanted :
       {"measured on NVIDIA H200, cold L2; what-if: this roof is of another", "left out: 2 points unsupported",
        "20 dram            7796.7      5000   64.1 %  L1/shared\n", "At each memory level",
        "bound by: the lowest roof of all levels whose bytes are known"})
    EXPECT_THAT(text, HasSubstr(wanted));
  EXPECT_THAT(text, Not(HasSubstr("matmul naive")));  // results in place of the lectures' kernels
  const json j = json::parse(roofline_json(view));
  EXPECT_EQ(j["points"].size(), 0U);
  EXPECT_EQ(j["results"]["files"][0]["what_if"], true);
  const json& placed = j["results"]["points"][0];
  EXPECT_EQ(placed["placement"]["intensity_flop_per_byte"], 20);
  EXPECT_EQ(placed["what_if"], true);
  EXPECT_EQ(placed["levels"][2]["intensity_flop_per_byte"]["value"], 0.4);
  EXPECT_EQ(placed["lowest_roof"], "l1");
  EXPECT_EQ(placed["limit"]["roof"], "l1");
  EXPECT_DOUBLE_EQ(placed["limit"]["attainable_per_s"]["value"], 0.4 * 128 * 108 * 1.41e9);
  const std::string csv = roofline_csv(view);
  EXPECT_THAT(csv, HasSubstr(",20,dram,"));
  EXPECT_THAT(csv, HasSubstr(",0.4,l1,"));
  // At every level the same limit: 0.4 FLOP/B at L1, and 5 TFLOP/s of that.
  EXPECT_THAT(csv, HasSubstr(",out/a.cuda.json,NVIDIA H200,true,L1/shared,7796736"));
  const std::string plot = roofline_plot(view, {100, false, false});
  EXPECT_THAT(plot, HasSubstr("a  tiled"));
  EXPECT_THAT(plot, HasSubstr("what-if"));
  EXPECT_THAT(roofline_svg(view), HasSubstr("what-if"));
}

// What computes nothing has its rate under the same roof: here wavefronts take twice as long as DRAM.
TEST(Results, UsefulAtMostIsOfTheRoofThatLimits) {
  const DeviceSpec spec = find_device("a100").spec;
  const double l1 = 128 * 108 * 1.41e9;
  PointResult transpose;
  transpose.backend = "simt";
  transpose.compulsory_load_bytes = transpose.compulsory_store_bytes = 967'500'000;  // 1 ms of DRAM
  transpose.counters["requested_load_bytes"] = Quantity::count(967'500'000, Source::emulated);
  for (const char* id : {"transaction_load_bytes", "transaction_store_bytes", "shared_store_wavefronts"})
    transpose.counters[id] = Quantity::count(0, Source::emulated);
  transpose.counters["shared_load_wavefronts"] =
      Quantity::count(static_cast<std::uint64_t>(2e-3 * l1 / 128), Source::emulated);
  const Analysis a = analyze(transpose, spec);
  EXPECT_NEAR(*useful_bandwidth_under(a, a.limit), 967.5e9, 1e6);
  const RooflineView view = view_of_results("a100", {{0, "k", "v", "smem", a}}, {"a", "a", "simt", "", "", false, {}});
  EXPECT_THAT(roofline_table(view), HasSubstr("    967.5      50 %          -       -          -  L1/shared\n"));
  const json limit = json::parse(roofline_json(view))["results"]["points"][0]["limit"];
  EXPECT_NEAR(limit["useful_bytes_per_s"].get<double>(), 967.5e9, 1e6);
  EXPECT_EQ(useful_bandwidth_under(a, analyze(PointResult(), spec).limit), std::nullopt);
}

// Rates of tensor cores, and those that no GPU reaches, keep their columns apart.
TEST(Results, ColumnsNeverRunTogether) {
  const DeviceSpec spec = find_device("h200").spec;
  const ResultPoint fast = measured_point(spec, "mma", 1e12, 2000, 1'000'000, 1'000'000, 1'000'000, 0);
  const ResultPoint absurd = measured_point(spec, "absurd", 1e300, 1, 1, 1, 1, 1);
  const ResultPoint copy = measured_point(spec, "copy", 0, 1e-290, 1'000'000, 1'000'000, 1'000'000, 0);
  const std::string text = roofline_table(
      view_of_results("h200", {fast, absurd, copy}, {"a", "a", "cuda", "NVIDIA H200", "cold", false, {}}));
  EXPECT_THAT(text, HasSubstr(" 67000    500000   746 %!  compute\n"));
  EXPECT_THAT(text, HasSubstr(" 1e+297 1.49e+294 %!  compute\n"));
  EXPECT_THAT(text, Not(testing::ContainsRegex("e[+][0-9]+[.0-9]+e[+]")));
}

// B12, B15, B22: above a ceiling there is a flag, and the reasons that usually explain it; nothing is clamped.
TEST(Results, AboveACeilingIsFlaggedWithItsLikelyReasons) {
  const DeviceSpec spec = find_device("a100").spec;
  // 3 TB/s through a DRAM of 1.935 TB/s.
  const ResultPoint point = measured_point(spec, "fast", 1e12, 1e5, 300'000'000'000, 20'000'000'000, 20'000'000'000, 0);
  ResultSource own{"a", "a", "cuda", "NVIDIA A100 80GB PCIe", "warm", false, {}};
  const std::string text = roofline_table(view_of_results("a100", {point}, own));
  EXPECT_THAT(text, HasSubstr("155 %!"));
  EXPECT_THAT(text, HasSubstr("155 % of the DRAM bandwidth"));
  EXPECT_THAT(text, HasSubstr("roof of another SKU"));
  // Measured elsewhere it is no error but no forecast either.
  PointResult quick;
  quick.backend = "cuda";
  quick.flops = 40e12;
  quick.compulsory_load_bytes = 1 << 30;
  quick.timing.emplace().samples_us = {1e6};
  const ResultPoint beyond{0, "k", "v", "l", analyze(quick, spec)};
  own.what_if = true;
  own.ran_on = "NVIDIA H200";
  ASSERT_EQ(above_ceilings(beyond, own).size(), 1U);
  EXPECT_THAT(above_ceilings(beyond, own).front(), HasSubstr("measured on NVIDIA H200: no error, and no forecast"));
}

TEST(Results, LongListsFitAHundredColumnsAndAreStillDrawn) {
  const DeviceSpec spec = find_device("h200").spec;
  std::vector<ResultPoint> points;
  for (std::uint64_t i = 1; i <= 500; ++i)
    points.push_back(measured_point(spec, "a_rather_long_name_of_a_variant TILE=" + std::to_string(i % 3),
                                    1e9 * static_cast<double>(i), 1000, 1'000'000'000, 1'000'000'000, 1'000'000'000,
                                    i));
  const RooflineView view =
      view_of_results("h200", points, {"x.json", "x.json", "cuda", "NVIDIA H200", "cold", false, {}});
  const std::string text = roofline_table(view) + roofline_plot(view, {100, true, false});
  for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(line), 100U) << line;
  EXPECT_THAT(text, HasSubstr("166 points, "));  // a letter per variant
  const std::string svg = roofline_svg(view);
  EXPECT_EQ(std::count(svg.begin(), svg.end(), '\n') > 500, true);
}

// Labels that differ at their ends stay apart, however long they are.
TEST(Results, LongLabelsAreNotCutOff) {
  const DeviceSpec spec = find_device("h200").spec;
  const std::string stem = "register_tiled BK=16 BM=128 BN=128 TM=8 dtype=float32 layout=row_major TN=";
  std::vector<ResultPoint> points;
  for (const char* end : {"4", "8"})
    points.push_back(measured_point(spec, stem + end, 1e12, 60'000, 50'000'000'000, 10'000'000'000, 10'000'000'000, 0));
  const RooflineView view =
      view_of_results("h200", points, {"x.json", "x.json", "cuda", "NVIDIA H200", "cold", false, {}});
  const std::string table = roofline_table(view), plot = roofline_plot(view, {100, false, false});
  for (const char* end : {"4\n", "8\n"}) {
    EXPECT_THAT(table, HasSubstr("  " + stem + end));
    EXPECT_THAT(plot, HasSubstr("  " + stem + end));
  }
  for (const std::string& line : lines_of(table + plot)) EXPECT_LE(display_width(line), 100U) << line;
}

TEST(Results, WithoutAnyPointThereIsStillARoof) {
  const RooflineView view =
      view_of_results("a100", {}, {"x.json", "x.json", "cuda", "", "", false, {"1 point failed"}});
  EXPECT_THAT(roofline_table(view), HasSubstr("left out: 1 point failed"));
  EXPECT_THAT(roofline_plot(view, {100, false, false}), HasSubstr("FP32 19.5 TFLOP/s (spec)"));
  EXPECT_THAT(roofline_svg(view), HasSubstr("</svg>"));
}

// --- SVG ---

struct TextBox {
  std::string text;
  double x0, y0, x1, y1;
};

// Boxes of the texts that are not rotated, by the width of a wide sans-serif face.
std::vector<TextBox> text_boxes(const std::string& svg) {
  std::vector<TextBox> boxes;
  const std::regex pattern(
      "<text x=\"([-0-9.]+)\" y=\"([-0-9.]+)\" font-size=\"([0-9.]+)\"( text-anchor=\"(\\w+)\")?([^>]*)>([^<]*)<");
  for (auto it = std::sregex_iterator(svg.begin(), svg.end(), pattern); it != std::sregex_iterator(); ++it) {
    const std::smatch& m = *it;
    if (m[6].str().find("transform") != std::string::npos) continue;
    const double x = std::stod(m[1]), y = std::stod(m[2]), size = std::stod(m[3]);
    const double width = 0.55 * size * static_cast<double>(display_width(m[7].str()));
    const double from = m[5] == "end" ? x - width : m[5] == "middle" ? x - width / 2 : x;
    boxes.push_back({m[7], from, y - 0.75 * size, from + width, y + 0.15 * size});
  }
  return boxes;
}

TEST(Svg, NoLabelLiesOverAnotherOrOutside) {
  const DeviceSpec spec = find_device("h200").spec;
  std::vector<ResultPoint> points;
  for (std::uint64_t i = 0; i < 40; ++i)
    points.push_back(measured_point(spec, "v" + std::to_string(i / 8) + " TILE=" + std::to_string(i), 1e12,
                                    60'000 + 900.0 * static_cast<double>(i * i), 50'000'000'000 + 10'000'000 * i,
                                    10'000'000'000, 10'000'000'000, 0));
  const ResultSource source{"x.json", "x.json", "cuda", "NVIDIA H200", "cold", false, {}};
  std::vector<RooflineView> views{view_of_results("h200", points, source),
                                  view_of_results("h200", {points[0]}, source)};
  for (const DeviceSpec& device : devices()) views.push_back(view_of(device.id.c_str()));
  for (const RooflineView& view : views) {
    const std::string svg = roofline_svg(view);
    std::smatch size;
    ASSERT_TRUE(std::regex_search(svg, size, std::regex("width=\"([0-9.]+)\" height=\"([0-9.]+)\"")));
    const std::vector<TextBox> boxes = text_boxes(svg);
    EXPECT_GT(boxes.size(), 10U);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      EXPECT_GE(boxes[i].x0, 0) << boxes[i].text;
      EXPECT_LE(boxes[i].x1, std::stod(size[1])) << boxes[i].text;
      EXPECT_LE(boxes[i].y1, std::stod(size[2])) << boxes[i].text;
      for (std::size_t k = i + 1; k < boxes.size(); ++k)
        EXPECT_FALSE(boxes[i].x0 < boxes[k].x1 && boxes[k].x0 < boxes[i].x1 && boxes[i].y0 < boxes[k].y1 &&
                     boxes[k].y0 < boxes[i].y1)
            << view.spec.id << ": '" << boxes[i].text << "' over '" << boxes[k].text << "'";
    }
  }
}

// Nothing from elsewhere, and text that is markup stays text.
TEST(Svg, IsSelfContainedAndEscaped) {
  const DeviceSpec spec = find_device("h200").spec;
  const ResultPoint point =
      measured_point(spec, "a<b>&\"c\x01", 1e12, 60'000, 50'000'000'000, 10'000'000'000, 1'000'000'000, 0);
  const std::string svg =
      roofline_svg(view_of_results("h200", {point}, {"x", "x", "cuda", "NVIDIA H200", "cold", false, {}}));
  EXPECT_THAT(svg, HasSubstr("a&lt;b&gt;&amp;&quot;c"));
  EXPECT_EQ(svg.find('\x01'), std::string::npos);
  EXPECT_THAT(svg, Not(HasSubstr("href")));
  EXPECT_THAT(svg, Not(HasSubstr("url(")));
  EXPECT_THAT(svg, testing::StartsWith("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns="));
  // Tags are balanced.
  int depth = 0;
  const std::regex tag("<(/?)([a-z]+)[^>]*?(/?)>");
  for (auto it = std::sregex_iterator(svg.begin(), svg.end(), tag); it != std::sregex_iterator(); ++it)
    depth += (*it)[1].length() > 0 ? -1 : (*it)[3].length() > 0 ? 0 : 1;
  EXPECT_EQ(depth, 0);
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
