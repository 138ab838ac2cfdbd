// Each thread stores ITEMS times 16 bytes, a block's width apart: what DRAM takes from stores alone.
//
// The values are computed from the index, so nothing is loaded. Full sectors are written, so nothing need be fetched.
#include <cuda_runtime.h>

#include "kernels/variant.h"

template <int ITEMS>
__global__ void write_indices(uint4* dst, long long vectors) {
  const long long first = static_cast<long long>(blockIdx.x) * blockDim.x * ITEMS + threadIdx.x;
  for (int item = 0; item < ITEMS; ++item) {
    const long long i = first + static_cast<long long>(item) * blockDim.x;
    const unsigned word = static_cast<unsigned>(4 * i);
    if (i < vectors) dst[i] = make_uint4(word, word + 1, word + 2, word + 3);
  }
}

template <int ITEMS>
void launch_write(const gpuexp::Launch& run) {
  const long long n = run.param("n"), threads = run.param("block");
  if (n % 4 != 0) return run.unsupported("n must be a multiple of 4: every store takes 4 elements");
  run({{gpuexp::ceil_div(n / 4, threads * ITEMS)}, {threads}}, write_indices<ITEMS>, run.out<uint4>("dst"), n / 4);
}

GPUEXP_VARIANT("micro/write") {
  variant.problem("micro_write")
      .idea("16-byte stores and no loads: the bandwidth of DRAM for writing")
      .param("block", 256, "threads per block", 1, 1024)
      .fixed("ITEMS", {"ITEMS", 4}, "16-byte stores per thread")
      .instance(launch_write<1>, {{"ITEMS", 1}})
      .instance(launch_write<4>, {{"ITEMS", 4}});
}
