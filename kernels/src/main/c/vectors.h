// Vectors of the instruction set that a file is compiled for; the build names it with -DISA=avx2 or another name. Every
// instruction set gives the same bits.
#ifndef RADIXFLOW_VECTORS_H
#define RADIXFLOW_VECTORS_H

#include <stdint.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define NAMED(name) JOIN(name##_, ISA)

#define INLINE static inline __attribute__((always_inline))

#ifdef __x86_64__
#include "vectors_x86.h"
#else
#include "vectors_neon.h"
#endif

typedef int32_t order __attribute__((vector_size(sizeof(floats))));

// Takes elements of two vectors. Numbers from LANES on are elements of the second.
INLINE floats shuffle(floats a, floats b, order from) {
#ifdef __clang__
    floats shuffled;
    _Pragma("GCC unroll 16") for (int k = 0; k < LANES; k++) shuffled[k] = from[k] < LANES ? a[from[k]] : b[from[k] - LANES];
    return shuffled;
#else
    return __builtin_shuffle(a, b, from);
#endif
}

// Transposes: element j of vector i and element i of vector j change places.
INLINE void transpose(floats *v) {
    _Pragma("GCC unroll 8") for (int step = 1; step < LANES; step *= 2) {
        order low, high;
        _Pragma("GCC unroll 16") for (int k = 0; k < LANES; k++) {
            low[k] = k & step ? LANES + k - step : k;
            high[k] = k & step ? LANES + k : k + step;
        }
        _Pragma("GCC unroll 16") for (int i = 0; i < LANES; i++) {
            if (!(i & step)) {
                floats first = v[i];
                v[i] = shuffle(first, v[i + step], low);
                v[i + step] = shuffle(first, v[i + step], high);
            }
        }
    }
}

// Prefetches bytes. An address after the last byte does no harm.
INLINE void fetch(const void *from, int count) {
    for (int i = 0; i < count; i += 64) __builtin_prefetch((const char *)from + i);
}

#endif
