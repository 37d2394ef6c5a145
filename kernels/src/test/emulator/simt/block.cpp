#include "block.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

namespace simt {

thread_local Block* current = nullptr;

namespace {
constexpr size_t kGuard = 64 << 10;
constexpr size_t kSharedMapping = kMaxShared + 2 * kGuard;

const char* base_name(const char* path) {
    const char* slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
}  // namespace

Block::Block() {
    shared_mapping_ = mmap(nullptr, kSharedMapping, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (shared_mapping_ == MAP_FAILED) abort();
    char* base = static_cast<char*>(shared_mapping_);
    shared_end_ = base + kGuard + kMaxShared;
    mprotect(base, kGuard, PROT_NONE);
    mprotect(shared_end_, kGuard, PROT_NONE);
}

Block::~Block() { munmap(shared_mapping_, kSharedMapping); }

bool Block::near_shared(uintptr_t address) const {
    return address - reinterpret_cast<uintptr_t>(shared_mapping_) < kSharedMapping;
}

void Block::run(const Launch& launch, uint64_t block, Fault* fault) {
    fault_ = fault;
    start(launch, block);
    current = this;
    while (alive_ > 0 && fault->code == kNoFault) {
        Thread* thread = next();
        if (thread) {
            resume(*thread);
        } else {
            report_deadlock();
        }
    }
    current = nullptr;
    if (fault->code != kNoFault) clear();
}

void Block::start(const Launch& launch, uint64_t block) {
    launch_ = &launch;
    grid = {launch.grid[0], launch.grid[1], launch.grid[2]};
    dim = {launch.block[0], launch.block[1], launch.block[2]};
    index = {unsigned(block % grid.x), unsigned(block / grid.x % grid.y),
             unsigned(block / (uint64_t(grid.x) * grid.y))};
    count_ = alive_ = int(dim.x * dim.y * dim.z);
    ready_warps_ = 0;
    self = nullptr;
    shared_bytes = launch.shared_bytes;
    shared = shared_end_ - (shared_bytes + 15) / 16 * 16;
    memset(shared, 0xff, shared_end_ - shared);  // NaN in every float format
    for (Thread& thread : threads_) {  // of a larger block before, too
        for (unsigned chunk : thread.unfenced) unfenced[chunk] = false;
        thread.unfenced.clear();
    }
    uint3 id{0, 0, 0};
    for (int i = 0; i < count_; ++i) {
        Thread& thread = threads_[i];
        thread.id = id;
        thread.index = i;
        thread.lane = i % kWarp;
        thread.warp = i / kWarp;
        thread.sp = nullptr;
        thread.stack = nullptr;
        thread.at = {};
        thread.copies.clear();
        thread.products.clear();
        thread.sums.clear();
        if (thread.lane == 0) wake(thread.warp, count_ - i >= kWarp ? ~0u : (1u << (count_ - i)) - 1);
        if (++id.x == dim.x) {
            id.x = 0;
            if (++id.y == dim.y) {
                id.y = 0;
                ++id.z;
            }
        }
    }
}

// The next thread that can run: of the same warp while there is one, then of the next warp.
Thread* Block::next() {
    if (!ready_warps_) return nullptr;
    bool reverse = launch_->reverse;
    int warp = self ? self->warp : reverse ? kMaxWarps - 1 : 0;
    if (!ready_[warp]) {
        uint32_t ahead = reverse ? ready_warps_ & ((1u << warp) - 1) : ready_warps_ & ~((2u << warp) - 1);
        uint32_t from = ahead ? ahead : ready_warps_;
        warp = reverse ? 31 - __builtin_clz(from) : __builtin_ctz(from);
    }
    int lane = reverse ? 31 - __builtin_clz(ready_[warp]) : __builtin_ctz(ready_[warp]);
    return &threads_[warp * kWarp + lane];
}

void Block::resume(Thread& thread) {
    self = &thread;
    if (!thread.sp) {
        thread.stack = stacks_.take();
        thread.sp = prepare_fiber(thread.stack, &Block::thread_main);
    }
    simt_switch(&scheduler_, thread.sp);
}

void Block::thread_main() {
    (*current->launch_->body)();
    current->finish_thread();
}

void Block::finish_thread() {
    --alive_;
    // Threads that have exited count as arrived, as on a device.
    Barrier& all = barriers_[0];
    if (all.arrived && all.arrived >= alive_) open(all);
    stacks_.give(self->stack);  // still in use until the switch
    self->stack = nullptr;
    ready_[self->warp] &= ~(1u << self->lane);
    if (!ready_[self->warp]) ready_warps_ &= ~(1u << self->warp);
    void* gone;
    simt_switch(&gone, scheduler_);
}

// Goes straight to the next thread; a new thread or a stuck block goes through the scheduler.
void Block::sleep(Place place) {
    Thread& me = *self;
    me.at = place;
    if (!(ready_[me.warp] &= ~(1u << me.lane))) ready_warps_ &= ~(1u << me.warp);
    Thread* thread = next();
    if (thread && thread->sp) {
        self = thread;
        simt_switch(&me.sp, thread->sp);
    } else {
        simt_switch(&me.sp, scheduler_);
    }
}

void Block::wake(int warp, uint32_t lanes) {
    ready_[warp] |= lanes;
    ready_warps_ |= 1u << warp;
}

void Block::barrier(int id, int threads, Place place) {
    Barrier& barrier = barriers_[id];
    if (!barrier.arrived) barrier.first = place;
    if (barrier.first.line != place.line) diverged(barrier.first, place);
    if (++barrier.arrived >= threads) {
        open(barrier);
        return;
    }
    barrier.waiting[self->warp] |= 1u << self->lane;
    sleep(place);
}

void Block::open(Barrier& barrier) {
    barrier.arrived = 0;
    for (int warp = 0; warp * kWarp < count_; ++warp) {
        if (barrier.waiting[warp]) wake(warp, barrier.waiting[warp]);
        barrier.waiting[warp] = 0;
    }
}

void Block::fail(int code, Place place, const char* format, ...) {
    char what[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (!place.file) place = self->at;
    fault_->code = code;
    snprintf(fault_->text, sizeof fault_->text, "block (%u,%u,%u) thread (%u,%u,%u)%s%s%s%.0d: %s", index.x, index.y,
             index.z, self->id.x, self->id.y, self->id.z, place.file ? " at " : "",
             place.file ? base_name(place.file) : "", place.file ? ":" : "", place.line, what);
    void* gone;
    simt_switch(&gone, scheduler_);
    __builtin_unreachable();
}

void Block::diverged(Place first, Place second) {
    fail(kLaunchFailed, second, "threads wait for each other at different places: the first at %s:%d",
         base_name(first.file), first.line);
}

void Block::report_deadlock() {
    fault_->code = kLaunchFailed;
    size_t used = snprintf(fault_->text, sizeof fault_->text,
                           "deadlock in block (%u,%u,%u): of %d threads %d wait for others that never come:", index.x,
                           index.y, index.z, count_, alive_);
    Place last{};
    for (int i = 0; i < count_ && used < sizeof fault_->text; ++i) {
        const Thread& thread = threads_[i];
        if (!thread.stack || !thread.at.file || thread.at.line == last.line) continue;
        last = thread.at;
        used += snprintf(fault_->text + used, sizeof fault_->text - used, " thread %d at %s:%d", i,
                         base_name(last.file), last.line);
    }
}

// After a fault the threads are given up where they stand.
void Block::clear() {
    for (Barrier& barrier : barriers_) barrier = {};
    for (auto& warp : meetings_) {
        for (Meeting& meeting : warp) meeting.arrived = 0;
    }
    for (GroupMeeting& group : groups_) group.arrived = 0;
    for (uint32_t& lanes : ready_) lanes = 0;
    for (int i = 0; i < count_; ++i) {
        if (threads_[i].stack) stacks_.give(threads_[i].stack);
        threads_[i].stack = nullptr;
    }
}

}  // namespace simt

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT simt::Worker* simt_worker_create() { return reinterpret_cast<simt::Worker*>(new simt::Block); }

EXPORT void simt_worker_destroy(simt::Worker* worker) { delete reinterpret_cast<simt::Block*>(worker); }

EXPORT void simt_run_block(simt::Worker* worker, const simt::Launch* launch, uint64_t block, simt::Fault* fault) {
    reinterpret_cast<simt::Block*>(worker)->run(*launch, block, fault);
}

EXPORT void simt_trapped(int code, uintptr_t address) {
    simt::Block& block = *simt::current;
    if (block.near_shared(address)) {
        long byte = long(address - reinterpret_cast<uintptr_t>(block.shared));
        block.fail(code, {}, "shared memory: byte %ld of %u", byte, block.shared_bytes);
    }
    block.fail(code, {}, "address %#lx is outside every allocation", static_cast<unsigned long>(address));
}
