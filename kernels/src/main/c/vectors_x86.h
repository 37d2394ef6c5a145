// The vectors of vectors.h for AVX2, AVX-VNNI and AVX-512 VNNI.
#ifndef RADIXFLOW_VECTORS_X86_H
#define RADIXFLOW_VECTORS_X86_H

#include <immintrin.h>

#ifdef __AVX512VNNI__

// ACCUMULATORS is the number of vectors of sums that fit into the registers next to the operands.
enum { LANES = 16, ACCUMULATORS = 16 };

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
INLINE ints add_products(ints sum, ints a, ints b) {
    __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}

#else

enum { LANES = 8, ACCUMULATORS = 8 };

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

INLINE ints add_products(ints sum, ints a, ints b) {
#ifdef __AVXVNNI__
    __asm__("%{vex%} vpdpwssd %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
    return sum;
#else
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
#endif
}

#endif

INLINE float widen_half(uint16_t half) {
    return _cvtsh_ss(half);
}

INLINE float multiply_add_one(float a, float b, float c) {
    return _mm_cvtss_f32(_mm_fmadd_ss(_mm_set_ss(a), _mm_set_ss(b), _mm_set_ss(c)));
}

// Keeps the compiler from computing a vector that looks unused only once or never.
#define USE(v) __asm__ volatile("" : "+x"(v))

// Rounds 16 columns to pairs and returns their sum.
INLINE float round_columns(const float *x, float inverse, int32_t *pairs) {
    __m256 factor = _mm256_set1_ps(inverse);
    __m256i low = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x), factor));
    __m256i high = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + 8), factor));
    __m256i shorts = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xd8);
    shorts = _mm256_shufflehi_epi16(_mm256_shufflelo_epi16(shorts, 0xd8), 0xd8);
    _mm256_storeu_si256((__m256i *)pairs, shorts);
    int32_t sums[8];
    _mm256_storeu_si256((__m256i *)sums, _mm256_add_epi32(low, high));
    int32_t sum = 0;
    for (int i = 0; i < 8; i++) sum += sums[i];
    return (float)sum;
}

#endif
