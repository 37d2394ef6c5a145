#include "memory.h"

#include "stream.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <sys/mman.h>
#include <unistd.h>

namespace emulator {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kGuard = 16 * kPage;
constexpr size_t kAlignment = 256;
constexpr size_t kQuarantined = 256;
constexpr size_t kPoisonFile = 16 << 20;

struct Allocation {
    Context* owner;
    Kind kind;
    size_t bytes;
    char* mapping;  // null where the memory is not ours
    size_t mapped;
};

std::mutex mutex;
std::map<CUdeviceptr, Allocation> map;
std::deque<std::pair<char*, size_t>> quarantine;
size_t limit = size_t(1) << 30;
size_t used = 0;

size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

// A file of 0xff: mapped privately over a large allocation it poisons it without touching its pages.
int poison_file() {
    static int file = [] {
        int fd = memfd_create("poison", 0);
        std::string chunk(1 << 20, char(0xff));
        for (size_t at = 0; at < kPoisonFile; at += chunk.size()) {
            if (write(fd, chunk.data(), chunk.size()) != ssize_t(chunk.size())) return -1;
        }
        return fd;
    }();
    return file;
}

bool poison(char* start, char* end) {
    if (size_t(end - start) <= kPoisonFile) {
        memset(start, 0xff, end - start);
        return true;
    }
    char* page = reinterpret_cast<char*>(round_up(uintptr_t(start), kPage));
    memset(start, 0xff, page - start);
    for (char* at = page; at < end; at += kPoisonFile) {
        size_t bytes = std::min(kPoisonFile, size_t(end - at));
        if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, poison_file(), 0) ==
            MAP_FAILED) {
            return false;
        }
    }
    return true;
}

std::map<CUdeviceptr, Allocation>::iterator containing(CUdeviceptr address) {
    auto next = map.upper_bound(address);
    return next == map.begin() ? map.end() : std::prev(next);
}

void forget(std::map<CUdeviceptr, Allocation>::iterator it) {
    const Allocation& gone = it->second;
    if (gone.kind == Kind::kDevice) used -= gone.bytes;
    if (gone.mapping) {
        mmap(gone.mapping, gone.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
        quarantine.emplace_back(gone.mapping, gone.mapped);
        if (quarantine.size() > kQuarantined) {
            munmap(quarantine.front().first, quarantine.front().second);
            quarantine.pop_front();
        }
    }
    map.erase(it);
}

}  // namespace

CUresult allocate(Context* owner, Kind kind, size_t bytes, void** address) {
    if (!bytes) return INVALID_VALUE;
    std::lock_guard<std::mutex> lock(mutex);
    if (kind == Kind::kDevice && (bytes > limit || used > limit - bytes)) return OUT_OF_MEMORY;
    size_t whole = round_up(bytes, kAlignment), body = round_up(whole, kPage), mapped = body + 2 * kGuard;
    void* base = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return OUT_OF_MEMORY;
    char* first = static_cast<char*>(base) + kGuard;
    char* start = first + body - whole;
    if (mprotect(first, body, PROT_READ | PROT_WRITE) != 0 || !poison(first, first + body)) {
        munmap(base, mapped);
        return OUT_OF_MEMORY;
    }
    map[CUdeviceptr(start)] = {owner, kind, bytes, static_cast<char*>(base), mapped};
    if (kind == Kind::kDevice) used += bytes;
    *address = start;
    return SUCCESS;
}

CUresult register_host(Context* owner, void* address, size_t bytes) {
    std::lock_guard<std::mutex> lock(mutex);
    return map.emplace(CUdeviceptr(address), Allocation{owner, Kind::kRegistered, bytes, nullptr, 0}).second
               ? SUCCESS
               : INVALID_VALUE;
}

CUresult release(Kind kind, void* address) {
    std::lock_guard<std::mutex> lock(mutex);
    auto it = map.find(CUdeviceptr(address));
    if (it == map.end() || it->second.kind != kind) return INVALID_VALUE;
    forget(it);
    return SUCCESS;
}

long release_all(Context* owner) {
    std::lock_guard<std::mutex> lock(mutex);
    long left = 0;
    for (auto it = map.begin(); it != map.end();) {
        auto here = it++;
        if (here->second.owner != owner) continue;
        ++left;
        forget(here);
    }
    return left;
}

bool covers(Kind kind, CUdeviceptr address, size_t bytes) {
    std::lock_guard<std::mutex> lock(mutex);
    auto it = containing(address);
    if (it == map.end() || (it->second.kind == Kind::kDevice) != (kind == Kind::kDevice)) return false;
    CUdeviceptr end = it->first + it->second.bytes;
    return address <= end && bytes <= end - address;
}

bool reachable(const void* address) {
    std::lock_guard<std::mutex> lock(mutex);
    CUdeviceptr at = CUdeviceptr(address);
    auto it = containing(at);
    return it != map.end() && at - it->first <= it->second.bytes;
}

std::string damage() {
    std::lock_guard<std::mutex> lock(mutex);
    auto written = [](unsigned char byte) { return byte != 0xff; };
    for (const auto& [address, allocation] : map) {
        if (!allocation.mapping) continue;
        auto* start = reinterpret_cast<unsigned char*>(address);
        auto* first = reinterpret_cast<unsigned char*>(allocation.mapping) + kGuard;
        auto* end = start + allocation.bytes;
        auto* last = start + round_up(allocation.bytes, kAlignment);
        auto* before = std::find_if(first, start, written);
        auto* behind = std::find_if(end, last, written);
        if (before == start && behind == last) continue;
        std::string where = before != start ? "byte " + std::to_string(start - before) + " before"
                                            : "byte " + std::to_string(behind - end) + " behind";
        std::fill(first, start, 0xff);
        std::fill(end, last, 0xff);
        return where + " an allocation of " + std::to_string(allocation.bytes) + " bytes was written";
    }
    return "";
}

size_t memory_limit() { return limit; }

size_t memory_used() {
    std::lock_guard<std::mutex> lock(mutex);
    return used;
}

long allocations(Kind kind) {
    std::lock_guard<std::mutex> lock(mutex);
    return std::count_if(map.begin(), map.end(), [kind](const auto& entry) { return entry.second.kind == kind; });
}

void set_memory_limit(size_t bytes) {
    std::lock_guard<std::mutex> lock(mutex);
    limit = bytes;
}

}  // namespace emulator

using namespace emulator;

API cuMemAlloc_v2(CUdeviceptr* p, size_t bytes) {
    if (CUresult r = enter(__func__)) return r;
    if (CUresult r = refuse_in_capture()) return r;
    return allocate(current_context(), Kind::kDevice, bytes, reinterpret_cast<void**>(p));
}
API cuMemGetInfo_v2(size_t* free, size_t* total) {
    if (CUresult r = enter(__func__)) return r;
    size_t taken = memory_used();
    *total = memory_limit();
    *free = *total > taken ? *total - taken : 0;
    return SUCCESS;
}
API cuMemHostAlloc(void** p, size_t bytes, unsigned) {
    if (CUresult r = enter(__func__)) return r;
    if (CUresult r = refuse_in_capture()) return r;
    return allocate(current_context(), Kind::kPinned, bytes, p);
}
API cuMemAllocHost_v2(void** p, size_t bytes) {
    if (CUresult r = enter(__func__)) return r;
    if (CUresult r = refuse_in_capture()) return r;
    return allocate(current_context(), Kind::kPinned, bytes, p);
}
API cuMemHostRegister_v2(void* p, size_t bytes, unsigned) {
    if (CUresult r = enter(__func__)) return r;
    return register_host(current_context(), p, bytes);
}
API cuMemHostGetDevicePointer_v2(CUdeviceptr* device, void* p, unsigned) {
    if (CUresult r = enter(__func__)) return r;
    *device = CUdeviceptr(p);
    return covers(Kind::kPinned, CUdeviceptr(p), 0) ? SUCCESS : INVALID_VALUE;
}
