// The emulator's entry points as kernel objects see them. Plain C names and values only, so that an instrumented kernel
// object shares no inline code with the rest of the program. Implemented in profiler/backend/simt.
#pragma once

#define GPUEXP_INLINE inline __attribute__((always_inline))

// Each call in the source stays one in the code: threads that wait at different barriers are told apart by it.
#if defined(__clang__)
#define GPUEXP_ENTRY __attribute__((nomerge, convergent))
#else
#define GPUEXP_ENTRY
#endif

extern "C" {

// Indices of the thread in hand and sizes of the launch, in the order x, y, z.
extern thread_local unsigned gpuexp_simt_thread[3];
extern thread_local unsigned gpuexp_simt_block[3];
extern thread_local unsigned gpuexp_simt_block_size[3];
extern thread_local unsigned gpuexp_simt_grid_size[3];

enum GpuexpBarrier { gpuexp_barrier_plain, gpuexp_barrier_count, gpuexp_barrier_and, gpuexp_barrier_or };
GPUEXP_ENTRY int gpuexp_simt_barrier(int kind, int predicate) noexcept;

// Warp intrinsics. Values travel as their bits, zero-extended.
enum GpuexpShuffle { gpuexp_shuffle_index, gpuexp_shuffle_up, gpuexp_shuffle_down, gpuexp_shuffle_xor };
GPUEXP_ENTRY unsigned long long gpuexp_simt_shuffle(unsigned mask, unsigned long long bits, int kind, unsigned argument,
                                                    int width) noexcept;
enum GpuexpVote { gpuexp_vote_ballot, gpuexp_vote_any, gpuexp_vote_all };
GPUEXP_ENTRY unsigned gpuexp_simt_vote(unsigned mask, int predicate, int kind) noexcept;
enum GpuexpReduce {
  gpuexp_reduce_add,
  gpuexp_reduce_min,
  gpuexp_reduce_max,
  gpuexp_reduce_and,
  gpuexp_reduce_or,
  gpuexp_reduce_xor
};
GPUEXP_ENTRY unsigned gpuexp_simt_reduce(unsigned mask, unsigned bits, int operation, int is_signed) noexcept;
// Lanes of the mask with this lane's value; of all = 1: the mask when every lane agrees, else 0.
GPUEXP_ENTRY unsigned gpuexp_simt_match(unsigned mask, unsigned long long bits, int all) noexcept;
GPUEXP_ENTRY unsigned gpuexp_simt_activemask() noexcept;
GPUEXP_ENTRY void gpuexp_simt_syncwarp(unsigned mask) noexcept;

enum GpuexpAtomic {
  gpuexp_atomic_add,
  gpuexp_atomic_min,
  gpuexp_atomic_max,
  gpuexp_atomic_and,
  gpuexp_atomic_or,
  gpuexp_atomic_xor,
  gpuexp_atomic_exchange,
  gpuexp_atomic_compare,
  gpuexp_atomic_increment,
  gpuexp_atomic_decrement
};
enum GpuexpType {
  gpuexp_type_int32,
  gpuexp_type_uint32,
  gpuexp_type_int64,
  gpuexp_type_uint64,
  gpuexp_type_float32,
  gpuexp_type_float64,
  gpuexp_type_uint16,
  gpuexp_type_float16,
  gpuexp_type_bfloat16,
  gpuexp_type_float16x2,
  gpuexp_type_bfloat16x2
};
// Bits of the old value.
GPUEXP_ENTRY unsigned long long gpuexp_simt_atomic(void* address, unsigned long long operand,
                                                   unsigned long long compare, int operation, int type) noexcept;

}  // extern "C"
