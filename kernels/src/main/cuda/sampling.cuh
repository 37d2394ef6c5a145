// Drawing tokens from rows of logits, to the bit as io.radixflow.kernels.sampling.Sampler draws them: the weights of the
// softmax are integers, so sums do not depend on their order, and every other operation is IEEE and written with the
// intrinsics that the compiler never contracts.
//
// A block an output. Every pass reads the whole row, which stays in the L2 cache: one for the arg max, one for the total,
// five more for top_k and five for top_p.
#pragma once
#include "device.cuh"

typedef unsigned long long u64;

constexpr int kSampleThreads = 512;
constexpr int kSampleWarps = kSampleThreads / 32;
constexpr int kSampleBins = 4096;     // at least the bands of the exponential, and the vocabulary in segments
constexpr int kSampleSegment = 256;   // tokens whose weights a draw skips together
constexpr int kSampleBandShift = 2;   // steps of the exponential to bands, 64 an octave
constexpr int kSampleTops = 20;
constexpr int kAdjustment = 4;        // words: token, count, bias, the logit before

enum SampleFlag { SAMPLE_DRAW = 1, SAMPLE_LOGPROBS = 2, SAMPLE_GREEDY = 4, SAMPLE_PENALTIES = 8 };
enum SampleError { SAMPLE_OK = 0, SAMPLE_NAN = 1, SAMPLE_NOTHING = 2, SAMPLE_INFINITE = 3 };

// An output's parameters; io.radixflow.kernels.cuda.SamplingRecord describes them.
struct SampleParameters {
    int flags;
    int counter;
    double scale;
    double top_p;
    long long least;
    u64 seed;
    int top_k;
    int first_adjustment;
    int adjustments;
    float repetition;
    float frequency;
    float presence;
    int pending;
    int tops;
    int padding[2];
};

// What the host reads of an output.
struct SampleResult {
    int token;
    int error;
    int error_token;
    float top;          // the largest raw logit
    u64 mass;           // sum of the raw row's weights at temperature 1
    float token_logit;  // raw
    int reported;
};

struct SampleShared {
    u64 bins[kSampleBins];
    u64 warps[kSampleWarps];
    u64 found_before;
    int found;
    int pending_found;
    int token;
};

// The row of logits with what turns a logit into a weight: FixedPointExp of the host.
struct SampleRow {
    const float* logits;
    const double* powers;
    int vocab;
    int scale_bits;
    float top;
    double scale;

    __device__ __forceinline__ double end() const { return double((scale_bits + 1) * 256); }
    __device__ __forceinline__ double steps(float logit) const {
        return __dmul_rn(__dadd_rn(double(top), -double(logit)), scale);
    }
    __device__ __forceinline__ u64 weight_of(double steps) const {
        int nearest = int(__dadd_rn(steps, 0.5));
        double rest = __dmul_rn(__dadd_rn(double(nearest), -steps), 0.6931471805599453 / 256);
        double cubic = __dadd_rn(0.5, __dmul_rn(rest, 1.0 / 6));
        double power = __dadd_rn(1.0, __dmul_rn(rest, __dadd_rn(1.0, __dmul_rn(rest, cubic))));
        double weight = __dmul_rn(__dmul_rn(powers[nearest & 255], power), double(1ull << scale_bits));
        return u64(weight) >> (nearest >> 8);
    }
    __device__ __forceinline__ u64 weight(float logit) const {
        double distance = steps(logit);
        return distance < end() ? weight_of(distance) : 0;
    }
};

// Orders logits as unsigned integers; 0 and -0 are equal.
__device__ __forceinline__ uint32_t logit_key(float logit) {
    uint32_t bits = __float_as_uint(logit + 0.0f);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
__device__ __forceinline__ float key_logit(uint32_t key) {
    return __uint_as_float(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

// Sum or maximum over the block, in every thread.
template <class Reduce>
__device__ __forceinline__ u64 block_reduce(SampleShared& s, u64 v, Reduce reduce) {
#pragma unroll
    for (int distance = 16; distance; distance >>= 1) v = reduce(v, __shfl_xor_sync(0xffffffffu, v, distance));
    if (threadIdx.x % 32 == 0) s.warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = s.warps[0];
    for (int warp = 1; warp < kSampleWarps; ++warp) v = reduce(v, s.warps[warp]);
    __syncthreads();
    return v;
}
struct SampleSum {
    __device__ __forceinline__ u64 operator()(u64 a, u64 b) const { return a + b; }
};
struct SampleMax {
    __device__ __forceinline__ u64 operator()(u64 a, u64 b) const { return a > b ? a : b; }
};

// The first bin with which the running sum of bins[0..n) reaches target, above 0; s.found_before is the sum before it.
// -1 if all bins do not reach it.
__device__ __forceinline__ int find_bin(SampleShared& s, int n, u64 target) {
    int each = (n + kSampleThreads - 1) / kSampleThreads, first = threadIdx.x * each, last = min(n, first + each);
    u64 own = 0;
    for (int i = first; i < last; ++i) own += s.bins[i];
    u64 sum = own;
#pragma unroll
    for (int distance = 1; distance < 32; distance <<= 1) {
        u64 other = __shfl_up_sync(0xffffffffu, sum, distance);
        if (int(threadIdx.x % 32) >= distance) sum += other;
    }
    if (threadIdx.x % 32 == 31) s.warps[threadIdx.x / 32] = sum;
    if (threadIdx.x == 0) s.found = -1;
    __syncthreads();
    u64 before = sum - own;
    for (int warp = 0; warp < int(threadIdx.x) / 32; ++warp) before += s.warps[warp];
    if (before < target && target <= before + own) {
        int i = first;
        while (before + s.bins[i] < target) before += s.bins[i++];
        s.found = i;
        s.found_before = before;
    }
    __syncthreads();
    return s.found;
}

__device__ __forceinline__ void clear_bins(SampleShared& s, int n) {
    for (int i = threadIdx.x; i < n; i += kSampleThreads) s.bins[i] = 0;
    __syncthreads();
}

// A 32-bit key and a weight of each token that takes part, of weight 0 if it does not. Finds the largest key so that the
// tokens with keys at or above it together reach target, which all tokens do; above is what those with larger keys have.
template <class Keyed>
__device__ __forceinline__ uint32_t select_key(SampleShared& s, int vocab, u64 target, u64& above, Keyed keyed) {
    uint32_t prefix = 0, mask = 0;
    above = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
        clear_bins(s, 256);
        for (int i = threadIdx.x; i < vocab; i += kSampleThreads) {
            uint32_t key = 0;
            u64 weight = keyed(i, key);
            if (weight && (key & mask) == prefix) atomicAdd(&s.bins[255 - (key >> shift & 255)], weight);
        }
        __syncthreads();
        int bin = find_bin(s, 256, target - above);
        above += s.found_before;
        prefix |= uint32_t(255 - bin) << shift;
        mask |= 255u << shift;
        __syncthreads();
    }
    return prefix;
}

// The tokens left to draw from: those with a logit above border, or at it with an id up to last.
struct SampleCut {
    float border;
    int last;
    __device__ __forceinline__ bool keeps(float logit, int id) const {
        return logit > border || (logit == border && id <= last);
    }
};

// As many largest logits as top_k says, and all that equal the last of them.
__device__ __forceinline__ void cut_top_k(SampleShared& s, const SampleRow& row, int k, SampleCut& cut) {
    int bands = (int(row.end()) >> kSampleBandShift) + 1;
    clear_bins(s, bands);
    for (int i = threadIdx.x; i < row.vocab; i += kSampleThreads) {
        double steps = row.steps(row.logits[i]);
        if (steps < row.end()) atomicAdd(&s.bins[int(steps) >> kSampleBandShift], u64(1));
    }
    __syncthreads();
    int band = find_bin(s, bands, k);
    u64 before = s.found_before;
    __syncthreads();
    if (band < 0) return;  // what is further down has no weight
    u64 above;
    uint32_t key = select_key(s, row.vocab, k - before, above, [&](int i, uint32_t& key) -> u64 {
        double steps = row.steps(row.logits[i]);
        key = logit_key(row.logits[i]);
        return steps < row.end() && int(steps) >> kSampleBandShift == band;
    });
    cut.border = key_logit(key);
}

// The largest logits until their mass reaches limit; of equal ones the lower ids. total is that of the tokens before.
__device__ __forceinline__ void cut_top_p(SampleShared& s, const SampleRow& row, double p, SampleCut& cut) {
    int bands = (int(row.end()) >> kSampleBandShift) + 1;
    clear_bins(s, bands);
    u64 own = 0;
    for (int i = threadIdx.x; i < row.vocab; i += kSampleThreads) {
        float logit = row.logits[i];
        double steps = row.steps(logit);
        if (steps < row.end() && cut.keeps(logit, i)) {
            u64 weight = row.weight_of(steps);
            atomicAdd(&s.bins[int(steps) >> kSampleBandShift], weight);
            own += weight;
        }
    }
    u64 total = block_reduce(s, own, SampleSum());
    u64 limit = u64(ceil(__dmul_rn(p, double((long long)total))));
    int band = find_bin(s, bands, limit);
    u64 before = s.found_before, above;
    __syncthreads();
    uint32_t key = select_key(s, row.vocab, limit - before, above, [&](int i, uint32_t& key) -> u64 {
        float logit = row.logits[i];
        double steps = row.steps(logit);
        key = logit_key(logit);
        bool within = steps < row.end() && int(steps) >> kSampleBandShift == band && cut.keeps(logit, i);
        return within ? row.weight_of(steps) : 0;
    });
    float border = key_logit(key);
    u64 weight = row.weight(border), left = limit - before - above, kept = (left + weight - 1) / weight, equal = 0;
    for (int i = threadIdx.x; i < row.vocab; i += kSampleThreads) equal += row.logits[i] == border;
    equal = block_reduce(s, equal, SampleSum());
    cut.border = border;
    if (kept < equal) {
        u64 ignored;
        cut.last = int(~select_key(s, row.vocab, kept, ignored, [&](int i, uint32_t& key) -> u64 {
            key = ~uint32_t(i);
            return row.logits[i] == border;
        }));
    }
}

// The first token in id order with which the weights reach above floor(bits * total / 2^64).
__device__ __forceinline__ int draw_token(SampleShared& s, const SampleRow& row, const SampleCut& cut, long long least,
                                          u64 bits) {
    int segments = (row.vocab + kSampleSegment - 1) / kSampleSegment, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    auto weight_at = [&](int i) -> u64 {
        if (i >= row.vocab || !cut.keeps(row.logits[i], i)) return 0;
        u64 weight = row.weight(row.logits[i]);
        return weight >= u64(least) ? weight : 0;
    };
    u64 own = 0;
    for (int segment = warp; segment < segments; segment += kSampleWarps) {
        u64 sum = 0;
        for (int i = lane; i < kSampleSegment; i += 32) sum += weight_at(segment * kSampleSegment + i);
#pragma unroll
        for (int distance = 16; distance; distance >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
        if (lane == 0) {
            s.bins[segment] = sum;
            own += sum;
        }
    }
    u64 left = __umul64hi(bits, block_reduce(s, own, SampleSum())) + 1;
    int segment = find_bin(s, segments, left);
    left -= s.found_before;
    if (warp == 0) {
        for (int first = segment * kSampleSegment; first < (segment + 1) * kSampleSegment; first += 32) {
            u64 weight = weight_at(first + lane), sum = weight;
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

// Philox4x32-10 (Salmon et al. 2011): 64 random bits, decided by seed and counter alone.
__device__ __forceinline__ u64 random_bits(u64 seed, int counter) {
    uint32_t c0 = uint32_t(counter), c1 = 0, c2 = 0, c3 = 0, key0 = uint32_t(seed), key1 = uint32_t(seed >> 32);
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        uint32_t high0 = __umulhi(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
        uint32_t high1 = __umulhi(0xCD9E8D57u, c2), low1 = 0xCD9E8D57u * c2;
        c0 = high1 ^ c1 ^ key0;
        c1 = low1;
        c2 = high0 ^ c3 ^ key1;
        c3 = low0;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return u64(c1) << 32 | c0;
}

// The token with the largest logit, the lowest id of equal ones, as key << 32 | ~id; error says why there is none.
__device__ __forceinline__ u64 row_top(SampleShared& s, const float* logits, int vocab, int& error, int& error_token) {
    u64 best = 0;
    uint32_t first_nan = 0xffffffffu;
    for (int i = threadIdx.x; i < vocab; i += kSampleThreads) {
        float logit = logits[i];
        if (logit != logit) {
            first_nan = min(first_nan, uint32_t(i));
        } else {
            best = SampleMax()(best, u64(logit_key(logit)) << 32 | ~uint32_t(i));
        }
    }
    u64 nan = block_reduce(s, u64(~first_nan), SampleMax());
    best = block_reduce(s, best, SampleMax());
    float top = key_logit(uint32_t(best >> 32));
    error = nan ? SAMPLE_NAN : top == -INFINITY ? SAMPLE_NOTHING : top == INFINITY ? SAMPLE_INFINITE : SAMPLE_OK;
    error_token = nan ? int(~uint32_t(nan)) : int(~uint32_t(best));
    return best;
}

// Penalties, then the bias, of one token: SamplingState.adjust of the host.
__device__ __forceinline__ float adjusted_logit(const SampleParameters& p, float logit, int count, float bias) {
    if (count >= 0) {
        logit = logit > 0 ? __fdiv_rn(logit, p.repetition) : __fmul_rn(logit, p.repetition);
        if (count > 0) logit = __fadd_rn(logit, -__fadd_rn(__fmul_rn(p.frequency, float(count)), p.presence));
    }
    return __fadd_rn(logit, bias);
}

// Changes the logits that the sequence has adjustments for and keeps what they were. The token drawn last may be
// missing from the counts: it is known only here. Returns its id if no adjustment names it, else -1.
__device__ __forceinline__ int adjust_row(SampleShared& s, const SampleParameters& p, int* adjustments, float* logits,
                                          const int* ring) {
    int pending = p.pending >= 0 ? ring[p.pending] : -1;
    if (threadIdx.x == 0) s.pending_found = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < p.adjustments; i += kSampleThreads) {
        int* one = adjustments + i * kAdjustment;
        int id = one[0], count = one[1];
        if (id == pending) {
            s.pending_found = 1;
            count = max(count, 0) + 1;
        }
        one[3] = __float_as_int(logits[id]);
        logits[id] = adjusted_logit(p, logits[id], count, __int_as_float(one[2]));
    }
    __syncthreads();
    return s.pending_found ? -1 : pending;
}

// The most probable tokens of the raw row after the one with key best.
__device__ __forceinline__ void report_tops(SampleShared& s, const float* logits, int vocab, u64 best, int count,
                                            int* ids, float* values) {
    for (int rank = 0; rank < count; ++rank) {
        if (threadIdx.x == 0) {
            ids[rank] = int(~uint32_t(best));
            values[rank] = logits[ids[rank]];
        }
        u64 next = 0;
        for (int i = threadIdx.x; rank + 1 < count && i < vocab; i += kSampleThreads) {
            u64 key = u64(logit_key(logits[i])) << 32 | ~uint32_t(i);
            if (key < best) next = SampleMax()(next, key);
        }
        best = block_reduce(s, next, SampleMax());
    }
}

// Draws the tokens of outputs first, first + 1, ... (a block each) from logits[output - first][vocab], which it leaves as
// they are. Tokens go to ring[step[4] + output] too, where later steps find them; a failed output's is 0.
BOUNDED_KERNEL(kSampleThreads, 1, rf_sample, int* step, const SampleParameters* parameters, float* logits,
               const double* powers, int* ring, SampleResult* results, int* top_ids, float* top_logits, int first,
               int vocab, int scale_bits) {
    SHARED(SampleShared, shared);
    SampleShared& s = *shared;
    int output = first + blockIdx.x;
    if (output >= step[2]) return;
    const SampleParameters& p = parameters[output];
    if (!(p.flags & SAMPLE_DRAW)) return;
    float* row_logits = logits + size_t(blockIdx.x) * vocab;
    int* adjustments = step + step[5] + size_t(p.first_adjustment) * kAdjustment;
    SampleResult result = {0, SAMPLE_OK, 0, 0, 0, 0, 0};
    SampleRow row = {row_logits, powers, vocab, scale_bits, 0, 256 * 1.4426950408889634};

    u64 best = row_top(s, row_logits, vocab, result.error, result.error_token);
    if (p.flags & SAMPLE_LOGPROBS && !result.error) {
        row.top = result.top = key_logit(uint32_t(best >> 32));
        u64 own = 0;
        for (int i = threadIdx.x; i < vocab; i += kSampleThreads) own += row.weight(row_logits[i]);
        result.mass = block_reduce(s, own, SampleSum());
        result.reported = min(min(p.tops, kSampleTops), vocab);
        report_tops(s, row_logits, vocab, best, result.reported, top_ids + output * kSampleTops,
                    top_logits + output * kSampleTops);
    }
    bool adjusts = (p.adjustments > 0 || p.pending >= 0) && !result.error;
    int pending = -1;
    float pending_logit = 0;
    if (adjusts) {
        pending = adjust_row(s, p, adjustments, row_logits, ring);
        if (pending >= 0) {
            pending_logit = row_logits[pending];
            __syncthreads();
            if (threadIdx.x == 0) row_logits[pending] = adjusted_logit(p, pending_logit, 1, 0);
            __syncthreads();
        }
        best = row_top(s, row_logits, vocab, result.error, result.error_token);
    }
    int token = int(~uint32_t(best));
    if (!(p.flags & SAMPLE_GREEDY) && !result.error) {
        row.top = key_logit(uint32_t(best >> 32));
        row.scale = p.scale;
        SampleCut cut = {-INFINITY, vocab};
        if (p.top_k > 0 && p.top_k < vocab) cut_top_k(s, row, p.top_k, cut);
        if (p.top_p < 1) cut_top_p(s, row, p.top_p, cut);
        token = draw_token(s, row, cut, p.least, random_bits(p.seed, p.counter));
    }
    __syncthreads();
    if (adjusts) {
        for (int i = threadIdx.x; i < p.adjustments; i += kSampleThreads) {
            row_logits[adjustments[i * kAdjustment]] = __int_as_float(adjustments[i * kAdjustment + 3]);
        }
        if (threadIdx.x == 0 && pending >= 0) row_logits[pending] = pending_logit;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        result.token = result.error ? 0 : token;
        result.token_logit = row_logits[result.token];
        ring[step[4] + output] = result.token;
        results[output] = result;
    }
}
