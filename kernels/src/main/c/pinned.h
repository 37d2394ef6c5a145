// Arrays of Java that do not move while native code uses them.
#ifndef RADIXFLOW_PINNED_H
#define RADIXFLOW_PINNED_H

#include <jni.h>
#include <stddef.h>

// An array that does not move until release().
struct pinned {
    jarray array;
    void *at;
};

static inline void *pin(JNIEnv *env, struct pinned *p, jarray array) {
    p->array = array;
    p->at = array == NULL ? NULL : (*env)->GetPrimitiveArrayCritical(env, array, NULL);
    return p->at;
}

static inline void release(JNIEnv *env, struct pinned *pinned, int count, jint mode) {
    while (count-- > 0) {
        if (pinned[count].at != NULL) {
            (*env)->ReleasePrimitiveArrayCritical(env, pinned[count].array, pinned[count].at, mode);
        }
    }
}

#endif
