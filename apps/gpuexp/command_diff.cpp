// gpuexp diff: two result files compared, for a person or for a CI job.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <memory>

#include "apps/gpuexp/commands.h"
#include "apps/gpuexp/output.h"
#include "profiler/compare/compare.h"
#include "profiler/compare/diff_output.h"
#include "profiler/core/error.h"
#include "profiler/report/result_writer.h"

namespace gpuexp::cli {
namespace {

struct DiffFlags {
  std::string base, next;
  std::string format = "text";
  std::string junit;
  std::string fail_on = "slower,traffic,missing,worse,not-comparable";
  std::string allow;
  std::vector<std::string> tolerances;
  std::string min_change = "2%";
  double min_change_us = DiffOptions().min_change_us;
  double alpha = DiffOptions().alpha;
  std::int64_t limit = 50;
};

DiffOptions options_of(const DiffFlags& flags) {
  DiffOptions options;
  options.fail_on = parse_fail_on(flags.fail_on);
  if (!flags.allow.empty()) options.allow = parse_allow(flags.allow);
  for (const std::string& text : flags.tolerances) options.tolerances.push_back(parse_tolerance(text));
  options.min_change = parse_share(flags.min_change, "--min-change");
  options.min_change_us = flags.min_change_us;
  options.alpha = flags.alpha;
  options.keep_same = !flags.junit.empty();
  if (!(options.min_change_us >= 0))
    throw Error(ExitCode::usage, "--min-change-us: must be a number of microseconds of at least 0");
  if (flags.limit < 0)
    throw Error(ExitCode::usage, fmt::format("--limit {}: must be a number of points, 0 = all", flags.limit));
  if (!(options.alpha > 0 && options.alpha < 1))
    throw Error(ExitCode::usage, "--alpha: must be a probability between 0 and 1, such as 0.01");
  return options;
}

bool is_standard_output(const std::string& path) {
  struct stat named {
  }, stream{};
  return ::stat(path.c_str(), &named) == 0 && S_ISREG(named.st_mode) && ::fstat(STDOUT_FILENO, &stream) == 0 &&
         named.st_ino == stream.st_ino && named.st_dev == stream.st_dev;
}

// Inputs are only read; an output that would replace one, or the report itself, is a slip.
void refuse_to_replace(const DiffFlags& flags, const Diff& diff) {
  if (flags.junit.empty()) return;
  if (is_standard_output(flags.junit))
    throw Error(
        ExitCode::usage,
        fmt::format("--junit {} would replace the file that standard output goes to; name another", flags.junit));
  std::error_code ignored;
  for (const FileDiff& file : diff.files)
    for (const std::string& input : {file.base_file, file.next_file})
      if (!input.empty() && std::filesystem::equivalent(flags.junit, input, ignored))
        throw Error(ExitCode::usage, fmt::format("--junit {} would replace a file that is compared", flags.junit));
}

std::string formatted(const Diff& diff, const DiffFlags& flags) {
  if (flags.format == "json") return diff_json(diff);
  if (flags.format == "markdown") return diff_markdown(diff, static_cast<std::size_t>(flags.limit));
  return diff_text(diff, terminal_style(STDOUT_FILENO), static_cast<std::size_t>(flags.limit));
}

}  // namespace

void add_diff(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("diff", "Compare two results; fail on a regression");
  const auto flags = std::make_shared<DiffFlags>();
  command->add_option("BASE", flags->base, "Result file (JSON or CSV), or a directory of them")->required();
  command->add_option("NEW", flags->next, "What to compare with it")->required();
  command->add_option("--format", flags->format, "text, markdown or json")->capture_default_str();
  command->add_option("--junit", flags->junit, "Also write the verdicts as JUnit XML to this file")->type_name("FILE");
  command->add_option("--fail-on", flags->fail_on, "Verdicts that end with exit code 1")
      ->type_name("LIST")
      ->capture_default_str();
  command->add_option("--allow", flags->allow, "Compare in spite of these: device, toolkit, mode, schema")
      ->type_name("LIST");
  command
      ->add_option("--tolerance", flags->tolerances,
                   "A column may differ by this share; globs allowed; repeat for more columns")
      ->type_name("COLUMN=SHARE")
      ->allow_extra_args(false);
  command->add_option("--min-change", flags->min_change, "Smallest change of a median time that matters")
      ->type_name("SHARE")
      ->capture_default_str();
  command->add_option("--min-change-us", flags->min_change_us, "And in microseconds")
      ->type_name("US")
      ->capture_default_str();
  command->add_option("--alpha", flags->alpha, "Probability of any false slower or faster")
      ->type_name("P")
      ->capture_default_str();
  command->add_option("--limit", flags->limit, "Points listed per file, 0 = all")
      ->type_name("N")
      ->capture_default_str();
  command->footer(
      "Verdicts for --fail-on: slower, traffic, missing, worse, not-comparable, undecided, new, faster,\n"
      "less-traffic; any, none.\n"
      "\n"
      "Examples:\n"
      "  gpuexp diff results/out/transpose.simt.prev.json results/out/transpose.simt.json\n"
      "  gpuexp diff before after --format markdown --junit diff.xml    two directories, of the same runs\n"
      "  gpuexp diff results/simt/transpose.simt.csv results/out/transpose.simt.csv\n"
      "      after 'gpuexp run transpose --backend simt --budget 4000000', as this baseline was made\n"
      "  gpuexp diff old.cuda.json new.cuda.json --min-change 5% --tolerance 'dram_*=20%'\n"
      "\n"
      "Exit codes: 0 nothing failed, 1 something did, 2 usage or input that cannot be compared,\n"
      "4 the JUnit file or standard output cannot be written.");
  command->callback([flags, &exit_code] {
    require_one_of("--format", flags->format, {"text", "markdown", "json"});
    const DiffOptions options = options_of(*flags);
    const Diff diff = compare(flags->base, flags->next, options);
    refuse_to_replace(*flags, diff);
    print(formatted(diff, *flags));
    if (!flags->junit.empty()) write_atomically(flags->junit, diff_junit(diff));
    exit_code = static_cast<int>(diff.failed() ? ExitCode::bad_answer : ExitCode::success);
  });
}

}  // namespace gpuexp::cli
