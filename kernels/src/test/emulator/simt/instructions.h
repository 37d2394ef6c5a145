// The instructions that device.cuh reaches through PTX, executed with the layouts of the PTX ISA
// (sections "Matrix fragments for mma.m16n8k16", "ldmatrix", "Matrix multiply-accumulate ... wgmma").
#pragma once
#include "bf16.h"
#include "warp.h"

namespace simt {

inline void check_aligned(const void* p, const char* what, Place place) {
    if (reinterpret_cast<uintptr_t>(p) % 16) {
        current->fail(kMisalignedAddress, place, "%s of %s is not at a multiple of 16 bytes", "address", what);
    }
}

inline void open_group(Thread& thread) {
    if (thread.copies.empty()) thread.copies.emplace_back();
}

// Runs the oldest groups of cp.async until at most `pending` are left.
inline void wait_copies(int pending) {
    auto& groups = current->self->copies;
    while (int(groups.size()) - 1 > pending) {
        for (const AsyncCopy& copy : groups.front()) {
            memcpy(copy.to, copy.from, copy.valid);
            memset(static_cast<char*>(copy.to) + copy.valid, 0, 16 - copy.valid);
            unsigned chunk = unsigned(static_cast<char*>(copy.to) - current->shared) / 16;
            if (!current->unfenced[chunk]) {
                current->unfenced[chunk] = true;
                current->self->unfenced.push_back(chunk);
            }
        }
        groups.erase(groups.begin());
    }
}

inline float low_bf16(uint32_t pair) { return __uint_as_float(pair << 16); }
inline float high_bf16(uint32_t pair) { return __uint_as_float(pair & 0xffff0000u); }

void multiply_m16n8k16(float* const (&d)[32], const uint32_t* const (&a)[32], const uint32_t* const (&b)[32]);
void issue_product(float* sum, uint64_t a, uint64_t b, int columns, bool accumulate);
void wait_products(int pending, Place place);

}  // namespace simt

inline float widen_f16(uint32_t half) {
    uint32_t magnitude = half & 0x7fff;
    uint32_t bits = __float_as_uint(__uint_as_float(magnitude << 13) * 0x1p112f);
    return __uint_as_float(bits | (magnitude >= 0x7c00 ? 0x7f800000u : 0u) | (half & 0x8000) << 16);
}

inline uint32_t masked_or(uint32_t a, uint32_t mask, uint32_t bits) { return (a & mask) | bits; }

// The copy is made when the thread waits for it, so that reading earlier reads poison.
inline void cp_async_first(void* to, const void* from, int bytes, Place place = Place::here()) {
    simt::check_aligned(to, "the destination", place);
    simt::check_aligned(from, "the source", place);
    simt::Thread& thread = *simt::current->self;
    thread.at = place;
    simt::open_group(thread);
    thread.copies.back().push_back({to, from, bytes});
}
inline void cp_async16(void* to, const void* from, bool valid = true, Place place = Place::here()) {
    cp_async_first(to, from, valid ? 16 : 0, place);
}
inline void cp_async_commit() {
    simt::open_group(*simt::current->self);
    simt::current->self->copies.emplace_back();
}
template <int Pending>
void cp_async_wait() {
    simt::wait_copies(Pending);
}

namespace simt {
inline void load_matrix(uint32_t* r, int count, bool transposed, const void* row, Place place) {
    struct Operand {
        uint32_t* r;
        const char* row;
    } operand{r, static_cast<const char*>(row)};
    if (lane() < 8 * count) check_aligned(row, "the matrix row", place);
    current->meet(~0u, operand, place, [count, transposed](Operand** lane) {
        for (int l = 0; l < kWarp; ++l) {
            for (int i = 0; i < count; ++i) {
                uint16_t pair[2];
                for (int e = 0; e < 2; ++e) {
                    int row = transposed ? l % 4 * 2 + e : l / 4, column = transposed ? l / 4 : l % 4 * 2 + e;
                    memcpy(&pair[e], lane[i * 8 + row]->row + column * 2, 2);
                }
                lane[l]->r[i] = uint32_t(pair[0]) | uint32_t(pair[1]) << 16;
            }
        }
    });
}
}  // namespace simt

inline void ldmatrix_x4(uint32_t (&r)[4], const void* row, Place place = Place::here()) {
    simt::load_matrix(r, 4, false, row, place);
}
inline void ldmatrix_x4_trans(uint32_t (&r)[4], const void* row, Place place = Place::here()) {
    simt::load_matrix(r, 4, true, row, place);
}
inline void ldmatrix_x2(uint32_t (&r)[2], const void* row, Place place = Place::here()) {
    simt::load_matrix(r, 2, false, row, place);
}
inline void ldmatrix_x2_trans(uint32_t (&r)[2], const void* row, Place place = Place::here()) {
    simt::load_matrix(r, 2, true, row, place);
}

inline void mma_m16n8k16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, Place place = Place::here()) {
    struct Operand {
        float* d;
        const uint32_t* a;
        uint32_t b[2];
    } operand{d, a, {b0, b1}};
    simt::current->meet(~0u, operand, place, [](Operand** lane) {
        float* sums[32];
        const uint32_t* left[32];
        const uint32_t* right[32];
        for (int l = 0; l < 32; ++l) {
            sums[l] = lane[l]->d;
            left[l] = lane[l]->a;
            right[l] = lane[l]->b;
        }
        simt::multiply_m16n8k16(sums, left, right);
    });
}

// Hopper. A product runs when its group is waited for: an accumulator that is read earlier holds NaN, and
// a tile that is overwritten earlier gives a wrong product. What a thread wrote by cp.async is NaN to a
// product until that thread has fenced it.
inline unsigned shared_address(const void* p) {
    return unsigned(static_cast<const char*>(p) - simt::current->shared);
}
inline uint64_t tile_descriptor(const void* tile, Place place = Place::here()) {
    if (shared_address(tile) % 1024) {
        simt::current->fail(simt::kMisalignedAddress, place, "a swizzled tile begins at a multiple of 1024 bytes");
    }
    return uint64_t(shared_address(tile) >> 4) | uint64_t(1) << 16 | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 62;
}
inline void fence_async_proxy() {
    auto& chunks = simt::current->self->unfenced;
    for (unsigned chunk : chunks) simt::current->unfenced[chunk] = false;
    chunks.clear();
}
inline void wgmma_begin() {}
inline void wgmma_commit() {
    auto& groups = simt::current->self->products;
    if (groups.empty()) groups.emplace_back();
    groups.emplace_back();
}
template <int Pending>
void wgmma_wait(Place place = Place::here()) {
    simt::wait_products(Pending, place);
}
inline void wgmma_m64n128k16(float (&d)[64], uint64_t a, uint64_t b, bool accumulate = true) {
    simt::issue_product(d, a, b, 128, accumulate);
}
