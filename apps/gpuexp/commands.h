// The subcommands. Each adds itself to the program and, when it was given, sets the exit code.
#pragma once

#include <string>
#include <vector>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnull-dereference"  // a false alarm of g++ 12 within CLI11
#endif
#include <CLI/CLI.hpp>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace gpuexp::cli {

void add_run(CLI::App& app, int& exit_code);
void add_roofline(CLI::App& app, int& exit_code);
void add_diff(CLI::App& app, int& exit_code);
void add_list(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
void add_completion(CLI::App& app, int& exit_code);
void add_man(CLI::App& app, int& exit_code);

// Answers a shell: `gpuexp __complete WORD...` prints what the last word may become, by the commands and options of
// `app`. False when the program was not called so.
bool complete_command_line(const CLI::App& app, int argc, const char* const* argv);

// What `gpuexp --version` prints.
std::string version_text();
// "g++ 12.2.0": what this program was compiled with.
std::string compiler_text();

// Throws Error(usage) that names the flag, the accepted words and the nearest one.
void require_one_of(const std::string& flag, const std::string& value, const std::vector<std::string>& accepted);

}  // namespace gpuexp::cli
