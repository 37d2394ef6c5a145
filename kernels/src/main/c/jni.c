// The native methods of NativeKernels.java, NativePageAttention.java and OffHeap.java, whose callers check sizes.
#include "attention.h"
#include "kernels.h"

#include <jni.h>
#include <stddef.h>

static pack_function *const pack[] = {EACH(pack)};
static score_function *const score[] = {EACH_FLOAT(scores)};
static value_function *const add_values[] = {EACH_FLOAT(values)};
static latent_function *const add_latent_values[] = {EACH_FLOAT(latent_values)};
static peak_function *const peak[] = {EACH(peak)};

JNIEXPORT jlong JNICALL Java_io_radixflow_kernels_cpu_kernel_OffHeap_address(JNIEnv *env, jclass type, jobject buffer) {
    (void)type;
    return (jlong)(intptr_t)(*env)->GetDirectBufferAddress(env, buffer);
}

JNIEXPORT jobject JNICALL Java_io_radixflow_kernels_cpu_kernel_OffHeap_buffer(JNIEnv *env, jclass type, jlong at, jint bytes) {
    (void)type;
    return (*env)->NewDirectByteBuffer(env, (void *)(intptr_t)at, bytes);
}

JNIEXPORT void JNICALL Java_io_radixflow_kernels_cpu_kernel_NativeKernels_pack(
    JNIEnv *env, jclass type, jint isa, jlong in, jint columns, jlong pairs, jlong scales, jlong sums) {
    (void)env;
    (void)type;
    pack[isa]((const float *)(intptr_t)in, columns, (int32_t *)(intptr_t)pairs, (float *)(intptr_t)scales,
              (float *)(intptr_t)sums);
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

static float *floats_at(jlong address) {
    return (float *)(intptr_t)address;
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
    JNIEnv *env, jclass class, jint isa, jlongArray list, jint count, jint type, jint width, jlong offset, jlong queries,
    jintArray query_at, jint query_count, jfloat scale, jlong out, jint stride) {
    (void)class;
    struct listed_pages keys;
    take_pages(env, &keys, list, count, type, width, offset);
    for (int q = 0; q < query_count; q += FEW_QUERIES) {
        int some = query_count - q < FEW_QUERIES ? query_count - q : FEW_QUERIES;
        jint at[FEW_QUERIES];
        (*env)->GetIntArrayRegion(env, query_at, q, some, at);
        const float *query[FEW_QUERIES];
        for (int i = 0; i < some; i++) query[i] = floats_at(queries) + at[i];
        struct scores s = {.at = floats_at(out) + (long)q * stride, .stride = stride, .queries = some};
        score[isa](&keys.pages, query, scale, &s);
    }
}

JNIEXPORT void JNICALL Java_io_radixflow_kernels_cpu_attention_NativePageAttention_addValues(
    JNIEnv *env, jclass class, jint isa, jlongArray list, jint count, jint type, jint width, jlong offset, jlong weights,
    jint token, jint stride, jint query_count, jintArray from, jintArray to, jlong out, jintArray out_at, jint first,
    jint end) {
    (void)class;
    struct listed_pages values;
    take_pages(env, &values, list, count, type, width, offset);
    for (int q = 0; q < query_count; q += FEW_QUERIES) {
        int some = query_count - q < FEW_QUERIES ? query_count - q : FEW_QUERIES;
        jint at[FEW_QUERIES], seen_from[FEW_QUERIES], seen_to[FEW_QUERIES];
        (*env)->GetIntArrayRegion(env, out_at, q, some, at);
        (*env)->GetIntArrayRegion(env, from, q, some, seen_from);
        (*env)->GetIntArrayRegion(env, to, q, some, seen_to);
        float *sum[FEW_QUERIES];
        for (int i = 0; i < some; i++) sum[i] = floats_at(out) + at[i];
        struct scores s = {.at = floats_at(weights) + (long)q * stride, .stride = stride, .queries = some};
        struct sums sums = {.at = sum, .from = seen_from, .to = seen_to, .token = token};
        add_values[isa](&values.pages, &s, &sums, first, end);
    }
}

JNIEXPORT void JNICALL Java_io_radixflow_kernels_cpu_attention_NativePageAttention_addLatentValues(
    JNIEnv *env, jclass class, jint isa, jlongArray list, jint count, jint type, jint width, jlong offset, jlong weights,
    jint token, jint stride, jint query_count, jintArray to, jlong sums, jint elements, jint first, jint end) {
    (void)class;
    struct listed_pages keys;
    take_pages(env, &keys, list, count, type, width, offset);
    jint seen[query_count];
    (*env)->GetIntArrayRegion(env, to, 0, query_count, seen);
    struct scores s = {.at = floats_at(weights), .stride = stride, .queries = query_count};
    add_latent_values[isa](&keys.pages, &s, seen, token, floats_at(sums), elements, first, end);
}
