// What a problem file (kernels/<problem>/problem.cpp) needs: how to say what is computed, its inputs, reference and
// cost.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/params.h"

namespace gpuexp {

enum class DType { float64, float32, float16, bfloat16, int64, int32, uint8 };
std::int64_t size_bytes(DType type);
std::string_view to_text(DType type);
DType dtype_from_text(std::string_view text);  // throws Error(usage) with the accepted names
double round_to(DType type, double value);     // nearest value of `type` (to nearest even), as float64
double unit_roundoff(DType type);              // 2^-24 for float32, 2^-11 float16, 2^-8 bfloat16, 0 for integers

enum class Role { in, out, inout };

// A device buffer of a workload. Elements are numbered 0 .. elements-1.
struct BufferSpec {
  std::string name;  // as kernels ask for it: "A"
  DType dtype = DType::float32;
  std::int64_t elements = 0;
  Role role = Role::in;
};

// The right value of one output element, and what its rounding error scales with.
struct Expected {
  double value = 0;        // float64 reference on the inputs as rounded to their dtype
  double magnitude = 0;    // sum of |terms|
  std::int64_t terms = 1;  // length of the reduction
};

// A check of a whole output at once, in far fewer operations than computing every element anew.
struct WholeCheck {
  std::string method;             // one phrase: "Freivalds' check of all rows (2 random vectors)"
  double max_error = 0;           // largest |difference| / tolerance over what was compared
  std::int64_t first_wrong = -1;  // flat index of the first element of the first part that failed; -1 = passed
};
// Reads elements first .. first+count-1 of the output under check, as float64.
using ElementReader = std::function<void(std::int64_t first, std::int64_t count, double* values)>;

// A problem with its parameters fixed. Inputs are functions of the index, so that a sampled run of a huge problem need
// not fill its buffers. Const methods are called from several threads at once.
class Workload {
 public:
  Workload() = default;
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;
  virtual ~Workload() = default;

  [[nodiscard]] virtual const std::vector<BufferSpec>& buffers() const = 0;
  // Useful floating-point operations (an FMA is 2), exact where a double holds it.
  [[nodiscard]] virtual double flops() const = 0;
  // Value of element i of an `in` or `inout` buffer before the run; already rounded to the buffer's dtype.
  [[nodiscard]] virtual double input(std::size_t buffer, std::int64_t i) const = 0;
  // Right value of element i of an `out` or `inout` buffer after the run. Cost: O(terms), not O(problem).
  [[nodiscard]] virtual Expected expected(std::size_t buffer, std::int64_t i) const = 0;
  // Checks a whole output where expected() for every element would take too long. Nothing when the problem has no such
  // check; then some elements are sampled. NaN anywhere must fail: `!(error <= tolerance)`.
  [[nodiscard]] virtual std::optional<WholeCheck> check_whole(std::size_t /*buffer*/,
                                                              const ElementReader& /*read*/) const {
    return std::nullopt;
  }
  // Bytes any implementation must load and store: by default each in/inout buffer once, each out/inout buffer once.
  [[nodiscard]] virtual std::uint64_t compulsory_load_bytes() const;
  [[nodiscard]] virtual std::uint64_t compulsory_store_bytes() const;
  // Entry `index` of a list that the problem hands to launch functions by name (Launch::value), such as the lanes'
  // offsets of an access pattern. Throws Error(usage) for a name or an index that it does not have: by default, all.
  [[nodiscard]] virtual std::int64_t host_value(std::string_view list, std::int64_t index) const;
  // True when which addresses a kernel touches depends on the values in its input buffers (column indices, row
  // lengths), so that some blocks cannot stand for others: the emulator then runs every block.
  [[nodiscard]] virtual bool data_dependent() const { return false; }
  // True when several threads store to one element on purpose, and always the same value: then it does not matter which
  // store takes effect, and a race of a store with itself is no finding.
  [[nodiscard]] virtual bool equal_stores() const { return false; }
  // What is worth knowing of the generated or read inputs and is no parameter: nnz, row lengths, bytes of a format.
  // Reported with the point; by name, with the unit in the name ("csr_bytes").
  [[nodiscard]] virtual ParamSet facts() const { return {}; }
  // Dtype in which the kernel accumulates: sets the tolerance. Default: float32 unless an output is float64.
  [[nodiscard]] virtual DType accumulator() const;
};

// |got - expected| allowed for one element: (terms + 2) * u(accumulator) * magnitude + u(output) * |expected|.
// Source: the a-priori bound gamma_n of Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1.
double tolerance(const Expected& expected, DType accumulator, DType output);

// Uniform in [-1, 1), a pure function of (seed, stream, index) (splitmix64); `stream` tells buffers apart.
double uniform_input(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

class Problem {
 public:
  Problem() = default;
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;
  virtual ~Problem() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;         // "matmul": the folder
  [[nodiscard]] virtual std::string_view description() const = 0;  // one sentence
  [[nodiscard]] virtual std::vector<ParamSpec> params() const = 0;
  // The points that a complete parameter set stands for, in order: itself, unless a parameter names several cases (the
  // rows of a file). Throws Error(usage) when it names none.
  [[nodiscard]] virtual std::vector<ParamSet> expand(const ParamSet& params) const { return {params}; }
  // Throws Error(usage) naming the parameter when the values do not fit together (sizes overflow 2^63 bytes, ...).
  [[nodiscard]] virtual std::unique_ptr<Workload> make(const ParamSet& params, std::uint64_t seed) const = 0;
};

// Registers a problem at static initialisation: `static const RegisterProblem<Matmul> registered;` in its file.
void register_problem(std::unique_ptr<Problem> problem);
template <class P>
struct RegisterProblem {
  RegisterProblem() { register_problem(std::make_unique<P>()); }
};

}  // namespace gpuexp
