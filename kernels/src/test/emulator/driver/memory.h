// Device memory and pinned host memory.
#pragma once
#include "driver.h"

namespace emulator {

enum class Kind { kDevice, kPinned, kRegistered };

// An allocation ends at a page that nothing may touch, is filled with 0xff (NaN in every float format), and
// up to 255 bytes that pad it are watched. Freed memory stays forbidden for a while.
CUresult allocate(Context* owner, Kind kind, size_t bytes, void** address);
CUresult release(Kind kind, void* address);
CUresult register_host(Context* owner, void* address, size_t bytes);

// Frees what the context still owns; returns how many allocations of device and host that were.
long release_all(Context* owner);

bool covers(Kind kind, CUdeviceptr address, size_t bytes);
// Whether kernels may use the address: it is in, or at the end of, an allocation of either kind.
bool reachable(const void* address);
// Names an allocation whose padding was written, or returns an empty text.
std::string damage();

size_t memory_limit();
size_t memory_used();
long allocations(Kind kind);
void set_memory_limit(size_t bytes);

}  // namespace emulator
