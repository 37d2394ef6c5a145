// What tests set and ask: the native methods of io.radixflow.kernels.cuda.driver.EmulatedDriver.
#include "faults.h"
#include "memory.h"

#include <jni.h>

#define CONTROL(type, name, ...) \
    extern "C" JNIEXPORT type JNICALL Java_io_radixflow_kernels_cuda_driver_EmulatedDriver_##name(JNIEnv* env, jclass, ##__VA_ARGS__)

using namespace emulator;

namespace {
std::string text(JNIEnv* env, jstring string) {
    const char* characters = env->GetStringUTFChars(string, nullptr);
    std::string copy = characters ? characters : "";
    if (characters) env->ReleaseStringUTFChars(string, characters);
    return copy;
}
}  // namespace

CONTROL(void, setReverse, jboolean reverse) {
    (void)env;
    settings().reverse = reverse;
}
CONTROL(void, setLazyStreams, jboolean lazy) {
    (void)env;
    settings().lazy = lazy;
}
CONTROL(void, setDevices, jint count) {
    (void)env;
    settings().devices = count;
}
CONTROL(void, setComputeCapability, jint major, jint minor) {
    (void)env;
    settings().major = major;
    settings().minor = minor;
}
CONTROL(void, setDriverVersion, jint version) {
    (void)env;
    settings().driver_version = version;
}
CONTROL(void, setMemoryLimit, jlong bytes) {
    (void)env;
    set_memory_limit(size_t(bytes));
}
CONTROL(jlong, memoryUsed) {
    (void)env;
    return jlong(memory_used());
}
CONTROL(jlong, contexts) {
    (void)env;
    return jlong(contexts_alive());
}
CONTROL(jlong, deviceAllocations) {
    (void)env;
    return allocations(Kind::kDevice);
}
CONTROL(jlong, pinnedAllocations) {
    (void)env;
    return allocations(Kind::kPinned) + allocations(Kind::kRegistered);
}
CONTROL(void, failCall, jstring call, jlong nth, jint code) { fail_call(text(env, call), nth, code); }
CONTROL(void, failLaunch, jstring kernel, jlong nth, jint code) { fail_launch(text(env, kernel), nth, code); }
CONTROL(void, holdCall, jstring call) { hold_call(text(env, call)); }
CONTROL(void, awaitHeldCall) {
    (void)env;
    await_held_call();
}
CONTROL(void, loseContexts, jint code) {
    (void)env;
    lose_contexts(code);
}
CONTROL(jlong, calls, jstring call) { return calls(text(env, call)); }
CONTROL(void, resetFaults) {
    (void)env;
    reset_faults();
}
CONTROL(jstring, lastFault) { return env->NewStringUTF(fault().c_str()); }
