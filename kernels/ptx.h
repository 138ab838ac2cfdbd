// PTX that CUDA C++ has no functions for, one function an instruction: products on tensor cores (mma.sync, wgmma), the
// loads that feed them, and Hopper's bulk tensor copies with their barriers. For kernel files, in their part for the
// GPU. Source of all layouts and limits: the PTX ISA, whose sections are named in quotes.
//
// What only Hopper has (from `Barrier` on) may be called in kernel files that are compiled for sm_90a, which they ask
// for with a line "CUDA architectures: 90a-real" (kernels/matmul/wgmma_bf16.cu).
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include "kernels/variant.h"

namespace gpuexp::ptx {

// --- mma.sync: one warp, operands in registers ---

// D[16][8] += A[16][16] B[16][8] in bfloat16, or A[16][8] B[8][8] in TF32, summed in float32. Which lane holds which
// element: "Matrix fragments for mma.m16n8k16" and "... m16n8k8". Counted in words of 32 bits the layouts are one: with
// group = lane / 4 and member = lane % 4, a[0..3] are words member (row group), member (row group + 8), member + 4 (row
// group) and member + 4 (row group + 8) of A's rows; b[0..1] words member and member + 4 of B's column `group`; d[0..1]
// columns 2 member and 2 member + 1 of row group, d[2..3] of row group + 8.
__device__ inline void mma_bf16(float* d, const unsigned* a, const unsigned* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline void mma_fp16(float* d, const unsigned* a, const unsigned* b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline void mma_tf32(float* d, const unsigned* a, const unsigned* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ inline unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

// Four 8 x 8 matrices of 2-byte elements from shared memory; lane l gives the address of row l % 8 of matrix l / 8 (16
// bytes, aligned). Lane l gets word l % 4 of row l / 4 of each.
__device__ inline void ldmatrix(unsigned* to, unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}
// The same, each matrix turned: lane l gets the elements of column l / 4 in rows 2 (l % 4) and 2 (l % 4) + 1.
__device__ inline void ldmatrix_turned(unsigned* to, unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

// --- mbarrier: in shared memory, counts arrivals and bytes of copies, phase after phase ---

using Barrier = unsigned long long;

// Each phase ends after `arrivals` arrivals, when all bytes announced have come.
__device__ inline void init(Barrier& barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)), "r"(arrivals) : "memory");
}
// Makes the inits of this thread visible to copies; a barrier among the threads follows.
__device__ inline void publish_inits() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ inline void arrive(Barrier& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier)) : "memory");
}
// Arrives, and announces bytes that copies will bring.
__device__ inline void arrive_expecting(Barrier& barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)), "r"(bytes)
               : "memory");
}
// Waits for the end of the phase with this parity: 0 for the first, 1 for the second, 0 for the third. Parity 1 of a
// new barrier counts as ended.
__device__ inline void wait(Barrier& barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
}

// --- TMA: copies of boxes of a matrix to shared memory, by one thread ---

// The box of `map` at this row and column, to `to` (aligned to 1024 bytes); zeros beyond the matrix. Its bytes are
// counted at `barrier`.
__device__ inline void copy_box(void* to, const CUtensorMap& map, int row, int column, Barrier& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          shared_address(to)),
      "l"(&map), "r"(column), "r"(row), "r"(shared_address(&barrier))
      : "memory");
}

// --- wgmma: a warpgroup (4 warps), operands in shared memory ---

// Registers per thread of all warps of the calling warpgroup from here on.
template <int COUNT>
__device__ inline void shrink_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}
template <int COUNT>
__device__ inline void grow_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}

// What ordinary stores of this thread put into shared memory becomes visible to wgmma; a barrier among the threads
// follows.
__device__ inline void publish_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// Before the first product, and after the sums' registers were touched.
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// The products since the last commit become a group.
__device__ inline void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits until at most COUNT groups are under way.
template <int COUNT>
__device__ inline void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(COUNT) : "memory");
}

// "Matrix descriptor format", 128-byte swizzle, for rows of 128 bytes as copy_box leaves them. Where rows lie along k,
// `stride` is not used; groups of 8 rows follow each other. Otherwise rows of 64 columns, one a k, groups
// of 8 k following each other, and the next 64 columns `stride` bytes further.
__device__ inline unsigned long long descriptor(const void* shared, unsigned stride = 16) {
  const unsigned long long address = shared_address(shared);
  return (address & 0x3ffff) >> 4 | static_cast<unsigned long long>(stride >> 4) << 16 | 1024ull >> 4 << 32 |
         1ull << 62;
}

// clang-format off
#define GPUEXP_PTX_REGISTERS_8(d, i) \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define GPUEXP_PTX_REGISTERS_64(d, i) \
    GPUEXP_PTX_REGISTERS_8(d, i), GPUEXP_PTX_REGISTERS_8(d, i + 8), GPUEXP_PTX_REGISTERS_8(d, i + 16), \
    GPUEXP_PTX_REGISTERS_8(d, i + 24), GPUEXP_PTX_REGISTERS_8(d, i + 32), GPUEXP_PTX_REGISTERS_8(d, i + 40), \
    GPUEXP_PTX_REGISTERS_8(d, i + 48), GPUEXP_PTX_REGISTERS_8(d, i + 56)
#define GPUEXP_PTX_NAMES_64 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, " \
    "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, " \
    "%42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define GPUEXP_PTX_NAMES_128 GPUEXP_PTX_NAMES_64 ", " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, " \
    "%86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, " \
    "%106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, " \
    "%124, %125, %126, %127"
// clang-format on

// D[64][N] += A[64][k] B[k][N], summed in float32: k is 16 for 2-byte elements, 8 for TF32. A's rows lie along k, and
// so do B's columns, unless `b_along_columns`: then B's rows lie along its columns (2-byte elements only). Which thread
// holds which element: "Matrix fragments for wgmma.mma_async.m64nNk16"; per warp of 16 rows, blocks of 8 columns as in
// mma_bf16.
#define GPUEXP_PTX_WGMMA_128(types, transposes)                                                                        \
  asm volatile("wgmma.mma_async.sync.aligned.m64n128" types " {" GPUEXP_PTX_NAMES_64 "}, %64, %65, 1, 1, 1" transposes \
               ";"                                                                                                     \
               : GPUEXP_PTX_REGISTERS_64(d, 0)                                                                         \
               : "l"(a), "l"(b))
#define GPUEXP_PTX_WGMMA_256(types, transposes)                                       \
  asm volatile("wgmma.mma_async.sync.aligned.m64n256" types " {" GPUEXP_PTX_NAMES_128 \
               "}, %128, %129, 1, 1, 1" transposes ";"                                \
               : GPUEXP_PTX_REGISTERS_64(d, 0), GPUEXP_PTX_REGISTERS_64(d, 64)        \
               : "l"(a), "l"(b))
template <int N, bool b_along_columns>
__device__ inline void wgmma_bf16(float (&d)[N / 2], unsigned long long a, unsigned long long b) {
  static_assert(N == 256 || (N == 128 && b_along_columns));
  if constexpr (N == 128) {
    GPUEXP_PTX_WGMMA_128("k16.f32.bf16.bf16", ", 0, 1");
  } else if constexpr (b_along_columns) {
    GPUEXP_PTX_WGMMA_256("k16.f32.bf16.bf16", ", 0, 1");
  } else {
    GPUEXP_PTX_WGMMA_256("k16.f32.bf16.bf16", ", 0, 0");
  }
}
__device__ inline void wgmma_fp16(float (&d)[128], unsigned long long a, unsigned long long b) {
  GPUEXP_PTX_WGMMA_256("k16.f32.f16.f16", ", 0, 0");
}
__device__ inline void wgmma_tf32(float (&d)[128], unsigned long long a, unsigned long long b) {
  GPUEXP_PTX_WGMMA_256("k8.f32.tf32.tf32", "");
}

// --- On the host ---

// False, with the reason recorded, where the machine code for sm_90a does not run.
inline bool is_hopper(const Launch& run) {
  int device = 0, major = 0, minor = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  if (error != cudaSuccess) {
    run.failed(cudaGetErrorString(error), static_cast<int>(error));
    return false;
  }
  if (major == 9 && minor == 0) return true;
  run.unsupported("wgmma needs a GPU of compute capability 9.0 (Hopper)");
  return false;
}

// Of the current GPU; 0, with the reason recorded, when it cannot be told.
inline int multiprocessors(const Launch& run) {
  int device = 0, count = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) run.failed(cudaGetErrorString(error), static_cast<int>(error));
  return count;
}

// Describes a row-major matrix of 2-byte elements for copies of boxes of 64 columns (128 bytes) and box_rows <= 256
// rows, swizzled. Rows must be multiples of 16 bytes. False when the driver refuses it; the point then has failed.
inline bool describe(const Launch& run, CUtensorMap& map, const void* matrix, long long rows, long long columns,
                     int box_rows) {
  static const auto encode = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
    return error == cudaSuccess && found == cudaDriverEntryPointSuccess
               ? reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)
               : nullptr;
  }();
  if (encode == nullptr) {
    run.unsupported("the driver has no cuTensorMapEncodeTiled: it is older than CUDA 12.0");
    return false;
  }
  const cuuint64_t size[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t pitch[] = {static_cast<cuuint64_t>(columns) * 2};
  const cuuint32_t box[] = {64, static_cast<cuuint32_t>(box_rows)}, step[] = {1, 1};
  const CUresult result = encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<void*>(matrix), size, pitch, box,
                                 step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS) return true;
  run.failed("cuTensorMapEncodeTiled", static_cast<int>(result));
  return false;
}

}  // namespace gpuexp::ptx
