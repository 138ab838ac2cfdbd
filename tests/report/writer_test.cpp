// Writing results as they come: journal, atomic files, older results kept, resume, locks, and disks that refuse.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "profiler/core/error.h"
#include "profiler/report/ceiling_file.h"
#include "profiler/report/result_writer.h"
#include "sample.h"
#include "temporary_directory.h"

namespace gpuexp {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using Start = ResultWriter::Start;

ResultFile header_of(const ResultFile& results) {
  ResultFile header = results;
  header.points.clear();
  return header;
}

// Runs `results` through a writer, up to `points` of them; finishes when all are in.
void write(const fs::path& directory, const ResultFile& results, std::size_t points, Start start = Start::fresh) {
  ResultWriter writer(directory, header_of(results), start);
  for (std::size_t i = writer.finished().size(); i < points; ++i) writer.add(results.points[i]);
  if (points == results.points.size()) writer.finish();
}

template <class Action>
std::string error_of(ExitCode code, Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(Writer, LeavesTwoFilesAndNothingElse) {
  const test::TemporaryDirectory directory;
  write(directory / "new/deep", test::sample(), 7);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory / "new/deep")) names.push_back(entry.path().filename());
  EXPECT_THAT(names, testing::UnorderedElementsAre("sample.simt.json", "sample.simt.csv"));
  EXPECT_EQ(test::text_of_file(directory / "new/deep/sample.simt.json"), to_json_text(test::sample()));
  EXPECT_EQ(test::text_of_file(directory / "new/deep/sample.simt.csv"), to_csv_text(test::sample()));
}

TEST(Writer, KeepsTheOlderResultsBesideTheNew) {
  const test::TemporaryDirectory directory;
  const ResultFile first = test::sample();
  ResultFile second = first;
  second.plan.description = "the second";
  write(directory.path(), first, 7);
  write(directory.path(), second, 7);
  EXPECT_EQ(read_results(directory / "sample.simt.prev.json").plan.description, first.plan.description);
  EXPECT_EQ(read_results(directory / "sample.simt.prev.csv").points.size(), 7U);
  EXPECT_EQ(read_results(directory / "sample.simt.json").plan.description, "the second");
}

TEST(Writer, AKilledRunLeavesEveryFinishedPoint) {
  const test::TemporaryDirectory directory;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ResultWriter writer(directory.path(), header_of(test::sample()), Start::fresh);
    for (int i = 0; i < 3; ++i) writer.add(test::sample().points[static_cast<std::size_t>(i)]);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const ResultFile partial = read_results(directory / "sample.simt.partial.jsonl");
  ASSERT_EQ(partial.points.size(), 3U);
  EXPECT_FALSE(partial.complete);
  EXPECT_EQ(partial.points[1].result.point.key(), test::sample().points[1].result.point.key());

  write(directory.path(), test::sample(), 7, Start::resume);
  EXPECT_EQ(test::text_of_file(directory / "sample.simt.json"), to_json_text(test::sample()));
  EXPECT_EQ(test::text_of_file(directory / "sample.simt.csv"), to_csv_text(test::sample()));
  EXPECT_FALSE(fs::exists(directory / "sample.simt.partial.jsonl"));
}

TEST(Writer, AHalfWrittenLineIsIgnored) {
  const test::TemporaryDirectory directory;
  write(directory.path(), test::sample(), 3);
  const fs::path journal = directory / "sample.simt.partial.jsonl";
  std::string text = test::text_of_file(journal);
  text.resize(text.size() - 100);
  std::ofstream(journal, std::ios::binary | std::ios::trunc) << text;
  EXPECT_EQ(read_results(journal).points.size(), 2U);
  write(directory.path(), test::sample(), 7, Start::resume);
  EXPECT_EQ(test::text_of_file(directory / "sample.simt.json"), to_json_text(test::sample()));
}

TEST(Writer, ADamagedLineIsNamed) {
  const test::TemporaryDirectory directory;
  write(directory.path(), test::sample(), 3);
  const fs::path journal = directory / "sample.simt.partial.jsonl";
  std::string text = test::text_of_file(journal);
  text.insert(text.find('\n') + 20, "#\"");
  std::ofstream(journal, std::ios::binary | std::ios::trunc) << text;
  EXPECT_THAT(error_of(ExitCode::usage, [&] { read_results(journal); }),
              HasSubstr("sample.simt.partial.jsonl: line 2"));
}

TEST(Writer, AnInterruptedRunIsFinishedByResume) {
  const test::TemporaryDirectory directory;
  ResultFile results = test::sample();
  {
    ResultWriter writer(directory.path(), header_of(results), Start::fresh);
    writer.add(results.points[0]);
    PointRecord interrupted = results.points[1];
    interrupted.result.status = Status::interrupted;
    interrupted.analysis.reset();
    writer.add(interrupted);
    EXPECT_FALSE(writer.finish().complete);
  }
  EXPECT_FALSE(read_results(directory / "sample.simt.json").complete);
  {
    ResultWriter writer(directory.path(), header_of(results), Start::resume);
    EXPECT_EQ(writer.finished().size(), 1U) << "the interrupted point runs again";
  }
  write(directory.path(), results, 7, Start::resume);
  EXPECT_EQ(test::text_of_file(directory / "sample.simt.json"), to_json_text(results));
  EXPECT_FALSE(fs::exists(directory / "sample.simt.prev.json")) << "it is one run, not an older one";
}

TEST(Writer, ResumeWithNothingThereStartsAtTheBeginning) {
  const test::TemporaryDirectory directory;
  ResultWriter writer(directory.path(), header_of(test::sample()), Start::resume);
  EXPECT_TRUE(writer.finished().empty());
  EXPECT_THAT(writer.notice(), HasSubstr("nothing to resume"));
}

TEST(Writer, ResumeRefusesAnotherPlanAndNamesTheDifference) {
  const test::TemporaryDirectory directory;
  write(directory.path(), test::sample(), 3);
  const std::string journal = test::text_of_file(directory / "sample.simt.partial.jsonl");
  const auto difference = [&](const std::function<void(ResultFile&)>& edit) {
    ResultFile other = header_of(test::sample());
    edit(other);
    return error_of(ExitCode::usage, [&] { ResultWriter(directory.path(), other, Start::resume); });
  };
  EXPECT_THAT(difference([](ResultFile& f) { f.plan.settings["schedule"] = "reverse"; }),
              HasSubstr("the setting schedule was forward and is now reverse"));
  EXPECT_THAT(difference([](ResultFile& f) { f.plan.settings.erase("seed"); }),
              HasSubstr("seed was 1 and is now nothing"));
  EXPECT_THAT(difference([](ResultFile& f) { f.plan.points.pop_back(); }),
              AllOf(HasSubstr("has 7 points and this plan 6"), HasSubstr("transpose/smem")));
  EXPECT_THAT(difference([](ResultFile& f) { std::swap(f.plan.points[0], f.plan.points[1]); }),
              HasSubstr("point 1 was"));
  EXPECT_THAT(difference([](ResultFile& f) { f.device.name = "H100"; }), HasSubstr("A100 80GB PCIe and is now H100"));
  EXPECT_THAT(difference([](ResultFile& f) { f.device.ceilings[0].value.value = 1.0; }), HasSubstr("ceiling DRAM"));
  EXPECT_THAT(difference([](ResultFile& f) { f.gpuexp_version = "9"; }), HasSubstr("written by gpuexp 0.1.0"));
  EXPECT_EQ(test::text_of_file(directory / "sample.simt.partial.jsonl"), journal) << "a refusal changes nothing";
}

TEST(Writer, AFreshRunKeepsAnUnfinishedOne) {
  const test::TemporaryDirectory directory;
  write(directory.path(), test::sample(), 3);
  {
    ResultWriter writer(directory.path(), header_of(test::sample()), Start::fresh);
    EXPECT_THAT(writer.notice(), HasSubstr("sample.simt.prev.partial.jsonl"));
  }
  EXPECT_EQ(read_results(directory / "sample.simt.prev.partial.jsonl").points.size(), 3U);
}

TEST(Writer, TwoRunsOfOneNameDoNotMix) {
  const test::TemporaryDirectory directory;
  {
    const ResultWriter first(directory.path(), header_of(test::sample()), Start::fresh);
    EXPECT_THAT(error_of(ExitCode::cannot_write,
                         [&] { ResultWriter(directory.path(), header_of(test::sample()), Start::fresh); }),
                AllOf(HasSubstr("another gpuexp run"), HasSubstr(directory.path().string())));
    ResultFile other = header_of(test::sample());
    other.plan.name = "other";
    EXPECT_NO_THROW(ResultWriter(directory.path(), other, Start::fresh)) << "another name has files of its own";
  }
  EXPECT_NO_THROW(ResultWriter(directory.path(), header_of(test::sample()), Start::fresh))
      << "the lock ends with the run";
}

TEST(Writer, DirectoriesThatCannotBeWrittenAreNamedBeforeAnyPoint) {
  const test::TemporaryDirectory directory;
  std::ofstream(directory / "file") << "x";
  for (const fs::path& where : {directory / "file", directory / "file/below", fs::path("/proc/gpuexp")})
    EXPECT_THAT(error_of(ExitCode::cannot_write, [&] { ResultWriter(where, header_of(test::sample()), Start::fresh); }),
                HasSubstr(where.string()));
  if (::geteuid() == 0) return;  // root may write anywhere
  fs::permissions(directory.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THAT(error_of(ExitCode::cannot_write,
                       [&] { ResultWriter(directory.path(), header_of(test::sample()), Start::fresh); }),
              HasSubstr("Permission denied"));
  fs::permissions(directory.path(), fs::perms::owner_all);
}

TEST(Writer, AFullDiskAtTheStartIsAnError) {
  const test::TemporaryDirectory directory;
  fs::create_symlink("/dev/full", directory / "sample.simt.partial.jsonl.tmp");
  EXPECT_THAT(error_of(ExitCode::cannot_write,
                       [&] { ResultWriter(directory.path(), header_of(test::sample()), Start::fresh); }),
              AllOf(HasSubstr("sample.simt.partial.jsonl"), HasSubstr("No space left")));
}

TEST(Writer, AFullDiskAtTheEndKeepsTheOldFilesAndThePoints) {
  const test::TemporaryDirectory directory;
  write(directory.path(), test::sample(), 7);
  const std::string old = test::text_of_file(directory / "sample.simt.json");
  {
    ResultFile second = test::sample();
    second.plan.description = "the second";
    ResultWriter writer(directory.path(), header_of(second), Start::fresh);
    for (const PointRecord& point : second.points) writer.add(point);
    fs::create_symlink("/dev/full", directory / "sample.simt.csv.tmp");
    EXPECT_THAT(error_of(ExitCode::cannot_write, [&] { writer.finish(); }),
                AllOf(HasSubstr("No space left"), HasSubstr("sample.simt.partial.jsonl"), HasSubstr("--resume")));
  }
  EXPECT_EQ(test::text_of_file(directory / "sample.simt.json"), old);
  EXPECT_EQ(read_results(directory / "sample.simt.partial.jsonl").points.size(), 7U);
}

// The journal may grow to the file size limit and no further, as on a full disk.
TEST(Writer, AFullDiskWhileItRunsKeepsWholeLines) {
  const test::TemporaryDirectory directory;
  const ResultFile results = test::sample();
  ResultWriter writer(directory.path(), header_of(results), Start::fresh);
  writer.add(results.points[0]);
  const auto size = fs::file_size(directory / "sample.simt.partial.jsonl");
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit tight { size + 50, before.rlim_max };
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const std::string what = error_of(ExitCode::cannot_write, [&] { writer.add(results.points[1]); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_THAT(what, AllOf(HasSubstr("sample.simt.partial.jsonl"), HasSubstr("--resume")));
  EXPECT_EQ(fs::file_size(directory / "sample.simt.partial.jsonl"), size);
  EXPECT_EQ(read_results(directory / "sample.simt.partial.jsonl").points.size(), 1U);
}

TEST(Writer, ADirectoryThatVanishesIsAnError) {
  const test::TemporaryDirectory directory;
  const ResultFile results = test::sample();
  ResultWriter writer(directory / "out", header_of(results), Start::fresh);
  writer.add(results.points[0]);
  fs::remove_all(directory / "out");
  EXPECT_THAT(error_of(ExitCode::cannot_write, [&] { writer.add(results.points[1]); }),
              AllOf(HasSubstr((directory / "out").string()), HasSubstr("removed")));
  EXPECT_THAT(error_of(ExitCode::cannot_write, [&] { writer.finish(); }), HasSubstr((directory / "out").string()));
}

TEST(WriteAtomically, NeverLeavesHalfAFile) {
  const test::TemporaryDirectory directory;
  write_atomically(directory / "a", "old");
  fs::create_symlink("/dev/full", directory / "a.tmp");
  EXPECT_THROW(write_atomically(directory / "a", "new"), Error);
  EXPECT_EQ(test::text_of_file(directory / "a"), "old");
  EXPECT_FALSE(fs::exists(fs::symlink_status(directory / "a.tmp")));
}

TEST(WriteAtomically, ReplacesTheFileThatALinkLeadsToAndNotTheLink) {
  const test::TemporaryDirectory directory;
  fs::create_directory(directory / "kept");
  fs::create_symlink("kept/results.xml", directory / "inner");
  fs::create_symlink("inner", directory / "outer");
  for (const char* text : {"first", "second"}) {  // the target is not there, then it is
    write_atomically(directory / "outer", text);
    EXPECT_TRUE(fs::is_symlink(directory / "outer"));
    EXPECT_TRUE(fs::is_symlink(directory / "inner"));
    EXPECT_EQ(test::text_of_file(directory / "kept/results.xml"), text);
    EXPECT_FALSE(fs::exists(directory / "kept/results.xml.tmp"));
  }
  fs::create_symlink("circle", directory / "circle");
  EXPECT_THAT(error_of(ExitCode::cannot_write, [&] { write_atomically(directory / "circle", "x"); }),
              HasSubstr((directory / "circle").string() + ": cannot be written"));
}

TEST(WriteAtomically, WritesThroughAPipe) {
  const test::TemporaryDirectory directory;
  const fs::path pipe = directory / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink("pipe", directory / "link");
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  write_atomically(pipe, "one ");
  write_atomically(directory / "link", "two");
  char text[16] = {};
  EXPECT_EQ(::read(reader, text, sizeof text), 7);
  EXPECT_STREQ(text, "one two");
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_TRUE(fs::is_symlink(directory / "link"));
}

TEST(WriteAtomically, ErrorsNameThePathThatWasGiven) {
  const test::TemporaryDirectory directory;
  fs::create_directory(directory / "folder");
  for (const std::string name : {"nowhere/diff.xml", "folder"}) {
    const std::string error = error_of(ExitCode::cannot_write, [&] { write_atomically(directory / name, "x"); });
    EXPECT_THAT(error, HasSubstr((directory / name).string() + ": cannot be written: "));
    EXPECT_THAT(error, testing::Not(HasSubstr(".tmp")));
  }
}

// As committed: measured on the card whose other results are in results/h200.
fs::path h200_ceilings() { return fs::path(GPUEXP_SOURCE_DIR) / "results" / "ceilings" / "h200-sxm-141gb.json"; }

TEST(CeilingFile, ComesBackAsItWasWritten) {
  const test::TemporaryDirectory directory;
  const MeasuredCeilings measured = read_ceilings(h200_ceilings());
  EXPECT_EQ(measured.device_id, "h200-sxm-141gb");
  const fs::path copy = write_ceilings(measured, directory / "new" / "folder");
  EXPECT_EQ(copy.filename(), "h200-sxm-141gb.json");
  EXPECT_EQ(test::text_of_file(copy), test::text_of_file(h200_ceilings()));
  for (const CeilingFigure& figure : measured.ceilings) {
    EXPECT_EQ(figure.value.source, Source::measured) << figure.id;
    EXPECT_TRUE(figure.value.has_value() || !figure.value.reason.empty()) << figure.id;
    if (!figure.value.has_value() || figure.unit == "cycle") continue;
    // Nothing exceeds what the units do per cycle.
    EXPECT_LE(figure.percent_at_clock.number().value_or(0), 100) << figure.id;
  }
}

TEST(CeilingFile, RefusesWhatItDoesNotKnow) {
  const std::string good = test::text_of_file(h200_ceilings());
  const auto refusal = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return error_of(ExitCode::usage, [&] { parse_ceilings(text, "c.json"); });
  };
  EXPECT_THAT(refusal("\"schema_version\": 1", "\"schema_version\": 2"), HasSubstr("c.json: schema_version"));
  EXPECT_THAT(refusal("\"device_name\"", "\"device_nam\""), HasSubstr("device_name"));
  EXPECT_THAT(refusal("\"unit\": \"byte/s\"", "\"unit\": 5"), HasSubstr("ceilings[0].unit"));
  EXPECT_THAT(refusal("\"unit\": \"byte/s\"", "\"unit\": \"bogus\""), HasSubstr("accepted: byte/s"));
  EXPECT_THAT(refusal("\"id\": \"dram_write\"", "\"id\": \"dram_read\""), HasSubstr("'dram_read' is there twice"));
  EXPECT_THAT(refusal("\"value\": 4545747084060.927", "\"value\": 1e308"), HasSubstr("ceilings[0].value: is 1e+308"));
  EXPECT_THAT(refusal("\"gpu\": \"NVIDIA H200\"", "\"gpu\": 1"), HasSubstr("environment.gpu"));
  EXPECT_THAT(error_of(ExitCode::usage, [] { parse_ceilings("{}", "c.json"); }), HasSubstr("--measure"));
  EXPECT_THAT(error_of(ExitCode::usage, [] { parse_ceilings("[1", "c.json"); }), HasSubstr("c.json: line 1"));
  EXPECT_THAT(error_of(ExitCode::usage, [] { read_ceilings("/nowhere/c.json"); }), HasSubstr("/nowhere/c.json"));
}

TEST(CeilingFile, IsNotMadeFromEmulatedPointsOrUnderAnotherRoof) {
  ResultFile results = test::sample();
  const DeviceSpec a100 = find_device("a100").spec;
  results.plan.backend = "simt";
  EXPECT_THAT(error_of(ExitCode::usage, [&] { ceilings_from(results, a100); }), HasSubstr("backend simt"));
  results.plan.backend = "cuda";
  results.device.id = "h200-sxm-141gb";
  EXPECT_THAT(error_of(ExitCode::usage, [&] { ceilings_from(results, a100); }), HasSubstr("A100"));
}

}  // namespace
}  // namespace gpuexp
