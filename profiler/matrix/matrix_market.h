// Matrix Market files (Boisvert, Pozo and Remington, The Matrix Market Exchange Formats, NISTIR 5935, 1996).
//
// Read: coordinate and array; real, integer and pattern (every value 1); general, symmetric and skew-symmetric.
// Accepted beyond the letter of the format: any case, spaces and tabs anywhere between tokens and before the first,
// CRLF, a byte-order mark, blank lines and comment lines anywhere after the header, a leading '+', Fortran's D
// exponents. Decided where the format is silent:
// - entries at the same place are summed when the matrix is converted to CSR (as by most readers); explicit zeros stay;
// - a symmetric file may store either triangle, but not both: an entry of the other triangle is refused;
// - the diagonal of a symmetric or skew-symmetric file is taken once, as it is stored;
// - integers must fit 64 bits and become the nearest float64; a real that underflows becomes 0, one that overflows, inf
//   and nan are refused.
// Complex and hermitian matrices are refused as unsupported. Every refusal is an Error(usage) that starts "file:line:
// ".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/matrix/sparse.h"

namespace gpuexp {

// Expanded: a symmetric file's mirrored entries are there, so that nnz() can be more than the file declares.
Coo read_matrix_market(const std::string& path);  // Error(usage) also when it cannot be read
// `file` names the text in errors.
Coo parse_matrix_market(std::string_view text, const std::string& file);

}  // namespace gpuexp
