// Vectors of the instruction set that a file is compiled for; the build names it with -DISA=avx2, avxvnni or avx512vnni.
#ifndef RADIXFLOW_VECTORS_H
#define RADIXFLOW_VECTORS_H

#include <immintrin.h>
#include <stdint.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define NAMED(name) JOIN(name##_, ISA)

#define INLINE static inline __attribute__((always_inline))

#ifdef __AVX512VNNI__

enum { LANES = 16 };

typedef __m512i ints;
typedef __m512 floats;

#define load_ints(p) _mm512_loadu_si512(p)
#define zero_ints() _mm512_setzero_si512()
#define repeat_int(x) _mm512_set1_epi32(x)
#define and_ints(a, b) _mm512_and_si512(a, b)
#define xor_ints(a, b) _mm512_xor_si512(a, b)
#define choose_bits(mask, a, b) _mm512_ternarylogic_epi32(mask, a, b, 0xca)
#define add_ints(a, b) _mm512_add_epi32(a, b)
#define shift_left_16(v, n) _mm512_slli_epi16(v, n)
#define shift_right_16(v, n) _mm512_srli_epi16(v, n)
#define shift_signed_16(v, n) _mm512_srai_epi16(v, n)
#define shift_signed_32(v, n) _mm512_srai_epi32(v, n)
#define to_floats(v) _mm512_cvtepi32_ps(v)
#define load_floats(p) _mm512_loadu_ps(p)
#define store_floats(p, v) _mm512_storeu_ps(p, v)
#define repeat_float(x) _mm512_set1_ps(x)
#define multiply_floats(a, b) _mm512_mul_ps(a, b)
#define multiply_add(a, b, c) _mm512_fmadd_ps(a, b, c)
#define greater_floats(a, b) _mm512_max_ps(a, b)  // a > b ? a : b
#define lesser_floats(a, b) _mm512_min_ps(a, b)   // a < b ? a : b
#define widen_halves(p) _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(p)))
#define widen_bfloat16s(p) \
    _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(p))), 16))
#define widen_bytes(p) _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(p))))
#define choose_above(limits, at, a, b) _mm512_mask_mov_ps(b, _mm512_cmpgt_epi32_mask(limits, at), a)
#define widen_exponents(p) \
    _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(p))), 23))

// Widens bytes of sign, 4 exponent bits and 3 mantissa bits as if they were the top bits of binary16.
INLINE floats widen_float8s(const char *p) {
    __m256i v = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)p));
    return _mm512_cvtph_ps(_mm256_and_si256(_mm256_slli_epi16(v, 7), _mm256_set1_epi16((short)0xbf80)));
}

// This is assembly because gcc 12 copies the sum if the intrinsic is used.
static inline __attribute__((always_inline)) ints add_products(ints sum, ints a, ints b) {
    __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}

#else

enum { LANES = 8 };

typedef __m256i ints;
typedef __m256 floats;

#define load_ints(p) _mm256_loadu_si256((const __m256i *)(p))
#define zero_ints() _mm256_setzero_si256()
#define repeat_int(x) _mm256_set1_epi32(x)
#define and_ints(a, b) _mm256_and_si256(a, b)
#define xor_ints(a, b) _mm256_xor_si256(a, b)
#define choose_bits(mask, a, b) _mm256_or_si256(_mm256_and_si256(mask, a), _mm256_andnot_si256(mask, b))
#define add_ints(a, b) _mm256_add_epi32(a, b)
#define shift_left_16(v, n) _mm256_slli_epi16(v, n)
#define shift_right_16(v, n) _mm256_srli_epi16(v, n)
#define shift_signed_16(v, n) _mm256_srai_epi16(v, n)
#define shift_signed_32(v, n) _mm256_srai_epi32(v, n)
#define to_floats(v) _mm256_cvtepi32_ps(v)
#define load_floats(p) _mm256_loadu_ps(p)
#define store_floats(p, v) _mm256_storeu_ps(p, v)
#define repeat_float(x) _mm256_set1_ps(x)
#define multiply_floats(a, b) _mm256_mul_ps(a, b)
#define multiply_add(a, b, c) _mm256_fmadd_ps(a, b, c)
#define greater_floats(a, b) _mm256_max_ps(a, b)
#define lesser_floats(a, b) _mm256_min_ps(a, b)
#define widen_halves(p) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(p)))
#define widen_bfloat16s(p) \
    _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(p))), 16))
#define widen_bytes(p) _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(p))))
#define choose_above(limits, at, a, b) _mm256_blendv_ps(b, a, _mm256_castsi256_ps(_mm256_cmpgt_epi32(limits, at)))
#define widen_exponents(p) \
    _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(p))), 23))

INLINE floats widen_float8s(const char *p) {
    __m128i v = _mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i *)p));
    return _mm256_cvtph_ps(_mm_and_si128(_mm_slli_epi16(v, 7), _mm_set1_epi16((short)0xbf80)));
}

static inline __attribute__((always_inline)) ints add_products(ints sum, ints a, ints b) {
#ifdef __AVXVNNI__
    __asm__("%{vex%} vpdpwssd %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
    return sum;
#else
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
#endif
}

#endif

// Transposes: element j of vector i and element i of vector j change places.
INLINE void transpose(floats *v) {
    typedef int32_t order __attribute__((vector_size(sizeof(floats))));
    _Pragma("GCC unroll 8") for (int step = 1; step < LANES; step *= 2) {
        order low, high;
        _Pragma("GCC unroll 16") for (int k = 0; k < LANES; k++) {
            low[k] = k & step ? LANES + k - step : k;
            high[k] = k & step ? LANES + k : k + step;
        }
        _Pragma("GCC unroll 16") for (int i = 0; i < LANES; i++) {
            if (!(i & step)) {
                floats first = v[i];
                v[i] = __builtin_shuffle(first, v[i + step], low);
                v[i + step] = __builtin_shuffle(first, v[i + step], high);
            }
        }
    }
}

// Prefetches bytes. An address after the last byte does no harm.
INLINE void fetch(const void *from, int count) {
    for (int i = 0; i < count; i += 64) _mm_prefetch((const char *)from + i, _MM_HINT_T0);
}

#endif
