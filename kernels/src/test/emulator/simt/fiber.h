// Stackful fibers: a switch saves what the calling convention keeps and changes the stack.
#pragma once
#include <cstddef>
#include <vector>

namespace simt {

constexpr size_t kStackBytes = 128 << 10;

// Saves the running fiber's stack pointer in *save and switches to the fiber whose pointer is load.
extern "C" void simt_switch(void** save, void* load);

// The stack pointer of a fiber that will start in entry, which must not return.
void* prepare_fiber(char* stack_top, void (*entry)());

// Reuses stacks. Each has a page below it that nothing may touch.
class StackPool {
public:
    ~StackPool();
    char* take();
    void give(char* top) { free_.push_back(top); }

private:
    std::vector<char*> free_;
    std::vector<void*> mapped_;
};

}  // namespace simt
