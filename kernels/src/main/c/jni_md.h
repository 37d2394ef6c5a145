// What jni.h needs to know about the platform. It is the same on all platforms that have native kernels, so that a JDK
// for one platform is enough to compile for the others.
#ifndef RADIXFLOW_JNI_MD_H
#define RADIXFLOW_JNI_MD_H

#define JNIEXPORT __attribute__((visibility("default")))
#define JNIIMPORT
#define JNICALL

typedef int jint;
typedef long long jlong;
typedef signed char jbyte;

#endif
