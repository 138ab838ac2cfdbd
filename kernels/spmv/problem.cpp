// The problem spmv: y = A x for a sparse matrix A, read from a Matrix Market file or generated; float32 or float64.
//
// One matrix, six ways to store it: spmv (CSR), spmv_binned (CSR with its rows grouped by length), spmv_adaptive (CSR
// with its rows cut into pieces), spmv_ell, spmv_sell (sliced ELL) and spmv_coo are the same problem with other
// buffers. All take the same parameters, have the same reference, and count CSR's bytes as compulsory, so that formats
// can be compared; what a format takes itself is among the facts. Grouping, cutting, padding and slicing are
// preprocessing on the host: no kernel is charged for them.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "kernels/problem.h"
#include "profiler/core/embedded.h"
#include "profiler/core/error.h"
#include "profiler/core/nearest.h"
#include "profiler/matrix/generators.h"
#include "profiler/matrix/matrix_market.h"
#include "profiler/matrix/sparse.h"

namespace gpuexp {
namespace {

// ---- where the matrix comes from ----

struct Shape {
  std::int64_t rows, cols;
};

// A generator (profiler/matrix/generators.h) and the parameters that it reads; the others of a point are set to 0, so
// that they tell no points apart.
struct Generator {
  const char* name;
  std::vector<std::string> uses;
  std::function<Shape(const ParamSet&)> shape;
  std::function<double(const ParamSet&)> nonzeros;  // about how many, for the memory check
  std::function<Csr(const ParamSet&, std::uint64_t seed)> make;
};

double real_size(const ParamSet& p, const char* name) { return static_cast<double>(p.integer(name)); }
Shape given_shape(const ParamSet& p) { return {p.integer("rows"), p.integer("cols")}; }
double per_row_nonzeros(const ParamSet& p) { return real_size(p, "rows") * real_size(p, "nnz_per_row"); }
double powered(std::int64_t base, int exponent) { return std::pow(static_cast<double>(base), exponent); }

// side^dimensions points, refused when the columns would not fit 32 bits.
Shape grid_shape(const ParamSet& p, int dimensions) {
  const double points = powered(p.integer("side"), dimensions);
  if (points > static_cast<double>(max_extent)) {
    throw Error(ExitCode::usage,
                fmt::format("spmv: parameter side={}: {} dimensions make more than the {} rows supported",
                            p.integer("side"), dimensions, max_extent));
  }
  return {static_cast<std::int64_t>(points), static_cast<std::int64_t>(points)};
}

const std::vector<Generator>& generators() {
  static const std::vector<Generator> all{
      {"uniform",
       {"rows", "cols", "density"},
       given_shape,
       [](const ParamSet& p) { return real_size(p, "rows") * real_size(p, "cols") * p.real("density"); },
       [](const ParamSet& p, std::uint64_t seed) {
         return uniform_matrix(p.integer("rows"), p.integer("cols"), p.real("density"), seed);
       }},
      {"fixed",
       {"rows", "cols", "nnz_per_row"},
       given_shape,
       per_row_nonzeros,
       [](const ParamSet& p, std::uint64_t seed) {
         return fixed_matrix(p.integer("rows"), p.integer("cols"), p.integer("nnz_per_row"), seed);
       }},
      {"banded",
       {"rows", "cols", "bandwidth"},
       given_shape,
       [](const ParamSet& p) { return real_size(p, "rows") * (2 * real_size(p, "bandwidth") + 1); },
       [](const ParamSet& p, std::uint64_t seed) {
         return banded_matrix(p.integer("rows"), p.integer("cols"), p.integer("bandwidth"), seed);
       }},
      {"powerlaw",
       {"rows", "cols", "nnz_per_row", "exponent"},
       given_shape,
       per_row_nonzeros,
       [](const ParamSet& p, std::uint64_t seed) {
         return power_law_matrix(p.integer("rows"), p.integer("cols"), p.integer("nnz_per_row"), p.real("exponent"),
                                 seed);
       }},
      {"long_rows",
       {"rows", "cols", "nnz_per_row", "long_row", "every"},
       given_shape,
       [](const ParamSet& p) {
         return per_row_nonzeros(p) +
                real_size(p, "rows") / real_size(p, "every") * std::min(real_size(p, "cols"), real_size(p, "long_row"));
       },
       [](const ParamSet& p, std::uint64_t seed) {
         return long_rows_matrix(p.integer("rows"), p.integer("cols"), p.integer("nnz_per_row"), p.integer("long_row"),
                                 p.integer("every"), seed);
       }},
      {"one_dense_row",
       {"rows", "cols", "nnz_per_row"},
       given_shape,
       [](const ParamSet& p) { return per_row_nonzeros(p) + real_size(p, "cols"); },
       [](const ParamSet& p, std::uint64_t seed) {
         return one_dense_row_matrix(p.integer("rows"), p.integer("cols"), p.integer("nnz_per_row"), seed);
       }},
      {"poisson2d",
       {"side"},
       [](const ParamSet& p) { return grid_shape(p, 2); },
       [](const ParamSet& p) { return 5 * powered(p.integer("side"), 2); },
       [](const ParamSet& p, std::uint64_t) { return poisson2d_matrix(p.integer("side")); }},
      {"poisson3d",
       {"side"},
       [](const ParamSet& p) { return grid_shape(p, 3); },
       [](const ParamSet& p) { return 7 * powered(p.integer("side"), 3); },
       [](const ParamSet& p, std::uint64_t) { return poisson3d_matrix(p.integer("side")); }},
  };
  return all;
}

const Generator* find_generator(const std::string& name) {
  const auto& all = generators();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Generator& g) { return g.name == name; });
  return found == all.end() ? nullptr : &*found;
}

// The parameters that generators read, set to 0 where the matrix in hand does not read them.
const std::vector<std::string>& generator_params() {
  static const std::vector<std::string> names{"rows",     "cols", "nnz_per_row", "density", "bandwidth",
                                              "exponent", "side", "long_row",    "every"};
  return names;
}

bool is_path(const std::string& name) {
  return std::filesystem::exists(name) || name.find('/') != std::string::npos || name.ends_with(".mtx");
}

// A file's text in the binary, or Error naming generators, shipped matrices and paths.
std::string_view shipped_matrix(const std::string& name) {
  std::vector<std::string> accepted;
  for (const Generator& generator : generators()) accepted.emplace_back(generator.name);
  for (const EmbeddedFile& file : embedded_matrices()) {
    if (file.name == name) return file.text;
    accepted.emplace_back(file.name);
  }
  throw Error(
      ExitCode::usage,
      fmt::format("parameter matrix of spmv: unknown matrix '{}'; give the path of a Matrix Market file, or one "
                  "of {}{}",
                  name, list_names(accepted), did_you_mean(name, accepted)));
}

// Time and memory go with rows and columns too, even where they are empty.
void refuse_emptiness(double rows, double cols, double nonzeros, const std::string& what) {
  constexpr double free_extent = 1 << 28, per_nonzero = 16;
  if (rows + cols <= free_extent + per_nonzero * nonzeros) return;
  throw Error(ExitCode::usage, fmt::format("{} of {:.0f} x {:.0f} has about {:.0f} nonzeros: rows and columns together "
                                           "may be at most {:.0f}, and {:.0f} more "
                                           "for each nonzero; leave out empty ones",
                                           what, rows, cols, nonzeros, free_extent, per_nonzero));
}

Csr file_matrix(const std::string& name) {
  const Coo entries =
      is_path(name) ? read_matrix_market(name) : parse_matrix_market(shipped_matrix(name), name + " (shipped)");
  const std::string what = fmt::format("spmv: matrix {}", name);
  const auto rows = static_cast<double>(entries.rows), cols = static_cast<double>(entries.cols);
  const auto nonzeros = static_cast<double>(entries.nnz());
  refuse_emptiness(rows, cols, nonzeros, what);
  require_host_memory(24.0 * rows + 8.0 * cols + 32.0 * nonzeros, what);  // while it is sorted into rows
  return to_csr(entries);
}

Csr generated_matrix(const Generator& generator, const ParamSet& params, std::uint64_t seed) {
  const Shape shape = generator.shape(params);
  refuse_emptiness(static_cast<double>(shape.rows), static_cast<double>(shape.cols), generator.nonzeros(params),
                   fmt::format("spmv: matrix {}", generator.name));
  const double bytes = 12.0 * generator.nonzeros(params) + 8.0 * static_cast<double>(shape.rows + shape.cols);
  require_host_memory(2 * bytes, fmt::format("spmv: matrix {} of {} x {}", generator.name, shape.rows, shape.cols));
  return generator.make(params, seed);
}

// Checks what ranges alone cannot.
void check_generator(const Generator& generator, const ParamSet& params) {
  const auto uses = [&](const char* name) {
    return std::find(generator.uses.begin(), generator.uses.end(), name) != generator.uses.end();
  };
  if (const double density = params.real("density"); uses("density") && !(density >= 0.0 && density <= 1.0)) {
    throw Error(ExitCode::usage, fmt::format("spmv: parameter density={} is outside 0..1", density));
  }
  if (const double exponent = params.real("exponent"); uses("exponent") && !(exponent >= 0.0 && exponent <= 10.0)) {
    throw Error(ExitCode::usage, fmt::format("spmv: parameter exponent={} is outside 0..10", exponent));
  }
  // Clamping would give a matrix other than the point's key and table say.
  if (uses("nnz_per_row") && params.integer("nnz_per_row") > params.integer("cols")) {
    throw Error(ExitCode::usage, fmt::format("spmv: parameter nnz_per_row={} is more than a row of cols={} has; "
                                             "accepted: 0 to {} with matrix={}",
                                             params.integer("nnz_per_row"), params.integer("cols"),
                                             params.integer("cols"), generator.name));
  }
  if (uses("every") && params.integer("every") < 1) {
    throw Error(ExitCode::usage, fmt::format("spmv: parameter every={} must be 1 or more", params.integer("every")));
  }
}

// ---- one matrix for all points that have the same ----

struct Matrix {
  Csr csr;
  RowLengths lengths;
  std::int64_t used_columns = 0;
};

// Identifies a matrix: its parameters and, of a file, the time and size that it had.
std::string matrix_key(const ParamSet& params, std::uint64_t seed) {
  const std::string& name = params.word("matrix");
  std::string key = name;
  if (const Generator* generator = find_generator(name)) {
    for (const std::string& used : generator->uses) key += fmt::format(" {}", to_text(*params.find(used)));
    return fmt::format("{} seed {}", key, seed);
  }
  struct stat info = {};
  if (is_path(name) && stat(name.c_str(), &info) == 0) {
    key += fmt::format(" {} {}.{}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  }
  return key;
}

// Matrices in use, and the last one asked for, so that a sweep over variants reads or generates each matrix once.
std::shared_ptr<const Matrix> matrix_of(const ParamSet& params, std::uint64_t seed) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const Matrix>> known;
  static std::shared_ptr<const Matrix> last;
  const std::string key = matrix_key(params, seed);
  const std::lock_guard lock(mutex);
  if (std::shared_ptr<const Matrix> matrix = known[key].lock()) return last = matrix;
  last.reset();  // before the next one takes memory
  auto matrix = std::make_shared<Matrix>();
  const Generator* generator = find_generator(params.word("matrix"));
  matrix->csr = generator ? generated_matrix(*generator, params, seed) : file_matrix(params.word("matrix"));
  matrix->lengths = row_lengths(matrix->csr);
  matrix->used_columns = used_columns(matrix->csr);
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  known[key] = matrix;
  return last = matrix;
}

// ---- workloads ----

enum class Content { random, index, ones };  // of x

// What all formats share: x, y, the reference and the figures. Formats add buffers before x and y.
class SpmvWorkload : public Workload {
 public:
  SpmvWorkload(std::shared_ptr<const Matrix> matrix, const ParamSet& params, std::uint64_t seed)
      : matrix_(std::move(matrix)),
        dtype_(dtype_from_text(params.word("dtype"))),
        pointer_(dtype_from_text(params.word("row_ptr"))),
        content_(params.word("x") == "index"  ? Content::index
                 : params.word("x") == "ones" ? Content::ones
                                              : Content::random),
        seed_(seed) {
    check_values();
  }

  [[nodiscard]] const std::vector<BufferSpec>& buffers() const final { return buffers_; }
  [[nodiscard]] double flops() const final { return 2.0 * static_cast<double>(csr().nnz()); }
  [[nodiscard]] bool data_dependent() const final { return true; }

  [[nodiscard]] double input(std::size_t buffer, std::int64_t i) const final {
    return buffer == x_index_ ? x(i) : format_input(buffer, i);
  }

  [[nodiscard]] Expected expected(std::size_t /*buffer*/, std::int64_t row) const final {
    Expected sum;
    sum.terms = csr().length(row);
    for (std::int64_t i = csr().row_ptr[row]; i < csr().row_ptr[row + 1]; ++i) {
      const double term = value(i) * x(csr().col[i]);
      sum.value += term;
      sum.magnitude += std::abs(term);
    }
    return sum;
  }

  // CSR's arrays once, and the elements of x that some row uses: the same for every format.
  [[nodiscard]] std::uint64_t compulsory_load_bytes() const final {
    return static_cast<std::uint64_t>(csr_size()) +
           static_cast<std::uint64_t>(matrix_->used_columns * size_bytes(dtype_));
  }

  [[nodiscard]] std::int64_t host_value(std::string_view list, std::int64_t index) const override {
    return list == "nnz" ? csr().nnz() : Workload::host_value(list, index);
  }

  [[nodiscard]] ParamSet facts() const final {
    ParamSet facts;
    const RowLengths& lengths = matrix_->lengths;
    facts.set("rows", csr().rows);
    facts.set("cols", csr().cols);
    facts.set("nnz", csr().nnz());
    facts.set("density", places() > 0 ? static_cast<double>(csr().nnz()) / places() : 0.0);
    facts.set("row_length_min", lengths.shortest);
    facts.set("row_length_median", lengths.median);
    facts.set("row_length_mean", lengths.mean);
    facts.set("row_length_max", lengths.longest);
    facts.set("row_length_deviation", lengths.deviation);
    facts.set("empty_rows", lengths.empty);
    facts.set("csr_bytes", static_cast<std::int64_t>(csr_size()));
    facts.set("dense_bytes", places() * static_cast<double>(size_bytes(dtype_)));
    std::int64_t stored = 0;
    for (const BufferSpec& buffer : buffers_) {
      if (buffer.name != "x" && buffer.name != "y") stored += buffer.elements * size_bytes(buffer.dtype);
    }
    facts.set("format_bytes", stored);
    return facts;
  }

 protected:
  [[nodiscard]] const Csr& csr() const { return matrix_->csr; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] DType pointer() const { return pointer_; }
  [[nodiscard]] double value(std::int64_t i) const { return round_to(dtype_, csr().value[i]); }

  // Called by each format's constructor: its own buffers, then x and y.
  void set_buffers(std::vector<BufferSpec> format) {
    buffers_ = std::move(format);
    x_index_ = buffers_.size();
    buffers_.push_back({"x", dtype_, csr().cols, Role::in});
    buffers_.push_back({"y", dtype_, csr().rows, Role::out});
  }
  // Element i of one of the format's buffers.
  [[nodiscard]] virtual double format_input(std::size_t buffer, std::int64_t i) const = 0;

 private:
  [[nodiscard]] double x(std::int64_t i) const {
    if (content_ == Content::ones) return 1.0;
    const double v = content_ == Content::index ? static_cast<double>(i + 1)
                                                : uniform_input(seed_, 0, static_cast<std::uint64_t>(i));
    return round_to(dtype_, v);
  }
  [[nodiscard]] double places() const { return static_cast<double>(csr().rows) * static_cast<double>(csr().cols); }
  [[nodiscard]] double csr_size() const {
    return csr_bytes(static_cast<double>(csr().rows), static_cast<double>(csr().nnz()),
                     static_cast<double>(size_bytes(dtype_)), 4.0, static_cast<double>(size_bytes(pointer_)));
  }

  // A float64 of a file may not fit float32, and its nonzeros may be more than 32-bit offsets reach.
  void check_values() const {
    const auto& values = csr().value;
    const auto beyond =
        std::find_if(values.begin(), values.end(), [&](double v) { return !std::isfinite(round_to(dtype_, v)); });
    if (beyond != values.end()) {
      throw Error(ExitCode::usage,
                  fmt::format("spmv: the matrix holds {}, beyond {}; use dtype=float64", *beyond, to_text(dtype_)));
    }
    if (pointer_ == DType::int32 && csr().nnz() > INT32_MAX) {
      throw Error(ExitCode::usage,
                  fmt::format("spmv: {} nonzeros are more than 32-bit offsets reach; use row_ptr=int64", csr().nnz()));
    }
  }

  std::shared_ptr<const Matrix> matrix_;
  DType dtype_, pointer_;
  Content content_;
  std::uint64_t seed_;
  std::vector<BufferSpec> buffers_;
  std::size_t x_index_ = 0;
};

class CsrWorkload : public SpmvWorkload {
 public:
  CsrWorkload(const std::shared_ptr<const Matrix>& matrix, const ParamSet& params, std::uint64_t seed)
      : SpmvWorkload(matrix, params, seed) {
    set_buffers(csr_buffers());
  }

 protected:
  [[nodiscard]] std::vector<BufferSpec> csr_buffers() const {
    return {{"row_ptr", pointer(), csr().rows + 1, Role::in},
            {"col_index", DType::int32, csr().nnz(), Role::in},
            {"data", dtype(), csr().nnz(), Role::in}};
  }
  [[nodiscard]] double format_input(std::size_t buffer, std::int64_t i) const override {
    if (buffer == 0) return static_cast<double>(csr().row_ptr[i]);
    return buffer == 1 ? csr().col[i] : value(i);
  }
};

// CSR and its rows grouped by length. Launch functions ask for bin_begin: where each bin starts in `rows`, and the end.
class BinnedWorkload final : public CsrWorkload {
 public:
  BinnedWorkload(const std::shared_ptr<const Matrix>& matrix, const ParamSet& params, std::uint64_t seed)
      : CsrWorkload(matrix, params, seed), bins_(bin_rows(csr(), {1, 4, 8, 16, 32, 64, 1024})) {
    std::vector<BufferSpec> buffers = csr_buffers();
    buffers.push_back({"rows", DType::int32, csr().rows, Role::in});
    set_buffers(std::move(buffers));
  }
  [[nodiscard]] std::int64_t host_value(std::string_view list, std::int64_t index) const override {
    if (list == "bin_begin" && index >= 0 && index < static_cast<std::int64_t>(bins_.begin.size())) {
      return bins_.begin[index];
    }
    return CsrWorkload::host_value(list, index);
  }

 protected:
  [[nodiscard]] double format_input(std::size_t buffer, std::int64_t i) const override {
    return buffer == 3 ? bins_.rows[i] : CsrWorkload::format_input(buffer, i);
  }

 private:
  RowBins bins_;
};

// CSR and its rows cut into pieces of about equally many nonzeros, one per block, as kernels/spmv/adaptive.cu takes
// them: four offsets a piece. Launch functions ask for `pieces` and for `shared_rows`, how many rows pieces share.
class AdaptiveWorkload final : public CsrWorkload {
 public:
  AdaptiveWorkload(const std::shared_ptr<const Matrix>& matrix, const ParamSet& params, std::uint64_t seed)
      : CsrWorkload(matrix, params, seed),
        cut_(cut_rows(csr(), params.integer("piece"), params.integer("split") * params.integer("piece"))) {
    std::vector<BufferSpec> buffers = csr_buffers();
    buffers.push_back({"pieces", pointer(), 4 * pieces(), Role::in});
    buffers.push_back({"shared_rows", DType::int32, shared_rows(), Role::in});
    set_buffers(std::move(buffers));
  }
  [[nodiscard]] std::int64_t host_value(std::string_view list, std::int64_t index) const override {
    if (list == "pieces") return pieces();
    return list == "shared_rows" ? shared_rows() : CsrWorkload::host_value(list, index);
  }

 protected:
  [[nodiscard]] double format_input(std::size_t buffer, std::int64_t i) const override {
    if (buffer == 3) {
      const RowPiece& piece = cut_.pieces[i / 4];
      const std::array<std::int64_t, 4> offsets{piece.row, piece.rows, piece.begin, piece.end};
      return static_cast<double>(offsets[i % 4]);
    }
    return buffer == 4 ? cut_.shared[i] : CsrWorkload::format_input(buffer, i);
  }

 private:
  [[nodiscard]] std::int64_t pieces() const { return static_cast<std::int64_t>(cut_.pieces.size()); }
  [[nodiscard]] std::int64_t shared_rows() const { return static_cast<std::int64_t>(cut_.shared.size()); }

  RowPieces cut_;
};

class EllWorkload final : public SpmvWorkload {
 public:
  EllWorkload(const std::shared_ptr<const Matrix>& matrix, const ParamSet& params, std::uint64_t seed)
      : SpmvWorkload(matrix, params, seed) {
    const double bytes = ell_elements(csr()) * 12.0;
    require_host_memory(2 * bytes, fmt::format("spmv: ELL pads all {} rows to the longest one's {} nonzeros (the mean "
                                               "is {:.1f}; use spmv/sell or CSR): it",
                                               csr().rows, matrix->lengths.longest, matrix->lengths.mean));
    ell_ = to_ell(csr());
    const auto elements = static_cast<std::int64_t>(ell_.col.size());
    set_buffers({{"col_index", DType::int32, elements, Role::in}, {"data", dtype(), elements, Role::in}});
  }
  [[nodiscard]] std::int64_t host_value(std::string_view list, std::int64_t index) const override {
    return list == "width" ? ell_.width : SpmvWorkload::host_value(list, index);
  }

 protected:
  [[nodiscard]] double format_input(std::size_t buffer, std::int64_t i) const override {
    return buffer == 0 ? ell_.col[i] : round_to(dtype(), ell_.value[i]);
  }

 private:
  Ell ell_;
};

class SellWorkload final : public SpmvWorkload {
 public:
  static constexpr std::int64_t height = 32;  // one warp's rows, as kernels/spmv/sell.cu takes them

  SellWorkload(const std::shared_ptr<const Matrix>& matrix, const ParamSet& params, std::uint64_t seed)
      : SpmvWorkload(matrix, params, seed) {
    sell_ = to_sliced_ell(csr(), height, params.integer("window"));
    const auto elements = static_cast<std::int64_t>(sell_.col.size());
    set_buffers({{"slice_ptr", DType::int64, sell_.slices() + 1, Role::in},
                 {"rows", DType::int32, static_cast<std::int64_t>(sell_.row_of.size()), Role::in},
                 {"col_index", DType::int32, elements, Role::in},
                 {"data", dtype(), elements, Role::in}});
  }

 protected:
  [[nodiscard]] double format_input(std::size_t buffer, std::int64_t i) const override {
    if (buffer == 0) return static_cast<double>(sell_.slice_ptr[i]);
    if (buffer == 1) return sell_.row_of[i];
    return buffer == 2 ? sell_.col[i] : round_to(dtype(), sell_.value[i]);
  }

 private:
  SlicedEll sell_;
};

class CooWorkload final : public SpmvWorkload {
 public:
  CooWorkload(const std::shared_ptr<const Matrix>& matrix, const ParamSet& params, std::uint64_t seed)
      : SpmvWorkload(matrix, params, seed), row_(to_coo(csr()).row) {
    set_buffers({{"row_index", DType::int32, csr().nnz(), Role::in},
                 {"col_index", DType::int32, csr().nnz(), Role::in},
                 {"data", dtype(), csr().nnz(), Role::in}});
  }

 protected:
  [[nodiscard]] double format_input(std::size_t buffer, std::int64_t i) const override {
    if (buffer == 0) return row_[i];
    return buffer == 1 ? csr().col[i] : value(i);
  }

 private:
  std::vector<std::int32_t> row_;
};

// ---- problems ----

std::vector<ParamSpec> matrix_params() {
  std::string names;
  for (const Generator& generator : generators())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", generator.name);
  return {{"matrix",
           "path of a Matrix Market file, a shipped one (lecture4x4, ...) or a generator: " + names,
           std::string("uniform"),
           "",
           0,
           0,
           {}},
          {"rows", "rows of a generated matrix", std::int64_t{4096}, "", 0, max_extent, {}},
          {"cols", "columns of a generated matrix", std::int64_t{0}, "rows", 0, max_extent, {}},
          {"density", "share of nonzeros (uniform)", 0.01, "", 0, 0, {}},
          {"nnz_per_row",
           "nonzeros of a row (fixed, powerlaw: the mean, long_rows, one_dense_row)",
           std::int64_t{32},
           "",
           0,
           max_extent,
           {}},
          {"bandwidth", "diagonals on either side of the main one (banded)", std::int64_t{8}, "", 0, max_extent, {}},
          {"exponent", "how fast row lengths fall off (powerlaw)", 1.0, "", 0, 0, {}},
          {"side", "grid points along each side (poisson2d, poisson3d)", std::int64_t{64}, "", 0, max_extent, {}},
          {"long_row", "nonzeros of a long row (long_rows)", std::int64_t{310}, "", 0, max_extent, {}},
          {"every", "one row in so many is long (long_rows)", std::int64_t{32}, "", 0, max_extent, {}},
          {"x",
           "elements of x",
           std::string("random"),
           "",
           0,
           0,
           {{"random", "uniform in [-1, 1)"}, {"index", "1, 2, 3, ..."}, {"ones", "1"}}},
          {"dtype",
           "element type of A, x and y",
           std::string("float32"),
           "",
           0,
           0,
           {{"float32", "4 bytes"}, {"float64", "8 bytes"}}},
          {"row_ptr",
           "type of CSR's row offsets",
           std::string("int32"),
           "",
           0,
           0,
           {{"int32", "up to 2^31 - 1 nonzeros"}, {"int64", "any number of nonzeros"}}}};
}

// What the matrix does not read is 0, and rows and cols are what it really has.
ParamSet normalised(const ParamSet& params) {
  ParamSet point = params;
  const std::string& name = params.word("matrix");
  const Generator* generator = find_generator(name);
  if (generator) check_generator(*generator, params);
  for (const std::string& parameter : generator_params()) {
    const bool used =
        generator && std::find(generator->uses.begin(), generator->uses.end(), parameter) != generator->uses.end();
    if (used) continue;
    point.set(parameter,
              std::holds_alternative<double>(*params.find(parameter)) ? ParamValue(0.0) : ParamValue(std::int64_t{0}));
  }
  Shape shape{};
  if (generator) {
    shape = generator->shape(params);
  } else {
    const auto matrix = matrix_of(params, 0);
    shape = {matrix->csr.rows, matrix->csr.cols};
  }
  point.set("rows", shape.rows);
  point.set("cols", shape.cols);
  return point;
}

template <class Format>
class SpmvProblem : public Problem {
 public:
  SpmvProblem(const char* name, const char* description) : name_(name), description_(description) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string_view description() const override { return description_; }
  [[nodiscard]] std::vector<ParamSpec> params() const override { return matrix_params(); }
  [[nodiscard]] std::vector<ParamSet> expand(const ParamSet& params) const override { return {normalised(params)}; }
  [[nodiscard]] std::unique_ptr<Workload> make(const ParamSet& params, std::uint64_t seed) const override {
    if (const Generator* generator = find_generator(params.word("matrix"))) check_generator(*generator, params);
    return std::make_unique<Format>(matrix_of(params, seed), params, seed);
  }

 private:
  const char* name_;
  const char* description_;
};

struct Spmv final : SpmvProblem<CsrWorkload> {
  Spmv() : SpmvProblem("spmv", "y = A x for a sparse matrix A in CSR") {}
};
struct SpmvBinned final : SpmvProblem<BinnedWorkload> {
  SpmvBinned() : SpmvProblem("spmv_binned", "y = A x for a sparse matrix A in CSR with its rows grouped by length") {}
};
struct SpmvAdaptive final : SpmvProblem<AdaptiveWorkload> {
  SpmvAdaptive()
      : SpmvProblem("spmv_adaptive", "y = A x for a sparse matrix A in CSR with its rows cut into pieces for a block") {
  }
  [[nodiscard]] std::vector<ParamSpec> params() const override {
    std::vector<ParamSpec> specs = SpmvProblem::params();
    specs.push_back({"piece",
                     "nonzeros and rows of a piece at most, a multiple of 128 (4 per thread)",
                     std::int64_t{2048},
                     "",
                     128,
                     4096,
                     {}});
    specs.push_back(
        {"split", "a row of more than so many pieces is shared by blocks", std::int64_t{8}, "", 1, 1024, {}});
    return specs;
  }
};
struct SpmvEll final : SpmvProblem<EllWorkload> {
  SpmvEll() : SpmvProblem("spmv_ell", "y = A x for a sparse matrix A in ELL: every row padded to the longest") {}
};
struct SpmvSell final : SpmvProblem<SellWorkload> {
  SpmvSell()
      : SpmvProblem("spmv_sell", "y = A x for a sparse matrix A in sliced ELL: 32 rows padded to their longest") {}
  [[nodiscard]] std::vector<ParamSpec> params() const override {
    std::vector<ParamSpec> specs = SpmvProblem::params();
    specs.push_back({"window",
                     "rows are sorted by length within windows of so many; 1 keeps their order",
                     std::int64_t{1024},
                     "",
                     1,
                     max_extent,
                     {}});
    return specs;
  }
};
struct SpmvCoo final : SpmvProblem<CooWorkload> {
  SpmvCoo() : SpmvProblem("spmv_coo", "y = A x for a sparse matrix A as a list of coordinates") {}
};

const RegisterProblem<Spmv> registered_spmv;
const RegisterProblem<SpmvBinned> registered_binned;
const RegisterProblem<SpmvAdaptive> registered_adaptive;
const RegisterProblem<SpmvEll> registered_ell;
const RegisterProblem<SpmvSell> registered_sell;
const RegisterProblem<SpmvCoo> registered_coo;

}  // namespace
}  // namespace gpuexp
