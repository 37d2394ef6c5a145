#include "trap.h"

#include "driver.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace emulator {
namespace {

constexpr int kSlots = 256;
constexpr size_t kStack = 64 << 10;
const int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

// Threads that run a kernel now. Thread-local variables would be allocated by the handler, so this is a table.
struct Slot {
    std::atomic<pid_t> thread{0};
    simt::Trapped trapped;
    greg_t stack;
};
Slot slots[kSlots];
struct sigaction before[65];

pid_t this_thread() { return pid_t(syscall(SYS_gettid)); }

void handle(int signal, siginfo_t* info, void* raw) {
    pid_t me = this_thread();
    for (Slot& slot : slots) {
        if (slot.thread.load(std::memory_order_acquire) != me) continue;
        auto* context = static_cast<ucontext_t*>(raw);
        greg_t* registers = context->uc_mcontext.gregs;
        bool address = signal == SIGSEGV || signal == SIGBUS;
        registers[REG_RDI] = address ? simt::kIllegalAddress : simt::kLaunchFailed;
        registers[REG_RSI] = address ? greg_t(info->si_addr) : registers[REG_RIP];
        // Not the fiber's stack, which may be what it ran out of. As a call would leave it.
        registers[REG_RSP] = slot.stack - 8;
        registers[REG_RIP] = greg_t(slot.trapped);
        return;
    }
    const struct sigaction& old = before[signal];
    if (old.sa_flags & SA_SIGINFO) {
        old.sa_sigaction(signal, info, raw);
    } else if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) {
        old.sa_handler(signal);
    } else {
        sigaction(signal, &old, nullptr);  // the instruction faults again, now with the default action
    }
}

void install() {
    for (int signal : kSignals) {
        struct sigaction action = {};
        action.sa_sigaction = handle;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
        sigemptyset(&action.sa_mask);
        sigaction(signal, &action, &before[signal]);
    }
}

// A kernel that overflows its fiber's stack needs another one for the handler, and one for what comes after it.
class Stacks {
public:
    Stacks() : memory_(mmap(nullptr, 2 * kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
        stack_t stack = {};
        stack.ss_sp = memory_;
        stack.ss_size = kStack;
        sigaltstack(&stack, &previous_);
    }
    ~Stacks() {
        sigaltstack(&previous_, nullptr);
        munmap(memory_, 2 * kStack);
    }
    greg_t top() const { return greg_t(memory_) + 2 * kStack; }

private:
    void* memory_;
    stack_t previous_ = {};
};

}  // namespace

KernelScope::KernelScope(simt::Trapped trapped) {
    static std::once_flag once;
    std::call_once(once, install);
    thread_local Stacks stacks;
    pid_t me = this_thread();
    for (slot_ = 0; slot_ < kSlots; ++slot_) {
        pid_t unused = 0;
        if (slots[slot_].thread.load() != 0) continue;
        if (slots[slot_].thread.compare_exchange_strong(unused, -1)) break;
    }
    if (slot_ == kSlots) abort();
    slots[slot_].trapped = trapped;
    slots[slot_].stack = stacks.top();
    slots[slot_].thread.store(me, std::memory_order_release);
}

KernelScope::~KernelScope() { slots[slot_].thread.store(0, std::memory_order_release); }

}  // namespace emulator
