// Copies and fills.
#include "memory.h"
#include "stream.h"

#include <algorithm>
#include <cstring>

namespace emulator {
namespace {

struct Place {
    CUdeviceptr address;
    bool device;  // must be device memory
};

bool allowed(Place place, size_t bytes) { return !place.device || covers(Kind::kDevice, place.address, bytes); }

void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

CUresult copy_async(const char* call, Place to, Place from, size_t bytes, void* stream) {
    if (CUresult r = enter(call)) return r;
    if (!allowed(to, bytes) || !allowed(from, bytes)) return INVALID_VALUE;
    Context* context = current_context();
    bool staged = !from.device && !covers(Kind::kPinned, from.address, bytes) &&
                  !covers(Kind::kDevice, from.address, bytes);
    if (staged) {  // as the driver does with pageable memory
        std::string bytes_now(static_cast<char*>(pointer(from.address)), bytes);
        return submit(stream, [=] {
            if (!context->error) memcpy(pointer(to.address), bytes_now.data(), bytes);
        });
    }
    return submit(stream, [=] {
        if (!context->error) memmove(pointer(to.address), pointer(from.address), bytes);
    });
}

CUresult copy(const char* call, Place to, Place from, size_t bytes) {
    return copy_async(call, to, from, bytes, nullptr);
}

// As the driver does with pageable memory: returns when it has read it, before the bytes are on the device.
CUresult copy_in(const char* call, Place to, Place from, size_t bytes) {
    if (covers(Kind::kPinned, from.address, bytes)) return copy(call, to, from, bytes);
    if (CUresult r = enter(call)) return r;
    if (!allowed(to, bytes)) return INVALID_VALUE;
    Context* context = current_context();
    std::string staged(static_cast<char*>(pointer(from.address)), bytes);
    return submit_unawaited([=] {
        if (!context->error) memcpy(pointer(to.address), staged.data(), bytes);
    });
}

template <class T>
CUresult fill(const char* call, CUdeviceptr to, T value, size_t count, void* stream) {
    if (CUresult r = enter(call)) return r;
    if (!covers(Kind::kDevice, to, count * sizeof(T))) return INVALID_VALUE;
    Context* context = current_context();
    return submit(stream, [=] {
        if (!context->error) std::fill_n(static_cast<T*>(pointer(to)), count, value);
    });
}

Place device(CUdeviceptr address) { return {address, true}; }
Place host(const void* address) { return {CUdeviceptr(address), false}; }
Place anywhere(CUdeviceptr address) { return {address, false}; }

}  // namespace
}  // namespace emulator

using namespace emulator;

API cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t n) { return copy_in(__func__, device(to), host(from), n); }
API cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t n) { return copy(__func__, host(to), device(from), n); }
API cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t n) {
    return copy(__func__, device(to), device(from), n);
}
API cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t n) { return copy(__func__, anywhere(to), anywhere(from), n); }
API cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t n, void* stream) {
    return copy_async(__func__, device(to), host(from), n, stream);
}
API cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t n, void* stream) {
    return copy_async(__func__, host(to), device(from), n, stream);
}
API cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, void* stream) {
    return copy_async(__func__, device(to), device(from), n, stream);
}
API cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t n, void* stream) {
    return copy_async(__func__, anywhere(to), anywhere(from), n, stream);
}
API cuMemsetD8_v2(CUdeviceptr to, unsigned char v, size_t n) { return fill(__func__, to, v, n, nullptr); }
API cuMemsetD16_v2(CUdeviceptr to, unsigned short v, size_t n) { return fill(__func__, to, v, n, nullptr); }
API cuMemsetD32_v2(CUdeviceptr to, unsigned v, size_t n) { return fill(__func__, to, v, n, nullptr); }
API cuMemsetD8Async(CUdeviceptr to, unsigned char v, size_t n, void* s) { return fill(__func__, to, v, n, s); }
API cuMemsetD16Async(CUdeviceptr to, unsigned short v, size_t n, void* s) { return fill(__func__, to, v, n, s); }
API cuMemsetD32Async(CUdeviceptr to, unsigned v, size_t n, void* s) { return fill(__func__, to, v, n, s); }

API cuMemFree_v2(CUdeviceptr p) {
    enter(__func__, false);
    if (!p) return SUCCESS;
    if (CUresult r = refuse_in_capture()) return r;
    drain_all();
    return release(Kind::kDevice, pointer(p));
}
API cuMemFreeHost(void* p) {
    enter(__func__, false);
    drain_all();
    return release(Kind::kPinned, p);
}
API cuMemHostUnregister(void* p) {
    enter(__func__, false);
    drain_all();
    return release(Kind::kRegistered, p);
}
