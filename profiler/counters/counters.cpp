// The counter table. A new counter is one row.
//
// Perfworks names were checked on the 29 chips from GV100 to GB20B with the CUPTI host API of CUDA 13.0, which needs no
// GPU; chips where a name differs or is missing have rows of their own. (That library lists GV11B too, but has no
// metric for it.) The whole table takes 6 passes on GA100 and GH100. Meanings and names:
// Nsight Compute documentation, "Metrics Reference".
#include "profiler/counters/counters.h"

#include <algorithm>
#include <utility>

namespace gpuexp {
namespace {

constexpr std::uint64_t kWarpLanes = 32;
constexpr std::uint64_t kSectorBytes = 32;

// ---- how the emulator gets a counter ----

using Simt = Quantity (*)(const SimtTotals&);

Quantity emulated(std::uint64_t value) { return Quantity::count(value, Source::emulated); }

// Of totals, never a mean of ratios. The numerator may exceed what a double holds exactly; the ratio then is rounded.
Quantity ratio(std::uint64_t numerator, std::uint64_t denominator, const char* nothing) {
  if (denominator == 0) return Quantity::null(nothing, Source::emulated);
  return Quantity::real(static_cast<double>(numerator) / static_cast<double>(denominator), Source::emulated);
}

template <auto Kind, auto Field>
constexpr Simt total = [](const SimtTotals& t) { return emulated(t.*Kind.*Field); };

template <auto Field>
constexpr Simt count_of = [](const SimtTotals& t) { return emulated(t.*Field); };

template <auto Kind>
constexpr Simt sectors_per_request =
    [](const SimtTotals& t) { return ratio((t.*Kind).sectors, (t.*Kind).requests, "no such request was made"); };

template <auto Kind>
constexpr Simt transaction_bytes = [](const SimtTotals& t) { return emulated((t.*Kind).sectors * kSectorBytes); };

// Distinct sectors are known when every block was run; a sample of blocks leaves them at zero.
template <auto Kind>
constexpr Simt distinct_sectors = [](const SimtTotals& t) {
  const GlobalTotals& kind = t.*Kind;
  if (kind.distinct_sectors == 0 && kind.requests != 0)
    return Quantity::null("only some blocks were emulated, and distinct sectors do not scale", Source::emulated);
  return emulated(kind.distinct_sectors);
};

Quantity simt_efficiency(const SimtTotals& t) {
  return ratio(t.memory_instruction_lanes, kWarpLanes * t.memory_instructions, "no memory instruction was issued");
}

// ---- names on the GPU ----

using Names = std::vector<PerfworksName>;
using Chips = std::vector<std::string_view>;

Names everywhere(std::string_view metric) { return {{"*", metric}}; }

Names rows(const Chips& chips, std::string_view metric, Names more = {}) {
  for (const std::string_view chip : chips) more.push_back({chip, metric});
  return more;
}

Names with_rows(std::string_view everywhere_else, const Chips& chips, std::string_view metric, Names more = {}) {
  Names names = rows(chips, metric, std::move(more));
  names.push_back({"*", everywhere_else});
  return names;
}

Chips turing() { return {"TU102", "TU104", "TU106", "TU116", "TU117"}; }
Chips consumer_blackwell() { return {"GB202", "GB203", "GB205", "GB206", "GB207"}; }
Chips datacenter_blackwell() { return {"GB100", "GB102", "GB110"}; }

// Integrated GPUs share the memory of the CPU: they have no DRAM counters.
Names dram(std::string_view metric, std::string_view on_consumer_blackwell) {
  return with_rows(metric, {"GV11B", "GA10B", "GB10B", "GB20B"}, "", rows(consumer_blackwell(), on_consumer_blackwell));
}

// Packed instructions of two floats came with the data-centre Blackwell chips.
Names packed(std::string_view metric) { return with_rows("", datacenter_blackwell(), metric); }

// Before Ampere the tensor cores took half precision only (and integers, which count no floating-point operation).
Names since_ampere(std::string_view metric) { return with_rows(metric, {"GV100", "GV11B"}, "", rows(turing(), "")); }

// Hopper counts all its half-precision products in one metric, whatever they are summed in.
Names half_precision_tensor() {
  Names names = rows({"TU102", "TU104", "TU106"}, "sm__ops_path_tensor_src_fp16_bf16_tf32_dst_fp32.sum");
  names = rows({"TU116", "TU117", "GV11B"}, "", std::move(names));
  return with_rows("sm__ops_path_tensor_src_fp16_dst_fp32.sum", {"GH100"}, "sm__ops_path_tensor_src_fp16.sum",
                   std::move(names));
}
Names half_precision_tensor_half_sum() {
  return with_rows("sm__ops_path_tensor_src_fp16_dst_fp16.sum", {"GH100", "GV11B", "TU116", "TU117"}, "");
}

// Requests are counted by instructions that the driver adds to the kernel, whatever they replay: warp instructions with
// at least one lane. On an H200 that is what the L1 cache counts (l1tex__t_requests...: 57 points of all problems),
// which needs a pass of 5 ms and more for each kind, while smsp__inst_executed_op_... also counts replays and
// instructions whose lanes are all off.
//
// Of the flops group: thread instructions whose predicate is on. An FMA is two operations. Half-precision instructions
// work on pairs; those on single halves count the same (seen on an H200), and the compiler issues part of the additions
// and multiplications as FMAs, so that FLOPs from these counters are an upper bound there.
std::vector<Counter> make_table() {
  using T = SimtTotals;
  using G = GlobalTotals;
  using S = SharedTotals;
  return {
      // global
      {"global_load_requests", "global", "request", "Warp instructions that load from global memory.",
       everywhere("sm__sass_inst_executed_op_global_ld.sum"), total<&T::global_load, &G::requests>},
      {"global_load_lanes",
       "global",
       "lane",
       "Lanes that load from global memory, summed over requests.",
       {},
       total<&T::global_load, &G::lanes>},
      {"global_load_sectors", "global", "sector", "Distinct 32-byte sectors of each global load request, summed.",
       everywhere("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), total<&T::global_load, &G::sectors>},
      {"global_load_lines",
       "global",
       "line",
       "Distinct 128-byte lines of each global load request, summed.",
       {},
       total<&T::global_load, &G::lines>},
      {"global_load_sectors_per_request", "global", "1",
       "Sectors over requests of global loads; 4 when 32 floats lie side by side.",
       everywhere("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum / sm__sass_inst_executed_op_global_ld.sum"),
       sectors_per_request<&T::global_load>},
      {"global_store_requests", "global", "request", "Warp instructions that store to global memory.",
       everywhere("sm__sass_inst_executed_op_global_st.sum"), total<&T::global_store, &G::requests>},
      {"global_store_lanes",
       "global",
       "lane",
       "Lanes that store to global memory, summed over requests.",
       {},
       total<&T::global_store, &G::lanes>},
      {"global_store_sectors", "global", "sector", "Distinct 32-byte sectors of each global store request, summed.",
       everywhere("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"), total<&T::global_store, &G::sectors>},
      {"global_store_lines",
       "global",
       "line",
       "Distinct 128-byte lines of each global store request, summed.",
       {},
       total<&T::global_store, &G::lines>},
      {"global_store_sectors_per_request", "global", "1", "Sectors over requests of global stores.",
       everywhere("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum / sm__sass_inst_executed_op_global_st.sum"),
       sectors_per_request<&T::global_store>},
      {"global_atomic_requests",
       "global",
       "request",
       "Warp instructions with an atomic on global memory.",
       {},
       total<&T::global_atomic, &G::requests>},
      {"global_atomic_lanes",
       "global",
       "lane",
       "Lanes with an atomic on global memory, summed over requests.",
       {},
       total<&T::global_atomic, &G::lanes>},
      {"global_atomic_sectors",
       "global",
       "sector",
       "Distinct 32-byte sectors of each global atomic request, summed.",
       {},
       total<&T::global_atomic, &G::sectors>},
      {"global_atomic_lines",
       "global",
       "line",
       "Distinct 128-byte lines of each global atomic request, summed.",
       {},
       total<&T::global_atomic, &G::lines>},
      {"global_atomic_sectors_per_request",
       "global",
       "1",
       "Sectors over requests of global atomics.",
       {},
       sectors_per_request<&T::global_atomic>},
      {"global_atomic_return_requests", "global", "request",
       "Warp instructions with a global atomic whose old value is used.",
       everywhere("sm__sass_inst_executed_op_global_atom.sum")},
      {"global_reduction_requests", "global", "request",
       "Warp instructions with a global atomic whose old value is not used.",
       everywhere("sm__sass_inst_executed_op_global_red.sum")},
      // shared
      {"shared_load_requests", "shared", "request", "Warp instructions that load from shared memory.",
       everywhere("sm__sass_inst_executed_op_shared_ld.sum"), total<&T::shared_load, &S::requests>},
      {"shared_load_lanes",
       "shared",
       "lane",
       "Lanes that load from shared memory, summed over requests.",
       {},
       total<&T::shared_load, &S::lanes>},
      {"shared_load_bytes",
       "shared",
       "byte",
       "Bytes that lanes load from shared memory.",
       {},
       total<&T::shared_load, &S::bytes>},
      {"shared_load_wavefronts", "shared", "wavefront", "Passes over the 32 banks that shared loads take.",
       everywhere("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"), total<&T::shared_load, &S::wavefronts>},
      {"shared_load_bank_conflicts", "shared", "wavefront", "Wavefronts of shared loads beyond the ideal.",
       everywhere("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"),
       total<&T::shared_load, &S::bank_conflicts>},
      {"shared_store_requests", "shared", "request", "Warp instructions that store to shared memory.",
       everywhere("sm__sass_inst_executed_op_shared_st.sum"), total<&T::shared_store, &S::requests>},
      {"shared_store_lanes",
       "shared",
       "lane",
       "Lanes that store to shared memory, summed over requests.",
       {},
       total<&T::shared_store, &S::lanes>},
      {"shared_store_bytes",
       "shared",
       "byte",
       "Bytes that lanes store to shared memory.",
       {},
       total<&T::shared_store, &S::bytes>},
      {"shared_store_wavefronts", "shared", "wavefront", "Passes over the 32 banks that shared stores take.",
       everywhere("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"), total<&T::shared_store, &S::wavefronts>},
      {"shared_store_bank_conflicts", "shared", "wavefront", "Wavefronts of shared stores beyond the ideal.",
       everywhere("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"),
       total<&T::shared_store, &S::bank_conflicts>},
      {"shared_atomic_requests", "shared", "request", "Warp instructions with an atomic on shared memory.",
       everywhere("sm__sass_inst_executed_op_shared_atom.sum"), total<&T::shared_atomic, &S::requests>},
      {"shared_atomic_lanes",
       "shared",
       "lane",
       "Lanes with an atomic on shared memory, summed over requests.",
       {},
       total<&T::shared_atomic, &S::lanes>},
      {"shared_atomic_bytes",
       "shared",
       "byte",
       "Bytes that lanes update with atomics in shared memory.",
       {},
       total<&T::shared_atomic, &S::bytes>},
      {"shared_atomic_wavefronts", "shared", "wavefront",
       "Passes over the 32 banks that shared atomics take; emulated without the repeats for lanes that update one "
       "word.",
       everywhere("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"), total<&T::shared_atomic, &S::wavefronts>},
      {"shared_atomic_bank_conflicts", "shared", "wavefront",
       "Wavefronts of shared atomics beyond the ideal; emulated without the repeats for lanes that update one word.",
       everywhere("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum"),
       total<&T::shared_atomic, &S::bank_conflicts>},
      // issue
      {"memory_instructions",
       "issue",
       "instruction",
       "Memory instructions issued, per warp.",
       {},
       count_of<&T::memory_instructions>},
      {"simt_efficiency",
       "issue",
       "1",
       "Active lanes over 32 times the memory instructions issued; 1 without divergence.",
       {},
       &simt_efficiency},
      {"barriers", "issue", "instruction", "Block-wide barriers executed, per warp.", {}, count_of<&T::barriers>},
      {"warp_intrinsics",
       "issue",
       "instruction",
       "Shuffles, votes, reductions and __syncwarp executed, per warp.",
       {},
       count_of<&T::warp_intrinsics>},
      {"instructions", "issue", "instruction", "Instructions of all kinds executed, per warp.",
       everywhere("smsp__inst_executed.sum")},
      {"threads_per_instruction", "issue", "lane", "Active threads per instruction of any kind; 32 without divergence.",
       everywhere("smsp__thread_inst_executed_per_inst_executed.ratio")},
      // bytes
      // No hardware counter for these two: smsp__sass_data_bytes_mem_global_op_ld counts bytes that several lanes of a
      // request share once (on an H200, 72 of the 256 bytes that a 16x16 naive matmul's warp asks for).
      {"requested_load_bytes",
       "bytes",
       "byte",
       "Bytes that lanes load from global memory, as if there were no cache.",
       {},
       total<&T::global_load, &G::bytes>},
      {"requested_store_bytes",
       "bytes",
       "byte",
       "Bytes that lanes store to global memory, as if there were no cache.",
       {},
       total<&T::global_store, &G::bytes>},
      {"requested_atomic_bytes",
       "bytes",
       "byte",
       "Bytes that lanes update with global atomics.",
       {},
       total<&T::global_atomic, &G::bytes>},
      {"transaction_load_bytes", "bytes", "byte", "Sectors of global loads times 32 bytes.",
       everywhere("l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum"), transaction_bytes<&T::global_load>},
      {"transaction_store_bytes", "bytes", "byte", "Sectors of global stores times 32 bytes.",
       everywhere("l1tex__t_bytes_pipe_lsu_mem_global_op_st.sum"), transaction_bytes<&T::global_store>},
      {"transaction_atomic_bytes",
       "bytes",
       "byte",
       "Sectors of global atomics times 32 bytes.",
       {},
       transaction_bytes<&T::global_atomic>},
      {"distinct_load_sectors",
       "bytes",
       "sector",
       "Sectors that global loads touch over the whole launch, each once.",
       {},
       distinct_sectors<&T::global_load>},
      {"distinct_store_sectors",
       "bytes",
       "sector",
       "Sectors that global stores touch over the whole launch, each once.",
       {},
       distinct_sectors<&T::global_store>},
      {"distinct_atomic_sectors",
       "bytes",
       "sector",
       "Sectors that global atomics touch over the whole launch, each once.",
       {},
       distinct_sectors<&T::global_atomic>},
      // dram, l2
      {"dram_read_bytes", "dram", "byte", "Bytes read from device memory.",
       dram("dram__bytes_read.sum", "dram__bytes_op_read.sum")},
      {"dram_write_bytes", "dram", "byte", "Bytes written to device memory.",
       dram("dram__bytes_write.sum", "dram__bytes_op_write.sum")},
      {"l2_read_sectors", "l2", "sector", "32-byte sectors read from the L2 cache.",
       everywhere("lts__t_sectors_op_read.sum")},
      {"l2_write_sectors", "l2", "sector", "32-byte sectors written to the L2 cache.",
       everywhere("lts__t_sectors_op_write.sum")},
      // flops
      {"fp32_fma_instructions", "flops", "instruction", "Fused multiply-adds in float, per thread.",
       everywhere("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"), nullptr, 2},
      {"fp32_add_instructions", "flops", "instruction", "Additions in float, per thread.",
       everywhere("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"), nullptr, 1},
      {"fp32_mul_instructions", "flops", "instruction", "Multiplications in float, per thread.",
       everywhere("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"), nullptr, 1},
      {"fp32x2_fma_instructions", "flops", "instruction", "Fused multiply-adds on pairs of floats, per thread.",
       packed("smsp__sass_thread_inst_executed_op_ffma2_pred_on.sum"), nullptr, 4},
      {"fp32x2_add_instructions", "flops", "instruction", "Additions of pairs of floats, per thread.",
       packed("smsp__sass_thread_inst_executed_op_fadd2_pred_on.sum"), nullptr, 2},
      {"fp32x2_mul_instructions", "flops", "instruction", "Multiplications of pairs of floats, per thread.",
       packed("smsp__sass_thread_inst_executed_op_fmul2_pred_on.sum"), nullptr, 2},
      {"fp64_fma_instructions", "flops", "instruction", "Fused multiply-adds in double, per thread.",
       everywhere("smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"), nullptr, 2},
      {"fp64_add_instructions", "flops", "instruction", "Additions in double, per thread.",
       everywhere("smsp__sass_thread_inst_executed_op_dadd_pred_on.sum"), nullptr, 1},
      {"fp64_mul_instructions", "flops", "instruction", "Multiplications in double, per thread.",
       everywhere("smsp__sass_thread_inst_executed_op_dmul_pred_on.sum"), nullptr, 1},
      {"fp16_fma_instructions", "flops", "instruction", "Fused multiply-adds on pairs of halves, per thread.",
       everywhere("smsp__sass_thread_inst_executed_op_hfma_pred_on.sum"), nullptr, 4},
      {"fp16_add_instructions", "flops", "instruction", "Additions of pairs of halves, per thread.",
       everywhere("smsp__sass_thread_inst_executed_op_hadd_pred_on.sum"), nullptr, 2},
      {"fp16_mul_instructions", "flops", "instruction", "Multiplications of pairs of halves, per thread.",
       everywhere("smsp__sass_thread_inst_executed_op_hmul_pred_on.sum"), nullptr, 2},
      // tensor: an operation is a multiplication or an addition; 2 m n k for a product
      {"tensor_fp16_operations", "tensor", "operation",
       "Operations of tensor cores on half precision, summed in float (on GH100 in half too; on Turing all input "
       "types).",
       half_precision_tensor(), nullptr, 1},
      {"tensor_fp16_half_sum_operations", "tensor", "operation",
       "Operations of tensor cores on half precision, summed in half.", half_precision_tensor_half_sum(), nullptr, 1},
      {"tensor_bf16_operations", "tensor", "operation", "Operations of tensor cores on bfloat16.",
       since_ampere("sm__ops_path_tensor_src_bf16_dst_fp32.sum"), nullptr, 1},
      {"tensor_tf32_operations", "tensor", "operation", "Operations of tensor cores on TF32.",
       since_ampere("sm__ops_path_tensor_src_tf32_dst_fp32.sum"), nullptr, 1},
      {"tensor_fp64_operations", "tensor", "operation", "Operations of tensor cores on double precision.",
       since_ampere("sm__ops_path_tensor_src_fp64.sum"), nullptr, 1},
      // occupancy, clock
      {"achieved_occupancy", "occupancy", "%",
       "Warps resident on a multiprocessor while it is active, of the most it can hold.",
       everywhere("sm__warps_active.avg.pct_of_peak_sustained_active")},
      {"sm_cycles", "clock", "cycle", "Multiprocessor clock cycles from begin to end.",
       everywhere("sm__cycles_elapsed.max")},
  };
}

}  // namespace

std::optional<std::string_view> Counter::metric_on(std::string_view chip) const {
  const PerfworksName* best = nullptr;
  for (const PerfworksName& name : perfworks) {
    if (name.chip == chip) {
      best = &name;
      break;
    }
    if (name.chip == "*") best = &name;
  }
  if (best == nullptr || best->metric.empty()) return std::nullopt;
  return best->metric;
}

std::span<const Counter> counter_table() {
  static const std::vector<Counter> table = make_table();
  return table;
}

const Counter* find_counter(std::string_view id) {
  for (const Counter& counter : counter_table())
    if (counter.id == id) return &counter;
  return nullptr;
}

}  // namespace gpuexp
