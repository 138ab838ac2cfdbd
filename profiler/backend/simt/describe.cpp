// Findings and sites in the words of the source.
#include "profiler/backend/simt/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "profiler/backend/simt/symbols.h"

namespace gpuexp::simt {
namespace {

const SourceSite& site_of(EventCode code, const LaunchJob& job) {
  return source_site(static_cast<const char*>(job.kernel) + offset_of(code));
}

const char* op_text(EventCode code) {
  switch (op_of(code)) {
    case AccessKind::load:
      return "load";
    case AccessKind::store:
      return "store";
    case AccessKind::atomic:
      return "atomic";
  }
  return "?";
}

const char* verb(EventCode code) {
  switch (op_of(code)) {
    case AccessKind::load:
      return "reads";
    case AccessKind::store:
      return "writes";
    case AccessKind::atomic:
      return "atomically updates";
  }
  return "?";
}

// "As, byte 64 of 1024" or "64 bytes past the end of As (1024 bytes)": relative to the variable it lies in or behind.
std::string shared_place(std::uint64_t offset, const LaunchJob& job) {
  const SharedVariable* before = nullptr;
  for (const SharedVariable& variable : job.shared->variables) {
    if (offset - variable.offset < variable.size) {
      return fmt::format("{}{} at byte {} of {}", variable.name == kUnnamedShared ? "" : "shared ", variable.name,
                         offset - variable.offset, variable.size);
    }
    const bool nearer = before == nullptr || variable.offset > before->offset;
    if (variable.offset <= offset && nearer) before = &variable;
  }
  if (before == nullptr) return "shared memory outside every variable of the kernel";
  return fmt::format("shared memory {} bytes past the end of {} ({} bytes)", offset - before->offset - before->size,
                     before->name, before->size);
}

std::string global_place(std::uint64_t address, const LaunchJob& job) {
  const DeviceMemory& memory = *job.memory;
  const BufferView* nearest = memory.find(address);
  if (nearest == nullptr) {
    for (std::size_t i = 0; i < memory.specs().size(); ++i) {
      const BufferView& view = memory.views()[i];
      const bool just_before = address < view.begin && view.begin - address <= (std::uint64_t{1} << kSlotShift);
      if (just_before) nearest = &view;
    }
  }
  if (nearest == nullptr) return fmt::format("address {:#x}, which is in no buffer", address);
  const BufferSpec& spec = memory.specs()[nearest->index];
  const auto distance = static_cast<std::int64_t>(address - nearest->begin);
  const std::int64_t element = distance >> nearest->element_log2;
  if (element >= 0 && element < spec.elements) return fmt::format("{}[{}]", spec.name, element);
  return fmt::format("{}[{}], beyond its {} elements", spec.name, element, spec.elements);
}

std::string place(const FindingRecord& record, const LaunchJob& job) {
  return record.shared ? shared_place(record.address, job) : global_place(record.address, job);
}

std::string message(const FindingKey& key, const FindingRecord& record, const LaunchJob& job) {
  switch (key.kind) {
    case FindingKind::race:
      if (key.code == key.other) {
        return fmt::format("several threads write {} without a barrier between them", place(record, job));
      }
      return fmt::format("different threads touch {} from both places without a barrier between them",
                         place(record, job));
    case FindingKind::out_of_bounds:
      return fmt::format("{} {} byte(s) at {}", verb(key.code), width_of(key.code), place(record, job));
    case FindingKind::misaligned:
      return fmt::format("{} {} bytes at {}, whose address is not a multiple of {}", verb(key.code), width_of(key.code),
                         place(record, job), width_of(key.code));
    case FindingKind::uninitialised:
      return fmt::format("{} {}, which nobody has written", verb(key.code), place(record, job));
    case FindingKind::write_to_input:
      return fmt::format("{} {}, which is an input", verb(key.code), place(record, job));
    case FindingKind::divergent_barrier:
      if (key.other == 0) {
        return fmt::format("waits for lane {} of its warp, which never arrives with the same mask", record.extra);
      }
      return "threads of one block wait at different places, so that none can go on";
    case FindingKind::inactive_lane:
      return fmt::format("takes part in a warp intrinsic with lane {}, which is not active in it", record.extra);
  }
  return "?";
}

Dim3 index_of(std::uint64_t linear, const Dim3& size) {
  const auto i = static_cast<std::int64_t>(linear);
  return {i % size.x, i / size.x % size.y, i / size.x / size.y};
}

std::string buffer_name(const SiteKey& key, const LaunchJob& job) {
  switch (key.space) {
    case Space::global:
      return job.memory->specs()[key.object].name;
    case Space::shared:
      return job.shared->variables[key.object].name;
    case Space::constant:
      return "constant";
  }
  return "?";
}

const char* space_text(Space space) {
  switch (space) {
    case Space::global:
      return "global";
    case Space::shared:
      return "shared";
    case Space::constant:
      return "constant";
  }
  return "?";
}

std::uint64_t waste(const SiteRow& row) {
  return (row.sectors - std::min(row.ideal_sectors, row.sectors)) + row.bank_conflicts;
}

auto row_place(const SiteRow& row) {
  return std::tie(row.site.file, row.site.line, row.site.column, row.buffer, row.space, row.op, row.width_bytes);
}

void sort_sites(std::vector<SiteRow>& rows) {
  std::sort(rows.begin(), rows.end(), [](const SiteRow& a, const SiteRow& b) {
    if (waste(a) != waste(b)) return waste(a) > waste(b);
    if (a.requests != b.requests) return a.requests > b.requests;
    return row_place(a) < row_place(b);
  });
}

void add(SiteRow& to, const SiteRow& from) {
  to.requests += from.requests;
  to.lanes += from.lanes;
  to.sectors += from.sectors;
  to.ideal_sectors += from.ideal_sectors;
  to.lines += from.lines;
  to.wavefronts += from.wavefronts;
  to.bank_conflicts += from.bank_conflicts;
  to.estimated = to.estimated || from.estimated;
}

auto finding_place(const Finding& finding) {
  const SourceSite other = finding.other_site.value_or(SourceSite{});
  return std::tuple(finding.kind, finding.site.file, finding.site.line, finding.site.column, other.file, other.line,
                    other.column);
}

}  // namespace

std::vector<Finding> describe_findings(const Findings& findings, const LaunchJob& job) {
  std::vector<Finding> described;
  for (const auto& [key, record] : findings.records()) {
    Finding finding;
    finding.kind = to_text(key.kind);
    finding.site = site_of(key.code, job);
    if (key.other != 0) finding.other_site = site_of(key.other, job);
    finding.block = index_of(record.block, job.grid());
    finding.thread = index_of(record.thread, job.block());
    finding.occurrences = record.occurrences;
    finding.message = message(key, record, job);
    described.push_back(std::move(finding));
  }
  std::vector<Finding> merged;
  merge_findings(merged, described);
  return merged;
}

void merge_findings(std::vector<Finding>& into, const std::vector<Finding>& more) {
  for (const Finding& finding : more) {
    const auto same = std::find_if(
        into.begin(), into.end(), [&](const Finding& known) { return finding_place(known) == finding_place(finding); });
    if (same == into.end()) {
      into.push_back(finding);
    } else {
      same->occurrences += finding.occurrences;
    }
  }
  std::stable_sort(into.begin(), into.end(),
                   [](const Finding& a, const Finding& b) { return finding_place(a) < finding_place(b); });
}

std::vector<SiteRow> describe_sites(const GridCounts& counts, const LaunchJob& job) {
  std::vector<SiteRow> rows;
  for (const auto& [key, sum] : counts.sites) {
    SiteRow row;
    row.site = site_of(key.code, job);
    row.buffer = buffer_name(key, job);
    row.space = space_text(key.space);
    row.op = op_text(key.code);
    row.width_bytes = width_of(key.code);
    row.requests = sum.counts[kRequests];
    row.lanes = sum.counts[kLanes];
    row.sectors = sum.counts[kSectors];
    row.ideal_sectors = sum.counts[kIdealSectors];
    row.lines = sum.counts[kLines];
    row.wavefronts = sum.counts[kWavefronts];
    row.bank_conflicts = sum.counts[kBankConflicts];
    row.estimated = sum.estimated;
    rows.push_back(std::move(row));
  }
  std::vector<SiteRow> merged;
  merge_sites(merged, rows);
  return merged;
}

void merge_sites(std::vector<SiteRow>& into, const std::vector<SiteRow>& more) {
  for (const SiteRow& row : more) {
    const auto same = std::find_if(into.begin(), into.end(),
                                   [&](const SiteRow& known) { return row_place(known) == row_place(row); });
    if (same == into.end()) {
      into.push_back(row);
    } else {
      add(*same, row);
    }
  }
  sort_sites(into);
}

}  // namespace gpuexp::simt
