// The Matrix Market reader: a matrix that holds together, or an Error of the form "file:line: ...".
#include <cctype>

#include "profiler/matrix/matrix_market.h"
#include "profiler/matrix/sparse.h"
#include "tests/fuzz/fuzz.h"

namespace gpuexp::fuzz {
namespace {

void check_matrix(const Coo& coo) {
  require(coo.row.size() == coo.value.size() && coo.col.size() == coo.value.size());
  for (std::size_t i = 0; i < coo.value.size(); ++i) {
    require(coo.row[i] >= 0 && coo.row[i] < coo.rows && coo.col[i] >= 0 && coo.col[i] < coo.cols);
  }
  if (coo.rows > 100000) return;  // row offsets of a huge empty matrix take their memory, as they must
  const Csr csr = to_csr(coo);
  require(csr.row_ptr.back() == csr.nnz() && csr.nnz() <= coo.nnz());
}

void check_message(std::string_view message) {
  constexpr std::string_view prefix = "input:";
  require(message.starts_with(prefix) && message.size() > prefix.size());
  require(std::isdigit(static_cast<unsigned char>(message[prefix.size()])) != 0);
  for (const char c : message) require(c >= ' ' && c <= '~');
}

}  // namespace
}  // namespace gpuexp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    gpuexp::fuzz::check_matrix(gpuexp::parse_matrix_market(gpuexp::fuzz::text_of(data, size), "input"));
  } catch (const gpuexp::Error& error) {
    gpuexp::fuzz::check_message(error.what());
  }
  return 0;
}
