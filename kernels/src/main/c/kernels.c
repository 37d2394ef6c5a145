// Compiled once per instruction set; the build names it with -DISA.
#include "kernels.h"
#include "vectors.h"

// Bytes of activations that stay in the second-level cache while panels are read.
enum { CACHED_BYTES = 256 * 1024, UNIT = 256 };

// Distance in bytes from the codes in use to the codes that are prefetched. The processor's own prefetch is too late.
// Without this, products of few rows take twice as long.
enum { AHEAD = 8192 };

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

INLINE int words_of(enum code_kind code) {
    return code == CODE_BYTE ? 8 : code == CODE_SIX ? 6 : 4;
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

// Loads the scales (part 0) or minima (part 1) of one block for a vector of outputs.
INLINE floats scales_of(const struct weights *w, int panel, int index, int part, int lane) {
    int parts = w->minima ? 2 : 1;
    long at = ((long)panel * (w->columns / w->block) + index) * parts * PANEL + part * PANEL + lane;
    if (w->scale == SCALE_FLOAT) {
        return load_floats((const float *)w->scales + at);
    }
    if (w->scale == SCALE_HALF) {
        return widen_halves((const uint16_t *)w->scales + at);
    }
    int unit = index * w->block / UNIT;
    long unit_at = ((long)panel * (w->columns / UNIT) + unit) * parts * PANEL + part * PANEL + lane;
    return multiply_floats(widen_halves(w->units + unit_at), widen_bytes((const int8_t *)w->scales + at));
}

// Prefetches the scales of a block, and the units that begin there.
INLINE void fetch_scales(const struct weights *w, int panel, int block) {
    int parts = w->minima ? 2 : 1, each = BLOCK / w->block * parts * PANEL;
    long at = ((long)panel * (w->columns / BLOCK) + block) * each;
    if (w->scale == SCALE_FLOAT) {
        fetch((const float *)w->scales + at, each * 4);
    } else if (w->scale == SCALE_HALF) {
        fetch((const uint16_t *)w->scales + at, each * 2);
    } else {
        fetch((const int8_t *)w->scales + at, each);
        if (block % (UNIT / BLOCK) == 0) {
            long unit_at = ((long)panel * (w->columns / UNIT) + block / (UNIT / BLOCK)) * parts * PANEL;
            fetch(w->units + unit_at, parts * PANEL * 2);
        }
    }
}

// The outputs of a few rows for two vectors. They are on the stack, because Java's arrays are not aligned and vectors
// that cross cache lines take twice as long.
struct tile {
    float y[MOST_ROWS][2 * LANES] __attribute__((aligned(64)));
};

// Scales the sums of products of one scale's columns and adds them to the outputs.
INLINE void add_scaled(const struct weights *w, const struct activations *x, const int32_t *numbers, int panel,
                       int index, int lane, int rows, ints t[][2], struct tile *out) {
    floats d0 = scales_of(w, panel, index, 0, lane), d1 = scales_of(w, panel, index, 0, lane + LANES);
    floats m0 = d0, m1 = d1;
    if (w->minima) {
        m0 = scales_of(w, panel, index, 1, lane);
        m1 = scales_of(w, panel, index, 1, lane + LANES);
    }
    int block = index * w->block / BLOCK, sixteen = index * w->block / 16;
    _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++) {
        float *y = out->y[r];
        float scale = x->scales[(long)numbers[r] * (w->columns / BLOCK) + block];
        floats s = repeat_float(scale);
        floats y0 = multiply_add(multiply_floats(d0, s), to_floats(t[r][0]), load_floats(y));
        floats y1 = multiply_add(multiply_floats(d1, s), to_floats(t[r][1]), load_floats(y + LANES));
        if (w->minima) {
            const float *sums = x->sums + (long)numbers[r] * (w->columns / 16) + sixteen;
            floats sum = repeat_float(scale * (w->block == BLOCK ? sums[0] + sums[1] : sums[0]));
            y0 = multiply_add(m0, sum, y0);
            y1 = multiply_add(m1, sum, y1);
        }
        store_floats(y, y0);
        store_floats(y + LANES, y1);
    }
}

INLINE void clear(int rows, ints t[][2]) {
    _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++) t[r][0] = t[r][1] = zero_ints();
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

// Sets the outputs to the bias.
INLINE void begin(const struct weights *w, int panel, int lane, int rows, struct tile *out) {
    for (int i = 0; i < 2; i++) {
        floats y = w->bias ? load_floats(w->bias + panel * PANEL + lane + i * LANES) : repeat_float(0);
        for (int r = 0; r < rows; r++) store_floats(out->y[r] + i * LANES, y);
    }
}

// Multiplies a few rows with two vectors of a panel's outputs.
INLINE void rows_of_panel(const struct weights *w, const struct activations *x, const int32_t *numbers,
                          enum code_kind code, int panel, int lane, int rows, float *out, int stride) {
    int blocks = w->columns / BLOCK, words = words_of(code);
    const int32_t *codes = w->codes + (long)panel * blocks * words * PANEL + lane;
    const int32_t *a[MOST_ROWS];
    for (int r = 0; r < rows; r++) a[r] = x->pairs + (long)numbers[r] * (w->columns / 2);
    struct tile y;
    begin(w, panel, lane, rows, &y);
    for (int b = 0; b < blocks; b++) {
        if (lane == 0) {
            fetch((const char *)codes + AHEAD, words * PANEL * 4);
            fetch_scales(w, panel, b + AHEAD / (words * PANEL * 4));
        }
        ints t[MOST_ROWS][2];
        if (rows <= FEW_ROWS && (code == CODE_NIBBLE || code == CODE_SIGNED_NIBBLE)) {
            whole_nibbles(rows, code == CODE_SIGNED_NIBBLE, codes, a, b * 16, t);
            if (code == CODE_SIGNED_NIBBLE) {
                unflip(rows, x, numbers, w->columns, b, t);
            }
            add_scaled(w, x, numbers, panel, b, lane, rows, t, &y);
            codes += words * PANEL;
            continue;
        }
        clear(rows, t);
        half_block(code, rows, codes, a, b * 16, 0, t);
        if (w->block == BLOCK / 2) {
            add_scaled(w, x, numbers, panel, 2 * b, lane, rows, t, &y);
            clear(rows, t);
        }
        half_block(code, rows, codes, a, b * 16 + 8, 1, t);
        int last = w->block == BLOCK ? b : 2 * b + 1;
        add_scaled(w, x, numbers, panel, last, lane, rows, t, &y);
        codes += words * PANEL;
    }
    for (int r = 0; r < rows; r++) __builtin_memcpy(out + (long)r * stride, y.y[r], sizeof y.y[r]);
}

// Multiplies some rows with a panel. The compiler unrolls the rows and removes what a format does not need, because
// these arguments are constants.
INLINE void rows_times_panel(const struct weights *w, const struct activations *x, enum code_kind code, int panel,
                             int from, int to, float *out, int stride) {
    for (int lane = 0; lane < PANEL; lane += 2 * LANES) {
        int row = from;
#define ROWS(n)                                                                                                  \
    for (; n <= MOST_ROWS && to - row >= n; row += n) {                                                          \
        rows_of_panel(w, x, x->numbers + row, code, panel, lane, n, out + (long)row * stride + lane, stride);    \
    }
        ROWS(8) ROWS(4) ROWS(3) ROWS(2) ROWS(1)
#undef ROWS
    }
}

#define FORMAT(name, code, scale_, block_, minima_)                                                              \
    static void name(const struct weights *w, const struct activations *x, int panel, int from, int to,         \
                     float *out, int stride) {                                                                   \
        struct weights known = *w;                                                                               \
        known.scale = scale_;                                                                                    \
        known.block = block_;                                                                                    \
        known.minima = minima_;                                                                                  \
        rows_times_panel(&known, x, code, panel, from, to, out, stride);                                         \
    }

typedef void format_function(const struct weights *, const struct activations *, int, int, int, float *, int);

FORMAT(q4_0, CODE_SIGNED_NIBBLE, SCALE_HALF, 32, 0)
FORMAT(q4_1, CODE_NIBBLE, SCALE_HALF, 32, 1)
FORMAT(q4_k, CODE_NIBBLE, SCALE_FACTOR, 32, 1)
FORMAT(int4, CODE_NIBBLE, SCALE_FLOAT, 32, 1)
FORMAT(q8_0, CODE_BYTE, SCALE_HALF, 32, 0)
FORMAT(int8, CODE_BYTE, SCALE_FLOAT, 32, 0)
FORMAT(iq4_xs, CODE_BYTE, SCALE_FACTOR, 32, 0)
FORMAT(q5_0, CODE_SIX, SCALE_HALF, 32, 0)
FORMAT(q5_1, CODE_SIX, SCALE_HALF, 32, 1)
FORMAT(q5_k, CODE_SIX, SCALE_FACTOR, 32, 1)
FORMAT(q6_k, CODE_SIX, SCALE_FACTOR, 16, 0)
FORMAT(q2_k, CODE_SIX, SCALE_FACTOR, 16, 1)

static format_function *format_of(const struct weights *w) {
    if (w->code == CODE_SIGNED_NIBBLE) {
        return q4_0;
    }
    if (w->code == CODE_NIBBLE) {
        return w->scale == SCALE_HALF ? q4_1 : w->scale == SCALE_FACTOR ? q4_k : int4;
    }
    if (w->code == CODE_SIX) {
        if (w->block == 16) {
            return w->minima ? q2_k : q6_k;
        }
        return !w->minima ? q5_0 : w->scale == SCALE_HALF ? q5_1 : q5_k;
    }
    return w->scale == SCALE_HALF ? q8_0 : w->scale == SCALE_FLOAT ? int8 : iq4_xs;
}

void NAMED(multiply)(const struct weights *w, const struct activations *x, int first, int end, float *out,
                     int stride) {
    format_function *times = format_of(w);
    int cached = CACHED_BYTES / (2 * w->columns) / 8 * 8;
    if (cached < 8) {
        cached = 8;
    }
    fetch(w->codes + (long)first * (w->columns / BLOCK) * words_of(w->code) * PANEL, AHEAD);
    for (int from = 0; from < x->rows; from += cached) {
        int to = x->rows - from < cached ? x->rows : from + cached;
        for (int panel = first; panel < end; panel++) {
            float *y = out + (long)(panel - first) * PANEL;
            times(w, x, panel, from, to, y, stride);
        }
    }
}

// Returns the largest absolute value of a block as bits. NaN and infinity are greater than every number.
INLINE int32_t largest(const float *x) {
    int32_t most = 0;
    for (int k = 0; k < BLOCK; k++) {
        int32_t bits;
        __builtin_memcpy(&bits, x + k, 4);
        bits &= 0x7fffffff;
        most = bits > most ? bits : most;
    }
    return most;
}

void NAMED(pack)(const float *in, int columns, int32_t *pairs, float *scales, float *sums) {
    for (int b = 0; b < columns / BLOCK; b++) {
        const float *x = in + b * BLOCK;
        int32_t bits = largest(x);
        float most, scale = 0, inverse = 0;
        __builtin_memcpy(&most, &bits, 4);
        if (bits >= 0x7f800000) {
            scale = __builtin_nanf("");
        } else if (bits >= 0x0d800000) {  // 2^-100
            scale = most / 32767.0f;
            inverse = 32767.0f / most;
        }
        scales[b] = scale;
        if (inverse == 0) {
            __builtin_memset(pairs + b * 16, 0, 64);
            sums[2 * b] = sums[2 * b + 1] = 0;
        } else {
            sums[2 * b] = round_columns(x, inverse, pairs + b * 16);
            sums[2 * b + 1] = round_columns(x + 16, inverse, pairs + b * 16 + 8);
        }
    }
}

void NAMED(widen)(const uint16_t *in, int count, float *out) {
    for (int i = 0; i < count; i += LANES) store_floats(out + i, widen_halves(in + i));
}

enum { PANEL_VECTORS = PANEL / LANES };

// Processes a few rows at a time, so that their sums stay in registers: 2 rows of 4 vectors, or 8 rows of 2.
INLINE void some_halves(const struct halves *h, int bfloat16, const float *x, int x_stride, int rows, float *out,
                        int stride) {
    floats sums[8][PANEL_VECTORS];
    for (int r = 0; r < rows; r++) {
        for (int v = 0; v < PANEL_VECTORS; v++) sums[r][v] = load_floats(out + r * stride + v * LANES);
    }
    for (int k = 0; k < h->columns; k++) {
        const uint16_t *at = h->values + (long)k * PANEL;
        fetch((const char *)at + AHEAD, PANEL * 2);
        floats w[PANEL_VECTORS];
        for (int v = 0; v < PANEL_VECTORS; v++) {
            w[v] = bfloat16 ? widen_bfloat16s(at + v * LANES) : widen_halves(at + v * LANES);
        }
        for (int r = 0; r < rows; r++) {
            floats a = repeat_float(x[(long)r * x_stride + k]);
            for (int v = 0; v < PANEL_VECTORS; v++) sums[r][v] = multiply_add(w[v], a, sums[r][v]);
        }
    }
    for (int r = 0; r < rows; r++) {
        for (int v = 0; v < PANEL_VECTORS; v++) store_floats(out + r * stride + v * LANES, sums[r][v]);
    }
}

// One loop per number of rows and kind of float.
#define SOME(n) \
    case n: \
        if (h->bfloat16) some_halves(h, 1, x, x_stride, n, out, stride); \
        else some_halves(h, 0, x, x_stride, n, out, stride); \
        break;

void NAMED(halves)(const struct halves *h, const float *x, int x_stride, int rows, float *out, int stride) {
    enum { MOST = ACCUMULATORS / PANEL_VECTORS };
    for (int row = 0; row < rows; row += MOST, x += (long)MOST * x_stride, out += (long)MOST * stride) {
        switch (rows - row < MOST ? rows - row : MOST) {
            SOME(1)
            SOME(2)
#ifdef __AVX512VNNI__
            SOME(3)
            SOME(4)
            SOME(5)
            SOME(6)
            SOME(7)
            SOME(8)
#endif
        }
    }
}

// Twelve chains hide the latency and fit into the registers.
long NAMED(peak)(long rounds) {
    enum { CHAINS = 12 };
    ints sums[CHAINS], a = repeat_int(0x00030002), b = repeat_int(0x00050004);
    _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) sums[i] = zero_ints();
    for (long round = 0; round < rounds; round++) {
        _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) {
            USE(a);
            sums[i] = add_products(sums[i], a, b);
        }
    }
    _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) USE(sums[i]);
    return rounds * CHAINS * LANES * 2;
}
