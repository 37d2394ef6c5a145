// Faults that a test injects, and counts of calls.
#pragma once
#include "driver.h"

namespace emulator {

// The nth call from now (1 is the next) of this entry point, or of any where call is empty, ends with code.
void fail_call(const std::string& call, long nth, CUresult code);
// The nth launch from now of this kernel, or of any where kernel is empty, fails while it runs.
void fail_launch(const std::string& kernel, long nth, CUresult code);
// Calls of this entry point wait from now on, until the name is another or empty.
void hold_call(const std::string& call);
// Waits until a call is held.
void await_held_call();
// All contexts fail now.
void lose_contexts(CUresult code);
CUresult enter_launch(const char* kernel);
long calls(const std::string& call);
// Counts something that tests ask for by calls().
void count(const std::string& what);
// Forgets injected faults, counts and the last fault's text.
void reset_faults();

}  // namespace emulator
