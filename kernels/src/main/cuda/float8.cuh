// Keys and values as 8-bit floats (E4M3 of the OCP 8-bit floating point specification: up to 448) with a power of two
// as the scale of each vector (E8M0 of the OCP microscaling formats specification: 2^(byte - 127)).
//
// A scale is the smallest one with which no element exceeds 448. So nothing is clipped, and every element down to 2^-14
// of the largest keeps three bits after the leading one. If an element is not finite, all codes are zero and the scale
// is infinity, so all products with the vector are NaN.
#pragma once
#include "device.cuh"

constexpr int kFloat8ScaleBytes = 1;

// The bits of the magnitude. As integers they have the same order as the magnitudes; NaN is greater than all.
__device__ __forceinline__ uint32_t magnitude_bits(float v) { return __float_as_uint(v) & 0x7fffffffu; }

// The scale of a vector whose largest magnitude has these bits; 255 means infinity.
__device__ __forceinline__ uint32_t float8_scale(uint32_t magnitude) {
    uint32_t exponent = magnitude >> 23;
    if (exponent == 255) return 255;
    int scale = int(exponent) - 8 + ((magnitude & 0x7fffffu) > 0x600000u ? 1 : 0);
    return scale < 1 ? 1 : scale;
}
__device__ __forceinline__ float float8_scale_value(uint32_t scale) { return __uint_as_float(scale << 23); }
// The factor for elements before they are rounded to codes, which is the inverse of the scale.
__device__ __forceinline__ float float8_inverse(uint32_t scale) { return __uint_as_float((254 - scale) << 23); }

// The nearest code, ties to even; at most the code of 448.
__device__ __forceinline__ uint32_t float8_code(float v) {
    uint32_t sign = __float_as_uint(v) >> 24 & 0x80;
    float magnitude = fminf(fabsf(v), 448.0f);
    uint32_t bits = __float_as_uint(magnitude);
    // adding 16384 rounds to multiples of 2^-9, the step of subnormal codes
    if (magnitude < 0.015625f) return sign | (__float_as_uint(magnitude + 16384.0f) - __float_as_uint(16384.0f));
    return sign | (((bits + 0x7ffffu + (bits >> 20 & 1)) >> 20) - (120u << 3));
}

// The code of an element of a vector with this scale.
__device__ __forceinline__ uint32_t float8_code(float v, uint32_t scale) {
    return scale == 255 ? 0 : float8_code(v * float8_inverse(scale));
}

__device__ __forceinline__ uint32_t multiply_bf16(uint32_t pair, uint32_t by) {
    bf162 a, b;
    memcpy(&a, &pair, 4);
    memcpy(&b, &by, 4);
    a = __hmul2(a, b);
    memcpy(&pair, &a, 4);
    return pair;
}

// Widens four codes to bf16, exactly: `even` gets bytes 0 and 2, `odd` gets bytes 1 and 3. Codes must not be NaN.
__device__ __forceinline__ void widen_float8(uint32_t codes, uint32_t& even, uint32_t& odd) {
    constexpr uint32_t kRebias = 0x7b807b80u;  // 2^120, twice
    uint32_t shifted = codes << 8;
    even = multiply_bf16((shifted & 0x80008000u) | (shifted & 0x7f007f00u) >> 4, kRebias);
    odd = multiply_bf16((codes & 0x80008000u) | (codes & 0x7f007f00u) >> 4, kRebias);
}

// Widens two adjacent scales to bf16.
__device__ __forceinline__ uint32_t float8_scale_pair(uint32_t bytes) { return (bytes & 0xff) << 7 | (bytes & 0xff00) << 15; }
