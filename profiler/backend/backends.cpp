// The backends of this build, the one that measures before the one that emulates.
#include <memory>
#include <vector>

#include "profiler/backend/backend.h"
#include "profiler/backend/cuda/cuda_backend.h"
#include "profiler/backend/simt/simt_backend.h"

namespace gpuexp {

std::vector<std::unique_ptr<Backend>> make_backends() {
  std::vector<std::unique_ptr<Backend>> backends;
  backends.push_back(make_cuda_backend(make_simt_backend()));  // says itself why it is not available
  backends.push_back(make_simt_backend());
  return backends;
}

}  // namespace gpuexp
