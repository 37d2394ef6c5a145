// Kernels for benchmarks. One measures the peak rate at which a device reads its memory. The other writes random data,
// because power and clocks with random data are like those in real use.
#pragma once
#include "device.cuh"

// Reads words of 16 bytes; each thread has eight loads in flight. The exclusive or of all words is written to out if it
// equals `impossible`. It never does, but the compiler therefore cannot remove the loads.
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

// Fills words of 16 bytes with random bf16 numbers between -2 and 2. If they are read as f32, they are also between -2
// and 2.
KERNEL(rf_fill_random, uint4* out, long long words, uint32_t seed) {
    long long stride = (long long)gridDim.x * blockDim.x;
    auto pair = [seed](uint32_t x) {
        x = (x ^ seed) * 0x9e3779b1u;
        x = (x ^ x >> 16) * 0x7feb352du;
        x = (x ^ x >> 15) * 0x846ca68bu;
        return ((x ^ x >> 16) & 0x83ff83ffu) + 0x3c003c00u;  // exponents from -7 to 0
    };
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += stride) {
        uint32_t x = uint32_t(i) * 4;
        out[i] = make_uint4(pair(x), pair(x + 1), pair(x + 2), pair(x + 3));
    }
}
