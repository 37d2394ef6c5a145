// Copies KV pages between the device's pool, which is layer-first, and page-first memory: pinned host pages, or a page
// on the device that is then copied at once.
#pragma once
#include "device.cuh"

// One page to move: address of the page-first page (on host or device), and number of the page in the pool.
struct __align__(16) PageMove {
    unsigned long long address;
    int page;
    int unused;
};

// The pool is [plane][page][run], a page-first page [plane][run] from `offset` bytes on; a plane is one layer's keys or
// values, and a run is the page's part of a plane. Moves planes firstPlane to firstPlane + planes - 1 of the pages
// moves[0 .. *count - 1]. One block per run. Each thread has four loads in flight before its first store, because the
// bus has a long latency. runBytes is a multiple of 16; poolPages is the number of pages of the pool, including the
// dummy page.
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

// Copies page-first memory to the pool.
KERNEL(rf_pages_in, const PageMove* moves, const int* count, char* pool, int poolPages, int runBytes, int firstPlane,
       int planes, long long offset) {
    move_pages<true>(moves, count, pool, poolPages, runBytes, firstPlane, planes, offset);
}
// Copies the pool to page-first memory.
KERNEL(rf_pages_out, const PageMove* moves, const int* count, char* pool, int poolPages, int runBytes, int firstPlane,
       int planes, long long offset) {
    move_pages<false>(moves, count, pool, poolPages, runBytes, firstPlane, planes, offset);
}
