// Mixture of experts: the logits of the router, the choice of experts, the grouping of rows by expert, and the sum of
// the experts' outputs. The products in between are in gemm.cuh. A row's experts are added in the order in which the
// row chose them, so the result does not depend on the other rows.
#pragma once
#include "device.cuh"

// out[row][feature] = weights[feature] * x[row] + bias[feature], with weights and sums in f32; bias may be null. One
// warp per feature and 4 rows, 8 warps per block. depth is a multiple of 8.
BOUNDED_KERNEL(256, 1, rf_float_product, const float* weights, const bf16* x, const float* bias, float* out,
               const int* rows, int features, int depth) {
    constexpr int kRows = 4;
    int lane = threadIdx.x % 32, feature = blockIdx.x * 8 + threadIdx.x / 32, first = blockIdx.y * kRows, valid = *rows;
    if (feature >= features || first >= valid) return;
    float sums[kRows] = {};
    for (int chunk = lane; chunk < depth / 8; chunk += 32) {
        float w[8], v[8];
        load8(w, weights + size_t(feature) * depth + chunk * 8);
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            if (first + r >= valid) break;
            load8(v, x + size_t(first + r) * depth + chunk * 8);
#pragma unroll
            for (int e = 0; e < 8; ++e) sums[r] = fmaf(w[e], v[e], sums[r]);
        }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        float sum = warp_sum(sums[r]);
        if (lane == 0 && first + r < valid) {
            out[size_t(first + r) * features + feature] = bias ? sum + bias[feature] : sum;
        }
    }
}

__device__ __forceinline__ int warp_sum(int v) {
#pragma unroll
    for (int distance = 16; distance; distance >>= 1) v += __shfl_xor_sync(0xffffffffu, v, distance);
    return v;
}

// A value and its index; index -1 means none.
struct Candidate {
    float value;
    int index;

    __device__ __forceinline__ bool beats(Candidate other) const {
        if (index < 0 || other.index < 0) return index >= 0;
        return value > other.value || (value == other.value && index < other.index);
    }
};

// The index of the largest of a warp's values; of equal values, the lowest index. NaN is never the largest. Returns 0
// if all are NaN.
__device__ __forceinline__ int best_of(const float* values, int count) {
    Candidate best = {0, -1};
    for (int i = threadIdx.x % 32; i < count; i += 32) {
        Candidate candidate = {values[i], values[i] == values[i] ? i : -1};
        if (candidate.beats(best)) best = candidate;
    }
#pragma unroll
    for (int distance = 16; distance; distance >>= 1) {
        Candidate other = {__shfl_xor_sync(0xffffffffu, best.value, distance),
                           __shfl_xor_sync(0xffffffffu, best.index, distance)};
        if (other.beats(best)) best = other;
    }
    return max(best.index, 0);
}

// Computes the scores of a row's experts from their logits.
__device__ __forceinline__ void score_experts(const float* logits, int experts, bool sigmoid, float* scores) {
    int lane = threadIdx.x % 32;
    if (sigmoid) {
        for (int i = lane; i < experts; i += 32) scores[i] = 1.0f / (expf(-logits[i]) + 1.0f);
        return;
    }
    float top = -INFINITY, sum = 0;
    for (int i = lane; i < experts; i += 32) top = fmaxf(top, logits[i]);
    top = warp_max(top);
    for (int i = lane; i < experts; i += 32) {
        scores[i] = expf(logits[i] - top);
        sum += scores[i];
    }
    sum = warp_sum(sum);
    for (int i = lane; i < experts; i += 32) scores[i] /= sum;
}

// Keeps only the ranks of the experts in the best groups. The rank of a group is the sum of its best one or two
// experts.
__device__ __forceinline__ void drop_groups(float* ranks, float* groupRanks, int experts, int groups, int chosenGroups,
                                            int groupBest) {
    int lane = threadIdx.x % 32, size = experts / groups;
    for (int group = lane; group < groups; group += 32) {
        float best = -INFINITY, second = -INFINITY;
        for (int i = group * size; i < (group + 1) * size; ++i) {
            if (ranks[i] > best) {
                second = best;
                best = ranks[i];
            } else if (ranks[i] > second) {
                second = ranks[i];
            }
        }
        groupRanks[group] = groupBest == 1 ? best : best + second;
    }
    __syncwarp();
    for (int i = 0; i < chosenGroups; ++i) {
        int best = best_of(groupRanks, groups);
        __syncwarp();
        if (lane == 0) groupRanks[best] = NAN;
        __syncwarp();
    }
    for (int i = lane; i < experts; i += 32) {
        float rank = groupRanks[i / size];
        if (rank == rank) ranks[i] = -INFINITY;
    }
    __syncwarp();
}

// ids[row][choice] and weights[row][choice]: the experts of each row and their weights, best first; equal ones are
// ordered by index. correction, which may be null, is added to the scores only for the choice. One warp per row. Shared
// memory: 2 * experts + groups floats per warp.
BOUNDED_KERNEL(128, 1, rf_choose_experts, const float* logits, const float* correction, const int* rows, int experts,
               int chosen, int sigmoid, int groups, int chosenGroups, int groupBest, int normalised, float scale, int* ids,
               float* weights) {
    SHARED(float, shared);
    int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= *rows) return;
    float* scores = shared + threadIdx.x / 32 * (2 * experts + groups);
    float* ranks = scores + experts;
    score_experts(logits + size_t(row) * experts, experts, sigmoid, scores);
    for (int i = lane; i < experts; i += 32) ranks[i] = correction ? scores[i] + correction[i] : scores[i];
    __syncwarp();
    if (chosenGroups < groups) drop_groups(ranks, ranks + experts, experts, groups, chosenGroups, groupBest);
    ids += row * chosen;
    weights += row * chosen;
    float sum = 0;
    for (int i = 0; i < chosen; ++i) {
        int best = best_of(ranks, experts);
        __syncwarp();
        if (lane == 0) {
            ranks[best] = -INFINITY;
            ids[i] = best;
        }
        sum += scores[best];
        __syncwarp();
    }
    for (int i = lane; i < chosen; i += 32) {
        float weight = scores[ids[i]];
        weights[i] = (normalised ? weight / sum : weight) * scale;
    }
}

// Sorts the choices of all rows by expert, then by row. places[row][choice] is the place of a choice; source[place] is
// its row. A tile is at most tileRows places of one expert: expert, first place, number of places. One block of 256
// threads per expert. Each block counts all choices, so that no block waits for another. Shared memory: experts + 8
// integers.
BOUNDED_KERNEL(256, 1, rf_group_experts, const int* ids, const int* rows, int chosen, int experts, int tileRows,
               int* places, int* source, int4* tiles, int* tileCount) {
    SHARED(int, counts);
    int* warps = counts + experts;
    int expert = blockIdx.x, all = *rows * chosen, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < experts; i += blockDim.x) counts[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < all; i += blockDim.x) atomicAdd(counts + ids[i], 1);
    __syncthreads();
    int first = 0, firstTile = 0;
    for (int i = lane; i < expert; i += 32) {
        first += counts[i];
        firstTile += (counts[i] + tileRows - 1) / tileRows;
    }
    first = warp_sum(first);
    firstTile = warp_sum(firstTile);
    int members = counts[expert], memberTiles = (members + tileRows - 1) / tileRows;
    for (int i = threadIdx.x; i < memberTiles; i += blockDim.x) {
        tiles[firstTile + i] = int4{expert, first + i * tileRows, min(tileRows, members - i * tileRows), 0};
    }
    if (expert == experts - 1 && threadIdx.x == 0) *tileCount = firstTile + memberTiles;
    int share = (all + blockDim.x - 1) / blockDim.x, from = threadIdx.x * share, to = min(from + share, all), mine = 0;
    for (int i = from; i < to; ++i) mine += ids[i] == expert;
    int before = mine;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        int other = __shfl_up_sync(0xffffffffu, before, distance);
        if (lane >= distance) before += other;
    }
    if (lane == 31) warps[warp] = before;
    __syncthreads();
    int place = first + before - mine;
    for (int i = 0; i < warp; ++i) place += warps[i];
    for (int i = from; i < to; ++i) {
        if (ids[i] != expert) continue;
        places[i] = place;
        source[place++] = i / chosen;
    }
}

// out[row] = base[row] + scale * (sum of the experts' weighted outputs, in the order of choice, + the output of the
// shared expert), rounded once. If the shared expert has a gate, its output is weighted by the sigmoid of the gate.
// base is out, or null for zero. width is a multiple of 8.
BOUNDED_KERNEL(256, 1, rf_add_experts, bf16* out, const bf16* base, const float* expanded, const int* places,
               const float* weights, int chosen, const float* shared, const float* sharedGate, const int* rows, int width,
               float scale) {
    int row = blockIdx.x;
    if (row >= *rows) return;
    places += row * chosen;
    weights += row * chosen;
    float gate = sharedGate ? 1.0f / (expf(-sharedGate[row]) + 1.0f) : 1.0f;
    for (int at = threadIdx.x * 8; at < width; at += blockDim.x * 8) {
        float sum[8] = {}, v[8];
        for (int i = 0; i < chosen; ++i) {
            load8(v, expanded + size_t(places[i]) * width + at);
#pragma unroll
            for (int e = 0; e < 8; ++e) sum[e] = __fadd_rn(sum[e], __fmul_rn(weights[i], v[e]));
        }
        if (shared) {
            load8(v, shared + size_t(row) * width + at);
#pragma unroll
            for (int e = 0; e < 8; ++e) sum[e] = __fadd_rn(sum[e], __fmul_rn(gate, v[e]));
        }
        if (base) {
            load8(v, base + size_t(row) * width + at);
#pragma unroll
            for (int e = 0; e < 8; ++e) sum[e] = fmaf(sum[e], scale, v[e]);
        }
        store8(out + size_t(row) * width + at, sum);
    }
}
