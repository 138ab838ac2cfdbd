// What a device can do, from configs/devices/*.json or a file of the user's: every number with its provenance.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/quantity.h"

namespace gpuexp {

// How a number of a device file is known. A number that is not plainly published says so wherever it is printed.
enum class Evidence {
  datasheet,    // published by the vendor: datasheet, whitepaper, programming guide, toolkit header
  third_party,  // published by others, e.g. quoting a datasheet
  queried,      // read from a device
  derived,      // by arithmetic from other numbers
  remembered,   // no source at hand
};
std::string_view to_text(Evidence evidence);
std::optional<Evidence> evidence_from_text(std::string_view text);

struct Provenance {
  Evidence evidence = Evidence::datasheet;
  std::string source;  // full text of the source(s)
  std::string note;    // how it was derived, what contradicts it; often empty
};

// A number format and the pipe that computes in it; the key of DeviceSpec::peaks.
struct Precision {
  std::string_view id;       // "fp32", "tf32": in device files, on the command line, in reports
  std::string_view label;    // "FP32", "TF32 tensor"
  std::string_view unit;     // "FLOP/s" or "OP/s"
  bool tensor = false;       // on tensor cores; always the dense rate
  double element_bytes = 4;  // of one operand in memory
  std::string_view meaning;  // one phrase
};
// Every precision there is, in report order.
std::span<const Precision> precisions();
const Precision* precision_by_id(std::string_view id);  // null when unknown
// By id or label, case-, space- and dash-insensitive. Throws Error(usage) naming the accepted ids and the nearest.
const Precision& find_precision(std::string_view name);

// Per-SM limits, as the occupancy calculator needs them.
struct SmLimits {
  int warp_size = 0;
  int max_threads = 0;  // resident
  int max_warps = 0;    // resident
  int max_blocks = 0;   // resident
  int max_threads_per_block = 0;
  int registers = 0;  // 32-bit, of the SM
  int registers_per_block = 0;
  int max_registers_per_thread = 0;
  int register_unit_per_warp = 0;  // allocation granularity, in registers
  int sub_partitions = 0;
  int shared_bytes = 0;            // of the SM, at the largest carve-out
  int shared_bytes_per_block = 0;  // largest a block may use, opted in
  int shared_bytes_static = 0;     // largest without opting in
  int shared_unit_bytes = 0;       // allocation granularity
  int shared_reserved_bytes = 0;   // taken by the driver from every block
  int shared_banks = 0;
  int shared_bank_bytes = 0;
  int l1_shared_bytes = 0;  // L1 and shared memory together
};

struct MemorySpec {
  std::string type;      // "HBM2e"
  double bytes = 0;      // as marketed (GB = 1e9)
  double bandwidth = 0;  // bytes/s, datasheet
  std::optional<double> bus_width_bits;
  std::optional<double> clock_hz;  // one edge; data moves on both
};

// Base units throughout: bytes, hertz, FLOP/s (an FMA is 2), bytes/s.
struct DeviceSpec {
  std::string id;      // file name without extension: "a100-pcie-80gb"
  std::string name;    // "A100 80GB PCIe"
  std::string family;  // "A100": SKUs that one short name may mean
  std::vector<std::string> aliases;
  std::string chip;                // "GA100"
  std::string compute_capability;  // "8.0"
  int sm_count = 0;
  double boost_clock_hz = 0;
  std::optional<double> tensor_clock_hz;  // at which the tensor peaks are stated, when it is not the boost clock
  MemorySpec memory;
  double l2_bytes = 0;
  SmLimits sm;
  std::map<std::string, double, std::less<>> peaks;  // by precision id: FLOP/s (OP/s), dense
  std::map<std::string, double, std::less<>> rates;  // per SM per clock: FMAs by precision id
  std::optional<double> l1_bytes_per_clock;          // per SM: L1 hits and shared memory
  std::optional<double> l2_bytes_per_clock;          // whole GPU, reads
  std::vector<std::string> notes;
  std::string origin;  // "built in" or the path of the user's file
  // By path within the file ("memory.bandwidth_gb_s", "peaks_tflops.fp32").
  std::map<std::string, Provenance, std::less<>> provenance;

  // Of one number. A path without a record (a spec that no file gave) is `derived`, without a source.
  [[nodiscard]] const Provenance& provenance_of(std::string_view path) const;
  // What reports call it: modelled when derived by arithmetic, else spec.
  [[nodiscard]] Source source_of(std::string_view path) const;
  // The dense peak, or nullopt when the device has none or none is known.
  [[nodiscard]] std::optional<double> peak(std::string_view precision_id) const;
  // The clock at which the peak of this precision is stated.
  [[nodiscard]] double clock_of(const Precision& precision) const;
};

// Peak by arithmetic: lanes (or FMAs per clock) of the whole GPU x clock x 2, since an FMA is two operations.
double peak_flops(double fma_per_clock, double clock_hz);
// The same from the device's rates, at any clock (a measured one, say); nullopt when the rate is not known.
std::optional<double> peak_at_clock(const DeviceSpec& spec, const Precision& precision, double clock_hz);
// Bytes/s of a bus that moves data on both clock edges: exactly one factor of two.
double bus_bandwidth(double bus_width_bits, double clock_hz);

// Parses a device file. `place` names it in errors (a path). Strict: unknown and duplicate keys, wrong types and values
// out of range are Error(usage) with the JSON path.
DeviceSpec parse_device(std::string_view json_text, std::string_view place);
DeviceSpec load_device(const std::string& path);  // Error(usage) when it cannot be read

// Every device of the build, sorted by id. Parsed once.
const std::vector<DeviceSpec>& devices();

struct DeviceMatch {
  DeviceSpec spec;
  std::string note;  // "a100 means A100 80GB PCIe; also: A100 40GB PCIe (a100-pcie-40gb), ..."; empty when unambiguous
};
// A path ("./my.json", anything with a slash or ending in .json) or a name: id, alias or words of the name, case-,
// space- and dash-insensitive ("A100 SXM4 80GB", "NVIDIA H100 80GB HBM3"). A short name that stands for several SKUs is
// resolved as documented, with a note; otherwise several matches, none, or "auto" (this build has no GPU to ask) are
// Error(usage|machine) listing candidates. There is no default device.
DeviceMatch find_device(std::string_view name_or_path);

}  // namespace gpuexp
