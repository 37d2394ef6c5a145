// One block of CUDA threads, each a fiber; all run in turn on one thread of the operating system.
//
// A thread runs until it must wait: at a barrier, or at a warp operation for the other lanes. Every
// warp operation is one primitive, `meet`: each lane publishes a pointer to its operands, and the
// lane that arrives last computes for all of them and wakes the rest.
#pragma once
#include "fiber.h"
#include "launch.h"

#include <vector>

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x = 1, y = 1, z = 1;
};

namespace simt {

constexpr int kWarp = 32;
constexpr int kMaxThreads = 1024;
constexpr int kMaxWarps = kMaxThreads / kWarp;
constexpr int kMaxGroups = kMaxThreads / 128;
constexpr int kMaxShared = 256 << 10;

// A place in the kernels' source.
struct Place {
    const char* file;
    int line;
    static constexpr Place here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
};

struct AsyncCopy {
    void* to;
    const void* from;
    int valid;  // bytes that are copied; the rest of the 16 is zeroed
};

// This thread's part of a product that its warpgroup has issued and not yet waited for.
struct AsyncProduct {
    float* sum;
    uint64_t a, b;
    int columns;
    bool accumulate;
};

// An accumulator that products in flight will change; until then the kernel sees NaN in it.
struct AsyncSum {
    float* seen;
    std::vector<float> value;
    int products;  // of these in flight
};

struct Thread {
    uint3 id;
    int index, lane, warp;
    void* sp;     // null until it first runs
    char* stack;  // null when it has none
    Place at;     // where it waits
    std::vector<std::vector<AsyncCopy>> copies;       // groups of cp.async, the last one open
    std::vector<std::vector<AsyncProduct>> products;  // groups of wgmma, the last one open
    std::vector<AsyncSum> sums;
    std::vector<unsigned> unfenced;  // 16 bytes each of shared memory that it wrote by cp.async and did not fence
};

struct Barrier {
    int arrived = 0;
    Place first{};
    uint32_t waiting[kMaxWarps] = {};
};

struct Meeting {
    uint32_t arrived = 0;
    Place first{};
    void* lane[kWarp];
};

struct GroupMeeting {
    int arrived = 0;
    Place first{};
    Thread* thread[128];
};

class Block {
public:
    Block();
    ~Block();

    uint3 index{};
    dim3 dim, grid;
    Thread* self = nullptr;
    char* shared = nullptr;
    unsigned shared_bytes = 0;
    bool unfenced[kMaxShared / 16] = {};  // what wgmma must not read yet

    void run(const Launch& launch, uint64_t block, Fault* fault);
    void barrier(int id, int threads, Place place);
    int alive() const { return alive_; }
    // Whether the address is in the shared memory or in what is forbidden around it.
    bool near_shared(uintptr_t address) const;

    // The lanes of mask meet; the last to arrive runs all(operands of every lane) for them.
    template <class Operand, class All>
    void meet(uint32_t mask, Operand& mine, Place place, All all) {
        Meeting& meeting = meetings_[self->warp][__builtin_ctz(mask)];
        if (!meeting.arrived) meeting.first = place;
        if (meeting.first.line != place.line) diverged(meeting.first, place);
        meeting.lane[self->lane] = &mine;
        meeting.arrived |= 1u << self->lane;
        if ((meeting.arrived & mask) != mask) {
            sleep(place);
            return;
        }
        all(reinterpret_cast<Operand**>(meeting.lane));
        meeting.arrived = 0;
        wake(self->warp, mask);
    }

    // The 128 threads of a warpgroup meet; the last to arrive runs all(threads).
    template <class All>
    void meet_group(Place place, All all) {
        GroupMeeting& meeting = groups_[self->index / 128];
        if (!meeting.arrived) meeting.first = place;
        if (meeting.first.line != place.line) diverged(meeting.first, place);
        meeting.thread[self->index % 128] = self;
        if (++meeting.arrived < 128) {
            sleep(place);
            return;
        }
        all(meeting.thread);
        meeting.arrived = 0;
        for (int warp = self->index / 128 * 4, i = 0; i < 4; ++i) wake(warp + i, ~0u);
    }

    // Ends the block: the running thread did what a kernel must not do.
    [[noreturn]] void fail(int code, Place place, const char* format, ...) __attribute__((format(printf, 4, 5)));

private:
    void start(const Launch& launch, uint64_t block);
    void finish_thread();
    void resume(Thread& thread);
    Thread* next();
    void sleep(Place place);
    void wake(int warp, uint32_t lanes);
    void open(Barrier& barrier);
    void report_deadlock();
    void clear();
    [[noreturn]] void diverged(Place first, Place second);
    static void thread_main();

    const Launch* launch_ = nullptr;
    Fault* fault_ = nullptr;
    int count_ = 0, alive_ = 0;
    void* scheduler_ = nullptr;
    uint32_t ready_[kMaxWarps] = {};  // the lanes of a warp that can run
    uint32_t ready_warps_ = 0;
    Barrier barriers_[16];
    Meeting meetings_[kMaxWarps][kWarp];  // by the lowest lane of the mask
    GroupMeeting groups_[kMaxGroups];
    StackPool stacks_;
    char* shared_end_ = nullptr;  // what nothing may touch begins here
    void* shared_mapping_ = nullptr;
    Thread threads_[kMaxThreads];
};

extern thread_local Block* current;

}  // namespace simt
