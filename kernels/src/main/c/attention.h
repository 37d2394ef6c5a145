// Attention of some queries over the KV pages of one head. The arithmetic is that of JavaPageAttention.java, bit for bit; pages
// are widened in registers.
#ifndef RADIXFLOW_ATTENTION_H
#define RADIXFLOW_ATTENTION_H

#include <stdint.h>

enum { PAGE_TOKENS = 16 };

// In the order of KvSlabs.java.
enum kv_type { KV_FLOAT, KV_HALF, KV_FLOAT8 };

// The keys or the values of one head. Keys are [element][token], values [token][element]. 8-bit floats are padded to vectors of
// whole 16 elements and followed by the exponents of their scales, one byte per token.
struct kv_pages {
    enum kv_type type;
    int width;               // elements of a key or value
    int count;               // pages
    const char *const *at;   // where each begins
};

// Scores, which softmax makes weights: element (query, token) at scores[query * stride + token].
struct scores {
    float *at;
    long stride;
    int queries;
};

// Which tokens of the pages each query sees, and where its sums are. Token `token` of the sequence is the first in the pages.
struct sums {
    float *const *at;
    const int32_t *from;
    const int32_t *to;  // after the last
    int token;
};

// Scores of all tokens of the pages: scale * chain over d of key[d] * query[d].
typedef void score_function(const struct kv_pages *keys, const float *const *queries, float scale,
                            const struct scores *out);

// Adds weighted values, in the order of tokens, to the sums of elements d, first <= d < end.
typedef void value_function(const struct kv_pages *values, const struct scores *weights, const struct sums *to, int first,
                            int end);

// The same for values that are the first elements of latent keys. `from` is 0, and the sums are stored together: query q's sum
// of element d is at sums[(q / SUM_LANES * elements + d) * SUM_LANES + q % SUM_LANES].
typedef void latent_function(const struct kv_pages *keys, const struct scores *weights, const int32_t *to, int token,
                             float *sums, int elements, int first, int end);

enum { SUM_LANES = 16 };

score_function scores_avx2, scores_avx512vnni;
value_function values_avx2, values_avx512vnni;
latent_function latent_values_avx2, latent_values_avx512vnni;

#endif
