// The products of gemm.cuh with weights in groups of 32 that share a scale. The groups of a stage are unpacked in
// registers and rounded to bf16, so the product has the same bits as one with weights that were rounded before.
//
// Weights are stored in chunks of 8 features x 32 elements of depth: [feature][element], then the scales of each
// feature. WeightFormat.java makes the chunks and maps file types to groups. The elements of a feature are in the order
// of the tensor core's fragments: lane q of four has the pair 2q, 2q + 1 of each run of 8, four pairs in a group. The
// pairs for q = 0 come first, then the pairs for q = 1, and so on. Chunks are stored along depth first, then along
// features. The number of features is padded to a multiple of 8 with zeros.
#pragma once
#include "gemm.cuh"

__device__ __forceinline__ uint32_t pack_bf16(float low, float high) {
    bf162 pair = __floats2bfloat162_rn(low, high);
    uint32_t bits;
    memcpy(&bits, &pair, sizeof bits);
    return bits;
}

// Nibble i of q minus `zero`, as a float. The nibble is put into the mantissa of a power of two, at the bits that count
// ones, and the power is subtracted. This rounds nothing. Converting an integer would need shifts and is slower.
struct Nibble {
    int at;       // the nibble's lowest bit in `bits`
    float power;  // so large that this bit of the mantissa is worth one
    uint32_t bits;

    __device__ __forceinline__ Nibble(uint32_t q, int i)
        : at(i < 5 ? i * 4 : i * 4 - 12), power(__uint_as_float(uint32_t(127 + 23 - at) << 23)) {
        bits = masked_or(i < 5 ? q : q >> 12, 15u << at, __float_as_uint(power));
    }
    __device__ __forceinline__ float without(float zero) const { return __uint_as_float(bits) - (power + zero); }
};
__device__ __forceinline__ float nibble_float(uint32_t q, int i) { return Nibble(q, i).without(0); }

// Byte i of q minus 128, as a float. The caller added the 128.
__device__ __forceinline__ float byte_float(uint32_t q, int i) {
    return __uint_as_float(__byte_perm(q, 0x4b000000, 0x7540 | i)) - 0x800080p0f;
}

constexpr uint32_t kSigned = 0x80808080;  // adds 128 to four signed bytes

// w = d * q, q an int8.
struct GroupQ8_0 {
    static constexpr int kWeights = 256, kChunk = kWeights + 8 * 2;
    uint2 q;
    float d;

    // Reads the eight elements of lane `pair` in a feature's group.
    __device__ __forceinline__ GroupQ8_0(const unsigned char* chunk, int feature, int pair)
        : q(*reinterpret_cast<const uint2*>(chunk + feature * 32 + pair * 8)),
          d(widen_f16(reinterpret_cast<const uint16_t*>(chunk + kWeights)[feature])) {
        q.x ^= kSigned;
        q.y ^= kSigned;
    }
    // The byte is too large by 2^15 + 128. d has 11 bits, so nothing is rounded here.
    __device__ __forceinline__ float operator[](int i) const {
        uint32_t bits = __byte_perm(i < 4 ? q.x : q.y, 0x47000000, 0x7604 | i % 4 << 4);
        return fmaf(__uint_as_float(bits), d, -32896.0f * d);
    }
};

// w = d * (q - 8), q of 4 bits.
struct GroupQ4_0 {
    static constexpr int kWeights = 128, kChunk = kWeights + 8 * 2;
    uint32_t q;
    float d;

    __device__ __forceinline__ GroupQ4_0(const unsigned char* chunk, int feature, int pair)
        : q(*reinterpret_cast<const uint32_t*>(chunk + feature * 16 + pair * 4)),
          d(widen_f16(reinterpret_cast<const uint16_t*>(chunk + kWeights)[feature])) {}
    __device__ __forceinline__ float operator[](int i) const { return Nibble(q, i).without(8) * d; }
};

// w = d * q + m, q of 4 bits.
struct GroupQ4_1 {
    static constexpr int kWeights = 128, kChunk = kWeights + 8 * 4;
    uint32_t q;
    float d, m;

    __device__ __forceinline__ GroupQ4_1(const unsigned char* chunk, int feature, int pair)
        : q(*reinterpret_cast<const uint32_t*>(chunk + feature * 16 + pair * 4)) {
        uint32_t both = reinterpret_cast<const uint32_t*>(chunk + kWeights)[feature];
        d = widen_f16(both & 0xffff);
        m = widen_f16(both >> 16);
    }
    __device__ __forceinline__ float operator[](int i) const { return fmaf(nibble_float(q, i), d, m); }
};

// w = d * q + m, where d and m come from the file's two levels of scales; q of 4 bits.
struct GroupQ4_K {
    static constexpr int kWeights = 128, kChunk = kWeights + 8 * 8;
    uint32_t q;
    float2 dm;

    __device__ __forceinline__ GroupQ4_K(const unsigned char* chunk, int feature, int pair)
        : q(*reinterpret_cast<const uint32_t*>(chunk + feature * 16 + pair * 4)),
          dm(reinterpret_cast<const float2*>(chunk + kWeights)[feature]) {}
    __device__ __forceinline__ float operator[](int i) const { return fmaf(nibble_float(q, i), dm.x, dm.y); }
};

// w = d * q + m, q of 5 bits. The fifth bits of a lane's eight elements are one byte after the nibbles.
struct GroupQ5_K {
    static constexpr int kNibbles = 128, kWeights = kNibbles + 8 * 4, kChunk = kWeights + 8 * 8;
    uint32_t q, fifth;
    float2 dm;

    __device__ __forceinline__ GroupQ5_K(const unsigned char* chunk, int feature, int pair)
        : q(*reinterpret_cast<const uint32_t*>(chunk + feature * 16 + pair * 4)),
          fifth(chunk[kNibbles + feature * 4 + pair]),
          dm(reinterpret_cast<const float2*>(chunk + kWeights)[feature]) {}
    __device__ __forceinline__ float operator[](int i) const {
        Nibble nibble(q, i);
        nibble.bits = masked_or(fifth << (nibble.at + 4 - i), 16u << nibble.at, nibble.bits);
        return fmaf(nibble.without(0), dm.x, dm.y);
    }
};

// w = d * q with one d per half of the group, as in Q4_K; q of 6 bits in an int8.
struct GroupQ6_K {
    static constexpr int kWeights = 256, kChunk = kWeights + 8 * 8;
    uint2 q;
    float2 d;

    __device__ __forceinline__ GroupQ6_K(const unsigned char* chunk, int feature, int pair)
        : q(*reinterpret_cast<const uint2*>(chunk + feature * 32 + pair * 8)),
          d(reinterpret_cast<const float2*>(chunk + kWeights)[feature]) {
        q.x ^= kSigned;
        q.y ^= kSigned;
    }
    __device__ __forceinline__ float operator[](int i) const {
        return byte_float(i < 4 ? q.x : q.y, i % 4) * (i < 4 ? d.x : d.y);
    }
};

// w = d * s * q - e * m with one s and one m per half of the group, int8; q of 2 or 3 bits in a nibble.
struct GroupQ2_K {
    static constexpr int kWeights = 128, kChunk = kWeights + 8 * 8;
    uint32_t q;
    float scale[2], minimum[2];

    __device__ __forceinline__ GroupQ2_K(const unsigned char* chunk, int feature, int pair)
        : q(*reinterpret_cast<const uint32_t*>(chunk + feature * 16 + pair * 4)) {
        uint2 both = reinterpret_cast<const uint2*>(chunk + kWeights)[feature];
        float d = widen_f16(both.x & 0xffff), e = -widen_f16(both.x >> 16);
        both.y ^= kSigned;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            scale[half] = d * byte_float(both.y, half);
            minimum[half] = e * byte_float(both.y, half + 2);
        }
    }
    __device__ __forceinline__ float operator[](int i) const {
        return fmaf(nibble_float(q, i), scale[i / 4], minimum[i / 4]);
    }
};

// Looks up the low four nibbles in the table of bytes T0 to T3.
template <uint32_t T0, uint32_t T1, uint32_t T2, uint32_t T3>
__device__ __forceinline__ uint32_t table_bytes(uint32_t nibbles) {
    uint32_t within = nibbles & 0x7777, upper = (nibbles & 0x8888) >> 1;
    return __byte_perm(__byte_perm(T0, T1, within), __byte_perm(T2, T3, within), 0x3210 | upper);
}

// w = d * v, where v is an int8 that a nibble selects: the values of IQ4_NL and IQ4_XS.
struct GroupIQ4 {
    static constexpr int kWeights = 128, kChunk = kWeights + 8 * 4;
    uint32_t v[2];
    float d;

    __device__ __forceinline__ GroupIQ4(const unsigned char* chunk, int feature, int pair)
        : d(reinterpret_cast<const float*>(chunk + kWeights)[feature]) {
        uint32_t q = *reinterpret_cast<const uint32_t*>(chunk + feature * 16 + pair * 4);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            v[i] = table_bytes<0xbfad9881, 0xf6eaddcf, 0x26190d01, 0x71594535>(q >> i * 16) ^ kSigned;
        }
    }
    __device__ __forceinline__ float operator[](int i) const { return byte_float(v[i / 4], i % 4) * d; }
};

// w = d * v, where v is a doubled 4-bit float (E2M1) and d a power of two as bf16.
struct GroupMXFP4 {
    static constexpr int kWeights = 128, kChunk = kWeights + 8 * 2;
    uint32_t v[2];
    float d;

    __device__ __forceinline__ GroupMXFP4(const unsigned char* chunk, int feature, int pair)
        : d(__uint_as_float(uint32_t(reinterpret_cast<const uint16_t*>(chunk + kWeights)[feature]) << 16)) {
        uint32_t q = *reinterpret_cast<const uint32_t*>(chunk + feature * 16 + pair * 4);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            v[i] = table_bytes<0x03020100, 0x0c080604, 0xfdfeff00, 0xf4f8fafc>(q >> i * 16) ^ kSigned;
        }
    }
    __device__ __forceinline__ float operator[](int i) const { return byte_float(v[i / 4], i % 4) * d; }
};

// w = d * v, where v is an 8-bit float, E4M3. The loader rejects NaN.
struct GroupFP8 {
    static constexpr int kWeights = 256, kChunk = kWeights + 8 * 4;
    uint2 q;
    float d;

    __device__ __forceinline__ GroupFP8(const unsigned char* chunk, int feature, int pair)
        : q(*reinterpret_cast<const uint2*>(chunk + feature * 32 + pair * 8)),
          d(reinterpret_cast<const float*>(chunk + kWeights)[feature]) {}
    __device__ __forceinline__ float operator[](int i) const {
        int32_t byte = int32_t(__byte_perm(i < 4 ? q.x : q.y, 0, i % 4 << 12 | 0x444));
        return __uint_as_float(uint32_t(byte >> 4) & 0x87f00000) * 0x1p120f * d;
    }
};

// A lane's eight elements of a group, in pairs.
template <class Group>
__device__ __forceinline__ void unpack8(uint32_t (&pairs)[4], const Group& w) {
#pragma unroll
    for (int i = 0; i < 4; ++i) pairs[i] = pack_bf16(w[2 * i], w[2 * i + 1]);
}

// Transposes 4 x 4 words among four lanes: each lane has a column in `from` and gets a row. to[i] is word lane % 4 of
// the i-th of the four lanes.
__device__ __forceinline__ void transpose4(uint32_t (&to)[4], const uint32_t (&from)[4]) {
    int lane = threadIdx.x % 4;
    bool odd = lane & 1, upper = lane & 2;
    uint32_t swapped[4];
#pragma unroll
    for (int i = 0; i < 4; i += 2) {  // with the neighbouring lane
        uint32_t other = __shfl_xor_sync(0xffffffffu, odd ? from[i] : from[i + 1], 1);
        swapped[i] = odd ? other : from[i];
        swapped[i + 1] = odd ? from[i + 1] : other;
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {  // with the neighbouring pair of lanes
        uint32_t other = __shfl_xor_sync(0xffffffffu, upper ? swapped[i] : swapped[i + 2], 2);
        to[i] = upper ? other : swapped[i];
        to[i + 2] = upper ? swapped[i + 2] : other;
    }
}

// One thread's share of loading stages. A stage has FEATURES / 8 consecutive runs of chunks of RUN bytes each.
template <int FEATURES, int RUN, int CHUNK, int THREADS>
struct GroupLoader {
    static constexpr int kPieces = RUN / 16, kAll = FEATURES / 8 * kPieces, kLoads = (kAll + THREADS - 1) / THREADS;
    const unsigned char* next;
    int left;             // remaining bytes of a run, over all stages from `next` on
    int octet[kLoads];    // offset of a piece's run from `next`; -1 if there are no such features
    int within[kLoads];   // offset of the piece in its run

    __device__ __forceinline__ GroupLoader(const GemmArguments& a, int first)
        : left(a.depth / 32 * CHUNK) {
        next = reinterpret_cast<const unsigned char*>(a.weights) + size_t(first / 8) * left;
#pragma unroll
        for (int i = 0; i < kLoads; ++i) {
            int at = threadIdx.x + i * THREADS;
            octet[i] = first + at / kPieces * 8 < a.features ? at / kPieces * left : -1;
            within[i] = at % kPieces * 16;
        }
    }

    // Loads the next stage. Nothing is loaded for missing features, and zeros for missing groups.
    __device__ __forceinline__ void load(unsigned char* to) {
#pragma unroll
        for (int i = 0; i < kLoads; ++i) {
            int at = threadIdx.x + i * THREADS;
            if (octet[i] < 0 || (kAll % THREADS && at >= kAll)) continue;
            bool valid = within[i] < left;
            cp_async16(to + at * 16, next + (valid ? octet[i] + within[i] : 0), valid);
        }
        next += RUN;
        left -= RUN;
    }
};

// The fragments of 8 rows x 32 elements of a panel: b[0] and b[1] for the first 16 elements, b[2] and b[3] for the
// rest.
__device__ __forceinline__ void rows_8x32(uint32_t (&b)[4], const bf16* panel, int row, int slice) {
    int lane = threadIdx.x % 32;
    ldmatrix_x4(b, panel + panel_at(row + lane % 8, slice * 4 + lane / 8));
}

// Loads the stages of a block's tile of FEATURES x ROWS, PANELS * 64 elements each, and calls multiply(stage) for each.
// A stage is chunks, then the panels of rows.
template <class Group, int FEATURES, int ROWS, int PANELS, int STAGES, int THREADS>
struct QuantisedStages {
    static constexpr int kRun = PANELS * 2 * Group::kChunk;  // bytes of 8 features in a stage
    static constexpr int kWeights = FEATURES / 8 * kRun;
    static constexpr int kStage = kWeights + PANELS * ROWS * 64 * int(sizeof(bf16));

    // The rows of panel p.
    __device__ __forceinline__ static const bf16* panel(const unsigned char* stage, int p) {
        return reinterpret_cast<const bf16*>(stage + kWeights) + p * ROWS * 64;
    }

    template <class Multiply>
    __device__ __forceinline__ static void each(const GemmArguments& a, GemmPlace place, int rows,
                                                unsigned char* stages, Multiply multiply) {
        GroupLoader<FEATURES, kRun, Group::kChunk, THREADS> weights(a, place.feature);
        GemmLoader<ROWS, PANELS, ROWS * 64, THREADS, (ROWS < 32)> x(place.row, rows, a.gather);
        int steps = (a.depth + PANELS * 64 - 1) / (PANELS * 64);
        auto load = [&](int step) {
            if (step < steps) {
                unsigned char* stage = stages + step % STAGES * kStage;
                weights.load(stage);
                x.load(reinterpret_cast<bf16*>(stage + kWeights), a.x, step * PANELS * 64, a.depth, a.xStride);
            }
            cp_async_commit();
        };
        for (int step = 0; step < STAGES - 1; ++step) load(step);
        for (int step = 0; step < steps; ++step) {
            cp_async_wait<STAGES - 2>();
            __syncthreads();
            load(step + STAGES - 1);
            multiply(stages + step % STAGES * kStage);
        }
        cp_async_wait<0>();
    }
};

// A tile like GemmTile with two slices; slice 0 has the first half of a panel's 64 elements. A warp has all rows, so
// that weights are unpacked only once.
template <class Group, int FEATURES, int ROWS, int WARPS_F, int PANELS, int STAGES>
struct QuantisedTile {
    using Tile = GemmTile<FEATURES, ROWS, WARPS_F, 1, 2, PANELS, STAGES>;
    static constexpr int kThreads = Tile::kThreads, kFeatures = FEATURES, kRows = ROWS, kF = Tile::kF, kR = Tile::kR;
    static constexpr int kTogether = kR < 4 ? kR : 4;        // products that do not wait for each other
    using Stages = QuantisedStages<Group, FEATURES, ROWS, PANELS, STAGES, kThreads>;

    // Unpacks a group into two fragments of 16 features x 16 elements.
    __device__ __forceinline__ static void unpack(uint32_t (&a)[2][4], const unsigned char* octets, int group) {
        int lane = threadIdx.x % 32;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            uint32_t pairs[4];
            unpack8(pairs, Group(octets + half * Stages::kRun + group * Group::kChunk, lane / 4, lane % 4));
#pragma unroll
            for (int i = 0; i < 4; ++i) a[i / 2][half + i % 2 * 2] = pairs[i];
        }
    }

    __device__ __forceinline__ static void multiply(typename Tile::Sums& sums, const unsigned char* stage, int feature,
                                                    int slice) {
#pragma unroll
        for (int p = 0; p < PANELS; ++p) {
            const bf16* x = Stages::panel(stage, p);
            uint32_t a[kF][2][4];
#pragma unroll
            for (int i = 0; i < kF; ++i) unpack(a[i], stage + (feature / 8 + i * 2) * Stages::kRun, p * 2 + slice);
#pragma unroll
            for (int first = 0; first < kR; first += kTogether) {
                uint32_t b[kTogether][4];
#pragma unroll
                for (int j = 0; j < kTogether; ++j) rows_8x32(b[j], x, (first + j) * 8, slice);
#pragma unroll
                for (int step = 0; step < 2; ++step) {
#pragma unroll
                    for (int i = 0; i < kF; ++i) {
#pragma unroll
                        for (int j = 0; j < kTogether; ++j) {
                            mma_m16n8k16(sums[i][first + j], a[i][step], b[j][step * 2], b[j][step * 2 + 1]);
                        }
                    }
                }
            }
        }
    }

    __device__ __forceinline__ static void tile(const GemmArguments& a, GemmPlace place, int rows) {
        SHARED(unsigned char, stages);
        int warp = threadIdx.x / 32, slice = warp / WARPS_F, feature = warp % WARPS_F * Tile::kWarpFeatures;
        typename Tile::Sums sums = {};
        Stages::each(a, place, rows, stages,
                     [&](const unsigned char* stage) { multiply(sums, stage, feature, slice); });
        float* shared = reinterpret_cast<float*>(stages);
        Tile::reduce(sums, shared, feature, 0, slice);
        gemm_store<FEATURES, ROWS, Tile::kStride, kThreads>(a, place, rows, shared);
    }
};

#define QUANTISED_KERNEL(name, blocks, ...) GEMM_TILE_KERNEL(name, blocks, QuantisedTile<__VA_ARGS__>)
#define QUANTISED_KERNELS(name, group)                         \
    QUANTISED_KERNEL(name##_16x8, 4, group, 16, 8, 1, 4, 6)    \
    QUANTISED_KERNEL(name##_32x8, 4, group, 32, 8, 2, 4, 5)    \
    QUANTISED_KERNEL(name##_32x16, 3, group, 32, 16, 2, 4, 4)  \
    QUANTISED_KERNEL(name##_32x32, 2, group, 32, 32, 2, 2, 4)  \
    QUANTISED_KERNEL(name##_32x64, 2, group, 32, 64, 2, 2, 4)

QUANTISED_KERNELS(rf_gemm_q8_0, GroupQ8_0)
QUANTISED_KERNELS(rf_gemm_q4_0, GroupQ4_0)
QUANTISED_KERNELS(rf_gemm_q4_1, GroupQ4_1)
QUANTISED_KERNELS(rf_gemm_q4_k, GroupQ4_K)
QUANTISED_KERNELS(rf_gemm_q6_k, GroupQ6_K)
QUANTISED_KERNELS(rf_gemm_q5_k, GroupQ5_K)
QUANTISED_KERNELS(rf_gemm_q2_k, GroupQ2_K)
QUANTISED_KERNELS(rf_gemm_iq4, GroupIQ4)
QUANTISED_KERNELS(rf_gemm_mxfp4, GroupMXFP4)
QUANTISED_KERNELS(rf_gemm_fp8, GroupFP8)

// Writes `features` rows of weights in groups, from the chunks at `weights` on, as bf16, [feature][depth]. A product of
// many rows reads these instead of unpacking each weight again for every tile of rows. A warp has kGroups chunks.
template <class Group>
__device__ __forceinline__ void unpack_matrix(const unsigned char* weights, bf16* out, int features, int depth) {
    constexpr int kGroups = 4;
    int lane = threadIdx.x % 32, feature = lane / 4, groups = depth / 32, spans = (groups + kGroups - 1) / kGroups;
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, octet = warp / spans, first = warp % spans * kGroups;
    if (octet * 8 >= features) return;
    auto group = [&](int i) {  // repeats the last group after the end
        size_t chunk = size_t(octet) * groups + min(first + i, groups - 1);
        return Group(weights + chunk * Group::kChunk, feature, lane % 4);
    };
    Group read[kGroups] = {group(0), group(1), group(2), group(3)};
    bool valid = octet * 8 + feature < features;
    bf16* row = out + size_t(octet * 8 + feature) * depth + first * 32;
#pragma unroll
    for (int i = 0; i < kGroups; ++i) {
        // Lane q of four has elements 2q, 2q + 1 of each run of 8, and stores run q.
        uint32_t pairs[4], run[4];
        unpack8(pairs, read[i]);
        transpose4(run, pairs);
        if (valid && first + i < groups) {
            *reinterpret_cast<uint4*>(row + i * 32 + lane % 4 * 8) = make_uint4(run[0], run[1], run[2], run[3]);
        }
    }
}

#define UNPACK_KERNEL(name, group)                                                                                  \
    KERNEL(name, const unsigned char* weights, bf16* out, int features, int depth) {                                \
        unpack_matrix<group>(weights, out, features, depth);                                                        \
    }

UNPACK_KERNEL(rf_unpack_q8_0, GroupQ8_0)
UNPACK_KERNEL(rf_unpack_q4_0, GroupQ4_0)
UNPACK_KERNEL(rf_unpack_q4_1, GroupQ4_1)
UNPACK_KERNEL(rf_unpack_q4_k, GroupQ4_K)
UNPACK_KERNEL(rf_unpack_q6_k, GroupQ6_K)
UNPACK_KERNEL(rf_unpack_q5_k, GroupQ5_K)
UNPACK_KERNEL(rf_unpack_q2_k, GroupQ2_K)
UNPACK_KERNEL(rf_unpack_iq4, GroupIQ4)
UNPACK_KERNEL(rf_unpack_mxfp4, GroupMXFP4)
UNPACK_KERNEL(rf_unpack_fp8, GroupFP8)

// rf_embed for a table in groups. width is a multiple of 32.
template <class Group>
__device__ __forceinline__ void embed_quantised(const unsigned char* table, const int* rows, const int* rowToken,
                                                const int* ring, bf16* out, int width, int vocab, float scale) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= *rows) return;
    int token = rowToken[row];
    if (token < 0) token = ring[-1 - token];
    bool known = token >= 0 && token < vocab;
    const unsigned char* chunks = table + size_t(known ? token / 8 : 0) * (width / 32) * Group::kChunk;
    uint32_t* to = reinterpret_cast<uint32_t*>(out + size_t(row) * width);
    for (int i = lane; i < width / 8; i += 32) {  // the elements of four lanes are a group
        Group w(chunks + size_t(i / 4) * Group::kChunk, known ? token % 8 : 0, i % 4);
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) {
            to[i / 4 * 16 + pair * 4 + i % 4] = known ? scale_bf16(pack_bf16(w[2 * pair], w[2 * pair + 1]), scale) : 0;
        }
    }
}

#define QUANTISED_EMBED(name, group)                                                                                \
    KERNEL(name, const unsigned char* table, const int* rows, const int* rowToken, const int* ring, bf16* out,      \
           int width, int vocab, float scale) {                                                                     \
        embed_quantised<group>(table, rows, rowToken, ring, out, width, vocab, scale);                              \
    }

QUANTISED_EMBED(rf_embed_q8_0, GroupQ8_0)
QUANTISED_EMBED(rf_embed_q4_0, GroupQ4_0)
QUANTISED_EMBED(rf_embed_q4_1, GroupQ4_1)
QUANTISED_EMBED(rf_embed_q4_k, GroupQ4_K)
QUANTISED_EMBED(rf_embed_q6_k, GroupQ6_K)
QUANTISED_EMBED(rf_embed_q5_k, GroupQ5_K)
QUANTISED_EMBED(rf_embed_q2_k, GroupQ2_K)
QUANTISED_EMBED(rf_embed_iq4, GroupIQ4)
QUANTISED_EMBED(rf_embed_mxfp4, GroupMXFP4)
QUANTISED_EMBED(rf_embed_fp8, GroupFP8)
