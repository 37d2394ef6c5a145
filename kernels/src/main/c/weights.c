// The native methods of NativeWeights.java, whose callers check sizes: operations on weights and rows at addresses.
#include "kernels.h"
#include "rows.h"

#include <jni.h>
#include <stddef.h>
#include <string.h>

static multiply_function *const multiply[] = {EACH(multiply)};
static halves_function *const halves[] = {EACH(halves)};
static widen_function *const widen[] = {EACH(widen)};
static const struct row_kernels *const kernels[] = {EACH_FLOAT(&rows)};

#define METHOD(type, name) JNIEXPORT type JNICALL Java_io_radixflow_kernels_cpu_kernel_NativeWeights_##name

// The columns of a unit, and the largest number of columns that are unpacked at once.
enum { DEPTH = 256 };

// The order is the same as in NativeWeights.java.
enum kind { CODES, FLOAT8, HALVES, BFLOATS, FLOATS };

static const void *address(jlong at) {
    return (const void *)(intptr_t)at;
}

static float *floats_at(jlong at) {
    return (float *)(intptr_t)at;
}

METHOD(void, multiply)(JNIEnv *env, jclass type, jint isa, jint code, jint scale, jint block, jboolean minima,
                       jint columns, jlong codes, jlong scales, jlong units, jlong bias, jint first, jint end,
                       jlong pairs, jlong row_scales, jlong sums, jintArray numbers, jint number, jint rows, jlong out,
                       jint stride) {
    (void)type;
    struct weights w = {
        .codes = address(codes),
        .scales = address(scales),
        .units = address(units),
        .bias = bias ? floats_at(bias) - (ptrdiff_t)first * PANEL : NULL,
        .columns = columns,
        .block = block,
        .code = (enum code_kind)code,
        .scale = (enum scale_kind)scale,
        .minima = minima,
    };
    jint list[rows];
    (*env)->GetIntArrayRegion(env, numbers, number, rows, list);
    struct activations x = {
        .pairs = address(pairs),
        .scales = address(row_scales),
        .sums = address(sums),
        .numbers = list,
        .rows = rows,
    };
    multiply[isa](&w, &x, first, end, floats_at(out), stride);
}

METHOD(void, multiplyHalves)(JNIEnv *env, jclass type, jint isa, jlong values, jboolean bfloat16, jint columns, jlong in,
                             jint stride, jint rows, jlong out, jint out_stride) {
    (void)env;
    (void)type;
    struct halves panel = {address(values), bfloat16, columns};
    halves[isa](&panel, address(in), stride, rows, floats_at(out), out_stride);
}

METHOD(void, multiplyFloats)(JNIEnv *env, jclass type, jint isa, jlong values, jint columns, jlong in, jlong out) {
    (void)env;
    (void)type;
    kernels[isa]->tile(1, address(in), address(values), columns, floats_at(out), PANEL);
}

// Returns the scales and minima of at most DEPTH columns as floats, in `out` if they are not floats already.
static const float *widen_scales(int isa, const struct weights *w, float *out) {
    int width = (w->minima ? 2 : 1) * PANEL, count = w->columns / w->block * width;
    if (w->scale == SCALE_FLOAT) {
        return w->scales;
    }
    if (w->scale == SCALE_HALF) {
        widen[isa](w->scales, count, out);
        return out;
    }
    float units[2 * PANEL];
    widen[isa](w->units, width, units);
    const int8_t *factors = w->scales;
    for (int at = 0; at < count; at += width) {
        for (int i = 0; i < width; i++) out[at + i] = units[i] * factors[at + i];
    }
    return out;
}

static void unpack(int isa, enum kind kind, const struct weights *w, float *out) {
    const struct row_kernels *rows = kernels[isa];
    float scales[DEPTH / 16 * 2 * PANEL];
    switch (kind) {
    case CODES:
        rows->unpack_codes(w->code, w->codes, w->columns / BLOCK, out);
        rows->scale_codes(out, widen_scales(isa, w, scales), w->block, w->minima, w->columns);
        break;
    case FLOAT8:
        rows->unpack_float8((const char *)w->codes, w->scales, w->block, w->columns / w->block, out);
        break;
    case HALVES:
        widen[isa]((const uint16_t *)w->codes, w->columns * PANEL, out);
        break;
    case BFLOATS:
        rows->widen_bfloat16((const uint16_t *)w->codes, w->columns * PANEL, out);
        break;
    case FLOATS:
        memcpy(out, w->codes, sizeof(float) * w->columns * PANEL);
    }
}

// Unpacks at most DEPTH columns: of all lanes, or of one if `lane` is not negative.
METHOD(void, unpack)(JNIEnv *env, jclass type, jint isa, jint kind, jint code, jint scale, jint block, jboolean minima,
                     jlong codes, jlong scales, jlong units, jint columns, jint lane, jlong out) {
    (void)env;
    (void)type;
    struct weights w = {
        .codes = address(codes),
        .scales = address(scales),
        .units = address(units),
        .columns = columns,
        .block = block,
        .code = (enum code_kind)code,
        .scale = (enum scale_kind)scale,
        .minima = minima,
    };
    if (lane < 0) {
        unpack(isa, (enum kind)kind, &w, floats_at(out));
        return;
    }
    float panel[DEPTH * PANEL];
    unpack(isa, (enum kind)kind, &w, panel);
    for (int k = 0; k < columns; k++) floats_at(out)[k] = panel[k * PANEL + lane];
}
