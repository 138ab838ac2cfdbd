// `gpuexp diff` as a CI job uses it: exit codes, what it prints, and a kernel whose padding was removed, end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace gpuexp::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class Diff : public testing::Test {
 protected:
  // Emulates the transposes of 64 x 64 into a directory of this name; returns the JSON's path.
  [[nodiscard]] std::string emulate(const std::string& name) const {
    const std::string out = (directory_.path() / name).string();
    const Outcome outcome =
        run({"run", "transpose", "--filter", "rows=64", "--backend", "simt", "--quiet", "--out", out});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return out + "/transpose.simt.json";
  }

  static Outcome diff(std::vector<std::string> arguments, std::map<std::string, std::string> environment = {}) {
    arguments.insert(arguments.begin(), "diff");
    Call call;
    call.arguments = std::move(arguments);
    call.environment = std::move(environment);
    return run(call);
  }

  // The results as if the padding of smem_padded had been removed: what smem did, under the other's name.
  [[nodiscard]] std::string without_padding(const std::string& sound) const {
    json results = json::parse(read(sound));
    json& points = results["points"];
    const auto named = [&](const char* name) {
      return std::find_if(points.begin(), points.end(), [&](const json& point) { return point["variant"] == name; });
    };
    json broken = *named("transpose/smem");
    broken["variant"] = "transpose/smem_padded";
    *named("transpose/smem_padded") = broken;
    return directory_.write("broken.simt.json", results.dump());
  }

  TemporaryDirectory directory_;
};

TEST_F(Diff, RemovedPaddingIsCaughtWithCounterFactorAndLine) {
  const std::string base = emulate("base");
  const Outcome outcome = diff({base, without_padding(base)});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out,
              AllOf(StartsWith("more traffic    transpose/smem_padded"), HasSubstr("shared_store_bank_conflicts"),
                    HasSubstr("0 -> 3,968"), HasSubstr("x32"), HasSubstr("at kernels/transpose/smem.cu:"),
                    HasSubstr("store to tile"), EndsWith("failed: 1 of 3 points (1 more traffic); 2 same\n")));
  // And so it is with the committed kind of baseline, a CSV.
  const std::string csv = base.substr(0, base.size() - 4) + "csv";
  const Outcome from_csv = diff({csv, without_padding(base)});
  EXPECT_EQ(from_csv.exit_code, 1);
  EXPECT_THAT(from_csv.out, AllOf(HasSubstr("shared_store_bank_conflicts"), HasSubstr("kernels/transpose/smem.cu:")));
}

// The same experiment by gpuexp and by a gpuexp whose kernels were made worse
// (tests/compare/injected_regressions.cmake).
TEST_F(Diff, EditedKernelsAreCaughtWithCounterFactorAndLine) {
  const std::string config = directory_.write("gate.json", R"({"name": "gate", "device": "a100", "experiments": [
      {"variant": "transpose/smem_padded", "axes": {"rows": [64, 100]}},
      {"variant": "matmul/tiled", "axes": {"n": [64], "TILE": [16, 32]}}]})");
  const auto emulate_by = [&](const std::string& program, const std::string& name) {
    Call call;
    call.program = program;
    const std::string out = (directory_.path() / name).string();
    call.arguments = {"run", config, "--backend", "simt", "--quiet", "--out", out};
    const Outcome outcome = run(call);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;  // the results are right, only dearer
    return out + "/gate.simt.json";
  };
  const std::string base = emulate_by(GPUEXP_BINARY, "base"), next = emulate_by(GPUEXP_REGRESSED_BINARY, "new");
  const Outcome outcome = diff({base, next, "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 1);
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["verdicts"]["more traffic"], 4);
  // The line of the kernel's text that holds `what`.
  const auto line_of = [](const char* kernel, const std::string& what) {
    const std::string text = read(std::string(GPUEXP_SOURCE_DIR "/kernels/") + kernel);
    return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(what)), '\n');
  };
  const auto change = [&](const std::string& point, const std::string& column) {
    for (const json& one : report["files"][0]["points"])
      if (one["point"].get<std::string>().find(point) != std::string::npos)
        for (const json& row : one["changes"])
          if (row["column"] == column) return row;
    ADD_FAILURE() << point << " " << column;
    return json();
  };
  const json conflicts = change("rows=64", "shared_store_bank_conflicts");
  EXPECT_EQ(conflicts["base"], 0);
  EXPECT_EQ(conflicts["new"], 31 * 64 * 64 / 32);
  EXPECT_EQ(conflicts["site"]["line"], line_of("transpose/smem_padded.cu", "tile[tx][ty] = value"));
  EXPECT_THAT(conflicts["site"]["file"].get<std::string>(), EndsWith("transpose/smem_padded.cu"));
  // A warp of a 32-wide tile loads a column of A and one of B: 32 sectors for each where 4 would do.
  const json sectors = change("TILE=32", "global_load_sectors");
  EXPECT_EQ(sectors["factor"], 8);
  EXPECT_EQ(sectors["site"]["line"], line_of("matmul/tiled.cu", "a = A[row * k + a_col]"));
}

TEST_F(Diff, RunsOfOneBinaryAreTheSame10TimesOf10) {
  const std::string base = emulate("base");
  for (int i = 0; i < 10; ++i) {
    const Outcome outcome = diff({base, emulate("again")});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
    EXPECT_EQ(outcome.out, "passed: 3 points: 3 same\n");
  }
}

TEST_F(Diff, ARerunComparesWithWhatItKept) {
  const std::string results = emulate("out");
  EXPECT_EQ(emulate("out"), results);
  const std::string kept = (directory_.path() / "out/transpose.simt.prev.json").string();
  EXPECT_EQ(diff({kept, results}).exit_code, 0);
}

TEST_F(Diff, Formats) {
  const std::string base = emulate("base"), broken = without_padding(base);
  const Outcome markdown = diff({base, broken, "--format", "markdown"});
  EXPECT_EQ(markdown.exit_code, 1);
  EXPECT_THAT(markdown.out, AllOf(StartsWith("<!-- gpuexp diff -->\n**gpuexp diff failed: 1 of 3 points"),
                                  HasSubstr("| **more traffic** |")));
  const std::string junit = (directory_.path() / "diff.xml").string();
  const Outcome as_json = diff({base, broken, "--format", "json", "--junit", junit});
  EXPECT_EQ(as_json.exit_code, 1);
  EXPECT_EQ(json::parse(as_json.out)["failing"], 1);
  EXPECT_THAT(read(junit), HasSubstr("<testsuites tests=\"3\" failures=\"1\">"));
}

TEST_F(Diff, DirectoriesListsAndTolerances) {
  const std::string base = emulate("base"), broken = without_padding(base);
  EXPECT_EQ(diff({(directory_.path() / "base").string(), (directory_.path() / "base").string()}).exit_code, 0);
  EXPECT_EQ(diff({base, broken, "--fail-on", "missing,worse"}).exit_code, 0);
  EXPECT_EQ(diff({base, broken, "--fail-on", "any"}).exit_code, 1);
  EXPECT_EQ(diff({base, broken, "--tolerance", "shared_*=1000%"}).exit_code, 1);  // no share of zero allows 3,968
  EXPECT_EQ(diff({broken, base, "--tolerance", "shared_*=100%"}).exit_code, 0);
}

TEST_F(Diff, LocaleAndPipesChangeNothing) {
  const std::string base = emulate("base"), broken = without_padding(base);
  const std::string plain = diff({base, broken}).out;
  for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8", "C"})
    EXPECT_EQ(diff({base, broken}, {{"LC_ALL", locale}}).out, plain);
  EXPECT_THAT(plain, testing::Not(HasSubstr("\x1b")));
}

TEST_F(Diff, MistakesAreOneLineAndExitCode2) {
  const std::string base = emulate("base");
  const std::string text = directory_.write("notes.txt", "hello"), junk = directory_.write("junk.csv", "a,b\n1,2\n");
  struct Mistake {
    std::vector<std::string> arguments;
    std::vector<std::string> says;
  };
  const Mistake mistakes[] = {
      {{base}, {"NEW"}},
      {{base, "nowhere.json"}, {"nowhere.json: cannot be read"}},
      {{base, text}, {"notes.txt", ".csv"}},
      {{junk, base}, {"junk.csv: line 1", "schema_version"}},
      {{base, base, "--format", "markdwn"}, {"--format markdwn", "'markdown'?"}},
      {{base, base, "--fail-on", "slow"}, {"--fail-on 'slow'", "slower"}},
      {{base, base, "--allow", "gpu"}, {"--allow 'gpu'", "device"}},
      {{base, base, "--tolerance", "global_load_sector=1%"}, {"did you mean 'global_load_sectors'?"}},
      {{base, base, "--min-change", "-2%"}, {"--min-change -2%"}},
      {{base, base, "--alpha", "2"}, {"--alpha"}},
      {{base, base, "--limit", "-1"}, {"--limit -1", "0 = all"}},
      {{base, base, "--junit", base}, {"would replace"}},
      {{base, base, "--failon", "any"}, {"'--failon'", "--fail-on"}},
  };
  for (const Mistake& mistake : mistakes) {
    const Outcome outcome = diff(mistake.arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, StartsWith("gpuexp: error: "));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    for (const std::string& part : mistake.says) EXPECT_THAT(outcome.err, HasSubstr(part));
  }
  EXPECT_EQ(diff({base, base, "--junit", "/nowhere/diff.xml"}).exit_code, 4);
}

}  // namespace
}  // namespace gpuexp::testing_cli
