// The CSV writer and reader: RFC 4180, stable columns, exact numbers, nulls, and errors that name the place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <fstream>
#include <functional>
#include <locale>

#include "profiler/core/error.h"
#include "profiler/counters/counters.h"
#include "profiler/report/csv.h"
#include "profiler/report/result_writer.h"
#include "sample.h"
#include "temporary_directory.h"

namespace gpuexp {
namespace {

using testing::HasSubstr;

// Cell of a column by name, in row `row` (0 = the first point).
std::string cell(const ResultFile& results, std::size_t row, const std::string& column) {
  const CsvText csv = parse_csv(to_csv_text(results), "own output");
  const auto& header = csv.rows.at(0);
  const auto at = std::ranges::find(header, column);
  EXPECT_NE(at, header.end()) << column;
  return at == header.end() ? "no such column" : csv.rows.at(row + 1).at(static_cast<std::size_t>(at - header.begin()));
}

TEST(CsvCell, QuotesWhatRfc4180Asks) {
  EXPECT_EQ(csv_cell("plain"), "plain");
  EXPECT_EQ(csv_cell(""), "");
  EXPECT_EQ(csv_cell("BM<T, U>"), "\"BM<T, U>\"");
  EXPECT_EQ(csv_cell("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(csv_cell("two\nlines"), "\"two\nlines\"");
}

TEST(CsvText, ParsesWhatItWrites) {
  const std::vector<std::string> cells{"a,b", "\"", "", "line\r\nend", "plain", "\"\"", ","};
  std::string text;
  for (const std::string& one : cells) text += csv_cell(one) + ",";
  text.back() = '\n';
  EXPECT_THAT(parse_csv(text, "t").rows, testing::ElementsAre(cells));
}

TEST(CsvText, AcceptsCrlfBomAndNoFinalLineEnd) {
  using Rows = std::vector<std::vector<std::string>>;
  EXPECT_EQ(parse_csv("\xEF\xBB\xBF"
                      "a,b\r\n1,\r\n",
                      "t")
                .rows,
            (Rows{{"a", "b"}, {"1", ""}}));
  EXPECT_EQ(parse_csv("a,b\n1,\"\"", "t").rows, (Rows{{"a", "b"}, {"1", ""}}));
  EXPECT_EQ(parse_csv("a\n\"\n\n\"\nb\n", "t").lines, (std::vector<std::size_t>{1, 2, 5}));
}

TEST(CsvText, NamesThePlaceOfABadQuote) {
  for (const auto& [text, place, what] : {std::tuple{"a,b\n1,\"open", "t: line 2, cell 2", "not closed"},
                                          {"a,b\n1,\x1b[31m\n", "t: line 2, cell 2", "holds a control character"},
                                          {"a,b\nx\"y,2", "t: line 2, cell 1", "inside an unquoted cell"},
                                          {"a,b\n\"x\"y,2", "t: line 2, cell 1", "behind a closing quote"}})
    try {
      parse_csv(text, "t");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), testing::AllOf(HasSubstr(place), HasSubstr(what)));
    }
}

TEST(Csv, EveryRowHasTheSameCellsAndTheRequiredColumns) {
  const CsvText csv = parse_csv(to_csv_text(test::sample()), "own output");
  ASSERT_EQ(csv.rows.size(), 8U);
  for (const auto& row : csv.rows) EXPECT_EQ(row.size(), csv.rows.front().size());
  for (const char* column : {"schema_version",
                             "gpuexp_version",
                             "compiler",
                             "device",
                             "driver",
                             "toolkit",
                             "cache_mode",
                             "status",
                             "reason",
                             "verified",
                             "time_us_median",
                             "bound_time_us",
                             "dram_read_bytes",
                             "global_load_sectors",
                             "flop_per_load_byte",
                             "param:TILE",
                             "param:k",
                             "param:m",
                             "param:n",
                             "param:dtype",
                             "param:rows",
                             "counters_source"})
    EXPECT_THAT(csv.rows.front(), testing::Contains(column));
  EXPECT_EQ(csv.rows.front().front(), "schema_version");
}

TEST(Csv, ColumnNamesAreUnique) {
  std::vector<std::string> names;
  for (const CsvColumn& column : csv_columns(test::sample())) names.push_back(column.name);
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST(Csv, DocumentedColumnsAreTheColumns) {
  std::ifstream in(std::string(GPUEXP_SOURCE_DIR) + "/docs/result_files.md");
  ASSERT_TRUE(in) << "docs/result_files.md";
  std::vector<std::string> documented;
  bool in_table = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("<!-- csv columns -->")) in_table = true;
    if (line.starts_with("<!-- end of csv columns -->")) in_table = false;
    if (in_table && line.starts_with("| `")) documented.push_back(line.substr(3, line.find('`', 3) - 3));
  }
  std::vector<std::string> written;
  ResultFile without_params = test::sample();
  without_params.points.clear();
  without_params.plan.params = {"NAME"};
  for (const CsvColumn& column : csv_columns(without_params)) {
    if (find_counter(column.name) == nullptr)
      written.push_back(column.name == "param:NAME" ? "param:<name>" : column.name);
  }
  EXPECT_EQ(documented, written);
}

TEST(Csv, SkippedPointsAreRowsOfTheirOwnAndLeaveTheirNeighboursAlone) {
  const ResultFile with = test::sample();
  EXPECT_EQ(cell(with, 5, "status"), "unsupported");
  EXPECT_EQ(cell(with, 5, "reason"), "cuda only: it calls a library, \"cuBLAS\"");
  for (const char* column :
       {"bound_time_us", "global_load_sectors", "time_us_median", "flop_per_load_byte", "bound_by"})
    EXPECT_EQ(cell(with, 5, column), "") << column;
  const ResultFile without = test::results_of({test::wrong(), test::smem()});
  for (const char* column : {"bound_time_us", "global_load_sectors", "flop_per_load_byte"}) {
    EXPECT_EQ(cell(with, 4, column), cell(without, 0, column));
    EXPECT_EQ(cell(with, 6, column), cell(without, 1, column));
  }
}

TEST(Csv, NumbersAreExactAndNullsEmpty) {
  const ResultFile results = test::results_of({test::measured()}, "cuda");
  EXPECT_EQ(cell(results, 0, "dram_read_bytes"), "18446744073709551615");
  EXPECT_EQ(cell(results, 0, "dram_write_bytes"), "");
  EXPECT_EQ(cell(results, 0, "time_us_median"), "2.875");
  EXPECT_EQ(cell(results, 0, "time_us_min"), "0.1");
  EXPECT_EQ(cell(results, 0, "time_samples"), "4");
  EXPECT_EQ(cell(results, 0, "cache_mode"), "cold");
  EXPECT_EQ(cell(results, 0, "sm_clock_mhz"), "1410.5");
  EXPECT_EQ(cell(results, 0, "counters_source"), "measured");
  EXPECT_EQ(cell(results, 0, "predicted:global_load_sectors"), "4096");
}

TEST(Csv, NoSampleIsNoNumber) {
  PointResult nothing = test::measured();
  nothing.timing->samples_us = {std::numeric_limits<double>::quiet_NaN(), 0.0};
  const ResultFile results = test::results_of({nothing}, "cuda");
  for (const char* column : {"time_us_median", "time_us_min", "time_relative_spread", "achieved_flop_per_s"})
    EXPECT_EQ(cell(results, 0, column), "") << column;
  PointResult one = test::measured();
  one.timing->samples_us = {2.0};
  EXPECT_EQ(cell(test::results_of({one}, "cuda"), 0, "time_us_median"), "2");
  EXPECT_EQ(cell(test::results_of({one}, "cuda"), 0, "time_relative_spread"), "") << "undefined for one sample";
}

TEST(Csv, SaysWhatIsEstimatedAndWhichCountersAreNotEmulated) {
  PointResult point = test::tiled16();
  point.counters["requested_load_bytes"].source = Source::modelled;
  const ResultFile results = test::results_of({point});
  EXPECT_EQ(cell(results, 0, "counters_source"), "emulated");
  EXPECT_EQ(cell(results, 0, "counters_source_exceptions"), "requested_load_bytes=modelled");
  EXPECT_EQ(cell(results, 0, "counters_estimated"), "global_load_sectors=1.5");
  EXPECT_EQ(cell(results, 0, "time_us_median"), "") << "no time is emulated";
}

TEST(Csv, TellsTheOccupancyOfAllLaunches) {
  PointResult point = test::naive();
  point.launches = {{"kernel", {1, 1, 1}, {32, 32, 1}, 8192, 0, std::nullopt}};
  const ResultFile results = test::results_of({point});
  EXPECT_EQ(cell(results, 0, "threads_per_block"), "1024");
  EXPECT_EQ(cell(results, 0, "blocks_per_sm"), "2");
  EXPECT_EQ(cell(results, 0, "occupancy_percent"), "100");
  EXPECT_EQ(cell(results, 0, "occupancy_limited_by"), "warps");
  EXPECT_EQ(cell(results, 0, "registers_per_thread"), "") << "unknown";
  EXPECT_EQ(cell(results, 0, "max_registers_per_thread"), "32");
  point.launches.push_back({"kernel", {1, 1, 1}, {64, 1, 1}, 0, 0, std::nullopt});
  EXPECT_EQ(cell(test::results_of({point}), 0, "threads_per_block"), "various");
}

TEST(Csv, ListValuedParametersAndNamesWithCommasSurvive) {
  PointResult point = test::naive();
  point.point.params.set("offsets", std::string("[1,2]"));
  point.point.params.set("na\"me", std::string("a,\"b\"\nc"));
  EXPECT_EQ(cell(test::results_of({point}), 0, "param:offsets"), "[1,2]");
  EXPECT_EQ(cell(test::results_of({point}), 0, "param:na\"me"), "a,\"b\"\nc");
}

void forget_launches(PointRecord& point) {
  point.result.launches.clear();
  if (point.analysis) point.analysis->occupancy.clear();
}

// A locale that writes 123.456,5.
struct CommaPunctuation : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Csv, IgnoresEveryLocale) {
  ResultFile file = test::sample();
  for (PointRecord& point : file.points) forget_launches(point);  // a CSV does not give them back
  const std::string before = to_csv_text(file), json_before = to_json_text(file);
  const std::locale old = std::locale::global(std::locale(std::locale::classic(), new CommaPunctuation));
  for (const char* name : {"fr_FR.UTF-8", "de_DE.UTF-8", "de_DE.utf8"})
    std::setlocale(LC_ALL, name);  // where installed
  EXPECT_EQ(to_csv_text(file), before);
  EXPECT_EQ(to_json_text(file), json_before);
  const test::TemporaryDirectory directory;
  write_atomically(directory / "sample.simt.csv", before);
  EXPECT_EQ(to_csv_text(read_results(directory / "sample.simt.csv")), before);
  write_atomically(directory / "sample.simt.json", json_before);
  EXPECT_EQ(to_json_text(read_results(directory / "sample.simt.json")), json_before);
  std::locale::global(old);
  std::setlocale(LC_ALL, "C");
}

TEST(CsvReader, GivesBackTheRows) {
  const test::TemporaryDirectory directory;
  const ResultFile written = test::sample();
  write_atomically(directory / "sample.simt.csv", to_csv_text(written));
  const ResultFile read = read_results(directory / "sample.simt.csv");
  EXPECT_EQ(read.plan.name, "sample");
  EXPECT_EQ(read.plan.backend, "simt");
  EXPECT_EQ(read.device.name, written.device.name);
  EXPECT_EQ(environment_value(read.environment, "compiler"), "g++ 12.2.0");
  ASSERT_EQ(read.points.size(), written.points.size());
  for (std::size_t i = 0; i < read.points.size(); ++i) {
    const PointRecord &a = written.points[i], &b = read.points[i];
    EXPECT_EQ(a.result.point.params, b.result.point.params);
    EXPECT_EQ(a.result.point.key(), b.result.point.key());
    EXPECT_EQ(a.result.status, b.result.status);
    EXPECT_EQ(a.result.good(), b.result.good()) << a.result.point.key();
    for (const auto& [id, quantity] : a.result.counters) {
      ASSERT_TRUE(b.result.counters.contains(id)) << id;
      EXPECT_EQ(b.result.counters.at(id).value, quantity.value);
      EXPECT_EQ(b.result.counters.at(id).source, quantity.source);
      EXPECT_EQ(b.result.counters.at(id).estimated, quantity.estimated);
    }
    if (!a.analysis) continue;
    EXPECT_EQ(b.analysis->compulsory.bound_time_us.number(), a.analysis->compulsory.bound_time_us.number());
    EXPECT_EQ(b.analysis->verdict, a.analysis->verdict);
  }
  // Everything a row says is read: writing what was read gives the same bytes, but for launches.
  ResultFile plain = written;
  for (PointRecord& point : plain.points) forget_launches(point);
  for (PointRecord& point : plain.points) point.result.warnings.clear();
  ResultFile again = read;
  for (PointRecord& point : again.points) point.result.warnings.clear();
  for (auto* file : {&plain, &again})
    for (PointRecord& point : file->points)
      if (point.analysis) point.analysis->warnings.clear();
  EXPECT_EQ(to_csv_text(again), to_csv_text(plain));
}

TEST(CsvReader, ReadsFilesFromBeforeTheColumnsOfOccupancy) {
  CsvText csv = parse_csv(to_csv_text(test::results_of({test::naive()})), "own output");
  const auto first = std::ranges::find(csv.rows.front(), "threads_per_block") - csv.rows.front().begin();
  const auto last = std::ranges::find(csv.rows.front(), "max_registers_per_thread") - csv.rows.front().begin();
  std::string old;
  for (auto& row : csv.rows) {
    row.erase(row.begin() + first, row.begin() + last + 1);
    for (std::size_t i = 0; i < row.size(); ++i) old += (i == 0 ? "" : ",") + csv_cell(row[i]);
    old += "\r\n";
  }
  const test::TemporaryDirectory directory;
  write_atomically(directory / "old.csv", old);
  const ResultFile read = read_results(directory / "old.csv");
  EXPECT_EQ(read.points.at(0).result.counters.at("global_load_sectors").exact(), 4096U);
  EXPECT_EQ(read.points.at(0).result.blocks_total, 4);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(CsvReader, NamesFileLineAndColumn) {
  const std::string good = to_csv_text(test::results_of({test::naive(), test::tiled2()}));
  const test::TemporaryDirectory directory;
  const auto error_of = [&](const std::string& text) {
    write_atomically(directory / "bad.csv", text);
    try {
      read_results(directory / "bad.csv");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(error_of(good), "no error");
  EXPECT_THAT(error_of(""), HasSubstr("is empty"));
  EXPECT_THAT(error_of("name,time\nx,1\n"), HasSubstr("not a gpuexp result file"));
  EXPECT_THAT(error_of(replaced(good, ",ok,", ",fine,")), HasSubstr("bad.csv: line 2, column 'status': 'fine'"));
  EXPECT_THAT(error_of(replaced(good, "gpuexp_commit", "commit")),
              HasSubstr("expected 'gpuexp_commit', found 'commit'"));
  EXPECT_THAT(error_of(replaced(good, "\r\n1,0.1.0", "\r\n7,0.1.0")), HasSubstr("schema version 7 is newer"));
  EXPECT_THAT(error_of(good + "1,2\r\n"), HasSubstr("line 4: has 2 cells"));
  EXPECT_THAT(error_of(replaced(good, ",65536,8192,", ",nan,8192,")), HasSubstr("column 'flops'"));
  EXPECT_THAT(error_of(replaced(good, ",65536,8192,", ",1.5e,8192,")), HasSubstr("'1.5e' is not a number"));
  EXPECT_THAT(error_of(replaced(good, ",65536,8192,", ",65536,-8192,")), HasSubstr("'-8192' is not a whole number"));
  EXPECT_THAT(error_of(replaced(good, ",65536,8192,", ",65536,99999999999999999999,")), HasSubstr("out of range"));
  EXPECT_THAT(error_of(replaced(good, ",65536,8192,", ",-65536,8192,")),
              HasSubstr("column 'flops': '-65536' is below 0"));
  const std::string row = good.substr(good.rfind("1,0.1.0"));
  EXPECT_THAT(error_of(good + row), HasSubstr("stands twice"));
  EXPECT_THAT(error_of(good + replaced(row, "g++ 12.2.0", "clang 14")), HasSubstr("two runs are mixed"));
}

TEST(Csv, ColumnNamesSayTheirUnit) {
  for (const CsvColumn& column : csv_columns(test::sample())) {
    const std::string& name = column.name;
    const auto says = [&](const char* word) { return name.find(word) != std::string::npos; };
    if (says("time")) {
      EXPECT_TRUE(says("time_us") || name == "time_samples" || name == "time_samples_discarded" ||
                  name == "time_relative_spread")
          << name;
    }
    if (says("bandwidth")) {
      EXPECT_TRUE(name.ends_with("_byte_per_s") || says("percent")) << name;
    }
    if (says("clock")) {
      EXPECT_TRUE(name.ends_with("_mhz")) << name;
    }
    if (says("peak") || says("attainable") || says("achieved")) {
      EXPECT_TRUE(says("_flop_per_s") || says("_byte_per_s") || says("percent") || says("occupancy")) << name;
    }
  }
}

TEST(CsvReader, RefusesFiguresThatNoRunGives) {
  const ResultFile sound = test::results_of({test::measured()}, "cuda");
  const auto error_of = [&](const std::function<void(PointRecord&)>& edit) {
    ResultFile edited = sound;
    edit(edited.points[0]);
    try {
      parse_results(to_csv_text(edited), "edited.csv");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const auto counter = [](PointRecord& p, double value) {
    p.result.counters["dram_read_bytes"] = Quantity::real(value, Source::measured);
  };
  EXPECT_EQ(error_of([](PointRecord&) {}), "no error");
  EXPECT_THAT(error_of([&](PointRecord& p) { counter(p, -1.5); }),
              HasSubstr("edited.csv: line 2, column 'dram_read_bytes': '-1.5' is below 0"));
  EXPECT_THAT(error_of([](PointRecord& p) { p.time->median_us = -p.time->median_us; }),
              HasSubstr("line 2, column 'time_us_median': '-"));
  EXPECT_THAT(error_of([](PointRecord& p) { p.time->median_us = 2 * p.time->max_us; }),
              HasSubstr("line 2, column 'time_us_median': the time has the median"));
  EXPECT_THAT(error_of([](PointRecord& p) { p.time->samples = 0; }), HasSubstr("has no samples"));
  EXPECT_THAT(error_of([](PointRecord& p) { p.result.timing->discarded_throttled = -1; }),
              HasSubstr("column 'time_samples_discarded': '-1' is not a whole number"));
}

}  // namespace
}  // namespace gpuexp
