// What the machine can do, and the priorities of its threads: native methods of NativeKernels.java.
#define _GNU_SOURCE // for SCHED_IDLE

#include "isas.h"

#include <jni.h>
#include <sched.h>
#include <sys/resource.h>
#if defined(__linux__) && defined(__aarch64__)
#include <sys/auxv.h>
#endif

#define METHOD(type, name) JNIEXPORT type JNICALL Java_io_radixflow_kernels_cpu_kernel_NativeKernels_##name

// Returns the names of NativeKernels.Isa, in the order of their numbers.
METHOD(jstring, isas)(JNIEnv *env, jclass type) {
    (void)type;
    return (*env)->NewStringUTF(env, ISAS);
}

// Returns the instruction sets that both the processor and the system support, one bit each. No set implies another:
// some processors have AVX-512 VNNI but not AVX-VNNI.
METHOD(jint, supportedIsas)(JNIEnv *env, jclass type) {
    (void)env;
    (void)type;
#ifdef __x86_64__
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
#elif defined(__linux__)
    enum { HAS_DOT_PRODUCTS = 1 << 20 }; // HWCAP_ASIMDDP
    return 1 << NEON | (getauxval(AT_HWCAP) & HAS_DOT_PRODUCTS ? 1 << NEON_DOT : 0);
#else
    return 1 << NEON | 1 << NEON_DOT; // every Mac with this architecture
#endif
}

// Sets the nice value of the calling thread, which is thread 0 for Linux. Returns 0, or -1 if that is not allowed.
METHOD(jint, setNice)(JNIEnv *env, jclass type, jint nice) {
    (void)env;
    (void)type;
#ifdef __linux__
    return setpriority(PRIO_PROCESS, 0, nice);
#else
    return nice ? -1 : 0;
#endif
}

// Gives the calling thread the policy SCHED_IDLE. Returns 0, or -1 if that is not allowed.
METHOD(jint, setIdle)(JNIEnv *env, jclass type) {
    (void)env;
    (void)type;
#ifdef __linux__
    struct sched_param parameters = {0};
    return sched_setscheduler(0, SCHED_IDLE, &parameters);
#else
    return -1;
#endif
}
