// Compiled once per width of vectors.
#include "rows.h"
#include "vectors.h"

enum { SUM_LANES = 16, SUM_VECTORS = SUM_LANES / LANES };

typedef uint32_t words __attribute__((vector_size(sizeof(ints))));
typedef int32_t numbers __attribute__((vector_size(sizeof(ints))));

// Loads up to LANES floats; the rest is 0.
INLINE floats load_some(const float *p, int count) {
    if (count >= LANES) {
        return load_floats(p);
    }
    float some[LANES] = {0};
    for (int i = 0; i < count; i++) some[i] = p[i];
    return load_floats(some);
}

INLINE void store_some(float *p, floats v, int count) {
    if (count >= LANES) {
        store_floats(p, v);
        return;
    }
    float some[LANES];
    store_floats(some, v);
    for (int i = 0; i < count; i++) p[i] = some[i];
}

// The exponential of Exponential.java. NaN stays NaN, because both limits are compared with it in this order.
INLINE floats exponential(floats v) {
    floats x = lesser_floats(repeat_float(88.0f), greater_floats(repeat_float(-87.0f), v));
    floats shifted = multiply_add(x, repeat_float(1.44269504f), repeat_float(12582912.0f));
    floats n = shifted - repeat_float(12582912.0f);
    floats r = multiply_add(n, repeat_float(-0.693359375f), x);
    r = multiply_add(n, repeat_float(2.12194440e-4f), r);
    floats p = multiply_add(r, repeat_float(1.3981999507e-3f), repeat_float(8.3334519073e-3f));
    p = multiply_add(p, r, repeat_float(4.1665795894e-2f));
    p = multiply_add(p, r, repeat_float(1.6666665459e-1f));
    p = multiply_add(p, r, repeat_float(0.5f));
    p = multiply_add(p, r, repeat_float(1.0f));
    p = multiply_add(p, r, repeat_float(1.0f));
    return p * (floats)(((words)shifted + 127) << 23);
}

// The tail of NormalTail.java.
INLINE floats normal_tail(floats x) {
    floats t = repeat_float(1.0f) / multiply_add(x, repeat_float(0.23164189f), repeat_float(1.0f));
    floats p = multiply_add(t, repeat_float(0.5307027145f), repeat_float(-0.7265760135f));
    p = multiply_add(p, t, repeat_float(0.7107068705f));
    p = multiply_add(p, t, repeat_float(-0.142248368f));
    p = multiply_add(p, t, repeat_float(0.127414796f));
    return p * t * exponential(x * x * repeat_float(-0.5f));
}

// Adds the lanes in the order of LaneSum.java.
INLINE float sum_lanes(const floats *sums) {
    float lanes[SUM_LANES];
    for (int v = 0; v < SUM_VECTORS; v++) store_floats(lanes + v * LANES, sums[v]);
    for (int half = SUM_LANES / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i++) lanes[i] += lanes[i + half];
    }
    return lanes[0];
}

static float sum_of_squares(const float *x, int n) {
    floats sums[SUM_VECTORS];
    for (int v = 0; v < SUM_VECTORS; v++) sums[v] = repeat_float(0);
    for (int i = 0; i < n; i += SUM_LANES) {
        for (int v = 0; v < SUM_VECTORS; v++) {
            floats some = load_some(x + i + v * LANES, n - i - v * LANES);
            sums[v] = multiply_add(some, some, sums[v]);
        }
    }
    return sum_lanes(sums);
}

static void scale(const float *x, float factor, const float *gain, float *out, int n) {
    for (int i = 0; i < n; i += LANES) {
        store_some(out + i, load_some(x + i, n - i) * repeat_float(factor) * load_some(gain + i, n - i), n - i);
    }
}

static void add(const float *x, float *y, int n) {
    for (int i = 0; i < n; i += LANES) store_some(y + i, load_some(y + i, n - i) + load_some(x + i, n - i), n - i);
}

INLINE floats gate_of(enum gate_kind kind, floats g, floats u, floats limit) {
    const floats one = repeat_float(1.0f);
    switch (kind) {
    case GATE_SWIGLU:
        return g / (exponential(-g) + one) * u;
    case GATE_GEGLU: {
        floats inner = multiply_add(g * g, g * repeat_float(0.0713548163f), g * repeat_float(1.5957691216f));
        return g / (exponential(-inner) + one) * u;
    }
    case GATE_NORMAL: {
        floats size = (floats)and_ints((ints)g, repeat_int(0x7fffffff));
        // Adding 0 makes -0 to 0.
        floats positive = greater_floats(repeat_float(0), g) + repeat_float(0);
        return multiply_add(-size, normal_tail(size), positive) * u;
    }
    default:
        g = lesser_floats(limit, g);
        u = greater_floats(-limit, lesser_floats(limit, u));
        return g / (exponential(g * repeat_float(-1.702f)) + one) * (u + one);
    }
}

INLINE void gate_rows(enum gate_kind kind, const float *gate, const float *up, float limit, float *out, int n) {
    for (int i = 0; i < n; i += LANES) {
        floats y = gate_of(kind, load_some(gate + i, n - i), load_some(up + i, n - i), repeat_float(limit));
        store_some(out + i, y, n - i);
    }
}

static void gate(enum gate_kind kind, const float *gate, const float *up, float limit, float *out, int n) {
    switch (kind) {
    case GATE_SWIGLU:
        gate_rows(GATE_SWIGLU, gate, up, limit, out, n);
        break;
    case GATE_GEGLU:
        gate_rows(GATE_GEGLU, gate, up, limit, out, n);
        break;
    case GATE_NORMAL:
        gate_rows(GATE_NORMAL, gate, up, limit, out, n);
        break;
    default:
        gate_rows(GATE_CLAMPED, gate, up, limit, out, n);
    }
}

static void soft_cap(float *x, int n, float cap) {
    const floats one = repeat_float(1.0f), slope = repeat_float(2.0f / cap);
    for (int i = 0; i < n; i += LANES) {
        floats e = exponential(load_some(x + i, n - i) * slope);
        store_some(x + i, (one - repeat_float(2.0f) / (e + one)) * repeat_float(cap), n - i);
    }
}

// The largest value, or NaN if any is NaN. -0 may stand for 0, because differences from both have the same exponential.
static float most(const float *x, int n) {
    int whole = n / LANES * LANES;
    floats m = repeat_float(-__builtin_inff());
    numbers nan = {0};
    for (int i = 0; i < whole; i += LANES) {
        floats v = load_floats(x + i);
        nan |= v != v;
        m = greater_floats(m, v);
    }
    float lanes[LANES], result = -__builtin_inff();
    store_floats(lanes, m);
    for (int i = 0; i < LANES; i++) {
        if (nan[i]) {
            return __builtin_nanf("");
        }
        result = lanes[i] > result ? lanes[i] : result;
    }
    for (int i = whole; i < n; i++) {
        if (x[i] != x[i]) {
            return x[i];
        }
        result = x[i] > result ? x[i] : result;
    }
    return result;
}

static float exponentials(float *x, int n, float most) {
    floats sums[SUM_VECTORS];
    for (int v = 0; v < SUM_VECTORS; v++) sums[v] = repeat_float(0);
    for (int i = 0; i < n; i += SUM_LANES) {
        for (int v = 0; v < SUM_VECTORS; v++) {
            int at = i + v * LANES;
            floats e = exponential(load_some(x + at, n - at) - repeat_float(most));
            if (n - at < LANES) {
                float some[LANES];
                store_floats(some, e);
                for (int lane = n > at ? n - at : 0; lane < LANES; lane++) some[lane] = 0;
                e = load_floats(some);
            }
            store_floats(x + at, e);
            sums[v] = sums[v] + e;
        }
    }
    return sum_lanes(sums);
}

static void softmax(const struct softmax *s, int count) {
    for (int i = 0; i < count; i++) {
        int start = s->from[i] / SUM_LANES * SUM_LANES, tokens = s->to[i] - start;
        float *x = s->scores + i * s->stride + start;
        if (s->cap > 0) {
            soft_cap(x, tokens, s->cap);
        }
        for (int k = 0; k < s->from[i] - start; k++) x[k] = -__builtin_inff();
        float max = most(x, tokens);
        if (!s->sinks) {
            s->factors[i] = 1 / exponentials(x, tokens, max);
            continue;
        }
        float sink = s->sinks[(s->first + i) % s->group];
        max = sink > max || sink != sink ? sink : max;
        float sum = exponentials(x, tokens, max);
        s->factors[i] = 1 / (sum + exponential(repeat_float(sink - max))[0]);
    }
}

// Adds the products of n rows and two vectors of the panel, which stay in registers.
INLINE void tile_rows(int n, int rows, const float *a, const float *w, int depth, float *c, int stride) {
    floats sums[8][2];
    _Pragma("GCC unroll 8") for (int r = 0; r < n; r++) {
        sums[r][0] = load_floats(c + r * stride);
        sums[r][1] = load_floats(c + r * stride + LANES);
    }
    for (int k = 0; k < depth; k++) {
        floats w0 = load_floats(w + (long)k * PANEL), w1 = load_floats(w + (long)k * PANEL + LANES);
        _Pragma("GCC unroll 8") for (int r = 0; r < n; r++) {
            floats x = repeat_float(a[(long)k * rows + r]);
            sums[r][0] = multiply_add(w0, x, sums[r][0]);
            sums[r][1] = multiply_add(w1, x, sums[r][1]);
        }
    }
    _Pragma("GCC unroll 8") for (int r = 0; r < n; r++) {
        store_floats(c + r * stride, sums[r][0]);
        store_floats(c + r * stride + LANES, sums[r][1]);
    }
}

static void tile(int rows, const float *a, const float *w, int depth, float *c, int stride) {
    int n = rows == 8 && ACCUMULATORS < 16 ? 4 : rows;
    for (int lane = 0; lane < PANEL; lane += 2 * LANES) {
        for (int r = 0; r < rows; r += n) {
            float *to = c + (long)r * stride + lane;
            switch (n) {
#define ROWS(n) \
    case n: \
        tile_rows(n, rows, a + r, w + lane, depth, to, stride); \
        break;
                ROWS(1)
                ROWS(2)
                ROWS(4)
                ROWS(6)
                ROWS(8)
            }
        }
    }
}

INLINE void store_numbers(float *out, numbers v) {
    store_floats(out, to_floats((ints)v));
}

// Unpacks the four columns of a word of CODE_BYTE, or the eight of a nibble's.
INLINE void unpack_word(enum code_kind kind, const int32_t *codes, int word, int lane, float *out) {
    words v = (words)load_ints(codes + word * PANEL + lane);
    for (int j = 0; j < 4; j++) {
        if (kind == CODE_BYTE) {
            store_numbers(out + (word * 4 + j) * PANEL + lane, (numbers)(v << (24 - 8 * j)) >> 24);
            continue;
        }
        float *at = out + (word / 4 * BLOCK + word % 4 * 4 + j) * PANEL + lane;
        numbers low = (numbers)(v >> 8 * j & 15), high = (numbers)(v >> (8 * j + 4) & 15);
        store_numbers(at, kind == CODE_NIBBLE ? low : (low ^ 8) - 8);
        store_numbers(at + 16 * PANEL, kind == CODE_NIBBLE ? high : (high ^ 8) - 8);
    }
}

// Unpacks four columns of CODE_SIX.
INLINE void unpack_quad(const int32_t *codes, int quad, int lane, float *out) {
    static const int bit[] = {0, 2, 16, 18};
    const int32_t *block = codes + quad / 8 * 6 * PANEL + lane;
    words low = (words)load_ints(block + quad % 4 * PANEL) >> (quad / 4 % 2 * 4);
    words high = (words)load_ints(block + (4 + quad / 4 % 2) * PANEL) >> (quad % 4 * 4);
    for (int j = 0; j < 4; j++) {
        numbers top = (numbers)(high << (30 - bit[j])) >> 30;
        store_numbers(out + (quad * 4 + j) * PANEL + lane, top * 16 + (numbers)(low >> 8 * j & 15));
    }
}

static void unpack_codes(enum code_kind kind, const int32_t *codes, int blocks, float *out) {
    int count = blocks * (kind == CODE_BYTE || kind == CODE_SIX ? 8 : 4);
    for (int word = 0; word < count; word++) {
        for (int lane = 0; lane < PANEL; lane += LANES) {
            if (kind == CODE_SIX) {
                unpack_quad(codes, word, lane, out);
            } else if (kind == CODE_BYTE) {
                unpack_word(CODE_BYTE, codes, word, lane, out);
            } else if (kind == CODE_NIBBLE) {
                unpack_word(CODE_NIBBLE, codes, word, lane, out);
            } else {
                unpack_word(CODE_SIGNED_NIBBLE, codes, word, lane, out);
            }
        }
    }
}

static void scale_codes(float *w, const float *scales, int block, int minima, int depth) {
    for (int k = 0; k < depth; k++) {
        const float *at = scales + k / block * (minima ? 2 : 1) * PANEL;
        for (int lane = 0; lane < PANEL; lane += LANES) {
            float *to = w + k * PANEL + lane;
            floats v = load_floats(to), d = load_floats(at + lane);
            v = v * d;
            if (minima) {
                v = multiply_add(load_floats(to), d, load_floats(at + PANEL + lane));
            }
            store_floats(to, v);
        }
    }
}

// The bytes widen as if they were the top bits of binary16, whose exponents are greater by 8.
INLINE floats widen_e4m3(const char *p) {
    return widen_float8s(p) * repeat_float(256);
}

static void unpack_float8(const char *codes, const float *scales, int block, int blocks, float *out) {
    for (int k = 0; k < blocks * block; k++) {
        for (int lane = 0; lane < PANEL; lane += LANES) {
            floats d = load_floats(scales + k / block * PANEL + lane);
            store_floats(out + k * PANEL + lane, widen_e4m3(codes + k * PANEL + lane) * d);
        }
    }
}

static void widen_bfloat16(const uint16_t *in, int count, float *out) {
    for (int i = 0; i < count; i += LANES) store_floats(out + i, widen_bfloat16s(in + i));
}

static float read(const float *x, long n) {
    floats sums[4];
    for (int v = 0; v < 4; v++) sums[v] = repeat_float(0);
    for (long i = 0; i < n; i += 4 * LANES) {
        for (int v = 0; v < 4; v++) sums[v] = sums[v] + load_floats(x + i + v * LANES);
    }
    float lanes[LANES];
    store_floats(lanes, sums[0] + sums[1] + (sums[2] + sums[3]));
    return lanes[0];
}

// Twelve chains hide the latency and fit into the registers.
static long peak(long rounds) {
    enum { CHAINS = 12 };
    floats sums[CHAINS], x = repeat_float(1), y = repeat_float(0.5f);
    _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) sums[i] = repeat_float(i);
    for (long round = 0; round < rounds; round++) {
        _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) sums[i] = multiply_add(x, y, sums[i]);
    }
    _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) USE(sums[i]);
    return rounds * CHAINS * LANES;
}

const struct row_kernels NAMED(rows) = {
    sum_of_squares, scale, add, gate, soft_cap, softmax, tile, unpack_codes, scale_codes, unpack_float8,
    widen_bfloat16, read, peak,
};
