// Sums of products of 16-bit integers, two columns at a time.
#ifndef RADIXFLOW_PAIRS_H
#define RADIXFLOW_PAIRS_H

// The number of rows whose sums fit into the registers, and the number of rows for which four times as many sums fit.
enum { MOST_ROWS = ACCUMULATORS / 2, FEW_ROWS = ACCUMULATORS / 8 };

// Adds the products of one pair of columns: two vectors of weights times each row.
#define PAIR(w0, w1, pair)                                       \
    do {                                                         \
        _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++) { \
            ints x = repeat_int(a[r][pair]);                     \
            t[r][0] = add_products(t[r][0], w0, x);              \
            t[r][1] = add_products(t[r][1], w1, x);              \
        }                                                        \
    } while (0)

// The loops below are not unrolled, because small code is faster here.

// A word has the low nibbles of 4 columns of the block's first half and the high nibbles of 4 columns of its second
// half.
INLINE void nibbles(int rows, const int32_t *codes, const int32_t *const *a, int pair, int high, ints t[][2]) {
    ints mask = repeat_int(0x000f000f);
    _Pragma("GCC unroll 1") for (int w = 0; w < 4; w++) {
        ints v0 = load_ints(codes + w * PANEL), v1 = load_ints(codes + w * PANEL + LANES);
        if (high) {
            v0 = shift_right_16(v0, 4);
            v1 = shift_right_16(v1, 4);
        }
        PAIR(and_ints(v0, mask), and_ints(v1, mask), pair + 2 * w);
        PAIR(and_ints(shift_right_16(v0, 8), mask), and_ints(shift_right_16(v1, 8), mask), pair + 2 * w + 1);
    }
}

INLINE void signed_nibbles(int rows, const int32_t *codes, const int32_t *const *a, int pair, int high, ints t[][2]) {
    int low = high ? 8 : 12;
    _Pragma("GCC unroll 1") for (int w = 0; w < 4; w++) {
        ints v0 = load_ints(codes + w * PANEL), v1 = load_ints(codes + w * PANEL + LANES);
        PAIR(shift_signed_16(shift_left_16(v0, low), 12), shift_signed_16(shift_left_16(v1, low), 12), pair + 2 * w);
        if (!high) {
            v0 = shift_left_16(v0, 4);
            v1 = shift_left_16(v1, 4);
        }
        PAIR(shift_signed_16(v0, 12), shift_signed_16(v1, 12), pair + 2 * w + 1);
    }
}

INLINE void bytes(int rows, const int32_t *codes, const int32_t *const *a, int pair, ints t[][2]) {
    _Pragma("GCC unroll 1") for (int w = 0; w < 4; w++) {
        ints v0 = load_ints(codes + w * PANEL), v1 = load_ints(codes + w * PANEL + LANES);
        PAIR(shift_signed_16(shift_left_16(v0, 8), 8), shift_signed_16(shift_left_16(v1, 8), 8), pair + 2 * w);
        PAIR(shift_signed_16(v0, 8), shift_signed_16(v1, 8), pair + 2 * w + 1);
    }
}

// Combines the four low bits of a code with the two top bits of each 16 bits of the other vector.
INLINE ints six(ints low, ints high) {
    return choose_bits(repeat_int(0x000f000f), low, shift_signed_16(high, 10));
}

// Words of nibbles, then one word per half with the two highest bits of the codes: in each 16 bits, 4 bits per pair of
// columns.
INLINE void sixes(int rows, const int32_t *codes, const int32_t *const *a, int pair, int high, ints t[][2]) {
    ints h0 = load_ints(codes + (4 + high) * PANEL), h1 = load_ints(codes + (4 + high) * PANEL + LANES);
    _Pragma("GCC unroll 1") for (int w = 0; w < 4; w++) {
        ints v0 = load_ints(codes + w * PANEL), v1 = load_ints(codes + w * PANEL + LANES);
        if (high) {
            v0 = shift_right_16(v0, 4);
            v1 = shift_right_16(v1, 4);
        }
        PAIR(six(v0, shift_left_16(h0, 14)), six(v1, shift_left_16(h1, 14)), pair + 2 * w);
        v0 = shift_right_16(v0, 8);
        v1 = shift_right_16(v1, 8);
        PAIR(six(v0, shift_left_16(h0, 12)), six(v1, shift_left_16(h1, 12)), pair + 2 * w + 1);
        h0 = shift_right_16(h0, 4);
        h1 = shift_right_16(h1, 4);
    }
}

// A whole block of nibbles. Nibbles keep their position in their 16 bits. Each position has its own sums, which are
// shifted once per block. This takes fewer instructions per word, and the chains of sums are shorter. No sum exceeds 8
// columns of 15 * 256 * 32767.
INLINE void whole_nibbles(int rows, int flip, const int32_t *codes, const int32_t *const *a, int pair, ints t[][2]) {
    ints mask = repeat_int(0x000f000f), s[FEW_ROWS][4][2];
    _Pragma("GCC unroll 2") for (int r = 0; r < rows; r++) {
        _Pragma("GCC unroll 4") for (int i = 0; i < 4; i++) s[r][i][0] = s[r][i][1] = zero_ints();
    }
    _Pragma("GCC unroll 1") for (int w = 0; w < 4; w++) {
        _Pragma("GCC unroll 2") for (int i = 0; i < 2; i++) {
            ints v = load_ints(codes + w * PANEL + i * LANES);
            if (flip) {
                v = xor_ints(v, repeat_int((int)0x88888888));
            }
            ints v0 = and_ints(v, mask), v1 = and_ints(v, repeat_int(0x00f000f0));
            ints v2 = and_ints(v, repeat_int(0x0f000f00)), v3 = shift_right_16(v, 12);
            _Pragma("GCC unroll 2") for (int r = 0; r < rows; r++) {
                const int32_t *x = a[r] + pair + 2 * w;
                s[r][0][i] = add_products(s[r][0][i], v0, repeat_int(x[0]));
                s[r][1][i] = add_products(s[r][1][i], v1, repeat_int(x[8]));
                s[r][2][i] = add_products(s[r][2][i], v2, repeat_int(x[1]));
                s[r][3][i] = add_products(s[r][3][i], v3, repeat_int(x[9]));
            }
        }
    }
    _Pragma("GCC unroll 2") for (int r = 0; r < rows; r++) {
        _Pragma("GCC unroll 2") for (int i = 0; i < 2; i++) {
            ints shifted = add_ints(shift_signed_32(s[r][1][i], 4), shift_signed_32(s[r][2][i], 8));
            t[r][i] = add_ints(add_ints(s[r][0][i], s[r][3][i]), shifted);
        }
    }
}

// Adds the products of half a block, 16 columns, which begin at pair `pair`.
INLINE void half_block(enum code_kind code, int rows, const int32_t *codes, const int32_t *const *a, int pair,
                       int half, ints t[][2]) {
    if (code == CODE_NIBBLE) {
        nibbles(rows, codes, a, pair, half, t);
    } else if (code == CODE_SIGNED_NIBBLE) {
        signed_nibbles(rows, codes, a, pair, half, t);
    } else if (code == CODE_SIX) {
        sixes(rows, codes, a, pair, half, t);
    } else {
        bytes(rows, codes + half * 4 * PANEL, a, pair, t);
    }
}

// Corrects the sums of signed codes, whose highest bits were flipped, which made each code larger by 8.
INLINE void unflip(int rows, const struct activations *x, const int32_t *numbers, int columns, int block, ints t[][2]) {
    _Pragma("GCC unroll 2") for (int r = 0; r < rows; r++) {
        const float *sums = x->sums + (long)numbers[r] * (columns / 16) + 2 * block;
        ints excess = repeat_int((int)(-8 * (sums[0] + sums[1])));
        t[r][0] = add_ints(t[r][0], excess);
        t[r][1] = add_ints(t[r][1], excess);
    }
}

// Sets t to the sums of block b.
INLINE void whole_block(enum code_kind code, int rows, const int32_t *codes, const int32_t *const *a,
                        const struct activations *x, const int32_t *numbers, int columns, int b, ints t[][2]) {
    if (rows <= FEW_ROWS && (code == CODE_NIBBLE || code == CODE_SIGNED_NIBBLE)) {
        whole_nibbles(rows, code == CODE_SIGNED_NIBBLE, codes, a, b * 16, t);
        if (code == CODE_SIGNED_NIBBLE) {
            unflip(rows, x, numbers, columns, b, t);
        }
        return;
    }
    clear(rows, t);
    half_block(code, rows, codes, a, b * 16, 0, t);
    half_block(code, rows, codes, a, b * 16 + 8, 1, t);
}

#endif
