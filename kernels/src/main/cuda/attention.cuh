// Causal attention of a step's rows over the KV pool.
//
// The rows of a chunk and the query heads that share a KV head are packed: packed row p is row p / group and head p %
// group of the group. 16 packed rows are the rows of an mma tile. Keys are cut into splits of
// header[kHeaderSplitTokens] tokens from position 0. Within a split, the softmax of a row runs over tiles of 32 keys in
// order. Then the results of the splits are combined in order. So an element of the result depends only on its row and
// the keys before it, whatever the kernel and the tile. Splits have the same length in every step, so the arithmetic is
// the same in every step.
//
// Two kernels share a step's work. In rf_attend_keys, the warps of a block take the splits of 16 packed rows in turn.
// In rf_attend_rows, each warp has its own 16 packed rows, and all warps read the same keys. If a tile spans all keys
// of its rows, the kernel writes the result. Otherwise it writes partial results: one per split, or, if the mode is not
// deterministic, one for all splits of a tile. The last block that writes partial results for some rows combines them.
#pragma once
#include "attention_warp.cuh"

// Combines the partial results of one packed row. A lane has four elements, or twice four.
template <int D>
__device__ __forceinline__ void fold_partials(const AttentionArguments& a, const AttentionTile& tile, int p, int kvHead) {
    int lane = threadIdx.x % 32, row = p / a.group, head = kvHead * a.group + p % a.group;
    if (lane >= D / 4) return;
    int keysOfPartial = tile.splitTokens * tile.folded, at = tile.position + row;
    int partials = at / keysOfPartial + 1;
    size_t first = tile.partial_at(a, p, 0, kvHead);
    for (int element = lane * 4; element < D; element += 128) {
        float o[4] = {};
        RowState total = {-INFINITY, 0};
#pragma unroll 4
        for (int i = first_key(a, at) / keysOfPartial; i < partials; ++i) {
            size_t partial = first + size_t(i) * a.kvHeads;
            float2 weight = __ldcg(a.weight + partial);
            float4 split = __ldcg(reinterpret_cast<const float4*>(a.partial + partial * D + element));
            FoldFactors by = fold_state(total, {weight.x, weight.y});
            o[0] = fold(o[0], split.x, by);
            o[1] = fold(o[1], split.y, by);
            o[2] = fold(o[2], split.z, by);
            o[3] = fold(o[3], split.w, by);
        }
        float inverse = result_factor(a, head, total);
        size_t to = (size_t(tile.firstRow + row) * a.kvHeads * a.group + head) * D + element;
        bf162* out = reinterpret_cast<bf162*>(a.out + to);
        out[0] = __floats2bfloat162_rn(o[0] * inverse, o[1] * inverse);
        out[1] = __floats2bfloat162_rn(o[2] * inverse, o[3] * inverse);
    }
}

// Called after the partial results of a tile are written. The block that completes the splits of its packed rows
// combines them. All threads must call it, after the last use of the block's shared memory.
template <int D>
__device__ __forceinline__ void fold_if_last(const AttentionArguments& a, const AttentionTile& tile, int tileRows,
                                             int kvHead, int* shared) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        int* arrived = a.arrived + tile.partial_at(a, tile.packed, 0, kvHead);
        int all = (tile.keys + tile.splitTokens - 1) / tile.splitTokens;
        bool last = atomicAdd(arrived, tile.planned) + tile.planned == all;
        if (last) *arrived = 0;
        *shared = last;
    }
    __syncthreads();
    if (!*shared) return;
    __threadfence();
    int end = min(tile.packed + tileRows, tile.packedRows);
    for (int p = tile.packed + threadIdx.x / 32; p < end; p += kAttendWarps) fold_partials<D>(a, tile, p, kvHead);
}

// Tiles of 16 packed rows. Each warp has SLOTS half stages in shared memory, each the keys or the values of a tile; all
// but one are being loaded.
template <int D, bool FLOAT8, int SLOTS>
struct AttendKeys {
    static constexpr int kHalf = KeyTile<D, FLOAT8>::kWords;

    // The keys at which the tiles of one warp's splits begin.
    struct Sequence {
        int tilesOfSplit, first, warp, splitTokens, tiles;

        __device__ __forceinline__ Sequence(const AttentionTile& tile, int warp)
            : tilesOfSplit(tile.splitTokens / kTileKeys), first(tile.split), warp(warp), splitTokens(tile.splitTokens) {
            int splits = (tile.splits - warp + kAttendWarps - 1) / kAttendWarps;
            int last = split(splits - 1) * splitTokens;
            int lastTiles = (min(tile.keys - last, splitTokens) + kTileKeys - 1) / kTileKeys;
            tiles = splits <= 0 ? 0 : (splits - 1) * tilesOfSplit + lastTiles;
        }
        __device__ __forceinline__ int split(int round) const { return first + warp + round * kAttendWarps; }
        __device__ __forceinline__ int key(int i) const {
            return split(i / tilesOfSplit) * splitTokens + i % tilesOfSplit * kTileKeys;
        }
    };

    __device__ __forceinline__ static void attend(const AttentionArguments& a, int4 work, int kvHead, bf16* shared) {
        AttentionTile tile(a, work, 16);
        int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        bf16* ring = shared + warp * SLOTS * kHalf;
        AttentionTotal<D> total(reinterpret_cast<float*>(shared + kAttendWarps * SLOTS * kHalf));
        if (warp == 0) total.clear();
        Sequence sequence(tile, warp);
        KeyLoader<D, FLOAT8, 32> loader(a, tile, kvHead);
        AttentionWarp<D, FLOAT8> rows(a, tile, tile.packed, kvHead);
        int issued = 0;
        loader.look_up(sequence.key(0));
        auto load = [&] {
            int i = issued / 2;
            if (i < sequence.tiles) {
                int key = sequence.key(i);
                if (issued % 2 == 0) loader.advance(i + 1 < sequence.tiles ? sequence.key(i + 1) : tile.keys);
                loader.load(ring + issued % SLOTS * kHalf, issued % 2 ? a.v : a.k, key, lane);
            }
            cp_async_commit();
            ++issued;
        };
        auto await = [&] {
            cp_async_wait<SLOTS - 2>();
            __syncwarp();
            load();
        };
        for (int i = 0; i < SLOTS - 1; ++i) load();
        int i = 0;
        for (int round = 0; round * kAttendWarps < tile.splits; ++round) {
            int split = sequence.split(round), end = min((round + 1) * sequence.tilesOfSplit, sequence.tiles);
            rows.clear();
            for (; i < end; ++i) {
                uint32_t weights[2][4];
                await();
                rows.score(ring + 2 * i % SLOTS * kHalf, sequence.key(i), weights);
                await();
                rows.gather(ring + (2 * i + 1) % SLOTS * kHalf, weights);
            }
            rows.finish();
            bool mine = split < tile.split + tile.splits;
            if (tile.leaves_splits()) {
                if (mine) rows.template store_partial<D>(a, tile, tile.packed, kvHead, split);
                continue;
            }
            for (int turn = 0; turn < kAttendWarps; ++turn) {
                if (turn == warp && mine) total.add(rows, split * tile.splitTokens);
                __syncthreads();
            }
        }
        cp_async_wait<0>();
        if (!tile.leaves_splits() && warp == 0) total.store(a, tile, tile.packed, kvHead);
        if (tile.partial >= 0) fold_if_last<D>(a, tile, 16, kvHead, reinterpret_cast<int*>(shared));
        __syncthreads();
    }

    __device__ __forceinline__ static void run(const AttentionArguments& a) {
        SHARED(bf16, shared);
        for (int tile = blockIdx.x; tile < a.header[kHeaderKeyTiles]; tile += gridDim.x) {
            attend(a, a.tiles[tile], blockIdx.y, shared);
        }
    }
};

// Tiles of 64 packed rows, 16 per warp.
template <int D, bool FLOAT8, int STAGES>
struct AttendRows {
    static constexpr int kThreads = kAttendWarps * 32, kRows = kAttendWarps * 16;
    static constexpr int kHalf = KeyTile<D, FLOAT8>::kWords;

    __device__ __forceinline__ static void attend(const AttentionArguments& a, int4 work, int kvHead, bf16* shared) {
        AttentionTile tile(a, work, kRows);
        int packed = tile.packed + threadIdx.x / 32 * 16, tilesOfSplit = tile.splitTokens / kTileKeys;
        int first = tile.split * tilesOfSplit;
        int end = min((tile.split + tile.splits) * tilesOfSplit, (tile.keys + kTileKeys - 1) / kTileKeys);
        int last = packed < tile.packedRows
                       ? tile.position + (min(packed + 16, tile.packedRows) - 1) / a.group
                       : -1;  // the last key that a row of this warp sees
        KeyLoader<D, FLOAT8, kThreads> loader(a, tile, kvHead);
        AttentionWarp<D, FLOAT8> rows(a, tile, packed, kvHead);
        float* totals = reinterpret_cast<float*>(shared + STAGES * 2 * kHalf);
        AttentionTotal<D> total(totals + threadIdx.x / 32 * AttentionTotal<D>::kFloats);
        total.clear();
        loader.look_up(first * kTileKeys);
        auto load = [&](int i) {
            if (i < end) {
                bf16* stage = shared + (i - first) % STAGES * 2 * kHalf;
                loader.advance((i + 1) * kTileKeys);
                loader.load(stage, a.k, i * kTileKeys, threadIdx.x);
                loader.load(stage + kHalf, a.v, i * kTileKeys, threadIdx.x);
            }
            cp_async_commit();
        };
        for (int i = 0; i < STAGES - 1; ++i) load(first + i);
        for (int i = first; i < end; ++i) {
            cp_async_wait<STAGES - 2>();
            __syncthreads();
            load(i + STAGES - 1);
            int split = i / tilesOfSplit;
            if (i * kTileKeys <= last) {
                const bf16* stage = shared + (i - first) % STAGES * 2 * kHalf;
                uint32_t weights[2][4];
                rows.score(stage, i * kTileKeys, weights);
                rows.gather(stage + kHalf, weights);
            }
            if (i + 1 == end || (i + 1) % tilesOfSplit == 0) {
                rows.finish();
                if (tile.leaves_splits()) {
                    rows.template store_partial<D>(a, tile, packed, kvHead, split);
                } else {
                    total.add(rows, split * tile.splitTokens);
                }
                rows.clear();
            }
        }
        cp_async_wait<0>();
        if (!tile.leaves_splits()) total.store(a, tile, packed, kvHead);
        if (tile.partial >= 0) fold_if_last<D>(a, tile, kRows, kvHead, reinterpret_cast<int*>(shared));
        __syncthreads();
    }

    __device__ __forceinline__ static void run(const AttentionArguments& a) {
        SHARED(bf16, shared);
        int tiles = a.header[kHeaderTiles];
        for (int tile = a.header[kHeaderKeyTiles] + blockIdx.x; tile < tiles; tile += gridDim.x) {
            attend(a, a.tiles[tile], blockIdx.y, shared);
        }
    }
};

#define ATTENTION_PARAMETERS                                                                                           \
    const bf16 *q, int qStride, const void *k, const void *v, bf16 *out, float *partial, float2 *weight, int *arrived, \
        const int *header, const int4 *tiles, const int *merge, const int *chunkFirstRow, const int *chunkPosition,    \
        const int *chunkPageStart, const int *pageIds, int kvHeads, int group, int pageTokens, float scale,  \
        float capScale, int window, const float *sinks
#define ATTENTION_ARGUMENTS                                                                                            \
    {q, qStride, k, v, out, partial, weight, arrived, header, tiles, merge, chunkFirstRow, chunkPosition,              \
     chunkPageStart, pageIds, kvHeads, group, pageTokens, scale, capScale, window, sinks}
#define ATTENTION_KERNELS(D, NAME, FLOAT8, SLOTS, STAGES)                                                              \
    BOUNDED_KERNEL(128, (D > 128 ? 1 : 2), rf_attend_keys_##NAME, ATTENTION_PARAMETERS) {                              \
        AttendKeys<D, FLOAT8, SLOTS>::run(ATTENTION_ARGUMENTS);                                                        \
    }                                                                                                                  \
    BOUNDED_KERNEL(128, (D > 128 ? 1 : 2), rf_attend_rows_##NAME, ATTENTION_PARAMETERS) {                              \
        AttendRows<D, FLOAT8, STAGES>::run(ATTENTION_ARGUMENTS);                                                       \
    }

ATTENTION_KERNELS(16, 16, false, 4, 4)
ATTENTION_KERNELS(32, 32, false, 4, 4)
ATTENTION_KERNELS(64, 64, false, 4, 4)
ATTENTION_KERNELS(80, 80, false, 4, 4)
ATTENTION_KERNELS(96, 96, false, 3, 3)
ATTENTION_KERNELS(128, 128, false, 3, 3)
ATTENTION_KERNELS(256, 256, false, 2, 2)
ATTENTION_KERNELS(16, 16_float8, true, 4, 4)
ATTENTION_KERNELS(32, 32_float8, true, 4, 4)
ATTENTION_KERNELS(64, 64_float8, true, 4, 4)
ATTENTION_KERNELS(80, 80_float8, true, 4, 4)
ATTENTION_KERNELS(96, 96_float8, true, 4, 4)
ATTENTION_KERNELS(128, 128_float8, true, 4, 4)
ATTENTION_KERNELS(256, 256_float8, true, 2, 2)
