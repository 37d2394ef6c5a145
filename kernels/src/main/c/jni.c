// The native methods of NativeKernels.java and NativeAttention.java, whose callers check sizes.
#include "attention.h"
#include "kernels.h"

#include <jni.h>
#include <stddef.h>
#include <sys/resource.h>

enum isa { AVX2, AVX_VNNI, AVX512_VNNI };

static multiply_function *const multiply[] = {multiply_avx2, multiply_avxvnni, multiply_avx512vnni};
static pack_function *const pack[] = {pack_avx2, pack_avxvnni, pack_avx512vnni};
static widen_function *const widen[] = {widen_avx2, widen_avxvnni, widen_avx512vnni};
// AVX-VNNI has nothing for floats.
static score_function *const score[] = {scores_avx2, scores_avx2, scores_avx512vnni};
static value_function *const add_values[] = {values_avx2, values_avx2, values_avx512vnni};
static latent_function *const add_latent_values[] = {latent_values_avx2, latent_values_avx2, latent_values_avx512vnni};
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

// Sets the nice value of the calling thread, which is 0 to Linux. Returns 0, or -1 if that is not allowed.
JNIEXPORT jint JNICALL Java_io_radixflow_kernels_cpu_kernel_NativeKernels_setNice(JNIEnv *env, jclass type, jint nice) {
    (void)env;
    (void)type;
    return setpriority(PRIO_PROCESS, 0, nice);
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

JNIEXPORT jlong JNICALL Java_io_radixflow_kernels_cpu_kernel_NativeKernels_peak(
    JNIEnv *env, jclass type, jint isa, jlong rounds) {
    (void)env;
    (void)type;
    return peak[isa](rounds);
}

// Limits of one call: arrays that are pinned for pages, and pages; queries that are multiplied with all pages before the next.
enum { MOST_ARRAYS = 64, MOST_PAGES = 2048, FEW_QUERIES = 64 };

// Pages whose arrays are pinned until release_pages().
struct pinned_pages {
    struct kv_pages pages;
    struct pinned arrays[MOST_ARRAYS];
    int pinned;
    const char *at[MOST_PAGES];
};

// References to all arrays come first, as no other call is allowed while one is pinned. Returns whether all are pinned.
static int pin_pages(JNIEnv *env, struct pinned_pages *p, jobjectArray arrays, jint array_count, jintArray where, jint count,
                     jint type, jint width) {
    static const int bytes[] = {4, 2, 1};
    jarray each[MOST_ARRAYS];
    for (int i = 0; i < array_count; i++) each[i] = (*env)->GetObjectArrayElement(env, arrays, i);
    struct pinned list;
    const int32_t *pairs = pin(env, &list, where);
    int complete = pairs != NULL;
    for (p->pinned = 0; complete && p->pinned < array_count; p->pinned++) {
        complete = pin(env, &p->arrays[p->pinned], each[p->pinned]) != NULL;
    }
    for (int i = 0; complete && i < count; i++) {
        p->at[i] = (const char *)p->arrays[pairs[2 * i]].at + (long)pairs[2 * i + 1] * bytes[type];
    }
    release(env, &list, 1, JNI_ABORT);
    p->pages = (struct kv_pages){.type = (enum kv_type)type, .width = width, .count = count, .at = p->at};
    return complete;
}

static void release_pages(JNIEnv *env, struct pinned_pages *p) {
    release(env, p->arrays, p->pinned, JNI_ABORT);
    for (int i = 0; i < p->pinned; i++) (*env)->DeleteLocalRef(env, p->arrays[i].array);
}

JNIEXPORT void JNICALL Java_io_radixflow_kernels_cpu_kernel_NativeAttention_scores(
    JNIEnv *env, jclass class, jint isa, jobjectArray arrays, jint array_count, jintArray where, jint count, jint type,
    jint width, jfloatArray queries, jintArray query_at, jint query_count, jfloat scale, jfloatArray out, jint at,
    jint stride) {
    (void)class;
    struct pinned_pages keys;
    int complete = pin_pages(env, &keys, arrays, array_count, where, count, type, width);
    struct pinned read[2], written;
    const float *x = pin(env, &read[0], queries);
    const int32_t *x_at = pin(env, &read[1], query_at);
    float *y = pin(env, &written, out);
    for (int q = 0; complete && x && x_at && y && q < query_count; q += FEW_QUERIES) {
        const float *query[FEW_QUERIES];
        struct scores s = {.at = y + at + (long)q * stride, .stride = stride};
        for (; s.queries < FEW_QUERIES && q + s.queries < query_count; s.queries++) {
            query[s.queries] = x + x_at[q + s.queries];
        }
        score[isa](&keys.pages, query, scale, &s);
    }
    release(env, &written, 1, 0);
    release(env, read, 2, JNI_ABORT);
    release_pages(env, &keys);
}

JNIEXPORT void JNICALL Java_io_radixflow_kernels_cpu_kernel_NativeAttention_addValues(
    JNIEnv *env, jclass class, jint isa, jobjectArray arrays, jint array_count, jintArray where, jint count, jint type,
    jint width, jfloatArray weights, jint at, jint stride, jint query_count, jintArray from, jintArray to, jint token,
    jfloatArray out, jintArray out_at, jint first, jint end) {
    (void)class;
    struct pinned_pages values;
    int complete = pin_pages(env, &values, arrays, array_count, where, count, type, width);
    struct pinned read[4], written;
    float *w = pin(env, &read[0], weights);
    const int32_t *seen_from = pin(env, &read[1], from), *seen_to = pin(env, &read[2], to);
    const int32_t *y_at = pin(env, &read[3], out_at);
    float *y = pin(env, &written, out);
    complete = complete && w && seen_from && seen_to && y_at && y;
    for (int q = 0; complete && q < query_count; q += FEW_QUERIES) {
        float *sum[FEW_QUERIES];
        struct scores s = {.at = w + at + (long)q * stride, .stride = stride};
        for (; s.queries < FEW_QUERIES && q + s.queries < query_count; s.queries++) sum[s.queries] = y + y_at[q + s.queries];
        struct sums sums = {.at = sum, .from = seen_from + q, .to = seen_to + q, .token = token};
        add_values[isa](&values.pages, &s, &sums, first, end);
    }
    release(env, &written, 1, 0);
    release(env, read, 4, JNI_ABORT);
    release_pages(env, &values);
}

JNIEXPORT void JNICALL Java_io_radixflow_kernels_cpu_kernel_NativeAttention_addLatentValues(
    JNIEnv *env, jclass class, jint isa, jobjectArray arrays, jint array_count, jintArray where, jint count, jint type,
    jint width, jfloatArray weights, jint at, jint stride, jint query_count, jintArray to, jint token, jfloatArray sums,
    jint elements, jint first, jint end) {
    (void)class;
    struct pinned_pages keys;
    int complete = pin_pages(env, &keys, arrays, array_count, where, count, type, width);
    struct pinned read[2], written;
    float *w = pin(env, &read[0], weights);
    const int32_t *seen = pin(env, &read[1], to);
    float *y = pin(env, &written, sums);
    if (complete && w && seen && y) {
        struct scores s = {.at = w + at, .stride = stride, .queries = query_count};
        add_latent_values[isa](&keys.pages, &s, seen, token, y, elements, first, end);
    }
    release(env, &written, 1, 0);
    release(env, read, 2, JNI_ABORT);
    release_pages(env, &keys);
}
