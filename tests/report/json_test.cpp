// The JSON file: complete, valid, byte-stable, and read back strictly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "profiler/core/error.h"
#include "profiler/report/crossovers.h"
#include "profiler/report/csv.h"
#include "profiler/report/journal.h"
#include "profiler/report/result_writer.h"
#include "sample.h"
#include "temporary_directory.h"

namespace gpuexp {
namespace {

using nlohmann::json;
using testing::HasSubstr;

ResultFile through_file(const std::string& text) {
  const test::TemporaryDirectory directory;
  write_atomically(directory / "file.json", text);
  return read_results(directory / "file.json");
}

std::string error_of(const std::string& text) {
  try {
    through_file(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(Json, ReadingGivesBackEverything) {
  for (const ResultFile& file : {test::sample(), test::results_of({test::measured()}, "cuda"), test::results_of({})}) {
    const std::string text = to_json_text(file);
    EXPECT_EQ(to_json_text(through_file(text)), text);
  }
}

TEST(Json, HasNoNanAndNoInfinityAndEveryNullOfAQuantityHasAReason) {
  const std::string text = to_json_text(test::sample());
  const json parsed = json::parse(text);  // throws on bare nan or inf
  EXPECT_THAT(text, testing::Not(testing::ContainsRegex("[:, ](nan|inf|-inf|NaN|Infinity)")));
  const json& broken = parsed["points"][3]["verification"];
  EXPECT_TRUE(broken["got"]["value"].is_null());
  EXPECT_EQ(broken["got"]["reason"], "not a number");
  EXPECT_EQ(broken["max_error"]["reason"], "infinite");
  const json& time = parsed["points"][0]["analysis"]["time_us"];
  EXPECT_TRUE(time["value"].is_null());
  EXPECT_FALSE(time["reason"].get<std::string>().empty());
  EXPECT_TRUE(std::isnan(through_file(text).points[3].result.verification.got));
}

TEST(Json, WhatWasNotComparedIsNullWithItsReason) {
  ResultFile file = test::sample();
  Verification& verification = file.points[0].result.verification;
  const auto written = [&](const Verification& v) {
    verification = v;
    return json::parse(to_json_text(file))["points"][0]["verification"];
  };
  Verification not_run;
  not_run.scope = "switched off";
  for (const char* key : {"got", "expected", "max_error"})
    EXPECT_EQ(written(not_run)[key], json({{"value", nullptr}, {"reason", "switched off"}})) << key;
  Verification passed = not_run;
  passed.state = Verification::State::passed;
  passed.checked = 9;
  passed.max_error = 0.25;
  EXPECT_EQ(written(passed)["max_error"], 0.25);
  EXPECT_EQ(written(passed)["got"], json({{"value", nullptr}, {"reason", "no element was wrong"}}));
  // Older files have a 0 there.
  json parsed = json::parse(to_json_text(file));
  parsed["points"][0]["verification"]["got"] = 0.0;
  EXPECT_EQ(through_file(parsed.dump()).points[0].result.verification.got, 0);
}

TEST(Json, NumbersAreExactAndKeepTheirKindAndSource) {
  const json parsed = json::parse(to_json_text(test::results_of({test::measured()}, "cuda")));
  const json& counters = parsed["points"][0]["counters"];
  EXPECT_EQ(counters["dram_read_bytes"]["value"].get<std::uint64_t>(), 18446744073709551615ULL);
  EXPECT_EQ(counters["dram_read_bytes"]["source"], "measured");
  EXPECT_EQ(counters["dram_write_bytes"]["reason"], "the driver refuses counters: ask for permission");
  EXPECT_EQ(parsed["points"][0]["predicted"]["global_load_sectors"]["source"], "emulated");
  EXPECT_EQ(parsed["points"][0]["params"]["n"], 32);
  EXPECT_EQ(parsed["points"][0]["params"]["dtype"], "float32");
  EXPECT_EQ(parsed["points"][0]["timing"]["samples_us"].size(), 4U);
}

TEST(Json, HoldsTheRunsWhole) {
  const json parsed = json::parse(to_json_text(test::sample()));
  EXPECT_EQ(parsed["schema_version"], 1);
  EXPECT_EQ(parsed["complete"], true);
  EXPECT_EQ(parsed["plan"]["experiment"]["name"], "sample");
  EXPECT_EQ(parsed["plan"]["points"].size(), 7U);
  EXPECT_EQ(parsed["device"]["name"], "A100 80GB PCIe");
  EXPECT_EQ(parsed["device"]["ceilings"][0]["name"], "DRAM");
  EXPECT_EQ(parsed["device"]["ceilings"][0]["value"]["value"], 1.935e12);
  EXPECT_FALSE(parsed["device"]["ceilings"][0]["evidence"].get<std::string>().empty());
  EXPECT_EQ(parsed["environment"]["gpuexp_version"], "0.1.0");
  EXPECT_EQ(parsed["environment"]["wall_seconds"][0]["seconds"], 0.25);
  const json& naive = parsed["points"][0];
  EXPECT_EQ(naive["analysis"]["flop_per_load_byte"]["value"], 0.25);
  EXPECT_EQ(naive["sites"][0]["file"], "kernels/matmul/naive.cu");
  EXPECT_EQ(naive["launches"][0]["registers_per_thread"], nullptr);
  const json& occupancy = naive["analysis"]["occupancy"][0];
  EXPECT_EQ(occupancy["threads_per_block"], 256);
  EXPECT_EQ(occupancy["blocks_per_sm"], 8);
  EXPECT_EQ(occupancy["limited_by"], json({"warps"}));
  EXPECT_EQ(occupancy["registers_known"], false);
  EXPECT_EQ(occupancy["max_registers_for_blocks"], 32);
  const json& finding = parsed["points"][3]["findings"][0];
  EXPECT_EQ(finding["site"]["line"], 24);
  EXPECT_EQ(finding["other_site"]["line"], 19);
  EXPECT_EQ(parsed["points"][2]["counters"]["global_load_sectors"]["estimated"], true);
  EXPECT_EQ(parsed["points"][2]["counters"]["global_load_sectors"]["standard_error"], 1.5);
}

// What the terminal tells of crossovers is in the file too, whole; a file from before it had them is read all the same.
TEST(Json, HoldsWhereOneVariantOvertakesAnother) {
  std::vector<PointResult> points;
  for (const std::int64_t density : {10, 20, 40})
    points.push_back(test::sparse(density, 100'000 * static_cast<std::uint64_t>(density)));
  points.push_back(test::dense(3'000'000));
  const std::string text = to_json_text(test::results_of(points));
  json parsed = json::parse(text);
  const json& found = parsed["crossovers"];
  ASSERT_EQ(found.size(), 1U) << found.dump(1);
  EXPECT_EQ(found[0]["parameter"], "density");
  EXPECT_EQ(found[0]["cost"], "bound_time_us_transaction");
  EXPECT_EQ(found[0]["lowest"], json::parse(R"([{"series": "spmv/warp_per_row", "from": 0.1, "to": 0.2},
                                                {"series": "gemv/block_per_row", "from": 0.4, "to": 0.4}])"));
  EXPECT_NEAR(found[0]["crossings"][0]["value"].get<double>(), 0.3, 0.01);
  EXPECT_EQ(found[0]["crossings"][0]["source"], "modelled");
  EXPECT_EQ(to_json_text(through_file(text)), text);
  parsed["crossovers"][0]["lowest"][0]["to"] = "far";
  EXPECT_THAT(error_of(parsed.dump()), HasSubstr("crossovers[0].lowest[0].to: must be a number"));
  parsed.erase("crossovers");
  EXPECT_EQ(json::parse(to_json_text(through_file(parsed.dump())))["crossovers"], json::parse(text)["crossovers"]);
}

// As many series as points: what nobody reads is not looked for in quadratic time.
TEST(Json, ManyPointsCostNoMoreThanTheirNumber) {
  std::vector<PointResult> points;
  for (std::int64_t i = 0; i < 1500; ++i) {
    points.push_back(test::sparse(1, 1000 + static_cast<std::uint64_t>(i)));
    points.back().sites.clear();
    points.back().point.params.set("rows", i);
    points.back().point.params.set("tag", "t" + std::to_string(i));
    if (i % 2 == 1) points.back().point.params.set("odd", i);
  }
  const ResultFile file = test::results_of(points);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_LE(crossovers_of(file).size(), 2U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(Json, WhatTheMachineAddsIsInTheEnvironmentAlone) {
  ResultFile slow = test::sample();
  slow.environment = {{"host", "elsewhere"}, {"threads", "64"}};
  for (PointRecord& point : slow.points) point.result.wall_seconds = 99;
  json a = json::parse(to_json_text(test::sample())), b = json::parse(to_json_text(slow));
  EXPECT_NE(a["environment"], b["environment"]);
  a.erase("environment");
  b.erase("environment");
  EXPECT_EQ(a.dump(), b.dump());
}

TEST(Json, TextThatIsNotUtf8IsMendedNotRefused) {
  PointResult point = test::naive();
  point.warnings.push_back("bad byte \xFF here");
  EXPECT_TRUE(json::accept(to_json_text(test::results_of({point}))));
}

std::string with(const std::function<void(json&)>& edit) {
  json parsed = json::parse(to_json_text(test::sample()));
  edit(parsed);
  return parsed.dump();
}

TEST(JsonReader, NamesTheJsonPath) {
  EXPECT_EQ(error_of(with([](json&) {})), "no error");
  EXPECT_THAT(error_of(with([](json& j) { j.erase("device"); })), HasSubstr("the key 'device' is missing"));
  EXPECT_THAT(error_of(with([](json& j) { j["extra"] = 1; })), HasSubstr("unknown key 'extra'"));
  EXPECT_THAT(error_of(with([](json& j) { j["schema_version"] = 2; })),
              HasSubstr("schema_version: schema version 2 is newer than this gpuexp, which reads up to 1"));
  EXPECT_THAT(error_of(with([](json& j) { j["schema_version"] = 0; })), HasSubstr("schema version 0 never was"));
  EXPECT_THAT(error_of(with([](json& j) { j["schema_version"] = "1"; })), HasSubstr("must be an integer, not string"));
  EXPECT_THAT(error_of(with([](json& j) { j["points"][2]["status"] = "fine"; })),
              HasSubstr("points[2].status: must be one of ok, unsupported"));
  EXPECT_THAT(error_of(with([](json& j) { j["points"][0]["sites"][1]["line"] = "12"; })),
              HasSubstr("points[0].sites[1].line: must be an integer, not string"));
  EXPECT_THAT(error_of(with([](json& j) { j["points"][0]["sites"][1]["requests"] = -1; })),
              HasSubstr("points[0].sites[1].requests: is out of range"));
  EXPECT_THAT(error_of(with([](json& j) { j["points"][0]["counters"]["global_load_sectors"]["source"] = "guessed"; })),
              HasSubstr("points[0].counters.global_load_sectors.source: must be one of measured"));
  EXPECT_THAT(error_of(with([](json& j) { j["points"][0]["counters"]["global_load_sectors"]["value"] = nullptr; })),
              HasSubstr("is null without a reason"));
  EXPECT_THAT(error_of(with([](json& j) { j["points"][0]["params"]["n"] = true; })), HasSubstr("points[0].params.n"));
  EXPECT_THAT(error_of(with([](json& j) { j["points"][1] = j["points"][0]; })), HasSubstr("stands twice"));
  EXPECT_THAT(error_of("[]"), HasSubstr("must be an object"));
  EXPECT_THAT(error_of("{}"), HasSubstr("not a gpuexp result file"));
}

TEST(JsonReader, RefusesFiguresThatNoRunGives) {
  const std::string sound = to_json_text(test::results_of({test::measured()}, "cuda"));
  const auto edited = [&](const std::function<void(json&)>& edit) {
    json parsed = json::parse(sound);
    edit(parsed["points"][0]);
    return error_of(parsed.dump());
  };
  const json not_a_number = {{"value", nullptr}, {"reason", "not a number"}};
  EXPECT_EQ(edited([](json&) {}), "no error");
  EXPECT_THAT(edited([](json& p) { p["timing"]["samples_us"][1] = -3.5; }),
              HasSubstr("points[0].timing.samples_us[1]: is -3.5, below 0"));
  EXPECT_THAT(edited([&](json& p) { p["timing"]["samples_us"][2] = not_a_number; }),
              HasSubstr("points[0].timing.samples_us[2]: is no finite number"));
  EXPECT_THAT(edited([](json& p) { p["timing"]["sm_clock_mhz"] = -1; }), HasSubstr("timing.sm_clock_mhz"));
  EXPECT_THAT(edited([](json& p) { p["time"]["median_us"] = 1e6; }),
              HasSubstr("points[0].time: has the median 1e+06, outside its samples from"));
  EXPECT_THAT(edited([](json& p) { p["time"]["median_us"] = p["time"]["min_us"]; }),
              HasSubstr("points[0].time.median_us: is "));
  EXPECT_THAT(edited([](json& p) { p["time"]["samples"] = 2; }), HasSubstr("points[0].time.samples: is 2"));
  EXPECT_THAT(edited([](json& p) { p["time"]["relative_spread"] = -0.1; }), HasSubstr("a spread below 0"));
  EXPECT_THAT(edited([](json& p) { p["flops"] = -1.0; }), HasSubstr("points[0].flops: is -1, below 0"));
  EXPECT_THAT(edited([](json& p) { p["counters"]["dram_read_bytes"]["value"] = -8; }),
              HasSubstr("points[0].counters.dram_read_bytes.value: is -8, below 0"));
  EXPECT_THAT(edited([](json& p) { p["analysis"]["bandwidth_byte_per_s"]["value"] = -1e12; }),
              HasSubstr("points[0].analysis.bandwidth_byte_per_s.value"));
  EXPECT_THAT(edited([](json& p) { p["compulsory_load_bytes"] = -1; }),
              HasSubstr("points[0].compulsory_load_bytes: is out of range"));
}

TEST(JsonReader, AFileWithoutAnEndOrOfAnotherKindIsRefusedAtOnce) {
  const auto error_of_path = [](const std::filesystem::path& path) {
    try {
      read_results(path);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(error_of_path("/dev/zero"), HasSubstr("/dev/zero: has more than the 256 MiB that are read of a pipe"));
  const test::TemporaryDirectory directory;
  write_atomically(directory / "huge.json", "{");
  std::filesystem::resize_file(directory / "huge.json", result_file_limit.regular + 1);  // a hole: nothing is stored
  EXPECT_THAT(error_of_path(directory / "huge.json"), HasSubstr("more than the 1 GiB that are read of such a file"));
}

TEST(JsonReader, KnowsAFileWithoutAnExtensionByItsFirstLine) {
  const ResultFile whole = test::sample();
  for (const std::string& text :
       {to_json_text(whole), to_csv_text(whole), journal_header(whole) + journal_line(whole.points[0])})
    EXPECT_FALSE(parse_results(text, "/dev/fd/63").points.empty());
}

TEST(JsonReader, NamesLineAndColumnOfBadSyntax) {
  EXPECT_THAT(error_of("{\n \"schema_version\": 1,\n \"x\": nan}"), HasSubstr("file.json: line 3, column"));
  EXPECT_THAT(error_of(""), HasSubstr("is empty"));
  EXPECT_THAT(error_of(std::string("{}\n\0x", 5)), HasSubstr("line 2, column 1: not valid JSON: a zero byte"));
  EXPECT_THAT(error_of("{\"a\": 1, \"a\": 2}"), HasSubstr("'a' stands twice"));
  for (const char* text : {R"({"a": "\u001b[31m"})", R"({"\u0007": 1})", R"(["x\u007f"])"})
    EXPECT_THAT(error_of(text), HasSubstr("holds a control character"));
  const std::string whole = to_json_text(test::sample());
  EXPECT_THAT(error_of(whole.substr(0, whole.size() / 2)), HasSubstr("not valid JSON"));
}

TEST(JsonReader, AcceptsAByteOrderMarkAndCrlf) {
  std::string text = to_json_text(test::sample());
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2)) text.insert(at, "\r");
  EXPECT_EQ(through_file("\xEF\xBB\xBF" + text).points.size(), 7U);
}

TEST(JsonReader, RefusesWhatIsNoResultFile) {
  const test::TemporaryDirectory directory;
  EXPECT_THROW(read_results(directory / "absent.json"), Error);
  EXPECT_THROW(read_results(directory.path()), Error);
  write_atomically(directory / "results.txt", "x");
  try {
    read_results(directory / "results.txt");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("must end in .json, .csv or .partial.jsonl"));
  }
}

TEST(TimeStatistics, AreUndefinedRatherThanWrong) {
  EXPECT_EQ(time_statistics(Timing{}), std::nullopt);
  Timing timing;
  timing.samples_us = {0.0, -1.0, std::numeric_limits<double>::infinity()};
  EXPECT_EQ(time_statistics(timing), std::nullopt) << "a time of 0 is no time";
  timing.samples_us = {5.0};
  EXPECT_EQ(time_statistics(timing)->median_us, 5.0);
  EXPECT_EQ(time_statistics(timing)->relative_spread, std::nullopt);
  timing.samples_us = {4.0, 1.0, 2.0};
  EXPECT_EQ(time_statistics(timing)->median_us, 2.0);
  EXPECT_EQ(time_statistics(timing)->min_us, 1.0);
  timing.samples_us = {1.0, 3.0};
  EXPECT_NEAR(*time_statistics(timing)->relative_spread, std::sqrt(2.0) / 2, 1e-15);
}

}  // namespace
}  // namespace gpuexp
