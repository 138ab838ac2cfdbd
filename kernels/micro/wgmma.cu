// Warpgroups multiply one pair of tiles in shared memory again and again with wgmma: the full rate of Hopper's tensor
// cores.
//
// One instruction makes a 64 x 256 tile from operands that the tensor cores read from shared memory themselves; a
// second warpgroup keeps them busy while the first waits. Rows of 128 bytes in the 128-byte swizzle, as library kernels
// hold them. The instructions exist for sm_90a alone, so this file is compiled for that:
//
// CUDA architectures: 90a-real
#include <cuda_runtime.h>

#include "kernels/variant.h"

#if defined(__CUDACC__)

constexpr int tile_rows = 64, tile_columns = 256, row_bytes = 128, warpgroups = 2;
constexpr int a_bytes = tile_rows * row_bytes, b_bytes = tile_columns * row_bytes;

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define GPUEXP_WGMMA(shape_and_types, transposes)                                      \
  asm volatile("wgmma.mma_async.sync.aligned." shape_and_types " " GPUEXP_ACCUMULATORS \
               "%128, %129, 1, 1, 1" transposes ";"                                    \
               : GPUEXP_ACCUMULATOR_REGISTERS                                          \
               : "l"(a), "l"(b))
#else
#define GPUEXP_WGMMA(shape_and_types, transposes) (void)d, (void)a, (void)b
#endif
// clang-format off
#define GPUEXP_ACCUMULATORS \
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
#define GPUEXP_ACCUMULATOR_REGISTERS \
          "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), \
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), \
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), \
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), \
          "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), \
          "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), \
          "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), \
          "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), \
          "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), \
          "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), \
          "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), \
          "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), \
          "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), \
          "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]), \
          "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), \
          "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
// clang-format on

struct Bf16 {
  static __device__ inline void multiply(float* d, unsigned long long a, unsigned long long b) {
    GPUEXP_WGMMA("m64n256k16.f32.bf16.bf16", ", 0, 0");
  }
};
struct Fp16 {
  static __device__ inline void multiply(float* d, unsigned long long a, unsigned long long b) {
    GPUEXP_WGMMA("m64n256k16.f32.f16.f16", ", 0, 0");
  }
};
struct Tf32 {
  static __device__ inline void multiply(float* d, unsigned long long a, unsigned long long b) {
    GPUEXP_WGMMA("m64n256k8.f32.tf32.tf32", "");
  }
};

__device__ inline void fence_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
__device__ inline void wait_for_products() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
}
// What ordinary stores put into shared memory becomes visible to the tensor cores.
__device__ inline void publish_shared() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
  __syncthreads();
}

// Copies rows of 128 bytes, the 16-byte parts of each permuted by the row's number: the 128-byte swizzle.
__device__ inline void fill_swizzled(unsigned char* to, const uint4* from, int rows) {
  for (int i = threadIdx.x; i < rows * 8; i += blockDim.x) {
    const int row = i / 8, part = i % 8;
    *reinterpret_cast<uint4*>(to + row * row_bytes + (part ^ row % 8) * 16) = from[i];
  }
}

// PTX ISA, "Matrix descriptor format": address, the distance of groups of 8 rows (1024 bytes), 128-byte swizzle. The
// other stride is not used with it.
__device__ inline unsigned long long descriptor(const unsigned char* shared) {
  const unsigned long long address = __cvta_generic_to_shared(shared);
  return (address & 0x3ffff) >> 4 | 1ull << 16 | 1024ull >> 4 << 32 | 1ull << 62;
}

template <class Type>
__global__ void __launch_bounds__(128 * warpgroups)
    wgmma(const uint4* a_tile, const uint4* b_tile, float* d_tiles, long long tiles, int steps) {
  extern __shared__ __align__(1024) unsigned char storage[];
  fill_swizzled(storage, a_tile, tile_rows);
  fill_swizzled(storage + a_bytes, b_tile, tile_columns);
  publish_shared();
  const long long tile = static_cast<long long>(blockIdx.x) * warpgroups + threadIdx.x / 128;
  if (tile >= tiles) return;  // all threads of a warpgroup alike
  const unsigned long long a = descriptor(storage), b = descriptor(storage + a_bytes);
  float d[128] = {};
  for (int step = 0; step < steps; ++step) {
    fence_registers();
#pragma unroll
    for (int part = 0; part < 4; ++part) Type::multiply(d, a + 2 * part, b + 2 * part);  // 32 bytes of each row
    wait_for_products();
  }
  // Which thread holds which element: PTX ISA, "Matrix fragments for wgmma.mma_async.m64nNk16".
  const int warp = threadIdx.x % 128 / 32, group = threadIdx.x % 32 / 4, member = threadIdx.x % 4;
  float* out = d_tiles + (tile * tile_rows + warp * 16) * tile_columns;
#pragma unroll
  for (int block = 0; block < tile_columns / 8; ++block)
    for (int half = 0; half < 2; ++half)
      *reinterpret_cast<float2*>(out + (group + half * 8) * tile_columns + block * 8 + member * 2) =
          make_float2(d[block * 4 + half * 2], d[block * 4 + half * 2 + 1]);
}

// The machine code for sm_90a runs on compute capability 9.0 and nowhere else.
bool is_hopper(const gpuexp::Launch& run) {
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

template <class Type>
void launch_wgmma(const gpuexp::Launch& run) {
  if (!is_hopper(run)) return;
  const long long tiles = run.param("tiles");
  run({{gpuexp::ceil_div(tiles, warpgroups)}, {128 * warpgroups}, a_bytes + b_bytes}, wgmma<Type>, run.in<uint4>("A"),
      run.in<uint4>("B"), run.out<float>("D"), tiles, run.param("steps"));
}
constexpr auto launch_bf16 = launch_wgmma<Bf16>, launch_fp16 = launch_wgmma<Fp16>, launch_tf32 = launch_wgmma<Tf32>;
#else
constexpr void (*launch_bf16)(const gpuexp::Launch&) = nullptr;
constexpr void (*launch_fp16)(const gpuexp::Launch&) = nullptr;
constexpr void (*launch_tf32)(const gpuexp::Launch&) = nullptr;
#endif

GPUEXP_VARIANT("micro/wgmma") {
  variant.problem("micro_wide_tile")
      .idea("wgmma on operands in shared memory: the rate of Hopper's tensor cores, which mma.sync does not reach")
      .cuda_only("it uses tensor cores")
      .instance(launch_bf16, {{"m", 64}, {"n", 256}, {"k", 64}, {"dtype", "bfloat16"}})
      .instance(launch_fp16, {{"m", 64}, {"n", 256}, {"k", 64}, {"dtype", "float16"}})
      .instance(launch_tf32, {{"m", 64}, {"n", 256}, {"k", 32}, {"dtype", "tf32"}});
}
