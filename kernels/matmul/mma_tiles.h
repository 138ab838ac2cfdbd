// For kernel files that multiply with mma.sync from a ring of tiles filled by cp.async, in their part for the GPU: the
// tiles, the copies to them, and stores of sums. mma_bf16.cu says why parts of a row are permuted.
#pragma once

#include <cuda_bf16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

namespace gpuexp::mma_tiles {

// Elements of 16 bytes.
template <class T>
constexpr int part = 16 / sizeof(T);

// One tile of A and one of B, in parts of 16 bytes; element (row, p) of A, (p, column) of B.
template <class T, int BM, int BN, int BK>
struct Tiles {
  uint4 a[BM][BK / part<T>];
  uint4 b[BK][BN / part<T>];
};

// Where part `column` of row `row` lies within the row: one part of each of 8 rows, read together by ldmatrix, meets
// different banks.
struct PlaceOfEight {
  static constexpr int period = 8;  // rows
  template <int PARTS>
  static __device__ int at(int row, int column) {
    if constexpr (PARTS >= 8)
      return column ^ row % 8;
    else
      return column ^ row / (8 / PARTS) % PARTS;  // 128 bytes hold several rows
  }
};

// What one thread copies of each tile of a matrix: one part in each STEP-th row. EDGES false: all tiles lie inside.
template <class T, class Place, int ROWS, int PARTS, int THREADS, bool EDGES>
class Copies {
 public:
  // Beginning with the tile at (row0, column0).
  __device__ Copies(const T* matrix, long long rows, long long columns, long long row0, long long column0)
      : pitch_(columns), to_(thread_row() * PARTS + Place::template at<PARTS>(thread_row(), thread_part())) {
    const long long row = row0 + thread_row(), column = column0 + thread_part() * part<T>;
    from_ = matrix + row * columns + column;
    if (EDGES) rows_ = rows - row, columns_ = columns - column;
  }
  __device__ void start(uint4* tile) const {
    static_assert(THREADS % PARTS == 0 && step % Place::period == 0 && ROWS % step == 0,
                  "the places of all rows are alike");
#pragma unroll
    for (int s = 0; s < ROWS; s += step) copy(tile + to_ + s * PARTS, from_ + s * pitch_, s);
  }
  // To the tile this much further.
  __device__ void advance(int rows, int columns) {
    from_ += rows * pitch_ + columns;
    if (EDGES) rows_ -= rows, columns_ -= columns;
  }

 private:
  static constexpr int step = THREADS / PARTS;
  static __device__ int thread_row() { return threadIdx.x / PARTS; }
  static __device__ int thread_part() { return threadIdx.x % PARTS; }

  __device__ void copy(uint4* to, const T* from, int row) const {
    if (!EDGES) return __pipeline_memcpy_async(to, from, 16);
    const long long inside = row < rows_ ? columns_ : 0;
    if (pitch_ % part<T> == 0) return __pipeline_memcpy_async(to, from, 16, inside > 0 ? 0 : 16);
    auto* elements = reinterpret_cast<T*>(to);
    for (int e = 0; e < part<T>; ++e) {
      if constexpr (sizeof(T) == 4)
        __pipeline_memcpy_async(elements + e, from + e, 4, e < inside ? 0 : 4);
      else
        elements[e] = e < inside ? from[e] : T(0.0f);  // rows begin anywhere: cp.async cannot bring them
    }
  }

  const T* from_;
  long long pitch_;
  int to_;
  long long rows_ = 0, columns_ = 0;  // left from there to the edges
};

// Two neighbours of a row of C to memory.
template <bool EDGES>
__device__ inline void store2(float* matrix, long long rows, long long columns, long long row, long long column,
                              float x, float y) {
  if (EDGES && row >= rows) return;
  float* to = matrix + row * columns + column;
  if (!EDGES || columns % 2 == 0) {
    if (!EDGES || column < columns) *reinterpret_cast<float2*>(to) = make_float2(x, y);
  } else {
    if (column < columns) to[0] = x;
    if (column + 1 < columns) to[1] = y;
  }
}

}  // namespace gpuexp::mma_tiles
