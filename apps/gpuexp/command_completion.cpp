// gpuexp completion: what a shell asks for when Tab is pressed. The shells' scripts are thin: they hand the words to
// `gpuexp __complete`, which answers from the definition of the command line itself, so that nothing goes stale.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "apps/gpuexp/commands.h"
#include "apps/gpuexp/output.h"
#include "profiler/compare/compare.h"
#include "profiler/core/embedded.h"
#include "profiler/core/error.h"
#include "profiler/device/device_spec.h"
#include "profiler/registry/registry.h"

namespace gpuexp::cli {
namespace {

// ---- the scripts ----

// A candidate is "value<tab>meaning"; the line ":files" asks the shell for names of files too.
constexpr const char* bash_script = R"(# bash completion for gpuexp: source <(gpuexp completion bash)
_gpuexp() {
  local cur=${COMP_WORDS[COMP_CWORD]} line
  [[ $cur == "=" ]] && cur=""
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == ":files" ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$cur")
      continue
    fi
    line=${line%%$'\t'*}
    [[ $line == *= ]] && compopt -o nospace 2>/dev/null
    COMPREPLY+=("$line")
  done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _gpuexp gpuexp
)";

constexpr const char* zsh_script = R"(#compdef gpuexp
# zsh completion for gpuexp: gpuexp completion zsh > "${fpath[1]}/_gpuexp", or source <(gpuexp completion zsh)
_gpuexp() {
  local line files=0
  local -a values flags
  for line in "${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == ":files" ]]; then
      files=1
    elif [[ -n $line ]]; then
      line=${line//:/\\:}
      line=${line/$'\t'/:}
      if [[ $line == *=(|:*) ]]; then flags+=("$line"); else values+=("$line"); fi
    fi
  done
  (( ${#values} )) && _describe gpuexp values
  (( ${#flags} )) && _describe gpuexp flags -S ''
  (( files )) && _files
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _gpuexp "$@"; else compdef _gpuexp gpuexp; fi
)";

constexpr const char* fish_script =
    R"(# fish completion for gpuexp: gpuexp completion fish > ~/.config/fish/completions/gpuexp.fish
function __gpuexp_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  for line in ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    if test "$line" = ":files"
      __fish_complete_path "$current"
    else
      echo $line
    end
  end
end
complete -c gpuexp -f -a '(__gpuexp_complete)'
)";

// ---- the answers ----

struct Candidate {
  std::string value, meaning;
};
using Candidates = std::vector<Candidate>;

constexpr const char* files = ":files";

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// The words that a description lists at its end: "What goes to standard output: text, json or csv" -> text, json, csv.
// What stands in parentheses or brackets explains a word.
Candidates listed_words(const std::string& description) {
  std::string text;
  int depth = 0;
  for (const char c : description) {
    depth += c == '(' || c == '[' ? 1 : 0;
    if (depth == 0) text += c;
    depth -= c == ')' || c == ']' ? 1 : 0;
  }
  if (const auto colon = text.rfind(": "); colon != std::string::npos) text.erase(0, colon + 2);
  for (auto at = text.find(" or "); at != std::string::npos; at = text.find(" or ")) text.replace(at, 4, ", ");
  Candidates words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string word = text.substr(begin, end - begin);
    word.erase(0, word.find_first_not_of(' '));
    if (const auto last = word.find_last_not_of(' '); last != std::string::npos) word.erase(last + 1);
    if (word.empty() || word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") != std::string::npos)
      return {};
    words.push_back({word, ""});
    begin = end + 1;
  }
  return words.size() > 1 ? words : Candidates{};
}

Candidates device_names() {
  Candidates all{{"auto", "the GPU present"}};
  std::set<std::string> families;
  for (const DeviceSpec& device : devices()) {
    if (families.insert(device.family).second && device.family.find(' ') == std::string::npos) {
      std::string name = device.family;
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      if (name != device.id) all.push_back({name, device.family});
    }
    all.push_back({device.id, device.name});
  }
  all.push_back({files, ""});
  return all;
}

Candidates variant_names() {
  Candidates all;
  for (const Variant& variant : variants()) all.push_back({variant.name, variant.idea});
  return all;
}

Candidates parameter_names() {
  std::map<std::string, std::string> meanings;
  for (const Variant& variant : variants())
    for (const ParamSpec& spec : params_of(variant)) meanings.emplace(spec.name + "=", spec.meaning);
  Candidates all;
  for (const auto& [name, meaning] : meanings) all.push_back({name, meaning});
  return all;
}

// What a parameter takes anywhere: its compile-time values and words, else its default.
Candidates parameter_values(const std::string& name) {
  Candidates all;
  const auto add = [&](const std::string& value, const std::string& meaning) {
    const bool known = std::ranges::any_of(all, [&](const Candidate& one) { return one.value == value; });
    if (!known && !value.empty()) all.push_back({value, meaning});
  };
  for (const Variant& variant : variants()) {
    for (const ParamSpec& spec : params_of(variant)) {
      if (spec.name != name) continue;
      for (const ParamValue& value : variant.compiled_values(name)) add(to_text(value), "");
      for (const auto& [word, meaning] : spec.words) add(word, meaning);
      if (spec.default_from.empty()) add(to_text(spec.default_value), "");
    }
  }
  return all;
}

Candidates precisions() {
  std::set<std::string> names;
  for (const DeviceSpec& device : devices())
    for (const auto& [precision, peak] : device.peaks) names.insert(precision);
  Candidates all;
  for (const std::string& name : names) all.push_back({name, ""});
  return all;
}

Candidates chips() {
  std::set<std::string> names;
  for (const DeviceSpec& device : devices()) names.insert(device.chip);
  Candidates all;
  for (const std::string& name : names) all.push_back({name, ""});
  return all;
}

Candidates experiment_names() {
  Candidates all;
  for (const EmbeddedFile& file : embedded_experiments()) all.push_back({std::string(file.name), "shipped experiment"});
  all.push_back({files, ""});
  return all;
}

// What an option takes, by its name, else by the words of its description, else by its type.
Candidates values_of(const CLI::Option& option) {
  const std::string name = option.get_name();
  if (name == "--device") return device_names();
  if (name == "--variant") return variant_names();
  if (name == "--chip") return chips();
  if (name == "--precision") return precisions();
  if (name == "--fail-on") {
    Candidates all;
    for (const std::string& word : fail_on_words()) all.push_back({word, ""});
    return all;
  }
  if (name == "--set") return parameter_names();
  if (name == "--filter") {
    Candidates all = variant_names();
    const Candidates parameters = parameter_names();
    all.insert(all.end(), parameters.begin(), parameters.end());
    return all;
  }
  if (name == "CONFIG") return experiment_names();
  if (Candidates words = listed_words(option.get_description()); !words.empty()) return words;
  const std::string type = option.get_type_name();
  const bool path =
      type.find("FILE") != std::string::npos || type.find("DIR") != std::string::npos || option.get_positional();
  return path ? Candidates{{files, ""}} : Candidates{};
}

// Of a value with more than one part, such as "TILE=8,1": what stands before the part that is typed, and what that may
// be.
struct Part {
  std::string before;
  Candidates candidates;
};

Part part_of(const CLI::Option& option, const std::string& typed) {
  static const std::set<std::string> lists = {"--set", "--filter", "--fail-on", "--allow"};
  const std::string name = option.get_name();
  const std::size_t equals = typed.find('='), comma = typed.rfind(',');
  Part part;
  if (lists.contains(name) && comma != std::string::npos) part.before = typed.substr(0, comma + 1);
  if ((name == "--set" || name == "--filter") && equals != std::string::npos) {
    if (part.before.empty()) part.before = typed.substr(0, equals + 1);
    part.candidates = parameter_values(typed.substr(0, equals));
  } else {
    part.candidates = values_of(option);
  }
  // What the list has already is not offered again.
  const std::string given =
      "," + part.before.substr(equals == std::string::npos ? 0 : std::min(equals + 1, part.before.size()));
  std::erase_if(part.candidates,
                [&](const Candidate& one) { return given.find("," + one.value + ",") != std::string::npos; });
  return part;
}

Candidates flags_of(const CLI::App& command) {
  Candidates all;
  for (const CLI::Option* option : command.get_options([](const CLI::Option* one) { return one->nonpositional(); })) {
    const std::string meaning = first_line(option->get_description());
    for (const std::string& name : option->get_lnames()) all.push_back({"--" + name, meaning});
    if (option->get_lnames().empty())
      for (const std::string& name : option->get_snames()) all.push_back({"-" + name, meaning});
  }
  return all;
}

Candidates commands_of(const CLI::App& command) {
  Candidates all;
  for (const CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; }))
    all.push_back({one->get_name(), first_line(one->get_description())});
  return all;
}

// Where the command line stands before the word that is completed.
struct Position {
  const CLI::App* command;
  const CLI::Option* waiting = nullptr;  // the option whose value comes next
  bool may_end = false;                  // it has one already and may take more, as --results does
  std::size_t positionals = 0;           // given so far
};

const CLI::Option* option_of(const CLI::App& command, const std::string& flag) {
  for (const CLI::Option* option : command.get_options([](const CLI::Option* one) { return one->nonpositional(); }))
    if (option->check_name(flag)) return option;
  return nullptr;
}

const CLI::App* command_of(const CLI::App& parent, const std::string& name) {
  for (const CLI::App* one : parent.get_subcommands([](const CLI::App*) { return true; }))
    if (one->get_name() == name) return one;
  return nullptr;
}

Position position_after(const CLI::App& app, const std::vector<std::string>& words) {
  Position at{&app};
  for (const std::string& word : words) {
    if (at.waiting != nullptr && !word.starts_with("-")) {
      at.may_end = at.waiting->get_items_expected_max() > 1;
      if (!at.may_end) at.waiting = nullptr;
    } else if (word.starts_with("-")) {
      const CLI::Option* option = option_of(*at.command, word.substr(0, word.find('=')));
      if (option != nullptr && option->get_items_expected_max() > 0 && word.find('=') == std::string::npos)
        at.waiting = option;
      if (word.find('=') != std::string::npos || option == nullptr || option->get_items_expected_max() == 0)
        at.waiting = nullptr;
      at.may_end = false;
    } else if (const CLI::App* command = command_of(*at.command, word)) {
      at.command = command;
    } else {
      ++at.positionals;
    }
  }
  return at;
}

Candidates positional_values(const Position& at) {
  const auto all = at.command->get_options([](const CLI::Option* one) { return one->get_positional(); });
  if (all.empty()) return {};
  return values_of(*all[std::min(at.positionals, all.size() - 1)]);
}

// `typed` and the candidates are what follows `before`; the shell gets both, without the first `cut` characters.
void print_candidates(const Candidates& candidates, const std::string& typed, const std::string& written,
                      std::size_t cut = 0) {
  const std::string before = written.substr(std::min(cut, written.size()));
  std::string text;
  for (const Candidate& candidate : candidates) {
    if (candidate.value == files && before.empty()) text += std::string(files) + "\n";
    if (candidate.value == files || !candidate.value.starts_with(typed)) continue;
    text += before + candidate.value + (candidate.meaning.empty() ? "" : "\t" + candidate.meaning) + "\n";
  }
  print(text);
}

}  // namespace

bool complete_command_line(const CLI::App& app, int argc, const char* const* argv) {
  if (argc < 2 || std::string(argv[1]) != "__complete") return false;
  // bash splits --set TILE=8 and --format=json at the '='; of the last word it then replaces what follows that.
  std::vector<std::string> words;
  std::size_t cut = 0;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const bool joins =
        !words.empty() && (word == "=" || (words.back().ends_with('=') && std::string(argv[i - 1]) == "="));
    cut = joins ? words.back().size() + (word == "=" ? 1 : 0) : 0;
    if (joins) {
      words.back() += word;
    } else {
      words.push_back(word);
    }
  }
  const std::string typed = words.empty() ? "" : words.back();
  if (!words.empty()) words.pop_back();
  const Position at = position_after(app, words);
  const auto complete_value = [&](const CLI::Option& option, std::size_t begin) {
    const Part part = part_of(option, typed.substr(begin));
    const std::string written = typed.substr(0, begin) + part.before;
    print_candidates(part.candidates, typed.substr(written.size()), written, cut);
  };
  const std::size_t equals = typed.find('=');
  if (typed.starts_with("--") && equals != std::string::npos) {
    if (const CLI::Option* option = option_of(*at.command, typed.substr(0, equals)))
      complete_value(*option, equals + 1);
  } else if (typed.starts_with("-") && (at.waiting == nullptr || at.may_end)) {
    print_candidates(flags_of(*at.command), typed, "");
  } else if (at.waiting != nullptr) {
    complete_value(*at.waiting, 0);
  } else {
    Candidates candidates = commands_of(*at.command);
    if (candidates.empty()) candidates = positional_values(at);
    print_candidates(candidates, typed, "");
  }
  return true;
}

void add_completion(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("completion", "The script by which a shell completes gpuexp's words");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")->type_name("")->required();
  command->footer(
      "Examples:\n"
      "  source <(gpuexp completion bash)                                      this bash; ~/.bashrc: every one\n"
      "  gpuexp completion zsh > \"${fpath[1]}/_gpuexp\"                         a directory of fpath\n"
      "  gpuexp completion fish > ~/.config/fish/completions/gpuexp.fish\n"
      "\n"
      "It completes commands, flags, their words, experiments, variants, parameters and devices.");
  command->callback([shell, &exit_code] {
    require_one_of("completion", *shell, {"bash", "zsh", "fish"});
    print(*shell == "bash" ? bash_script : *shell == "zsh" ? zsh_script : fish_script);
    exit_code = static_cast<int>(ExitCode::success);
  });
}

}  // namespace gpuexp::cli
