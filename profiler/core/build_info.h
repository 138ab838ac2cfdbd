// What this binary was built from.
#pragma once

#include <string_view>

namespace gpuexp {

// The commit that was checked out when the build was configured, abbreviated; empty outside a checkout.
std::string_view build_commit();

}  // namespace gpuexp
