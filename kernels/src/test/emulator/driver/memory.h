// Device memory and pinned host memory.
#pragma once
#include "driver.h"

namespace emulator {

enum class Kind { kDevice, kPinned, kRegistered };

// An allocation lies between pages that nothing may touch, as near to the ones behind it as its alignment of 256 allows.
// It is filled with 0xff (NaN in every float format), and so is the rest of its pages, which is watched. Freed memory
// stays forbidden for a while.
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
