// Consecutive rows in pieces of about equally many nonzeros, cut on the host: one launch, a block per piece.
//
// merge finds its piece of the path by searching row_ptr, a chain of dependent loads, and needs a second kernel that
// clears y; coo adds every product to y by an atomic. Here the host has cut the rows beforehand (problem spmv_adaptive,
// after Greathouse and Daga, Efficient Sparse Matrix-Vector Multiplication on GPUs using the CSR Storage Format, 2014):
// 16 bytes a piece are the price. The lanes of a block load neighbouring nonzeros, 16 bytes of columns and 16 of values
// at once whatever the rows look like; then each thread adds up the products of the rows that it holds, and a scan over
// the threads carries the sums of rows that go on in the next thread. Whoever holds a row's last nonzero writes y: no
// atomics. A row longer than a piece has a block to itself; one of more than `split` pieces is shared by several
// blocks, the only ones that add to y by atomics (after a launch that clears those rows).
// Predicted: no more dependent loads than a thread per row has, so a few microseconds for any matrix of 10,000 rows.
// Measured on an H200, power law of 10,000 rows: merge 17.1, cuSPARSE 10.0, this 6.8 us; over every kind of generated
// matrix, small and large, 1.39 times as fast as cuSPARSE (geometric mean), and 1.005 times at the least.
#include <cuda_runtime.h>

#include "kernels/variant.h"

constexpr int VEC = 4;  // nonzeros of a thread: 16 bytes of columns

__device__ inline void unpack(int4 w, int (&v)[VEC]) { v[0] = w.x, v[1] = w.y, v[2] = w.z, v[3] = w.w; }

// Four neighbours at a 16-byte boundary, read once: they push nothing out of the L1 cache.
__device__ inline void load_four(const int* from, int (&to)[VEC]) {
  unpack(__ldcs(reinterpret_cast<const int4*>(from)), to);
}
__device__ inline void load_four(const float* from, float (&to)[VEC]) {
  const float4 four = __ldcs(reinterpret_cast<const float4*>(from));
  to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}
__device__ inline void load_four(const double* from, double (&to)[VEC]) {
  const double2 low = __ldcs(reinterpret_cast<const double2*>(from));
  const double2 high = __ldcs(reinterpret_cast<const double2*>(from) + 1);
  to[0] = low.x, to[1] = low.y, to[2] = high.x, to[3] = high.y;
}

// A piece: `row` (of a part of a row that several blocks share its complement), rows, and the offsets of its nonzeros.
struct Piece {
  long long row, rows, begin, end;
};
__device__ inline Piece load_piece(const int* pieces, long long i) {
  const int4 piece = reinterpret_cast<const int4*>(pieces)[i];
  return {piece.x, piece.y, piece.z, piece.w};
}
__device__ inline Piece load_piece(const long long* pieces, long long i) {
  const longlong2 rows = reinterpret_cast<const longlong2*>(pieces)[2 * i];
  const longlong2 offsets = reinterpret_cast<const longlong2*>(pieces)[2 * i + 1];
  return {rows.x, rows.y, offsets.x, offsets.y};
}

// The nonzeros of a piece, counted from the boundary at or before its first: first .. last-1 of the arrays from
// col_index and data on, which hold `left` elements.
template <class T>
struct Nonzeros {
  const int* col_index;
  const T* data;
  int first, last;
  long long left;
};

// Four neighbours of them, from `place` on: what is outside counts as a zero.
template <class T>
struct Four {
  T value[VEC], gathered[VEC];
  int column[VEC];
  int first, last;  // which of the four there are

  __device__ void load(const Nonzeros<T>& all, int place) {
    first = all.first - place, last = all.last - place;
    if (last <= 0) return;
    if (place + VEC <= all.left) {
      load_four(all.col_index + place, column);
      load_four(all.data + place, value);
    } else {
#pragma unroll
      for (int i = 0; i < VEC; ++i) {
        if (i < last) column[i] = all.col_index[place + i];
        if (i < last) value[i] = all.data[place + i];
      }
    }
  }
  __device__ void gather(const T* x) {
#pragma unroll
    for (int i = 0; i < VEC; ++i) {
      gathered[i] = 0;
      if (i >= first && i < last) gathered[i] = x[column[i]];
    }
  }
  __device__ T product(int i) const { return i >= first && i < last ? value[i] * gathered[i] : T(0); }
};

// One row, or a part of one, by all threads of the block; the sum is thread 0's.
template <class T>
__device__ inline T sum_of_block(const Nonzeros<T>& all, const T* x, T* warp_sums) {
  constexpr int AHEAD = 2;  // vectors of a thread under way
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = static_cast<int>(blockDim.x) / 32;
  const int step = static_cast<int>(blockDim.x) * VEC;
  T sum = 0;
  for (int place = static_cast<int>(threadIdx.x) * VEC; place < all.last; place += step * AHEAD) {
    Four<T> four[AHEAD];
#pragma unroll
    for (int a = 0; a < AHEAD; ++a) four[a].load(all, place + a * step);
#pragma unroll
    for (int a = 0; a < AHEAD; ++a) four[a].gather(x);
#pragma unroll
    for (int a = 0; a < AHEAD; ++a) {
#pragma unroll
      for (int i = 0; i < VEC; ++i) sum += four[a].product(i);
    }
  }
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane == 0) warp_sums[warp] = sum;
  __syncthreads();
  T total = 0;
  if (warp == 0) {
    if (lane < warps) total = warp_sums[lane];
    for (int distance = 16; distance > 0; distance /= 2) total += __shfl_down_sync(0xffffffffu, total, distance);
  }
  return total;
}

// Rows that several blocks share: their parts are added.
template <class T>
__global__ void spmv_adaptive_clear(const int* shared_rows, T* y, long long count) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int row = shared_rows[i];
  y[row] = 0;
}

template <class T, class Offset>
__global__ void spmv_adaptive(const Offset* pieces, const Offset* row_ptr, const int* col_index, const T* data,
                              const T* x, T* y, long long nonzeros) {
  extern __shared__ int4 closes[];  // of each nonzero of the piece: 1 + the piece's row that ends with it, or 0
  __shared__ T warp_sums[32];
  __shared__ int warp_closes[32];
  const int thread = threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int threads = static_cast<int>(blockDim.x);
  const Piece piece = load_piece(pieces, blockIdx.x);
  const bool part = piece.row < 0;
  T* y_of_piece = y + (part ? ~piece.row : piece.row);
  const long long base = piece.begin - piece.begin % VEC;
  const Nonzeros<T> all{col_index + base, data + base, static_cast<int>(piece.begin - base),
                        static_cast<int>(piece.end - base), nonzeros - base};
  if (part || all.last > threads * VEC) {
    const T sum = sum_of_block(all, x, warp_sums);
    if (thread != 0) return;
    if (part) {
      atomicAdd(y_of_piece, sum);
    } else {
      *y_of_piece = sum;
    }
    return;
  }

  Four<T> four;
  four.load(all, thread * VEC);
  closes[thread] = make_int4(0, 0, 0, 0);
  __syncthreads();
  int* close_of = reinterpret_cast<int*>(closes);
  const Offset* row_begin = row_ptr + piece.row;
  for (int row = thread; row < piece.rows; row += threads) {
    const Offset from = row_begin[row];
    const Offset to = row_begin[row + 1];
    if (to > from) {
      close_of[static_cast<int>(to - static_cast<Offset>(base)) - 1] = row + 1;
    } else {
      y_of_piece[row] = 0;
    }
  }
  four.gather(x);
  __syncthreads();

  // Rows that begin and end in this thread are done; the first one to end may have begun before it.
  int close[VEC];
  unpack(closes[thread], close);
  T sum = 0, head = 0;
  int head_row = 0;
#pragma unroll
  for (int i = 0; i < VEC; ++i) {
    sum += four.product(i);
    if (close[i] != 0) {
      if (head_row == 0) {
        head_row = close[i];
        head = sum;
      } else {
        y_of_piece[close[i] - 1] = sum;
      }
      sum = 0;
    }
  }
  // What the lanes before this one hold of its first row: a scan that starts anew behind each lane in which a row ends.
  const unsigned closing = __ballot_sync(0xffffffffu, head_row != 0);
  const unsigned up_to_here = closing & (0xffffffffu >> (31 - lane));
  const int start = up_to_here == 0 ? 0 : 31 - __clz(static_cast<int>(up_to_here));
  for (int distance = 1; distance < 32; distance *= 2) {
    const T before = __shfl_up_sync(0xffffffffu, sum, distance);
    if (lane - distance >= start) sum += before;
  }
  if (lane == 31) {
    warp_sums[warp] = sum;
    warp_closes[warp] = closing != 0 ? 1 : 0;
  }
  T carried = __shfl_up_sync(0xffffffffu, sum, 1);
  if (lane == 0) carried = 0;
  __syncthreads();
  if (head_row == 0) return;
  if ((closing & ((1u << lane) - 1)) == 0) {  // the row may reach back into the warps before
    for (int w = warp - 1; w >= 0; --w) {
      const T of_warp = warp_sums[w];
      carried += of_warp;
      if (warp_closes[w] != 0) break;
    }
  }
  y_of_piece[head_row - 1] = head + carried;
}

template <class T, class Offset>
void launch_adaptive(const gpuexp::Launch& run) {
  const long long piece = run.param("piece"), threads = piece / VEC, shared_rows = run.value("shared_rows");
  if (piece % (32 * VEC) != 0) return run.unsupported("piece must be a multiple of 128: whole warps scan");
  run({{gpuexp::ceil_div(shared_rows, 256)}, {256}}, spmv_adaptive_clear<T>, run.in<int>("shared_rows"),
      run.out<T>("y"), shared_rows);
  run({{run.value("pieces")}, {threads}, piece * 4}, spmv_adaptive<T, Offset>, run.in<Offset>("pieces"),
      run.in<Offset>("row_ptr"), run.in<int>("col_index"), run.in<T>("data"), run.in<T>("x"), run.out<T>("y"),
      run.value("nnz"));
}

GPUEXP_VARIANT("spmv/adaptive") {
  variant.problem("spmv_adaptive")
      .idea(
          "pieces of whole rows with about equally many nonzeros, cut on the host: balanced without search or atomics")
      .instance(launch_adaptive<float, int>, {{"dtype", "float32"}, {"row_ptr", "int32"}})
      .instance(launch_adaptive<float, long long>, {{"dtype", "float32"}, {"row_ptr", "int64"}})
      .instance(launch_adaptive<double, int>, {{"dtype", "float64"}, {"row_ptr", "int32"}})
      .instance(launch_adaptive<double, long long>, {{"dtype", "float64"}, {"row_ptr", "int64"}});
}
