// gpuexp: parses the command line, hands over to a subcommand, and turns every error into one line and an exit code.
#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <thread>

#include "apps/gpuexp/commands.h"
#include "apps/gpuexp/output.h"
#include "profiler/core/error.h"
#include "profiler/core/nearest.h"

namespace gpuexp::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  gpuexp run tile_sweep                        a shipped experiment, from any directory\n"
    "  gpuexp run my.json --set n=64 --out results  a file of your own, with other sizes\n"
    "  gpuexp roofline --device a100 --plot         ceilings, ridge points and where kernels land\n"
    "  gpuexp list variants                         what there is to run\n"
    "  gpuexp doctor                                what this machine can do\n"
    "\n"
    "Exit codes: 0 success, 1 the answer is bad (results are written), 2 usage or input, 3 the machine\n"
    "cannot do it, 4 results cannot be written, 130 interrupted.";

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

// CLI11 would call a misspelt command an unexpected argument.
void check_command(const CLI::App& app, int argc, const char* const* argv) {
  const std::vector<std::string> names = command_names(app);
  if (argc < 2) {
    throw Error(ExitCode::usage, fmt::format("no command given; commands: {}; see 'gpuexp --help'", list_names(names)));
  }
  const std::string first = argv[1];
  if (first.starts_with("-") || std::find(names.begin(), names.end(), first) != names.end()) return;
  const bool is_config = first.ends_with(".json");
  throw Error(ExitCode::usage, fmt::format("unknown command '{}'; commands: {}{}", first, list_names(names),
                                           is_config ? fmt::format("; did you mean 'gpuexp run {}'?", first)
                                                     : did_you_mean(first, names)));
}

// The innermost command that was given.
const CLI::App& given_command(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent ? full_name(*parent) + " " + command.get_name() : command.get_name();
}

// "Could not convert: --threads = many" with what is accepted: "--threads many: expected N: OS threads, ...".
std::string conversion_message(const CLI::App& command, const std::string& message) {
  const std::size_t colon = message.find(": "), equals = message.find(" = ");
  if (colon == std::string::npos || equals == std::string::npos || equals < colon) return message;
  const std::string flag = message.substr(colon + 2, equals - colon - 2);
  for (const CLI::Option* option : command.get_options([](const CLI::Option*) { return true; }))
    if (option->check_name(flag))
      return fmt::format("{} {}: expected a number: {}", flag, message.substr(equals + 3), option->get_description());
  return message;
}

// CLI11's complaint in one line, with the nearest flag and where to read on.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = given_command(app);
  std::string message = error.what();
  std::string hint;
  if (const std::vector<std::string> extras = app.remaining(true); !extras.empty()) {
    std::vector<std::string> accepted = command_names(command);
    for (const CLI::Option* option : command.get_options([](const CLI::Option*) { return true; })) {
      for (const std::string& name : option->get_lnames()) accepted.push_back("--" + name);
    }
    const std::string argument = extras.front().substr(0, extras.front().find('='));
    message = fmt::format("unexpected argument '{}'", extras.front());
    hint = did_you_mean(argument, accepted);
    // `gpuexp list foo`: a word where only a command can stand.
    const std::vector<std::string> commands = command_names(command);
    if (!commands.empty() && !argument.starts_with("-")) message += "; accepted: " + list_names(commands);
  } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && command.get_require_subcommand_min() > 0) {
    message =
        fmt::format("what to {} is missing; accepted: {}", command.get_name(), list_names(command_names(command)));
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) message = conversion_message(command, message);
  std::replace(message.begin(), message.end(), '\n', ' ');
  message.erase(message.find_last_not_of(" .") + 1);
  return fmt::format("{}{} (see '{} --help')", message, hint, full_name(command));
}

int run_program(int argc, const char* const* argv) {
  CLI::App app("Roofline profiler and experiment runner for CUDA kernels.", "gpuexp");
  app.footer(examples);
  app.set_version_flag("--version", version_text, "Version, commit, compiler and backends");
  app.set_help_flag("-h,--help", "This help");
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  int exit_code = 0;
  add_run(app, exit_code);
  add_roofline(app, exit_code);
  add_diff(app, exit_code);
  add_list(app, exit_code);
  add_doctor(app, exit_code);
  add_completion(app, exit_code);
  add_man(app, exit_code);
  if (complete_command_line(app, argc, argv)) {
    finish_output();
    return exit_code;
  }
  check_command(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const CLI::App& command = given_command(app);
    print(command.help(command.get_parent() ? full_name(*command.get_parent()) : ""));
  } catch (const CLI::CallForVersion& version) {
    print(std::string(version.what()) + "\n");
  } catch (const CLI::ParseError& error) {
    throw Error(ExitCode::usage, usage_message(app, error));
  }
  finish_output();
  return exit_code;
}

// Every error as one line and an exit code.
int exit_code_of(int argc, const char* const* argv) {
  ExitCode code = ExitCode::machine;
  try {
    return run_program(argc, argv);
  } catch (const Error& error) {
    print_message("error", error.what());
    code = error.code();
  } catch (const std::bad_alloc&) {
    print_message("error", "out of memory; use smaller sizes or fewer --threads");
  } catch (const std::exception& error) {
    print_message("error", fmt::format("unexpected: {}; please report this with the command line", error.what()));
  } catch (...) {
    print_message("error", "unexpected exception; please report this with the command line");
  }
  return static_cast<int>(code);
}

// Under a small `ulimit -s` the stack of the main thread, and by default of every other, would run over.
int with_enough_stack(int argc, const char* const* argv) {
  constexpr std::size_t enough = std::size_t{8} << 20;
  rlimit limit = {};
  pthread_attr_t attributes;
  const bool small = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < enough;
  if (!small || pthread_attr_init(&attributes) != 0) return exit_code_of(argc, argv);
  const bool raised =
      pthread_attr_setstacksize(&attributes, enough) == 0 && pthread_setattr_default_np(&attributes) == 0;
  pthread_attr_destroy(&attributes);
  if (!raised) return exit_code_of(argc, argv);
  int code = 0;
  std::thread([&] { code = exit_code_of(argc, argv); }).join();
  return code;
}

}  // namespace
}  // namespace gpuexp::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // writes fail instead, so that results are saved whoever stops reading
  std::signal(SIGXFSZ, SIG_IGN);  // and a file that reaches the limit of its size is named
  return gpuexp::cli::with_enough_stack(argc, argv);
}
