// The wrappers for cuBLAS against the column-major reference, to the bit: small whole numbers, whose products and sums
// float32, TF32 and bfloat16 hold exactly.
#include <cuda_runtime_api.h>

#include <array>
#include <cstring>
#include <vector>

#include "profiler/backend/cuda/gpu/cublas.h"
#include "profiler/core/error.h"
#include "tests/blas/reference_blas.h"
#include "tests/gpu/gpu_fixture.h"

// The wrappers name Launch, which is needed whole outside a kernel file.
#define GPUEXP_SIMT 1
#include "kernels/cublas.h"

namespace gpuexp {
namespace {

using blas::Matrix;
using blas::Op;
using blas::Order;
using cublas::Math;

template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values) : count_(values.size()) {
    EXPECT_EQ(cudaMalloc(&data_, count_ * sizeof(T)), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  }
  ~OnDevice() { cudaFree(data_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  [[nodiscard]] T* data() const { return static_cast<T*>(data_); }
  [[nodiscard]] std::vector<T> values() const {
    std::vector<T> copy(count_);
    EXPECT_EQ(cudaMemcpy(copy.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    return copy;
  }

 private:
  std::size_t count_;
  void* data_ = nullptr;
};

std::vector<float> numbers(std::int64_t count, int seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * 37 + static_cast<std::size_t>(seed) * 101) % 53) - 26;
  return values;
}

// bfloat16 is the upper half of a float32; exact for these numbers.
std::vector<std::uint16_t> upper_halves(const std::vector<float>& values) {
  std::vector<std::uint16_t> halves;
  for (const float value : values) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    halves.push_back(static_cast<std::uint16_t>(bits >> 16U));
  }
  return halves;
}

// A part of a larger matrix, with gaps on all sides, and the elements of that one.
Matrix inner(Order order, std::int64_t rows, std::int64_t cols) {
  const Matrix whole =
      order == Order::row_major ? blas::row_major(rows + 3, cols + 5) : blas::column_major(rows + 3, cols + 5);
  return blas::part(whole, 1, 2, rows, cols);
}
std::int64_t storage_of(std::int64_t rows, std::int64_t cols) { return (rows + 3) * (cols + 5); }

class Blas : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    handle_ = std::make_unique<cuda::CublasHandle>(nullptr);
  }
  [[nodiscard]] cublasHandle_t handle() const { return static_cast<cublasHandle_t>(handle_->get()); }

 private:
  std::unique_ptr<cuda::CublasHandle> handle_;
};

TEST_F(Blas, ProductsOfEveryOpOrderAndPrecision) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{4, 6, 3}, {1, 5, 7}, {130, 67, 257}}) {
    for (int bits = 0; bits < 32; ++bits) {
      const auto order = [&](int bit) { return (bits >> bit & 1) != 0 ? Order::column_major : Order::row_major; };
      const auto op = [&](int bit) { return (bits >> bit & 1) != 0 ? Op::transpose : Op::none; };
      const Op op_a = op(3), op_b = op(4);
      const Matrix a = op_a == Op::none ? inner(order(0), m, k) : inner(order(0), k, m);
      const Matrix b = op_b == Op::none ? inner(order(1), k, n) : inner(order(1), n, k);
      const Matrix c = inner(order(2), m, n);
      const std::vector<float> host_a = numbers(storage_of(a.rows, a.cols), 1),
                               host_b = numbers(storage_of(b.rows, b.cols), 2), before = numbers(storage_of(m, n), 3);
      const blas::GemmCall call = blas::gemm_call(op_a, a, op_b, b, c);
      std::vector<float> wanted = before;
      reference::gemm(call, 2, host_a.data(), host_b.data(), -3, wanted.data());
      const OnDevice<float> device_a(host_a), device_b(host_b);
      const OnDevice<std::uint16_t> half_a(upper_halves(host_a)), half_b(upper_halves(host_b));
      for (const Math math : {Math::float32, Math::tf32, Math::bfloat16}) {
        const bool half = math == Math::bfloat16;
        const OnDevice<float> device_c(before);
        ASSERT_EQ(
            cublas::gemm(handle(), math, call, 2, half ? static_cast<const void*>(half_a.data()) : device_a.data(),
                         half ? static_cast<const void*>(half_b.data()) : device_b.data(), -3, device_c.data()),
            CUBLAS_STATUS_SUCCESS);
        EXPECT_EQ(device_c.values(), wanted)
            << "sizes " << m << " " << n << " " << k << ", case " << bits << ", math " << static_cast<int>(math);
      }
    }
  }
}

TEST_F(Blas, MatrixTimesVectorOfEveryOpOrderAndIncrement) {
  for (const Op op : {Op::none, Op::transpose})
    for (const Order order : {Order::row_major, Order::column_major})
      for (const std::int64_t incx : {1, 2, -3})
        for (const std::int64_t incy : {1, 3, -2}) {
          const Matrix a = inner(order, 70, 33);
          const std::int64_t rows = op == Op::none ? 70 : 33, terms = op == Op::none ? 33 : 70;
          const blas::GemvCall call = blas::gemv_call(op, a, {terms, incx, 5}, {rows, incy, 7});
          const std::vector<float> host_a = numbers(storage_of(70, 33), 1), x = numbers(250, 2),
                                   before = numbers(250, 3);
          std::vector<float> wanted = before;
          reference::gemv(call, 2, host_a.data(), x.data(), 5, wanted.data());
          const OnDevice<float> device_a(host_a), device_x(x), device_y(before);
          ASSERT_EQ(cublas::gemv(handle(), call, 2, device_a.data(), device_x.data(), 5, device_y.data()),
                    CUBLAS_STATUS_SUCCESS);
          EXPECT_EQ(device_y.values(), wanted) << "increments " << incx << " " << incy;
        }
}

TEST_F(Blas, DotProductsWithIncrements) {
  const std::vector<float> x = numbers(300, 1), y = numbers(300, 2);
  const OnDevice<float> device_x(x), device_y(y);
  for (const std::int64_t incx : {1, 2, -3})
    for (const std::int64_t incy : {1, -2}) {
      const blas::DotCall call = blas::dot_call({97, incx, 4}, {97, incy, 1});
      float result = -1;
      ASSERT_EQ(cublas::dot(handle(), call, device_x.data(), device_y.data(), &result), CUBLAS_STATUS_SUCCESS);
      EXPECT_EQ(result, static_cast<float>(reference::dot(call, x.data(), y.data()))) << incx << " " << incy;
    }
}

// The refusal comes before the call: there is not even a library behind this handle.
TEST_F(Blas, AWrongLeadingDimensionNeverReachesTheLibrary) {
  blas::GemmCall call =
      blas::gemm_call(Op::none, blas::row_major(4, 3), Op::none, blas::row_major(3, 5), blas::row_major(4, 5));
  call.ldc = 4;
  try {
    (void)cublas::gemm(nullptr, Math::float32, call, 1, nullptr, nullptr, 0, nullptr);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("ldc = 4"), std::string::npos) << error.what();
  }
}

// The variants that use them, on a rectangle: a swapped size would show.
TEST_F(Blas, RowsOneByOneAreTheProduct) {
  for (const char* variant : {"matmul/rows_cublas_sgemv", "matmul/rows_gemv", "matmul/cublas_sgemm"}) {
    ParamSet sizes;
    sizes.set("m", std::int64_t{65});
    sizes.set("n", std::int64_t{19});
    sizes.set("k", std::int64_t{130});
    const PointResult result = backend().run(point(variant, sizes), quick());
    EXPECT_EQ(result.status, Status::ok) << variant << ": " << result.reason;
    EXPECT_EQ(result.verification.state, Verification::State::passed) << variant;
  }
}

}  // namespace
}  // namespace gpuexp
