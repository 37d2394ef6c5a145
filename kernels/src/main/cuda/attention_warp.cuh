// One warp's part of attention: 16 packed rows times tiles of 32 keys, and splits of keys combined into a total. See
// attention.cuh.
#pragma once
#include "float8.cuh"

// Entries of the plan's header: number of tiles of both kernels; number of tiles of rf_attend_keys; tokens per split;
// splits that are combined into one partial result.
constexpr int kHeaderTiles = 0, kHeaderKeyTiles = 1, kHeaderSplitTokens = 2, kHeaderFoldedSplits = 3;
constexpr int kTileKeys = 32, kAttendWarps = 4;

struct AttentionArguments {
    const bf16* q;  // [rows][qStride], heads from the start
    int qStride;
    const void* k;  // one layer's keys and values, [page][slot][kvHead][d], or pages as store_float8 makes them
    const void* v;
    bf16* out;        // [rows][heads][d]
    float* partial;   // [partial][kvHead][d], sums before division
    float2* weight;   // [partial][kvHead]: largest score in powers of two, sum of weights
    int* arrived;     // [partial][kvHead], zero between launches
    const int* header;
    const int4* tiles;  // chunk, first packed row, first split, number of splits; tiles of rf_attend_keys first
    const int* merge;   // per chunk: first partial, or -1 if tiles write the result; partials per packed row
    const int* chunkFirstRow;
    const int* chunkPosition;
    const int* chunkPageStart;
    const int* pageIds;
    int kvHeads;
    int group;
    int pageTokens;   // a power of two, at least 16
    float scale;      // factor of scores, includes log2(e)
    float capScale;   // if above 0, scores become tanh(capScale * score) before they are scaled
    int window;       // number of keys that a row sees, including its own; 0 for all
    const float* sinks;  // logarithm of a weight per head that is in the softmax but has no value; may be null
};

// The first key that the row at a position sees.
__device__ __forceinline__ int first_key(const AttentionArguments& a, int position) {
    return a.window > 0 ? max(position - a.window + 1, 0) : 0;
}

// The parameters that all threads of a tile share.
struct AttentionTile {
    int firstRow, position;      // of the chunk
    int packed, packedRows;      // first packed row of the tile, packed rows of the chunk
    int split, splits;           // first split, and number of splits with keys that the tile's rows see
    int planned;                 // splits of the tile up to its last row, including those before all windows
    int splitTokens, keys;       // number of keys that the tile's last row sees
    int partial, partials;       // as in merge
    int folded;                  // splits per partial result
    const int* pages;

    __device__ __forceinline__ AttentionTile(const AttentionArguments& a, int4 tile, int tileRows) {
        int chunk = tile.x;
        firstRow = a.chunkFirstRow[chunk];
        position = a.chunkPosition[chunk];
        packed = tile.y;
        packedRows = (a.chunkFirstRow[chunk + 1] - firstRow) * a.group;
        splitTokens = a.header[kHeaderSplitTokens];
        keys = position + (min(packed + tileRows, packedRows) - 1) / a.group + 1;
        planned = min(tile.w, (keys + splitTokens - 1) / splitTokens - tile.z);
        // A split that no row sees would add exactly zero to the result.
        int unseen = min(max(first_key(a, position + packed / a.group) / splitTokens - tile.z, 0), planned);
        split = tile.z + unseen;
        splits = planned - unseen;
        partial = a.merge[2 * chunk];
        partials = a.merge[2 * chunk + 1];
        folded = a.header[kHeaderFoldedSplits];
        pages = a.pageIds + a.chunkPageStart[chunk];
    }

    __device__ __forceinline__ bool leaves_splits() const { return partial >= 0 && folded == 1; }
    __device__ __forceinline__ size_t partial_at(const AttentionArguments& a, int p, int split, int kvHead) const {
        return size_t(partial + p * partials + split / folded) * a.kvHeads + kvHead;
    }
};

// The index of a piece of 16 bytes in shared memory, in rows of WORDS words of 16 bits. Pieces are swizzled: the pieces
// with the same number in 8 rows are in different banks, whether rows begin 1, 2, 4 or 8 pieces apart modulo the 8
// pieces of all banks.
template <int WORDS>
__device__ __forceinline__ int key_at(int row, int piece) {
    constexpr int kPieces = WORDS / 8;
    constexpr int kMask = kPieces % 8 == 0 ? 7 : kPieces % 4 == 0 ? 3 : kPieces % 2 == 0 ? 1 : 0;
    constexpr int kShift = kMask == 7 ? 0 : kMask == 3 ? 1 : 2;
    return row * WORDS + ((piece ^ (row >> kShift & kMask)) << 3);
}

// A tile of keys or values in shared memory, in words of 16 bits. With 8-bit floats, a piece interleaves two groups of
// 8 elements, which are the two operands of one product, and the scales of the keys follow the tile.
template <int D, bool FLOAT8>
struct KeyTile {
    static constexpr int kRow = FLOAT8 ? D / 2 : D, kScales = kTileKeys * kRow;
    static constexpr int kWords = kScales + (FLOAT8 ? kTileKeys * kFloat8ScaleBytes / 2 : 0);
};

// Loads tiles of keys or values into shared memory. The two pages of a tile are looked up one tile ahead.
template <int D, bool FLOAT8, int THREADS>
struct KeyLoader {
    using Tile = KeyTile<D, FLOAT8>;
    const AttentionArguments& a;
    const int* pages;
    int head, keys, pageShift;
    int page[2], next[2];

    __device__ __forceinline__ KeyLoader(const AttentionArguments& arguments, const AttentionTile& tile, int kvHead)
        : a(arguments), pages(tile.pages), head(kvHead), keys(tile.keys), pageShift(__ffs(arguments.pageTokens) - 1),
          page{0, 0}, next{0, 0} {}

    __device__ __forceinline__ void look_up(int key) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            int at = key + half * 16;
            next[half] = at < keys ? pages[at >> pageShift] : 0;
        }
    }

    __device__ __forceinline__ void advance(int following) {
        page[0] = next[0];
        page[1] = next[1];
        look_up(following);
    }

    // Loads keys from `key` on, from the page that advance chose, and zeros after the last key.
    __device__ __forceinline__ void load(bf16* to, const void* pool, int key, int thread) const {
        const unsigned char* plane = static_cast<const unsigned char*>(pool);
        constexpr int kPieces = Tile::kRow / 8, kLoads = (kTileKeys * kPieces + THREADS - 1) / THREADS;
        constexpr int kVectorBytes = Tile::kRow * 2 + (FLOAT8 ? kFloat8ScaleBytes : 0);
        int slot[2] = {key & (a.pageTokens - 1), (key + 16) & (a.pageTokens - 1)};
#pragma unroll(D > 128 ? 2 : kLoads)
        for (int i = 0; i < kLoads; ++i) {
            int at = thread + i * THREADS, row = at / kPieces, piece = at % kPieces;
            if (kTileKeys * kPieces % THREADS && row >= kTileKeys) break;
            int half = row / 16;
            size_t first = size_t(half ? page[1] : page[0]) << pageShift;
            int token = (half ? slot[1] : slot[0]) + row % 16;
            bool valid = key + row < keys;
            size_t from = FLOAT8 ? first * a.kvHeads * kVectorBytes + (token * a.kvHeads + head) * D + piece * 16
                                 : ((first + token) * a.kvHeads + head) * kVectorBytes + piece * 16;
            cp_async16(to + key_at<Tile::kRow>(row, piece), plane + (valid ? from : 0), valid);
        }
        if (FLOAT8 && thread < 2) {
            size_t first = size_t(thread ? page[1] : page[0]) << pageShift;
            int left = min(max(keys - key - thread * 16, 0), 16);
            size_t from = first * a.kvHeads * kVectorBytes + (size_t(a.kvHeads) * D << pageShift) +
                          (head << pageShift) + (thread ? slot[1] : slot[0]);
            cp_async_first(to + Tile::kScales + thread * 8, plane + (left ? from : 0), left);
        }
    }
};

// The running softmax of one row: largest score (in powers of two) and sum of weights.
struct RowState {
    float top, sum;
};

// Combines a split's result with the total of the splits before it. First compute the factors of both, then call `fold`
// for each element. Fused operations are explicit, because all callers must round in the same way.
struct FoldFactors {
    float total, split;
};
__device__ __forceinline__ FoldFactors fold_state(RowState& total, RowState split) {
    float top = fmaxf(total.top, split.top), base = top == -INFINITY ? 0.0f : top;
    FoldFactors by = {exp2f(total.top - base), exp2f(split.top - base)};
    total = {top, fmaf(total.sum, by.total, split.sum * by.split)};
    return by;
}
// Returns the factor by which the weighted sum of the values is multiplied to get the result of a row.
__device__ __forceinline__ float result_factor(const AttentionArguments& a, int head, RowState total) {
    if (!a.sinks) return 1.0f / total.sum;
    FoldFactors by = fold_state(total, {a.sinks[head] * 1.442695041f, 1.0f});
    return by.total / total.sum;
}
__device__ __forceinline__ float fold(float total, float split, FoldFactors by) {
    return fmaf(total, by.total, split * by.split);
}

// A lane's share of a warp's 16 packed rows and the keys of one split, for the rows lane / 4 and lane / 4 + 8. It has
// the running softmax, and two sums per group of 8 columns of the values; there are N groups.
template <int N>
struct AttentionRows {
    float o[N][4];
    RowState state[2];
    int position[2];  // the last key that the row sees; -1 if there is no such row

    __device__ __forceinline__ AttentionRows(const AttentionArguments& a, const AttentionTile& tile, int packed) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            int p = packed + threadIdx.x % 32 / 4 + h * 8;
            position[h] = p < tile.packedRows ? tile.position + p / a.group : -1;
        }
        clear();
    }

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < N * 4; ++i) o[i / 4][i % 4] = 0;
#pragma unroll
        for (int h = 0; h < 2; ++h) state[h] = {-INFINITY, 0};
    }

    // s: products with the 32 keys from `key` on. Sets weights to their bf16 weights, as left operands of the product
    // with the values, and scales the sums so far to match.
    __device__ __forceinline__ void weigh(const AttentionArguments& a, float (&s)[4][4], int key,
                                          uint32_t (&weights)[2][4]) {
        int lane = threadIdx.x % 32;
        float by[2], scale = a.scale;
        if (a.capScale > 0) {
#pragma unroll
            for (int i = 0; i < 16; ++i) {
                float& score = s[i / 4][i % 4];
                score = 1.0f - 2.0f / (exp2f(score * (a.capScale * 2.885390082f)) + 1.0f);
            }
        }
        bool moved = false;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            float top = -INFINITY;
            int first = first_key(a, position[h]);
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                float& score = s[i / 2][h * 2 + i % 2];
                int at = key + i / 2 * 8 + lane % 4 * 2 + i % 2;
                if (at > position[h] || at < first) score = -INFINITY;
                top = fmaxf(top, score);
            }
            top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
            top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
            top = fmaxf(state[h].top, top * scale);
            float base = top == -INFINITY ? 0.0f : top, sum = 0;
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                float& score = s[i / 2][h * 2 + i % 2];
                score = exp2f(fmaf(score, scale, -base));
                sum += score;
            }
            by[h] = exp2f(state[h].top - base);
            moved |= top > state[h].top;
            state[h] = {top, fmaf(state[h].sum, by[h], sum)};
        }
        if (__any_sync(0xffffffffu, moved)) {
#pragma unroll
            for (int i = 0; i < N * 4; ++i) o[i / 4][i % 4] *= by[i % 4 / 2];
        }
#pragma unroll
        for (int j = 0; j < 2; ++j) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                bf162 pair = __floats2bfloat162_rn(s[2 * j + e / 2][e % 2 * 2], s[2 * j + e / 2][e % 2 * 2 + 1]);
                memcpy(&weights[j][e], &pair, 4);
            }
        }
    }

    // Ends a split. Afterwards every lane of a row has the row's sum.
    __device__ __forceinline__ void finish() {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            state[h].sum += __shfl_xor_sync(0xffffffffu, state[h].sum, 1);
            state[h].sum += __shfl_xor_sync(0xffffffffu, state[h].sum, 2);
        }
    }

    // Writes partial results of rows of WIDTH columns. The warp has the columns from `column` on; one warp per row also
    // stores the row's weight.
    template <int WIDTH>
    __device__ __forceinline__ void store_partial(const AttentionArguments& a, const AttentionTile& tile, int packed,
                                                  int kvHead, int split, int column = 0) const {
        int lane = threadIdx.x % 32;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            if (position[h] < split * tile.splitTokens) continue;
            size_t at = tile.partial_at(a, packed + lane / 4 + h * 8, split, kvHead);
            float2* to = reinterpret_cast<float2*>(a.partial + at * WIDTH + column) + lane % 4;
#pragma unroll
            for (int i = 0; i < N; ++i) to[i * 4] = make_float2(o[i][h * 2], o[i][h * 2 + 1]);
            if (column == 0 && lane % 4 == 0) a.weight[at] = make_float2(state[h].top, state[h].sum);
        }
    }
};

// The scales of a lane's two keys among the i-th eight of a tile.
__device__ __forceinline__ uint32_t key_scales(const bf16* scales, int i) {
    return *reinterpret_cast<const uint16_t*>(reinterpret_cast<const unsigned char*>(scales) + i * 8 + threadIdx.x % 4 * 2);
}

// Multiplies products with the i-th eight keys of a tile by the keys' scales.
__device__ __forceinline__ void scale_products(float (&s)[4], const bf16* scales, int i) {
    uint32_t pair = key_scales(scales, i);
    float first = float8_scale_value(pair & 0xff), second = float8_scale_value(pair >> 8);
    s[0] *= first;
    s[1] *= second;
    s[2] *= first;
    s[3] *= second;
}

// Multiplies weights by the values' scales. This is exact, because the scales are powers of two.
__device__ __forceinline__ void scale_weights(uint32_t (&weights)[2][4], const bf16* scales) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        uint32_t pair = float8_scale_pair(key_scales(scales, i));
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            uint32_t& both = weights[i / 2][i % 2 * 2 + h];
            both = multiply_bf16(both, pair);
        }
    }
}

// The 16 packed rows of one KV head that one warp multiplies with keys and values.
template <int D, bool FLOAT8>
struct AttentionWarp : AttentionRows<D / 8> {
    using Tile = KeyTile<D, FLOAT8>;
    // Whether queries are in registers. Longer queries are read again for each tile of keys.
    static constexpr bool kHeld = D <= 128;
    uint32_t q[kHeld ? D / 16 : 1][4];
    const bf16* from[2];  // the rows' queries
    const AttentionArguments& a;
    int packed;

    __device__ __forceinline__ AttentionWarp(const AttentionArguments& arguments, const AttentionTile& tile,
                                             int firstPacked, int kvHead)
        : AttentionRows<D / 8>(arguments, tile, firstPacked), a(arguments), packed(firstPacked) {
        int lane = threadIdx.x % 32;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            int p = packed + lane / 4 + h * 8, row = p / a.group;
            from[h] = a.q + size_t(tile.firstRow + row) * a.qStride + (kvHead * a.group + p % a.group) * D + lane % 4 * 2;
        }
        if (kHeld) {
#pragma unroll
            for (int step = 0; step < D / 16; ++step) load_query(q[kHeld ? step : 0], step);
        }
    }

    __device__ __forceinline__ void load_query(uint32_t (&to)[4], int step) const {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            bool valid = this->position[i % 2] >= 0;
            int element = FLOAT8 ? step * 8 + i / 2 * (D / 2) : step * 16 + i / 2 * 8;
            to[i] = valid ? *reinterpret_cast<const uint32_t*>(from[i % 2] + element) : 0;
        }
    }

    __device__ __forceinline__ void score(const bf16* keys, int key, uint32_t (&weights)[2][4]) {
        float s[4][4] = {};
#pragma unroll(kHeld ? D / 16 : 2)
        for (int step = 0; step < D / 16; ++step) {
            if (!kHeld) load_query(q[0], step);
            multiply(q[kHeld ? step : 0], keys, step, s);
        }
        if constexpr (FLOAT8) {
#pragma unroll
            for (int i = 0; i < 4; ++i) scale_products(s[i], keys + Tile::kScales, i);
        }
        this->weigh(a, s, key, weights);
    }

    // Adds the products of 16 elements of queries and keys.
    __device__ __forceinline__ static void multiply(const uint32_t (&q)[4], const bf16* keys, int step, float (&s)[4][4]) {
        int lane = threadIdx.x % 32;
        if constexpr (FLOAT8) {
            uint32_t codes[4];
            ldmatrix_x4(codes, keys + key_at<Tile::kRow>(lane, step));
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                uint32_t first, second;
                widen_float8(codes[i], first, second);
                mma_m16n8k16(s[i], q, first, second);
            }
        } else {
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                uint32_t b[4];
                ldmatrix_x4(b, keys + key_at<D>(j * 16 + lane % 8 + lane / 16 * 8, step * 2 + lane / 8 % 2));
                mma_m16n8k16(s[2 * j], q, b[0], b[1]);
                mma_m16n8k16(s[2 * j + 1], q, b[2], b[3]);
            }
        }
    }

    __device__ __forceinline__ void gather(const bf16* values, uint32_t (&weights)[2][4]) {
        int lane = threadIdx.x % 32;
        if constexpr (FLOAT8) {
            scale_weights(weights, values + Tile::kScales);
#pragma unroll
            for (int j = 0; j < 2; ++j) {
#pragma unroll
                for (int i = 0; i < D / 16; ++i) {
                    uint32_t codes[2], first[2], second[2];
                    ldmatrix_x2_trans(codes, values + key_at<Tile::kRow>(j * 16 + lane % 16, i));
                    widen_float8(codes[0], first[0], second[0]);
                    widen_float8(codes[1], first[1], second[1]);
                    mma_m16n8k16(this->o[i], weights[j], first[0], first[1]);
                    mma_m16n8k16(this->o[D / 16 + i], weights[j], second[0], second[1]);
                }
            }
        } else {
#pragma unroll
            for (int j = 0; j < 2; ++j) {
#pragma unroll
                for (int i = 0; i < D / 16; ++i) {
                    uint32_t b[4];
                    ldmatrix_x4_trans(b, values + key_at<D>(j * 16 + lane % 16, i * 2 + lane / 16));
                    mma_m16n8k16(this->o[2 * i], weights[j], b[0], b[1]);
                    mma_m16n8k16(this->o[2 * i + 1], weights[j], b[2], b[3]);
                }
            }
        }
    }
};

// The total so far of the splits of a warp's rows, in shared memory, as [element][lane]. A lane reads only its own part
// and the part of the same lane of other warps.
template <int D>
struct AttentionTotal {
    static constexpr int kFloats = (D / 2 + 4) * 32;
    float* at;

    __device__ __forceinline__ explicit AttentionTotal(float* shared) : at(shared + threadIdx.x % 32) {}

    __device__ __forceinline__ float& element(int i) const { return at[i * 32]; }
    __device__ __forceinline__ RowState state(int h) const { return {element(D / 2 + h), element(D / 2 + 2 + h)}; }

    __device__ __forceinline__ void clear() const {
        for (int i = 0; i < D / 2; ++i) element(i) = 0;
        for (int h = 0; h < 2; ++h) put(h, {-INFINITY, 0});
    }

    __device__ __forceinline__ void put(int h, RowState state) const {
        element(D / 2 + h) = state.top;
        element(D / 2 + 2 + h) = state.sum;
    }

    __device__ __forceinline__ void add(const AttentionRows<D / 8>& warp, int firstKey) const {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            if (warp.position[h] < firstKey) continue;
            RowState total = state(h);
            FoldFactors by = fold_state(total, warp.state[h]);
            put(h, total);
#pragma unroll
            for (int i = 0; i < D / 4; ++i) {
                float& sum = element(i * 2 + h);
                sum = fold(sum, warp.o[i / 2][h * 2 + i % 2], by);
            }
        }
    }

    // Writes to the partial result of the tile's splits, or to the result if the tile has all splits.
    __device__ __forceinline__ void store(const AttentionArguments& a, const AttentionTile& tile, int packed,
                                          int kvHead) const {
        if (tile.partial < 0) {
            store_result(a, tile, packed, kvHead);
        } else {
            store_partial(a, tile, packed, kvHead);
        }
    }

    __device__ __forceinline__ void store_partial(const AttentionArguments& a, const AttentionTile& tile, int packed,
                                                  int kvHead) const {
        int lane = threadIdx.x % 32;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            int p = packed + lane / 4 + h * 8;
            if (state(h).top == -INFINITY) continue;
            size_t at = tile.partial_at(a, p, tile.split, kvHead);
            float2* to = reinterpret_cast<float2*>(a.partial + at * D) + lane % 4;
#pragma unroll
            for (int i = 0; i < D / 8; ++i) to[i * 4] = make_float2(element(i * 4 + h), element(i * 4 + 2 + h));
            if (lane % 4 == 0) a.weight[at] = make_float2(state(h).top, state(h).sum);
        }
    }

    __device__ __forceinline__ void store_result(const AttentionArguments& a, const AttentionTile& tile, int packed,
                                                 int kvHead) const {
        int lane = threadIdx.x % 32;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            int p = packed + lane / 4 + h * 8, head = kvHead * a.group + p % a.group;
            if (p >= tile.packedRows) continue;
            float inverse = result_factor(a, head, state(h));
            bf16* to = a.out + (size_t(tile.firstRow + p / a.group) * a.kvHeads * a.group + head) * D + lane % 4 * 2;
#pragma unroll
            for (int i = 0; i < D / 8; ++i) {
                *reinterpret_cast<bf162*>(to + i * 8) =
                    __floats2bfloat162_rn(element(i * 4 + h) * inverse, element(i * 4 + 2 + h) * inverse);
            }
        }
    }
};
