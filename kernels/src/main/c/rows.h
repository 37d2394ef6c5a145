// Norms, activation functions, softmax and products of floats. The arithmetic is the same as in ScalarKernels.java, bit
// for bit, and so are the layouts.
#ifndef RADIXFLOW_ROWS_H
#define RADIXFLOW_ROWS_H

#include "kernels.h"

// The order is the same as in CompiledKernels.java.
enum gate_kind { GATE_SWIGLU, GATE_GEGLU, GATE_NORMAL, GATE_CLAMPED };

// The arguments of Kernels.softmax for consecutive queries; the sinks begin with the sink of query 0.
struct softmax {
    float *scores;
    long stride;
    const int32_t *from, *to;
    float cap;
    const float *sinks;
    int first, group;  // the number of the first query, and of how many queries sinks differ
    float *factors;
};

// The kernels of one instruction set; Kernels.java describes them. Outputs may be in the place of inputs.
struct row_kernels {
    float (*sum_of_squares)(const float *x, int n);
    void (*scale)(const float *x, float factor, const float *gain, float *out, int n);
    void (*add)(const float *x, float *y, int n);
    void (*gate)(enum gate_kind kind, const float *gate, const float *up, float limit, float *out, int n);
    void (*soft_cap)(float *x, int n, float cap);
    void (*softmax)(const struct softmax *s, int count);
    void (*tile)(int rows, const float *a, const float *w, int depth, float *c, int stride);
    void (*unpack_codes)(enum code_kind kind, const int32_t *codes, int blocks, float *out);
    void (*scale_codes)(float *w, const float *scales, int block, int minima, int depth);
    void (*unpack_float8)(const char *codes, const float *scales, int block, int blocks, float *out);
    void (*widen_bfloat16)(const uint16_t *in, int count, float *out);
    // Loops that measure the machine: one reads n floats, a multiple of 64, and the other multiplies and adds floats in
    // registers and returns the number of multiply-adds.
    float (*read)(const float *x, long n);
    long (*peak)(long rounds);
};

extern const struct row_kernels FLOAT_ISAS(rows);

#endif
