// The products of gemm.cuh with weights in groups of 32 that share a scale. A stage's groups are unpacked in registers to the
// bf16 that rounding w gives, so that a product has the bits of the one with weights rounded before.
//
// Weights lie in chunks of 8 features x 32 elements of depth: [feature][element], then the scales a feature. WeightFormat.java
// makes them and says which types of files become which.
// The elements of a feature are in the order of the tensor core's fragments: first those of a group's four pairs 2q, 2q + 1
// of each run of 8 that lane q of four holds, for q = 0, then those for q = 1, and so on. Chunks follow one another along
// depth, then along features, whose number is filled up to a multiple of 8 with zeros.
#pragma once
#include "gemm.cuh"

// f16 to f32, exactly.
__device__ __forceinline__ float widen_f16(uint32_t half) {
    uint32_t magnitude = half & 0x7fff;
    uint32_t bits = __float_as_uint(__uint_as_float(magnitude << 13) * 0x1p112f);
    return __uint_as_float(bits | (magnitude >= 0x7c00 ? 0x7f800000u : 0u) | (half & 0x8000) << 16);
}

__device__ __forceinline__ uint32_t pack_bf16(float low, float high) {
    bf162 pair = __floats2bfloat162_rn(low, high);
    uint32_t bits;
    memcpy(&bits, &pair, sizeof bits);
    return bits;
}

// w = d * q, q an int8.
struct GroupQ8_0 {
    static constexpr int kWeights = 256, kChunk = kWeights + 8 * 2;
    uint2 q;
    float d;

    // The eight elements of lane `pair` of a feature's group.
    __device__ __forceinline__ GroupQ8_0(const unsigned char* chunk, int feature, int pair)
        : q(*reinterpret_cast<const uint2*>(chunk + feature * 32 + pair * 8)),
          d(widen_f16(reinterpret_cast<const uint16_t*>(chunk + kWeights)[feature])) {}
    __device__ __forceinline__ float operator[](int i) const {
        return float(int8_t((i < 4 ? q.x : q.y) >> i % 4 * 8)) * d;
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
    __device__ __forceinline__ float operator[](int i) const { return float(int(q >> i * 4 & 15) - 8) * d; }
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
    __device__ __forceinline__ float operator[](int i) const { return fmaf(float(q >> i * 4 & 15), d, m); }
};

// w = d * q + m with d and m made of the file's two levels of scales; q of 4 bits.
struct GroupQ4_K {
    static constexpr int kWeights = 128, kChunk = kWeights + 8 * 8;
    uint32_t q;
    float2 dm;

    __device__ __forceinline__ GroupQ4_K(const unsigned char* chunk, int feature, int pair)
        : q(*reinterpret_cast<const uint32_t*>(chunk + feature * 16 + pair * 4)),
          dm(reinterpret_cast<const float2*>(chunk + kWeights)[feature]) {}
    __device__ __forceinline__ float operator[](int i) const { return fmaf(float(q >> i * 4 & 15), dm.x, dm.y); }
};

// w = d * q + m, q of 5 bits: the fifth bits of a lane's eight elements are a byte behind the nibbles.
struct GroupQ5_K {
    static constexpr int kNibbles = 128, kWeights = kNibbles + 8 * 4, kChunk = kWeights + 8 * 8;
    uint32_t q, fifth;
    float2 dm;

    __device__ __forceinline__ GroupQ5_K(const unsigned char* chunk, int feature, int pair)
        : q(*reinterpret_cast<const uint32_t*>(chunk + feature * 16 + pair * 4)),
          fifth(chunk[kNibbles + feature * 4 + pair]),
          dm(reinterpret_cast<const float2*>(chunk + kWeights)[feature]) {}
    __device__ __forceinline__ float operator[](int i) const {
        return fmaf(float((q >> i * 4 & 15) | (fifth >> i & 1) << 4), dm.x, dm.y);
    }
};

// w = d * q with a d for each half of the group, as Q4_K's; q of 6 bits in an int8.
struct GroupQ6_K {
    static constexpr int kWeights = 256, kChunk = kWeights + 8 * 8;
    uint2 q;
    float2 d;

    __device__ __forceinline__ GroupQ6_K(const unsigned char* chunk, int feature, int pair)
        : q(*reinterpret_cast<const uint2*>(chunk + feature * 32 + pair * 8)),
          d(reinterpret_cast<const float2*>(chunk + kWeights)[feature]) {}
    __device__ __forceinline__ float operator[](int i) const {
        return float(int8_t((i < 4 ? q.x : q.y) >> i % 4 * 8)) * (i < 4 ? d.x : d.y);
    }
};

// w = d * s * q - e * m with an s and an m for each half of the group, int8; q of 2 or 3 bits in a nibble.
struct GroupQ2_K {
    static constexpr int kWeights = 128, kChunk = kWeights + 8 * 8;
    uint32_t q;
    float scale[2], minimum[2];

    __device__ __forceinline__ GroupQ2_K(const unsigned char* chunk, int feature, int pair)
        : q(*reinterpret_cast<const uint32_t*>(chunk + feature * 16 + pair * 4)) {
        uint2 both = reinterpret_cast<const uint2*>(chunk + kWeights)[feature];
        float d = widen_f16(both.x & 0xffff), e = -widen_f16(both.x >> 16);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            scale[half] = d * float(int8_t(both.y >> half * 8));
            minimum[half] = e * float(int8_t(both.y >> (half * 8 + 16)));
        }
    }
    __device__ __forceinline__ float operator[](int i) const {
        return fmaf(float(q >> i * 4 & 15), scale[i / 4], minimum[i / 4]);
    }
};

// The bytes T0 to T3 that the low four nibbles choose.
template <uint32_t T0, uint32_t T1, uint32_t T2, uint32_t T3>
__device__ __forceinline__ uint32_t table_bytes(uint32_t nibbles) {
    uint32_t within = nibbles & 0x7777, upper = (nibbles & 0x8888) >> 1;
    return __byte_perm(__byte_perm(T0, T1, within), __byte_perm(T2, T3, within), 0x3210 | upper);
}

// w = d * v, v an int8 that a nibble chooses: the values of IQ4_NL and IQ4_XS.
struct GroupIQ4 {
    static constexpr int kWeights = 128, kChunk = kWeights + 8 * 4;
    uint32_t v[2];
    float d;

    __device__ __forceinline__ GroupIQ4(const unsigned char* chunk, int feature, int pair)
        : d(reinterpret_cast<const float*>(chunk + kWeights)[feature]) {
        uint32_t q = *reinterpret_cast<const uint32_t*>(chunk + feature * 16 + pair * 4);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            v[i] = table_bytes<0xbfad9881, 0xf6eaddcf, 0x26190d01, 0x71594535>(q >> i * 16);
        }
    }
    __device__ __forceinline__ float operator[](int i) const { return float(int8_t(v[i / 4] >> i % 4 * 8)) * d; }
};

// The same with doubled 4-bit floats (E2M1), and d a power of two as bf16.
struct GroupMXFP4 {
    static constexpr int kWeights = 128, kChunk = kWeights + 8 * 2;
    uint32_t v[2];
    float d;

    __device__ __forceinline__ GroupMXFP4(const unsigned char* chunk, int feature, int pair)
        : d(__uint_as_float(uint32_t(reinterpret_cast<const uint16_t*>(chunk + kWeights)[feature]) << 16)) {
        uint32_t q = *reinterpret_cast<const uint32_t*>(chunk + feature * 16 + pair * 4);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            v[i] = table_bytes<0x03020100, 0x0c080604, 0xfdfeff00, 0xf4f8fafc>(q >> i * 16);
        }
    }
    __device__ __forceinline__ float operator[](int i) const { return float(int8_t(v[i / 4] >> i % 4 * 8)) * d; }
};

// w = d * v, v an 8-bit float, E4M3; loading refuses bytes that are no numbers.
struct GroupFP8 {
    static constexpr int kWeights = 256, kChunk = kWeights + 8 * 4;
    uint2 q;
    float d;

    __device__ __forceinline__ GroupFP8(const unsigned char* chunk, int feature, int pair)
        : q(*reinterpret_cast<const uint2*>(chunk + feature * 32 + pair * 8)),
          d(reinterpret_cast<const float*>(chunk + kWeights)[feature]) {}
    __device__ __forceinline__ float operator[](int i) const {
        uint32_t byte = (i < 4 ? q.x : q.y) >> i % 4 * 8;
        return __uint_as_float((byte & 0x7f) << 20 | (byte & 0x80) << 24) * 0x1p120f * d;
    }
};

// A tile as GemmTile's with two slices; the first half of a panel's 64 elements is slice 0's.
template <class Group, int FEATURES, int ROWS, int WARPS_F, int WARPS_R, int PANELS, int STAGES>
struct QuantisedTile {
    using Tile = GemmTile<FEATURES, ROWS, WARPS_F, WARPS_R, 2, PANELS, STAGES>;
    static constexpr int kThreads = Tile::kThreads, kFeatures = FEATURES, kRows = ROWS, kF = Tile::kF, kR = Tile::kR;
    static constexpr int kRun = PANELS * 2 * Group::kChunk;  // bytes of a stage of 8 features
    static constexpr int kWeights = FEATURES / 8 * kRun;
    static constexpr int kStage = kWeights + PANELS * ROWS * 64 * int(sizeof(bf16));

    __device__ __forceinline__ static void load(unsigned char* to, const GemmArguments& a, int first, int step) {
        constexpr int kPieces = kRun / 16, kAll = FEATURES / 8 * kPieces;
        int groups = a.depth / 32, from = step * PANELS * 2;
        const unsigned char* weights =
            reinterpret_cast<const unsigned char*>(a.weights) + (size_t(first / 8) * groups + from) * Group::kChunk;
#pragma unroll 1  // what an unrolled loop keeps for its loads would not fit the registers
        for (int at = threadIdx.x; at < kAll; at += kThreads) {
            int octet = at / kPieces, byte = at % kPieces * 16;
            bool valid = first + octet * 8 < a.features && from + byte / Group::kChunk < groups;
            cp_async16(to + at * 16, weights + (valid ? size_t(octet) * groups * Group::kChunk + byte : 0), valid);
        }
    }

    // The two fragments of 16 features x 16 elements that a group makes.
    __device__ __forceinline__ static void unpack(uint32_t (&a)[2][4], const unsigned char* octets, int group) {
        int lane = threadIdx.x % 32;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            Group w(octets + half * kRun + group * Group::kChunk, lane / 4, lane % 4);
#pragma unroll
            for (int i = 0; i < 4; ++i) a[i / 2][half + i % 2 * 2] = pack_bf16(w[2 * i], w[2 * i + 1]);
        }
    }

    __device__ __forceinline__ static void multiply(typename Tile::Sums& sums, const unsigned char* stage, int feature,
                                                    int row, int slice) {
        int lane = threadIdx.x % 32;
#pragma unroll
        for (int p = 0; p < PANELS; ++p) {
            const bf16* x = reinterpret_cast<const bf16*>(stage + kWeights) + p * ROWS * 64;
            uint32_t b[2][(kR + 1) / 2][4];
#pragma unroll
            for (int step = 0; step < 2; ++step) {
                int piece = (slice * 2 + step) * 2;
#pragma unroll
                for (int j = 0; j < (kR + 1) / 2; ++j) {
                    int at = row + j * 16 + lane % 8 + (kR > 1 ? lane / 16 * 8 : 0);
                    ldmatrix_x4(b[step][j], x + panel_at(at, piece + lane / 8 % 2));
                }
            }
#pragma unroll
            for (int i = 0; i < kF; ++i) {
                uint32_t a[2][4];
                unpack(a, stage + (feature / 8 + i * 2) * kRun, p * 2 + slice);
#pragma unroll
                for (int step = 0; step < 2; ++step) {
#pragma unroll
                    for (int j = 0; j < kR; ++j) {
                        mma_m16n8k16(sums[i][j], a[step], b[step][j / 2][j % 2 * 2], b[step][j / 2][j % 2 * 2 + 1]);
                    }
                }
            }
        }
    }

    __device__ __forceinline__ static void tile(const GemmArguments& a, GemmPlace place, int rows) {
        SHARED(unsigned char, stages);
        int warp = threadIdx.x / 32, slice = warp / (WARPS_F * WARPS_R);
        int feature = warp % WARPS_F * Tile::kWarpFeatures, row = warp / WARPS_F % WARPS_R * Tile::kWarpRows;
        GemmLoader<ROWS, PANELS, ROWS * 64, kThreads> x(place.row, rows, a.gather);
        int steps = (a.depth + PANELS * 64 - 1) / (PANELS * 64);
        auto fetch = [&](int step) {
            if (step < steps) {
                unsigned char* stage = stages + step % STAGES * kStage;
                load(stage, a, place.feature, step);
                x.load(reinterpret_cast<bf16*>(stage + kWeights), a.x, step * PANELS * 64, a.depth, a.xStride);
            }
            cp_async_commit();
        };
        typename Tile::Sums sums = {};
        for (int step = 0; step < STAGES - 1; ++step) fetch(step);
        for (int step = 0; step < steps; ++step) {
            cp_async_wait<STAGES - 2>();
            __syncthreads();
            fetch(step + STAGES - 1);
            multiply(sums, stages + step % STAGES * kStage, feature, row, slice);
        }
        cp_async_wait<0>();
        float* shared = reinterpret_cast<float*>(stages);
        Tile::reduce(sums, shared, feature, row, slice);
        gemm_store<FEATURES, ROWS, Tile::kStride, kThreads>(a, place, rows, shared);
    }
};

#define QUANTISED_KERNEL(name, blocks, ...) GEMM_TILE_KERNEL(name, blocks, QuantisedTile<__VA_ARGS__>)
#define QUANTISED_KERNELS(name, group)                            \
    QUANTISED_KERNEL(name##_16x8, 4, group, 16, 8, 1, 1, 2, 8)    \
    QUANTISED_KERNEL(name##_32x16, 2, group, 32, 16, 2, 1, 2, 6)  \
    QUANTISED_KERNEL(name##_64x64, 2, group, 64, 64, 2, 2, 1, 5)  \
    QUANTISED_KERNEL(name##_128x64, 2, group, 128, 64, 2, 2, 1, 4)

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

// rf_embed with a table in groups. width is a multiple of 32.
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
    for (int i = lane; i < width / 8; i += 32) {  // four lanes' elements of a group
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
