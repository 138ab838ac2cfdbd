// The part of a device spec that a result file keeps: what the roofline columns were computed from.
#include "profiler/report/result_file.h"
#include "profiler/roofline/ceilings.h"

namespace gpuexp {
namespace {

// A number that is not plainly published is modelled, whatever file it stands in.
CeilingRecord ceiling(const DeviceSpec& spec, std::string name, std::string unit, double value,
                      const std::string& path) {
  const auto found = spec.provenance.find(path);
  if (found == spec.provenance.end())
    return {std::move(name), std::move(unit), Quantity::real(value, Source::modelled), "no provenance recorded"};
  const Provenance& provenance = found->second;
  const bool published = provenance.evidence == Evidence::datasheet || provenance.evidence == Evidence::third_party;
  std::string evidence(to_text(provenance.evidence));
  for (const std::string* part : {&provenance.source, &provenance.note})
    if (!part->empty()) evidence += ": " + *part;
  return {std::move(name), std::move(unit), Quantity::real(value, published ? Source::spec : Source::modelled),
          std::move(evidence)};
}

}  // namespace

DeviceRecord record_of(const DeviceSpec& spec) {
  DeviceRecord record{spec.id, spec.name, "", {}};
  record.ceilings.push_back(ceiling(spec, "DRAM", "byte/s", spec.memory.bandwidth, "memory.bandwidth_gb_s"));
  // The caches' bandwidths are arithmetic on a clock, whatever the bytes per clock rest on.
  for (const BandwidthCeiling& slope : ceilings_of(spec).bandwidths) {
    if (slope.level == Level::dram) continue;
    std::string evidence = "derived: " + slope.how;
    for (const std::string* part : {&slope.provenance.source, &slope.provenance.note})
      if (!part->empty()) evidence += "; " + *part;
    record.ceilings.push_back(
        {slope.label, "byte/s", Quantity::real(slope.bandwidth, slope.source), std::move(evidence)});
  }
  for (const Precision& precision : precisions())
    if (const auto peak = spec.peak(precision.id))
      record.ceilings.push_back(ceiling(spec, std::string(precision.label), std::string(precision.unit), *peak,
                                        "peaks_tflops." + std::string(precision.id)));
  return record;
}

}  // namespace gpuexp
