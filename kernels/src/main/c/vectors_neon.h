// The vectors of vectors.h for NEON, which every processor of the architecture aarch64 has.
#ifndef RADIXFLOW_VECTORS_NEON_H
#define RADIXFLOW_VECTORS_NEON_H

#include <arm_neon.h>

#ifdef __ARM_FEATURE_DOTPROD
#define DOT_PRODUCTS
#endif

enum { LANES = 4, ACCUMULATORS = 16 };

typedef int32x4_t ints;
typedef float32x4_t floats;

#define load_ints(p) vld1q_s32(p)
#define zero_ints() vdupq_n_s32(0)
#define repeat_int(x) vdupq_n_s32(x)
#define and_ints(a, b) vandq_s32(a, b)
#define xor_ints(a, b) veorq_s32(a, b)
#define choose_bits(mask, a, b) vbslq_s32(vreinterpretq_u32_s32(mask), a, b)
#define add_ints(a, b) vaddq_s32(a, b)
#define shift_left_16(v, n) (ints)((int16x8_t)(v) << (n))
#define shift_right_16(v, n) (ints)((uint16x8_t)(v) >> (n))
#define shift_signed_16(v, n) (ints)((int16x8_t)(v) >> (n))
#define shift_signed_32(v, n) ((v) >> (n))
#define to_floats(v) vcvtq_f32_s32(v)
#define load_floats(p) vld1q_f32(p)
#define store_floats(p, v) vst1q_f32(p, v)
#define repeat_float(x) vdupq_n_f32(x)
#define multiply_floats(a, b) vmulq_f32(a, b)
#define multiply_add(a, b, c) vfmaq_f32(c, a, b)
#define widen_halves(p) vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)))
#define widen_bfloat16s(p) vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16))
#define choose_above(limits, at, a, b) vbslq_f32(vcgtq_s32(limits, at), a, b)

// a > b ? a : b
INLINE floats greater_floats(floats a, floats b) {
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

// a < b ? a : b
INLINE floats lesser_floats(floats a, floats b) {
    return vbslq_f32(vcltq_f32(a, b), a, b);
}

INLINE float widen_half(uint16_t half) {
    return vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(half))), 0);
}

INLINE float multiply_add_one(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}

// Loads LANES bytes; they are there twice.
INLINE int16x8_t load_bytes(const void *p) {
    int32_t word;
    __builtin_memcpy(&word, p, sizeof word);
    return vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(word)));
}

INLINE floats widen_bytes(const int8_t *p) {
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(load_bytes(p))));
}

INLINE floats widen_exponents(const char *p) {
    return vreinterpretq_f32_s32(vshlq_n_s32(vandq_s32(vmovl_s16(vget_low_s16(load_bytes(p))), vdupq_n_s32(0xff)), 23));
}

// Widens bytes of sign, 4 exponent bits and 3 mantissa bits as if they were the top bits of binary16.
INLINE floats widen_float8s(const char *p) {
    int16x4_t v = vand_s16(vshl_n_s16(vget_low_s16(load_bytes(p)), 7), vdup_n_s16((int16_t)0xbf80));
    return vcvt_f32_f16(vreinterpret_f16_s16(v));
}

INLINE ints add_products(ints sum, ints a, ints b) {
    int32x4_t low = vmull_s16(vget_low_s16((int16x8_t)a), vget_low_s16((int16x8_t)b));
    return vaddq_s32(sum, vpaddq_s32(low, vmull_high_s16((int16x8_t)a, (int16x8_t)b)));
}

#define USE(v) __asm__ volatile("" : "+w"(v))

// Rounds 16 columns to pairs and returns their sum.
INLINE float round_columns(const float *x, float inverse, int32_t *pairs) {
    const uint8x16_t order = {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15};
    int32x4_t sums = vdupq_n_s32(0);
    for (int i = 0; i < 16; i += 8) {
        int32x4_t low = vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(x + i), inverse));
        int32x4_t high = vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(x + i + 4), inverse));
        sums = vaddq_s32(sums, vaddq_s32(low, high));
        int16x8_t shorts = vcombine_s16(vqmovn_s32(low), vqmovn_s32(high));
        vst1q_s32(pairs + i / 2, vreinterpretq_s32_u8(vqtbl1q_u8(vreinterpretq_u8_s16(shorts), order)));
    }
    return (float)vaddvq_s32(sums);
}

#endif
