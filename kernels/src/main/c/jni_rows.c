// The native methods of CompiledKernels.java, which checks sizes. If an array cannot be pinned for lack of memory, an
// OutOfMemoryError is pending and nothing is computed.
#include "pinned.h"
#include "rows.h"

static const struct row_kernels *const kernels[] = {EACH_FLOAT(&rows)};

#define METHOD(type, name) JNIEXPORT type JNICALL Java_io_radixflow_kernels_cpu_kernel_CompiledKernels_##name

METHOD(jfloat, sumOfSquares)(JNIEnv *env, jclass type, jint isa, jfloatArray in, jint at, jint n) {
    (void)type;
    struct pinned p;
    const float *x = pin(env, &p, in);
    float sum = x ? kernels[isa]->sum_of_squares(x + at, n) : 0;
    release(env, &p, 1, JNI_ABORT);
    return sum;
}

METHOD(void, scale)(JNIEnv *env, jclass type, jint isa, jfloatArray in, jint at, jfloat factor, jfloatArray gains,
                    jfloatArray out, jint to, jint n) {
    (void)type;
    struct pinned p[3];
    const float *x = pin(env, &p[0], in), *gain = pin(env, &p[1], gains);
    float *y = pin(env, &p[2], out);
    if (x && gain && y) {
        kernels[isa]->scale(x + at, factor, gain, y + to, n);
    }
    release(env, p, 3, 0);
}

METHOD(void, add)(JNIEnv *env, jclass type, jint isa, jfloatArray in, jint at, jfloatArray out, jint to, jint n) {
    (void)type;
    struct pinned p[2];
    const float *x = pin(env, &p[0], in);
    float *y = pin(env, &p[1], out);
    if (x && y) {
        kernels[isa]->add(x + at, y + to, n);
    }
    release(env, p, 2, 0);
}

METHOD(void, gate)(JNIEnv *env, jclass type, jint isa, jint kind, jfloatArray gates, jint gate_at, jfloatArray ups,
                   jint up_at, jfloat limit, jfloatArray out, jint to, jint n) {
    (void)type;
    struct pinned p[3];
    const float *gate = pin(env, &p[0], gates), *up = pin(env, &p[1], ups);
    float *y = pin(env, &p[2], out);
    if (gate && up && y) {
        kernels[isa]->gate((enum gate_kind)kind, gate + gate_at, up + up_at, limit, y + to, n);
    }
    release(env, p, 3, 0);
}

METHOD(void, softCap)(JNIEnv *env, jclass type, jint isa, jfloatArray in, jint at, jint n, jfloat cap) {
    (void)type;
    struct pinned p;
    float *x = pin(env, &p, in);
    if (x) {
        kernels[isa]->soft_cap(x + at, n, cap);
    }
    release(env, &p, 1, 0);
}

METHOD(void, softmax)(JNIEnv *env, jclass type, jint isa, jfloatArray scores, jint stride, jintArray from, jintArray to,
                      jint first, jint end, jfloat cap, jfloatArray sinks, jint sink_at, jint group,
                      jfloatArray factors) {
    (void)type;
    struct pinned p[5];
    float *x = pin(env, &p[0], scores), *y = pin(env, &p[1], factors);
    const int32_t *begin = pin(env, &p[2], from), *after = pin(env, &p[3], to);
    const float *sink = pin(env, &p[4], sinks);
    if (x && y && begin && after && (sink || sinks == NULL)) {
        struct softmax s = {x, stride, begin, after, cap, sink ? sink + sink_at : NULL, group, y};
        kernels[isa]->softmax(&s, first, end);
    }
    release(env, p, 5, 0);
}

METHOD(void, tile)(JNIEnv *env, jclass type, jint isa, jint rows, jfloatArray in, jint at, jfloatArray weights,
                   jint weight_at, jint depth, jfloatArray out, jint to, jint stride) {
    (void)type;
    struct pinned p[3];
    const float *a = pin(env, &p[0], in), *w = pin(env, &p[1], weights);
    float *c = pin(env, &p[2], out);
    if (a && w && c) {
        kernels[isa]->tile(rows, a + at, w + weight_at, depth, c + to, stride);
    }
    release(env, p, 3, 0);
}

METHOD(void, widenFloat8)(JNIEnv *env, jclass type, jint isa, jbyteArray in, jint at, jint n, jfloatArray out, jint to) {
    (void)type;
    struct pinned p[2];
    const char *x = pin(env, &p[0], in);
    float *y = pin(env, &p[1], out);
    if (x && y) {
        kernels[isa]->widen_float8(x + at, n, y + to);
    }
    release(env, p, 2, 0);
}

METHOD(jfloat, read)(JNIEnv *env, jclass type, jint isa, jfloatArray in, jint n) {
    (void)type;
    struct pinned p;
    const float *x = pin(env, &p, in);
    float sum = x ? kernels[isa]->read(x, n) : 0;
    release(env, &p, 1, JNI_ABORT);
    return sum;
}

METHOD(jlong, peak)(JNIEnv *env, jclass type, jint isa, jlong rounds) {
    (void)env;
    (void)type;
    return kernels[isa]->peak(rounds);
}
