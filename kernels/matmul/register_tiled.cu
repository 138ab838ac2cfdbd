// A block computes BM x BN elements of C; each thread keeps TM x TN of them in registers, over shared tiles BK deep.
//
// Two levels of reuse: a value loaded from global memory serves BN (of A) or BM (of B) products, and a value read from
// shared memory TN or TM. The intensity by loaded bytes is BM BN / (2 (BM + BN)) FLOP/B in float32, beyond the 8 at
// which one output per thread ends (TILE 32). A thread's elements lie BM/TM rows and BN/TN columns apart, so that
// neighbouring threads touch neighbouring addresses in shared and in global memory. Limits: TM x TN accumulators must
// fit the registers, and a large tile leaves small matrices with few blocks. The order of the sum is that of naive.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/variant.h"

__device__ inline float as_float(float x) { return x; }
__device__ inline float as_float(__half x) { return __half2float(x); }

// Copies the tile of `source` (rows x cols, row-major) whose corner is (row0, col0); zeros beyond the edges.
template <class T, int ROWS, int COLS, int THREADS>
__device__ inline void copy_tile(T (&tile)[ROWS][COLS], const T* source, long long rows, long long cols, long long row0,
                                 long long col0, int thread) {
  for (int i = thread; i < ROWS * COLS; i += THREADS) {
    const int r = i / COLS, c = i % COLS;
    T value = T(0.0f);
    if (row0 + r < rows && col0 + c < cols) value = source[(row0 + r) * cols + col0 + c];
    tile[r][c] = value;
  }
}

template <class T, int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__((BM / TM) * (BN / TN))
    matmul_register_tiled(const T* A, const T* B, float* C, long long m, long long n, long long k) {
  constexpr int rows_of_threads = BM / TM, columns_of_threads = BN / TN;
  constexpr int threads = rows_of_threads * columns_of_threads;
  __shared__ T As[BM][BK];
  __shared__ T Bs[BK][BN];
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * columns_of_threads + tx;
  const long long row0 = static_cast<long long>(blockIdx.y) * BM, col0 = static_cast<long long>(blockIdx.x) * BN;
  float sum[TM][TN];
  for (int i = 0; i < TM; ++i) {
    for (int j = 0; j < TN; ++j) sum[i][j] = 0.0f;
  }
  for (long long k0 = 0; k0 < k; k0 += BK) {
    copy_tile<T, BM, BK, threads>(As, A, m, k, row0, k0, thread);
    copy_tile<T, BK, BN, threads>(Bs, B, k, n, k0, col0, thread);
    __syncthreads();
    for (int p = 0; p < BK; ++p) {
      float a[TM], b[TN];
      for (int i = 0; i < TM; ++i) a[i] = as_float(As[i * rows_of_threads + ty][p]);
      for (int j = 0; j < TN; ++j) b[j] = as_float(Bs[p][j * columns_of_threads + tx]);
      for (int i = 0; i < TM; ++i) {
        for (int j = 0; j < TN; ++j) sum[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i) {
    const long long row = row0 + i * rows_of_threads + ty;
    for (int j = 0; j < TN; ++j) {
      const long long col = col0 + j * columns_of_threads + tx;
      if (row < m && col < n) C[row * n + col] = sum[i][j];
    }
  }
}

template <class T, int BM, int BN, int BK, int TM, int TN>
void launch_register_tiled(const gpuexp::Launch& run) {
  const long long m = run.param("m"), n = run.param("n"), k = run.param("k");
  run({{gpuexp::ceil_div(n, BN), gpuexp::ceil_div(m, BM)}, {BN / TN, BM / TM}},
      matmul_register_tiled<T, BM, BN, BK, TM, TN>, run.in<T>("A"), run.in<T>("B"), run.out<float>("C"), m, n, k);
}

template <int BM, int BN, int BK, int TM, int TN>
void add_shape(gpuexp::VariantBuilder& variant) {
  variant
      .instance(launch_register_tiled<float, BM, BN, BK, TM, TN>,
                {{"BM", BM}, {"BN", BN}, {"BK", BK}, {"TM", TM}, {"TN", TN}, {"dtype", "float32"}})
      .instance(launch_register_tiled<__half, BM, BN, BK, TM, TN>,
                {{"BM", BM}, {"BN", BN}, {"BK", BK}, {"TM", TM}, {"TN", TN}, {"dtype", "float16"}});
}

GPUEXP_VARIANT("matmul/register_tiled") {
  variant
      .idea(
          "each thread keeps TM x TN elements of C in registers, so a value from shared memory serves several products")
      .fixed("BM", {"BM", 64}, "rows of C that a block computes")
      .fixed("BN", {"BN", 64}, "columns of C that a block computes")
      .fixed("BK", {"BK", 8}, "depth of the shared tiles along k")
      .fixed("TM", {"TM", 4}, "rows of C that a thread computes")
      .fixed("TN", {"TN", 4}, "columns of C that a thread computes");
  add_shape<32, 32, 8, 2, 2>(variant);
  add_shape<64, 64, 8, 4, 4>(variant);
  add_shape<64, 64, 16, 4, 4>(variant);
  add_shape<64, 64, 8, 8, 8>(variant);
  add_shape<128, 64, 8, 8, 4>(variant);
  add_shape<128, 128, 8, 8, 8>(variant);
  add_shape<128, 128, 16, 8, 8>(variant);
}
