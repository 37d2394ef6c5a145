// Kernels that show what the emulator does: each does one thing right, or one thing wrong.
#include "device.cuh"

// ---- done right ----

// out[i] = what lane i of a warp gets from the operation of that number.
KERNEL(probe_warp, int operation, const int* in, int* out) {
    int lane = threadIdx.x, v = in[lane], got = 0;
    if (operation == 0) got = __shfl_sync(0xffffffffu, v, (lane + 5) % 32);
    if (operation == 1) got = __shfl_xor_sync(0xffffffffu, v, 3);
    if (operation == 2) got = __shfl_down_sync(0xffffffffu, v, 4);
    if (operation == 3) got = __shfl_up_sync(0xffffffffu, v, 1, 8);
    if (operation == 4) got = int(__ballot_sync(0xffffffffu, v & 1));
    if (operation == 5) got = __any_sync(0xffffffffu, v == 7) * 2 + __all_sync(0xffffffffu, v >= 0);
    if (operation == 6) got = lane < 10 ? __shfl_xor_sync(0x3ffu, v, 1) : -1;
    out[lane] = got;
}

// Sums over the block through shared memory and one atomic of the grid.
KERNEL(probe_sum, const int* in, int count, int* sum) {
    SHARED(int, partial);
    int v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) v += in[i];
    partial[threadIdx.x] = v;
    __syncthreads();
    for (int half = blockDim.x / 2; half; half /= 2) {
        if (int(threadIdx.x) < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

// D (16x8) = A (16x16) * B (16x8), both row-major in memory, by ldmatrix and mma of one warp.
KERNEL(probe_mma, const bf16* a, const bf16* b, float* d) {
    SHARED(bf16, tiles);
    int lane = threadIdx.x;
    cp_async16(tiles + lane * 8, a + lane * 8);
    if (lane < 16) cp_async16(tiles + 256 + lane * 8, b + lane * 8);
    cp_async_commit();
    cp_async_wait<0>();
    __syncwarp();
    uint32_t left[4], right[2];
    ldmatrix_x4(left, tiles + lane % 16 * 16 + lane / 16 * 8);
    ldmatrix_x2_trans(right, tiles + 256 + lane % 16 * 8);
    float sum[4] = {};
    mma_m16n8k16(sum, left, right[0], right[1]);
    for (int i = 0; i < 4; ++i) d[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = sum[i];
}

// D (64x128) = A (64x64) * B (128x64)^T by one warpgroup. mistake 1: does not wait; 2: overwrites a tile before it
// waits; 3: one thread does not fence what it copied.
KERNEL(probe_wgmma, const bf16* a, const bf16* b, float* d, int mistake) {
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
    SHARED(bf16, left);
    bf16* right = left + 64 * 64;
    for (int i = threadIdx.x; i < (64 + 128) * 8; i += 128) {
        int row = i / 8, chunk = i % 8;
        const bf16* from = row < 64 ? a + row * 64 : b + (row - 64) * 64;
        cp_async16(left + row * 64 + ((chunk ^ (row & 7)) << 3), from + chunk * 8);
    }
    cp_async_commit();
    cp_async_wait<0>();
    if (mistake != 3 || threadIdx.x != 5) fence_async_proxy();
    __syncthreads();
    float sum[64];
    wgmma_begin();
    for (int k = 0; k < 4; ++k) {
        wgmma_m64n128k16(sum, tile_descriptor(left) + k * 2, tile_descriptor(right) + k * 2, k > 0);
    }
    wgmma_commit();
    if (mistake == 2) left[threadIdx.x] = __float2bfloat16(100.0f);
    if (mistake != 1) wgmma_wait<0>();
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int j = 0; j < 16; ++j) {
        for (int i = 0; i < 4; ++i) {
            int row = warp * 16 + lane / 4 + i / 2 * 8, column = j * 8 + lane % 4 * 2 + i % 2;
            d[row * 128 + column] = sum[j * 4 + i];
        }
    }
#endif
}

KERNEL(probe_fill, float* out, int count, float value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = value;
}

KERNEL(probe_add, float* to, const float* from, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) to[i] += from[i];
}

// ---- done wrong ----

KERNEL(probe_missing_barrier, const float* in, float* out) {
    SHARED(float, all);
    all[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = all[blockDim.x - 1 - threadIdx.x];
}

KERNEL(probe_missing_wait, const float* in, float* out) {
    SHARED(float, all);
    cp_async16(all + threadIdx.x * 4, in + threadIdx.x * 4);
    cp_async_commit();
    __syncthreads();
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = all[threadIdx.x * 4 + i];
}

KERNEL(probe_divergent_barrier, int* out) {
    if (threadIdx.x < 32) {
        __syncthreads();
        out[0] = 1;
    } else {
        __syncthreads();
        out[1] = 1;
    }
}

KERNEL(probe_missing_lanes, int* out) {
    if (threadIdx.x < 16) out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, int(threadIdx.x), 1);
}

KERNEL(probe_foreign_lane, int* out) {
    if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0xffffu, int(threadIdx.x), 20);
}

// The last writer wins: which it is depends on the order of the threads.
KERNEL(probe_race, int* out) { *out = int(blockIdx.x * blockDim.x + threadIdx.x); }

KERNEL(probe_write, float* out, long index) { out[index] = 1.0f; }

KERNEL(probe_read, const float* in, long index, float* out) { *out = in[index]; }

KERNEL(probe_shared_write, int index) {
    SHARED(float, all);
    all[index] = 1.0f;
}

KERNEL(probe_misaligned, const float* in) {
    SHARED(float, all);
    cp_async16(all, in + 1);
}

__device__ __noinline__ int deep(volatile int* levels, int n) {
    volatile int frame[256];
    frame[n % 256] = n;
    return n == *levels ? frame[0] : deep(levels, n + 1) + frame[n % 256];
}
KERNEL(probe_deep, int* levels) { levels[1] = deep(levels, 0); }

BOUNDED_KERNEL(64, 1, probe_bounded, int* out) { out[threadIdx.x] = 1; }
