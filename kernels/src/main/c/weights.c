// The native methods of NativeWeights.java, whose callers check sizes: operations on weights at addresses. If an array
// cannot be pinned for lack of memory, an OutOfMemoryError is pending and nothing is computed.
#include "kernels.h"
#include "pinned.h"
#include "rows.h"

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

METHOD(void, multiply)(JNIEnv *env, jclass type, jint isa, jint code, jint scale, jint block, jboolean minima,
                       jint columns, jlong codes, jlong scales, jlong units, jfloatArray bias, jint bias_at, jint first,
                       jint end, jintArray pairs, jfloatArray row_scales, jfloatArray sums, jintArray numbers,
                       jint number, jint rows, jfloatArray out, jint at, jint stride) {
    (void)type;
    struct pinned read[5], written;
    struct weights w = {
        .codes = address(codes),
        .scales = address(scales),
        .units = address(units),
        .bias = pin(env, &read[0], bias),
        .columns = columns,
        .block = block,
        .code = (enum code_kind)code,
        .scale = (enum scale_kind)scale,
        .minima = minima,
    };
    struct activations x = {
        .pairs = pin(env, &read[1], pairs),
        .scales = pin(env, &read[2], row_scales),
        .sums = pin(env, &read[3], sums),
        .rows = rows,
    };
    const int32_t *number_list = pin(env, &read[4], numbers);
    float *result = pin(env, &written, out);
    if ((w.bias || !bias) && number_list && x.pairs && x.scales && x.sums && result) {
        x.numbers = number_list + number;
        w.bias = w.bias ? w.bias + bias_at : NULL;
        multiply[isa](&w, &x, first, end, result + at, stride);
    }
    release(env, &written, 1, 0);
    release(env, read, 5, JNI_ABORT);
}

METHOD(void, multiplyHalves)(JNIEnv *env, jclass type, jint isa, jlong values, jboolean bfloat16, jint columns,
                             jfloatArray in, jint stride, jint rows, jfloatArray out, jint at, jint out_stride) {
    (void)type;
    struct pinned read, written;
    const float *x = pin(env, &read, in);
    float *y = pin(env, &written, out);
    if (x && y) {
        struct halves panel = {address(values), bfloat16, columns};
        halves[isa](&panel, x, stride, rows, y + at, out_stride);
    }
    release(env, &written, 1, 0);
    release(env, &read, 1, JNI_ABORT);
}

METHOD(void, multiplyFloats)(JNIEnv *env, jclass type, jint isa, jlong values, jint columns, jfloatArray in,
                             jfloatArray out, jint at) {
    (void)type;
    struct pinned read, written;
    const float *x = pin(env, &read, in);
    float *y = pin(env, &written, out);
    if (x && y) {
        kernels[isa]->tile(1, x, address(values), columns, y + at, PANEL);
    }
    release(env, &written, 1, 0);
    release(env, &read, 1, JNI_ABORT);
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
                     jlong codes, jlong scales, jlong units, jint columns, jint lane, jfloatArray out, jint at) {
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
    struct pinned written;
    float *y = pin(env, &written, out);
    if (y && lane < 0) {
        unpack(isa, (enum kind)kind, &w, y + at);
    } else if (y) {
        float panel[DEPTH * PANEL];
        unpack(isa, (enum kind)kind, &w, panel);
        for (int k = 0; k < columns; k++) y[at + k] = panel[k * PANEL + lane];
    }
    release(env, &written, 1, 0);
}

// Copies an array to an address.
METHOD(void, put)(JNIEnv *env, jclass type, jlong to, jarray from, jlong bytes) {
    (void)type;
    struct pinned read;
    const void *x = pin(env, &read, from);
    if (x) {
        memcpy((void *)(intptr_t)to, x, (size_t)bytes);
    }
    release(env, &read, 1, JNI_ABORT);
}
