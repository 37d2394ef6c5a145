// Sums of products as dot products of bytes, four columns at a time: an activation is 256 times a signed byte plus an
// unsigned byte.
#ifndef RADIXFLOW_DOTS_H
#define RADIXFLOW_DOTS_H

// The number of rows whose sums, one for each of the two bytes, fit into the registers.
enum { MOST_ROWS = ACCUMULATORS / 4 };

// 16 columns of a row.
struct parts {
    uint8x16_t low;
    int8x16_t high;
};

INLINE struct parts split(const int32_t *pairs) {
    int32x4_t first = vld1q_s32(pairs), last = vld1q_s32(pairs + 4);
    uint8x16_t even = (uint8x16_t)vuzp1q_s32(first, last), odd = (uint8x16_t)vuzp2q_s32(first, last);
    return (struct parts){vtrn1q_u8(even, odd), (int8x16_t)vtrn2q_u8(even, odd)};
}

// The number of bits by which bytes_of() shifts codes, so that their sign is the sign of the byte.
INLINE int shift_of(enum code_kind code) {
    return code == CODE_SIGNED_NIBBLE ? 4 : code == CODE_SIX ? 2 : 0;
}

// Returns word w of half a block: codes of four columns, as bytes.
INLINE ints bytes_of(enum code_kind code, const int32_t *codes, int half, int w) {
    uint32x4_t v = (uint32x4_t)load_ints(codes + (code == CODE_BYTE ? half * 4 + w : w) * PANEL);
    switch (code) {
    case CODE_BYTE:
        return (ints)v;
    case CODE_NIBBLE:
        return (ints)((half ? v >> 4 : v) & 0x0f0f0f0f);
    case CODE_SIGNED_NIBBLE:
        return (ints)((half ? v : v << 4) & 0xf0f0f0f0);
    default: {
        uint32x4_t top = (uint32x4_t)load_ints(codes + (4 + half) * PANEL) >> (4 * w);
        return (ints)(((half ? v >> 2 : v << 2) & 0x3c3c3c3c) | (top & 0x00030003) << 6 | (top & 0x000c000c) << 12);
    }
    }
}

// Adds the products of half a block, 16 columns, which begin at pair `pair`. Signed codes become larger by 128 for the
// unsigned bytes of the activations; the sums begin with what that adds too much.
INLINE void half_block(enum code_kind code, int rows, const int32_t *codes, const int32_t *const *a, int pair, int half,
                       ints t[][2]) {
    struct parts x[MOST_ROWS];
    ints high[MOST_ROWS][2];
    uint32x4_t low[MOST_ROWS][2];
    _Pragma("GCC unroll 4") for (int r = 0; r < rows; r++) {
        x[r] = split(a[r] + pair);
        high[r][0] = high[r][1] = zero_ints();
        low[r][0] = low[r][1] = vdupq_n_u32(code == CODE_NIBBLE ? 0 : -128u * vaddlvq_u8(x[r].low));
    }
#define WORD(w)                                                                                               \
    _Pragma("GCC unroll 2") for (int i = 0; i < 2; i++) {                                                     \
        ints v = bytes_of(code, codes + i * LANES, half, w);                                                  \
        uint8x16_t u = (uint8x16_t)(code == CODE_NIBBLE ? v : xor_ints(v, repeat_int((int)0x80808080)));      \
        _Pragma("GCC unroll 4") for (int r = 0; r < rows; r++) {                                              \
            high[r][i] = vdotq_laneq_s32(high[r][i], (int8x16_t)v, x[r].high, w);                             \
            low[r][i] = vdotq_laneq_u32(low[r][i], u, x[r].low, w);                                           \
        }                                                                                                     \
    }
    WORD(0) WORD(1) WORD(2) WORD(3)
#undef WORD
    _Pragma("GCC unroll 4") for (int r = 0; r < rows; r++) {
        _Pragma("GCC unroll 2") for (int i = 0; i < 2; i++) {
            t[r][i] = add_ints(t[r][i], shift_signed_32((high[r][i] << 8) + (ints)low[r][i], shift_of(code)));
        }
    }
}

// Sets t to the sums of block b.
INLINE void whole_block(enum code_kind code, int rows, const int32_t *codes, const int32_t *const *a,
                        const struct activations *x, const int32_t *numbers, int columns, int b, ints t[][2]) {
    (void)x;
    (void)numbers;
    (void)columns;
    clear(rows, t);
    half_block(code, rows, codes, a, b * 16, 0, t);
    half_block(code, rows, codes, a, b * 16 + 8, 1, t);
}

#endif
