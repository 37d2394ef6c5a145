// The native methods of NativeKernels.java, whose callers check sizes.
#include "kernels.h"

#include <jni.h>
#include <stddef.h>

enum isa { AVX2, AVX_VNNI, AVX512_VNNI };

static multiply_function *const multiply[] = {multiply_avx2, multiply_avxvnni, multiply_avx512vnni};
static pack_function *const pack[] = {pack_avx2, pack_avxvnni, pack_avx512vnni};
static widen_function *const widen[] = {widen_avx2, widen_avxvnni, widen_avx512vnni};
static transpose_function *const transpose[] = {transpose_avx2, transpose_avxvnni, transpose_avx512vnni};
static peak_function *const peak[] = {peak_avx2, peak_avxvnni, peak_avx512vnni};

// The instruction sets that processor and system have, one bit each. None implies another: there are processors with
// AVX-512 VNNI and without AVX-VNNI.
JNIEXPORT jint JNICALL Java_io_radixflow_kernels_cpu_kernel_NativeKernels_supportedIsas(JNIEnv *env, jclass type) {
    (void)env;
    (void)type;
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c")) {
        return 0;
    }
    jint isas = 1 << AVX2;
    if (__builtin_cpu_supports("avxvnni")) {
        isas |= 1 << AVX_VNNI;
    }
    if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl")) {
        isas |= 1 << AVX512_VNNI;
    }
    return isas;
}

// Arrays that stay where they are until release().
struct pinned {
    jarray array;
    void *at;
};

static void *pin(JNIEnv *env, struct pinned *p, jarray array) {
    p->array = array;
    p->at = array == NULL ? NULL : (*env)->GetPrimitiveArrayCritical(env, array, NULL);
    return p->at;
}

static void release(JNIEnv *env, struct pinned *pinned, int count, jint mode) {
    while (count-- > 0) {
        if (pinned[count].at != NULL) {
            (*env)->ReleasePrimitiveArrayCritical(env, pinned[count].array, pinned[count].at, mode);
        }
    }
}

// An array that is not pinned, for want of memory, leaves an OutOfMemoryError, and nothing is computed.
JNIEXPORT void JNICALL Java_io_radixflow_kernels_cpu_kernel_NativeKernels_multiply(
    JNIEnv *env, jclass type, jint isa, jint code, jint scale, jint block, jboolean minima, jint columns,
    jintArray codes, jobject scales, jshortArray units, jfloatArray bias, jint bias_at, jint first, jint end, jintArray pairs,
    jfloatArray row_scales, jfloatArray sums, jintArray numbers, jint number, jint rows, jfloatArray out, jint at,
    jint stride) {
    (void)type;
    struct pinned read[8], written;
    struct weights w = {
        .codes = pin(env, &read[0], codes),
        .scales = pin(env, &read[1], scales),
        .units = pin(env, &read[2], units),
        .bias = pin(env, &read[3], bias),
        .columns = columns,
        .block = block,
        .code = (enum code_kind)code,
        .scale = (enum scale_kind)scale,
        .minima = minima,
    };
    const int32_t *number_list = pin(env, &read[7], numbers);
    struct activations x = {
        .pairs = pin(env, &read[4], pairs),
        .scales = pin(env, &read[5], row_scales),
        .sums = pin(env, &read[6], sums),
        .rows = rows,
    };
    float *result = pin(env, &written, out);
    if (w.codes && w.scales && (w.units || !units) && (w.bias || !bias) && number_list && x.pairs && x.scales &&
        x.sums && result) {
        x.numbers = number_list + number;
        w.bias = w.bias ? w.bias + bias_at : NULL;
        multiply[isa](&w, &x, first, end, result + at, stride);
    }
    release(env, &written, 1, 0);
    release(env, read, 8, JNI_ABORT);
}

JNIEXPORT void JNICALL Java_io_radixflow_kernels_cpu_kernel_NativeKernels_pack(
    JNIEnv *env, jclass type, jint isa, jfloatArray in, jint from, jint columns, jint row, jintArray pairs,
    jfloatArray scales, jfloatArray sums) {
    (void)type;
    struct pinned read, written[3];
    const float *x = pin(env, &read, in);
    int32_t *p = pin(env, &written[0], pairs);
    float *s = pin(env, &written[1], scales), *t = pin(env, &written[2], sums);
    if (x && p && s && t) {
        ptrdiff_t first = (ptrdiff_t)row * columns;
        pack[isa](x + from, columns, p + first / 2, s + first / BLOCK, t + first / 16);
    }
    release(env, written, 3, 0);
    release(env, &read, 1, JNI_ABORT);
}

JNIEXPORT void JNICALL Java_io_radixflow_kernels_cpu_kernel_NativeKernels_widenHalf(
    JNIEnv *env, jclass type, jint isa, jshortArray in, jint from, jint count, jfloatArray out, jint at) {
    (void)type;
    struct pinned read, written;
    const uint16_t *x = pin(env, &read, in);
    float *y = pin(env, &written, out);
    if (x && y) {
        widen[isa](x + from, count, y + at);
    }
    release(env, &written, 1, 0);
    release(env, &read, 1, JNI_ABORT);
}

JNIEXPORT void JNICALL Java_io_radixflow_kernels_cpu_kernel_NativeKernels_transpose(
    JNIEnv *env, jclass type, jint isa, jfloatArray in, jint from, jint elements, jfloatArray out) {
    (void)type;
    struct pinned read, written;
    const float *x = pin(env, &read, in);
    float *y = pin(env, &written, out);
    if (x && y) {
        transpose[isa](x + from, elements, y);
    }
    release(env, &written, 1, 0);
    release(env, &read, 1, JNI_ABORT);
}

JNIEXPORT jlong JNICALL Java_io_radixflow_kernels_cpu_kernel_NativeKernels_peak(
    JNIEnv *env, jclass type, jint isa, jlong rounds) {
    (void)env;
    (void)type;
    return peak[isa](rounds);
}
