// Statuses as words, and when a point's answer is good.
#include "profiler/core/point.h"

#include <algorithm>
#include <array>

#include "profiler/core/text.h"

namespace gpuexp {
namespace {

constexpr std::array<std::string_view, 6> status_words{"ok",        "unsupported",   "failed",
                                                       "timed_out", "out_of_memory", "interrupted"};  // in enum order
constexpr std::array<std::string_view, 3> verification_words{"passed", "failed", "not_run"};

}  // namespace

std::string_view to_text(Status status) { return status_words[static_cast<std::size_t>(status)]; }

std::optional<Status> status_from_text(std::string_view text) {
  for (std::size_t i = 0; i < status_words.size(); ++i)
    if (status_words[i] == text) return static_cast<Status>(i);
  return std::nullopt;
}

std::string_view to_text(Verification::State state) { return verification_words[static_cast<std::size_t>(state)]; }

std::string SourceSite::to_text() const {
  std::string text = file.empty() ? "unknown source" : file;
  if (line > 0) text += ':' + number_text(std::int64_t{line});
  if (line > 0 && column > 0) text += ':' + number_text(std::int64_t{column});
  return text;
}

bool PointResult::good() const {
  if (status == Status::unsupported) return true;
  // A variant broken on purpose: its wrong results and further findings are the point of it, the named finding is the
  // proof. A finding may also be why the launch failed (a divergent barrier).
  if (expected_finding && (status == Status::ok || status == Status::failed))
    return std::ranges::any_of(findings, [&](const Finding& finding) { return finding.kind == *expected_finding; });
  return status == Status::ok && findings.empty() && verification.state != Verification::State::failed;
}

}  // namespace gpuexp
