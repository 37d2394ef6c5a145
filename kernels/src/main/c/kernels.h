// Products of activation rows with panels of block-quantised weights, exact in integers for each block. The arithmetic
// and the layouts are the same as in IntegerProducts.java. Every variant gives the same bits.
#ifndef RADIXFLOW_PRODUCTS_H
#define RADIXFLOW_PRODUCTS_H

#include "isas.h"

#include <stdint.h>

enum { PANEL = 32, BLOCK = 32, TILE_ROWS = 8 };

enum scale_kind { SCALE_FLOAT, SCALE_HALF, SCALE_FACTOR };

enum code_kind { CODE_NIBBLE, CODE_SIGNED_NIBBLE, CODE_BYTE, CODE_SIX };

struct weights {
    const int32_t *codes;   // [panel][block][4, 6 or 8 words][PANEL]
    const void *scales;     // [panel][block of `block` columns][1, or 2 with minima][PANEL]; type: see `scale`
    const uint16_t *units;  // binary16 [panel][256 columns][1 or 2][PANEL], with SCALE_FACTOR
    const float *bias;      // the initial values of the outputs, or null for 0
    int columns;
    int block;              // columns per scale: 16 or 32
    enum code_kind code;
    enum scale_kind scale;
    int minima;             // whether minima follow the scales
};

// Rows of activations as 16-bit integers. They are row-major, so that products can select rows.
struct activations {
    const int32_t *pairs;    // [row][columns / 2]; of each 4 columns, 0 and 2 are a pair, and 1 and 3
    const float *scales;     // [row][32 columns]
    const float *sums;       // [row][16 columns]
    const int32_t *numbers;  // the rows to use
    int rows;
};

// Writes the output of row i and lane l of panel p, first <= p < end, to out[i * stride + (p - first) * PANEL + l].
typedef void multiply_function(const struct weights *, const struct activations *, int first, int end, float *out,
                               int stride);

// Rounds one row to integers.
typedef void pack_function(const float *in, int columns, int32_t *pairs, float *scales, float *sums);

// Widens binary16 to float. The count is a multiple of 16.
typedef void widen_function(const uint16_t *in, int count, float *out);

// A panel of 16-bit floats, binary16 or bfloat16: [columns][PANEL].
struct halves {
    const uint16_t *values;
    int bfloat16;
    int columns;
};

// Adds the product of the panel and 1 to 8 rows to the outputs, column by column: out[row * stride + l] = fma(weight
// (k, l), x[row * x_stride + k], out[row * stride + l]).
typedef void halves_function(const struct halves *, const float *x, int x_stride, int rows, float *out, int stride);

// Multiplies and adds in registers only. Returns the number of multiply-adds.
typedef long peak_function(long rounds);

multiply_function EACH(multiply);
pack_function EACH(pack);
widen_function EACH(widen);
halves_function EACH(halves);
peak_function EACH(peak);

#endif
