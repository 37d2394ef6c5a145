// Draws tokens from rows of logits, with the same bits as io.radixflow.kernels.sampling.Sampler. The weights of the
// softmax are integers, so sums do not depend on their order. All other operations are IEEE and use intrinsics that the
// compiler never contracts.
//
// A row is split into slices, one per block, so that even a few rows keep a device busy. There are four launches,
// because each needs the results of all blocks of the launch before: 1. the largest logits; 2. the weights, by segment,
// or by band of logits if top_k or top_p is on; 3. the bands with the borders of top_k and top_p, in which the last
// block finds the borders; 4. the token.
#pragma once
#include "sampling_row.cuh"

// A block's slice of an output's row.
struct SampleBlock {
    const SampleParameters* p;
    SampleScratch* scratch;
    float* logits;
    int* adjustments;
    SampleRow row;
    int output, from, to;

    __device__ __forceinline__ bool holds(int id) const { return id >= from && id < to; }
    __device__ __forceinline__ bool first() const { return from == 0; }
};

// Returns false if the block's output draws no token.
__device__ __forceinline__ bool take_block(SampleBlock& b, int* step, const SampleParameters* parameters, float* logits,
                                           const double* powers, SampleScratch* scratch, int first, int vocab,
                                           int scale_bits) {
    b.output = first + blockIdx.y;
    if (b.output >= step[2]) return false;
    b.p = parameters + b.output;
    if (!(b.p->flags & SAMPLE_DRAW)) return false;
    b.scratch = scratch + blockIdx.y;
    b.logits = logits + size_t(blockIdx.y) * vocab;
    b.adjustments = step + step[5] + size_t(b.p->first_adjustment) * kAdjustment;
    const uint32_t* mask = b.p->mask ? reinterpret_cast<const uint32_t*>(step) + b.p->mask : nullptr;
    b.row = {b.logits, mask, powers, vocab, scale_bits, 0, b.p->scale};
    b.from = blockIdx.x * kSampleSlice;
    b.to = min(vocab, b.from + kSampleSlice);
    return true;
}

// The row of the model, unchanged, at temperature 1.
__device__ __forceinline__ SampleRow raw_row(const SampleBlock& b, float top) {
    return {b.logits, nullptr, b.row.powers, b.row.vocab, b.row.scale_bits, top, 256 * 1.4426950408889634};
}

// The slice's largest logit as key << 32 | ~id, so of equal logits the lowest id; and the first token whose logit is
// NaN.
__device__ __forceinline__ u64 slice_top(SampleShared& s, const SampleRow& row, const SampleBlock& b,
                                         uint32_t& first_nan) {
    u64 best = 0;
    first_nan = 0xffffffffu;
    for (int i = b.from + threadIdx.x; i < b.to; i += kSampleThreads) {
        float logit = row.logit(i);
        if (logit != logit) {
            first_nan = min(first_nan, uint32_t(i));
        } else {
            best = SampleMax()(best, u64(logit_key(logit)) << 32 | ~uint32_t(i));
        }
    }
    first_nan = ~uint32_t(block_reduce(s, u64(~first_nan), SampleMax()));
    return block_reduce(s, best, SampleMax());
}

// Lists the slice's largest raw logits in order; the first has key `best`.
__device__ __forceinline__ void list_tops(SampleShared& s, const SampleBlock& b, u64 best) {
    int count = min(b.p->tops, kSampleTops);
    for (int rank = 0; rank < count; ++rank) {
        if (threadIdx.x == 0) b.scratch->tops[blockIdx.x][rank] = best;
        u64 next = 0;
        for (int i = b.from + threadIdx.x; rank + 1 < count && i < b.to; i += kSampleThreads) {
            u64 key = u64(logit_key(b.logits[i])) << 32 | ~uint32_t(i);
            if (key < best) next = SampleMax()(next, key);
        }
        best = block_reduce(s, next, SampleMax());
    }
}

// Applies penalties and then the bias to one token, like SamplingState.adjust on the host.
__device__ __forceinline__ float adjusted_logit(const SampleParameters& p, float logit, int count, float bias) {
    if (count >= 0) {
        logit = logit > 0 ? __fdiv_rn(logit, p.repetition) : __fmul_rn(logit, p.repetition);
        if (count > 0) logit = __fadd_rn(logit, -__fadd_rn(__fmul_rn(p.frequency, float(count)), p.presence));
    }
    return __fadd_rn(logit, bias);
}

// Changes the slice's logits for which the sequence has adjustments, and saves the old values. The last drawn token may
// be missing from the counts, because it is known only on the device.
__device__ __forceinline__ void adjust_slice(SampleShared& s, const SampleBlock& b, const int* ring) {
    const SampleParameters& p = *b.p;
    int pending = p.pending >= 0 ? ring[p.pending] : -1;
    if (threadIdx.x == 0) s.flag = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < p.adjustments; i += kSampleThreads) {
        int* one = b.adjustments + i * kAdjustment;
        int id = one[0], count = one[1];
        if (id == pending) {
            s.flag = 1;
            count = max(count, 0) + 1;
        }
        if (b.holds(id)) {
            one[3] = __float_as_int(b.logits[id]);
            b.logits[id] = adjusted_logit(p, b.logits[id], count, __int_as_float(one[2]));
        }
    }
    __syncthreads();
    if (threadIdx.x == 0 && b.holds(pending)) {
        b.scratch->pending = s.flag ? -1 : pending;
        if (!s.flag) {
            b.scratch->pending_logit = b.logits[pending];
            b.logits[pending] = adjusted_logit(p, b.logits[pending], 1, 0);
        }
    }
    __syncthreads();
}

// Swaps the adjusted logits of ids in [from, to) with their saved values.
__device__ __forceinline__ void exchange(const SampleBlock& b, int from, int to) {
    for (int i = threadIdx.x; i < b.p->adjustments; i += kSampleThreads) {
        int* one = b.adjustments + i * kAdjustment;
        int id = one[0];
        if (id >= from && id < to) {
            float logit = b.logits[id];
            b.logits[id] = __int_as_float(one[3]);
            one[3] = __float_as_int(logit);
        }
    }
    int pending = b.p->pending >= 0 ? b.scratch->pending : -1;
    if (threadIdx.x == 0 && pending >= from && pending < to) {
        float logit = b.logits[pending];
        b.logits[pending] = b.scratch->pending_logit;
        b.scratch->pending_logit = logit;
    }
    __syncthreads();
}

// The results of the first launch over all slices.
struct RowTops {
    u64 raw, top;  // keys with ids, as in slice_top
    int error, error_token;
};
__device__ __forceinline__ RowTops row_tops(SampleShared& s, const SampleBlock& b) {
    u64 raw = 0, top = 0, nan = 0;
    for (int i = threadIdx.x; i < int(gridDim.x); i += kSampleThreads) {
        raw = SampleMax()(raw, b.scratch->raw_top[i]);
        top = SampleMax()(top, b.scratch->top[i]);
        nan = SampleMax()(nan, u64(~b.scratch->first_nan[i]));
    }
    raw = block_reduce(s, raw, SampleMax());
    top = block_reduce(s, top, SampleMax());
    nan = block_reduce(s, nan, SampleMax());
    float raw_logit = key_logit(uint32_t(raw >> 32)), logit = key_logit(uint32_t(top >> 32));
    int error = nan                       ? SAMPLE_NAN
                : raw_logit == -INFINITY ? SAMPLE_NOTHING
                : logit == -INFINITY     ? (b.row.mask ? SAMPLE_MASKED : SAMPLE_NOTHING)
                : raw_logit == INFINITY || logit == INFINITY ? SAMPLE_INFINITE
                                                             : SAMPLE_OK;
    return {raw, top, error, nan ? int(~uint32_t(nan)) : int(~uint32_t(raw_logit == INFINITY ? raw : top))};
}

// The weight of token i; 0 if it is cut or below the least weight.
__device__ __forceinline__ u64 kept_weight(const SampleRow& row, const SampleCut& cut, long long least, int i) {
    if (i >= row.vocab || !cut.keeps(row.logit(i), i)) return 0;
    u64 weight = row.weight(row.logit(i));
    return weight >= u64(least) ? weight : 0;
}
__device__ __forceinline__ void sum_segments(const SampleBlock& b, const SampleCut& cut) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int first = b.from + warp * kSampleSegment; first < b.to; first += kSampleWarps * kSampleSegment) {
        u64 sum = 0;
        for (int i = lane; i < kSampleSegment; i += 32) sum += kept_weight(b.row, cut, b.p->least, first + i);
#pragma unroll
        for (int distance = 16; distance; distance >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
        if (lane == 0) b.scratch->segments[first / kSampleSegment] = sum;
    }
}

// Sums the weights of the slice's tokens and counts the tokens, band by band.
__device__ __forceinline__ void sum_bands(SampleShared& s, const SampleBlock& b) {
    int bands = b.row.bands();
    bool weighs = b.p->top_p < 1;
    for (int i = threadIdx.x; i < bands; i += kSampleThreads) s.counts[i] = 0;
    clear_bins(s, bands);
    for (int i = b.from + threadIdx.x; i < b.to; i += kSampleThreads) {
        double steps = b.row.steps(b.row.logit(i));
        if (steps < b.row.end()) {
            atomicAdd(&s.counts[int(steps) >> kSampleBandShift], 1u);
            if (weighs) atomicAdd(&s.bins[int(steps) >> kSampleBandShift], b.row.weight_of(steps));
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < bands; i += kSampleThreads) {
        if (s.counts[i]) {
            atomicAdd(&b.scratch->counts[i], u64(s.counts[i]));
            if (weighs) atomicAdd(&b.scratch->masses[i], s.bins[i]);
        }
    }
}

__device__ __forceinline__ void load_bins(SampleShared& s, const u64* from, int n) {
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += kSampleThreads) s.bins[i] = __ldcg(from + i);
    __syncthreads();
}

// The mass that the tokens kept by top_p must reach.
__device__ __forceinline__ u64 nucleus(double p, u64 total) { return u64(ceil(__dmul_rn(p, double((long long)total)))); }

// The bands with a border: the band of top_k, and the bands that can contain the border of top_p, whichever tokens of
// its own band top_k keeps.
struct SampleBorders {
    int k;          // -1 if top_k keeps all tokens with a weight
    u64 k_before;   // number of tokens before top_k's band
    u64 sure;       // mass before top_k's band, or all mass
    int low, high;  // first and last band for top_p's border

    __device__ __forceinline__ bool has(int band) const { return band == k || (band >= low && band <= high); }
};
__device__ __forceinline__ SampleBorders find_borders(SampleShared& s, const SampleBlock& b) {
    const SampleParameters& p = *b.p;
    SampleBorders borders = {-1, 0, 0, 0, -1};
    int bands = b.row.bands();
    if (p.bounds_k(b.row.vocab)) {
        load_bins(s, b.scratch->counts, bands);
        borders.k = find_bin(s, bands, p.top_k);
        borders.k_before = s.found_before;
    }
    if (p.top_p < 1) {
        load_bins(s, b.scratch->masses, bands);
        u64 own = 0;
        for (int i = threadIdx.x; i < (borders.k < 0 ? bands : borders.k); i += kSampleThreads) own += s.bins[i];
        borders.sure = block_reduce(s, own, SampleSum());
        u64 most = borders.sure + (borders.k < 0 ? 0 : s.bins[borders.k]);
        borders.low = find_bin(s, bands, SampleMax()(1, nucleus(p.top_p, borders.sure)));
        __syncthreads();
        borders.high = find_bin(s, bands, nucleus(p.top_p, most));
        __syncthreads();
    }
    return borders;
}

// The tokens of the bands with borders, or of the whole row if too many to list.
struct SampleList {
    const int* list;
    int count;
    __device__ __forceinline__ int id(int i) const { return list ? __ldcg(list + i) : i; }
};

// Keeps the top_k largest logits and all logits that equal the last of them.
__device__ __forceinline__ void cut_top_k(SampleShared& s, const SampleBlock& b, const SampleList& list,
                                          const SampleBorders& borders, SampleCut& cut) {
    u64 above;
    cut.border = key_logit(select_key(s, list.count, b.p->top_k - borders.k_before, above, [&](int i, uint32_t& key) -> u64 {
        float logit = b.row.logit(list.id(i));
        key = logit_key(logit);
        return b.row.band(logit) == borders.k;
    }));
}

// Keeps the largest logits until their mass reaches top_p's share of what top_k left; of equal logits, the lower ids.
__device__ __forceinline__ void cut_top_p(SampleShared& s, const SampleBlock& b, const SampleList& list,
                                          const SampleBorders& borders, SampleCut& cut) {
    const SampleRow& row = b.row;
    u64 own = 0, above;
    for (int i = threadIdx.x; borders.k >= 0 && i < list.count; i += kSampleThreads) {
        int id = list.id(i);
        float logit = row.logit(id);
        if (row.band(logit) == borders.k && cut.keeps(logit, id)) own += row.weight(logit);
    }
    u64 limit = nucleus(b.p->top_p, borders.sure + block_reduce(s, own, SampleSum()));
    load_bins(s, b.scratch->masses, row.bands());
    int band = find_bin(s, row.bands(), limit);
    u64 before = s.found_before;
    __syncthreads();
    float border = key_logit(select_key(s, list.count, limit - before, above, [&](int i, uint32_t& key) -> u64 {
        int id = list.id(i);
        float logit = row.logit(id);
        key = logit_key(logit);
        return row.band(logit) == band && cut.keeps(logit, id) ? row.weight(logit) : 0;
    }));
    u64 weight = row.weight(border), left = limit - before - above, kept = (left + weight - 1) / weight, equal = 0;
    for (int i = threadIdx.x; i < list.count; i += kSampleThreads) equal += row.logit(list.id(i)) == border;
    equal = block_reduce(s, equal, SampleSum());
    cut.border = border;
    if (kept < equal) {
        u64 ignored;
        cut.last = int(~select_key(s, list.count, kept, ignored, [&](int i, uint32_t& key) -> u64 {
            key = ~uint32_t(list.id(i));
            return row.logit(list.id(i)) == border;
        }));
    }
}

// Returns whether this is the last of the output's blocks to arrive. That block then sees what the others wrote.
__device__ __forceinline__ bool last_block(SampleShared& s, int* arrived) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) s.flag = atomicAdd(arrived, 1) == int(gridDim.x) - 1;
    __syncthreads();
    __threadfence();
    return s.flag;
}

// The first token in id order with which the running sum of weights exceeds floor(bits * total / 2^64).
__device__ __forceinline__ int draw_token(SampleShared& s, const SampleBlock& b, const SampleCut& cut, u64 bits) {
    int segments = (b.row.vocab + kSampleSegment - 1) / kSampleSegment, lane = threadIdx.x;
    load_bins(s, b.scratch->segments, segments);
    u64 own = 0;
    for (int i = threadIdx.x; i < segments; i += kSampleThreads) own += s.bins[i];
    u64 left = __umul64hi(bits, block_reduce(s, own, SampleSum())) + 1;
    int segment = find_bin(s, segments, left);
    left -= s.found_before;
    if (threadIdx.x < 32) {
        for (int first = segment * kSampleSegment; first < (segment + 1) * kSampleSegment; first += 32) {
            u64 weight = kept_weight(b.row, cut, b.p->least, first + lane), sum = weight;
#pragma unroll
            for (int distance = 1; distance < 32; distance <<= 1) {
                u64 other = __shfl_up_sync(0xffffffffu, sum, distance);
                if (lane >= distance) sum += other;
            }
            if (sum - weight < left && left <= sum) s.token = first + lane;
            u64 all = __shfl_sync(0xffffffffu, sum, 31);
            if (left <= all) break;
            left -= all;
        }
    }
    __syncthreads();
    return s.token;
}

// Reports the most probable tokens of the raw row, from the tokens that each slice listed.
__device__ __forceinline__ void report_tops(SampleShared& s, const SampleBlock& b, u64 best, int count, int* ids,
                                            float* values) {
    for (int rank = 0; rank < count; ++rank) {
        if (threadIdx.x == 0) {
            ids[rank] = int(~uint32_t(best));
            values[rank] = b.logits[ids[rank]];
        }
        u64 next = 0;
        for (int i = threadIdx.x; i < int(gridDim.x) * count; i += kSampleThreads) {
            u64 key = b.scratch->tops[i / count][i % count];
            if (key < best) next = SampleMax()(next, key);
        }
        best = block_reduce(s, next, SampleMax());
    }
}

// The four launches that draw the tokens of outputs first, first + 1, ... from logits[output - first][vocab]. They
// leave the logits unchanged. The grid is the number of slices of the vocabulary by the number of outputs. Each output
// has its own scratch.

// Finds the largest logits; applies adjustments.
BOUNDED_KERNEL(kSampleThreads, 2, rf_sample_tops, int* step, const SampleParameters* parameters, float* logits,
               const double* powers, SampleScratch* scratches, const int* ring, int first, int vocab, int scale_bits) {
    SHARED(SampleShared, shared);
    SampleShared& s = *shared;
    SampleBlock b;
    if (!take_block(b, step, parameters, logits, powers, scratches, first, vocab, scale_bits)) return;
    SampleScratch& scratch = *b.scratch;
    int bins = b.p->bounds(vocab) ? kSampleBins : 0;
    for (int i = blockIdx.x * kSampleThreads + threadIdx.x; i < bins; i += gridDim.x * kSampleThreads) {
        scratch.masses[i] = 0;
        scratch.counts[i] = 0;
    }
    uint32_t first_nan, ignored;
    u64 best = slice_top(s, raw_row(b, 0), b, first_nan);
    if (threadIdx.x == 0) {
        scratch.raw_top[blockIdx.x] = best;
        scratch.first_nan[blockIdx.x] = first_nan;
        if (b.first()) {
            scratch.raw_mass = 0;
            scratch.listed = 0;
            scratch.bordered = 0;
            scratch.drawn = 0;
        }
    }
    if (b.p->flags & SAMPLE_LOGPROBS) list_tops(s, b, best);
    if (b.p->adjusts()) adjust_slice(s, b, ring);
    if (b.p->adjusts() || b.row.mask) best = slice_top(s, b.row, b, ignored);
    if (threadIdx.x == 0) scratch.top[blockIdx.x] = best;
}

// Sums the weights of the raw row, by band, or by segment, as each output needs.
BOUNDED_KERNEL(kSampleThreads, 2, rf_sample_masses, int* step, const SampleParameters* parameters, float* logits,
               const double* powers, SampleScratch* scratches, int first, int vocab, int scale_bits) {
    SHARED(SampleShared, shared);
    SampleShared& s = *shared;
    SampleBlock b;
    if (!take_block(b, step, parameters, logits, powers, scratches, first, vocab, scale_bits)) return;
    RowTops tops = row_tops(s, b);
    if (tops.error) return;
    if (b.p->flags & SAMPLE_LOGPROBS) {
        if (b.p->adjusts()) exchange(b, b.from, b.to);
        SampleRow raw = raw_row(b, key_logit(uint32_t(tops.raw >> 32)));
        u64 own = 0;
        for (int i = b.from + threadIdx.x; i < b.to; i += kSampleThreads) own += raw.weight(b.logits[i]);
        u64 mass = block_reduce(s, own, SampleSum());
        if (threadIdx.x == 0) atomicAdd(&b.scratch->raw_mass, mass);
        if (b.p->adjusts()) exchange(b, b.from, b.to);
    }
    if (b.p->flags & SAMPLE_GREEDY) return;
    b.row.top = key_logit(uint32_t(tops.top >> 32));
    if (b.p->bounds(vocab)) {
        sum_bands(s, b);
    } else {
        sum_segments(b, {-INFINITY, vocab});
    }
}

// Finds the borders of top_k and top_p.
BOUNDED_KERNEL(kSampleThreads, 2, rf_sample_borders, int* step, const SampleParameters* parameters, float* logits,
               const double* powers, SampleScratch* scratches, int first, int vocab, int scale_bits) {
    SHARED(SampleShared, shared);
    SampleShared& s = *shared;
    SampleBlock b;
    if (!take_block(b, step, parameters, logits, powers, scratches, first, vocab, scale_bits)) return;
    if (!b.p->bounds(vocab)) return;
    RowTops tops = row_tops(s, b);
    if (tops.error) return;
    b.row.top = key_logit(uint32_t(tops.top >> 32));
    SampleBorders borders = find_borders(s, b);
    for (int i = b.from + threadIdx.x; i < b.to; i += kSampleThreads) {
        int band = b.row.band(b.row.logit(i));
        if (band >= 0 && borders.has(band)) {
            int place = atomicAdd(&b.scratch->listed, 1);
            if (place < kSampleListed) b.scratch->list[place] = i;
        }
    }
    if (!last_block(s, &b.scratch->bordered)) return;
    int listed = __ldcg(&b.scratch->listed);
    bool all = listed > kSampleListed;
    SampleList list = {all ? nullptr : b.scratch->list, all ? vocab : listed};
    SampleCut cut = {-INFINITY, vocab};
    if (borders.k >= 0) cut_top_k(s, b, list, borders, cut);
    if (b.p->top_p < 1) cut_top_p(s, b, list, borders, cut);
    if (threadIdx.x == 0) b.scratch->cut = cut;
}

// Draws the tokens. They are also written to ring[step[4] + output], where later steps find them. The token of a failed
// output is 0.
BOUNDED_KERNEL(kSampleThreads, 2, rf_sample, int* step, const SampleParameters* parameters, float* logits,
               const double* powers, SampleScratch* scratches, int* ring, SampleResult* results, int* top_ids,
               float* top_logits, int first, int vocab, int scale_bits) {
    SHARED(SampleShared, shared);
    SampleShared& s = *shared;
    SampleBlock b;
    if (!take_block(b, step, parameters, logits, powers, scratches, first, vocab, scale_bits)) return;
    RowTops tops = row_tops(s, b);
    SampleResult result = {0, tops.error, tops.error_token, 0, 0, 0, 0};
    SampleCut cut = {-INFINITY, vocab};
    b.row.top = key_logit(uint32_t(tops.top >> 32));
    if (!tops.error && b.p->bounds(vocab)) {
        cut = b.scratch->cut;
        sum_segments(b, cut);
        if (!last_block(s, &b.scratch->drawn)) return;
    } else if (!b.first()) {
        return;
    }
    if (!tops.error) {
        bool greedy = b.p->flags & SAMPLE_GREEDY;
        result.token = b.p->given >= 0 ? b.p->given
                       : greedy        ? int(~uint32_t(tops.top))
                                       : draw_token(s, b, cut, random_bits(b.p->seed, b.p->counter));
    }
    __syncthreads();
    if (b.p->adjusts()) exchange(b, 0, vocab);
    if (b.p->flags & SAMPLE_LOGPROBS && !tops.error) {
        result.top = key_logit(uint32_t(tops.raw >> 32));
        result.mass = b.scratch->raw_mass;
        result.reported = min(min(b.p->tops, kSampleTops), vocab);
        report_tops(s, b, tops.raw, result.reported, top_ids + b.output * kSampleTops,
                    top_logits + b.output * kSampleTops);
    }
    if (threadIdx.x == 0) {
        result.token_logit = b.logits[result.token];
        ring[step[4] + b.output] = result.token;
        results[b.output] = result;
    }
}
