// `gpuexp run` end to end: what it writes where, and its exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

#include "tests/cli/program.h"

namespace gpuexp::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

bool has_gpu() {
  const json doctor = json::parse(run({"doctor", "--format", "json"}).out);
  for (const json& backend : doctor["backends"]) {
    if (backend["name"] == "cuda") return backend["available"];
  }
  return false;
}

class Run : public testing::Test {
 protected:
  // Runs in the temporary directory, on the emulator.
  [[nodiscard]] Outcome emulate(const std::vector<std::string>& arguments,
                                const std::map<std::string, std::string>& environment = {}) const {
    std::vector<std::string> words = {"run", "--backend", "simt"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run(Call{words, directory_.path(), environment, Stdout::captured});
  }

  [[nodiscard]] std::filesystem::path path(const std::string& relative) const { return directory_.path() / relative; }

  TemporaryDirectory directory_;
};

TEST_F(Run, AShippedExperimentFromAnyDirectory) {
  const Outcome outcome = emulate({"tile_sweep", "--set", "n=32"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("tiled"), HasSubstr("results/out/tile_sweep.simt.json")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("\x1b")));
  const json results = json::parse(read(path("results/out/tile_sweep.simt.json")));
  EXPECT_EQ(results["points"].size(), 7U);
  EXPECT_THAT(read(path("results/out/tile_sweep.simt.csv")), HasSubstr("matmul/tiled"));
  // A second run needs no flag and keeps the first one's results.
  EXPECT_EQ(emulate({"tile_sweep", "--set", "n=32"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(path("results/out/tile_sweep.simt.prev.json")));
}

TEST_F(Run, AFileOfOnesOwnAndItsOutputDirectory) {
  const std::string file = directory_.write("mine.json", R"({"name": "mine", "device": "h100", "output": "kept/here",
      "experiments": [{"variant": "vector/add", "axes": {"n": [1, 33]}}]})");
  const Outcome outcome = emulate({file, "--quiet"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(std::filesystem::exists(path("kept/here/mine.simt.json")));
  EXPECT_EQ(emulate({file, "--out", "elsewhere"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(path("elsewhere/mine.simt.csv")));
}

TEST_F(Run, PrintsJsonAndCsvAlone) {
  const Outcome as_json = emulate({"tile_sweep", "--set", "n=8", "--filter", "TILE=4", "--format", "json"});
  EXPECT_EQ(as_json.exit_code, 0) << as_json.err;
  EXPECT_EQ(json::parse(as_json.out)["points"].size(), 1U);
  const Outcome as_csv = emulate({"tile_sweep", "--set", "n=8", "--filter", "TILE=4", "--format", "csv"});
  EXPECT_EQ(as_csv.exit_code, 0) << as_csv.err;
  EXPECT_EQ(as_csv.out, read(path("results/out/tile_sweep.simt.csv")));
}

TEST_F(Run, ADryRunListsPointsAndWritesNothing) {
  const Outcome outcome = emulate({"tile_sweep", "--dry-run", "--filter", "matmul/tiled TILE=8 n=32,1024"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("tile_sweep: 2 points"), HasSubstr("matmul/tiled TILE=8"), HasSubstr("simt")));
  const json plans = json::parse(emulate({"tile_sweep", "--dry-run", "--format", "json"}).out);
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans[0]["count"], 21);
  EXPECT_EQ(plans[0]["points"][0]["variant"], "matmul/naive");
  EXPECT_EQ(plans[0]["points"][0]["params"]["n"], 32);
  EXPECT_EQ(plans[0]["points"][0]["backends"]["simt"]["can_run"], true);
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

// That a plan is valid is one thing, that this machine could run it another: a dry run says both.
TEST_F(Run, ADryRunSaysWhetherThisMachineWouldRunIt) {
  EXPECT_THAT(emulate({"tile_sweep", "--dry-run"}).out,
              HasSubstr("\ntile_sweep: this machine would run it on the simt backend\n"));
  EXPECT_EQ(emulate({"tile_sweep", "--dry-run", "--device", "a100", "--gpu", "0"}).exit_code, 2);
  if (has_gpu()) GTEST_SKIP() << "there is a GPU";
  const std::vector<std::string> words = {"run", "tile_sweep", "--filter", "n=32", "--backend", "cuda"};
  std::vector<std::string> dry = words;
  dry.emplace_back("--dry-run");
  const Outcome listed = run(Call{dry, directory_.path(), {}, Stdout::captured}),
                refused = run(Call{words, directory_.path(), {}, Stdout::captured});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(listed.out,
              HasSubstr("this machine cannot run it, `gpuexp run` would end with exit code 3: backend cuda"));
  dry.insert(dry.end(), {"--format", "json"});
  const json plan = json::parse(run(Call{dry, directory_.path(), {}, Stdout::captured}).out)[0];
  EXPECT_EQ(plan["would_run"], false);
  EXPECT_THAT(refused.err, HasSubstr(plan["reason"].get<std::string>()));
}

// A name that stands for several boards is explained to who gave it, once; a file's is named by the report.
TEST_F(Run, ExplainsADeviceNameToWhoGaveIt) {
  const Outcome given = emulate({"tile_sweep", "--set", "n=8", "--filter", "TILE=4", "--device", "a100"});
  EXPECT_THAT(given.err, HasSubstr("note: a100 means A100 80GB PCIe"));
  const Outcome shipped = emulate({"tile_sweep", "--set", "n=8", "--filter", "TILE=4"});
  EXPECT_THAT(shipped.err, Not(HasSubstr("means")));
  EXPECT_THAT(shipped.out, HasSubstr("Roof: A100 80GB PCIe, DRAM"));
}

TEST_F(Run, ABrokenVariantThatIsFoundOutPasses) {
  const Outcome outcome = emulate({"barriers"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err << outcome.out;
}

TEST_F(Run, ResultsThatCannotBeWrittenAreExitCodeFour) {
  directory_.write("file", "");
  for (const char* out : {"file", "file/below", "/proc/gpuexp"}) {
    const Outcome outcome = emulate({"tile_sweep", "--set", "n=8", "--out", out});
    EXPECT_EQ(outcome.exit_code, 4) << out;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("gpuexp: error: "), HasSubstr(out)));
  }
}

// Root may write anywhere, so that root's tests run as another user.
TEST_F(Run, ADirectoryThatMayNotBeWrittenIsNamed) {
  using std::filesystem::perms;
  std::filesystem::create_directory(path("kept"));
  const perms readable = perms::owner_read | perms::owner_exec | perms::others_read | perms::others_exec;
  std::filesystem::permissions(path("kept"), readable);
  std::filesystem::permissions(directory_.path(), readable | perms::owner_write);
  Call call;
  call.arguments = {"run", "tile_sweep", "--set", "n=8", "--backend", "simt", "--quiet", "--out", path("kept")};
  if (geteuid() == 0) {
    call.program = "/usr/bin/setpriv";
    const std::vector<std::string> as_nobody = {"--reuid=65534", "--regid=65534", "--clear-groups", GPUEXP_BINARY};
    call.arguments.insert(call.arguments.begin(), as_nobody.begin(), as_nobody.end());
  }
  const Outcome outcome = run(call);
  if (outcome.exit_code == 127 || outcome.err.starts_with("setpriv:")) GTEST_SKIP() << "no other user to run as";
  EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(path("kept").string()), HasSubstr("cannot be written: Permission denied")));
  EXPECT_TRUE(std::filesystem::is_empty(path("kept")));
}

// Threads' stacks follow the limit on stacks unless the program sees to it.
TEST_F(Run, ASmallLimitOnStacksIsNoMatter) {
  Call call;
  call.program = "/bin/sh";
  call.arguments = {"-c", "ulimit -s 64; exec \"$0\" run tile_sweep --set n=8 --backend simt --quiet --out \"$1\"",
                    GPUEXP_BINARY, path("out")};
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(Run, WithoutAGpuCudaIsExitCodeThreeWithARemedy) {
  if (has_gpu()) GTEST_SKIP() << "there is a GPU here";
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"run", "tile_sweep", "--backend", "cuda"},
                                             {"run", "tile_sweep", "--device", "auto", "--backend", "simt"}}) {
    const Outcome outcome = run(Call{arguments, directory_.path(), {}, Stdout::captured});
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith("gpuexp: error: "));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(Run, WithoutAGpuAutoIsTheEmulator) {
  if (has_gpu()) GTEST_SKIP() << "there is a GPU here";
  const Outcome outcome =
      run(Call{{"run", "tile_sweep", "--set", "n=8", "--filter", "TILE=4"}, directory_.path(), {}, Stdout::captured});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(std::filesystem::exists(path("results/out/tile_sweep.simt.json")));
}

TEST_F(Run, AClosedPipeLosesNoResults) {
  const Outcome outcome = run(Call{{"run", "tile_sweep", "--set", "n=8", "--backend", "simt", "--quiet"},
                                   directory_.path(),
                                   {},
                                   Stdout::closed_pipe});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(read(path("results/out/tile_sweep.simt.json")))["points"].size(), 7U);
}

TEST_F(Run, AnInterruptEndsInOrderAndResumeFinishes) {
  // Every block of 128 x 128 products on one thread: some tenths of a second for each point.
  const std::vector<std::string> arguments = {"run",  "tile_sweep", "--set", "n=128",    "--backend",
                                              "simt", "--threads",  "1",     "--budget", "0"};
  Program program(Call{arguments, directory_.path(), {}, Stdout::captured});
  for (int i = 0; i < 6000 && program.err().find("[1/7]") == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  program.signal(SIGINT);
  const auto sent = std::chrono::steady_clock::now();
  const Outcome interrupted = program.wait(60);
  EXPECT_LT(std::chrono::steady_clock::now() - sent, std::chrono::seconds(10));
  EXPECT_EQ(interrupted.exit_code, 130) << interrupted.err;
  EXPECT_THAT(interrupted.err, HasSubstr("--resume"));

  std::vector<std::string> again = arguments;
  again.emplace_back("--resume");
  const Outcome resumed = run(Call{again, directory_.path(), {}, Stdout::captured});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, Not(HasSubstr("[1/7]")));  // the first point was there already
  const json points = json::parse(read(path("results/out/tile_sweep.simt.json")))["points"];
  ASSERT_EQ(points.size(), 7U);
  for (const json& point : points) EXPECT_EQ(point["status"], "ok") << point;
}

TEST_F(Run, ColourNeedsATerminal) {
  for (const std::map<std::string, std::string>& environment :
       std::vector<std::map<std::string, std::string>>{{}, {{"NO_COLOR", "1"}}, {{"TERM", "xterm-256color"}}}) {
    const Outcome outcome = emulate({"tile_sweep", "--set", "n=8", "--filter", "TILE=4"}, environment);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("\x1b")));
  }
}

// Holds for programs started while it lives.
class Limit {
 public:
  Limit(__rlimit_resource which, rlim_t most) : which_(which) {
    getrlimit(which_, &before_);
    const rlimit now{most, before_.rlim_max};
    setrlimit(which_, &now);
  }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
  ~Limit() { setrlimit(which_, &before_); }

 private:
  __rlimit_resource which_;
  rlimit before_{};
};

TEST_F(Run, AFileThatMayNotGrowIsNamed) {
  const Limit limit(RLIMIT_FSIZE, 4096);
  const Outcome outcome = emulate({"tile_sweep", "--set", "n=8"});
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("results/out/tile_sweep.simt"), HasSubstr("File too large")));
}

TEST_F(Run, ALackOfMemoryEndsPointsNotTheProgram) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer takes terabytes of address space";
#endif
  Outcome outcome;
  {
    const Limit limit(RLIMIT_AS, rlim_t{300} << 20U);
    outcome = emulate({"tile_sweep", "--set", "n=8", "--filter", "TILE=4", "--format", "csv", "--threads", "1"});
  }
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("memory"));
}

TEST_F(Run, AStrippedProgramRefusesToEmulate) {
  const TemporaryDirectory folder;
  const std::string stripped = (folder.path() / "gpuexp").string();
  ASSERT_EQ(std::system(("strip -o " + stripped + " " GPUEXP_BINARY).c_str()), 0);  // binutils come with the compiler
  Call call{{"run", "vector", "--backend", "simt"}, folder.path(), {}, Stdout::captured, stripped};
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("stripped of its symbols"), HasSubstr("debug file")));
}

TEST_F(Run, ResultsDoNotDependOnTheLocale) {
  const Outcome plain = emulate({"tile_sweep", "--set", "n=8", "--filter", "TILE=4", "--format", "csv"});
  const Outcome german = emulate({"tile_sweep", "--set", "n=8", "--filter", "TILE=4", "--format", "csv"},
                                 {{"LC_ALL", "de_DE.UTF-8"}, {"LANG", "de_DE.UTF-8"}});
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(plain.out, german.out);
}

}  // namespace
}  // namespace gpuexp::testing_cli
