// Control flow on which lanes must part and meet again as on SIMT hardware.
#include <cuda_runtime.h>

#include "kernels/variant.h"

#define ENGINE_KERNEL(name)                                                                   \
  GPUEXP_VARIANT("engine/" #name) {                                                           \
    variant.idea("test").instance(                                                            \
        [](const gpuexp::Launch& run) {                                                       \
          run({{1}, {32}}, name, run.in<int>("in"), run.out<int>("out"));                     \
        },                                                                                    \
        {});                                                                                  \
  }

// in[lane * 8 + o] inner iterations in outer iteration o of 4.
__global__ void nested_loops(const int* in, int* out) {
  const int lane = threadIdx.x;
  int sum = 0;
  for (int o = 0; o < 4; ++o) {
    const int count = in[lane * 8 + o];
    for (int i = 0; i < count; ++i) {
      sum += in[256 + i];  // inner access
    }
  }
  out[lane] = sum;
}
ENGINE_KERNEL(nested_loops)

// The lanes leave the inner loop at different times, and nothing is accessed after it within the outer loop.
__global__ void nothing_after(const int* in, int* out) {
  const int lane = threadIdx.x;
  for (int o = 0; o < 3; ++o) {
    for (int i = 0; i <= lane % 4 + o; ++i) {
      out[lane] = i;  // only access
    }
  }
}
ENGINE_KERNEL(nothing_after)

__global__ void early_return(const int* in, int* out) {
  const int lane = threadIdx.x;
  if (lane % 2 == 1) return;
  for (int i = 0; i < 5; ++i) {
    if (i == lane / 8) return;
    out[lane] = in[i];  // until the lane returns
  }
}
ENGINE_KERNEL(early_return)

__global__ void loop_break(const int* in, int* out) {
  const int lane = threadIdx.x;
  int sum = 0;
  for (int i = 0; i < 10; ++i) {
    if (i > lane % 5) break;
    sum += in[i];  // before the break
  }
  out[lane] = sum;  // after the loop
}
ENGINE_KERNEL(loop_break)

__global__ void loop_continue(const int* in, int* out) {
  const int lane = threadIdx.x;
  int sum = 0;
  for (int i = 0; i < 8; ++i) {
    if ((i + lane) % 2 == 0) continue;
    sum += in[i];  // half of the lanes in every iteration
  }
  out[lane] = sum;  // all together
}
ENGINE_KERNEL(loop_continue)

__device__ int look_up(const int* in, int i) { return in[i]; }  // called from both arms

__global__ void both_arms(const int* in, int* out) {
  const int lane = threadIdx.x;
  int value;
  if (lane < 10) {
    value = look_up(in, lane);
  } else {
    value = look_up(in, 2 * lane);
  }
  out[lane] = value;  // together again
}
ENGINE_KERNEL(both_arms)

__global__ void switch_cases(const int* in, int* out) {
  const int lane = threadIdx.x;
  switch (lane % 3) {
    case 0: out[lane] = in[lane]; break;      // case 0
    case 1: out[lane] = in[lane + 32]; break;  // case 1
    default: out[lane] = in[lane + 64]; break; // default case
  }
  out[lane + 32] = 1;  // after the switch
}
ENGINE_KERNEL(switch_cases)

__global__ void while_nested_break(const int* in, int* out) {
  const int lane = threadIdx.x;
  int i = 0;
  while (true) {
    int j = 0;
    while (true) {
      const int step = in[256 + j];  // endless inner access
      if (j >= (lane + i) % 3) break;
      j += step;
    }
    out[lane] = i + j;  // endless outer access
    if (++i > lane % 4) break;
  }
  out[lane + 32] = i;  // after both loops
}
ENGINE_KERNEL(while_nested_break)

// More events than a trace holds, differently many per lane.
__global__ void long_divergent(const int* in, int* out) {
  const int lane = threadIdx.x;
  int sum = 0;
  for (int o = 0; o < 5; ++o) {
    const int count = 1000 + lane * 100;
    for (int i = 0; i < count; ++i) {
      sum += in[i % 256];  // long inner access
    }
    out[lane] = sum;  // long outer access
  }
}
ENGINE_KERNEL(long_divergent)
