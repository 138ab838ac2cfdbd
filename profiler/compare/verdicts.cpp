// The words of verdicts, and the lists that --fail-on and --allow take.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/compare/compare.h"
#include "profiler/core/error.h"
#include "profiler/core/nearest.h"

namespace gpuexp {
namespace {

constexpr std::array<std::string_view, verdict_count> verdict_words{
    "same",           "new",          "faster", "less traffic", "undecided",
    "not comparable", "more traffic", "slower", "missing",      "worse"};  // in enum order

struct FailWord {
  std::string_view word;
  Verdict verdict;
};
constexpr FailWord fail_words[] = {{"slower", Verdict::slower},
                                   {"traffic", Verdict::more_traffic},
                                   {"missing", Verdict::missing},
                                   {"worse", Verdict::worse},
                                   {"not-comparable", Verdict::not_comparable},
                                   {"undecided", Verdict::undecided},
                                   {"new", Verdict::added},
                                   {"faster", Verdict::faster},
                                   {"less-traffic", Verdict::less_traffic}};

struct AllowWord {
  std::string_view word;
  Difference difference;
};
constexpr AllowWord allow_words[] = {{"device", Difference::device},
                                     {"toolkit", Difference::toolkit},
                                     {"mode", Difference::mode},
                                     {"schema", Difference::schema}};

std::vector<std::string> split_list(const std::string& list) {
  std::vector<std::string> words(1);
  for (const char c : list) {
    if (c == ',') {
      words.emplace_back();
    } else if (c != ' ') {
      words.back() += c;
    }
  }
  return words;
}

[[noreturn]] void refuse(const std::string& flag, const std::string& word, const std::vector<std::string>& accepted) {
  throw Error(ExitCode::usage, fmt::format("{} '{}': expected a list, with commas, of {}{}", flag, word,
                                           list_names(accepted), did_you_mean(word, accepted)));
}

}  // namespace

std::string_view to_text(Verdict verdict) { return verdict_words[static_cast<std::size_t>(verdict)]; }

std::vector<std::string> fail_on_words() {
  std::vector<std::string> words{"any", "none"};
  for (const FailWord& row : fail_words) words.emplace_back(row.word);
  return words;
}

EnumSet<Verdict> parse_fail_on(const std::string& list) {
  const std::vector<std::string> accepted = fail_on_words();
  EnumSet<Verdict> verdicts;
  const std::vector<std::string> words = split_list(list);
  for (const std::string& word : words) {
    if (word == "none" && words.size() == 1) return {};
    const auto* row = std::ranges::find(fail_words, word, &FailWord::word);
    if (word == "any") {
      for (const FailWord& each : fail_words) verdicts.insert(each.verdict);
    } else if (row != std::end(fail_words)) {
      verdicts.insert(row->verdict);
    } else {
      refuse("--fail-on", word, accepted);
    }
  }
  return verdicts;
}

EnumSet<Difference> parse_allow(const std::string& list) {
  std::vector<std::string> accepted;
  for (const AllowWord& row : allow_words) accepted.emplace_back(row.word);
  EnumSet<Difference> differences;
  for (const std::string& word : split_list(list)) {
    const auto* row = std::ranges::find(allow_words, word, &AllowWord::word);
    if (row == std::end(allow_words)) refuse("--allow", word, accepted);
    differences.insert(row->difference);
  }
  return differences;
}

}  // namespace gpuexp
