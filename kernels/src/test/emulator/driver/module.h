// Kernel modules compiled for the host, and their launches.
#pragma once
#include "driver.h"
#include "../simt/launch.h"

#include <memory>
#include <mutex>
#include <vector>

namespace emulator {

class Module {
public:
    // An image is a host shared object; for device code the host build beside this library is taken.
    static CUresult load(const void* image, std::shared_ptr<Module>* out);
    ~Module();

    simt::Bind kernel(const char* name) const;
    // Runs one block; an idle worker keeps its stacks for the next.
    void run_block(const simt::Launch& launch, uint64_t block, simt::Fault* fault);

private:
    Module(void* library, int file) : library_(library), file_(file) {}
    bool resolve();

    void* library_;
    int file_;  // of the image, or -1; open as long as the library, which is known by its number
    simt::WorkerCreate create_ = nullptr;
    simt::WorkerDestroy destroy_ = nullptr;
    simt::RunBlock run_ = nullptr;
    simt::Trapped trapped_ = nullptr;
    std::mutex mutex_;
    std::vector<simt::Worker*> idle_;
};

// Forgets the modules of a context that goes.
void drop_modules(Context* context);

// Runs all blocks of the launch on this thread and on helpers. Returns the first fault.
simt::Fault run(Module& module, const simt::Launch& launch);

}  // namespace emulator
