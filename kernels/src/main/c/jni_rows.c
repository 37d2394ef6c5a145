// The native methods of CompiledKernels.java, which checks sizes and passes addresses of floats.
#include "rows.h"

#include <jni.h>

static const struct row_kernels *const kernels[] = {EACH_FLOAT(&rows)};

#define METHOD(type, name) JNIEXPORT type JNICALL Java_io_radixflow_kernels_cpu_kernel_CompiledKernels_##name

static float *at(jlong address) {
    return (float *)(intptr_t)address;
}

METHOD(jfloat, sumOfSquares)(JNIEnv *env, jclass type, jint isa, jlong x, jint n) {
    (void)env;
    (void)type;
    return kernels[isa]->sum_of_squares(at(x), n);
}

METHOD(void, scale)(JNIEnv *env, jclass type, jint isa, jlong x, jfloat factor, jlong gain, jlong out, jint n) {
    (void)env;
    (void)type;
    kernels[isa]->scale(at(x), factor, at(gain), at(out), n);
}

METHOD(void, add)(JNIEnv *env, jclass type, jint isa, jlong x, jlong y, jint n) {
    (void)env;
    (void)type;
    kernels[isa]->add(at(x), at(y), n);
}

METHOD(void, gate)(JNIEnv *env, jclass type, jint isa, jint kind, jlong gate, jlong up, jfloat limit, jlong out, jint n) {
    (void)env;
    (void)type;
    kernels[isa]->gate((enum gate_kind)kind, at(gate), at(up), limit, at(out), n);
}

METHOD(void, softCap)(JNIEnv *env, jclass type, jint isa, jlong x, jint n, jfloat cap) {
    (void)env;
    (void)type;
    kernels[isa]->soft_cap(at(x), n, cap);
}

METHOD(void, softmax)(JNIEnv *env, jclass type, jint isa, jlong scores, jint stride, jintArray from, jintArray to,
                      jint first, jint count, jfloat cap, jlong sinks, jint group, jfloatArray factors) {
    (void)type;
    enum { MOST = 64 };
    jint begin[MOST], after[MOST];
    jfloat factor[MOST];
    for (int i = 0; i < count; i += MOST) {
        int some = count - i < MOST ? count - i : MOST;
        (*env)->GetIntArrayRegion(env, from, first + i, some, begin);
        (*env)->GetIntArrayRegion(env, to, first + i, some, after);
        struct softmax s = {at(scores) + (long)i * stride, stride, begin, after, cap, at(sinks), first + i, group, factor};
        kernels[isa]->softmax(&s, some);
        (*env)->SetFloatArrayRegion(env, factors, first + i, some, factor);
    }
}

METHOD(void, tile)(JNIEnv *env, jclass type, jint isa, jint rows, jlong a, jlong w, jint depth, jlong c, jint stride) {
    (void)env;
    (void)type;
    kernels[isa]->tile(rows, at(a), at(w), depth, at(c), stride);
}

METHOD(jfloat, read)(JNIEnv *env, jclass type, jint isa, jlong x, jint n) {
    (void)env;
    (void)type;
    return kernels[isa]->read(at(x), n);
}

METHOD(jlong, peak)(JNIEnv *env, jclass type, jint isa, jlong rounds) {
    (void)env;
    (void)type;
    return kernels[isa]->peak(rounds);
}
