// The native methods of NativeKernels.java, NativePageAttention.java and OffHeap.java, whose callers check sizes.
#include "attention.h"
#include "kernels.h"
#include "pinned.h"

#include <jni.h>
#include <stddef.h>

static pack_function *const pack[] = {EACH(pack)};
static widen_function *const widen[] = {EACH(widen)};
static score_function *const score[] = {EACH_FLOAT(scores)};
static value_function *const add_values[] = {EACH_FLOAT(values)};
static latent_function *const add_latent_values[] = {EACH_FLOAT(latent_values)};
static peak_function *const peak[] = {EACH(peak)};

JNIEXPORT jobject JNICALL Java_io_radixflow_kernels_cpu_kernel_OffHeap_buffer(JNIEnv *env, jclass type, jlong at, jint bytes) {
    (void)type;
    return (*env)->NewDirectByteBuffer(env, (void *)(intptr_t)at, bytes);
}

// If an array cannot be pinned for lack of memory, an OutOfMemoryError is pending and nothing is computed.
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

enum {
    FEW_QUERIES = 64,   // queries that are multiplied with all pages before the next
    MOST_PAGES = 2048,  // pages of one call; PageList.java reads this limit
};

JNIEXPORT jint JNICALL Java_io_radixflow_kernels_cpu_attention_PageList_mostPages(JNIEnv *env, jclass class) {
    (void)env;
    (void)class;
    return MOST_PAGES;
}

struct listed_pages {
    struct kv_pages pages;
    const char *at[MOST_PAGES];
};

// Takes the addresses of pages from a list. The keys or values begin `offset` bytes after an address.
static void take_pages(JNIEnv *env, struct listed_pages *p, jlongArray list, jint count, jint type, jint width,
                       jlong offset) {
    p->pages = (struct kv_pages){.type = (enum kv_type)type, .width = width, .count = count, .at = p->at};
    (*env)->GetLongArrayRegion(env, list, 0, count, (jlong *)p->at);
    for (int i = 0; i < count; i++) p->at[i] += offset;
}

JNIEXPORT void JNICALL Java_io_radixflow_kernels_cpu_attention_NativePageAttention_scores(
    JNIEnv *env, jclass class, jint isa, jlongArray list, jint count, jint type, jint width, jlong offset,
    jfloatArray queries, jintArray query_at, jint query_count, jfloat scale, jfloatArray out, jint at, jint stride) {
    (void)class;
    struct listed_pages keys;
    take_pages(env, &keys, list, count, type, width, offset);
    struct pinned read[2], written;
    const float *x = pin(env, &read[0], queries);
    const int32_t *x_at = pin(env, &read[1], query_at);
    float *y = pin(env, &written, out);
    for (int q = 0; x && x_at && y && q < query_count; q += FEW_QUERIES) {
        const float *query[FEW_QUERIES];
        struct scores s = {.at = y + at + (long)q * stride, .stride = stride};
        for (; s.queries < FEW_QUERIES && q + s.queries < query_count; s.queries++) {
            query[s.queries] = x + x_at[q + s.queries];
        }
        score[isa](&keys.pages, query, scale, &s);
    }
    release(env, &written, 1, 0);
    release(env, read, 2, JNI_ABORT);
}

JNIEXPORT void JNICALL Java_io_radixflow_kernels_cpu_attention_NativePageAttention_addValues(
    JNIEnv *env, jclass class, jint isa, jlongArray list, jint count, jint type, jint width, jlong offset,
    jfloatArray weights, jint token, jint stride, jint query_count, jintArray from, jintArray to, jfloatArray out, jintArray out_at, jint first, jint end) {
    (void)class;
    struct listed_pages values;
    take_pages(env, &values, list, count, type, width, offset);
    struct pinned read[4], written;
    float *w = pin(env, &read[0], weights);
    const int32_t *seen_from = pin(env, &read[1], from), *seen_to = pin(env, &read[2], to);
    const int32_t *y_at = pin(env, &read[3], out_at);
    float *y = pin(env, &written, out);
    int complete = w && seen_from && seen_to && y_at && y;
    for (int q = 0; complete && q < query_count; q += FEW_QUERIES) {
        float *sum[FEW_QUERIES];
        struct scores s = {.at = w + token + (long)q * stride, .stride = stride};
        for (; s.queries < FEW_QUERIES && q + s.queries < query_count; s.queries++) sum[s.queries] = y + y_at[q + s.queries];
        struct sums sums = {.at = sum, .from = seen_from + q, .to = seen_to + q, .token = token};
        add_values[isa](&values.pages, &s, &sums, first, end);
    }
    release(env, &written, 1, 0);
    release(env, read, 4, JNI_ABORT);
}

JNIEXPORT void JNICALL Java_io_radixflow_kernels_cpu_attention_NativePageAttention_addLatentValues(
    JNIEnv *env, jclass class, jint isa, jlongArray list, jint count, jint type, jint width, jlong offset,
    jfloatArray weights, jint token, jint stride, jint query_count, jintArray to, jfloatArray sums, jint elements, jint first, jint end) {
    (void)class;
    struct listed_pages keys;
    take_pages(env, &keys, list, count, type, width, offset);
    struct pinned read[2], written;
    float *w = pin(env, &read[0], weights);
    const int32_t *seen = pin(env, &read[1], to);
    float *y = pin(env, &written, sums);
    if (w && seen && y) {
        struct scores s = {.at = w + token, .stride = stride, .queries = query_count};
        add_latent_values[isa](&keys.pages, &s, seen, token, y, elements, first, end);
    }
    release(env, &written, 1, 0);
    release(env, read, 2, JNI_ABORT);
}
