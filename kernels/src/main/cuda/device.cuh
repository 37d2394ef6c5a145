// Used by all kernels: the CUDA language, bf16, and the few functions that need PTX. nvcc compiles each to one
// instruction. A host compiler uses simt.h, which emulates the instructions.
//
//   KERNEL(name, parameters...) { ... }                             an exported kernel
//   BOUNDED_KERNEL(threads, blocks, name, parameters...) { ... }    with launch bounds: at most `threads` threads per
//                                                                   block, at least `blocks` blocks per processor
//   SHARED(type, name);                                             the block's dynamic shared memory, once per kernel
#pragma once

#ifdef __CUDACC__

#include <cuda_bf16.h>

#include <cstdint>

#define KERNEL(name, ...) extern "C" __global__ void name(__VA_ARGS__)
#define BOUNDED_KERNEL(threads, blocks, name, ...) \
    extern "C" __global__ void __launch_bounds__(threads, blocks) name(__VA_ARGS__)
// Declared once, at file scope: the linkage would be C inside a kernel and C++ inside a template.
extern __shared__ __align__(1024) unsigned char dynamic_shared[];
#define SHARED(type, name) type* const name = reinterpret_cast<type*>(dynamic_shared)

__device__ __forceinline__ unsigned shared_address(const void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// Starts to copy 16 bytes to shared memory. Only the first `bytes` are read; the others become zero.
__device__ __forceinline__ void cp_async_first(void* to, const void* from, int bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(bytes)
                 : "memory");
}
// Copies all 16 bytes, or zeros if valid is false.
__device__ __forceinline__ void cp_async16(void* to, const void* from, bool valid = true) {
    cp_async_first(to, from, valid ? 16 : 0);
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most Pending groups of this thread's copies are in flight.
template <int Pending>
__device__ __forceinline__ void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

// Loads 8x8 matrices of 16-bit elements; lanes 8i to 8i+7 give the addresses of matrix i's rows.
__device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}
__device__ __forceinline__ void ldmatrix_x4_trans(uint32_t (&r)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}
__device__ __forceinline__ void ldmatrix_x2(uint32_t (&r)[2], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(shared_address(row))
                 : "memory");
}
__device__ __forceinline__ void ldmatrix_x2_trans(uint32_t (&r)[2], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(shared_address(row))
                 : "memory");
}

// D (16x8, f32) += A (16x16, bf16, by rows) * B (16x8, bf16, by columns), in fragments of a warp.
__device__ __forceinline__ void mma_m16n8k16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// (a & mask) | bits in one instruction.
__device__ __forceinline__ uint32_t masked_or(uint32_t a, uint32_t mask, uint32_t bits) {
    uint32_t result;
    asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(result) : "r"(a), "r"(mask), "r"(bits));
    return result;
}

// Widens f16 to f32, exactly.
__device__ __forceinline__ float widen_f16(uint32_t half) {
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(uint16_t(half)));
    return wide;
}

// Waits at barrier `id` of the block, 1 to 15, until `threads` threads have arrived.
__device__ __forceinline__ void named_barrier(int id, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

#include "warpgroup.cuh"

#else
#include "simt.h"
#endif

using bf16 = __nv_bfloat16;
using bf162 = __nv_bfloat162;

// Returns the sum over the 32 lanes to every lane. The tree is always the same.
__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
    for (int distance = 16; distance; distance >>= 1) v += __shfl_xor_sync(0xffffffffu, v, distance);
    return v;
}

__device__ __forceinline__ float warp_max(float v) {
#pragma unroll
    for (int distance = 16; distance; distance >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, distance));
    return v;
}

// 16 bytes as eight bf16.
union Bf16x8 {
    uint4 words;
    bf162 pairs[4];
    __device__ __forceinline__ Bf16x8() {}
};

__device__ __forceinline__ void load8(float (&v)[8], const bf16* from) {
    Bf16x8 packed;
    packed.words = *reinterpret_cast<const uint4*>(from);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        float2 pair = __bfloat1622float2(packed.pairs[i]);
        v[2 * i] = pair.x;
        v[2 * i + 1] = pair.y;
    }
}

__device__ __forceinline__ void load8(float (&v)[8], const float* from) {
    float4 low = *reinterpret_cast<const float4*>(from), high = *reinterpret_cast<const float4*>(from + 4);
    v[0] = low.x, v[1] = low.y, v[2] = low.z, v[3] = low.w;
    v[4] = high.x, v[5] = high.y, v[6] = high.z, v[7] = high.w;
}

// Multiplies two bf16 by a factor and rounds.
__device__ __forceinline__ uint32_t scale_bf16(uint32_t pair, float factor) {
    bf162 values;
    memcpy(&values, &pair, 4);
    float2 wide = __bfloat1622float2(values);
    values = __floats2bfloat162_rn(wide.x * factor, wide.y * factor);
    memcpy(&pair, &values, 4);
    return pair;
}

__device__ __forceinline__ void store8(bf16* to, const float (&v)[8]) {
    Bf16x8 packed;
#pragma unroll
    for (int i = 0; i < 4; ++i) packed.pairs[i] = __floats2bfloat162_rn(v[2 * i], v[2 * i + 1]);
    *reinterpret_cast<uint4*>(to) = packed.words;
}
