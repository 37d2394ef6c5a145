// Rotary embedding of queries and keys (Su et al. 2021), and storing keys and values in their slots of the KV pool.
#pragma once
#include "float8.cuh"

// Returns the sum over the lanes of a group, whose size is a power of two, to each of them. The tree is always the
// same.
__device__ __forceinline__ float group_sum(float v, int lanes, uint32_t mask) {
    for (int distance = lanes / 2; distance; distance >>= 1) v += __shfl_xor_sync(mask, v, distance);
    return v;
}

// The largest value among the lanes of a group, returned to each of them.
__device__ __forceinline__ uint32_t group_max(uint32_t v, int lanes, uint32_t mask) {
    for (int distance = lanes / 2; distance; distance >>= 1) v = max(v, __shfl_xor_sync(mask, v, distance));
    return v;
}

// Stores one head's vector in a plane of 8-bit floats. The pages of the plane are [slot][kvHead][headDim] codes, then
// [kvHead][slot] scales. Lane l of a group has elements 8l to 8l + 7 of the first and of the second half. Its 16 codes
// interleave them, which is the order that the tensor cores need (see attention_warp.cuh).
__device__ __forceinline__ void store_float8(unsigned char* plane, int slot, int pageTokens, int kvHeads, int kvHead,
                                             int headDim, const float (&low)[8], const float (&high)[8], int lane,
                                             int lanes, uint32_t mask) {
    bool mine = lane * 16 < headDim;
    uint32_t top = 0;
#pragma unroll
    for (int e = 0; e < 8; ++e) top = max(top, max(magnitude_bits(low[e]), magnitude_bits(high[e])));
    uint32_t scale = float8_scale(group_max(mine ? top : 0, lanes, mask)), words[4];
    int place = slot & (pageTokens - 1), codes = kvHeads * headDim;
    unsigned char* page = plane + size_t(slot - place) * (codes + kvHeads * kFloat8ScaleBytes);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        words[i] = float8_code(low[2 * i], scale) | float8_code(high[2 * i], scale) << 8 |
                   float8_code(low[2 * i + 1], scale) << 16 | float8_code(high[2 * i + 1], scale) << 24;
    }
    if (mine) {
        *reinterpret_cast<uint4*>(page + (place * kvHeads + kvHead) * headDim + lane * 16) =
            make_uint4(words[0], words[1], words[2], words[3]);
    }
    if (lane == 0) page[pageTokens * codes + kvHead * pageTokens + place] = scale;
}

// A row of qkv is [heads + 2 kvHeads][headDim]: queries, keys, values. Each head of queries and keys is RMS-normalised
// if its gain is not null. Then pairs (i, i + headDim / 2) are rotated by the row's position, and queries are
// multiplied by the factor of the position. All this is in f32 and rounded once. Queries stay in place. Keys and values
// are stored in their planes at [slot][kvHead][headDim], where slot = page * pageTokens + index in the page; see
// store_float8 for pages of 8-bit floats. rotations is [position][cosines, then sines of headDim / 2 pairs], or null
// without rotation. growth is one factor of the queries per position, or null. One block per row, eight lanes per head
// (sixteen above 128 elements). Lane l has elements 8l.. of the first and of the second half. headDim is a multiple of
// 16, up to 256.
template <bool FLOAT8>
__device__ __forceinline__ void rope_store(bf16* qkv, const float* queryNorm, const float* keyNorm, const float* rotations,
                                           const float* growth, void* keys, void* values, const int* rows,
                                           const int* rowPosition, const int* rowSlot, int heads, int kvHeads, int headDim,
                                           float epsilon, int pageTokens) {
    int row = blockIdx.x;
    if (row >= *rows) return;
    int lanes = headDim > 128 ? 16 : 8, lane = threadIdx.x % lanes, half = headDim / 2, all = heads + 2 * kvHeads;
    uint32_t group = (lanes == 16 ? 0xffffu : 0xffu) << (threadIdx.x % 32 / lanes * lanes);
    bool mine = lane * 8 < half;
    int first = mine ? lane * 8 : 0, second = first + half;
    int slot = rowSlot[row];
    auto store = [&](void* plane, int kvHead, const float(&low)[8], const float(&high)[8]) {
        if (FLOAT8) {
            store_float8(static_cast<unsigned char*>(plane), slot, pageTokens, kvHeads, kvHead, headDim, low, high, lane,
                         lanes, group);
        } else if (mine) {
            bf16* to = static_cast<bf16*>(plane) + (size_t(slot) * kvHeads + kvHead) * headDim;
            store8(to + first, low);
            store8(to + second, high);
        }
    };
    float cosine[8] = {1, 1, 1, 1, 1, 1, 1, 1}, sine[8] = {};
    if (rotations) {
        load8(cosine, rotations + size_t(rowPosition[row]) * headDim + first);
        load8(sine, rotations + size_t(rowPosition[row]) * headDim + second);
    }
    float factor = growth ? growth[rowPosition[row]] : 1.0f;
    for (int head = threadIdx.x / lanes; head < all; head += blockDim.x / lanes) {
        bf16* at = qkv + (size_t(row) * all + head) * headDim;
        float a[8], b[8];
        load8(a, at + first);
        load8(b, at + second);
        if (head >= heads + kvHeads) {
            store(values, head - heads - kvHeads, a, b);
            continue;
        }
        const float* gain = head < heads ? queryNorm : keyNorm;
        if (gain) {
            float squares = 0, gains[8];
#pragma unroll
            for (int e = 0; e < 8; ++e) squares += a[e] * a[e] + b[e] * b[e];
            float scale = rsqrtf(group_sum(mine ? squares : 0.0f, lanes, group) / headDim + epsilon);
            load8(gains, gain + first);
#pragma unroll
            for (int e = 0; e < 8; ++e) a[e] *= scale * gains[e];
            load8(gains, gain + second);
#pragma unroll
            for (int e = 0; e < 8; ++e) b[e] *= scale * gains[e];
        }
        float turned[8], across[8];
#pragma unroll
        for (int e = 0; e < 8; ++e) {
            turned[e] = a[e] * cosine[e] - b[e] * sine[e];
            across[e] = a[e] * sine[e] + b[e] * cosine[e];
            if (head < heads) turned[e] *= factor, across[e] *= factor;
        }
        if (head >= heads) {
            store(keys, head - heads, turned, across);
        } else if (mine) {
            store8(at + first, turned);
            store8(at + second, across);
        }
    }
}

#define ROPE_STORE_KERNEL(NAME, FLOAT8)                                                                                  \
    BOUNDED_KERNEL(1024, 1, NAME, bf16* qkv, const float* queryNorm, const float* keyNorm, const float* rotations,        \
                   const float* growth, void* keys, void* values, const int* rows, const int* rowPosition,                \
                   const int* rowSlot, int heads, int kvHeads, int headDim, float epsilon, int pageTokens) {              \
        rope_store<FLOAT8>(qkv, queryNorm, keyNorm, rotations, growth, keys, values, rows, rowPosition, rowSlot, heads,   \
                           kvHeads, headDim, epsilon, pageTokens);                                                        \
    }

ROPE_STORE_KERNEL(rf_rope_store, false)
ROPE_STORE_KERNEL(rf_rope_store_float8, true)
