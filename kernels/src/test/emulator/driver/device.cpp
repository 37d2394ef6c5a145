// Devices, contexts and the driver's texts.
#include "faults.h"
#include "memory.h"
#include "module.h"
#include "stream.h"

#include <cstdio>
#include <map>
#include <set>

namespace emulator {
namespace {

std::mutex registry;
std::set<Context*> contexts;
thread_local std::vector<Context*> stack;  // the last is current

bool alive(Context* context) {
    std::lock_guard<std::mutex> lock(registry);
    return contexts.count(context) != 0;
}

// CUdevice_attribute: values of an H200.
const std::map<int, int> kAttributes = {
    {1, 1024},       // threads per block
    {2, 1024},       // block dimensions
    {3, 1024},       {4, 64},
    {5, 2147483647},  // grid dimensions
    {6, 65535},      {7, 65535},
    {8, 48 << 10},   // shared memory per block
    {10, 32},        // warp size
    {12, 65536},     // registers per block
    {13, 1980000},   // clock, kHz
    {16, 4},         // multiprocessors: few, so that tests need few blocks
    {19, 1},         // may map host memory
    {31, 1},         // concurrent kernels
    {36, 3201000},   // memory clock, kHz
    {37, 6144},      // memory bus, bits
    {38, 256 << 10},  // second-level cache: small, so that tests need little to exceed it
    {39, 2048},      // threads per multiprocessor
    {40, 3},         // copy engines
    {41, 1},         // unified addressing
    {81, 228 << 10},  // shared memory per multiprocessor
    {97, 227 << 10},  // shared memory per block after opting in
};

const std::map<int, std::pair<const char*, const char*>> kErrors = {
    {SUCCESS, {"CUDA_SUCCESS", "no error"}},
    {INVALID_VALUE, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
    {OUT_OF_MEMORY, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
    {NOT_INITIALIZED, {"CUDA_ERROR_NOT_INITIALIZED", "initialization error"}},
    {INVALID_DEVICE, {"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"}},
    {INVALID_IMAGE, {"CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"}},
    {INVALID_CONTEXT, {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
    {NO_BINARY_FOR_GPU, {"CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"}},
    {INVALID_HANDLE, {"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}},
    {NOT_FOUND, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
    {NOT_READY, {"CUDA_ERROR_NOT_READY", "device not ready"}},
    {ILLEGAL_ADDRESS, {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}},
    {MISALIGNED_ADDRESS, {"CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"}},
    {LAUNCH_FAILED, {"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}},
    {NOT_SUPPORTED, {"CUDA_ERROR_NOT_SUPPORTED", "operation not supported"}},
    {CAPTURE_UNSUPPORTED,
     {"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"}},
    {CAPTURE_INVALIDATED,
     {"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"}},
};

}  // namespace

Context* current_context() { return stack.empty() || !alive(stack.back()) ? nullptr : stack.back(); }

size_t contexts_alive() {
    std::lock_guard<std::mutex> lock(registry);
    return contexts.size();
}

void lose_contexts(CUresult code) {
    std::lock_guard<std::mutex> lock(registry);
    for (Context* context : contexts) {
        CUresult none = SUCCESS;
        context->error.compare_exchange_strong(none, code);
    }
}

Settings& settings() {
    static auto* settings = new Settings;
    return *settings;
}

}  // namespace emulator

using namespace emulator;

API cuInit(unsigned) { return enter(__func__, false); }
API cuDriverGetVersion(int* version) {
    *version = settings().driver_version;
    return enter(__func__, false);
}
API cuDeviceGetCount(int* count) {
    *count = settings().devices;
    return enter(__func__, false);
}
API cuDeviceGet(CUdevice* device, int ordinal) {
    if (CUresult r = enter(__func__, false)) return r;
    if (ordinal < 0 || ordinal >= settings().devices) return INVALID_DEVICE;
    *device = ordinal;
    return SUCCESS;
}
API cuDeviceGetName(char* name, int bytes, CUdevice) {
    snprintf(name, bytes, "Emulated CUDA device");
    return enter(__func__, false);
}
API cuDeviceTotalMem_v2(size_t* bytes, CUdevice) {
    *bytes = memory_limit();
    return enter(__func__, false);
}
API cuDeviceComputeCapability(int* major, int* minor, CUdevice) {
    *major = settings().major;
    *minor = settings().minor;
    return enter(__func__, false);
}
API cuDeviceGetAttribute(int* value, int attribute, CUdevice) {
    if (CUresult r = enter(__func__, false)) return r;
    auto known = kAttributes.find(attribute);
    *value = attribute == 75   ? settings().major.load()
             : attribute == 76 ? settings().minor.load()
             : known == kAttributes.end() ? 0 : known->second;
    return SUCCESS;
}

API cuCtxCreate_v2(void** handle, unsigned, CUdevice device) {
    if (CUresult r = enter(__func__, false)) return r;
    if (device < 0 || device >= settings().devices) return INVALID_DEVICE;
    auto* context = new Context;
    *handle = context;
    {
        std::lock_guard<std::mutex> lock(registry);
        contexts.insert(context);
    }
    stack.push_back(context);
    return SUCCESS;
}
// A destroyed context is never deleted: work that still refers to it finds its error.
API cuCtxDestroy_v2(void* handle) {
    enter(__func__, false);
    auto* context = static_cast<Context*>(handle);
    if (!alive(context)) return INVALID_CONTEXT;
    drain_all();
    drop_streams(context);
    drop_modules(context);
    release_all(context);
    {
        std::lock_guard<std::mutex> lock(registry);
        contexts.erase(context);
    }
    context->error = INVALID_CONTEXT;
    if (!stack.empty() && stack.back() == context) stack.pop_back();
    return SUCCESS;
}
API cuCtxSetCurrent(void* handle) {
    if (CUresult r = enter(__func__, false)) return r;
    auto* context = static_cast<Context*>(handle);
    if (context && !alive(context)) return INVALID_CONTEXT;
    if (!stack.empty()) stack.pop_back();
    if (context) stack.push_back(context);
    return SUCCESS;
}
API cuCtxPushCurrent_v2(void* handle) {
    if (CUresult r = enter(__func__, false)) return r;
    if (!alive(static_cast<Context*>(handle))) return INVALID_CONTEXT;
    stack.push_back(static_cast<Context*>(handle));
    return SUCCESS;
}
API cuCtxPopCurrent_v2(void** handle) {
    if (CUresult r = enter(__func__, false)) return r;
    if (stack.empty()) return INVALID_CONTEXT;
    if (handle) *handle = stack.back();
    stack.pop_back();
    return SUCCESS;
}
API cuCtxGetCurrent(void** handle) {
    *handle = current_context();
    return enter(__func__, false);
}
API cuCtxGetDevice(CUdevice* device) {
    *device = 0;
    return enter(__func__);
}

API cuGetErrorName(int error, const char** text) {
    auto known = kErrors.find(error);
    *text = known == kErrors.end() ? "CUDA_ERROR_UNKNOWN" : known->second.first;
    return SUCCESS;
}
API cuGetErrorString(int error, const char** text) {
    static thread_local std::string message;
    auto known = kErrors.find(error);
    message = known == kErrors.end() ? "unknown error" : known->second.second;
    if (error != SUCCESS && !fault().empty()) message += " (emulator: " + fault() + ")";
    *text = message.c_str();
    return SUCCESS;
}
