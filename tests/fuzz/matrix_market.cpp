// libFuzzer target: whatever the bytes, the Matrix Market reader returns a matrix that holds together, or refuses with
// an Error of the form "file:line: ...". One command builds it:
//
//   clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -I. tests/fuzz/matrix_market.cpp
//     profiler/matrix/matrix_market.cpp profiler/matrix/sparse.cpp profiler/core/nearest.cpp -lfmt -o
//     fuzz_matrix_market
//   ./fuzz_matrix_market -max_total_time=60 configs/matrices
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "profiler/core/error.h"
#include "profiler/matrix/matrix_market.h"
#include "profiler/matrix/sparse.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_matrix(const gpuexp::Coo& coo) {
  require(coo.row.size() == coo.value.size() && coo.col.size() == coo.value.size());
  for (std::size_t i = 0; i < coo.value.size(); ++i) {
    require(coo.row[i] >= 0 && coo.row[i] < coo.rows && coo.col[i] >= 0 && coo.col[i] < coo.cols);
  }
  if (coo.rows > 100000) return;  // row offsets of a huge empty matrix take their memory, as they must
  const gpuexp::Csr csr = gpuexp::to_csr(coo);
  require(csr.row_ptr.back() == csr.nnz() && csr.nnz() <= coo.nnz());
}

void check_message(std::string_view message) {
  constexpr std::string_view prefix = "input:";
  require(message.starts_with(prefix) && message.size() > prefix.size());
  require(std::isdigit(static_cast<unsigned char>(message[prefix.size()])) != 0);
  for (const char c : message) require(c >= ' ' && c <= '~');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    check_matrix(gpuexp::parse_matrix_market(text, "input"));
  } catch (const gpuexp::Error& error) {
    check_message(error.what());
  }
  return 0;
}
