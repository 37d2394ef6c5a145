#include "fiber.h"

#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>

#if !defined(__x86_64__)
#error "the emulator switches fibers on x86-64 only, as JCuda's natives exist only there"
#endif

asm(R"(
.text
.globl simt_switch
.type simt_switch,@function
.hidden simt_switch
simt_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    popq %rcx
    jmp *%rcx
.size simt_switch,.-simt_switch
)");

namespace simt {
namespace {
constexpr size_t kPage = 4096;
constexpr size_t kMapping = kStackBytes + kPage;
}  // namespace

void* prepare_fiber(char* stack_top, void (*entry)()) {
    void** top = reinterpret_cast<void**>(uintptr_t(stack_top) & ~uintptr_t(63));
    *--top = nullptr;  // the return address that entry never uses
    *--top = reinterpret_cast<void*>(entry);
    return top - 6;  // the six registers that a switch restores
}

char* StackPool::take() {
    if (free_.empty()) {
        void* base = mmap(nullptr, kMapping, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == MAP_FAILED || mprotect(base, kPage, PROT_NONE) != 0) abort();
        // Stacks start at different offsets, or the same frame of all threads falls into one cache set.
        size_t colour = mapped_.size() % 61 * 448;
        mapped_.push_back(base);
        free_.push_back(static_cast<char*>(base) + kMapping - 64 - colour);
    }
    char* top = free_.back();
    free_.pop_back();
    return top;
}

StackPool::~StackPool() {
    for (void* base : mapped_) munmap(base, kMapping);
}

}  // namespace simt
