// Vectors of 16 bytes, for repack.c.
#ifndef RADIXFLOW_BYTES_H
#define RADIXFLOW_BYTES_H

#include <stdint.h>

typedef uint8_t bytes __attribute__((vector_size(16)));
typedef int8_t signed_bytes __attribute__((vector_size(16)));
typedef uint16_t shorts __attribute__((vector_size(16)));
typedef uint32_t words __attribute__((vector_size(16)));
typedef uint64_t longs __attribute__((vector_size(16)));

// look_up takes bytes of a table; the numbers are below 16. zip_low and zip_high take elements of 16, 32 or 64 bits of
// both vectors in turn, from the lower or the upper half. add_pairs adds 4 times each second byte to the byte before it.
#ifdef __x86_64__

#include <immintrin.h>

#define look_up(table, numbers) (bytes)_mm_shuffle_epi8((__m128i)(table), (__m128i)(numbers))
#define zip_low_16(a, b) (bytes)_mm_unpacklo_epi16((__m128i)(a), (__m128i)(b))
#define zip_high_16(a, b) (bytes)_mm_unpackhi_epi16((__m128i)(a), (__m128i)(b))
#define zip_low_32(a, b) (bytes)_mm_unpacklo_epi32((__m128i)(a), (__m128i)(b))
#define zip_high_32(a, b) (bytes)_mm_unpackhi_epi32((__m128i)(a), (__m128i)(b))
#define zip_low_64(a, b) (bytes)_mm_unpacklo_epi64((__m128i)(a), (__m128i)(b))
#define zip_high_64(a, b) (bytes)_mm_unpackhi_epi64((__m128i)(a), (__m128i)(b))
#define add_pairs(b) (shorts)_mm_maddubs_epi16((__m128i)(b), _mm_set1_epi16(0x0401))

#else

#include <arm_neon.h>

#define look_up(table, numbers) (bytes)vqtbl1q_u8((uint8x16_t)(table), (uint8x16_t)(numbers))
#define zip_low_16(a, b) (bytes)vzip1q_u16((uint16x8_t)(a), (uint16x8_t)(b))
#define zip_high_16(a, b) (bytes)vzip2q_u16((uint16x8_t)(a), (uint16x8_t)(b))
#define zip_low_32(a, b) (bytes)vzip1q_u32((uint32x4_t)(a), (uint32x4_t)(b))
#define zip_high_32(a, b) (bytes)vzip2q_u32((uint32x4_t)(a), (uint32x4_t)(b))
#define zip_low_64(a, b) (bytes)vzip1q_u64((uint64x2_t)(a), (uint64x2_t)(b))
#define zip_high_64(a, b) (bytes)vzip2q_u64((uint64x2_t)(a), (uint64x2_t)(b))
#define add_pairs(b) (shorts)vpaddlq_u8(vmulq_u8((uint8x16_t)(b), (uint8x16_t)vdupq_n_u16(0x0401)))

#endif

#endif
