// Products of a weight matrix [features][depth] with the rows [rows][depth] of activations, both bf16.
//
// The weights are the side of 16 in mma.m16n8k16 and the rows are the side of 8. So little work is wasted on few rows,
// and one template is enough for decode and prefill. The order of a sum is the same in all tiles with the same number
// of slices. Slice s of S adds the products of all k with k / (64 / S) % S == s, in ascending order and in one chain.
// Then the slices are added in order. Deterministic mode always uses SLICES = 2, so an element depends only on its row
// and its weights, whatever the tile.
#pragma once
#include "device.cuh"

// What the kernel does with a sum before storing it. With a gating epilogue, the weights alternate between 8 rows of
// gate and 8 of up, and extra is one f32 bias per feature, or null.
enum GemmEpilogue {
    GEMM_PLAIN = 0,           // out[row][feature] = sum, bf16
    GEMM_BIAS = 1,            // ... + extra[feature], f32
    GEMM_RESIDUAL = 2,        // extra[row][feature] + scale * sum, bf16; extra may be out
    GEMM_SWIGLU = 3,          // out[row][feature / 2] = silu(gate) * up, bf16
    // v = scale * sum + extra[feature], f32; extra may be null.
    // out[row][feature] = bound > 0 ? bound * tanh(v / bound) : v
    GEMM_LOGITS = 4,
    GEMM_GEGLU = 5,           // out[row][feature / 2] = gelu(gate) * up, with gelu approximated by tanh
    GEMM_CLAMPED_SWIGLU = 6,  // ... = g * sigmoid(1.702 g) * (u + 1), g = min(gate, bound), u = up clamped to +-bound
    GEMM_NORMAL_GLU = 7       // ... = gate * Phi(gate) * up, Phi is the normal distribution function
};

// The parameters of all product kernels. Each multiplies one matrix, or many of one shape that have their own rows:
// experts with the rows that chose them, heads of latent attention with their part of every row. Matrix m begins at
// weights + m * weightBytes. With tiles, *rows is the number of tiles, and block y computes tile y: tiles[y].z rows
// from row tiles[y].y on, times matrix tiles[y].x. Without tiles, matrix blockIdx.z multiplies all *rows rows. Row r
// reads x[gather[r]], or x[r] if gather is null. Matrix m reads a row from element m * xOffset on and writes a row from
// element m * outOffset on. Rows are xStride and outStride elements apart. The epilogue defines extra: a bias is
// [matrix][feature]; a residual is for a single matrix.
#define GEMM_PARAMETERS                                                                                                    \
    const char *weights, long long weightBytes, const bf16 *x, void *out, const void *extra, const int4 *tiles,            \
        const int *rows, const int *gather, int features, int depth, int epilogue, float scale, float bound, int xStride, \
        int xOffset, int outStride, int outOffset
#define GEMM_PARAMETER_NAMES                                                                                              \
    weights, weightBytes, x, out, extra, tiles, rows, gather, features, depth, epilogue, scale, bound, xStride, xOffset, \
        outStride, outOffset

// The product of one matrix, from the parameters of a kernel.
struct GemmArguments {
    const char* weights;
    const bf16* x;
    void* out;
    const void* extra;
    const int* gather;
    int features, depth, epilogue;
    float scale, bound;
    int xStride, outStride;
};

// The tile of this block. Eight tiles of rows use the same weights while these are in the L2 cache.
struct GemmPlace {
    int feature, row;
};

__device__ __forceinline__ GemmPlace gemm_place(int tile_features, int tile_rows) {
    constexpr int kGroup = 8;
    int linear = blockIdx.y * gridDim.x + blockIdx.x, span = kGroup * gridDim.x, first = linear / span * kGroup;
    int height = min(kGroup, int(gridDim.y) - first), within = linear % span;
    return {within / height * tile_features, (first + within % height) * tile_rows};
}

// Multiplies the tile of this block, unless there is no such tile.
template <class Tile>
__device__ __forceinline__ void gemm_run(GEMM_PARAMETERS) {
    GemmPlace place;
    int matrix = blockIdx.z, end = *rows;
    if (tiles) {
        if (int(blockIdx.y) >= end) return;
        int4 tile = tiles[blockIdx.y];
        matrix = tile.x;
        place = {int(blockIdx.x) * Tile::kFeatures, tile.y};
        end = tile.y + tile.z;
    } else {
        place = gemm_place(Tile::kFeatures, Tile::kRows);
        if (place.row >= end) return;
    }
    size_t elementBytes = epilogue == GEMM_LOGITS ? sizeof(float) : sizeof(bf16);
    Tile::tile({weights + matrix * weightBytes, x + size_t(matrix) * xOffset,
                static_cast<char*>(out) + size_t(matrix) * outOffset * elementBytes,
                extra ? static_cast<const float*>(extra) + size_t(matrix) * features : nullptr, gather, features, depth,
                epilogue, scale, bound, xStride, outStride},
               place, end);
}

// Stores eight consecutive features of one row.
__device__ __forceinline__ void gemm_store8(const GemmArguments& a, int row, int feature, const float* sums) {
    float v[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) v[i] = sums[i];
    size_t at = size_t(row) * a.outStride + feature;
    if (a.epilogue == GEMM_BIAS) {
        const float* bias = static_cast<const float*>(a.extra) + feature;
#pragma unroll
        for (int i = 0; i < 8; ++i) v[i] += bias[i];
    } else if (a.epilogue == GEMM_RESIDUAL) {
        float residual[8];
        load8(residual, static_cast<const bf16*>(a.extra) + at);
#pragma unroll
        for (int i = 0; i < 8; ++i) v[i] = fmaf(v[i], a.scale, residual[i]);
    }
    store8(static_cast<bf16*>(a.out) + at, v);
}

// tanh(x / 2), computed with one exponential.
__device__ __forceinline__ float half_tanh(float x) { return 1.0f - 2.0f / (__expf(x) + 1.0f); }

// 1 - Phi(x) for x >= 0: Abramowitz and Stegun 7.1.26, with the constants of NormalTail.java.
__device__ __forceinline__ float normal_tail(float x) {
    float t = 1.0f / fmaf(x, 0.23164189f, 1.0f);
    float p = fmaf(t, 0.5307027145f, -0.7265760135f);
    p = fmaf(fmaf(fmaf(p, t, 0.7107068705f), t, -0.142248368f), t, 0.127414796f);
    return p * t * __expf(-0.5f * x * x);
}

__device__ __forceinline__ float gemm_gate(const GemmArguments& a, float gate, float up) {
    if (a.epilogue == GEMM_SWIGLU) return gate / (1.0f + __expf(-gate)) * up;
    if (a.epilogue == GEMM_GEGLU) {
        // gelu(g) = g / (1 + exp(-2 u)), u = sqrt(2 / pi) * (g + 0.044715 g^3)
        float inner = fmaf(gate * gate, gate * 0.0713548163f, gate * 1.5957691216f);
        return gate / (1.0f + __expf(-inner)) * up;
    }
    if (a.epilogue == GEMM_NORMAL_GLU) return fmaf(-fabsf(gate), normal_tail(fabsf(gate)), fmaxf(gate, 0.0f)) * up;
    float g = fminf(gate, a.bound), u = fminf(fmaxf(up, -a.bound), a.bound);
    return g / (1.0f + __expf(-1.702f * g)) * (u + 1.0f);
}

__device__ __forceinline__ float gemm_logit(const GemmArguments& a, int feature, float sum) {
    sum *= a.scale;
    if (a.extra) sum += static_cast<const float*>(a.extra)[feature];
    return a.bound > 0 ? half_tanh(sum * (2.0f / a.bound)) * a.bound : sum;
}

__device__ __forceinline__ void gemm_store_gated(const GemmArguments& a, int row, int feature, const float* sums) {
    const float* bias = a.extra ? static_cast<const float*>(a.extra) + feature : nullptr;
    float v[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        v[i] = bias ? gemm_gate(a, sums[i] + bias[i], sums[i + 8] + bias[i + 8]) : gemm_gate(a, sums[i], sums[i + 8]);
    }
    store8(static_cast<bf16*>(a.out) + size_t(row) * a.outStride + feature / 2, v);
}

// All threads of the block copy the tile sums[row][STRIDE], feature by feature, to the output.
template <int FEATURES, int ROWS, int STRIDE, int THREADS>
__device__ __forceinline__ void gemm_store(const GemmArguments& a, GemmPlace place, int rows, const float* sums) {
    int valid_rows = min(ROWS, rows - place.row), valid_features = min(FEATURES, a.features - place.feature);
    if (a.epilogue == GEMM_LOGITS) {
        float* out = static_cast<float*>(a.out);
        for (int i = threadIdx.x; i < FEATURES * valid_rows; i += THREADS) {
            int row = i / FEATURES, feature = i % FEATURES;
            if (feature < valid_features) {
                size_t at = size_t(place.row + row) * a.outStride + place.feature + feature;
                out[at] = gemm_logit(a, place.feature + feature, sums[row * STRIDE + feature]);
            }
        }
    } else if (a.epilogue == GEMM_SWIGLU || a.epilogue > GEMM_LOGITS) {
        for (int i = threadIdx.x; i < FEATURES / 16 * valid_rows; i += THREADS) {
            int row = i / (FEATURES / 16), feature = i % (FEATURES / 16) * 16;
            if (feature < valid_features) {
                gemm_store_gated(a, place.row + row, place.feature + feature, sums + row * STRIDE + feature);
            }
        }
    } else {
        for (int i = threadIdx.x; i < FEATURES / 8 * valid_rows; i += THREADS) {
            int row = i / (FEATURES / 8), feature = i % (FEATURES / 8) * 8;
            if (feature < valid_features) {
                gemm_store8(a, place.row + row, place.feature + feature, sums + row * STRIDE + feature);
            }
        }
    }
}

// The index of 16 bytes of a row in a panel of [rows][64] elements. Within its row of 128 bytes, a piece is at its
// number xor the row's number. So ldmatrix has no bank conflicts, and wgmma finds its 128-byte swizzle.
__device__ __forceinline__ int panel_at(int row, int piece) { return row * 64 + ((piece ^ (row & 7)) << 3); }

// One thread's share of loading COUNT rows of PANELS * 64 elements into panels of [COUNT][64], 16 bytes at a time.
// Missing rows become zero. With SKIP they keep their old contents, which is harmless because rows do not influence
// each other's sums. SKIP is for few rows; with many rows, the branch costs more time than it saves.
template <int COUNT, int PANELS, int PANEL_STRIDE, int THREADS, bool SKIP = false>
struct GemmLoader {
    static constexpr int kPieces = PANELS * 8;
    static constexpr int kLoads = (COUNT * kPieces + THREADS - 1) / THREADS;
    int source[kLoads];  // the row in global memory; -1 if there is no such row

    __device__ __forceinline__ static int row(int i) { return threadIdx.x / kPieces + i * (THREADS / kPieces); }

    __device__ __forceinline__ GemmLoader(int first, int limit, const int* gather) {
#pragma unroll
        for (int i = 0; i < kLoads; ++i) {
            int at = first + row(i);
            source[i] = at >= limit ? -1 : gather ? gather[at] : at;
        }
    }

    __device__ __forceinline__ void load(bf16* to, const bf16* from, int k, int depth, int stride) const {
        int piece = threadIdx.x % kPieces, column = k + piece * 8;
        bf16* panel = to + piece / 8 * PANEL_STRIDE;
#pragma unroll
        for (int i = 0; i < kLoads; ++i) {
            int at = row(i);
            if (COUNT * kPieces % THREADS && at >= COUNT) break;
            if (SKIP && source[i] < 0) continue;
            bool valid = source[i] >= 0 && column < depth;
            cp_async16(panel + panel_at(at, piece % 8),
                       from + (valid ? size_t(source[i]) * stride + column : 0), valid);
        }
    }
};

// A block's tile of FEATURES x ROWS. WARPS_F x WARPS_R warps share it, in SLICES of k. A stage is PANELS blocks of 64
// k. There are STAGES stages in shared memory; all but one are being loaded.
template <int FEATURES, int ROWS, int WARPS_F, int WARPS_R, int SLICES, int PANELS, int STAGES>
struct GemmTile {
    static constexpr int kThreads = WARPS_F * WARPS_R * SLICES * 32, kFeatures = FEATURES, kRows = ROWS;
    static constexpr int kWarpFeatures = FEATURES / WARPS_F, kWarpRows = ROWS / WARPS_R;
    static constexpr int kPanel = (FEATURES + ROWS) * 64, kStage = kPanel * PANELS;
    // Stride of the sums in shared memory. With it, a warp's fragment has no bank conflicts.
    static constexpr int kStride = FEATURES + 4;
    static constexpr int kF = kWarpFeatures / 16, kR = kWarpRows / 8;
    using Sums = float[kF][kR][4];

    __device__ __forceinline__ static void multiply(Sums& sums, const bf16* stage, int feature, int row, int slice) {
        int lane = threadIdx.x % 32;
#pragma unroll
        for (int p = 0; p < PANELS; ++p) {
            const bf16* w = stage + p * kPanel;
            const bf16* x = w + FEATURES * 64;
#pragma unroll
            for (int step = 0; step < 4 / SLICES; ++step) {
                int piece = (slice * (4 / SLICES) + step) * 2;
                uint32_t a[kF][4], b[(kR + 1) / 2][4];
#pragma unroll
                for (int i = 0; i < kF; ++i) {
                    ldmatrix_x4(a[i], w + panel_at(feature + i * 16 + lane % 16, piece + lane / 16));
                }
#pragma unroll
                for (int j = 0; j < (kR + 1) / 2; ++j) {
                    int at = row + j * 16 + lane % 8 + (kR > 1 ? lane / 16 * 8 : 0);
                    ldmatrix_x4(b[j], x + panel_at(at, piece + lane / 8 % 2));
                }
#pragma unroll
                for (int i = 0; i < kF; ++i) {
#pragma unroll
                    for (int j = 0; j < kR; ++j) {
                        mma_m16n8k16(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
                    }
                }
            }
        }
    }

    template <class Visit>
    __device__ __forceinline__ static void each(int feature, int row, Visit visit) {
        int lane = threadIdx.x % 32;
#pragma unroll
        for (int i = 0; i < kF; ++i) {
#pragma unroll
            for (int j = 0; j < kR; ++j) {
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    visit(i, j, e,
                          (row + j * 8 + lane % 4 * 2 + e % 2) * kStride + feature + i * 16 + lane / 4 + e / 2 * 8);
                }
            }
        }
    }

    // Adds the sums of the slices in shared memory, [row][feature].
    __device__ __forceinline__ static void reduce(Sums& sums, float* shared, int feature, int row, int slice) {
        constexpr int kPart = ROWS * kStride;
        __syncthreads();
        if (slice > 0) {
            float* part = shared + (slice - 1) * kPart;
            each(feature, row, [&](int i, int j, int e, int at) { part[at] = sums[i][j][e]; });
        }
        if (SLICES > 1) __syncthreads();
        if (slice == 0) {
            each(feature, row, [&](int i, int j, int e, int at) {
                float sum = sums[i][j][e];
#pragma unroll
                for (int s = 0; s < SLICES - 1; ++s) sum += shared[s * kPart + at];
                shared[at] = sum;
            });
        }
        __syncthreads();
    }

    // Rows from `rows` on do not exist.
    __device__ __forceinline__ static void tile(const GemmArguments& a, GemmPlace place, int rows) {
        SHARED(bf16, stages);
        int warp = threadIdx.x / 32, slice = warp / (WARPS_F * WARPS_R);
        int feature = warp % WARPS_F * kWarpFeatures, row = warp / WARPS_F % WARPS_R * kWarpRows;
        GemmLoader<FEATURES, PANELS, kPanel, kThreads> weights(place.feature, a.features, nullptr);
        GemmLoader<ROWS, PANELS, kPanel, kThreads> x(place.row, rows, a.gather);
        int steps = (a.depth + PANELS * 64 - 1) / (PANELS * 64);
        auto load = [&](int step) {
            if (step < steps) {
                bf16* stage = stages + step % STAGES * kStage;
                weights.load(stage, reinterpret_cast<const bf16*>(a.weights), step * PANELS * 64, a.depth, a.depth);
                x.load(stage + FEATURES * 64, a.x, step * PANELS * 64, a.depth, a.xStride);
            }
            cp_async_commit();
        };
        Sums sums = {};
        for (int step = 0; step < STAGES - 1; ++step) load(step);
        for (int step = 0; step < steps; ++step) {
            cp_async_wait<STAGES - 2>();
            __syncthreads();
            load(step + STAGES - 1);
            multiply(sums, stages + step % STAGES * kStage, feature, row, slice);
        }
        cp_async_wait<0>();
        float* shared = reinterpret_cast<float*>(stages);
        reduce(sums, shared, feature, row, slice);
        gemm_store<FEATURES, ROWS, kStride, kThreads>(a, place, rows, shared);
    }
};

#define GEMM_TILE_KERNEL(name, blocks, ...)                                       \
    BOUNDED_KERNEL((__VA_ARGS__::kThreads), blocks, name, GEMM_PARAMETERS) {       \
        gemm_run<__VA_ARGS__>(GEMM_PARAMETER_NAMES);                               \
    }
#define GEMM_KERNEL(name, blocks, ...) GEMM_TILE_KERNEL(name, blocks, GemmTile<__VA_ARGS__>)

// Two slices of k, which deterministic mode requires. Names: features x rows of a tile.
GEMM_KERNEL(rf_gemm_16x8, 4, 16, 8, 1, 1, 2, 2, 8)
GEMM_KERNEL(rf_gemm_32x8, 2, 32, 8, 2, 1, 2, 2, 8)
GEMM_KERNEL(rf_gemm_32x16, 2, 32, 16, 2, 1, 2, 2, 6)
GEMM_KERNEL(rf_gemm_64x32, 2, 64, 32, 2, 1, 2, 2, 4)
GEMM_KERNEL(rf_gemm_64x64, 2, 64, 64, 2, 2, 2, 1, 5)
GEMM_KERNEL(rf_gemm_128x64, 2, 128, 64, 2, 2, 2, 1, 4)
GEMM_KERNEL(rf_gemm_128x128, 1, 128, 128, 2, 2, 2, 1, 3)
// Four slices, for matrices that are too small to fill the device with the tiles above. Only in `fast` mode.
GEMM_KERNEL(rf_gemm_fast_16x8, 4, 16, 8, 1, 1, 4, 4, 4)
GEMM_KERNEL(rf_gemm_fast_16x16, 2, 16, 16, 1, 1, 4, 4, 4)
GEMM_KERNEL(rf_gemm_fast_32x32, 2, 32, 32, 1, 1, 4, 2, 4)
