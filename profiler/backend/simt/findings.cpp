// Collecting findings so that neither the order of threads nor that of blocks shows in the result.
#include "profiler/backend/simt/findings.h"

#include <tuple>

namespace gpuexp::simt {

const char* to_text(FindingKind kind) {
  switch (kind) {
    case FindingKind::race:
      return "race";
    case FindingKind::out_of_bounds:
      return "out_of_bounds";
    case FindingKind::misaligned:
      return "misaligned";
    case FindingKind::uninitialised:
      return "uninitialised";
    case FindingKind::divergent_barrier:
      return "divergent_barrier";
    case FindingKind::inactive_lane:
      return "inactive_lane";
    case FindingKind::write_to_input:
      return "write_to_input";
  }
  return "?";
}

void Findings::add(const FindingKey& key, const FindingRecord& one) {
  const auto [at, fresh] = records_.try_emplace(key, one);
  if (fresh) return;
  FindingRecord& first = at->second;
  const std::uint64_t occurrences = first.occurrences + one.occurrences;
  const auto place = [](const FindingRecord& r) { return std::tie(r.block, r.thread, r.address, r.extra); };
  if (place(one) < place(first)) first = one;
  first.occurrences = occurrences;
}

void Findings::merge(const Findings& other) {
  for (const auto& [key, record] : other.records_) add(key, record);
}

}  // namespace gpuexp::simt
