// Compiled once per width of vectors.
#include "attention.h"
#include "vectors.h"

enum {
    VECTORS = PAGE_TOKENS / LANES,       // vectors per page of tokens
    MOST_QUERIES = LANES == 16 ? 8 : 4,  // queries whose sums fit into the registers
    MOST_VECTORS = 8,                    // vectors that a query multiplies at once
    BLOCK_PAGES = 8,                     // pages that all queries process before the next pages
    AHEAD_PAGES = 4,                     // distance from the current page to the prefetched one
};

// Loads LANES elements from element i on. An 8-bit float is read as a binary16 whose exponent is too small by 8.
INLINE floats widen(enum kv_type type, const char *at, long i) {
    if (type == KV_FLOAT) {
        return load_floats((const float *)at + i);
    }
    if (type == KV_HALF) {
        return widen_halves((const uint16_t *)at + i);
    }
    return multiply_floats(widen_float8s(at + i), repeat_float(256));
}

INLINE float widen_one(enum kv_type type, const char *at, long i) {
    if (type == KV_FLOAT) {
        return ((const float *)at)[i];
    }
    if (type == KV_HALF) {
        return widen_half(((const uint16_t *)at)[i]);
    }
    unsigned code = (unsigned char)at[i];
    return widen_half((uint16_t)((code & 0x80) << 8 | (code & 0x7f) << 7)) * 256;
}

INLINE int bytes_of(enum kv_type type) {
    return type == KV_FLOAT ? 4 : type == KV_HALF ? 2 : 1;
}

// Returns the exponents of the scales of 8-bit floats.
INLINE const char *scales_of(const struct kv_pages *p, int page) {
    return p->at[page] + (p->width + 15L) / 16 * 16 * PAGE_TOKENS;
}

INLINE float scale_of(unsigned char exponent) {
    uint32_t bits = (uint32_t)exponent << 23;
    float scale;
    __builtin_memcpy(&scale, &bits, 4);
    return scale;
}

INLINE void score_tile(enum kv_type type, const struct kv_pages *keys, int page, int pages, const float *const *queries, int n,
                       float scale, float *out, long stride) {
    enum { MOST = 8 };
    int vectors = pages * VECTORS;
    floats sums[MOST_QUERIES][MOST], unit[MOST];
    const char *at[MOST], *ahead[MOST];
    _Pragma("GCC unroll 8") for (int p = 0; p < pages; p++) {
        at[p] = keys->at[page + p];
        ahead[p] = page + p + pages < keys->count ? keys->at[page + p + pages] : at[p];
    }
    _Pragma("GCC unroll 8") for (int i = 0; i < vectors; i++) {
        if (type == KV_FLOAT8) {
            unit[i] = widen_exponents(scales_of(keys, page + i / VECTORS) + i % VECTORS * LANES);
        }
        _Pragma("GCC unroll 8") for (int q = 0; q < n; q++) sums[q][i] = repeat_float(0);
    }
    for (int d = 0; d < keys->width; d++) {
        long row = (long)d * PAGE_TOKENS;
        floats key[MOST];
        _Pragma("GCC unroll 8") for (int i = 0; i < vectors; i++) {
            key[i] = widen(type, at[i / VECTORS], row + i % VECTORS * LANES);
            if (type == KV_FLOAT8) {
                key[i] = multiply_floats(key[i], unit[i]);
            }
        }
        if (d * bytes_of(type) % 4 == 0) {
            _Pragma("GCC unroll 8") for (int p = 0; p < pages; p++) fetch(ahead[p] + row * bytes_of(type), 1);
        }
        _Pragma("GCC unroll 8") for (int q = 0; q < n; q++) {
            floats x = repeat_float(queries[q][d]);
            _Pragma("GCC unroll 8") for (int i = 0; i < vectors; i++) sums[q][i] = multiply_add(key[i], x, sums[q][i]);
        }
    }
    _Pragma("GCC unroll 8") for (int q = 0; q < n; q++) {
        _Pragma("GCC unroll 8") for (int i = 0; i < vectors; i++) {
            store_floats(out + q * stride + i * LANES, multiply_floats(sums[q][i], repeat_float(scale)));
        }
    }
}

// Number of pages whose scores for n queries fit into the registers.
INLINE int tile_pages(int n) {
    return LANES == 16 ? (n <= 4 ? 4 : 2) : LANES == 8 ? (n == 1 ? 4 : n == 2 ? 2 : 1) : n <= 2 ? 2 : 1;
}

#define SCORE_TILE(n)                                                                                                 \
    static void score_tiles_##n(enum kv_type type, const struct kv_pages *keys, int page, int pages,                  \
                                const float *const *queries, float scale, float *out, long stride) {                  \
        const int tile = tile_pages(n);                                                                               \
        if (pages == tile) {                                                                                          \
            if (type == KV_HALF) {                                                                                    \
                score_tile(KV_HALF, keys, page, tile, queries, n, scale, out, stride);                                \
            } else if (type == KV_FLOAT) {                                                                            \
                score_tile(KV_FLOAT, keys, page, tile, queries, n, scale, out, stride);                               \
            } else {                                                                                                  \
                score_tile(KV_FLOAT8, keys, page, tile, queries, n, scale, out, stride);                              \
            }                                                                                                         \
            return;                                                                                                   \
        }                                                                                                             \
        for (int p = 0; p < pages; p++) {                                                                             \
            score_tile(type, keys, page + p, 1, queries, n, scale, out + p * PAGE_TOKENS, stride);                    \
        }                                                                                                             \
    }

typedef void score_tiles(enum kv_type type, const struct kv_pages *keys, int page, int pages, const float *const *queries,
                         float scale, float *out, long stride);

SCORE_TILE(1)
SCORE_TILE(2)
SCORE_TILE(3)
SCORE_TILE(4)
#ifdef __AVX512F__
SCORE_TILE(5)
SCORE_TILE(6)
SCORE_TILE(7)
SCORE_TILE(8)
#endif

static score_tiles *const score_tiles_of[] = {
    score_tiles_1, score_tiles_2, score_tiles_3, score_tiles_4,
#ifdef __AVX512F__
    score_tiles_5, score_tiles_6, score_tiles_7, score_tiles_8,
#endif
};

void NAMED(scores)(const struct kv_pages *keys, const float *const *queries, float scale, const struct scores *out) {
    int tile = tile_pages(out->queries < MOST_QUERIES ? out->queries : MOST_QUERIES);
    for (int page = 0; page < keys->count; page += tile) {
        int pages = keys->count - page < tile ? keys->count - page : tile;
        for (int q = 0; q < out->queries; q += MOST_QUERIES) {
            int n = out->queries - q < MOST_QUERIES ? out->queries - q : MOST_QUERIES;
            float *at = out->at + q * out->stride + (long)page * PAGE_TOKENS;
            score_tiles_of[n - 1](keys->type, keys, page, pages, queries + q, scale, at, out->stride);
        }
    }
}

// Adds the values of tokens that all n queries see, for `vectors` vectors of elements from d on.
INLINE void value_tile(enum kv_type type, const struct kv_pages *values, const float *weights, long stride, float *const *out,
                       int n, int d, int vectors, int from, int to) {
    floats sums[MOST_QUERIES][MOST_VECTORS];
    _Pragma("GCC unroll 8") for (int q = 0; q < n; q++) {
        _Pragma("GCC unroll 8") for (int i = 0; i < vectors; i++) sums[q][i] = load_floats(out[q] + d + i * LANES);
    }
    for (int token = from; token < to;) {
        int page = token / PAGE_TOKENS, first = page * PAGE_TOKENS;
        int end = to - first < PAGE_TOKENS ? to - first : PAGE_TOKENS;
        const char *at = values->at[page];
        const char *ahead = page + AHEAD_PAGES < values->count ? values->at[page + AHEAD_PAGES] : at;
        const char *scales = scales_of(values, page);
        for (int t = token - first; t < end; t++) {
            long row = (long)t * values->width + d;
            floats value[MOST_VECTORS];
            _Pragma("GCC unroll 8") for (int i = 0; i < vectors; i++) {
                value[i] = widen(type, at, row + i * LANES);
                if (type == KV_FLOAT8) {
                    value[i] = multiply_floats(value[i], repeat_float(scale_of((unsigned char)scales[t])));
                }
            }
            fetch(ahead + row * bytes_of(type), vectors * LANES * bytes_of(type));
            _Pragma("GCC unroll 8") for (int q = 0; q < n; q++) {
                floats x = repeat_float(weights[q * stride + first + t]);
                _Pragma("GCC unroll 8") for (int i = 0; i < vectors; i++) sums[q][i] = multiply_add(value[i], x, sums[q][i]);
            }
        }
        token = first + end;
    }
    _Pragma("GCC unroll 8") for (int q = 0; q < n; q++) {
        _Pragma("GCC unroll 8") for (int i = 0; i < vectors; i++) store_floats(out[q] + d + i * LANES, sums[q][i]);
    }
}

// Adds the elements after the last whole vector.
static void value_rest(const struct kv_pages *values, const float *weights, long stride, float *const *out, int n, int d,
                       int end, int from, int to) {
    for (int q = 0; q < n; q++) {
        for (int token = from; token < to; token++) {
            const char *at = values->at[token / PAGE_TOKENS];
            int t = token % PAGE_TOKENS;
            for (int i = d; i < end; i++) {
                float value = widen_one(values->type, at, (long)t * values->width + i);
                if (values->type == KV_FLOAT8) {
                    value *= scale_of((unsigned char)scales_of(values, token / PAGE_TOKENS)[t]);
                }
                out[q][i] = multiply_add_one(value, weights[q * stride + token], out[q][i]);
            }
        }
    }
}

// Number of vectors of elements whose sums for n queries fit into the registers.
INLINE int tile_vectors(int n) {
    return ACCUMULATORS == 16 ? (n <= 2 ? 8 : n <= 4 ? 4 : 2) : n == 1 ? 8 : n == 2 ? 4 : 2;
}

#define VALUE_TILE(n)                                                                                                 \
    static void value_tiles_##n(enum kv_type type, const struct kv_pages *values, const float *weights, long stride,  \
                                float *const *out, int first, int end, int from, int to) {                            \
        const int tile = tile_vectors(n);                                                                             \
        int d = first;                                                                                                \
        for (; d + tile * LANES <= end; d += tile * LANES) {                                                          \
            if (type == KV_HALF) {                                                                                    \
                value_tile(KV_HALF, values, weights, stride, out, n, d, tile, from, to);                              \
            } else if (type == KV_FLOAT) {                                                                            \
                value_tile(KV_FLOAT, values, weights, stride, out, n, d, tile, from, to);                             \
            } else {                                                                                                  \
                value_tile(KV_FLOAT8, values, weights, stride, out, n, d, tile, from, to);                            \
            }                                                                                                         \
        }                                                                                                             \
        for (; d + 2 * LANES <= end; d += 2 * LANES) {                                                                \
            value_tile(type, values, weights, stride, out, n, d, 2, from, to);                                        \
        }                                                                                                             \
        for (; d + LANES <= end; d += LANES) value_tile(type, values, weights, stride, out, n, d, 1, from, to);       \
        if (d < end) {                                                                                                \
            value_rest(values, weights, stride, out, n, d, end, from, to);                                            \
        }                                                                                                             \
    }

typedef void value_tiles(enum kv_type type, const struct kv_pages *values, const float *weights, long stride,
                         float *const *out, int first, int end, int from, int to);

VALUE_TILE(1)
VALUE_TILE(2)
VALUE_TILE(3)
VALUE_TILE(4)
#ifdef __AVX512F__
VALUE_TILE(5)
VALUE_TILE(6)
VALUE_TILE(7)
VALUE_TILE(8)
#endif

static value_tiles *const value_tiles_of[] = {
    value_tiles_1, value_tiles_2, value_tiles_3, value_tiles_4,
#ifdef __AVX512F__
    value_tiles_5, value_tiles_6, value_tiles_7, value_tiles_8,
#endif
};

INLINE int least(int a, int b) {
    return a < b ? a : b;
}

INLINE int most(int a, int b) {
    return a > b ? a : b;
}

// Adds the values of tokens from `from` to before `to` for one query.
static void own_values(const struct kv_pages *values, const float *weights, float *const *out, int first, int end, int from,
                       int to) {
    if (from < to) {
        value_tiles_of[0](values->type, values, weights, 0, out, first, end, from, to);
    }
}

// Adds the tokens of a block of pages for a few queries. Tokens that all queries see are added for all queries
// together. The tokens before and after them are added separately for each query that sees them.
static void value_block(const struct kv_pages *values, const float *weights, long stride, const struct sums *to, int q, int n,
                        int first, int end, int block, int block_end) {
    int shared = block, shared_end = block_end;
    for (int i = q; i < q + n; i++) {
        shared = most(shared, to->from[i] - to->token);
        shared_end = least(shared_end, to->to[i] - to->token);
    }
    if (shared >= shared_end) {
        shared = shared_end = block_end;
    }
    for (int i = 0; i < n; i++) {
        int own = most(block, to->from[q + i] - to->token), own_end = least(shared, to->to[q + i] - to->token);
        own_values(values, weights + i * stride, to->at + q + i, first, end, own, own_end);
    }
    if (shared < shared_end) {
        value_tiles_of[n - 1](values->type, values, weights, stride, to->at + q, first, end, shared, shared_end);
    }
    for (int i = 0; i < n; i++) {
        int own_end = least(block_end, to->to[q + i] - to->token);
        own_values(values, weights + i * stride, to->at + q + i, first, end, shared_end, own_end);
    }
}

void NAMED(values)(const struct kv_pages *values, const struct scores *weights, const struct sums *to, int first, int end) {
    for (int page = 0; page < values->count; page += BLOCK_PAGES) {
        int block_end = least(page + BLOCK_PAGES, values->count) * PAGE_TOKENS;
        for (int q = 0; q < weights->queries; q += MOST_QUERIES) {
            const float *w = weights->at + q * weights->stride;
            value_block(values, w, weights->stride, to, q, least(weights->queries - q, MOST_QUERIES), first, end,
                        page * PAGE_TOKENS, block_end);
        }
    }
}

enum {
    QUERY_VECTORS = 2,                         // vectors of queries whose latent values are added together
    ELEMENTS = ACCUMULATORS / 2,               // whose sums fit into the registers; twice as many for one vector
    BLOCK_TOKENS = BLOCK_PAGES * PAGE_TOKENS,
};

// Some tokens of a block: the weights of the queries, and the values of a few elements.
struct latent_block {
    float weights[BLOCK_TOKENS][QUERY_VECTORS * LANES] __attribute__((aligned(64)));
    float values[2 * ELEMENTS][BLOCK_TOKENS] __attribute__((aligned(64)));
    int32_t to[QUERY_VECTORS * LANES] __attribute__((aligned(64)));
    int all, some;  // number of tokens that all queries see, and that at least one sees
};

// Copies the weights of n queries from token `block` on; `tokens` is a multiple of the page.
static void take_weights(struct latent_block *b, const struct scores *weights, const int32_t *to, int token, int q, int n,
                         int block, int tokens) {
    b->all = tokens;
    b->some = 0;
    for (int i = 0; i < QUERY_VECTORS * LANES; i++) {
        b->to[i] = i < n ? to[q + i] - token - block : 0;
        b->all = i < n ? most(0, least(b->all, b->to[i])) : b->all;
        b->some = most(b->some, least(tokens, b->to[i]));
    }
    for (int first = 0; first < n; first += LANES) {
        for (int t = 0; t < tokens; t += LANES) {
            const float *at = weights->at + (q + first) * weights->stride + block + t;
            floats square[LANES];
            _Pragma("GCC unroll 16") for (int i = 0; i < LANES; i++) {
                square[i] = first + i < n ? load_floats(at + i * weights->stride) : repeat_float(0);
            }
            transpose(square);
            _Pragma("GCC unroll 16") for (int i = 0; i < LANES; i++) store_floats(b->weights[t + i] + first, square[i]);
        }
    }
}

INLINE void take_values(struct latent_block *b, enum kv_type type, const struct kv_pages *keys, int page, int pages, int d,
                        int elements) {
    for (int p = 0; p < pages; p++) {
        const char *at = keys->at[page + p];
        const char *ahead = page + p + BLOCK_PAGES < keys->count ? keys->at[page + p + BLOCK_PAGES] : at;
        fetch(ahead + (long)d * PAGE_TOKENS * bytes_of(type), elements * PAGE_TOKENS * bytes_of(type));
        for (int e = 0; e < elements; e++) {
            for (int i = 0; i < PAGE_TOKENS; i += LANES) {
                floats value = widen(type, at, (long)(d + e) * PAGE_TOKENS + i);
                if (type == KV_FLOAT8) {
                    value = multiply_floats(value, widen_exponents(scales_of(keys, page + p) + i));
                }
                store_floats(b->values[e] + p * PAGE_TOKENS + i, value);
            }
        }
    }
}

// Adds a block's values of a few elements to the sums of `vectors` vectors of queries from `first` on.
INLINE void latent_tile(const struct latent_block *b, int elements, int first, int vectors, float *const *at) {
    floats sums[2 * ELEMENTS][QUERY_VECTORS];
    _Pragma("GCC unroll 16") for (int e = 0; e < elements; e++) {
        _Pragma("GCC unroll 4") for (int i = 0; i < vectors; i++) sums[e][i] = load_floats(at[first + i] + e * SUM_LANES);
    }
    for (int t = 0; t < b->all; t++) {
        _Pragma("GCC unroll 16") for (int e = 0; e < elements; e++) {
            floats value = repeat_float(b->values[e][t]);
            _Pragma("GCC unroll 4") for (int i = 0; i < vectors; i++) {
                sums[e][i] = multiply_add(value, load_floats(b->weights[t] + (first + i) * LANES), sums[e][i]);
            }
        }
    }
    for (int t = b->all; t < b->some; t++) {
        _Pragma("GCC unroll 16") for (int e = 0; e < elements; e++) {
            floats value = repeat_float(b->values[e][t]);
            _Pragma("GCC unroll 4") for (int i = 0; i < vectors; i++) {
                floats sum = multiply_add(value, load_floats(b->weights[t] + (first + i) * LANES), sums[e][i]);
                sums[e][i] = choose_above(load_ints(b->to + (first + i) * LANES), repeat_int(t), sum, sums[e][i]);
            }
        }
    }
    _Pragma("GCC unroll 16") for (int e = 0; e < elements; e++) {
        _Pragma("GCC unroll 4") for (int i = 0; i < vectors; i++) store_floats(at[first + i] + e * SUM_LANES, sums[e][i]);
    }
}

void NAMED(latent_values)(const struct kv_pages *keys, const struct scores *weights, const int32_t *to, int token, float *sums,
                          int elements, int first, int end) {
    struct latent_block b;
    for (int q = 0; q < weights->queries; q += QUERY_VECTORS * LANES) {
        int n = least(weights->queries - q, QUERY_VECTORS * LANES);
        for (int page = 0; page < keys->count; page += BLOCK_PAGES) {
            int pages = least(keys->count - page, BLOCK_PAGES);
            take_weights(&b, weights, to, token, q, n, page * PAGE_TOKENS, pages * PAGE_TOKENS);
            for (int d = first, step; d < end; d += step) {
                step = n <= LANES && end - d >= 2 * ELEMENTS ? 2 * ELEMENTS : end - d >= ELEMENTS ? ELEMENTS : 1;
                float *at[QUERY_VECTORS];
                for (int i = 0; i < QUERY_VECTORS; i++) {
                    int vector = (q + i * LANES) / SUM_LANES;
                    at[i] = sums + ((long)vector * elements + d) * SUM_LANES + (q + i * LANES) % SUM_LANES;
                }
                if (keys->type == KV_HALF) {
                    take_values(&b, KV_HALF, keys, page, pages, d, step);
                } else {
                    take_values(&b, keys->type, keys, page, pages, d, step);
                }
                if (step == 1) {
                    for (int i = 0; i * LANES < n; i++) latent_tile(&b, 1, i, 1, at);
                } else if (step == 2 * ELEMENTS) {
                    latent_tile(&b, 2 * ELEMENTS, 0, 1, at);
                } else if (n <= LANES) {
                    latent_tile(&b, ELEMENTS, 0, 1, at);
                } else {
                    latent_tile(&b, ELEMENTS, 0, QUERY_VECTORS, at);
                }
            }
        }
    }
}
