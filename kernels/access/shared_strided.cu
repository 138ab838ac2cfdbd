// Lane i of one warp reads element i * stride of shared memory: the table of bank conflicts, one row per point.
//
// Word w lies in bank w % 32, so a stride of s words is gcd(s, 32)-way: every other bank for 2, one bank for 32, all
// banks for any odd stride. Filling the shared memory is coalesced and counts as a site of its own. At most 48 KiB.
#include <cuda_runtime.h>

#include "kernels/variant.h"

template <class T>
__global__ void shared_strided(const T* in, T* out, int stride) {
  extern __shared__ __align__(16) unsigned char storage[];
  T* slots = reinterpret_cast<T*>(storage);
  const int lane = threadIdx.x;
  for (int i = lane; i <= 31 * stride; i += 32) {
    const T value = in[i];
    slots[i] = value;
  }
  __syncthreads();
  const T value = slots[lane * stride];
  out[lane] = value;
}

template <class T>
void launch_shared_strided(const gpuexp::Launch& run) {
  const long long stride = run.param("stride"), bytes = (31 * stride + 1) * static_cast<long long>(sizeof(T));
  if (bytes > 48 * 1024) return run.unsupported("stride x width needs more than 48 KiB of shared memory");
  run({{1}, {32}, bytes}, shared_strided<T>, run.in<T>("in"), run.out<T>("out"), stride);
}

GPUEXP_VARIANT("access/shared_strided") {
  variant.problem("shared_strided_access")
      .idea("one shared load per lane at a fixed stride: which strides meet in a bank")
      .instance(launch_shared_strided<unsigned char>, {{"width", 1}})
      .instance(launch_shared_strided<unsigned short>, {{"width", 2}})
      .instance(launch_shared_strided<float>, {{"width", 4}})
      .instance(launch_shared_strided<float2>, {{"width", 8}})
      .instance(launch_shared_strided<float4>, {{"width", 16}});
}
