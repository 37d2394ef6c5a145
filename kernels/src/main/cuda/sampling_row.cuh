// Shared by the kernels of sampling.cuh: an output's parameters and results, a row of logits as weights, and sums over
// a block.
#pragma once
#include "device.cuh"

typedef unsigned long long u64;

constexpr int kSampleThreads = 256;
constexpr int kSampleWarps = kSampleThreads / 32;
constexpr int kSampleBins = 4096;      // at least the bands of the exponential and the segments of the vocabulary
constexpr int kSampleSegment = 256;    // tokens per partial sum of weights; a draw skips whole segments
constexpr int kSampleSlice = 4096;     // tokens per block
constexpr int kSampleSlices = 256;     // largest number of slices of a vocabulary
constexpr int kSampleListed = 8192;    // largest number of listed tokens of the bands with a border
constexpr int kSampleBandShift = 2;    // from steps of the exponential to bands, 64 per octave
constexpr int kSampleTops = 20;
constexpr int kAdjustment = 4;         // words: token, count, bias, and space for the logit that was replaced

enum SampleFlag { SAMPLE_DRAW = 1, SAMPLE_LOGPROBS = 2, SAMPLE_GREEDY = 4, SAMPLE_PENALTIES = 8 };
enum SampleError { SAMPLE_OK = 0, SAMPLE_NAN = 1, SAMPLE_NOTHING = 2, SAMPLE_INFINITE = 3, SAMPLE_MASKED = 4 };

// An output's parameters; io.radixflow.kernels.cuda.step.SamplingRecord describes them.
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
    int mask;
    int given;  // the given token; -1 to draw one

    __device__ __forceinline__ bool bounds_k(int vocab) const { return top_k > 0 && top_k < vocab; }
    __device__ __forceinline__ bool bounds(int vocab) const {
        return !(flags & SAMPLE_GREEDY) && (bounds_k(vocab) || top_p < 1);
    }
    __device__ __forceinline__ bool adjusts() const { return adjustments > 0 || pending >= 0; }
};

// The result of an output, for the host.
struct SampleResult {
    int token;
    int error;
    int error_token;
    float top;          // the largest raw logit
    u64 mass;           // sum of the raw row's weights at temperature 1
    float token_logit;  // the token's raw logit
    int reported;
};

// The remaining tokens: those with a logit above border, or equal to it with an id up to last.
struct SampleCut {
    float border;
    int last;
    __device__ __forceinline__ bool keeps(float logit, int id) const {
        return logit > border || (logit == border && id <= last);
    }
};

// The data that the blocks of an output pass to each other. Each launch reads what the launch before wrote. Sums are of
// integers, so the order of their terms does not matter.
struct SampleScratch {
    u64 masses[kSampleBins];  // weights by band
    u64 counts[kSampleBins];  // tokens by band
    u64 segments[kSampleBins];
    u64 tops[kSampleSlices][kSampleTops];  // each slice's largest raw logits as keys with ids; 0 for none
    u64 raw_top[kSampleSlices];
    u64 top[kSampleSlices];  // after adjustments and mask
    uint32_t first_nan[kSampleSlices];
    int list[kSampleListed];
    u64 raw_mass;
    SampleCut cut;
    int listed;
    int bordered;  // number of blocks that are done
    int drawn;     // number of blocks that are done
    int pending;   // the last drawn token if no adjustment has it; else -1
    float pending_logit;
    int padding;
};

static_assert(sizeof(SampleScratch) == 177192, "SamplingKernel.SCRATCH_BYTES");

struct SampleShared {
    u64 warps[kSampleWarps];
    u64 found_before;
    int found;
    int flag;
    int token;
    int padding;
    u64 bins[kSampleBins];
    uint32_t counts[kSampleBins];
};

// A row of logits, some of which a mask may exclude, and the parameters that turn a logit into a weight. See
// FixedPointExp on the host.
struct SampleRow {
    const float* logits;
    const uint32_t* mask;
    const double* powers;
    int vocab;
    int scale_bits;
    float top;
    double scale;

    __device__ __forceinline__ bool allows(int i) const { return !mask || mask[i >> 5] >> (i & 31) & 1; }
    __device__ __forceinline__ float logit(int i) const { return allows(i) ? logits[i] : -INFINITY; }
    __device__ __forceinline__ double end() const { return double((scale_bits + 1) * 256); }
    __device__ __forceinline__ int bands() const { return (int(end()) >> kSampleBandShift) + 1; }
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
    // -1 for a logit without a weight.
    __device__ __forceinline__ int band(float logit) const {
        double distance = steps(logit);
        return distance < end() ? int(distance) >> kSampleBandShift : -1;
    }
};

// A key that orders logits as unsigned integers; 0 and -0 are equal.
__device__ __forceinline__ uint32_t logit_key(float logit) {
    uint32_t bits = __float_as_uint(logit + 0.0f);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
__device__ __forceinline__ float key_logit(uint32_t key) {
    return __uint_as_float(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

// Returns the sum or maximum over the block to every thread.
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

// The first bin at which the running sum of bins[0..n) reaches target, which is above 0; -1 if it never does.
// s.found_before is the sum before that bin.
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

// keyed gives each token a 32-bit key and a weight, 0 if the token does not take part. Finds the largest key such that
// the weights of all tokens with keys at or above it reach target; the weights of all tokens must reach it. above is
// the weight of the tokens with larger keys.
template <class Keyed>
__device__ __forceinline__ uint32_t select_key(SampleShared& s, int tokens, u64 target, u64& above, Keyed keyed) {
    uint32_t prefix = 0, mask = 0;
    above = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
        clear_bins(s, 256);
        for (int i = threadIdx.x; i < tokens; i += kSampleThreads) {
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

// Philox4x32-10 (Salmon et al. 2011): 64 random bits, which depend only on seed and counter.
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
