// RMS norm of the rows of the hidden state (Zhang and Sennrich 2019).
#pragma once
#include "device.cuh"

// out[row] = hidden[row] / rms(hidden[row]) * gain. A block a row; each thread keeps what it read, as far as its registers
// reach. The order of the sum depends on width and block alone. Shared memory: a float a warp. rows: how many are valid,
// on the device. width is a multiple of 8, the block one of 32 threads.
BOUNDED_KERNEL(1024, 1, rf_rms_norm, const bf16* hidden, const float* gain, bf16* out, const int* rows, int width,
               float epsilon) {
    constexpr int kKept = 4;
    SHARED(float, partial);
    int row = blockIdx.x, chunks = width / 8;
    if (row >= *rows) return;
    hidden += size_t(row) * width;
    float kept[kKept][8], squares = 0;
#pragma unroll
    for (int i = 0; i < kKept; ++i) {
        int chunk = threadIdx.x + i * blockDim.x;
        if (chunk < chunks) load8(kept[i], hidden + chunk * 8);
    }
    auto take = [&](const float(&v)[8]) {
#pragma unroll
        for (int e = 0; e < 8; ++e) squares += v[e] * v[e];
    };
#pragma unroll
    for (int i = 0; i < kKept; ++i) {
        int chunk = threadIdx.x + i * blockDim.x;
        if (chunk < chunks) take(kept[i]);
    }
    for (int chunk = threadIdx.x + kKept * blockDim.x; chunk < chunks; chunk += blockDim.x) {
        float v[8];
        load8(v, hidden + chunk * 8);
        take(v);
    }
    squares = warp_sum(squares);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = squares;
    __syncthreads();
    squares = 0;
    for (int warp = 0; warp < int(blockDim.x) / 32; ++warp) squares += partial[warp];
    float scale = rsqrtf(squares / width + epsilon);
    auto give = [&](float(&v)[8], int chunk) {
        float4 low = *reinterpret_cast<const float4*>(gain + chunk * 8);
        float4 high = *reinterpret_cast<const float4*>(gain + chunk * 8 + 4);
        float g[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
        for (int e = 0; e < 8; ++e) v[e] *= scale * g[e];
        store8(out + size_t(row) * width + chunk * 8, v);
    };
#pragma unroll
    for (int i = 0; i < kKept; ++i) {
        int chunk = threadIdx.x + i * blockDim.x;
        if (chunk < chunks) give(kept[i], chunk);
    }
    for (int chunk = threadIdx.x + kKept * blockDim.x; chunk < chunks; chunk += blockDim.x) {
        float v[8];
        load8(v, hidden + chunk * 8);
        give(v, chunk);
    }
}
