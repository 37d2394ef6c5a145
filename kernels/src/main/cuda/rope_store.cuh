// Rotary embedding of queries and keys (Su et al. 2021), and keys and values to their slots in the KV pool.
#pragma once
#include "device.cuh"

// Sums over the lanes of a group, a power of two, in each of them, by the same tree each time.
__device__ __forceinline__ float group_sum(float v, int lanes, uint32_t mask) {
    for (int distance = lanes / 2; distance; distance >>= 1) v += __shfl_xor_sync(mask, v, distance);
    return v;
}

// A row of qkv is [heads + 2 kvHeads][headDim]: queries, keys, values. Queries and keys are RMS-normalised a head where
// the gain is not null, then pairs (i, i + headDim / 2) are rotated by the row's position, and queries multiplied with
// its factor, all in f32, and rounded once. Queries stay in place; keys and values go to [slot][kvHead][headDim] of their
// planes, the slot of a row being page * pageTokens + its place there. rotations is [position][cosines, then sines of
// headDim / 2 pairs], null where nothing is rotated; growth is a factor of the queries a position, null for none.
// A block a row, eight lanes a head (sixteen beyond 128 elements): lane l has elements 8l.. of the first and of the
// second half. headDim is a multiple of 16 up to 256.
BOUNDED_KERNEL(1024, 1, rf_rope_store, bf16* qkv, const float* queryNorm, const float* keyNorm, const float* rotations,
               const float* growth, bf16* keys, bf16* values, const int* rows, const int* rowPosition,
               const int* rowSlot, int heads, int kvHeads, int headDim, float epsilon) {
    int row = blockIdx.x;
    if (row >= *rows) return;
    int lanes = headDim > 128 ? 16 : 8, lane = threadIdx.x % lanes, half = headDim / 2, all = heads + 2 * kvHeads;
    uint32_t group = (lanes == 16 ? 0xffffu : 0xffu) << (threadIdx.x % 32 / lanes * lanes);
    bool mine = lane * 8 < half;
    int first = mine ? lane * 8 : 0, second = first + half;
    size_t slot = size_t(rowSlot[row]) * kvHeads;
    float cosine[8] = {1, 1, 1, 1, 1, 1, 1, 1}, sine[8] = {};
    if (rotations) {
        load8(cosine, rotations + size_t(rowPosition[row]) * headDim + first);
        load8(sine, rotations + size_t(rowPosition[row]) * headDim + second);
    }
    float factor = growth ? growth[rowPosition[row]] : 1.0f;
    for (int head = threadIdx.x / lanes; head < all; head += blockDim.x / lanes) {
        bf16* at = qkv + (size_t(row) * all + head) * headDim;
        if (head >= heads + kvHeads) {
            bf16* to = values + (slot + head - heads - kvHeads) * headDim;
            if (mine) {
                *reinterpret_cast<uint4*>(to + first) = *reinterpret_cast<const uint4*>(at + first);
                *reinterpret_cast<uint4*>(to + second) = *reinterpret_cast<const uint4*>(at + second);
            }
            continue;
        }
        float a[8], b[8];
        load8(a, at + first);
        load8(b, at + second);
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
        bf16* to = head < heads ? at : keys + (slot + head - heads) * headDim;
        if (mine) {
            store8(to + first, turned);
            store8(to + second, across);
        }
    }
}
