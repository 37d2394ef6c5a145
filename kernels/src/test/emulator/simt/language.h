// The CUDA language for a host compiler: keywords, built-in variables, vector types, mathematics.
#pragma once
#include "block.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __align__(bytes) alignas(bytes)
#define __constant__ static const

#define threadIdx (simt::current->self->id)
#define blockIdx (simt::current->index)
#define blockDim (simt::current->dim)
#define gridDim (simt::current->grid)
constexpr int warpSize = 32;

namespace simt {

template <class T>
bool acceptable(T value, Known known) {
    if constexpr (std::is_pointer_v<T>) return !value || known(value);
    return true;
}

template <class... Parameter, size_t... I>
const char* bind_parameters(void (*kernel)(Parameter...), int max_threads, void** table, Known known, Body* out,
                            std::index_sequence<I...>) {
    for (size_t i = 0; i < sizeof...(Parameter); ++i) {
        if (!table[i]) return "the kernel has more parameters than the launch";
    }
    if (table[sizeof...(Parameter)]) return "the kernel has fewer parameters than the launch";
    auto values = std::make_tuple(*static_cast<std::decay_t<Parameter>*>(table[I])...);
    if (!(acceptable(std::get<I>(values), known) && ...)) return "a pointer is outside every allocation";
    *out = [kernel, values, max_threads] {
        const dim3& dim = current->dim;
        if (max_threads && int(dim.x * dim.y * dim.z) > max_threads) {
            current->fail(kLaunchFailed, {}, "the kernel was compiled for %d threads a block", max_threads);
        }
        std::apply(kernel, values);
    };
    return nullptr;
}

template <class... Parameter>
const char* bind_parameters(void (*kernel)(Parameter...), int max_threads, void** table, Known known, Body* out) {
    return bind_parameters(kernel, max_threads, table, known, out, std::index_sequence_for<Parameter...>{});
}

}  // namespace simt

// A kernel, and beside it the function that takes its parameters out of a launch.
#define BOUNDED_KERNEL(threads, blocks, name, ...)                                                    \
    extern "C" void name(__VA_ARGS__);                                                                \
    extern "C" __attribute__((visibility("default"))) const char* name##__bind(                       \
        void** table, simt::Known known, simt::Body* out) {                                           \
        return simt::bind_parameters(&name, threads, table, known, out);                              \
    }                                                                                                 \
    extern "C" void name(__VA_ARGS__)
#define KERNEL(name, ...) BOUNDED_KERNEL(0, 0, name, __VA_ARGS__)

#define SHARED(type, name) type* const name = reinterpret_cast<type*>(simt::current->shared)

struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) uint2 { uint32_t x, y; };
struct alignas(16) uint4 { uint32_t x, y, z, w; };
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uint2 make_uint2(uint32_t x, uint32_t y) { return {x, y}; }
inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) { return {x, y, z, w}; }

using std::max;
using std::min;
inline float __expf(float x) { return expf(x); }
inline float __logf(float x) { return logf(x); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
template <class T> inline T __ldg(const T* p) { return *p; }
template <class T> inline T __ldcs(const T* p) { return *p; }
template <class T> inline T __ldcg(const T* p) { return *p; }
template <class T> inline void __stcs(T* p, T v) { *p = v; }
template <class T> inline void __stcg(T* p, T v) { *p = v; }

inline int __popc(uint32_t x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
inline uint32_t __umulhi(uint32_t a, uint32_t b) { return uint32_t(uint64_t(a) * b >> 32); }
inline uint64_t __umul64hi(uint64_t a, uint64_t b) { return uint64_t((unsigned __int128)a * b >> 64); }
inline float __uint_as_float(uint32_t u) { float f; memcpy(&f, &u, 4); return f; }
inline uint32_t __float_as_uint(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }
inline uint32_t __byte_perm(uint32_t x, uint32_t y, uint32_t selector) {
    uint64_t both = uint64_t(y) << 32 | x;
    uint32_t bytes = 0;
    for (int i = 0; i < 4; ++i) bytes |= uint32_t(both >> (selector >> i * 4 & 7) * 8 & 255) << i * 8;
    return bytes;
}
inline float __int_as_float(int i) { return __uint_as_float(uint32_t(i)); }
inline int __float_as_int(float f) { return int(__float_as_uint(f)); }
