// Norms of rows, and adding a block's output to the residual stream.
#pragma once
#include "device.cuh"

// Returns the sum over the block to every thread. The tree is always the same. partial: one float per warp, which must
// be unused when the threads call this.
__device__ __forceinline__ float block_sum(float v, float* partial) {
    v = warp_sum(v);
    __syncthreads();
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0;
    for (int warp = 0; warp < int(blockDim.x) / 32; ++warp) v += partial[warp];
    return v;
}

// out[row] = x[row] / rms(x[row]) * gain (RMS norm, Zhang and Sennrich 2019). If centred is set, x[row] - mean(x[row])
// replaces x[row] (LayerNorm without bias). Rows are `stride` elements apart in both; out may be x. One block per row.
// Each thread keeps in registers as much as fits of what it read. The order of the sums depends only on width and
// block. Shared memory: one float per warp. rows: number of valid rows, on the device. width is a multiple of 8, the
// block a multiple of 32 threads.
BOUNDED_KERNEL(1024, 1, rf_norm, const bf16* x, const float* gain, bf16* out, const int* rows, int width, int stride,
               float epsilon, int centred) {
    constexpr int kKept = 4;
    SHARED(float, partial);
    int row = blockIdx.x, chunks = width / 8;
    if (row >= *rows) return;
    x += size_t(row) * stride;
    out += size_t(row) * stride;
    float kept[kKept][8], sum = 0;
#pragma unroll
    for (int i = 0; i < kKept; ++i) {
        int chunk = threadIdx.x + i * blockDim.x;
        if (chunk < chunks) load8(kept[i], x + chunk * 8);
    }
    auto each = [&](auto take) {
#pragma unroll
        for (int i = 0; i < kKept; ++i) {
            int chunk = threadIdx.x + i * blockDim.x;
            if (chunk < chunks) take(kept[i], chunk);
        }
        for (int chunk = threadIdx.x + kKept * blockDim.x; chunk < chunks; chunk += blockDim.x) {
            float v[8];
            load8(v, x + chunk * 8);
            take(v, chunk);
        }
    };
    float mean = 0;
    if (centred) {
        each([&](const float(&v)[8], int) {
#pragma unroll
            for (int e = 0; e < 8; ++e) sum += v[e];
        });
        mean = block_sum(sum, partial) / width;
        sum = 0;
    }
    each([&](const float(&v)[8], int) {
#pragma unroll
        for (int e = 0; e < 8; ++e) sum += (v[e] - mean) * (v[e] - mean);
    });
    float scale = rsqrtf(block_sum(sum, partial) / width + epsilon);
    each([&](float(&v)[8], int chunk) {
        float g[8];
        load8(g, gain + chunk * 8);
#pragma unroll
        for (int e = 0; e < 8; ++e) v[e] = (v[e] - mean) * (scale * g[e]);
        store8(out + chunk * 8, v);
    });
}

// hidden[row] += scale * delta[row], both [rows][width], bf16. One warp per row; width is a multiple of 8.
KERNEL(rf_add, bf16* hidden, const bf16* delta, const int* rows, int width, float scale) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= *rows) return;
    hidden += size_t(row) * width;
    delta += size_t(row) * width;
    for (int i = lane * 8; i < width; i += 256) {
        float sum[8], added[8];
        load8(sum, hidden + i);
        load8(added, delta + i);
#pragma unroll
        for (int e = 0; e < 8; ++e) sum[e] = fmaf(added[e], scale, sum[e]);
        store8(hidden + i, sum);
    }
}
