// The products of gemm.cuh with Hopper's wgmma, for many rows. Stages are loaded with cp.async, which needs no tensor
// map.
//
// On compute capability 9.0 wgmma adds 16 products to an accumulator in the same way as mma.sync, bit for bit. Tests
// and the device's self-test compare them. So a tile with two accumulators, one for the even and one for the odd blocks
// of 32 k, gives the same bits as the tiles of gemm.cuh with two slices, and deterministic mode may use it.
#pragma once
#include "gemm.cuh"

// A tile of GROUPS * 64 features x ROWS. One warpgroup per 64 features; CHAINS accumulators per element, 1 or 2.
template <int GROUPS, int ROWS, int CHAINS, int STAGES>
struct HopperTile {
    static constexpr int kThreads = GROUPS * 128, kFeatures = GROUPS * 64, kRows = ROWS, kStride = kFeatures + 4;
    static constexpr int kStage = (kFeatures + ROWS) * 64, kParts = ROWS / 128;

    // Products in flight read stage `step` until the wait of step + 1, so loads are STAGES - 2 stages ahead.
    __device__ __forceinline__ static void tile(const GemmArguments& a, GemmPlace place, int rows) {
        SHARED(bf16, stages);
        int group = threadIdx.x / 128, steps = (a.depth + 63) / 64;
        GemmLoader<kFeatures, 1, 0, kThreads> weights(place.feature, a.features, nullptr);
        GemmLoader<ROWS, 1, 0, kThreads> x(place.row, rows, a.gather);
        auto load = [&](int step) {
            if (step < steps) {
                bf16* stage = stages + step % STAGES * kStage;
                weights.load(stage, reinterpret_cast<const bf16*>(a.weights), step * 64, a.depth, a.depth);
                x.load(stage + kFeatures * 64, a.x, step * 64, a.depth, a.xStride);
            }
            cp_async_commit();
        };
        float sums[CHAINS][kParts][64] = {};
        for (int step = 0; step < STAGES - 2; ++step) load(step);
        for (int step = 0; step < steps; ++step) {
            cp_async_wait<STAGES - 3>();
            fence_async_proxy();
            __syncthreads();
            const bf16* stage = stages + step % STAGES * kStage;
            uint64_t w = tile_descriptor(stage + group * 64 * 64), tokens = tile_descriptor(stage + kFeatures * 64);
            wgmma_begin();
#pragma unroll
            for (int k = 0; k < 4; ++k) {
#pragma unroll
                for (int part = 0; part < kParts; ++part) {
                    wgmma_m64n128k16(sums[k * CHAINS / 4][part], w + k * 2, tokens + part * (128 * 128 / 16) + k * 2);
                }
            }
            wgmma_commit();
            load(step + STAGES - 2);
            wgmma_wait<1>();
        }
        wgmma_wait<0>();
        cp_async_wait<0>();
        __syncthreads();
        float* shared = reinterpret_cast<float*>(stages);
        int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
        for (int part = 0; part < kParts; ++part) {
#pragma unroll
            for (int i = 0; i < 64; ++i) {
                int row = part * 128 + i / 4 * 8 + lane % 4 * 2 + i % 2, feature = warp * 16 + lane / 4 + i / 2 % 2 * 8;
                float sum = sums[0][part][i];
                if (CHAINS == 2) sum += sums[CHAINS - 1][part][i];
                shared[row * kStride + feature] = sum;
            }
        }
        __syncthreads();
        gemm_store<kFeatures, ROWS, kStride, kThreads>(a, place, rows, shared);
    }
};

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define HOPPER_RUN(...) gemm_run<HopperTile<__VA_ARGS__>>(GEMM_PARAMETER_NAMES);
#else
#define HOPPER_RUN(...)
#endif
#define HOPPER_KERNEL(name, groups, ...) \
    BOUNDED_KERNEL(groups * 128, 1, name, GEMM_PARAMETERS) { HOPPER_RUN(groups, __VA_ARGS__) }

HOPPER_KERNEL(rf_gemm_hopper_64x128, 1, 128, 2, 6)
HOPPER_KERNEL(rf_gemm_hopper_128x128, 2, 128, 2, 6)
HOPPER_KERNEL(rf_gemm_hopper_192x128, 3, 128, 2, 5)
// One accumulator, so that more rows fit. Only in `fast` mode.
HOPPER_KERNEL(rf_gemm_fast_hopper_128x256, 2, 256, 1, 4)
