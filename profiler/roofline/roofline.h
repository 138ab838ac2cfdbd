// The roofline (Williams, Waterman, Patterson 2009): ceilings of a device, and what they allow a point. Pure
// arithmetic.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/point.h"
#include "profiler/core/quantity.h"
#include "profiler/device/device_spec.h"
#include "profiler/device/occupancy.h"

namespace gpuexp {

// FLOP/byte where the memory and compute ceilings meet.
double ridge_point(double peak_flops, double bandwidth);
// min(peak, intensity x bandwidth), FLOP/s.
double attainable_flops(double intensity, double peak_flops, double bandwidth);

enum class BoundBy { memory, compute, unknown };
std::string_view to_text(BoundBy bound);

// Which bytes an intensity is taken over.
enum class Basis {
  loaded,       // every lane's loaded bytes, as if there were no cache: the lecture's ratio, flop_per_load_byte
  requested,    // every lane's bytes, loaded and stored
  transaction,  // 32-byte sectors moved, loaded and stored
  compulsory,   // what the problem itself must move, loaded and stored
};
std::string_view to_text(Basis basis);     // "loaded"
std::string_view meaning_of(Basis basis);  // one phrase

// A level of the memory hierarchy, each with a slope of its own; from the slowest to the fastest.
enum class Level {
  dram,
  l2,
  l1,  // the L1 cache and shared memory, which are one memory behind one data path
};
inline constexpr std::array memory_levels{Level::dram, Level::l2, Level::l1};
std::string_view to_text(Level level);     // "dram"
std::string_view label_of(Level level);    // "DRAM", "L2", "L1/shared"
std::string_view meaning_of(Level level);  // which bytes cross it
std::optional<Level> level_from_text(std::string_view text);

// What the roof says of a point on one basis. Null quantities carry the reason.
struct BasisBound {
  Basis basis = Basis::requested;
  Quantity bytes;            // byte
  Quantity intensity;        // FLOP/byte, with the source of the bytes; null when the point has no FLOPs
  Quantity attainable;       // FLOP/s, modelled
  Quantity percent_of_peak;  // of attainable, modelled
  Quantity bound_time_us;    // shortest time the roof allows if these bytes come from DRAM: a bound, never a time
  BoundBy bound_by = BoundBy::unknown;
};

// What one memory level says of a point: the bytes that crossed it, and the roof there. Null quantities carry the
// reason: nothing is assumed of a level whose counters were not collected.
struct LevelBound {
  Level level = Level::dram;
  Quantity bytes;      // byte. DRAM: read and written. L2: sectors read and written. L1: sectors of global accesses and
                       // 128 bytes for each wavefront of shared memory
  Quantity intensity;  // FLOP/byte, with the source of the bytes
  Quantity attainable;             // FLOP/s under this level's slope and the peak, modelled
  Quantity percent_of_attainable;  // achieved / attainable, measured; never clamped
  Quantity bandwidth;              // byte/s that crossed it: bytes / time, measured
  Quantity percent_of_bandwidth;   // of the level's ceiling, measured; never clamped
  Quantity bound_time_us;          // shortest time in which these bytes cross it, modelled; null in older files
};

// The roof that limits a point: of those whose bytes are known, the one that takes longest.
struct Limit {
  std::string roof;  // "dram", "l2", "l1" or "compute"; empty when none is known
  // Bytes it was taken over: those counted at that level ("dram", "l2", "l1"; empty for compute). Where nobody counted
  // DRAM bytes "transaction", as if no cache caught a sector; "compulsory" where those are more, and of a timed point,
  // for which caches worked.
  std::string basis;
  Quantity intensity;        // FLOP/byte on these bytes; null for compute
  Quantity attainable;       // FLOP/s, modelled
  Quantity percent_of_peak;  // of attainable, modelled
  Quantity bound_time_us;    // a bound, never a time; modelled
  Quantity percent_reached;  // of that roof, by the time measured; never clamped
};
// "DRAM", "DRAM sectors" (as if no cache caught one), "DRAM once" (every byte once), "L2", "L1/shared", "compute"; ""
// when nothing is known.
std::string label_of(const Limit& limit);

// How many blocks of a launch an SM holds. Launches of one shape share an entry.
struct LaunchOccupancy {
  std::string kernel;  // of the first launch of this shape
  BlockShape block;
  Occupancy occupancy;  // modelled; an upper bound while the registers are unknown
};

// Everything the roofline has to say of a point on a device.
struct Analysis {
  std::string device;            // name of the spec
  std::string precision;         // id of the compute ceiling used
  std::string precision_reason;  // why that one: "dtype float16 accumulates in float32 on CUDA cores"
  Quantity peak;                 // FLOP/s of that ceiling (spec); null when the device has none
  double peak_clock_mhz = 0;     // at which that ceiling holds: the spec's, not the clock of any run
  Quantity bandwidth;            // byte/s of DRAM (spec)
  Quantity ridge;                // FLOP/byte (modelled)
  Quantity flops;                // useful FLOPs of the problem (modelled)

  BasisBound loaded, requested, transaction, compulsory;
  [[nodiscard]] const BasisBound& on(Basis basis) const;

  std::vector<LevelBound> levels;  // in the order of memory_levels: the hierarchical roofline; empty in older files
  [[nodiscard]] const LevelBound* at(Level level) const;
  // The lowest of the roofs at the intensities that are known: "dram", "l2", "l1", "compute"; "" when none is known.
  std::string lowest_roof;
  Limit limit;  // the same and, where nobody counted DRAM bytes, over what stands in for them; empty in older files

  // What bounds the point, all bases considered: "memory" (even if every byte moved once), "compute" (even if no cache
  // caught anything), "memory unless caches catch the reuse", or "unknown".
  std::string verdict;
  // Of the bytes moved in sectors, the compulsory share; and DRAM bandwidth times that share. What a bandwidth-bound
  // kernel (transpose, copy) keeps of the peak.
  Quantity effective_bandwidth;          // byte/s, modelled
  Quantity effective_bandwidth_percent;  // of the peak bandwidth, modelled
  Quantity requested_over_compulsory;    // 1
  Quantity working_set_bytes;            // compulsory loads + stores, modelled
  bool working_set_fits_l2 = false;

  // Only with a measured time; null with the reason otherwise.
  Quantity time_us;                // median of the samples
  Quantity achieved_flops;         // FLOP/s
  Quantity percent_of_peak;        // achieved / peak
  Quantity percent_of_attainable;  // achieved / attainable on the compulsory basis, the highest roof; never clamped
  Quantity achieved_bandwidth;     // byte/s: compulsory bytes / time
  Quantity percent_of_bandwidth;   // never clamped
  Quantity dram_bandwidth;         // byte/s: measured DRAM bytes / time

  std::vector<LaunchOccupancy> occupancy;  // one entry per shape of block, in order of launch

  std::vector<std::string> warnings;  // closed list, each with the likely reason or the advice
};

// What is assumed where nobody counted the bytes that DRAM moves.
enum class Reuse {
  as_known,  // what Limit::basis says
  caught,    // every byte moves once, as if caches caught all reuse: no cache lifts this roof
};
Limit limiting_roof(const Analysis& analysis, Reuse reuse = Reuse::as_known);
// What `limit` lets through of the bytes that must move, byte/s (modelled): of a point that computes nothing, what
// `attainable` is to others. Above the DRAM bandwidth when a cache kept some of them. Nothing when no roof is known.
std::optional<double> useful_bandwidth_under(const Analysis& analysis, const Limit& limit);

struct Ceilings;

struct AnalysisOptions {
  std::string precision;  // compute ceiling by id; empty = from what tensor cores counted, else from the dtype
  const Ceilings* ceilings = nullptr;  // measured ones, say; null = those of the specification
};

// Reads counters requested_{load,store}_bytes and transaction_{load,store}_bytes, for the levels shared_*_wavefronts,
// l2_{read,write}_sectors and dram_{read,write}_bytes (and the time when measured), the compulsory fields and flops of
// the result. Throws Error(usage) for an unknown precision only.
Analysis analyze(const PointResult& result, const DeviceSpec& spec, const AnalysisOptions& options = {});

}  // namespace gpuexp
