// Compiled once per instruction set; the build names it with -DISA.
#include "kernels.h"
#include "vectors.h"

// Bytes of activations that stay in the second-level cache while panels are read.
enum { CACHED_BYTES = 256 * 1024, UNIT = 256 };

// Distance in bytes from the codes in use to the codes that are prefetched. The processor's own prefetch is too late.
// Without this, products of few rows take twice as long.
enum { AHEAD = 8192 };

INLINE void clear(int rows, ints t[][2]) {
    _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++) t[r][0] = t[r][1] = zero_ints();
}

#ifdef DOT_PRODUCTS
#include "dots.h"
#else
#include "pairs.h"
#endif

INLINE int words_of(enum code_kind code) {
    return code == CODE_BYTE ? 8 : code == CODE_SIX ? 6 : 4;
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

// The outputs of a few rows. They are on the stack, because Java's arrays are not aligned and vectors that cross cache
// lines take twice as long.
struct tile {
    float y[MOST_ROWS][PANEL] __attribute__((aligned(64)));
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
        float *y = out->y[r] + lane;
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

// Sets the outputs to the bias.
INLINE void begin(const struct weights *w, int panel, int rows, struct tile *out) {
    for (int lane = 0; lane < PANEL; lane += LANES) {
        floats y = w->bias ? load_floats(w->bias + panel * PANEL + lane) : repeat_float(0);
        for (int r = 0; r < rows; r++) store_floats(out->y[r] + lane, y);
    }
}

// Adds the products of a few rows and a block to two vectors of a panel's outputs.
INLINE void rows_of_block(const struct weights *w, const struct activations *x, const int32_t *numbers,
                          enum code_kind code, int panel, int b, int lane, int rows, const int32_t *codes,
                          const int32_t *const *a, struct tile *y) {
    ints t[MOST_ROWS][2];
    if (w->block == BLOCK) {
        whole_block(code, rows, codes, a, x, numbers, w->columns, b, t);
        add_scaled(w, x, numbers, panel, b, lane, rows, t, y);
        return;
    }
    _Pragma("GCC unroll 2") for (int half = 0; half < 2; half++) {
        clear(rows, t);
        half_block(code, rows, codes, a, b * 16 + half * 8, half, t);
        add_scaled(w, x, numbers, panel, 2 * b + half, lane, rows, t, y);
    }
}

// Multiplies a few rows with a panel. Memory is read in order, because each block is finished before the next begins.
INLINE void rows_of_panel(const struct weights *w, const struct activations *x, const int32_t *numbers,
                          enum code_kind code, int panel, int rows, float *out, int stride) {
    int blocks = w->columns / BLOCK, words = words_of(code);
    const int32_t *codes = w->codes + (long)panel * blocks * words * PANEL;
    const int32_t *a[MOST_ROWS];
    for (int r = 0; r < rows; r++) a[r] = x->pairs + (long)numbers[r] * (w->columns / 2);
    struct tile y;
    begin(w, panel, rows, &y);
    for (int b = 0; b < blocks; b++) {
        fetch((const char *)codes + AHEAD, words * PANEL * 4);
        fetch_scales(w, panel, b + AHEAD / (words * PANEL * 4));
        _Pragma("GCC unroll 1") for (int lane = 0; lane < PANEL; lane += 2 * LANES) {
            rows_of_block(w, x, numbers, code, panel, b, lane, rows, codes + lane, a, &y);
        }
        codes += words * PANEL;
    }
    for (int r = 0; r < rows; r++) __builtin_memcpy(out + (long)r * stride, y.y[r], sizeof y.y[r]);
}

// Multiplies some rows with a panel. The compiler unrolls the rows and removes what a format does not need, because
// these arguments are constants.
INLINE void rows_times_panel(const struct weights *w, const struct activations *x, enum code_kind code, int panel,
                             int from, int to, float *out, int stride) {
    int row = from;
#define ROWS(n)                                                                                               \
    for (; n <= MOST_ROWS && to - row >= n; row += n) {                                                       \
        rows_of_panel(w, x, x->numbers + row, code, panel, n, out + (long)row * stride, stride);              \
    }
    ROWS(8) ROWS(4) ROWS(3) ROWS(2) ROWS(1)
#undef ROWS
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
