// KV pages between the device's pool, layer-first, and page-first memory: pinned host pages, or a page on the device
// that one copy then carries.
#pragma once
#include "device.cuh"

// One page to move: address of the page-first side (host or device), page in the pool.
struct __align__(16) PageMove {
    unsigned long long address;
    int page;
    int unused;
};

// The pool is [plane][page][run], a page-first page [plane][run] from `offset` bytes on; a plane is one layer's keys or
// values, a run the page's tokens of it. Moves planes firstPlane to firstPlane + planes - 1 of the pages moves[0 .. *count - 1]. A block a run; each
// thread has four loads in flight before its first store, which a bus with long latency needs. runBytes is a multiple
// of 16, poolPages the pages of the pool, the dummy page included.
template <bool IN>
__device__ __forceinline__ void move_pages(const PageMove* moves, const int* count, char* pool, int poolPages,
                                           int runBytes, int firstPlane, int planes, long long offset) {
    constexpr int kAhead = 4;
    int runs = *count * planes, words = runBytes / 16;
    for (int run = blockIdx.x; run < runs; run += gridDim.x) {
        PageMove move = moves[run / planes];
        int plane = firstPlane + run % planes;
        uint4* outside = reinterpret_cast<uint4*>(move.address + offset + size_t(plane) * runBytes);
        uint4* inside = reinterpret_cast<uint4*>(pool + (size_t(plane) * poolPages + move.page) * runBytes);
        const uint4* from = IN ? outside : inside;
        uint4* to = IN ? inside : outside;
        for (int start = threadIdx.x; start < words; start += kAhead * blockDim.x) {
            uint4 kept[kAhead];
#pragma unroll
            for (int i = 0; i < kAhead; ++i) {
                int word = start + i * blockDim.x;
                if (word < words) kept[i] = __ldcs(from + word);
            }
#pragma unroll
            for (int i = 0; i < kAhead; ++i) {
                int word = start + i * blockDim.x;
                if (word < words) __stcg(to + word, kept[i]);
            }
        }
    }
}

// Page-first memory to the pool.
KERNEL(rf_pages_in, const PageMove* moves, const int* count, char* pool, int poolPages, int runBytes, int firstPlane,
       int planes, long long offset) {
    move_pages<true>(moves, count, pool, poolPages, runBytes, firstPlane, planes, offset);
}
// The pool to page-first memory.
KERNEL(rf_pages_out, const PageMove* moves, const int* count, char* pool, int poolPages, int runBytes, int firstPlane,
       int planes, long long offset) {
    move_pages<false>(moves, count, pool, poolPages, runBytes, firstPlane, planes, offset);
}
