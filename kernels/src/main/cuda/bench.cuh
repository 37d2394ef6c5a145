// The peak rate at which a device reads its memory.
#pragma once
#include "device.cuh"

// Reads words of 16 bytes; each thread has eight loads in flight. Their exclusive or goes to out if it equals impossible,
// a value that it never has, so that the compiler cannot drop the loads.
KERNEL(rf_read, const uint4* from, long long words, uint32_t impossible, uint32_t* out) {
    constexpr int kAhead = 8;
    long long stride = (long long)gridDim.x * blockDim.x;
    uint32_t sum = 0;
    for (long long start = (long long)blockIdx.x * blockDim.x + threadIdx.x; start < words; start += kAhead * stride) {
        uint4 kept[kAhead];
#pragma unroll
        for (int i = 0; i < kAhead; ++i) {
            kept[i] = start + i * stride < words ? __ldcs(from + start + i * stride) : make_uint4(0, 0, 0, 0);
        }
#pragma unroll
        for (int i = 0; i < kAhead; ++i) sum ^= kept[i].x ^ kept[i].y ^ kept[i].z ^ kept[i].w;
    }
    if (sum == impossible) *out = sum;
}
