#include "faults.h"

#include <condition_variable>
#include <map>
#include <vector>

namespace emulator {
namespace {

struct Injected {
    std::string name;
    long left;
    CUresult code;
};

std::mutex mutex;
std::map<std::string, long> counts;
std::vector<Injected> in_calls, in_launches;
std::string last_fault;
std::condition_variable changed;
std::string held;
long held_calls = 0;

CUresult due(std::vector<Injected>& injected, const std::string& name) {
    CUresult code = SUCCESS;
    for (size_t i = injected.size(); i-- > 0;) {
        Injected& fault = injected[i];
        if (!fault.name.empty() && fault.name != name) continue;
        if (--fault.left > 0) continue;
        code = fault.code;
        injected.erase(injected.begin() + i);
    }
    return code;
}

// cuMemAlloc_v2 is what a program calls cuMemAlloc.
std::string plain(const std::string& call) {
    size_t version = call.rfind("_v");
    return version == std::string::npos ? call : call.substr(0, version);
}

}  // namespace

CUresult enter(const char* call, bool needs_context) {
    {
        std::unique_lock<std::mutex> lock(mutex);
        std::string name = plain(call);
        ++counts[name];
        if (name == held) {
            ++held_calls;
            changed.notify_all();
            changed.wait(lock, [&] { return name != held; });
            --held_calls;
        }
        if (CUresult code = due(in_calls, name)) return code;
    }
    if (!needs_context) return SUCCESS;
    Context* context = current_context();
    return context ? context->error.load() : INVALID_CONTEXT;
}

CUresult enter_launch(const char* kernel) {
    std::lock_guard<std::mutex> lock(mutex);
    ++counts[kernel];
    return due(in_launches, kernel);
}

void fail_call(const std::string& call, long nth, CUresult code) {
    std::lock_guard<std::mutex> lock(mutex);
    in_calls.push_back({call, nth, code});
}

void fail_launch(const std::string& kernel, long nth, CUresult code) {
    std::lock_guard<std::mutex> lock(mutex);
    in_launches.push_back({kernel, nth, code});
}

void hold_call(const std::string& call) {
    std::lock_guard<std::mutex> lock(mutex);
    held = call;
    changed.notify_all();
}

void await_held_call() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [] { return held_calls > 0 || held.empty(); });
}

void count(const std::string& what) {
    std::lock_guard<std::mutex> lock(mutex);
    ++counts[what];
}

long calls(const std::string& call) {
    std::lock_guard<std::mutex> lock(mutex);
    auto it = counts.find(call);
    return it == counts.end() ? 0 : it->second;
}

void reset_faults() {
    std::lock_guard<std::mutex> lock(mutex);
    in_calls.clear();
    in_launches.clear();
    counts.clear();
    last_fault.clear();
    held.clear();
    changed.notify_all();
}

void set_fault(const std::string& text) {
    std::lock_guard<std::mutex> lock(mutex);
    last_fault = text;
}

std::string fault() {
    std::lock_guard<std::mutex> lock(mutex);
    return last_fault;
}

}  // namespace emulator
