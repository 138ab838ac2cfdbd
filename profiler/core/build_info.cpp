// The one file that knows the commit, so that a new commit does not compile everything anew.
#include "profiler/core/build_info.h"

namespace gpuexp {

std::string_view build_commit() { return GPUEXP_COMMIT; }

}  // namespace gpuexp
