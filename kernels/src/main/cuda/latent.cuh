// Multi-head latent attention (DeepSeek-AI 2024), absorbed. For each token the pool contains one compressed vector and
// one rotated part, which all heads share: [slot][RANK + ROTATED]. Queries are projected into the space of the
// compressed vectors, and these vectors are also the values. The products with each head's matrices are in gemm.cuh.
//
// Tiles, splits and partials are the same as in attention.cuh with one KV head and all query heads as its group; every
// tile has 16 packed rows. So an element of the result depends only on its row and the keys before it.
#pragma once
#include "attention.cuh"
#include "norm.cuh"

// Stores a row's key, which the block has as floats, in pages of 8-bit floats: [slot][width, padded to a multiple of
// 16] codes, then [slot] scales. In each 16 elements the first and the second eight are interleaved, which is the order
// that the tensor cores need. All threads call it. tops: one integer per warp in shared memory.
__device__ __forceinline__ void store_latent_float8(unsigned char* pool, int slot, int pageTokens, const float* kept,
                                                    int width, uint32_t* tops) {
    uint32_t top = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < width; i += blockDim.x) top = max(top, magnitude_bits(kept[i]));
#pragma unroll
    for (int distance = 16; distance; distance >>= 1) top = max(top, __shfl_xor_sync(0xffffffffu, top, distance));
    if (threadIdx.x % 32 == 0) tops[threadIdx.x / 32] = top;
    __syncthreads();
    for (int warp = 0; warp < int(blockDim.x) / 32; ++warp) top = max(top, tops[warp]);
    uint32_t scale = float8_scale(top);
    int place = slot & (pageTokens - 1), pitch = (width + 15) / 16 * 16;
    unsigned char* page = pool + size_t(slot - place) * (pitch + kFloat8ScaleBytes);
    for (int i = threadIdx.x; i < pitch; i += blockDim.x) {
        int element = i / 16 * 16 + i % 2 * 8 + i % 16 / 2;
        page[place * pitch + i] = element < width ? float8_code(kept[element], scale) : 0;
    }
    if (threadIdx.x == 0) page[pageTokens * pitch + place] = scale;
}

// A row of latent is the compressed vector, then the rotated part. The vector is RMS-normalised, the other part is
// rotated by the row's position, and both are stored in the row's slot of the pool. A row of queries is [heads][plain +
// rotated]; the rotated parts follow the compressed parts in compressed, [heads][rank + rotated]. rotations is
// [position][cosines, then sines of rotated / 2 pairs]; a pair is (2i, 2i + 1) if interleaved is set, else (i, i +
// rotated / 2). One block per row. Shared memory: one float per warp, and for 8-bit floats one per element.
template <bool FLOAT8>
__device__ __forceinline__ void latent_store(const bf16* latent, const float* gain, const float* rotations,
                                             const bf16* queries, bf16* compressed, void* pool, const int* rows,
                                             const int* rowPosition, const int* rowSlot, int heads, int rank, int plain,
                                             int rotated, int interleaved, float epsilon, int pageTokens) {
    SHARED(float, partial);
    float* kept = partial + blockDim.x / 32;
    int row = blockIdx.x, width = rank + rotated, half = rotated / 2;
    if (row >= *rows) return;
    latent += size_t(row) * width;
    float squares = 0;
    for (int i = threadIdx.x; i < rank; i += blockDim.x) {
        float v = __bfloat162float(latent[i]);
        squares = fmaf(v, v, squares);
    }
    float scale = rsqrtf(block_sum(squares, partial) / rank + epsilon);
    bf16* to = static_cast<bf16*>(pool) + size_t(rowSlot[row]) * width;
    auto keep = [&](int i, float v) {
        if (FLOAT8) {
            kept[i] = v;
        } else {
            to[i] = __float2bfloat16(v);
        }
    };
    for (int i = threadIdx.x; i < rank; i += blockDim.x) keep(i, __bfloat162float(latent[i]) * (scale * gain[i]));
    const float* turn = rotations + size_t(rowPosition[row]) * rotated;
    // number 0 is the key; the others are the queries of the heads
    for (int i = threadIdx.x; i < (heads + 1) * half; i += blockDim.x) {
        int head = i / half - 1, pair = i % half;
        const bf16* from = head < 0 ? latent + rank : queries + (size_t(row) * heads + head) * (plain + rotated) + plain;
        int first = interleaved ? 2 * pair : pair, second = interleaved ? first + 1 : pair + half;
        float a = __bfloat162float(from[first]), b = __bfloat162float(from[second]);
        float cosine = turn[pair], sine = turn[half + pair];
        float turned = a * cosine - b * sine, across = a * sine + b * cosine;
        if (head < 0) {
            keep(rank + first, turned);
            keep(rank + second, across);
        } else {
            bf16* target = compressed + (size_t(row) * heads + head) * width + rank;
            target[first] = __float2bfloat16(turned);
            target[second] = __float2bfloat16(across);
        }
    }
    if (FLOAT8) {
        store_latent_float8(static_cast<unsigned char*>(pool), rowSlot[row], pageTokens, kept, width,
                            reinterpret_cast<uint32_t*>(partial));
    }
}

#define LATENT_STORE_KERNEL(NAME, FLOAT8)                                                                                 \
    BOUNDED_KERNEL(128, 1, NAME, const bf16* latent, const float* gain, const float* rotations, const bf16* queries,      \
                   bf16* compressed, void* pool, const int* rows, const int* rowPosition, const int* rowSlot, int heads,  \
                   int rank, int plain, int rotated, int interleaved, float epsilon, int pageTokens) {                    \
        latent_store<FLOAT8>(latent, gain, rotations, queries, compressed, pool, rows, rowPosition, rowSlot, heads, rank, \
                             plain, rotated, interleaved, epsilon, pageTokens);                                           \
    }

LATENT_STORE_KERNEL(rf_latent_store, false)
LATENT_STORE_KERNEL(rf_latent_store_float8, true)

// Tiles of 16 packed rows. Each of four warps scores 8 of a tile's 32 keys and sums a quarter of the values' columns.
// All warps compute the softmax of all rows. There are STAGES tiles of keys in shared memory; all but one are being
// loaded.
template <int RANK, int ROTATED, bool FLOAT8, int STAGES>
struct AttendLatent {
    static constexpr int kReal = RANK + ROTATED, kWidth = (kReal + 15) / 16 * 16, kPieces = kWidth / 8;
    static constexpr int kThreads = kAttendWarps * 32, kRows = 16, kScoreStride = kTileKeys + 4;
    using Tile = KeyTile<kWidth, FLOAT8>;
    static constexpr int kStage = Tile::kWords, kColumns = RANK / kAttendWarps, kN = kColumns / 8;

    // Loads keys from `key` on, with zeros after the last key and after the last element of each key.
    __device__ __forceinline__ static void load(const AttentionArguments& a, const AttentionTile& tile, bf16* to, int key,
                                                int2 page) {
        if (FLOAT8) {
            KeyLoader<kWidth, true, kThreads> loader(a, tile, 0);
            loader.page[0] = page.x;
            loader.page[1] = page.y;
            loader.load(to, a.k, key, threadIdx.x);
            return;
        }
        int shift = __ffs(a.pageTokens) - 1;
#pragma unroll 6
        for (int at = threadIdx.x; at < kTileKeys * kPieces; at += kThreads) {
            int row = at / kPieces, piece = at % kPieces, slot = (key + row) & (a.pageTokens - 1);
            size_t token = (size_t(row < 16 ? page.x : page.y) << shift) + slot;
            bool valid = key + row < tile.keys && piece < kReal / 8;
            cp_async16(to + key_at<kWidth>(row, piece), static_cast<const bf16*>(a.k) + (valid ? token * kReal + piece * 8 : 0), valid);
        }
    }

    __device__ __forceinline__ static void load_queries(const AttentionArguments& a, const AttentionTile& tile, bf16* to) {
        for (int at = threadIdx.x; at < kRows * kPieces; at += kThreads) {
            int row = at / kPieces, piece = at % kPieces, p = tile.packed + row;
            bool valid = p < tile.packedRows && piece < kReal / 8;
            size_t from = (size_t(tile.firstRow) * a.group + p) * kReal + piece * 8;
            cp_async16(to + key_at<kWidth>(row, piece), a.q + (valid ? from : 0), valid);
        }
    }

    // Multiplies this warp's 8 keys with all rows; the scores go to shared memory, [row][key].
    __device__ __forceinline__ static void score(const bf16* queries, const bf16* keys, float* scores) {
        constexpr int kSteps = kWidth / 16;
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        float chains[2][4] = {};  // sums of even and of odd steps
        auto multiply = [&](int step, uint32_t first, uint32_t second) {
            uint32_t q[4];
            ldmatrix_x4(q, queries + key_at<kWidth>(lane % 16, step * 2 + lane / 16));
            mma_m16n8k16(chains[step % 2], q, first, second);
        };
#pragma unroll
        for (int step = 0; step < kSteps; step += FLOAT8 ? 2 : 1) {
            uint32_t k[2];
            if (FLOAT8) {
                int piece = min(step + lane / 8 % 2, kSteps - 1);
                ldmatrix_x2(k, keys + key_at<Tile::kRow>(warp * 8 + lane % 8, piece));
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    uint32_t first, second;
                    widen_float8(k[i], first, second);
                    if (step + i < kSteps) multiply(step + i, first, second);
                }
            } else {
                ldmatrix_x2(k, keys + key_at<kWidth>(warp * 8 + lane % 8, step * 2 + lane / 8 % 2));
                multiply(step, k[0], k[1]);
            }
        }
        float sum[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) sum[e] = chains[0][e] + chains[1][e];
        if (FLOAT8) scale_products(sum, keys + Tile::kScales, warp);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            scores[(lane / 4 + e / 2 * 8) * kScoreStride + warp * 8 + lane % 4 * 2 + e % 2] = sum[e];
        }
    }

    // A warp's columns of all 16 rows, and the total of the splits so far.
    struct Warp : AttentionRows<kN> {
        AttentionRows<kN> total;
        int column;

        __device__ __forceinline__ Warp(const AttentionArguments& a, const AttentionTile& tile)
            : AttentionRows<kN>(a, tile, tile.packed), total(a, tile, tile.packed), column(threadIdx.x / 32 * kColumns) {}

        __device__ __forceinline__ void weigh(const AttentionArguments& a, const float* scores, int key,
                                              uint32_t (&weights)[2][4]) {
            int lane = threadIdx.x % 32;
            float s[4][4];
#pragma unroll
            for (int i = 0; i < 16; ++i) {
                s[i / 4][i % 4] = scores[(lane / 4 + i % 4 / 2 * 8) * kScoreStride + i / 4 * 8 + lane % 4 * 2 + i % 2];
            }
            AttentionRows<kN>::weigh(a, s, key, weights);
        }

        __device__ __forceinline__ void gather(const bf16* keys, uint32_t (&weights)[2][4]) {
            int lane = threadIdx.x % 32;
            if (FLOAT8) {
                gather_float8(keys, weights);
            } else {
#pragma unroll
                for (int i = 0; i < 2 * kN; ++i) {
                    uint32_t b[2];
                    ldmatrix_x2_trans(b, keys + key_at<kWidth>(i / kN * 16 + lane % 16, column / 8 + i % kN));
                    mma_m16n8k16(this->o[i % kN], weights[i / kN], b[0], b[1]);
                }
            }
        }

        // A piece has two groups of eight columns; a warp with one group takes its half of a piece.
        __device__ __forceinline__ void gather_float8(const bf16* keys, uint32_t (&weights)[2][4]) {
            bool upper = kN == 1 && column % 16;
            scale_weights(weights, keys + Tile::kScales);
#pragma unroll
            for (int i = 0; i < kN; i += 2) {
                uint32_t codes[4];
                ldmatrix_x4_trans(codes, keys + key_at<Tile::kRow>(threadIdx.x % 32, (column + i * 8) / 16));
#pragma unroll
                for (int j = 0; j < 2; ++j) {
                    uint32_t first[2], second[2];
                    widen_float8(codes[2 * j], first[0], second[0]);
                    widen_float8(codes[2 * j + 1], first[1], second[1]);
                    mma_m16n8k16(this->o[i], weights[j], upper ? second[0] : first[0], upper ? second[1] : first[1]);
                    if (kN > 1) mma_m16n8k16(this->o[(i + 1) % kN], weights[j], second[0], second[1]);
                }
            }
        }

        __device__ __forceinline__ void add(int firstKey) {
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                if (this->position[h] < firstKey) continue;
                FoldFactors by = fold_state(total.state[h], this->state[h]);
#pragma unroll
                for (int i = 0; i < kN * 2; ++i) {
                    float& sum = total.o[i / 2][h * 2 + i % 2];
                    sum = fold(sum, this->o[i / 2][h * 2 + i % 2], by);
                }
            }
        }

        __device__ __forceinline__ void store_result(const AttentionArguments& a, const AttentionTile& tile) const {
            int lane = threadIdx.x % 32;
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                if (this->position[h] < 0) continue;
                float inverse = 1.0f / total.state[h].sum;
                size_t row = size_t(tile.firstRow) * a.group + tile.packed + lane / 4 + h * 8;
                bf16* to = a.out + row * RANK + column + lane % 4 * 2;
#pragma unroll
                for (int i = 0; i < kN; ++i) {
                    *reinterpret_cast<bf162*>(to + i * 8) =
                        __floats2bfloat162_rn(total.o[i][h * 2] * inverse, total.o[i][h * 2 + 1] * inverse);
                }
            }
        }
    };

    __device__ __forceinline__ static void attend(const AttentionArguments& a, int4 work, bf16* shared) {
        AttentionTile tile(a, work, kRows);
        bf16* queries = shared + STAGES * kStage;
        float* scores = reinterpret_cast<float*>(queries + kRows * kWidth);
        int tilesOfSplit = tile.splitTokens / kTileKeys, first = tile.split * tilesOfSplit;
        int end = min((tile.split + tile.splits) * tilesOfSplit, (tile.keys + kTileKeys - 1) / kTileKeys);
        int shift = __ffs(a.pageTokens) - 1;
        int2 next;
        auto look_up = [&](int key) {
            next = {key < tile.keys ? tile.pages[key >> shift] : 0,
                    key + 16 < tile.keys ? tile.pages[(key + 16) >> shift] : 0};
        };
        auto fetch = [&](int i) {
            if (i < end) {
                int2 page = next;
                look_up((i + 1) * kTileKeys);
                load(a, tile, shared + (i - first) % STAGES * kStage, i * kTileKeys, page);
            }
            cp_async_commit();
        };
        look_up(first * kTileKeys);
        load_queries(a, tile, queries);
        Warp warp(a, tile);
        for (int i = 0; i < STAGES - 1; ++i) fetch(first + i);
        for (int i = first; i < end; ++i) {
            cp_async_wait<STAGES - 2>();
            __syncthreads();
            fetch(i + STAGES - 1);
            const bf16* keys = shared + (i - first) % STAGES * kStage;
            uint32_t weights[2][4];
            score(queries, keys, scores);
            __syncthreads();
            warp.weigh(a, scores, i * kTileKeys, weights);
            warp.gather(keys, weights);
            if (i + 1 == end || (i + 1) % tilesOfSplit == 0) {
                int split = i / tilesOfSplit;
                warp.finish();
                if (tile.leaves_splits()) {
                    warp.template store_partial<RANK>(a, tile, tile.packed, 0, split, warp.column);
                } else {
                    warp.add(split * tile.splitTokens);
                }
                warp.clear();
            }
        }
        cp_async_wait<0>();
        if (tile.partial < 0) {
            warp.store_result(a, tile);
        } else if (!tile.leaves_splits()) {
            warp.total.template store_partial<RANK>(a, tile, tile.packed, 0, tile.split, warp.column);
        }
        if (tile.partial >= 0) fold_if_last<RANK>(a, tile, kRows, 0, reinterpret_cast<int*>(scores));
        __syncthreads();
    }

    __device__ __forceinline__ static void run(const AttentionArguments& a) {
        SHARED(bf16, shared);
        for (int tile = blockIdx.x; tile < a.header[kHeaderKeyTiles]; tile += gridDim.x) {
            attend(a, a.tiles[tile], shared);
        }
    }
};

#define LATENT_KERNEL(RANK, ROTATED, NAME, FLOAT8, STAGES)                                                                \
    BOUNDED_KERNEL(128, 1, rf_attend_latent_##NAME, const bf16* q, const void* keys, bf16* out,                           \
                   float* partial, float2* weight, int* arrived, const int* header, const int4* tiles,                    \
                   const int* merge, const int* chunkFirstRow, const int* chunkPosition, const int* chunkPageStart,       \
                   const int* pageIds, int heads, int pageTokens, float scale) {                                          \
        AttentionArguments a = {};                                                                                        \
        a.q = q;                                                                                                          \
        a.k = keys;                                                                                                       \
        a.out = out;                                                                                                      \
        a.partial = partial;                                                                                              \
        a.weight = weight;                                                                                                \
        a.arrived = arrived;                                                                                              \
        a.header = header;                                                                                                \
        a.tiles = tiles;                                                                                                  \
        a.merge = merge;                                                                                                  \
        a.chunkFirstRow = chunkFirstRow;                                                                                  \
        a.chunkPosition = chunkPosition;                                                                                  \
        a.chunkPageStart = chunkPageStart;                                                                                \
        a.pageIds = pageIds;                                                                                              \
        a.kvHeads = 1;                                                                                                    \
        a.group = heads;                                                                                                  \
        a.pageTokens = pageTokens;                                                                                        \
        a.scale = scale;                                                                                                  \
        AttendLatent<RANK, ROTATED, FLOAT8, STAGES>::run(a);                                                              \
    }

LATENT_KERNEL(32, 8, 32_8, false, 2)
LATENT_KERNEL(512, 64, 512_64, false, 2)
LATENT_KERNEL(32, 8, 32_8_float8, true, 3)
LATENT_KERNEL(512, 64, 512_64_float8, true, 3)
