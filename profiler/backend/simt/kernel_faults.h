// Hardware faults of kernel code: a division by zero, a trap, a call through a null pointer, an overrun local array.
#pragma once

namespace gpuexp::simt {

// From now on such a fault of a lane that the calling thread runs ends the lane (FaultKind::refused, with its place),
// and so the point, not the program. Faults outside lanes go where they went before. Cheap to call again.
void contain_kernel_faults();

}  // namespace gpuexp::simt
