// The native methods of NativeMemory.java: memory outside Java's heap, and files that are mapped into it.
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <jni.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __APPLE__
#define CHANGED(s) (s).st_mtimespec
#else
#define CHANGED(s) (s).st_mtim
#endif

#define METHOD(type, name) JNIEXPORT type JNICALL Java_io_radixflow_kernels_cpu_kernel_NativeMemory_##name

// The mapped parts of files. Reading a page after the end of a file, or a page that the disk cannot read, raises SIGBUS.
// For these addresses the handler maps zeros and marks the part as broken; other addresses are the JVM's.
enum { MOST_PARTS = 1024, HUGE_PAGE = 2 << 20 };

struct part {
    _Atomic uintptr_t from, to;
    _Atomic int broken;
};

static struct part parts[MOST_PARTS];
static pthread_mutex_t changes = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction previous;
static uintptr_t page_bytes;

static struct part *find_part(uintptr_t at) {
    for (int i = 0; i < MOST_PARTS; i++) {
        if (at >= parts[i].from && at < parts[i].to) {
            return &parts[i];
        }
    }
    return NULL;
}

static void on_bus_error(int number, siginfo_t *info, void *context) {
    int saved = errno;
    uintptr_t at = (uintptr_t)info->si_addr & ~(page_bytes - 1);
    struct part *part = find_part(at);
    if (part) {
        part->broken = 1;
        // All pages up to the end, because usually the file was truncated.
        void *zeros = mmap((void *)at, part->to - at, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        errno = saved;
        if (zeros != MAP_FAILED) {
            return;
        }
    }
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(number, info, context);
    } else {
        sigaction(SIGBUS, &previous, NULL); // the same access raises the signal again
    }
}

// Registers a part before it is mapped. Returns whether there is room.
static int add_part(uintptr_t from, uintptr_t to) {
    int added = 0;
    pthread_mutex_lock(&changes);
    if (!page_bytes) {
        page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
        struct sigaction handler = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
        sigfillset(&handler.sa_mask);
        sigaction(SIGBUS, &handler, &previous);
    }
    for (int i = 0; i < MOST_PARTS && !added; i++) {
        if (!parts[i].to) {
            parts[i].broken = 0;
            parts[i].from = from;
            parts[i].to = to;
            added = 1;
        }
    }
    pthread_mutex_unlock(&changes);
    return added;
}

static void remove_part(uintptr_t from) {
    pthread_mutex_lock(&changes);
    struct part *part = find_part(from);
    if (part) {
        part->to = 0;
        part->from = 0;
    }
    pthread_mutex_unlock(&changes);
}

// Asks for huge pages, with which decoding is up to a fifth faster. For files that depends on the file system.
static void want_huge_pages(void *at, size_t bytes) {
#ifdef MADV_HUGEPAGE
    madvise(at, bytes, MADV_HUGEPAGE);
#else
    (void)at;
    (void)bytes;
#endif
}

// Maps pages of zeros at a multiple of the size of a huge page. Returns NULL if there is no memory.
static void *map_zeros(size_t bytes, int access, int flags) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (bytes + page - 1) / page * page, whole = size + HUGE_PAGE;
    char *from = mmap(NULL, whole, access, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (from == MAP_FAILED) {
        return NULL;
    }
    char *at = (char *)(((uintptr_t)from + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
    if (at > from) {
        munmap(from, (size_t)(at - from));
    }
    munmap(at + size, (size_t)(from + whole - (at + size)));
    return at;
}

// Returns the address of new pages of zeros; 0 if there is no memory.
METHOD(jlong, allocatePages)(JNIEnv *env, jclass type, jlong bytes) {
    (void)env;
    (void)type;
    void *at = map_zeros((size_t)bytes, PROT_READ | PROT_WRITE, 0);
    if (at && bytes >= HUGE_PAGE) {
        want_huge_pages(at, (size_t)bytes);
    }
    return (jlong)(intptr_t)at;
}

METHOD(void, unmap)(JNIEnv *env, jclass type, jlong at, jlong bytes) {
    (void)env;
    (void)type;
    remove_part((uintptr_t)at); // first, because another thread may map the same addresses again
    munmap((void *)(intptr_t)at, (size_t)bytes);
}

// Opens a file with a lock: a shared lock, which waits, or an exclusive lock, which does not wait. The lock belongs to this
// descriptor; other descriptors of the same file do not change it. Returns the descriptor, or a negative error number.
METHOD(jint, openLocked)(JNIEnv *env, jclass type, jbyteArray path, jboolean exclusive) {
    (void)type;
    char name[4096];
    jsize length = (*env)->GetArrayLength(env, path);
    if (length >= (jsize)sizeof name) {
        return -ENAMETOOLONG;
    }
    (*env)->GetByteArrayRegion(env, path, 0, length, (jbyte *)name);
    name[length] = 0;
    int file = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) {
        return -errno;
    }
    struct stat s;
    int error = flock(file, exclusive ? LOCK_EX | LOCK_NB : LOCK_SH) || fstat(file, &s) ? errno : 0;
    if (!error && !s.st_nlink) {
        error = ENOENT; // deleted while this thread waited for the lock
    }
    if (error) {
        close(file);
        return -error;
    }
    return file;
}

METHOD(void, closeFile)(JNIEnv *env, jclass type, jint file) {
    (void)env;
    (void)type;
    close(file);
}

// Writes the size and the time of the last change in nanoseconds. Returns whether it is a regular file that belongs to
// this user and that no other user can write.
METHOD(jboolean, state)(JNIEnv *env, jclass type, jint file, jlongArray out) {
    (void)type;
    struct stat s;
    if (fstat(file, &s)) {
        return 0;
    }
    jlong values[] = {s.st_size, CHANGED(s).tv_sec * 1000000000L + CHANGED(s).tv_nsec};
    (*env)->SetLongArrayRegion(env, out, 0, 2, values);
    return S_ISREG(s.st_mode) && s.st_uid == geteuid() && !(s.st_mode & (S_IWGRP | S_IWOTH));
}

// Makes now the time of the last access, which file systems do not always keep.
METHOD(void, touch)(JNIEnv *env, jclass type, jint file) {
    (void)env;
    (void)type;
    struct timespec times[] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
    futimens(file, times);
}

// Maps bytes of a file for reading. They replace the pages at the address; if the address is 0, the system chooses one.
// Returns the address, or 0 if the system refuses.
METHOD(jlong, mapFile)(JNIEnv *env, jclass type, jlong at, jlong bytes, jint file, jlong offset) {
    (void)env;
    (void)type;
    void *place = at ? (void *)(intptr_t)at : map_zeros((size_t)bytes, PROT_NONE, MAP_NORESERVE);
    if (!place || !add_part((uintptr_t)place, (uintptr_t)place + bytes)) {
        return 0;
    }
    if (mmap(place, (size_t)bytes, PROT_READ, MAP_SHARED | MAP_FIXED, file, offset) != MAP_FAILED) {
        want_huge_pages(place, (size_t)bytes);
        return (jlong)(intptr_t)place;
    }
    remove_part((uintptr_t)place);
    if (!at) {
        munmap(place, (size_t)bytes);
    }
    return 0;
}

METHOD(jboolean, isBroken)(JNIEnv *env, jclass type, jlong at) {
    (void)env;
    (void)type;
    struct part *part = find_part((uintptr_t)at);
    return part && part->broken;
}

// For each value the sum that follows is different, and so is the last sum.
static inline uint64_t add_to_sum(uint64_t sum, uint64_t value) {
    sum = (sum ^ value) * 0x9e3779b97f4a7c15u;
    return sum << 29 | sum >> 35;
}

// Four chains, one for each quarter of the bytes, hide the latency of the multiplication. A change within eight bytes
// always changes the result.
METHOD(jlong, checksum0)(JNIEnv *env, jclass type, jlong at, jlong bytes) {
    (void)env;
    (void)type;
    const char *in = (const char *)(intptr_t)at;
    size_t each = (size_t)bytes / 4;
    uint64_t sums[4] = {1, 2, 3, 4}, all = 0;
    for (size_t i = 0; i < each; i += 8) {
        for (int q = 0; q < 4; q++) {
            uint64_t value;
            memcpy(&value, in + q * each + i, sizeof value);
            sums[q] = add_to_sum(sums[q], value);
        }
    }
    for (int q = 0; q < 4; q++) all = add_to_sum(all, sums[q]);
    return (jlong)all;
}
