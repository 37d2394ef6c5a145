// Attention of some queries over the KV pages of one head. The arithmetic is the same as in JavaPageAttention.java, bit
// for bit. Pages are widened in registers.
#ifndef RADIXFLOW_ATTENTION_H
#define RADIXFLOW_ATTENTION_H

#include "isas.h"

#include <stdint.h>

enum { PAGE_TOKENS = 16 };

// The order is the same as in KvSlabs.java.
enum kv_type { KV_FLOAT, KV_HALF, KV_FLOAT8 };

// The keys or the values of one head. Keys are [element][token], values are [token][element]. Vectors of 8-bit floats
// are padded to multiples of 16 elements; the exponents of their scales follow, one byte per token.
struct kv_pages {
    enum kv_type type;
    int width;               // elements of a key or value
    int count;               // number of pages
    const char *const *at;   // the start of each page
};

// Scores, which softmax turns into weights. Element (query, token) is at scores[query * stride + token].
struct scores {
    float *at;
    long stride;
    int queries;
};

// The tokens that each query sees, and where its sums are. The pages begin with token `token` of the sequence.
struct sums {
    float *const *at;
    const int32_t *from;
    const int32_t *to;  // the token after the last
    int token;
};

// Computes the scores of all tokens of the pages: scale * chain over d of key[d] * query[d].
typedef void score_function(const struct kv_pages *keys, const float *const *queries, float scale,
                            const struct scores *out);

// Adds weighted values, in the order of tokens, to the sums of elements first to before end.
typedef void value_function(const struct kv_pages *values, const struct scores *weights, const struct sums *to, int first,
                            int end);

// Like value_function, for values that are the first elements of latent keys. `from` is 0. The sums are stored
// together: the sum of element d of query q is at sums[(q / SUM_LANES * elements + d) * SUM_LANES + q % SUM_LANES].
typedef void latent_function(const struct kv_pages *keys, const struct scores *weights, const int32_t *to, int token,
                             float *sums, int elements, int first, int end);

enum { SUM_LANES = 16 };

score_function FLOAT_ISAS(scores);
value_function FLOAT_ISAS(values);
latent_function FLOAT_ISAS(latent_values);

#endif
