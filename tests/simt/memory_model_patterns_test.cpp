// Access patterns from files: the shipped measurements are reproduced row by row, and bad files are refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "profiler/backend/simt/access_pattern.h"
#include "profiler/core/error.h"

namespace gpuexp::simt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::filesystem::path kMeasured =
    std::filesystem::path(GPUEXP_SOURCE_DIR) / "configs/patterns/h200_access_patterns.csv";

std::string lanes(std::uint64_t stride, int count = 32, std::uint64_t base = 0) {
  std::string text;
  for (int lane = 0; lane < count; ++lane)
    text += (lane == 0 ? "" : " ") + std::to_string(base + static_cast<std::uint64_t>(lane) * stride);
  return text;
}

const std::string kHeader =
    "name,width_bytes,space,op,byte_offset_per_lane,active_mask,wavefronts,bank_conflicts,requests,sectors\n";
std::string row(const std::string& width, const std::string& space, const std::string& op, const std::string& offsets,
                const std::string& mask, const std::string& rest = ",,,") {
  return "p," + width + "," + space + "," + op + "," + offsets + "," + mask + "," + rest + "\n";
}

std::string refusal(const std::string& csv) {
  try {
    parse_access_patterns(csv, "p.csv");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "accepted";
}

TEST(AccessPatterns, EveryMeasuredRowIsReproduced) {
  const std::vector<AccessPattern> patterns = read_access_patterns(kMeasured);
  ASSERT_EQ(patterns.size(), 126U);
  int shared = 0;
  int global = 0;
  for (const AccessPattern& pattern : patterns) {
    const PatternCounts counts = count(pattern);
    const std::string where =
        std::to_string(pattern.line) + " " + pattern.name + " " + std::string(to_text(pattern.kind));
    if (pattern.space == MemorySpace::shared) {
      ++shared;
      ASSERT_TRUE(pattern.expected.wavefronts && pattern.expected.bank_conflicts) << where;
      EXPECT_EQ(counts.wavefronts, pattern.expected.wavefronts) << where;
      EXPECT_EQ(counts.bank_conflicts, pattern.expected.bank_conflicts) << where;
      EXPECT_FALSE(counts.sectors.has_value());
    } else {
      ++global;
      ASSERT_TRUE(pattern.expected.sectors && pattern.expected.requests) << where;
      EXPECT_EQ(counts.sectors, pattern.expected.sectors) << where;
      EXPECT_EQ(counts.requests, pattern.expected.requests) << where;
      EXPECT_FALSE(counts.wavefronts.has_value());
    }
    EXPECT_EQ(disagreement(pattern, counts), "") << where;
  }
  EXPECT_EQ(shared, 82);
  EXPECT_EQ(global, 44);
}

TEST(AccessPatterns, ColumnsAreFoundByName) {
  const auto patterns = parse_access_patterns(
      "active_mask,op,space,width_bytes,name,byte_offset_per_lane\n255,st,shared,8,first,\"" + lanes(8) + "\"\n",
      "p.csv");
  ASSERT_EQ(patterns.size(), 1U);
  EXPECT_EQ(patterns[0].name, "first");
  EXPECT_EQ(patterns[0].width_bytes, 8);
  EXPECT_EQ(patterns[0].space, MemorySpace::shared);
  EXPECT_EQ(patterns[0].kind, AccessKind::store);
  EXPECT_EQ(patterns[0].active_mask, 255U);
  EXPECT_EQ(patterns[0].byte_offsets[31], 248U);
  EXPECT_EQ(count(patterns[0]).lanes, 8U);
  EXPECT_EQ(disagreement(patterns[0], count(patterns[0])), std::nullopt);  // nothing is stated
}

TEST(AccessPatterns, EndOfLinesMarksAndQuotesOfOtherPrograms) {
  std::string csv = "\xEF\xBB\xBF" + kHeader + "\n" + row("4", "global", "load", "\"" + lanes(4) + "\"", "0xFFFFFFFF");
  csv += "\"a \"\"quoted\"\" name, with\na line break\",4,global,atom, " + lanes(4) + " ,0x1,,,,\n\n";
  std::string crlf;
  for (const char c : csv) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  for (const std::string& text : {csv, crlf, csv.substr(0, csv.size() - 2)}) {
    const auto patterns = parse_access_patterns(text, "p.csv");
    ASSERT_EQ(patterns.size(), 2U);
    EXPECT_EQ(patterns[0].line, 3U);
    EXPECT_EQ(patterns[1].line, 4U);
    EXPECT_THAT(patterns[1].name, AllOf(HasSubstr("a \"quoted\" name, with"), HasSubstr("a line break")));
    EXPECT_EQ(patterns[1].kind, AccessKind::atomic);
    EXPECT_EQ(count(patterns[0]).sectors, 4U);
    EXPECT_EQ(count(patterns[1]).sectors, 1U);
  }
}

TEST(AccessPatterns, DisagreementIsTold) {
  const auto patterns =
      parse_access_patterns(kHeader + row("4", "shared", "ld", lanes(8), "0xffffffff", "4,1,1,"), "p.csv");
  EXPECT_EQ(disagreement(patterns[0], count(patterns[0])), "wavefronts 2, expected 4");
}

TEST(AccessPatterns, NoActiveLaneIsNoRequest) {
  const auto patterns = parse_access_patterns(kHeader + row("4", "global", "ld", lanes(4), "0x0", ",,0,0"), "p.csv");
  EXPECT_EQ(disagreement(patterns[0], count(patterns[0])), "");
}

TEST(AccessPatterns, LargestOffset) {
  const auto patterns = parse_access_patterns(
      kHeader + row("1", "global", "ld", lanes(0, 31) + " 9223372036854775807", "0xffffffff"), "p.csv");
  EXPECT_EQ(count(patterns[0]).sectors, 2U);
}

TEST(AccessPatterns, BadRowsAreRefusedByPlaceAndColumn) {
  const std::string good = lanes(4);
  struct Case {
    std::string csv;
    std::vector<std::string> words;
  };
  const std::string mask = "0xffffffff";
  const std::vector<Case> cases{
      {kHeader + row("4", "global", "ld", good, mask) + row("4", "global", "ld", lanes(4, 31), mask),
       {"p.csv:3", "byte_offset_per_lane", "31 offsets", "expected 32"}},
      {kHeader + row("4", "global", "ld", lanes(4, 33), mask), {"p.csv:2", "33 offsets"}},
      {kHeader + row("4", "global", "ld", "", mask), {"p.csv:2", "0 offsets"}},
      {kHeader + row("3", "global", "ld", good, mask), {"p.csv:2", "width_bytes", "'3'", "1, 2, 4, 8 or 16"}},
      {kHeader + row("32", "global", "ld", good, mask), {"width_bytes", "'32'"}},
      {kHeader + row("0", "global", "ld", good, mask), {"width_bytes"}},
      {kHeader + row("-4", "global", "ld", good, mask), {"width_bytes"}},
      {kHeader + row("4.0", "global", "ld", good, mask), {"width_bytes"}},
      {kHeader + row("", "global", "ld", good, mask), {"width_bytes", "''"}},
      {kHeader + row("8", "global", "ld", good, mask),
       {"p.csv:2", "lane 1", "misaligned", "multiple of width_bytes, 8"}},
      {kHeader + row("4", "texture", "ld", good, mask), {"space", "'texture'", "global or shared"}},
      {kHeader + row("4", "Global", "ld", good, mask), {"space", "'Global'"}},
      {kHeader + row("4", "global", "read", good, mask), {"op", "'read'", "ld, st or atom"}},
      {kHeader + row("4", "global", "ld", good, "0x100000000"), {"active_mask", "0x100000000", "0xffffffff"}},
      {kHeader + row("4", "global", "ld", good, "ffffffff"), {"active_mask", "0x0 to 0xffffffff"}},
      {kHeader + row("4", "global", "ld", good, ""), {"active_mask"}},
      {kHeader + row("4", "global", "ld", good, "-1"), {"active_mask"}},
      {kHeader + row("4", "global", "ld", lanes(4, 31) + " 18446744073709551616", mask),
       {"lane 31", "0 to 9223372036854775804"}},
      {kHeader + row("4", "global", "ld", lanes(4, 31) + " 9223372036854775808", mask), {"lane 31"}},
      {kHeader + row("4", "global", "ld", lanes(4, 31) + " -4", mask), {"lane 31", "'-4'"}},
      {kHeader + row("4", "global", "ld", lanes(4, 31) + " 12a", mask), {"lane 31", "'12a'"}},
      {kHeader + row("4", "shared", "ld", good, mask, "one,0,,"), {"wavefronts", "'one'", "empty cell"}},
      {kHeader + row("4", "shared", "ld", good, mask, "1,-1,,"), {"bank_conflicts", "'-1'"}},
      {kHeader + row("4", "shared", "ld", good, mask, ",,,4"), {"sectors", "space shared"}},
      {kHeader + row("4", "global", "ld", good, mask, "1,,,"), {"wavefronts", "space global"}},
      {kHeader + row("4", "global", "ld", good, mask, ",0,,"), {"bank_conflicts", "space global"}},
      {kHeader + ",4,global,ld," + good + "," + mask + ",,,,\n", {"name"}},
      {kHeader + "p,4,global,ld," + good + "," + mask + "\n", {"p.csv:2", "6 fields", "10 columns"}},
      {kHeader + "p,4,global,ld,\"" + good + "," + mask + ",,,,\n", {"p.csv:2", "not closed"}},
      {kHeader + "p,4,global,ld,\"" + good + "\"0," + mask + ",,,,\n", {"p.csv:2", "after the closing quote"}},
      {kHeader + "p,4,global,l\"d," + good + "," + mask + ",,,,\n", {"p.csv:2", "quote"}},
      {"name,width_bytes,space,op,active_mask\n", {"p.csv:1", "byte_offset_per_lane is missing"}},
      {"name,width_byte,space,op,byte_offset_per_lane,active_mask\n",
       {"p.csv:1", "'width_byte'", "did you mean 'width_bytes'"}},
      {"name,name,width_bytes,space,op,byte_offset_per_lane,active_mask\n", {"name appears twice"}},
      {kHeader, {"p.csv:1", "no pattern"}},
      {"", {"p.csv:1", "empty"}},
      {"\n\r\n", {"empty"}},
  };
  for (const Case& test : cases) {
    const std::string message = refusal(test.csv);
    for (const std::string& word : test.words) EXPECT_THAT(message, HasSubstr(word)) << test.csv;
  }
}

TEST(AccessPatterns, UnreadableFilesAreRefused) {
  const auto message = [](const std::filesystem::path& path) {
    try {
      read_access_patterns(path);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(message("no/such/file.csv"), AllOf(HasSubstr("no/such/file.csv"), HasSubstr("cannot be read")));
  EXPECT_THAT(message(std::filesystem::temp_directory_path()), HasSubstr("is a directory"));
}

}  // namespace
}  // namespace gpuexp::simt
