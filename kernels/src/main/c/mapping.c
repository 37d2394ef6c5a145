// The native methods of NativeMemory.java: memory outside Java's heap.
#define _GNU_SOURCE

#include <jni.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define METHOD(type, name) JNIEXPORT type JNICALL Java_io_radixflow_kernels_cpu_kernel_NativeMemory_##name

// Returns the address of new pages of zeros; 0 if there is no memory.
METHOD(jlong, allocatePages)(JNIEnv *env, jclass type, jlong bytes) {
    (void)env;
    (void)type;
    void *at = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? 0 : (jlong)(intptr_t)at;
}

METHOD(void, unmap)(JNIEnv *env, jclass type, jlong at, jlong bytes) {
    (void)env;
    (void)type;
    munmap((void *)(intptr_t)at, (size_t)bytes);
}
