// What the emulated driver and a kernel module compiled for the host tell each other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

namespace simt {

// A kernel with its parameters, called once by each CUDA thread.
using Body = std::function<void()>;

struct Launch {
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    bool reverse;  // threads of a block take turns from the last to the first
    const Body* body;
};

// The results of a kernel that the driver reports, with CUresult's values.
enum FaultCode { kNoFault = 0, kIllegalAddress = 700, kMisalignedAddress = 716, kLaunchFailed = 719 };

struct Fault {
    int code = kNoFault;
    char text[512] = "";
};

// Runs blocks one after another; holds the fibers' stacks and the shared memory between them.
struct Worker;

// The symbols that a module exports beside NAME__bind of each of its kernels.
using WorkerCreate = Worker* (*)();
using WorkerDestroy = void (*)(Worker*);
using RunBlock = void (*)(Worker*, const Launch*, uint64_t block, Fault*);
// Where a signal handler sends a CUDA thread that touched forbidden memory; it does not return.
using Trapped = void (*)(int code, uintptr_t address);
// Copies the parameters behind the table, which ends with a null pointer. Pointers must be known to the driver.
// Returns what is wrong, or null.
using Known = bool (*)(const void* address);
using Bind = const char* (*)(void** table, Known known, Body* out);

}  // namespace simt
