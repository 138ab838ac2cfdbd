// Lane i reads element offset + i * stride: the lecture's table of coalescing, one row per point.
//
// A warp's request costs as many 32-byte sectors as it touches: 4 for 32 neighbouring floats, 5 when they start between
// two sectors, 32 from a stride of 8 on, 1 when all lanes read the same. The stores are coalesced and count as a site
// of their own.
#include <cuda_runtime.h>

#include "kernels/variant.h"

template <class T>
__global__ void strided(const T* in, T* out, long long stride, long long offset, long long count) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const T value = in[offset + i * stride];
  out[i] = value;
}

template <class T>
void launch_strided(const gpuexp::Launch& run) {
  const long long count = run.param("count"), threads = run.param("block");
  run({{gpuexp::ceil_div(count, threads)}, {threads}}, strided<T>, run.in<T>("in"), run.out<T>("out"),
      run.param("stride"), run.param("offset"), count);
}

GPUEXP_VARIANT("access/strided") {
  variant.problem("strided_access")
      .idea("one load per lane at a fixed stride: what coalescing costs and saves")
      .param("block", 32, "threads per block", 1, 1024)
      .instance(launch_strided<unsigned char>, {{"width", 1}})
      .instance(launch_strided<unsigned short>, {{"width", 2}})
      .instance(launch_strided<float>, {{"width", 4}})
      .instance(launch_strided<float2>, {{"width", 8}})
      .instance(launch_strided<float4>, {{"width", 16}});
}
