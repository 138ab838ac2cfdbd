// The command line without running a point: help, listings, and one clear line for every mistake.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace gpuexp::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

struct Mistake {
  const char* name;
  std::vector<std::string> arguments;
  std::vector<std::string> says;
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, ExitWithTwoAndOneLine) {
  TemporaryDirectory directory;
  const Outcome outcome = run(Call{GetParam().arguments, directory.path(), {}, Stdout::captured});
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, StartsWith("gpuexp: error: "));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  for (const std::string& part : GetParam().says) EXPECT_THAT(outcome.err, HasSubstr(part));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

const Mistake mistakes[] = {
    {"no_command", {}, {"no command", "run, roofline, diff, list, doctor, completion"}},
    {"command", {"rnu", "tile_sweep"}, {"unknown command 'rnu'", "did you mean 'run'?"}},
    {"config_as_command", {"my.json"}, {"did you mean 'gpuexp run my.json'?"}},
    {"flag", {"--verison"}, {"'--verison'", "did you mean '--version'?", "gpuexp --help"}},
    {"run_flag", {"run", "tile_sweep", "--bakend", "simt"}, {"'--bakend'", "'--backend'?", "gpuexp run --help"}},
    {"run_flag_equals", {"run", "tile_sweep", "--dry-rum=1"}, {"'--dry-rum=1'", "did you mean '--dry-run'?"}},
    {"run_nothing", {"run"}, {"CONFIG", "gpuexp run --help"}},
    {"run_missing_value", {"run", "tile_sweep", "--out"}, {"--out"}},
    {"threads_word", {"run", "tile_sweep", "--threads", "many"}, {"--threads", "many"}},
    {"threads_negative", {"run", "tile_sweep", "--threads", "-1"}, {"--threads"}},
    {"budget_negative", {"run", "tile_sweep", "--budget", "-1"}, {"--budget -1: expected a whole number"}},
    {"budget_word", {"run", "tile_sweep", "--budget", "abc"}, {"--budget abc", "4000000 or 4e6", "0 = all"}},
    {"budget_part", {"run", "tile_sweep", "--budget", "1.5"}, {"--budget 1.5: expected a whole number"}},
    {"budget_huge", {"run", "tile_sweep", "--budget", "99999999999999999999"}, {"up to 2^63-1"}},
    {"time_limit_word",
     {"run", "tile_sweep", "--time-limit", "soon"},
     {"--time-limit soon: expected a number: Seconds"}},
    {"time_limit", {"run", "tile_sweep", "--time-limit", "0"}, {"--time-limit"}},
    {"schedule", {"run", "tile_sweep", "--schedule", "revers"}, {"--schedule revers", "'reverse'?"}},
    {"schedule_seed", {"run", "tile_sweep", "--schedule", "random:x"}, {"--schedule random:x", "random:SEED"}},
    {"schedule_large_seed",
     {"run", "tile_sweep", "--schedule", "random:99999999999999999999"},
     {"--schedule random:99999999999999999999", "2^64-1"}},
    {"gpu_of_the_emulator",
     {"run", "tile_sweep", "--backend", "simt", "--gpu", "foo"},
     {"--gpu foo", "runs on the CPU", "--backend cuda"}},
    {"control_characters", {"run", "\x1b[31m\n.json"}, {"?[31m?.json: no such file"}},
    {"schedule_forward_seed", {"run", "tile_sweep", "--schedule", "forward:1"}, {"--schedule forward:1"}},
    {"format", {"run", "tile_sweep", "--format", "jsn"}, {"--format jsn", "text, json, csv", "'json'?"}},
    {"format_dry_run", {"run", "tile_sweep", "--dry-run", "--format", "csv"}, {"--format csv", "text, json"}},
    {"format_several", {"run", "tile_sweep", "transpose", "--format", "json"}, {"--format json", "2 are given"}},
    {"backend", {"run", "tile_sweep", "--backend", "smit"}, {"'smit'", "auto, cuda, simt", "'simt'?"}},
    {"backend_dry_run", {"run", "tile_sweep", "--dry-run", "--backend", "smit"}, {"smit", "'simt'?"}},
    {"config_missing", {"run", "none.json"}, {"none.json", "no such file"}},
    {"config_path_missing", {"run", "./none.json"}, {"./none.json", "No such file or directory"}},
    {"config_name", {"run", "tile_sweeep"}, {"'tile_sweeep'", "did you mean 'tile_sweep'?"}},
    {"config_directory", {"run", "/"}, {"is a directory"}},
    {"config_twice", {"run", "tile_sweep", "tile_sweep"}, {"another experiment", "tile_sweep"}},
    {"device", {"run", "tile_sweep", "--device", "a1000"}, {"a1000", "a100"}},
    {"device_dry_run", {"run", "tile_sweep", "--dry-run", "--device", "h10"}, {"h10"}},
    {"filter", {"run", "tile_sweep", "--filter", "TILE=3"}, {"--filter 'TILE=3'", "there is TILE=1, 2, 4, 8, 16, 32"}},
    {"filter_variant", {"run", "tile_sweep", "--filter", "matmul/tild"}, {"did you mean 'matmul/tiled'?"}},
    {"set", {"run", "tile_sweep", "--set", "TIEL=3"}, {"--set TIEL=3", "did you mean 'TILE'?"}},
    {"set_of_the_filtered",
     {"run", "transpose", "--filter", "transpose/naive", "--set", "block=512"},
     {"--set block=512: transpose/naive does not accept block=512", "from 1 to 32"}},
    {"set_value", {"run", "tile_sweep", "--set", "TILE=3"}, {"--set TILE=3", "accepted: 1, 2, 4, 8, 16, 32"}},
    {"list_nothing", {"list"}, {"what to list", "variants, parameters, devices, counters", "list --help"}},
    {"list_foo", {"list", "foo"}, {"'foo'", "accepted: variants, parameters, devices, counters, experiments"}},
    {"list_unknown", {"list", "varaints"}, {"varaints", "did you mean 'variants'?"}},
    {"list_format", {"list", "variants", "--format", "text"}, {"--format text", "table, json"}},
    {"list_variant", {"list", "parameters", "--variant", "matmul/tild"}, {"did you mean 'matmul/tiled'?"}},
    {"completion_shell",
     {"completion", "fishh"},
     {"completion fishh", "accepted: bash, zsh, fish", "did you mean 'fish'?"}},
    {"doctor_format", {"doctor", "--format", "xml"}, {"--format xml", "text, json"}},
    {"doctor_argument", {"doctor", "now"}, {"'now'"}},
};

INSTANTIATE_TEST_SUITE_P(Table, Mistakes, testing::ValuesIn(mistakes),
                         [](const auto& mistake) { return mistake.param.name; });

TEST(Usage, AnUnknownDeviceOfAFileIsNamedAtItsPlace) {
  TemporaryDirectory directory;
  const std::string file =
      directory.write("x.json", R"({"name": "x", "device": "a1000", "experiments": [{"variant": "vector/add"}]})");
  const Outcome outcome = run({"run", file});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, StartsWith("gpuexp: error: " + file + ": /device: "));
}

TEST(Usage, ABadFileIsNamedWithLineAndColumn) {
  TemporaryDirectory directory;
  const std::string file = directory.write("x.json", "{\r\n  \"name\": \"x\",\r\n}\r\n");
  const Outcome outcome = run({"run", file});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, StartsWith("gpuexp: error: " + file + ":3:1: not valid JSON"));
}

TEST(Help, IsThereForEveryCommandWithExamples) {
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {}, {"run"}, {"roofline"}, {"diff"}, {"list"}, {"doctor"}, {"completion"}, {"man"}}) {
    for (const char* flag : {"--help", "-h"}) {
      std::vector<std::string> arguments = command;
      arguments.emplace_back(flag);
      const Outcome outcome = run(arguments);
      EXPECT_EQ(outcome.exit_code, 0);
      EXPECT_THAT(outcome.err, IsEmpty());
      EXPECT_THAT(outcome.out, HasSubstr("Example"));
      EXPECT_THAT(outcome.out, HasSubstr("gpuexp"));
    }
  }
  EXPECT_THAT(run({"run", "--help"}).out, AllOf(HasSubstr("--filter"), HasSubstr("--set"), HasSubstr("--dry-run")));
  for (const std::string what : {"variants", "parameters", "devices", "counters", "experiments"})
    EXPECT_THAT(run({"list", what, "--help"}).out, HasSubstr("Examples:\n  gpuexp list " + what + "\n"));
}

TEST(Help, TakesLessThanTwentyMilliseconds) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's start-up is slower than that";
#endif
  std::chrono::duration<double> best(1e9);
  for (int i = 0; i < 20; ++i) {
    const auto start = std::chrono::steady_clock::now();
    ASSERT_EQ(run({"--help"}).exit_code, 0);
    best = std::min<std::chrono::duration<double>>(best, std::chrono::steady_clock::now() - start);
  }
  EXPECT_LT(best.count(), 0.020);
}

// The values that complete the last word, without their meanings.
std::vector<std::string> completed(std::vector<std::string> words) {
  words.insert(words.begin(), "__complete");
  const Outcome outcome = run(words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  std::vector<std::string> values;
  for (std::string line; std::getline(lines, line);) values.push_back(line.substr(0, line.find('\t')));
  return values;
}

TEST(Completion, KnowsEveryFlagOfEveryCommand) {
  const std::vector<std::string> commands = completed({""});
  EXPECT_THAT(commands, testing::IsSupersetOf({"run", "roofline", "diff", "list", "doctor", "completion"}));
  for (const std::string& command : commands) {
    const std::vector<std::string> flags = completed({command, "--"});
    std::istringstream help(run({command, "--help"}).out);
    for (std::string line; std::getline(help, line);) {
      if (!line.starts_with("  -")) continue;  // no option, or an example
      const std::size_t flag = line.find("--");
      EXPECT_THAT(flags, testing::Contains(line.substr(flag, line.find_first_of(" \n", flag) - flag))) << command;
    }
  }
}

TEST(Completion, KnowsWhatFlagsAndArgumentsTake) {
  using testing::Contains;
  using testing::ElementsAre;
  EXPECT_THAT(completed({"ru"}), ElementsAre("run"));
  EXPECT_THAT(completed({"run", "tile"}), ElementsAre("tile_sweep", ":files"));
  EXPECT_THAT(completed({"run", "tile_sweep", "--format", ""}), ElementsAre("text", "json", "csv"));
  EXPECT_THAT(completed({"run", "--format=j"}), ElementsAre("--format=json"));
  EXPECT_THAT(completed({"run", "--format", "=", "j"}), ElementsAre("json"));  // as bash splits it
  EXPECT_THAT(completed({"run", "--backend", ""}), ElementsAre("auto", "cuda", "simt"));
  EXPECT_THAT(completed({"run", "--schedule", ""}), ElementsAre("forward", "reverse", "random"));
  EXPECT_THAT(completed({"run", "--set", "TI"}), ElementsAre("TILE="));
  EXPECT_THAT(completed({"run", "--filter", "matmul/ti"}), Contains("matmul/tiled"));
  EXPECT_THAT(completed({"roofline", "--device", "a100"}), testing::IsSupersetOf({"a100", "a100-pcie-80gb"}));
  EXPECT_THAT(completed({"diff", "--format", ""}), ElementsAre("text", "markdown", "json"));
  EXPECT_THAT(completed({"diff", "a.json", ""}), ElementsAre(":files"));
  EXPECT_THAT(completed({"list", "p"}), ElementsAre("parameters"));
  EXPECT_THAT(completed({"list", "parameters", "--variant", "transpose/na"}), ElementsAre("transpose/naive"));
  EXPECT_THAT(completed({"completion", ""}), ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(completed({"run", "--bugdet", ""}), Contains("tile_sweep"));
  // Values of a parameter, and what a list may go on with.
  EXPECT_THAT(completed({"run", "--set", "TILE=3"}), ElementsAre("TILE=32"));
  EXPECT_THAT(completed({"run", "--set", "TILE=8,1"}), testing::UnorderedElementsAre("TILE=8,1", "TILE=8,16"));
  EXPECT_THAT(completed({"run", "--set", "TILE=8,16,"}),
              AllOf(Contains("TILE=8,16,32"), Not(Contains("TILE=8,16,16"))));
  EXPECT_THAT(completed({"run", "--set=dtype=float3"}), ElementsAre("--set=dtype=float32"));
  EXPECT_THAT(completed({"run", "--set", "TILE", "=", "8,3"}), ElementsAre("8,32"));  // as bash splits it
  EXPECT_THAT(completed({"run", "--filter", "matmul/naive,matmul/ti"}), Contains("matmul/naive,matmul/tiled"));
  EXPECT_THAT(completed({"roofline", "--precision", "t"}), ElementsAre("tf32"));
  EXPECT_THAT(completed({"roofline", "--results", "a.json", ""}), ElementsAre(":files"));
  EXPECT_THAT(completed({"roofline", "--results", "a.json", "--le"}), ElementsAre("--level"));
  EXPECT_THAT(completed({"diff", "--fail-on", "slower,tr"}), ElementsAre("slower,traffic"));
  EXPECT_THAT(completed({"diff", "--allow", "device,"}),
              testing::UnorderedElementsAre("device,toolkit", "device,mode", "device,schema"));
  EXPECT_THAT(completed({}), Contains("run"));
}

TEST(Completion, BashAsksTheProgram) {
  Call call;
  call.program = "/bin/bash";
  call.arguments = {"-c",
                    "source <(\"$0\" completion bash); complete -p gpuexp; "
                    "COMP_WORDS=(\"$0\" list --format '=' js); COMP_CWORD=4; COMP_WORDS[1]=doctor; _gpuexp; "
                    "printf '<%s>' \"${COMPREPLY[@]}\"",
                    GPUEXP_BINARY};
  const Outcome outcome = run(call);
  EXPECT_THAT(outcome.out, AllOf(StartsWith("complete -F _gpuexp gpuexp"), HasSubstr("<json>"))) << outcome.err;
}

TEST(ManualPage, HasEveryCommandAndFlagAndOnlyRoffThatItMeans) {
  const std::string page = run({"man"}).out;
  std::string plain = page;
  for (auto at = plain.find("\\-"); at != std::string::npos; at = plain.find("\\-")) plain.erase(at, 1);
  for (const std::string& command : completed({""})) {
    EXPECT_THAT(plain, HasSubstr(".SS \"gpuexp " + command + "\""));
    for (const std::string& flag : completed({command, "--"})) EXPECT_THAT(plain, HasSubstr(flag)) << command;
  }
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(".") && !line.starts_with("'")) continue;
    const std::string macro = line.substr(0, line.find(' '));
    EXPECT_THAT(macro, testing::AnyOf(".TH", ".SH", ".SS", ".TP", ".B", ".I", ".PP", ".nf", ".fi")) << line;
  }
}

TEST(Version, NamesVersionCompilerAndBackends) {
  const Outcome outcome = run({"--version"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, AllOf(StartsWith("gpuexp "), HasSubstr("commit: "), HasSubstr("compiler: "),
                                 HasSubstr("  cuda: "), HasSubstr("  simt: available")));
}

json parse(const Outcome& outcome) {
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return json::parse(outcome.out);
}

TEST(List, VariantsInBothFormats) {
  EXPECT_THAT(run({"list", "variants"}).out, AllOf(HasSubstr("matmul/tiled"), HasSubstr("broken on purpose")));
  const json variants = parse(run({"list", "variants", "--format", "json"}));
  const auto tiled =
      std::find_if(variants.begin(), variants.end(), [](const json& v) { return v["name"] == "matmul/tiled"; });
  ASSERT_NE(tiled, variants.end());
  EXPECT_EQ((*tiled)["source_file"], "kernels/matmul/tiled.cu");
  const auto tile = std::find_if((*tiled)["parameters"].begin(), (*tiled)["parameters"].end(),
                                 [](const json& p) { return p["name"] == "TILE"; });
  ASSERT_NE(tile, (*tiled)["parameters"].end());
  EXPECT_EQ((*tile)["values"], json({1, 2, 4, 8, 16, 32}));
}

TEST(List, ParametersOfAVariant) {
  const Outcome outcome = run({"list", "parameters", "--variant", "matmul/tiled"});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("TILE"), HasSubstr("1, 2, 4, 8, 16, 32"), HasSubstr("dtype")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("matmul/naive")));
  EXPECT_EQ(parse(run({"list", "parameters", "--variant", "transpose/*", "--format", "json"}))[0]["variant"],
            "transpose/naive");
}

TEST(List, DevicesCountersExperiments) {
  EXPECT_THAT(run({"list", "devices"}).out, HasSubstr("a100"));
  const json devices = parse(run({"list", "devices", "--format", "json"}));
  EXPECT_GE(devices.size(), 21U);
  EXPECT_FALSE(devices[0]["provenance"].empty());
  EXPECT_THAT(run({"list", "counters"}).out, HasSubstr("sector"));
  EXPECT_FALSE(parse(run({"list", "counters", "--format", "json"})).empty());
  EXPECT_THAT(run({"list", "experiments"}).out, HasSubstr("tile_sweep"));
  const json experiments = parse(run({"list", "experiments", "--format", "json"}));
  EXPECT_TRUE(std::any_of(experiments.begin(), experiments.end(),
                          [](const json& e) { return e["name"] == "tile_sweep" && e["points"] == 21; }));
}

// Needs no GPU; without CUPTI the names stand there unchecked, with the reason.
TEST(List, CountersOfAChipWithTheirMetricsAndPasses) {
  const json plan = parse(run({"list", "counters", "--chip", "GA100", "--format", "json"}));
  EXPECT_EQ(plan["chip"], "GA100");
  const auto& counters = plan["counters"];
  EXPECT_TRUE(std::any_of(counters.begin(), counters.end(), [](const json& entry) {
    return entry["id"] == "global_load_sectors" &&
           entry["metric"] == "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum" && entry["refusal"] == "";
  }));
  const std::string table = run({"list", "counters", "--chip", "GA100"}).out;
  EXPECT_THAT(table, HasSubstr("METRIC ON GA100"));
  if (plan["passes"].is_null()) {
    EXPECT_NE(plan["reason"], "");
    EXPECT_THAT(table, HasSubstr("Not checked, number of passes not known: "));
    GTEST_SKIP() << "no CUPTI here: " << plan["reason"];
  }
  EXPECT_LE(plan["passes"], 7);
  EXPECT_THAT(table, HasSubstr("passes over a point"));
  const Outcome unknown = run({"list", "counters", "--chip", "GH10"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("--chip GH10"), HasSubstr("did you mean 'GH100'?")));
}

TEST(DryRun, ShowsWhatTheGpuWouldCount) {
  const Outcome outcome = run({"run", "transpose", "--dry-run", "--backend", "cuda", "--device", "a100-sxm4-80gb"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("counters on GA100 of "), HasSubstr("dram__bytes_read.sum"), Not(HasSubstr("tensor_"))));
  EXPECT_THAT(run({"run", "transpose", "--dry-run", "--device", "a100-sxm4-80gb"}).out,
              Not(HasSubstr("dram__bytes_read")));
}

TEST(List, TablesFitAHundredColumnsAndHaveNoColour) {
  for (const char* what : {"variants", "devices", "counters", "experiments", "parameters"}) {
    const Outcome outcome = run({"list", what});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, Not(HasSubstr("\x1b")));
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 100U) << what << ": " << line;
      EXPECT_FALSE(line.ends_with(' ')) << what << ": '" << line << "'";
    }
  }
}

TEST(Doctor, SaysWhatWorksAndTheRemedyForTheRest) {
  const Outcome text = run({"doctor"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, AllOf(HasSubstr("simt: available"), HasSubstr("cuda: ")));
  std::istringstream lines(text.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  const json doctor = parse(run({"doctor", "--format", "json"}));
  ASSERT_EQ(doctor["backends"].size(), 2U);
  EXPECT_FALSE(doctor["compiler"].get<std::string>().empty());
  for (const json& backend : doctor["backends"]) {
    if (backend["available"] == false) {
      EXPECT_NE(backend["reason"], "");
      EXPECT_NE(backend["remedy"], "");
    }
  }
}

TEST(Output, AClosedPipeIsQuiet) {
  const Outcome outcome = run(Call{{"list", "variants"}, {}, {}, Stdout::closed_pipe});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST(Output, AFullDeviceIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"list", "variants"}, {"--help"}, {"doctor"}}) {
    const Outcome outcome = run(Call{arguments, {}, {}, Stdout::full_device});
    EXPECT_EQ(outcome.exit_code, 4);
    EXPECT_THAT(outcome.err, HasSubstr("gpuexp: error: standard output cannot be written: No space left on device"));
  }
}

}  // namespace
}  // namespace gpuexp::testing_cli
