// Turns a fault of the processor inside a kernel into a fault of that kernel.
#pragma once
#include "../simt/launch.h"

namespace emulator {

// This thread of the operating system may run kernels; a fault in one of them calls `trapped` in the kernel's place.
// Faults elsewhere go to the previous handler, that of the Java virtual machine.
class KernelScope {
public:
    explicit KernelScope(simt::Trapped trapped);
    ~KernelScope();

private:
    int slot_;
};

}  // namespace emulator
