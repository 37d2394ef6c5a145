// An emulated CUDA driver: types that its files share.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;

#define API extern "C" __attribute__((visibility("default"))) CUresult

enum : CUresult {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    NO_BINARY_FOR_GPU = 209,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    MISALIGNED_ADDRESS = 716,
    LAUNCH_FAILED = 719,
    NOT_SUPPORTED = 801,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901,
};

namespace emulator {

// An error of asynchronous work sticks to its context: every later call returns it.
struct Context {
    std::atomic<CUresult> error{SUCCESS};
};

// Contexts that were not destroyed.
size_t contexts_alive();

// The context that is current on this thread, or null.
Context* current_context();

// Counts a call of the driver, and returns the error that it must end with: an injected fault, the
// context's own error, or none.
CUresult enter(const char* call, bool needs_context = true);

// What a test sets.
struct Settings {
    std::atomic<bool> reverse{false};  // CUDA threads and blocks run from the last to the first
    std::atomic<bool> lazy{false};     // streams work only when a thread waits for them
    std::atomic<int> devices{1};
    std::atomic<int> major{9}, minor{0};
    std::atomic<int> driver_version{13000};
};
Settings& settings();

// The text of the last fault of a kernel; cuGetErrorString appends it.
void set_fault(const std::string& text);
std::string fault();

}  // namespace emulator
