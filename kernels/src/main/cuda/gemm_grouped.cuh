// Products of many matrices of one shape, each with rows of its own: experts with the rows that chose them, heads of
// latent attention with their part of every row. The arithmetic is that of gemm.cuh with two slices, so an element depends
// on its row and its weights alone, whatever rows are beside it.
#pragma once
#include "gemm_quantised.cuh"

struct GroupedArguments : GemmArguments {
    int xStride, outStride;

    __device__ __forceinline__ int x_stride() const { return xStride; }
    __device__ __forceinline__ int out_stride(int) const { return outStride; }
};

// Matrix m begins at weights + m * weightBytes. With tiles, block y computes tile y of *count: rows tiles[y].y and
// following, tiles[y].z of them, times matrix tiles[y].x. Without, matrix blockIdx.z takes all of *count rows. Row r reads
// x[gather[r]], or x[r] where gather is null. Matrix m reads a row from element m * xOffset on and writes one from
// m * outOffset on; rows are xStride and outStride elements apart. bias is [matrix][feature], f32, or null; bound as in
// GemmEpilogue.
#define GROUPED_PARAMETERS                                                                                               \
    const char *weights, long long weightBytes, const bf16 *x, void *out, const int4 *tiles, const int *count,            \
        const int *gather, int features, int depth, int epilogue, const float *bias, float bound, int xStride, int xOffset, int outStride, int outOffset

template <class Tile, int FEATURES, int ROWS>
__device__ __forceinline__ void gemm_grouped(GROUPED_PARAMETERS) {
    int matrix = blockIdx.z, first = blockIdx.y * ROWS, end = *count;
    if (tiles) {
        if (int(blockIdx.y) >= end) return;
        int4 tile = tiles[blockIdx.y];
        matrix = tile.x;
        first = tile.y;
        end = tile.y + tile.z;
    }
    if (first >= end) return;
    size_t elementBytes = epilogue == GEMM_LOGITS ? sizeof(float) : sizeof(bf16);
    GroupedArguments a;
    a.weights = reinterpret_cast<const bf16*>(weights + size_t(matrix) * weightBytes);
    a.x = x + size_t(matrix) * xOffset;
    a.out = static_cast<char*>(out) + size_t(matrix) * outOffset * elementBytes;
    a.extra = bias ? bias + size_t(matrix) * features : nullptr;
    a.rows = nullptr;
    a.gather = gather;
    a.features = features;
    a.depth = depth;
    a.epilogue = epilogue;
    a.scale = 1;
    a.bound = bound;
    a.xStride = xStride;
    a.outStride = outStride;
    Tile::tile(a, {int(blockIdx.x) * FEATURES, first}, end);
}

#define GROUPED_KERNEL(name, blocks, features_, rows_, tile_)                                                             \
    BOUNDED_KERNEL((tile_::kThreads), blocks, name##_##features_##x##rows_, GROUPED_PARAMETERS) {                         \
        gemm_grouped<tile_, features_, rows_>(weights, weightBytes, x, out, tiles, count, gather, features, depth,        \
                                              epilogue, bias, bound, xStride, xOffset, outStride, outOffset);             \
    }
#define GROUPED_QUANTISED_KERNELS(name, group)                                \
    using Tile_##group##_8 = QuantisedTile<group, 16, 8, 1, 1, 2, 8>;         \
    using Tile_##group##_16 = QuantisedTile<group, 32, 16, 2, 1, 2, 6>;       \
    using Tile_##group##_64 = QuantisedTile<group, 64, 64, 2, 2, 1, 5>;       \
    GROUPED_KERNEL(name, 4, 16, 8, Tile_##group##_8)                          \
    GROUPED_KERNEL(name, 2, 32, 16, Tile_##group##_16)                        \
    GROUPED_KERNEL(name, 2, 64, 64, Tile_##group##_64)

using Tile_bf16_8 = GemmTile<16, 8, 1, 1, 2, 2, 8>;
using Tile_bf16_16 = GemmTile<32, 16, 2, 1, 2, 2, 6>;
using Tile_bf16_64 = GemmTile<64, 64, 2, 2, 2, 1, 5>;
GROUPED_KERNEL(rf_grouped, 4, 16, 8, Tile_bf16_8)
GROUPED_KERNEL(rf_grouped, 2, 32, 16, Tile_bf16_16)
GROUPED_KERNEL(rf_grouped, 2, 64, 64, Tile_bf16_64)
GROUPED_QUANTISED_KERNELS(rf_grouped_q8_0, GroupQ8_0)
GROUPED_QUANTISED_KERNELS(rf_grouped_q4_0, GroupQ4_0)
GROUPED_QUANTISED_KERNELS(rf_grouped_q4_1, GroupQ4_1)
GROUPED_QUANTISED_KERNELS(rf_grouped_q4_k, GroupQ4_K)
GROUPED_QUANTISED_KERNELS(rf_grouped_q6_k, GroupQ6_K)
