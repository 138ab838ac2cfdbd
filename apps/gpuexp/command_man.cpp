// gpuexp man: the manual page, made of what --help says.
#include <fmt/format.h>

#include "apps/gpuexp/commands.h"
#include "apps/gpuexp/output.h"
#include "profiler/core/error.h"

namespace gpuexp::cli {
namespace {

// Text of a page: a backslash and a leading dot or quote would be commands to the formatter, and a hyphen may be
// copied.
std::string escaped(const std::string& text) {
  std::string page;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (page.empty() || page.back() == '\n')) page += "\\&";
    page += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return page;
}

// A line of a heading or the like: quotes end its argument.
std::string argument(const std::string& text) {
  std::string line;
  for (const char c : escaped(text)) line += c == '"' ? "\\(dq" : c == '\n' ? " " : std::string(1, c);
  return '"' + line + '"';
}

std::string options_text(const CLI::App& command) {
  std::string page;
  for (const CLI::Option* option : command.get_options([](const CLI::Option*) { return true; })) {
    std::string name = option->get_name(option->get_positional(), true);
    if (option->get_items_expected_max() > 0 && !option->get_type_name().empty()) name += ' ' + option->get_type_name();
    if (!option->get_default_str().empty()) name += " [" + option->get_default_str() + ']';
    page += ".TP\n.B " + argument(name) + '\n' + escaped(option->get_description()) + '\n';
  }
  return page;
}

// What stands below the options of --help, as it is there.
std::string footer_text(const CLI::App& command) {
  return command.get_footer().empty() ? "" : ".PP\n.nf\n" + escaped(command.get_footer()) + "\n.fi\n";
}

std::string command_text(const CLI::App& command, const std::string& name) {
  std::string page = ".SS " + argument(name) + '\n' + escaped(command.get_description()) + '\n' +
                     options_text(command) + footer_text(command);
  for (const CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; }))
    page += command_text(*one, name + ' ' + one->get_name());
  return page;
}

std::string page_of(const CLI::App& app) {
  std::string page = fmt::format(".TH GPUEXP 1 \"\" {}\n.SH NAME\ngpuexp \\- {}\n", argument("gpuexp " GPUEXP_VERSION),
                                 escaped(app.get_description()));
  page += ".SH SYNOPSIS\n.B gpuexp\n.I COMMAND\n[options]\n.SH OPTIONS\n" + options_text(app) + ".SH COMMANDS\n";
  for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; }))
    page += command_text(*one, "gpuexp " + one->get_name());
  return page + ".SH EXAMPLES AND EXIT CODES\n" + footer_text(app);
}

}  // namespace

void add_man(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("man", "The manual page: every command's help in one");
  command->footer("Examples:\n  gpuexp man | man -l -\n  gpuexp man > ~/.local/share/man/man1/gpuexp.1");
  command->callback([&app, &exit_code] {
    print(page_of(app));
    exit_code = static_cast<int>(ExitCode::success);
  });
}

}  // namespace gpuexp::cli
