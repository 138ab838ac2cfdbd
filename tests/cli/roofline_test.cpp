// gpuexp roofline as typed: the lectures' figures in every format, the drawing, and one clear line for every mistake.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace gpuexp::testing_cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

Call call(const std::vector<std::string>& arguments, std::map<std::string, std::string> environment = {}) {
  Call result;
  result.arguments.emplace_back("roofline");
  for (const std::string& argument : arguments) result.arguments.push_back(argument);
  result.environment = std::move(environment);
  return result;
}

std::string roofline(const std::vector<std::string>& arguments, std::map<std::string, std::string> environment = {}) {
  const Outcome outcome = run(call(arguments, std::move(environment)));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, IsEmpty());
  return outcome.out;
}

TEST(Roofline, A100AsInTheLecture) {
  const std::string text = roofline({"--device", "a100"});
  for (const char* figure : {"a100 means A100 80GB PCIe", "1,935 GB/s", "19.5 TFLOP/s", "156 TFLOP/s", "312 TFLOP/s",
                             "10.08", "80.62", "483.75 GFLOP/s    2.48 %", "39.7 %", "79.4 %", "52.9 %"})
    EXPECT_THAT(text, HasSubstr(figure));
}

TEST(Roofline, FormatsAgree) {
  const nlohmann::json j =
      nlohmann::json::parse(roofline({"--device", "h100", "--precision", "fp32", "--format", "json"}));
  double naive = 0;
  for (const auto& point : j["points"])
    if (point["label"] == "matmul naive") naive = point["percent_of_peak"];
  EXPECT_NEAR(naive, 1.25, 0.005);
  const std::string csv = roofline({"--device", "h100", "--precision", "fp32", "--format", "csv"});
  EXPECT_THAT(csv, StartsWith("device,kind,name,"));
  EXPECT_THAT(csv, HasSubstr("H100 SXM5 80GB,point,matmul naive,fp32,"));
  EXPECT_THAT(roofline({"--device", "h100", "--precision", "fp32"}), HasSubstr("838 GFLOP/s    1.25 %"));
}

TEST(Roofline, DrawsByLocaleAndNeverInColourIntoAPipe) {
  const std::string unicode = roofline({"--device", "a100", "--plot"}, {{"LC_ALL", "C.UTF-8"}});
  EXPECT_THAT(unicode, HasSubstr("└"));
  EXPECT_THAT(unicode, Not(HasSubstr("\x1b")));
  for (const std::string& text : {roofline({"--device", "a100", "--plot"}, {{"LC_ALL", "C"}}),
                                  roofline({"--device", "a100", "--plot", "--ascii"}, {{"LC_ALL", "C.UTF-8"}})}) {
    EXPECT_THAT(text, HasSubstr("a  vector add"));
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 127; }));
  }
}

TEST(Roofline, AFileOfTheUsers) {
  const TemporaryDirectory directory;
  std::string text = read(GPUEXP_SOURCE_DIR "/configs/devices/a100-pcie-80gb.json");
  text.replace(text.find("\"value\": 1935"), 13, "\"value\": 2000");
  const std::string path = directory.write("mine.json", text);
  EXPECT_THAT(roofline({"--device", path}), HasSubstr("DRAM             2,000 GB/s"));
}

TEST(Roofline, IsQuick) {
  const auto begin = std::chrono::steady_clock::now();
  constexpr int times = 10;
  for (int i = 0; i < times; ++i) roofline({"--device", "a100", "--plot"});
  const double each_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count() / times;
  EXPECT_LT(each_ms, 250);  // about 15 in a release build on an idle machine; room for sanitizers and busy ones
}

TEST(Roofline, MistakesAreOneLine) {
  struct Mistake {
    std::vector<std::string> arguments;
    int exit_code;
    std::vector<std::string> says;
  };
  const Mistake mistakes[] = {
      {{"--device", "b300"}, 2, {"unknown device 'b300'", "did you mean b200-sxm-180gb?", "--device ./my.json"}},
      {{"--device", "a100 sxm"}, 2, {"is not one device", "a100-sxm4-40gb", "a100-sxm4-80gb"}},
      {{"--device", "./nowhere.json"}, 2, {"'./nowhere.json' cannot be read"}},
      {{"--device", "a100", "--precision", "fp8"}, 2, {"A100 80GB PCIe has no fp8 peak", "tf32"}},
      {{"--device", "a100", "--precision", "tf23"}, 2, {"unknown precision 'tf23'", "did you mean 'tf32'?"}},
      {{"--device", "a100", "--format", "jsn"}, 2, {"--format jsn", "'json'?"}},
      {{"--device", "a100", "--format", "csv", "--plot"}, 2, {"--plot"}},
      {{"--devise", "a100"}, 2, {"'--devise'", "did you mean '--device'?"}},
  };
  for (const Mistake& mistake : mistakes) {
    const Outcome outcome = run(call(mistake.arguments));
    EXPECT_EQ(outcome.exit_code, mistake.exit_code) << outcome.err;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, StartsWith("gpuexp: error: "));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    for (const std::string& part : mistake.says) EXPECT_THAT(outcome.err, HasSubstr(part));
  }
}

}  // namespace
}  // namespace gpuexp::testing_cli
